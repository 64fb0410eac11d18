# SPDX-License-Identifier: Apache-2.0
"""order new, check and show."""
import gzip
import json
import os
import shutil
import stat
import struct

import support


def idx_images(count, side=8):
    return struct.pack(">4BIII", 0, 0, 8, 3, count, side, side) + bytes(i % 251 for i in range(count * side * side))


def idx_labels(count):
    return struct.pack(">4BI", 0, 0, 8, 1, count) + bytes(i % 10 for i in range(count))


class New(support.CliTest):
    number = 0

    def fresh(self):
        New.number += 1
        return self.path(f"order{New.number}")

    def test_defaults_are_complete(self):
        out = self.fresh()
        result = self.must("order", "new", *support.SMALL, "--out", out)
        self.assertIn("trainer.pem", result.err)
        self.assertEqual(stat.S_IMODE((out / "trainer.pem").stat().st_mode), 0o600)
        names = sorted(path.name for path in out.iterdir())
        self.assertEqual(names, ["init.safetensors", "licences.txt", "order.json", "program.json", "trainer.pem"])
        self.expect(0, "order", "check", out)
        self.expect(0, "order", "check", out / "order.json")

    def test_same_options_same_bytes(self):
        self.must("keygen", "--out", "shared.pem")
        one, two, three = self.fresh(), self.fresh(), self.fresh()
        self.must("order", "new", *support.SMALL, "--trainer-key", "shared.pem", "--out", one)
        self.must("order", "new", *support.SMALL, "--trainer-key", "shared.pem", "--out", two)
        self.must("order", "new", *support.SMALL, "--trainer-key", "shared.pem", "--seed", 2, "--out", three)
        for name in ("order.json", "program.json", "init.safetensors"):
            self.assertEqual((one / name).read_bytes(), (two / name).read_bytes(), name)
        self.assertNotEqual((one / "init.safetensors").read_bytes(), (three / "init.safetensors").read_bytes())
        self.assertFalse((one / "trainer.pem").exists())

    def test_show_says_what_was_ordered(self):
        out = self.fresh()
        text = self.write("book.txt", "To be, or not to be. " * 2000)
        self.must("order", "new", "--program", "gpt", "--data", f"text:{text}", "--steps", 30, "--batch", 2, "--width", 32, "--layers", 1,
                  "--context", 16, "--heads", 4, "--optimizer", "adamw", "--lr", "0.002", "--schedule", "cosine", "--warmup", 3, "--clip", 1,
                  "--dropout", "0.1", "--weight-decay", "0.05", "--bound", "empirical", "--block", 512, "--checkpoint-every", 10,
                  "--state-root-every", 5, "--seed", 9, "--out", out)
        shown = self.must("order", "show", out).out
        for part in ("book.txt", "30 steps of 2 samples", "adamw", "0.002", "cosine", "3 steps of warm-up", "empirical", "512", "seed 9",
                     "every 10 steps", "every 5 steps"):
            self.assertIn(part, shown)
        order = self.must("order", "show", out, "--json").json
        self.assertEqual(order["schema"], "assay.order-show")
        self.assertEqual(order["order"]["loop"], {"batch": 2, "sample_order": "keyed-permutation/1", "steps": 30})
        self.assertEqual(order["decimals"]["learning_rate"], 0.002)
        self.assertEqual(order["order"]["data"]["context"], 16)

    def test_idx_data(self):
        folder = self.path("mnist")
        self.write("mnist/t10k-images-idx3-ubyte", idx_images(50))
        self.write("mnist/t10k-labels-idx1-ubyte", idx_labels(50))
        for program in ("mlp", "cnn"):
            out = self.fresh()
            self.must("order", "new", "--program", program, "--data", f"idx:{folder}", "--steps", 2, "--batch", 4, "--width", 8, "--out", out)
            self.assertTrue((out / "t10k-images-idx3-ubyte").exists())
            self.expect(0, "order", "check", out)
        self.expect(2, "order", "new", "--program", "gpt", "--data", f"idx:{folder}", "--out", self.fresh(), says=["gpt", "text:FILE"])

    def test_several_texts_become_one(self):
        out = self.fresh()
        a, b = self.write("a.txt", "a" * 3000), self.write("b.txt", "b" * 3000)
        self.must("order", "new", "--program", "gpt", "--context", 8, "--width", 16, "--batch", 2, "--data", f"text:{a}", b, "--out", out)
        self.assertEqual((out / "text.txt").read_bytes(), b"a" * 3000 + b"b" * 3000)

    def test_usage_errors_name_the_option_and_a_remedy(self):
        cases = [
            (["--steps", "-3"], ["--steps", "-3"]),
            (["--steps", "0"], ["--steps"]),
            (["--batch", "ten"], ["--batch", "ten"]),
            (["--lr", "-1"], ["--lr", "-1"]),
            (["--lr", "nan"], ["--lr", "nan"]),
            (["--lr", "1e999"], ["--lr"]),
            (["--batch", "100000000"], ["--batch", "training samples"]),
            (["--program", "gpt", "--width", "100", "--heads", "3"], ["100", "3", "--heads"]),
            (["--program", "resnet"], ["--program", "resnet", "mlp"]),
            (["--dropout", "1.5"], ["1.5"]),
            (["--sttep", "3"], ["--sttep", "--steps"]),
            (["--bound", "provn"], ["proven"]),
            (["--data", "nonsense:x"], ["nonsense:x", "text:FILE"]),
            (["--data", "text:"], ["text:"]),
            (["--warmup", "50", "--steps", "10"], ["--warmup", "50"]),
            (["--checkpoint-every", "3", "--state-root-every", "2"], ["--checkpoint-every", "multiple"]),
            (["--momentum", "0.9", "--optimizer", "adamw"], ["--momentum", "sgd"]),
            (["--program", "mlp", "--heads", "2"], ["--heads", "gpt"]),
            (["--program", "cnn", "--dropout", "0.1"], ["dropout"]),
            (["--steps"], ["--steps", "value"]),
            (["--steps", "3", "--steps", "4"], ["--steps", "2 times"]),
            (["--seed", "9007199254740992"], ["--seed"]),
        ]
        for arguments, says in cases:
            out = self.fresh()
            with self.subTest(" ".join(arguments)):
                self.expect(2, "order", "new", *arguments, "--out", out, says=says)
                self.assertFalse(out.exists(), "something was left behind")

    def test_input_errors(self):
        self.expect(3, "order", "new", "--data", "text:/nowhere/book.txt", "--out", self.fresh(), says="/nowhere/book.txt")
        self.expect(3, "order", "new", "--program", "cnn", "--data", "idx:/nowhere", "--out", self.fresh(), says="/nowhere")
        self.write("empty/readme", "x")
        self.expect(2, "order", "new", "--program", "cnn", "--data", f"idx:{self.path('empty')}", "--out", self.fresh(), says="idx")
        self.write("fake/train-images-idx3-ubyte", "this is text, not pixels")
        self.write("fake/train-labels-idx1-ubyte", idx_labels(5))
        self.expect(3, "order", "new", "--program", "cnn", "--data", f"idx:{self.path('fake')}", "--out", self.fresh(),
                    says=["train-images-idx3-ubyte", "not an IDX file"])
        self.write("zipped/train-images-idx3-ubyte", gzip.compress(idx_images(5)))
        self.write("zipped/train-labels-idx1-ubyte", idx_labels(5))
        self.expect(3, "order", "new", "--program", "cnn", "--data", f"idx:{self.path('zipped')}", "--out", self.fresh(), says="gzip")
        self.write("huge/train-images-idx3-ubyte", struct.pack(">4BIII", 0, 0, 8, 3, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF))
        self.write("huge/train-labels-idx1-ubyte", idx_labels(5))
        self.expect(3, "order", "new", "--program", "cnn", "--data", f"idx:{self.path('huge')}", "--out", self.fresh(), says="dimension")
        short = self.write("short.txt", "abc")
        self.expect(3, "order", "new", "--data", f"text:{short}", "--out", self.fresh(), says="short.txt")

    def test_nothing_is_overwritten(self):
        out = self.fresh()
        self.must("order", "new", *support.SMALL, "--out", out)
        before = {path.name: path.read_bytes() for path in out.iterdir()}
        self.expect(2, "order", "new", *support.SMALL, "--out", out, says="not empty")
        self.assertEqual(before, {path.name: path.read_bytes() for path in out.iterdir()})

    def test_unwritable_folder(self):
        locked = self.path("locked")
        locked.mkdir()
        locked.chmod(0o555)
        self.folder.chmod(0o755)
        # Root may write everywhere, so the call is made as somebody else.
        other = {"user": 65534} if os.geteuid() == 0 else {}
        self.expect(4, "order", "new", *support.SMALL, "--out", locked / "x", says=["locked", "permission"], **other)

    def test_folder_that_nobody_may_write(self):
        result = self.assay("order", "new", *support.SMALL, "--out", "/proc/nowhere/x")
        self.assertIn(result.code, (3, 4), result)
        self.assertIn("/proc/nowhere", result.err)


