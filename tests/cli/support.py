# SPDX-License-Identifier: Apache-2.0
"""Runs the built programs for the tests of the command line. Python's standard library only."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(os.environ.get("ASSAY_BIN", "."))
HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77  # exit code that ctest shows as "skipped"


class Result:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f"exit {self.code}\nstdout: {self.out}\nstderr: {self.err}"


class CliTest(unittest.TestCase):
    """A scratch folder per class, and calls of `assay` in it."""

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-cli-test-"))
        cls.env = dict(os.environ, NO_COLOR="1", ASSAY_STORE=str(cls.folder / "audits.sqlite"), HOME=str(cls.folder))

    @classmethod
    def tearDownClass(cls):
        subprocess.run(["chmod", "-R", "u+rwX", str(cls.folder)], check=False)
        shutil.rmtree(cls.folder, ignore_errors=True)

    @classmethod
    def assay(cls, *arguments, stdin="", timeout=300, **keywords):
        done = subprocess.run([str(BIN / "assay"), *map(str, arguments)], input=stdin, capture_output=True, text=True,
                              errors="replace", cwd=cls.folder, env=cls.env, timeout=timeout, **keywords)
        return Result(done)

    @classmethod
    def must(cls, *arguments, **keywords):
        result = cls.assay(*arguments, **keywords)
        if result.code != 0:
            raise AssertionError(f"assay {' '.join(map(str, arguments))}\n{result}")
        return result

    def expect(self, code, *arguments, says=(), **keywords):
        """Runs assay, checks the exit code, that standard error says all of `says`, and that nothing crashed."""
        result = self.assay(*arguments, **keywords)
        self.assertEqual(result.code, code, result)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, result.err, result)
        self.assertNotIn("assertion failed", result.err)
        return result

    def path(self, *parts):
        return self.folder.joinpath(*parts)

    def write(self, name, content):
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path


SMALL = ["--program", "mlp", "--steps", "4", "--batch", "4", "--width", "16", "--layers", "1", "--checkpoint-every", "2"]


def main():
    """Runs the tests of the calling file. If everything was skipped, that is the result."""
    program = unittest.main(module="__main__", exit=False, verbosity=1)
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    if result.testsRun > 0 and len(result.skipped) == result.testsRun:
        for _, reason in result.skipped:
            print("skipped:", reason)
        sys.exit(SKIPPED)
    sys.exit(0)
