# SPDX-License-Identifier: Apache-2.0
"""Runs the real programs for the evidence scripts: orders, training, verification, and a few comparisons."""
import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time


class Assay:
    """The command line in a scratch folder. Every call returns (exit code, parsed JSON or text, seconds)."""

    def __init__(self, bin_folder, scratch):
        self.program = str(pathlib.Path(bin_folder).resolve() / "assay")
        self.scratch = pathlib.Path(scratch)
        self.store = self.scratch / "audits.sqlite"
        self.env = dict(os.environ, ASSAY_STORE=str(self.store), NO_COLOR="1")

    def call(self, *arguments, timeout=3600):
        start = time.monotonic()
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, env=self.env,
                              timeout=timeout, cwd=self.scratch)
        seconds = time.monotonic() - start
        if done.returncode in (70, -11, -6) or "assertion failed" in done.stderr:
            raise SystemExit(f"assay {' '.join(map(str, arguments))} broke: {done.returncode}\n{done.stderr}")
        return done.returncode, done.stdout, done.stderr, seconds

    def must(self, *arguments, **keywords):
        code, out, err, seconds = self.call(*arguments, **keywords)
        if code != 0:
            raise SystemExit(f"assay {' '.join(map(str, arguments))} ended with {code}\n{out}\n{err}")
        return out, seconds

    def order(self, name, *options):
        folder = self.scratch / name
        if not folder.exists():
            self.must("order", "new", *options, "--out", folder)
        return folder

    def train(self, order, name, kernel, *options):
        target = self.scratch / name
        _, seconds = self.must("train", order / "order.json", "--out", target, "--kernel", kernel, *options)
        return target, seconds

    def verify(self, submission, order, kernel, *options):
        code, out, err, seconds = self.call("verify", submission, "--order", order / "order.json", "--kernel", kernel, "--json",
                                            *options)
        try:
            report = json.loads(out)
        except ValueError:
            report = {}
        if "verdict" not in report:  # malformed input is no verdict
            report = {"verdict": None, "reason": err.strip() or out.strip()}
        report["exit"] = code
        report["wall"] = seconds
        return report

    def kernels(self):
        """Core types that this machine runs, and why not the others."""
        engine = pathlib.Path(self.program).parent / "assay-engine"
        done = subprocess.run([str(engine), "run"], input='{"verb":"kernels"}\n', capture_output=True, text=True, env=self.env)
        usable, refused = [], {}
        for line in done.stdout.splitlines():
            event = json.loads(line)
            for kernel in event.get("kernels", []):
                if kernel.get("supported"):
                    usable.append(kernel["name"])
                else:
                    refused[kernel["name"]] = kernel.get("reason", "")
        return usable, refused


def same_file(a, b):
    return pathlib.Path(a).read_bytes() == pathlib.Path(b).read_bytes()


def differing_lines(a, b):
    with open(a) as left, open(b) as right:
        one, two = left.read().splitlines(), right.read().splitlines()
    return sum(x != y for x, y in zip(one, two)) + abs(len(one) - len(two)), max(len(one), len(two))


def table(rows):
    """Prints rows of cells in aligned columns, the first row as head."""
    text = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in text) for i in range(len(text[0]))]
    for number, row in enumerate(text):
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))
    sys.stdout.flush()


def find_data(name):
    """Real test data beside the checkout, or None."""
    for root in (os.environ.get("ASSAY_TEST_DATA"), pathlib.Path(__file__).resolve().parents[3] / "shared" / "data"):
        if root and (pathlib.Path(root) / name).exists():
            return pathlib.Path(root) / name
    return None


def main(run, **extra):
    """Parses the common options, makes a scratch folder, runs `run(assay, options)` and turns its failures into exit code 1."""
    parser = argparse.ArgumentParser(description=run.__doc__)
    parser.add_argument("--bin", required=True, help="folder of the built programs")
    parser.add_argument("--full", action="store_true", help="the long setting, from which published figures come")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="scratch folder to use and keep")
    for name, keywords in extra.items():
        parser.add_argument("--" + name.replace("_", "-"), **keywords)
    options = parser.parse_args()
    random.seed(options.seed)
    scratch = options.keep or tempfile.mkdtemp(prefix="assay-evidence-")
    pathlib.Path(scratch).mkdir(parents=True, exist_ok=True)
    failures = []
    try:
        failures = run(Assay(options.bin, scratch), options) or []
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    for failure in failures:
        print("FAILED:", failure)
    print(f"{len(failures)} promises broken (seed {options.seed})")
    sys.exit(1 if failures else 0)
