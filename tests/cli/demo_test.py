# SPDX-License-Identifier: Apache-2.0
"""The demo ends as told, can run again, and touches no foreign folder."""
import time

import support


class Demo(support.CliTest):
    def test_demo(self):
        start = time.monotonic()
        result = self.must("demo", "--out", "d", timeout=600)
        print(f"demo: {time.monotonic() - start:.0f} s")
        for part in ("1. The order", "accepted", "rejected", "learning_rate", "First divergence", "Without it"):
            self.assertIn(part, result.out)
        self.assertEqual(self.assay("verify", "d/forged", "--order", "d/order").code, 1)
        self.assertEqual(self.assay("verify", "d/run", "--order", "d/order").code, 0)
        again = self.must("demo", "--out", "d", "--json", timeout=600).json
        self.assertTrue(again["as_told"])
        self.assertGreater(again["needs_log"]["corrections"], 0)
        self.assertEqual(again["sites_differ_with_log"], 0)
        self.assertGreater(again["sites_differ_without_log"], 0)
        self.assertEqual(again["forged"]["first_divergence"]["part"], "learning_rate")

    def test_foreign_folders_are_left_alone(self):
        self.write("mine/file.txt", "x")
        self.expect(2, "demo", "--out", "mine", says="mine")
        self.assertEqual(self.path("mine", "file.txt").read_text(), "x")


if __name__ == "__main__":
    support.main()
