# SPDX-License-Identifier: Apache-2.0
"""train, verify, plan, tamper, eval, inspect, log info and bundle on real runs, small ones."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import support

FIELDS = ["schema", "version", "verdict", "reason", "steps_checked", "steps_total", "root_claimed", "root_computed", "scope", "first_divergence",
          "entries", "corrections", "log_bytes", "freedom", "kernel_trainer", "kernel_auditor", "seconds", "checks", "findings"]
DIVERGENCE = ["source", "step", "part", "tensor", "operator", "site", "element", "claimed", "computed"]


class EngineTest(support.CliTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.must("order", "new", *support.SMALL, "--out", "job")
        cls.must("train", "job/order.json", "--out", "run", "--kernel", "default,threads=1")

    def verify(self, code, submission="run", *arguments, order="job", **keywords):
        options = ["--order", order] if order else []
        result = self.expect(code, "verify", submission, *options, "--json", *arguments, **keywords)
        return result.json


class Verify(EngineTest):
    def test_the_report_is_complete(self):
        report = self.verify(0)
        for field in FIELDS:
            self.assertIn(field, report)
        self.assertEqual((report["schema"], report["verdict"], report["scope"]), ("assay.verify", "accepted", "all"))
        self.assertEqual((report["steps_checked"], report["steps_total"], report["first_divergence"]), (4, 4, None))
        self.assertEqual(report["root_claimed"], report["root_computed"])
        root = json.loads(self.path("run", "commitment.json").read_text())["root"]
        self.assertEqual(report["root_claimed"], root)

    def test_the_human_text_has_the_same(self):
        text = self.must("verify", "run", "--order", "job").out
        self.assertTrue(text.startswith("ACCEPTED\n"), text)
        for part in ("signature", "final checkpoint", "4 of 4", "freedom", "kernels"):
            self.assertIn(part, text)
        for part in (["--steps", "1:3"], ["--steps", "4:4"], ["--sample", "1", "--nonce", "00ff17"]):
            text = self.must("verify", "run", "--order", "job", *part).out
            self.assertTrue(text.startswith("ACCEPTED IN PART\n"), text)

    def test_other_arithmetic(self):
        for kernel in ("reversed", "splitk", "threads=2", "noise=0.9"):
            self.assertEqual(self.verify(0, "run", "--kernel", kernel)["verdict"], "accepted", kernel)

    def test_site_digests_with_and_without_the_log(self):
        self.must("order", "new", "--program", "gpt", "--steps", 3, "--batch", 4, "--width", 64, "--context", 32, "--out", "gpt")
        self.must("train", "gpt", "--out", "digest-run", "--site-digests", "own.txt")
        with_log = self.verify(0, "digest-run", "--kernel", "noise=0.9", "--site-digests", "with.txt", order="gpt")
        without = self.verify(5, "digest-run", "--kernel", "noise=0.9", "--ignore-log", "--site-digests", "without.txt", order="gpt")
        digests = [self.path(name).read_text() for name in ("own.txt", "with.txt", "without.txt")]
        self.assertTrue(digests[0] == digests[1], "with the log, sites differ")
        self.assertFalse(digests[0] == digests[2], "without the log, no site differs")
        self.assertEqual((with_log["verdict"], without["verdict"]), ("accepted", "inconclusive"))
        self.assertGreater(with_log["corrections"], 0)

    def test_without_an_order_nothing_is_accepted(self):
        report = self.verify(5, "run", "--data", "job", order=None)
        self.assertEqual(report["verdict"], "inconclusive")
        self.assertIn("order", report["reason"])

    def test_without_anything_only_the_claim_is_checked(self):
        report = self.verify(5, "run", order=None)
        states = {check["name"]: check["state"] for check in report["checks"]}
        self.assertEqual((states["merkle"], states["data"], states["replay"]), ("passed", "not_checked", "not_checked"))
        self.assertEqual((report["verdict"], report["steps_checked"]), ("inconclusive", 0))

    def test_another_order_is_rejected(self):
        self.must("order", "new", *support.SMALL, "--lr", "0.04", "--trainer-key", "job/trainer.pem", "--out", "other")
        report = self.verify(1, order="other")
        self.assertEqual(report["first_divergence"]["part"], "order")
        self.assertIn("learning_rate", json.dumps(report["findings"]))

    def test_another_key_is_rejected(self):
        self.must("keygen", "--out", "stranger.pem")
        report = self.verify(1, "run", "--trainer-key", "stranger.pem")
        self.assertEqual(report["first_divergence"]["part"], "signature")

    def test_ranges_and_samples(self):
        report = self.verify(0, "run", "--steps", "3:4")
        self.assertEqual((report["scope"], report["steps_checked"]), ("range", 2))
        report = self.verify(0, "run", "--sample", 1, "--nonce", "00ff17")
        self.assertEqual((report["scope"], report["steps_checked"]), ("sample", 2))
        self.assertEqual(report["detection_probability"], 0.5)
        again = self.verify(0, "run", "--sample", 1, "--nonce", "00ff17")
        self.assertEqual(report["root_claimed"], again["root_claimed"])
        self.assertEqual(self.verify(0, "run", "--sample", 1)["scope"], "sample")

    def test_second_kernel(self):
        self.assertEqual(self.verify(0, "run", "--kernel", "default", "--second-kernel", "reversed")["verdict"], "accepted")

    def test_usage(self):
        self.expect(2, "verify", "run", "--order", "job", "--steps", "4:3", says="--steps")
        self.expect(2, "verify", "run", "--order", "job", "--steps", "3:99", says="4")
        self.expect(2, "verify", "run", "--order", "job", "--steps", "1:2", "--sample", 1, says="--sample")
        self.expect(2, "verify", "run", "--order", "job", "--nonce", "00", says="--sample")
        self.expect(2, "verify", "run", "--order", "job", "--sample", 1, "--nonce", "xyz", says="nonce")
        self.expect(2, "verify", "run", "--order", "job", "--kernel", "pentium", says="pentium")
        self.expect(3, "verify", "nowhere", "--order", "job", says="nowhere")
        self.expect(3, "verify", "run", "--order", "nowhere", says="nowhere")
        self.expect(3, "verify", "run", "--order", "job", "--data", "/nowhere", says="/nowhere")
        result = self.assay("verify", "run", "--order", "job", "--store", "/proc/x/store.sqlite")
        self.assertIn(result.code, (3, 4), result)
        self.assertIn("/proc/x", result.err)

    def test_audits_are_kept_and_resumed(self):
        env = dict(self.env, ASSAY_STORE=str(self.path("kept.sqlite")))
        command = [str(support.BIN / "assay"), "verify", "run", "--order", "job", "--json"]
        done = subprocess.run(command + ["--resume"], cwd=self.folder, env=env, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no interrupted audit", done.stderr)
        self.assertTrue(self.path("kept.sqlite").exists())


class Tamper(EngineTest):
    def tamper(self, kind, *arguments, code=0):
        out = f"forged-{kind}-{len(list(self.folder.iterdir()))}"
        self.expect(code, "tamper", "run", "--kind", kind, "--key", "job/trainer.pem", "--data", "job", "--out", out, *arguments)
        return out

    def test_faults_are_named(self):
        for kind, part in (("lr", "learning_rate"), ("loss", "loss"), ("data-order", "batch"), ("weights", "state_root")):
            with self.subTest(kind):
                report = self.verify(1, self.tamper(kind, "--step", 3))
                first = report["first_divergence"]
                self.assertEqual(sorted(DIVERGENCE), sorted(set(first) & set(DIVERGENCE)))
                self.assertEqual((report["verdict"], first["step"], first["part"]), ("rejected", 3, part))
        report = self.verify(1, self.tamper("log-empty", "--step", 2, "--recommit")) if self.has_entries() else None
        if report:
            self.assertEqual(report["first_divergence"]["part"], "log_root")

    def has_entries(self):
        return json.loads(self.must("log", "info", "run", "--json").out)["per_step"][1]["entries"] > 0

    def test_rejection_is_shown_with_its_bits(self):
        out = self.tamper("lr", "--step", 2)
        result = self.expect(1, "verify", out, "--order", "job")
        for part in ("REJECTED", "First divergence", "learning_rate", "claimed", "computed", "bits"):
            self.assertIn(part, result.out)

    def test_not_applicable(self):
        self.expect(2, "tamper", "run", "--kind", "dropout", "--step", 1, "--key", "job/trainer.pem", "--data", "job", "--out", "f1", says="dropout")
        self.assertFalse(self.path("f1").exists())

    def test_usage(self):
        self.expect(2, "tamper", "run", "--kind", "site", "--out", "f2", says="--at")
        self.expect(2, "tamper", "run", "--kind", "lr", "--at", "1:1:1", "--out", "f2", says="--at")
        self.expect(2, "tamper", "run", "--kind", "lr", "--recommit", "--out", "f2", says="--recommit")
        self.expect(2, "tamper", "run", "--kind", "nothing", "--out", "f2", says="nothing")
        self.expect(2, "tamper", "run", "--kind", "lr", "--step", 99, "--data", "job", "--out", "f2", says="99")
        self.expect(2, "tamper", "run", "--kind", "lr", "--step", 1, "--data", "job", "--out", "run", says="not overwritten")
        self.assertFalse(self.path("f2").exists())


class Rest(EngineTest):
    def test_train_says_what_it_did(self):
        result = self.must("train", "job/order.json", "--out", "json-run", "--json").json
        self.assertEqual((result["schema"], result["steps"], result["signed"]), ("assay.train", 4, True))
        text = self.must("train", "job", "--out", "text-run").out
        for part in ("text-run", "root", "loss", "assay verify text-run --order job/order.json"):
            self.assertIn(part, text)
        self.expect(2, "train", "job", "--out", "text-run", says="text-run")
        self.expect(3, "train", "nowhere", says="nowhere")
        self.expect(3, "train", "job", "--data", "/nowhere", "--out", "x", says="/nowhere")
        self.expect(2, "train", "job", "--kernel", "threads=1,bad", "--out", "x", says="bad")
        self.assertFalse(self.path("x").exists())

    def test_train_needs_nothing_but_an_order(self):
        self.must("order", "new", *support.SMALL, "--out", "bare")
        self.must("train", "bare/order.json")
        self.assertEqual(self.verify(0, "bare/submission", order="bare")["verdict"], "accepted")

    def test_foreign_keys_are_warned_about(self):
        self.must("keygen", "--out", "foreign.pem")
        self.assertIn("foreign.pem", self.must("train", "job", "--key", "foreign.pem", "--out", "foreign-run").err)
        self.assertEqual(self.verify(1, "foreign-run")["first_divergence"]["part"], "signature")

    def test_sign_afterwards(self):
        self.must("order", "new", *support.SMALL, "--trainer-key", "job/trainer.pem", "--out", "unsigned-job")
        self.assertIn("not be signed", self.must("train", "unsigned-job", "--out", "unsigned").err)
        self.assertEqual(self.verify(1, "unsigned", order="unsigned-job")["first_divergence"]["part"], "signature")
        self.must("sign", "unsigned", "--key", "job/trainer.pem")
        self.expect(0, "verify-sig", "unsigned", "--key", "job/trainer.pem")
        self.assertEqual(self.verify(0, "unsigned", order="unsigned-job")["verdict"], "accepted")

    def test_plan(self):
        plan = self.must("plan", "run", "--bad", 1, "--json").json
        self.assertEqual((plan["schema"], plan["segments_total"], plan["steps_total"]), ("assay.plan", 2, 4))
        self.assertIn("50.00 %", self.must("plan", "run", "--bad", 1).out)
        self.must("plan", "run", "--bad", 1, "--budget", 2)
        self.must("plan", "run", "--bad", 1, "--budget", "1h", "--seconds-per-step", 2)
        self.must("plan", "run", "--bad", 1, "--detection", "0.5")
        self.expect(2, "plan", "run", "--bad", 0, says="--bad")
        self.expect(2, "plan", "run", "--bad", 99)
        self.expect(2, "plan", "run", "--budget", "1h", says="--seconds-per-step")
        self.expect(2, "plan", "run", "--budget", "soon", says="soon")

    def test_eval(self):
        result = self.must("eval", "run", "--order", "job", "--json").json
        self.assertEqual((result["schema"], result["metric"]), ("assay.eval", "accuracy"))
        self.assertTrue(0 <= result["value"] <= 1)
        self.assertIn("accuracy", self.must("eval", "run", "--data", "job").out)
        state = self.path("run", "checkpoints", "000004.safetensors")
        self.assertEqual(self.must("eval", state, "--order", "job", "--json").json["value"], result["value"])
        self.expect(2, "eval", state, "--data", "job", says="--order")
        self.expect(2, "eval", "run", says="--data")
        self.expect(3, "eval", "nowhere", "--data", "job", says="nowhere")

    def test_inspect(self):
        kinds = {"run": "submission", "job": "order", "job/order.json": "order", "run/program.json": "program", "run/init.safetensors": "safetensors",
                 "run/logs/000001.rlog": "log", "run/manifest.json": "manifest", "run/commitment.json": "commitment",
                 "run/attestation.dsse.json": "envelope", "job/trainer.pem": "private-key"}
        for path, kind in kinds.items():
            with self.subTest(path):
                self.assertEqual(self.must("inspect", path, "--json").json["kind"], kind)
                self.assertTrue(self.must("inspect", path).out)
        self.must("verify", "run", "--order", "job")
        report = self.write("report.json", self.must("verify", "run", "--order", "job", "--json").out)
        self.assertEqual(self.must("inspect", report, "--json").json["kind"], "verify-report")

    def test_inspect_refuses_what_it_does_not_know(self):
        for name, content in (("note.txt", "hello"), ("x.json", "{}"), ("x.bin", bytes(range(256))), ("empty", b""), ("x.safetensors", "hello"),
                              ("x.rlog", "hello"), ("x.assay", "hello"), ("deep.json", "{\"a\":" * 100000)):
            self.expect(3, "inspect", self.write("foreign/" + name, content), says=name)
        self.expect(3, "inspect", "/tmp", says="/tmp")

    def test_log_info(self):
        info = self.must("log", "info", "run", "--json").json
        self.assertEqual((info["schema"], info["steps"]), ("assay.log-info", 4))
        self.assertEqual(info["log_bytes"], sum(path.stat().st_size for path in self.path("run", "logs").iterdir()))
        self.assertEqual(info["entries"], sum(step["entries"] for step in info["per_step"]))
        # Module outputs and input gradients of flatten - linear - relu - linear for 4 samples of 256 bytes, width 16, 256 classes; the
        # first layer needs no input gradient.
        self.assertEqual(info["dense_values_per_step"], 4 * (16 + 16 + 256 + 16 + 16))
        self.assertIn("dense log", self.must("log", "info", "run").out)
        self.must("log", "info", "run/logs/000002.rlog")

    def test_bundle(self):
        self.must("bundle", "pack", "run", "--out", "run.assay")
        self.assertEqual(self.verify(0, "run.assay")["verdict"], "accepted")
        self.assertEqual(self.must("inspect", "run.assay", "--json").json["kind"], "submission")
        self.must("bundle", "unpack", "run.assay", "--out", "unpacked")
        for path in self.path("run").rglob("*"):
            if path.is_file():
                self.assertEqual(path.read_bytes(), (self.path("unpacked") / path.relative_to(self.path("run"))).read_bytes())
        self.must("bundle", "pack", "unpacked", "--out", "again.assay")
        self.assertEqual(self.path("run.assay").read_bytes(), self.path("again.assay").read_bytes())
        self.expect(2, "bundle", "pack", "run", "--out", "run.assay", says="not overwritten")
        self.expect(3, "bundle", "unpack", "job/order.json", "--out", "x")
        self.assertFalse(self.path("x").exists())


class Interruptions(EngineTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.must("order", "new", "--program", "gpt", "--steps", 30, "--batch", 4, "--width", 64, "--layers", 2, "--context", 32,
                 "--checkpoint-every", 5, "--out", "long")
        cls.must("train", "long", "--out", "reference", "--kernel", "default,threads=1")

    def start(self, *arguments):
        return subprocess.Popen([str(support.BIN / "assay"), *map(str, arguments)], cwd=self.folder, env=self.env, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def wait_for_steps(self, process, event, count):
        seen = 0
        for line in process.stderr:
            seen += f'"event":"{event}"' in line.replace(" ", "")
            if seen >= count:
                return
        self.fail(f"only {seen} steps were seen")

    def test_training_is_interrupted_and_resumed(self):
        process = self.start("train", "long", "--out", "stopped", "--kernel", "default,threads=1", "--progress", "jsonl")
        self.wait_for_steps(process, "step", 3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("--resume", err)
        self.expect(2, "verify", "stopped", "--order", "long", says="--resume")
        self.assertEqual(self.must("inspect", "stopped", "--json").json["kind"], "unfinished-submission")
        self.must("train", "long", "--out", "stopped", "--kernel", "default,threads=1", "--resume")
        for path in self.path("reference").rglob("*"):
            if path.is_file():
                same = path.read_bytes() == (self.path("stopped") / path.relative_to(self.path("reference"))).read_bytes()
                self.assertTrue(same, path.name)

    def test_an_audit_is_interrupted_and_resumed(self):
        process = self.start("verify", "reference", "--order", "long", "--progress", "jsonl", "--store", "stopped.sqlite")
        self.wait_for_steps(process, "step", 12)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(out, "")
        self.assertIn("--resume", err)
        whole = self.must("verify", "reference", "--order", "long", "--json").json
        result = self.must("verify", "reference", "--order", "long", "--json", "--store", "stopped.sqlite", "--resume")
        self.assertIn("verified already", result.err)
        for field in ("verdict", "root_computed", "steps_checked", "entries", "corrections", "log_bytes", "freedom"):
            self.assertEqual(result.json[field], whole[field], field)

    def test_two_trainers_on_one_submission(self):
        first = self.start("train", "long", "--out", "shared", "--progress", "jsonl")
        self.wait_for_steps(first, "step", 2)
        second = self.assay("train", "long", "--out", "shared", "--resume")
        self.assertEqual(second.code, 4, second)
        self.assertIn("another process", second.err)
        first.communicate(timeout=120)
        self.assertEqual(first.returncode, 0)

    def test_a_crashed_engine_is_inconclusive(self):
        process = self.start("verify", "reference", "--order", "long", "--progress", "jsonl", "--json", "--store", "crashed.sqlite")
        self.wait_for_steps(process, "step", 2)
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True).stdout.split()
        self.assertEqual(len(children), 1)
        os.kill(int(children[0]), signal.SIGKILL)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 5, err)
        self.assertEqual(json.loads(out)["verdict"], "inconclusive")
        result = self.must("verify", "reference", "--order", "long", "--json", "--store", "crashed.sqlite", "--resume")
        self.assertEqual(result.json["verdict"], "accepted")


if __name__ == "__main__":
    support.main()
