# SPDX-License-Identifier: Apache-2.0
"""What the machine may lack: memory, file numbers, standard streams, disk, time. An error with a remedy, never a hang."""
import os
import resource
import shutil
import signal
import subprocess

import support


class Limits(support.CliTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.must("order", "new", *support.SMALL, "--out", "job")
        cls.must("train", "job", "--out", "run", "--kernel", "threads=1")

    def limited(self, what, amount):
        return lambda: resource.setrlimit(what, (amount, amount))

    def test_little_address_space(self):
        """OpenBLAS asks for ever for memory that it cannot have, at its first product and again at exit."""
        for mebibytes in (80, 100, 150, 200, 300):
            with self.subTest(mebibytes):
                result = self.assay("verify", "run", "--order", "job", "--kernel", "threads=2", timeout=60,
                                    preexec_fn=self.limited(resource.RLIMIT_AS, mebibytes << 20))
                self.assertIn(result.code, (0, 4), result)
                if result.code == 4:
                    self.assertIn("try: ", result.err, result)

    def test_few_open_files(self):
        for count in (7, 8, 10, 12, 14, 20):
            with self.subTest(count):
                result = self.assay("verify", "run", "--order", "job", timeout=60,
                                    preexec_fn=self.limited(resource.RLIMIT_NOFILE, count))
                self.assertIn(result.code, (0, 4), result)

    def test_closed_standard_streams(self):
        """A file of ours must not get the number of a closed stream: messages would be written into it."""
        for closed in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)):
            with self.subTest(closed):
                name = "closed-" + "".join(map(str, closed))
                keys = " ".join(["<&-", ">&-", "2>&-"][fd] for fd in closed)
                command = f'exec "$0" train job --out {name} --kernel threads=1 {keys}'
                done = subprocess.run(["sh", "-c", command, str(support.BIN / "assay")], cwd=self.folder, env=self.env,
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 4 if 1 in closed else 0, done)
                self.must("verify", name, "--order", "job", "--kernel", "threads=1")

    def test_end_of_the_whole_group_is_an_interruption(self):
        """As a service manager, or `timeout`, ends a command: the signal reaches the engine too."""
        self.must("order", "new", "--program", "mlp", "--steps", "2000", "--batch", "64", "--width", "256", "--out", "long")
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                name = f"ended-{number}"
                process = subprocess.Popen([str(support.BIN / "assay"), "train", "long", "--out", name, "--progress", "jsonl"],
                                           cwd=self.folder, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                           start_new_session=True)
                for line in process.stderr:
                    if '"step"' in line:
                        break
                os.killpg(process.pid, number)
                out, err = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 130, out + err)
                self.assertNotIn("bug", err)
                self.assertIn("--resume", err)

    def test_site_digests_on_a_full_disk(self):
        result = self.expect(4, "verify", "run", "--order", "job", "--site-digests", "/dev/full", says="No space left")
        self.assertEqual(result.out, "")

    def test_full_disk(self):
        """Only training can be resumed, so only training says so. A limit on the size of files stands for the disk."""
        small = self.limited(resource.RLIMIT_FSIZE, 50000)  # between init.safetensors and a checkpoint
        result = self.assay("train", "job", "--out", "full", "--kernel", "threads=1", preexec_fn=small)
        self.assertEqual(result.code, 4, result)
        self.assertIn("assay train job --out full --kernel threads=1 --resume", result.err)
        self.must("train", "job", "--out", "full", "--kernel", "threads=1", "--resume")
        self.must("verify", "full", "--order", "job")
        result = self.assay("order", "new", "--out", "none", preexec_fn=small)
        self.assertEqual(result.code, 4, result)
        self.assertNotIn("--resume", result.err)

    def test_resumed_training_sums_up_the_whole(self):
        whole = self.must("train", "job", "--out", "whole", "--kernel", "threads=1", "--json").json

        def unfinished(name):
            """As a kill in the last moment leaves it: all steps are there, nothing is signed."""
            shutil.copytree(self.path("whole"), self.path(name))
            for file in ("manifest.json", "attestation.dsse.json", "commitment.json"):
                self.path(name, file).unlink()
            self.write(f"{name}/training.journal", "assay-journal/1\nprofile 1 default,threads=1\n")
        unfinished("again")
        again = self.must("train", "job", "--out", "again", "--kernel", "threads=1", "--resume", "--json").json
        self.assertGreater(again["first_loss"], again["last_loss"] / 2)
        for key in ("first_loss", "last_loss", "root", "steps"):
            self.assertEqual(again[key], whole[key], key)
        # What was owed and is gone is not silently left out.
        for name in ("checkpoints/000002.safetensors", "checkpoints/000004.safetensors"):
            folder = "lost-" + name[12:18]
            unfinished(folder)
            self.path(folder, name).unlink()
            self.expect(4, "train", "job", "--out", folder, "--kernel", "threads=1", "--resume", says=(name, "missing"))
            self.assertFalse(self.path(folder, "manifest.json").exists())

    def test_numbers_out_of_range_say_the_range(self):
        self.expect(2, "order", "new", "--lr", "1e39", "--out", "x", says="too large or too small")
        self.expect(2, "order", "new", "--lr", "1e-60", "--out", "x", says="too large or too small")
        self.expect(2, "order", "new", "--lr", "-1", "--out", "x", says="at least 0")
        self.expect(2, "order", "new", "--seed", 2**53, "--out", "x", says="from 0 to 9007199254740991")
        self.expect(2, "verify", "run", "--sample", "9" * 30, says="from 1 to")
        self.expect(2, "verify", "run", "--sample", "0", says="at least 1")

    def test_text_of_strangers_cannot_steer_the_terminal(self):
        title = "a\x1b[31mb\u009b2Jc\u202ed\u2066e\u200bf\u2028g\x7fh"
        self.must("order", "new", *support.SMALL, "--title", title, "--out", "titled")
        shown = self.must("order", "show", "titled").out
        self.assertIn("a?[31mb?2Jc?d?e?f?g?h", shown)
        for bad in ("\x1b", "\u009b", "\u202e", "\u2066", "\u200b", "\u2028", "\x7f"):
            self.assertNotIn(bad, shown)

    def test_arguments_in_the_wrong_place(self):
        self.expect(3, "verify", "job/order.json", "--order", "run", says=("not a submission", "--order"))
        self.path("-run").symlink_to("run")
        self.expect(2, "verify", "-run", "--order", "job", says="./-run")


if __name__ == "__main__":
    support.main()
