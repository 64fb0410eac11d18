# SPDX-License-Identifier: Apache-2.0
"""assay-engine as a process: requests, events, exit codes, cancel, pause, a parent that dies, a hostile environment."""
import json
import os
import select
import shutil
import time

import engine_support


class Protocol(engine_support.EngineTest):
    def test_train_and_verify_tell_their_story(self):
        train = self.run_engine(0, self.train_request("a"))
        names = [event["event"] for event in train.events]
        self.assertEqual(names[0], "hello")
        self.assertEqual(names[-1], "done")
        self.assertEqual(names.count("sites"), 1)
        self.assertLess(names.index("sites"), names.index("step"))
        self.assertEqual([event["step"] for event in train.all("step")], [1, 2, 3, 4, 5, 6])
        self.assertTrue(all(event["status"] == "trained" for event in train.all("step")))
        self.assertEqual([event["checkpoint"] for event in train.all("step")], [False, True] * 3)
        hello = train.events[0]
        for field in ("engine_version", "blas", "core", "threads", "kernel", "isa"):
            self.assertTrue(hello[field], field)
        self.assertEqual(hello["threads"], 1)

        verify = self.run_engine(0, self.verify_request("a", kernel="reversed,threads=2"))
        names = [event["event"] for event in verify.events]
        self.assertEqual(names[-1], "verdict")
        self.assertEqual([event["name"] for event in verify.all("check")],
                         ["signature", "order", "files", "merkle", "initial_state", "data", "replay", "final_checkpoint"])
        self.assertTrue(all(event["state"] == "passed" for event in verify.all("check")), verify.all("check"))
        self.assertEqual([event["status"] for event in verify.all("step")], ["matched"] * 6)
        verdict = verify.last("verdict")
        self.assertEqual(verdict["verdict"], "accepted")
        self.assertEqual(verdict["root_claimed"], train.last("done")["root"])
        self.assertEqual(verdict["root_computed"], verdict["root_claimed"])
        self.assertEqual((verdict["steps_checked"], verdict["steps_total"], verdict["scope"]), (6, 6, "all"))
        digests = [event["digest"] for event in train.all("step")]
        self.assertEqual(digests, [event["digest"] for event in verify.all("step")])

    def test_without_the_clients_order_nothing_is_accepted(self):
        self.run_engine(0, self.train_request("b"))
        request = {"verb": "verify", "submission": "b", "data": "job", "kernel": "threads=1"}
        verdict = self.run_engine(5, request).last("verdict")
        self.assertEqual(verdict["verdict"], "inconclusive")
        self.assertIn("order", verdict["reason"])

    def test_range_and_sample(self):
        self.run_engine(0, self.train_request("c"))
        verdict = self.run_engine(0, self.verify_request("c", steps="3:4")).last("verdict")
        self.assertEqual((verdict["verdict"], verdict["scope"], verdict["steps_checked"]), ("accepted", "range", 2))
        request = self.verify_request("c", sample=1, nonce="00ff")
        first, second = (self.run_engine(0, request).last("verdict") for _ in range(2))
        self.assertEqual((first["verdict"], first["scope"], first["steps_checked"]), ("accepted", "sample", 2))
        self.assertAlmostEqual(first["detection_probability"], 1 / 3)
        self.assertEqual(first["ranges"], second["ranges"])
        for bad in ("0:2", "3:9", "4:3", "x", "1:", ":2", "1:2:3"):
            self.run_engine(2, self.verify_request("c", steps=bad))

    def test_a_planted_fault_is_rejected_with_its_place(self):
        self.run_engine(0, self.train_request("d"))
        done = self.run_engine(0, {"verb": "tamper", "submission": "d", "out": "lie", "kind": "weights", "step": 4, "data": "job",
                                   "key": "job/trainer.pem", "kernel": "threads=1"}).last("done")
        self.assertEqual(done["shows"], {"step": 4, "part": "state_root", "source": "checkpoint"})
        verify = self.run_engine(1, self.verify_request("lie"))
        verdict = verify.last("verdict")
        where = verdict["first_divergence"]
        self.assertEqual((verdict["verdict"], where["step"], where["part"], where["source"]), ("rejected", 4, "state_root", "checkpoint"))
        self.assertEqual((where["tensor"], where["element"]), (done["tensor"], done["element"]))
        self.assertEqual(where["claimed_bits"], done["after_bits"])
        # What a step has to say comes before the step, so that it can be stored at once.
        names = [event["event"] for event in verify.events]
        self.assertLess(names.index("finding"), max(i for i, name in enumerate(names) if name == "step"))

        done = self.run_engine(0, {"verb": "tamper", "submission": "d", "out": "file", "kind": "checkpoint", "key": "job/trainer.pem"}).last("done")
        where = self.run_engine(1, self.verify_request("file")).last("verdict")["first_divergence"]
        self.assertEqual((where["part"], where["source"], where["step"]), ("final_file", "checkpoint", 6))
        self.assertEqual((where["tensor"], where["element"], where["claimed_bits"]), (done["tensor"], done["element"], done["after_bits"]))
        self.run_engine(2, {"verb": "tamper", "submission": "d", "out": "none", "kind": "optimizer", "data": "job",
                            "order": "job/order.json"} | {"kind": "log-wish"})

    def test_eval_kernels_selftest(self):
        self.run_engine(0, self.train_request("e"))
        done = self.run_engine(0, {"verb": "eval", "submission": "e", "data": "job"}).last("done")
        self.assertEqual(done["step"], 6)
        self.assertGreater(done["samples"], 0)
        self.assertTrue(0 <= done["accuracy"] <= 1 and done["loss"] > 0)
        state = self.run_engine(0, {"verb": "eval", "state": "e/checkpoints/000006.safetensors", "order": "job/order.json"}).last("done")
        self.assertEqual((state["loss"], state["accuracy"]), (done["loss"], done["accuracy"]))
        kernels = self.run_engine(0, {"verb": "kernels"}).last("done")["kernels"]
        self.assertIn("default", [kernel["name"] for kernel in kernels if kernel["supported"]])
        self.assertTrue(all(kernel["supported"] or kernel["reason"] for kernel in kernels))
        self.assertTrue(self.run_engine(0, {"verb": "selftest"}).last("done")["passed"])

    def test_bad_requests(self):
        cases = [("", 2), ("{", 2), ("[]", 2), ('{"verb": 5}', 2), ('{"verb": "dance"}', 2), ('{"verb": "train"}', 2),
                 ('{"verb": "train", "order": {"a": 1}}', 2), ("[" * 100000, 2), ('{"verb": "' + "x" * (2 << 20) + '"}', 2),
                 ('{"verb": "train", "order": "nowhere/order.json", "out": "x"}', 3),
                 ('{"verb": "verify", "submission": "nowhere", "order": "job/order.json"}', 3),
                 ('{"verb": "verify", "submission": "job", "order": "job/order.json"}', 3),
                 ('{"verb": "verify", "submission": "job", "order": "job/trainer.pem"}', 3),
                 ('{"verb": "train", "order": "job/order.json", "out": "x", "kernel": "warp"}', 2),
                 ('{"verb": "train", "order": "job/order.json", "out": "x", "kernel": "noise=7"}', 2),
                 ('{"verb": "train", "order": "job/order.json", "out": "x", "resume": "yes"}', 2),
                 ('{"verb": "train", "order": "job/order.json", "out": "job/trainer.pem/x"}', (3, 4)),
                 ('{"verb": "train", "order": "job/order.json", "out": "x", "key": "job/order.json"}', 3)]
        for line, code in cases:
            engine = self.run_engine(code, line)
            error = engine.last("error")
            self.assertIsNotNone(error, line[:80])
            self.assertTrue(error["message"], line[:80])
            self.assertFalse((self.folder / "x").exists(), line[:80])

    def test_a_data_folder_with_other_data_is_no_accusation(self):
        self.run_engine(0, self.train_request("f"))
        other = self.folder / "other"
        shutil.copytree(self.folder / "job", other)
        data = next(path for path in other.iterdir() if path.suffix == ".txt")
        content = bytearray(data.read_bytes())
        content[5] ^= 1
        data.write_bytes(content)
        verdict = self.run_engine(5, self.verify_request("f", data="other")).last("verdict")
        self.assertEqual(verdict["verdict"], "inconclusive")
        self.run_engine(3, self.verify_request("f", data="nowhere"))

    def test_two_engines_on_one_submission(self):
        first = self.engine(self.train_request("g", kernel="threads=1"))
        first.wait_for("step", step=1)
        first.say("pause")
        time.sleep(0.2)
        second = self.engine(self.train_request("g", resume=True))
        ended = second.finish()
        first.say("resume")
        self.assertEqual(first.finish(), 0)
        # The second one finds the lock held, or, if the first was quicker than the pause, a finished training.
        self.assertIn(ended, (2, 4), second.events)

    def test_a_foreign_core_type_in_the_environment_is_replaced(self):
        for value in ("Barcelona", "nonsense", ""):
            engine = self.run_engine(0, {"verb": "eval", "state": "job/init.safetensors", "order": "job/order.json"}, env={"OPENBLAS_CORETYPE": value})
            self.assertTrue(engine.events[0]["core"], value)


