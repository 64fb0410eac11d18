#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs Assay on a Debian machine. `./assay.sh help` lists the commands.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

build_packages=(cmake ninja-build g++ ccache pkg-config libopenblas0-pthread libopenblas-dev libssl-dev libsqlite3-dev
  nlohmann-json3-dev libfmt-dev libcli11-dev libexpected-dev libarchive-dev)
window_packages=(qt6-base-dev qt6-svg-dev libqcustomplot-dev fonts-dejavu-core)
test_packages=(libgtest-dev libmpfr-dev openssl python3 sqlite3 xvfb)

preset=${ASSAY_PRESET:-release}
build="build/$preset"

say() { printf '%s\n' "$*" >&2; }
stop() { say "assay.sh: $*"; exit 4; }

# Installs those of the named packages that are missing. Plain words where that is impossible.
need() {
  local missing=() name
  for name in "$@"; do
    dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q 'install ok installed' || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  command -v apt-get >/dev/null || stop "this machine has no apt-get. Install what Debian 12 calls: ${missing[*]}"
  local as=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || stop "packages are missing and this user may not install them. Ask an administrator to run: apt-get install ${missing[*]}"
    as=(sudo)
  fi
  say "Installing ${#missing[@]} packages: ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { "${as[@]}" apt-get update -qq &&
         "${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    stop "the packages could not be installed (see above). Check the network connection and /etc/apt/sources.list, then try again"
  fi
  rm -f "$log"
}

# compile [extra cmake options] -- [targets]: configures and builds; prints the log only if it fails.
compile() {
  local options=() log=$build/build.log
  while [ $# -gt 0 ] && [ "$1" != -- ]; do options+=("$1"); shift; done
  [ $# -gt 0 ] && shift
  mkdir -p "$build"
  say "Building ($preset; the first time takes some minutes)"
  if ! { cmake --preset "$preset" "${options[@]}" && cmake --build "$build" ${1:+--target "$@"}; } >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    stop "the build failed; the whole log is in $log"
  fi
}

has_display() { [ -n "${DISPLAY:-}" ] || [ -n "${WAYLAND_DISPLAY:-}" ]; }

case "${1:-help}" in
run)
  shift
  need "${build_packages[@]}" "${window_packages[@]}"
  compile -- assay assay-engine assay-workbench
  if has_display; then
    exec "$build/bin/assay-workbench" "${@:---demo}"
  fi
  say "Assay is built, but there is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set). You can:"
  say "  see the demo in the terminal:    $build/bin/assay demo"
  say "  draw the window into a picture:  QT_QPA_PLATFORM=offscreen $build/bin/assay-workbench --screenshot start --out start.png"
  say "  open it from another machine:    ssh -X to this one and run ./assay.sh run again"
  ;;
build)
  need "${build_packages[@]}" "${window_packages[@]}"
  compile -- assay assay-engine assay-workbench
  say "Built: $build/bin/assay, assay-engine and assay-workbench"
  ;;
test)
  shift
  need "${build_packages[@]}" "${window_packages[@]}" "${test_packages[@]}"
  # ASSAY_TEST_OPTIONS: further CMake options, for instance -DASSAY_BUILD_WORKBENCH=OFF on a machine without Qt.
  read -ra further <<<"${ASSAY_TEST_OPTIONS:-}"
  compile -DASSAY_BUILD_TESTS=ON -DASSAY_WERROR=ON "${further[@]}"
  # What is labelled `long` (long fuzzing, hundreds of runs) is asked for by name: ./assay.sh test -L long
  [ $# -eq 0 ] && set -- -LE long
  exec ctest --test-dir "$build" --output-on-failure --no-tests=error -j "$(nproc)" "$@"
  ;;
demo)
  shift
  need "${build_packages[@]}" "${window_packages[@]}"
  compile -- assay assay-engine
  exec "$build/bin/assay" demo "$@"
  ;;
packages)
  printf '%s\n' "${build_packages[@]}" "${window_packages[@]}" "${test_packages[@]}"
  ;;
*)
  cat <<'HELP'
Usage: ./assay.sh COMMAND

  run        install what is missing, build, open the workbench on the demo
  test       install what is missing, build, run the tests (further arguments go to ctest)
  demo       the demo in the terminal
  build      install what is missing and build
  packages   print the Debian packages that this uses

Everything is built in build/. The programs are then build/release/bin/assay and build/release/bin/assay-workbench.
HELP
  ;;
esac
