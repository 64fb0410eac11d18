# SPDX-License-Identifier: Apache-2.0
"""A trainer who holds the key and lies consistently: whatever is forged, leaves, root, manifest and signature fit it. Nothing of
it may be accepted, and an excuse that nobody checked is no acceptance either."""
import contextlib
import copy
import shutil
import sqlite3

import support
from forgery import Forgery, V, log_file, sections_of


class Liar(support.CliTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.must("order", "new", *support.SMALL[:-1], "1", "--out", "job")
        cls.must("train", "job", "--out", "run", "--kernel", "threads=1")
        cls.order = V.sha(cls.folder.joinpath("job/order.json").read_bytes())

    def forge(self, name, change, **keywords):
        forgery = Forgery(self.path("run"))
        change(forgery)
        forgery.write(self.path(name), **keywords)
        self.must("sign", name, "--key", "job/trainer.pem")
        return name

    def verify(self, name, *options):
        return self.assay("verify", name, "--order", "job", "--json", "--kernel", "threads=1", *options)

    def expect_rejected(self, name, part, step, change, *options):
        with self.subTest(name):
            result = self.verify(self.forge(name, change), *options)
            self.assertEqual(result.code, 1, result)
            where = result.json["first_divergence"]
            self.assertEqual((where["part"], where["step"]), (part, step), result)

    def test_put_together_again_it_is_accepted(self):
        result = self.verify(self.forge("again", lambda f: None))
        self.assertEqual(result.code, 0, result)

    def test_claims_in_leaves(self):
        def bits(field, step):
            return lambda f: setattr(f.leaves[step], field, getattr(f.leaves[step], field) ^ 1)

        def evaluation(f):
            f.leaves[2].evaluation = 0x3F800000

        def rootless(f):
            f.leaves[2].root, f.leaves[2].tensor_roots = None, []
        self.expect_rejected("loss", "loss", 2, bits("loss", 2))
        self.expect_rejected("rate", "learning_rate", 3, bits("rate", 3))
        self.expect_rejected("evaluation", "evaluation", 2, evaluation)
        self.expect_rejected("rootless", "state_root", 2, rootless)

    def test_records_at_the_wrong_place(self):
        """Once an abort of the engine, and once a complaint about the usage: the step in a record decided what was replayed."""
        def exchanged(f):
            f.leaves[2], f.leaves[3] = f.leaves[3], f.leaves[2]

        def repeated(f):
            f.leaves[3] = copy.copy(f.leaves[2])

        def numbered(step):
            return lambda f: setattr(f.leaves[4], "step", step)
        for name, change in (("exchanged", exchanged), ("repeated", repeated), ("huge", numbered(2**63)), ("fifth", numbered(5)),
                             ("first", numbered(1))):
            with self.subTest(name):
                result = self.verify(self.forge("place-" + name, change))
                self.assertEqual(result.code, 1, result)
                self.assertIn(result.json["first_divergence"]["part"], ("chain", "log_root"), result)

    def test_early_ends(self):
        def ends(f):
            f.cut(3)

        def breaks(f):
            f.cut(3)
            f.leaves[3].diverge("loss")
            f.diverged = True
            for name in ("logs/000003.rlog", "checkpoints/000003.safetensors"):
                del f.files[name]
        self.expect_rejected("ends", "chain", 4, ends)
        self.expect_rejected("ends-in-part", "chain", 4, ends, "--steps", "1:2")
        self.expect_rejected("breaks", "chain", 3, breaks)
        for nonce in ("00", "01", "02", "03"):  # whatever the lot says
            self.expect_rejected("breaks-sample-" + nonce, "chain", 3, breaks, "--sample", "1", "--nonce", nonce)
        result = self.verify("breaks", "--steps", "1:2")
        self.assertEqual(result.code, 5, result)
        self.assertIn("--steps 3:3", result.json["reason"])

    def test_note_and_checkpoints(self):
        self.expect_rejected("note", "chain", None, lambda f: setattr(f, "origin", "assay/training/" + "0" * 64))
        self.expect_rejected("checkpoint", "state_root", 2, lambda f: f.files.pop("checkpoints/000002.safetensors"))

    def test_logs(self):
        honest = sections_of(Forgery(self.path("run")).files["logs/000002.rlog"])

        def log(sections, step=2, order=self.order):
            return lambda f: f.set_log(2, log_file(order, step, sections), sections)
        self.assertEqual(self.verify(self.forge("log-same", log(honest))).code, 0)
        self.expect_rejected("log-more", "log_root", 2, log(honest + [b"\0"]))
        self.expect_rejected("log-fewer", "log_root", 2, log(honest[:-1]))
        self.expect_rejected("log-step", "log_root", 2, log(honest, step=3))
        self.expect_rejected("log-order", "log_root", 2, log(honest, order=bytes(32)))
        for value in (0x7FC00000, 0x7F800000, 0x80000000, 1, 0x3F800000):  # one whole entry for the first value
            entry = b"\x01\x00\x01" + (value << 1).to_bytes(5, "little")
            self.expect_rejected("log-%08x" % value, "log_root", 2, log([entry] + honest[1:]))
        # Longer than its sites could ever need: refused by its size.
        self.expect_rejected("log-long", "log_root", 2, log([bytes(1 << 22)] + honest[1:]))

    def test_submission_exchanged_before_resume(self):
        """First leaves of an honest run that do not give the root, then, under the same root, those of another run."""
        def lie(f):
            f.leaves[1].loss ^= 1
        forgery = Forgery(self.path("run"))
        lie(forgery)
        root = forgery.write(self.path("later"))
        self.must("sign", "later", "--key", "job/trainer.pem")
        self.forge("shown", lambda f: None, root=root)
        options = ("--kernel", "threads=1", "--store", str(self.path("resumed.sqlite")))
        first = self.assay("verify", "shown", "--order", "job", *options)
        self.assertEqual(first.code, 1, first)  # the root is not that of the leaves; each step was replayed all the same
        with contextlib.closing(sqlite3.connect(self.path("resumed.sqlite"))) as store, store:
            store.execute("UPDATE audits SET state = 'interrupted', verdict = 'not_checked', owner = ''")  # as after a kill at the end
            self.assertGreater(store.execute("SELECT count(*) FROM steps WHERE status = 'matched'").fetchone()[0], 0)
        shutil.rmtree(self.path("shown"))
        self.path("later").rename(self.path("shown"))
        result = self.assay("verify", "shown", "--order", "job", "--json", "--resume", *options)
        self.assertEqual(result.code, 1, result)
        self.assertIn("other steps", result.err)
        self.assertEqual(result.json["first_divergence"]["part"], "loss", result)
        self.assertEqual(result.json["first_divergence"]["step"], 1, result)


if __name__ == "__main__":
    support.main()