class Control(engine_support.EngineTest):
    ORDER = ["--program", "mlp", "--steps", "60", "--batch", "16", "--width", "64", "--layers", "1", "--checkpoint-every", "10"]

    def test_cancel_keeps_a_resumable_state(self):
        whole = self.run_engine(0, self.train_request("whole")).last("done")
        engine = self.engine(self.train_request("parts"))
        engine.wait_for("step", step=3)
        engine.say("cancel")
        self.assertEqual(engine.finish(), 130)
        self.assertEqual(engine.last("error")["code"], "cancelled")
        self.assertLess(engine.last("step")["step"], 60)
        done = self.run_engine(0, self.train_request("parts", resume=True)).last("done")
        self.assertEqual(done["root"], whole["root"])

        engine = self.engine(self.verify_request("whole"))
        engine.wait_for("step", step=12)
        engine.say("cancel")
        self.assertEqual(engine.finish(), 130)
        self.assertIsNone(engine.last("verdict"))
        verified = max(event["step"] for event in engine.all("step"))
        for leaves in (None, "", "00" * 32, self.verified_leaves("whole", verified - 1)):  # of no use: replayed from the start
            request = self.verify_request("whole", verified_through=verified)
            if leaves is not None:
                request["verified_leaves"] = leaves
            engine = self.run_engine(0, request)
            self.assertEqual(engine.all("step")[0]["step"], 1)
            self.assertEqual(engine.last("verdict")["steps_checked"], 60)
        engine = self.run_engine(0, self.verify_request("whole", verified_through=verified,
                                                        verified_leaves=self.verified_leaves("whole", verified)))
        self.assertEqual(engine.last("verdict")["steps_checked"], 60)
        self.assertGreater(engine.all("step")[0]["step"], 10)

    def test_a_parent_that_goes_away_is_a_cancel(self):
        engine = self.engine(self.train_request("orphan"))
        engine.wait_for("step", step=2)
        engine.process.stdin.close()
        code = engine.process.wait(timeout=60)
        engine.process.stdout.close()
        engine.process.stderr.close()
        self.assertEqual(code, 130)
        self.assertFalse((self.folder / "orphan" / "manifest.json").exists())

    def test_a_reader_that_goes_away_ends_the_run(self):
        engine = self.engine(self.train_request("deaf"))
        engine.wait_for("step", step=2)
        engine.process.stdout.close()
        code = engine.process.wait(timeout=60)
        engine.process.stdin.close()
        engine.process.stderr.close()
        self.assertEqual(code, 130)

    def test_pause_holds_and_resume_goes_on(self):
        engine = self.engine(self.train_request("paused"))
        engine.wait_for("step", step=2)
        engine.say("pause")
        # Reads whatever comes until nothing has come for a while: the step in flight may still end.
        out = engine.process.stdout.fileno()
        while select.select([out], [], [], 1.0)[0]:
            self.assertTrue(os.read(out, 1 << 16))
        self.assertIsNone(engine.process.poll())
        engine.say("resume")
        self.assertEqual(engine.finish(), 0)


class SecondKernel(engine_support.EngineTest):
    ORDER = ["--program", "mlp", "--steps", "2", "--batch", "16", "--width", "64", "--layers", "1"]

    def test_two_honest_profiles_agree(self):
        self.run_engine(0, self.train_request("a"))
        digests = self.folder / "digests.txt"
        verdict = self.run_engine(0, self.verify_request("a", second_kernel="reversed,threads=1", site_digests=str(digests))).last("verdict")
        self.assertEqual(verdict["verdict"], "accepted")
        self.assertIn("reversed", verdict["kernel_auditor"])
        self.assertTrue(digests.read_text())
        self.run_engine(4, self.verify_request("a", second_kernel="warp"))


if __name__ == "__main__":
    engine_support.main()
