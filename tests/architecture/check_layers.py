#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads every include line of the tree and fails on a breach of the layering, a missing SPDX line or an unknown folder.

System headers are always reachable for the compiler, so only a test can keep, say, OpenSSL out of the Merkle code.
"""
import pathlib
import re
import sys

# folder -> folders it may include directly; "may include" is transitive, see closure().
MAY = {
    "cuda/arith": [],
    "core/base": ["cuda/arith"],
    "core/crypto": ["core/base"],
    "core/merkle": ["core/base", "core/crypto"],
    "core/format": ["core/base", "core/crypto", "core/merkle", "cuda/arith"],
    "core/numerics": ["core/base", "cuda/arith"],
    "core/models": ["core/format", "cuda/arith"],
    "core/tensor": ["core/base", "core/numerics", "cuda/arith"],
    "core/engine": ["core/tensor", "core/format", "core/merkle", "core/crypto", "core/models"],
    "core/store": ["core/base"],
    "core/audit": ["core/store", "core/format", "core/merkle", "core/crypto", "core/numerics"],
    "ui/theme": [],
    "ui/models": ["core/audit", "core/store", "core/format", "ui/theme"],
    "ui/bridge": ["core/audit", "core/store", "core/format", "ui/models"],
    "ui/charts": ["ui/theme", "ui/models"],
    "ui/widgets": ["ui/theme", "ui/models", "ui/charts"],
    "ui/dialogs": ["ui/widgets", "ui/bridge"],
    "ui/pages": ["ui/widgets", "ui/dialogs", "ui/charts", "ui/bridge"],
    "app/cli": ["core/audit", "core/models", "core/format", "core/numerics"],
    "app/engine": ["core/engine", "core/audit"],
    "app/workbench": ["ui/pages"],
}

# third party (pattern of the include) -> folders where it may appear, and whether only in .cpp
THIRD = [
    (r"openssl/", {"core/crypto"}, True),
    (r"sqlite3\.h", {"core/store"}, True),
    (r"archive", {"core/format"}, True),
    (r"cblas\.h", {"core/tensor"}, True),
    (r"(torch|ATen|c10)/", {"core/tensor"}, True),
    (r"CLI/", {"app/cli"}, False),
    (r"(Q[A-Z][A-Za-z]+|Qt[A-Z]\w+/.*)$", {"ui/*", "app/workbench"}, False),
    (r"qcustomplot", {"ui/charts"}, False),
    (r"mpfr\.h", set(), True),
    (r"cuda", {"cuda/kernels", "cuda/runtime"}, False),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
SOURCES = {".h", ".cpp", ".cu", ".cuh", ".inl"}
TOP = {"app", "core", "cuda", "resources", "tests", "ui"}


def closure(folder, seen=None):
    seen = set() if seen is None else seen
    for other in MAY[folder]:
        if other not in seen:
            seen.add(other)
            closure(other, seen)
    return seen


def folder_of(path):
    parts = path.split("/")
    return "/".join(parts[:2])


def allowed(folder, folders):
    return folder in folders or folder.split("/")[0] + "/*" in folders


def check_file(name, text):
    """Yields one message per breach in the file `name` (path relative to the root)."""
    folder = folder_of(name)
    first = "\n".join(text.splitlines()[:3])
    licence = "GPL-3.0-or-later" if name.split("/")[0] == "ui" or folder in ("app/workbench", "tests/ui") else "Apache-2.0"
    if f"SPDX-License-Identifier: {licence}" not in first:
        yield f"{name}:1: expected the line SPDX-License-Identifier: {licence}"
    if name.startswith("tests/"):
        return
    if folder not in MAY:
        yield f"{name}:1: folder {folder} is not in the layering; add it to check_layers.py with what it may include"
        return
    reach = closure(folder) | {folder}
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        target = match.group(2)
        if match.group(1) == '"':
            if target.split("/")[0] not in TOP:
                if "/" in target or not target.startswith("ui_"):
                    yield f"{name}:{line}: include paths start at the root of the repository: {target}"
                continue
            goal = folder_of(target)
            if goal not in reach:
                yield f"{name}:{line}: {folder} may not include {goal} ({target})"
            if "/detail/" in target and goal != folder:
                yield f"{name}:{line}: detail/ is private to {goal} ({target})"
            continue
        for pattern, folders, only_cpp in THIRD:
            if re.match(pattern, target):
                if not allowed(folder, folders):
                    yield f"{name}:{line}: {folder} may not include <{target}>"
                elif only_cpp and not name.endswith((".cpp", ".cu")):
                    yield f"{name}:{line}: <{target}> belongs in a .cpp file only"
                break


def check_tree(root):
    root = pathlib.Path(root)
    files = 0
    for top in sorted(TOP):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SOURCES and path.is_file():
                files += 1
                yield from check_file(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
    if files < 20:
        yield f"only {files} sources found below {root}: wrong folder?"


def main():
    breaches = list(check_tree(sys.argv[1] if len(sys.argv) > 1 else "."))
    print(*breaches, sep="\n")
    print(f"{len(breaches)} breaches of the layering")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