class Check(support.CliTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.must("order", "new", *support.SMALL, "--out", "order")

    def copy(self, name):
        target = self.path(name)
        shutil.copytree(self.path("order"), target)
        return target

    def test_changed_files_are_found(self):
        for name in ("program.json", "init.safetensors", "licences.txt"):
            folder = self.copy("changed-" + name)
            data = bytearray((folder / name).read_bytes())
            data[-9] ^= 1
            (folder / name).write_bytes(data)
            result = self.assay("order", "check", folder)
            self.assertIn(result.code, (1, 3), (name, result))

    def test_missing_files_are_named(self):
        for name in ("program.json", "init.safetensors", "licences.txt"):
            folder = self.copy("missing-" + name)
            (folder / name).unlink()
            self.expect(3, "order", "check", folder, says=name)
        self.expect(3, "order", "check", self.path("nowhere"), says="nowhere")
        self.expect(3, "order", "check", self.path("missing-program.json", "..", "missing-x"), says="missing-x")

    def test_foreign_initial_state(self):
        self.must("order", "new", *support.SMALL, "--seed", 77, "--out", "foreign")
        folder = self.copy("mixed")
        shutil.copy(self.path("foreign", "init.safetensors"), folder / "init.safetensors")
        result = self.expect(1, "order", "check", folder, "--json")
        failed = [check["name"] for check in result.json["checks"] if not check["passed"]]
        self.assertEqual(failed, ["initial state", "seed"])

    def test_malformed_orders(self):
        good = self.path("order", "order.json").read_text()
        order = json.loads(good)
        edits = {
            "spaces": json.dumps(order),
            "deep": "[" * 200000,
            "deep object": '{"a":' * 100000,
            "text": "hello",
            "empty": "",
            "truncated": good[: len(good) // 2],
            "trailing": good + "{}",
            "negative steps": good.replace('"steps":4', '"steps":-4'),
            "float": good.replace('"steps":4', '"steps":4.0'),
            "huge": good.replace('"steps":4', '"steps":99999999999999999999'),
            "unknown field": good.replace('"seed":', '"aaa":1,"seed":'),
            "nul": good.replace("assay", "as\0ay", 1),
        }
        for name, text in edits.items():
            with self.subTest(name):
                file = self.write("bad/order.json", text)
                self.expect(3, "order", "show", file, says="order.json")
        self.write("bad/order.json", b"\xff\xfe" + good.encode("utf-16-le"))
        self.expect(3, "order", "show", self.path("bad"), says="order.json")

    def test_unknown_operator(self):
        folder = self.copy("unknown-operator")
        text = (folder / "program.json").read_text().replace('"kind":"relu"', '"kind":"evil"')
        (folder / "program.json").write_text(text)
        self.expect(3, "order", "check", folder, says=["program.json", "evil"])

    def test_enormous_safetensors_header(self):
        folder = self.copy("huge-header")
        data = bytearray((folder / "init.safetensors").read_bytes())
        data[0:8] = struct.pack("<Q", 10_000_000_000)
        (folder / "init.safetensors").write_bytes(data)
        self.expect(3, "order", "check", folder, says="init.safetensors")
        self.expect(3, "inspect", folder / "init.safetensors", says="init.safetensors")


if __name__ == "__main__":
    support.main()
