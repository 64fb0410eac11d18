# SPDX-License-Identifier: Apache-2.0
"""Hostile and unlucky input: a clear error with file, place and remedy, the right exit code, nothing written half."""
import io
import json
import os
import resource
import shutil
import struct
import tarfile

import support


class BadInput(support.CliTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.must("order", "new", *support.SMALL, "--out", "job")
        cls.must("train", "job", "--out", "run")
        cls.must("bundle", "pack", "run", "--out", "run.assay")

    def copy(self, name):
        shutil.copytree(self.path("run"), self.path(name))
        return self.path(name)

    def verify(self, submission, codes, says=""):
        result = self.assay("verify", submission, "--order", "job", "--json", "--kernel", "default,threads=1")
        self.assertIn(result.code, codes, result)
        self.assertIn(says, result.out + result.err, result)
        return result

    def test_missing_files(self):
        for name in ("manifest.json", "order.json", "program.json", "init.safetensors", "leaves.bin", "steps.bin", "steps.idx", "commitment.json",
                     "attestation.dsse.json", "logs/000002.rlog", "checkpoints/000004.safetensors"):
            folder = self.copy("missing-" + name.replace("/", "-"))
            (folder / name).unlink()
            self.verify(folder, (3,), name)

    def test_unlisted_and_linked_files(self):
        folder = self.copy("extra")
        (folder / "extra.txt").write_text("x")
        self.verify(folder, (3,), "extra.txt")
        folder = self.copy("linked")
        (folder / "order.json").unlink()
        (folder / "order.json").symlink_to(self.path("job", "order.json"))
        self.verify(folder, (3,), "order.json")

    def test_truncated_and_longer_files(self):
        for name in ("logs/000002.rlog", "leaves.bin", "steps.bin", "manifest.json", "checkpoints/000004.safetensors"):
            for change in (lambda data: data[:-1], lambda data: data + b"\0"):
                folder = self.copy(f"cut-{name.replace('/', '-')}-{len(change(b'ab'))}")
                (folder / name).write_bytes(change((folder / name).read_bytes()))
                self.verify(folder, (1, 3), name.split("/")[-1])

    def test_steps_swapped(self):
        folder = self.copy("swapped")
        one, two = folder / "logs/000001.rlog", folder / "logs/000002.rlog"
        a, b = one.read_bytes(), two.read_bytes()
        one.write_bytes(b)
        two.write_bytes(a)
        self.verify(folder, (1, 3))

    def test_hostile_json(self):
        for name in ("manifest.json", "order.json", "program.json", "commitment.json", "attestation.dsse.json"):
            for number, content in enumerate((b"[" * 500000, b"{\"a\":" * 200000, b"", b"\xff" * 100, b"null\n")):
                folder = self.copy(f"json-{name}-{number}")
                (folder / name).write_bytes(content)
                self.verify(folder, (1, 3))

    def test_enormous_claims(self):
        folder = self.copy("header")
        path = folder / "checkpoints/000004.safetensors"
        data = bytearray(path.read_bytes())
        data[:8] = struct.pack("<Q", 10_000_000_000)
        path.write_bytes(data)
        self.verify(folder, (1, 3))
        self.expect(3, "inspect", path, says="000004.safetensors")

    def bundle(self, name, members):
        """A tar with the honest files first and then `members` (TarInfo, bytes)."""
        path = self.path(name)
        with tarfile.open(self.path("run.assay")) as honest, tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as out:
            for member in honest.getmembers():
                out.addfile(member, honest.extractfile(member))
            for info, content in members:
                info.size = len(content)
                out.addfile(info, io.BytesIO(content))
        return path

    def test_bundles_cannot_escape(self):
        outside = self.path("escaped.txt")
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc"
        hard = tarfile.TarInfo("hard")
        hard.type, hard.linkname = tarfile.LNKTYPE, "order.json"
        device = tarfile.TarInfo("null")
        device.type = tarfile.CHRTYPE
        cases = {"dotdot": (tarfile.TarInfo("../escaped.txt"), b"x"), "absolute": (tarfile.TarInfo(str(outside)), b"x"),
                 "inner": (tarfile.TarInfo("logs/../../escaped.txt"), b"x"), "symlink": (link, b""), "hardlink": (hard, b""),
                 "device": (device, b""), "twice": (tarfile.TarInfo("order.json"), b"{}"), "case": (tarfile.TarInfo("ORDER.json"), b"{}"),
                 "unlisted": (tarfile.TarInfo("more.txt"), b"x")}
        for name, member in cases.items():
            with self.subTest(name):
                path = self.bundle(f"{name}.assay", [member])
                self.verify(path, (3,), f"{name}.assay" if name != "unlisted" else "more.txt")
                self.expect(3, "bundle", "unpack", path, "--out", f"unpacked-{name}")
                self.assertFalse(self.path(f"unpacked-{name}").exists())
                self.assertFalse(outside.exists())

    def test_broken_bundles(self):
        scratch = self.path("scratch")
        scratch.mkdir()
        self.env["TMPDIR"] = str(scratch)
        self.addCleanup(self.env.pop, "TMPDIR")
        data = self.path("run.assay").read_bytes()
        self.write("cut.assay", data[: len(data) // 2])
        self.verify(self.path("cut.assay"), (3,), "cut.assay")
        self.write("tail.assay", data + b"x" * 1000)
        self.verify(self.path("tail.assay"), (3,), "tail.assay")
        self.assertEqual(os.listdir(scratch), [])  # what was unpacked of them is gone

    def test_disk_that_is_full(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        result = self.assay("order", "new", *support.SMALL, "--out", "full-order", preexec_fn=limit)
        self.assertEqual(result.code, 4, result)
        self.assertFalse(self.path("full-order").exists())
        result = self.assay("train", "job", "--out", "full-run", preexec_fn=limit)
        self.assertEqual(result.code, 4, result)
        self.assertIn("full-run", result.err)
        # Nothing is lost: with space again, the training goes on and ends as the undisturbed one.
        self.must("train", "job", "--out", "full-run", "--resume")
        root = [json.loads(self.path(name, "commitment.json").read_text())["root"] for name in ("run", "full-run")]
        self.assertEqual(root[0], root[1])
        result = self.assay("bundle", "pack", "run", "--out", "full.assay", preexec_fn=limit)
        self.assertEqual(result.code, 4, result)
        self.assertFalse(self.path("full.assay").exists())

    def test_unwritable_folders(self):
        for arguments in (["train", "job", "--out", "/proc/x/run"], ["keygen", "--out", "/proc/x/key.pem"],
                          ["bundle", "pack", "run", "--out", "/proc/x/run.assay"], ["demo", "--out", "/proc/x/demo"],
                          ["tamper", "run", "--kind", "loss", "--step", 1, "--data", "job", "--out", "/proc/x/forged"]):
            with self.subTest(arguments[0]):
                result = self.assay(*arguments)
                self.assertIn(result.code, (3, 4), result)
                self.assertIn("/proc/x", result.err)

    def test_wrong_kinds_of_input(self):
        self.expect(3, "train", "run/manifest.json", "--out", "x", says="manifest.json")
        self.expect(3, "verify", "job", "--order", "job", says="job")
        self.expect(3, "verify", "job/order.json", "--order", "job", says="order.json")
        self.expect(3, "plan", "job")
        self.expect(3, "log", "info", "job")
        self.expect(3, "train", "job", "--key", "job/order.json", "--out", "x", says="order.json")
        self.expect(3, "verify", "run", "--order", "run/program.json", says="program.json")
        self.assertFalse(self.path("x").exists())

    def test_data_that_are_not_those_of_the_order(self):
        folder = self.path("wrong-data")
        folder.mkdir()
        data = bytearray(self.path("job", "licences.txt").read_bytes())
        data[5] ^= 1
        (folder / "licences.txt").write_bytes(data)
        result = self.assay("verify", "run", "--order", "job", "--data", "wrong-data", "--json")
        self.assertEqual(result.code, 5, result)
        self.assertIn("licences.txt", result.out)
        self.expect(3, "train", "job", "--data", "wrong-data", "--out", "x", says="licences.txt")
        self.assertFalse(self.path("x").exists())


if __name__ == "__main__":
    support.main()
