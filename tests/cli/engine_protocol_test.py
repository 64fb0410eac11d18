# SPDX-License-Identifier: Apache-2.0
"""How the command line treats its engine, whatever that does: a scripted engine stands beside a copy of the program."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import support

ENGINE = f"""#!{sys.executable}
import json, os, signal, sys
request = json.loads(sys.stdin.readline())
open(os.environ["FAKE_REQUEST"], "w").write(json.dumps(request))
def say(**event):
    print(json.dumps(event), flush=True)
exec(os.environ["FAKE"])
"""


class EngineProtocol(support.CliTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.bin = cls.folder / "bin"
        cls.bin.mkdir()
        shutil.copy(support.BIN / "assay", cls.bin / "assay")
        (cls.bin / "assay-engine").write_text(ENGINE)
        (cls.bin / "assay-engine").chmod(0o755)
        cls.must("order", "new", *support.SMALL, "--out", "order")

    def command(self, script, *arguments):
        self.request_file = self.path("request.json")
        self.request_file.unlink(missing_ok=True)
        env = dict(self.env, FAKE=script, FAKE_REQUEST=str(self.request_file))
        return [str(self.bin / "assay"), *map(str, arguments)], env

    def train(self, script, *arguments, code=0):
        command, env = self.command(script, "train", "order/order.json", "--out", "run", *arguments)
        result = support.Result(subprocess.run(command, env=env, cwd=self.folder, capture_output=True, text=True, timeout=60))
        self.assertEqual(result.code, code, result)
        return result

    @property
    def request(self):
        return json.loads(self.request_file.read_text())

    def test_the_request_says_what_was_asked_for(self):
        self.train("say(event='done', steps=4)", "--kernel", "haswell,threads=1", "--site-digests", "d.txt", "--json")
        self.assertEqual(self.request, {"verb": "train", "order": "order/order.json", "out": "run", "data": "order", "kernel": "haswell,threads=1",
                                        "key": "order/trainer.pem", "site_digests": "d.txt"})

    def test_the_result_gets_a_schema(self):
        result = self.train("say(event='done', steps=4, root='00')", "--json")
        self.assertEqual(result.json, {"schema": "assay.train", "version": 1, "steps": 4, "root": "00"})

    def test_error_codes_become_exit_codes(self):
        for name, code in (("usage", 2), ("not_applicable", 2), ("malformed", 3), ("unreadable", 3), ("environment", 4), ("internal", 70)):
            script = (f"say(event='error', code='{name}', message='what', file='where', offset=17, remedy='that'); sys.exit({code})")
            result = self.train(script, code=code)
            for part in ("what", "where, byte 17", "that"):
                self.assertIn(part, result.err)

    def test_a_crash_is_told(self):
        result = self.train("os.kill(os.getpid(), signal.SIGSEGV)", code=70)
        self.assertIn("signal 11", result.err)
        self.assertIn("--resume", self.train("os.kill(os.getpid(), signal.SIGKILL)", code=70).err)

    def test_garbage_is_an_error_not_a_result(self):
        for script in ("print('hello', flush=True)", "say(event='what')", "say(event='done', steps=4); print('[' * 100000, flush=True)",
                       "print('\\x00\\xff', flush=True)", "sys.exit(0)", "say(event='done', steps=4); sys.exit(3)"):
            self.train(script, code=70)

    def test_a_success_without_a_result_is_none(self):
        self.assertIn("said nothing", self.train("sys.exit(0)", code=70).err)

    def test_a_missing_engine(self):
        lonely = self.folder / "lonely"
        lonely.mkdir(exist_ok=True)
        shutil.copy(support.BIN / "assay", lonely / "assay")
        done = subprocess.run([str(lonely / "assay"), "train", "order"], cwd=self.folder, env=self.env, capture_output=True, text=True)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("assay-engine", done.stderr)

    def test_progress_goes_to_standard_error_only_when_asked(self):
        script = ("say(event='progress', phase='train', done=1, total=4, unit='steps', steps_per_second=2.0, eta_seconds=1.5)\n"
                  "say(event='done', steps=4)")
        self.assertEqual(self.train(script).err, "")
        lines = self.train(script, "--progress", "jsonl").err.splitlines()
        self.assertEqual(json.loads(lines[0])["event"], "progress")
        self.assertIn("1/4", self.train(script, "--progress", "line").err)
        self.assertEqual(self.train(script, "--progress", "none").err, "")

    def interrupt(self, script, signals, **keywords):
        command, env = self.command("say(event='progress', phase='train', done=1, total=4, unit='steps', steps_per_second=None, "
                                    "eta_seconds=None)\n" + script, "train", "order", "--out", "run", "--progress", "jsonl")
        process = subprocess.Popen(command, env=env, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        first = process.stderr.readline()
        self.assertIn("progress", first)
        for number in range(signals):
            if number:
                time.sleep(0.3)
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        return process.returncode, err

    def test_one_interrupt_is_an_orderly_cancel(self):
        script = ("line = sys.stdin.readline()\n"
                  "say(event='error', code='cancelled', message='stopped after step 3, heard ' + line.strip(), file='', offset=None, remedy='')\n"
                  "sys.exit(130)")
        code, err = self.interrupt(script, 1)
        self.assertEqual(code, 130, err)
        self.assertIn("stopped after step 3, heard cancel", err)
        self.assertIn("assay train order --out run --progress jsonl --resume", err)

    def test_two_interrupts_end_at_once(self):
        pid = self.path("engine.pid")
        script = f"open({str(pid)!r}, 'w').write(str(os.getpid()))\nimport time\ntime.sleep(60)"
        start = time.monotonic()
        code, err = self.interrupt(script, 2)
        self.assertEqual(code, 130, err)
        self.assertLess(time.monotonic() - start, 20)
        deadline = time.monotonic() + 10
        while pathlib.Path(f"/proc/{pid.read_text()}").exists() and time.monotonic() < deadline:
            if "Z" in pathlib.Path(f"/proc/{pid.read_text()}/stat").read_text().split(")")[-1].split()[0]:
                break  # ended; nobody has collected it yet
            time.sleep(0.05)
        else:
            self.assertFalse(pathlib.Path(f"/proc/{pid.read_text()}").exists(), "the engine outlived the program")


if __name__ == "__main__":
    support.main()
