# SPDX-License-Identifier: Apache-2.0
"""Speaks the engine's protocol for the tests of the process. Python's standard library only."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = pathlib.Path(os.environ.get("ASSAY_BIN", "."))
SKIPPED = 77  # exit code that ctest shows as "skipped"


class Engine:
    """One running engine. Reads events as they come."""

    def __init__(self, request, cwd, env=None, **keywords):
        self.process = subprocess.Popen([str(BIN / "assay-engine"), "run"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, cwd=cwd, env=dict(os.environ, **(env or {})), **keywords)
        self.events = []
        if request is not None:
            self.say(json.dumps(request) if isinstance(request, dict) else request)

    def say(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended; its events say why

    def next(self):
        """The next event, or None at the end."""
        line = self.process.stdout.readline()
        if not line:
            return None
        event = json.loads(line)
        self.events.append(event)
        return event

    def wait_for(self, name, **fields):
        while (event := self.next()) is not None:
            if event["event"] == name and all(event.get(key) == value for key, value in fields.items()):
                return event
        raise AssertionError(f"no event {name} {fields}; last: {self.events[-3:]}")

    def finish(self):
        while self.next() is not None:
            pass
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.stdout.close()
        self.errors = self.process.stderr.read()
        self.process.stderr.close()
        return self.process.wait()

    def all(self, name):
        return [event for event in self.events if event["event"] == name]

    def last(self, name):
        found = self.all(name)
        return found[-1] if found else None


class EngineTest(unittest.TestCase):
    """A scratch folder per class with an order in it."""

    ORDER = ["--program", "mlp", "--steps", "6", "--batch", "4", "--width", "16", "--layers", "1", "--checkpoint-every", "2",
             "--dropout", "0.1"]

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="assay-engine-test-"))
        cls.order("job", *cls.ORDER)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    @classmethod
    def order(cls, name, *options):
        done = subprocess.run([str(BIN / "assay"), "order", "new", *options, "--out", str(cls.folder / name)], capture_output=True, text=True)
        if done.returncode != 0:
            raise AssertionError(done.stderr)

    def engine(self, request, **keywords):
        return Engine(request, self.folder, **keywords)

    def run_engine(self, code, request, **keywords):
        engine = self.engine(request, **keywords)
        ended = engine.finish()
        self.assertIn(ended, code if isinstance(code, tuple) else (code,), (engine.errors, engine.events[-3:]))
        self.assertNotIn("assertion failed", engine.errors)
        return engine

    def train_request(self, out, **options):
        return {"verb": "train", "order": "job/order.json", "out": out, "key": "job/trainer.pem", "kernel": "threads=1", **options}

    def verified_leaves(self, submission, through):
        """What the engine wants to hear of the leaves 0 to `through` that were verified before."""
        return hashlib.sha256((self.folder / submission / "leaves.bin").read_bytes()[:32 * (through + 1)]).hexdigest()

    def verify_request(self, submission, **options):
        return {"verb": "verify", "submission": submission, "order": "job/order.json", "kernel": "threads=1", **options}


def main(skipped_because=lambda: ""):
    """Runs the tests of the calling file. If everything was skipped, or for the reason that is handed in, that is the result."""
    program = unittest.main(module="__main__", exit=False, verbosity=1)
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    if skipped_because():
        print("SKIPPED:", skipped_because())
        sys.exit(SKIPPED)
    sys.exit(SKIPPED if result.testsRun and len(result.skipped) == result.testsRun else 0)
