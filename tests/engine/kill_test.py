# SPDX-License-Identifier: Apache-2.0
"""kill -9 of trainer and auditor at random moments; resumed, they end as if nothing had happened."""
import random
import sys
import time

import engine_support

ROUNDS = 3
SEED = 20240601


def content(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Kill(engine_support.EngineTest):
    ORDER = ["--program", "gpt", "--steps", "12", "--batch", "4", "--width", "32", "--layers", "1", "--context", "16", "--checkpoint-every", "3",
             "--dropout", "0.1"]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.random = random.Random(SEED)

    def killed(self, request, seconds):
        """True if the engine was still at work when it was killed."""
        engine = self.engine(request)
        time.sleep(seconds)
        ended = engine.process.poll()
        engine.process.kill()
        out, _ = engine.process.communicate()
        engine.events = [event for event in map(engine_support.json.loads, out.splitlines(keepends=False)[:-1] if ended is None else out.splitlines())]
        return ended is None, engine

    def test_trainer(self):
        start = time.monotonic()
        self.run_engine(0, self.train_request("whole"))
        whole = time.monotonic() - start
        expected = content(self.folder / "whole")
        interrupted = 0
        for number in range(ROUNDS):
            out = f"killed-{number}"
            for attempt in range(3):
                at_work, _ = self.killed(self.train_request(out, resume=attempt > 0), self.random.uniform(0.1, 0.9) * whole)
                interrupted += at_work
                if not at_work:
                    break
            if not (self.folder / out / "attestation.dsse.json").exists() or (self.folder / out / "training.journal").exists():
                self.run_engine(0, self.train_request(out, resume=True))
            self.assertEqual(content(self.folder / out), expected, f"round {number}, seed {SEED}")
        self.assertGreater(interrupted, 0)
        print(f"{interrupted} kills of the trainer")

    def test_auditor(self):
        self.run_engine(0, self.train_request("run"))
        start = time.monotonic()
        undisturbed = self.run_engine(0, self.verify_request("run")).last("verdict")
        whole = time.monotonic() - start
        for number in range(ROUNDS):
            _, engine = self.killed(self.verify_request("run"), self.random.uniform(0.2, 0.95) * whole)
            steps = [event for event in engine.all("step") if event["status"] == "matched"]
            sums = {name: sum(event[name] for event in steps) for name in ("entries", "corrections", "log_bytes", "freedom")}
            through = max((event["step"] for event in steps), default=0)
            request = self.verify_request("run", verified_through=through, verified_leaves=self.verified_leaves("run", through),
                                          **{f"verified_{name}": value for name, value in sums.items()})
            verdict = self.run_engine(0, request).last("verdict")
            for field in ("verdict", "root_computed", "steps_checked", "entries", "corrections", "log_bytes", "freedom"):
                self.assertEqual(verdict[field], undisturbed[field], (field, number, SEED))


if __name__ == "__main__":
    if "--rounds" in sys.argv:
        at = sys.argv.index("--rounds")
        ROUNDS = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    engine_support.main()
