# SPDX-License-Identifier: Apache-2.0
"""Trained under one core type of OpenBLAS, verified under another: same bits at every site. One core type per call."""
import sys

import engine_support

CORE = "haswell"


class CoreType(engine_support.EngineTest):
    ORDERS = {
        "mlp": ["--program", "mlp", "--steps", "4", "--batch", "16", "--width", "300", "--layers", "2", "--dropout", "0.1"],
        "cnn": ["--program", "cnn", "--steps", "3", "--batch", "4", "--width", "8", "--layers", "1"],
        "gpt": ["--program", "gpt", "--steps", "3", "--batch", "4", "--width", "32", "--layers", "1", "--context", "16", "--clip", "1"],
    }

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        probe = engine_support.Engine({"verb": "kernels"}, cls.folder)
        probe.finish()
        kernels = {kernel["name"]: kernel for kernel in probe.last("done")["kernels"]}
        cls.refused = "" if kernels[CORE]["supported"] else kernels[CORE]["reason"]
        cls.others = [name for name, kernel in kernels.items() if kernel["supported"] and name not in (CORE, "default")]

    def test_every_site_has_the_same_digest(self):
        if self.refused:
            self.skipTest(f"{CORE}: {self.refused}")
        for name, options in self.ORDERS.items():
            self.order(name, *options)
            own = self.folder / f"{name}.own"
            train = self.train_request(f"{name}-run", order=f"{name}/order.json", key=f"{name}/trainer.pem", kernel=f"{CORE},threads=1",
                                       site_digests=str(own))
            hello = self.run_engine(0, train).events[0]
            self.assertEqual(hello["core"].lower(), CORE)
            for other in [*self.others, f"{CORE},splitk", f"{CORE},reversed,noise=0.9"]:
                seen = self.folder / f"{name}.seen"
                verify = self.verify_request(f"{name}-run", order=f"{name}/order.json", kernel=other, site_digests=str(seen))
                engine = self.run_engine(0, verify)
                self.assertEqual(engine.last("verdict")["verdict"], "accepted", (name, other))
                self.assertEqual(own.read_text(), seen.read_text(), (name, other))
        # Two core types in one audit need two processes.
        if self.others:
            verdict = self.run_engine(0, self.verify_request("mlp-run", order="mlp/order.json", kernel=CORE, second_kernel=self.others[0]))
            self.assertEqual(verdict.last("verdict")["verdict"], "accepted")

    def test_a_core_type_that_the_cpu_lacks_is_refused(self):
        if not self.refused:
            self.skipTest(f"this CPU runs {CORE}")
        engine = self.run_engine(4, self.train_request("refused", kernel=CORE))
        self.assertEqual(engine.last("error")["code"], "environment")
        self.assertFalse((self.folder / "refused").exists())


if __name__ == "__main__":
    CORE = sys.argv.pop(1)
    engine_support.main(skipped_because=lambda: CoreType.refused)
