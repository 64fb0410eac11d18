# SPDX-License-Identifier: Apache-2.0
"""merkle root, prove and check against published values and a textbook tree."""
import hashlib
import json

import support


def leaf_hash(data):
    return hashlib.sha256(b"\0" + data).digest()


def textbook_root(leaves):
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaf_hash(leaves[0])
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return hashlib.sha256(b"\1" + textbook_root(leaves[:split]) + textbook_root(leaves[split:])).digest()


# Inputs and root of the Certificate Transparency reference tree (google/certificate-transparency, merkletree tests).
CT_LEAVES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
CT_ROOTS = {1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
            8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"}


class Root(support.CliTest):
    def test_published_roots(self):
        for size, root in CT_ROOTS.items():
            file = self.write("ct.txt", "".join(leaf + "\n" for leaf in CT_LEAVES[:size]))
            self.assertEqual(self.must("merkle", "root", file).out, root + "\n")

    def test_textbook(self):
        for size in (0, 1, 2, 3, 5, 7, 9, 33):
            leaves = [bytes([i]) * (i % 4) for i in range(size)]
            file = self.write("leaves.txt", "".join(leaf.hex() + "\n" for leaf in leaves))
            self.assertEqual(self.must("merkle", "root", file).out, textbook_root(leaves).hex() + "\n")

    def test_line_endings(self):
        expected = textbook_root([b"\xab", b""]).hex()
        for text in ("ab\n\n", "AB\r\n\r\n"):
            self.assertEqual(self.must("merkle", "root", "-", stdin=text).out.strip(), expected)
        self.assertEqual(self.must("merkle", "root", "-", stdin="ab").out.strip(), textbook_root([b"\xab"]).hex())
        self.assertEqual(self.must("merkle", "root", "-", stdin="").out.strip(), hashlib.sha256(b"").hexdigest())

    def test_json(self):
        result = self.must("merkle", "root", "-", "--json", stdin="ab\n").json
        self.assertEqual((result["schema"], result["version"], result["size"]), ("assay.merkle-root", 1, 1))

    def test_bad_lines_are_named(self):
        for text in ("ab\nzz\n", "ab\nabc\n", "ab\n ab\n"):
            self.expect(3, "merkle", "root", "-", stdin=text, says="line 2")
        self.expect(3, "merkle", "root", "nowhere.txt", says="nowhere.txt")


class Proof(support.CliTest):
    def setUp(self):
        self.leaves = [bytes([i]) for i in range(11)]
        self.file = self.write("leaves.txt", "".join(leaf.hex() + "\n" for leaf in self.leaves))
        self.root = textbook_root(self.leaves).hex()

    def check(self, proof, **changes):
        options = {"leaf": "03", "index": 3, "size": 11, "root": self.root}
        options.update(changes)
        arguments = []
        for name, value in options.items():
            arguments += [f"--{name}", value]
        return self.assay("merkle", "check", proof, *arguments).code

    def test_every_leaf(self):
        for index in range(len(self.leaves)):
            proof = self.write("proof.txt", self.must("merkle", "prove", self.file, "--index", index).out)
            self.assertEqual(self.check(proof, index=index, leaf=self.leaves[index].hex()), 0)

    def test_every_change_is_refused(self):
        text = self.must("merkle", "prove", self.file, "--index", 3).out
        proof = self.write("proof.txt", text)
        self.assertEqual(self.check(proof), 0)
        self.assertEqual(self.check(proof, leaf="04"), 1)
        self.assertEqual(self.check(proof, index=2), 1)
        self.assertEqual(self.check(proof, size=12 + 5), 1)
        self.assertEqual(self.check(proof, root=self.root[:-1] + ("0" if self.root[-1] != "0" else "1")), 1)
        lines = text.splitlines()
        self.assertEqual(self.check(self.write("short.txt", "\n".join(lines[:-1]) + "\n")), 1)
        self.assertEqual(self.check(self.write("swapped.txt", "\n".join([lines[1], lines[0], *lines[2:]]) + "\n")), 1)
        self.assertEqual(self.check(self.write("broken.txt", "\n".join([lines[0][1:], *lines[1:]]) + "\n")), 3)

    def test_json_proof(self):
        text = self.must("merkle", "prove", self.file, "--index", 5, "--json").out
        proof = json.loads(text)
        self.assertEqual((proof["index"], proof["size"], proof["root"]), (5, 11, self.root))
        result = self.expect(0, "merkle", "check", "-", "--json", stdin=text, says="--root")
        self.assertTrue(result.json["valid"])
        self.expect(0, "merkle", "check", "-", "--root", self.root, stdin=text)
        proof["path"][0] = "00" * 32
        self.assertEqual(self.assay("merkle", "check", "-", stdin=json.dumps(proof)).code, 1)
        for bad in ("{", "{\"path\":[1]}", "{\"index\":-1}", "{\"path\":" + "[" * 100000 + "}"):
            self.assertEqual(self.assay("merkle", "check", "-", stdin=bad).code, 3, bad[:20])

    def test_smaller_tree(self):
        proof = self.write("proof.txt", self.must("merkle", "prove", self.file, "--index", 3, "--size", 6).out)
        self.assertEqual(self.check(proof, size=6, root=textbook_root(self.leaves[:6]).hex()), 0)

    def test_usage(self):
        self.expect(2, "merkle", "prove", self.file, "--index", 11, says="no leaf 11")
        self.expect(2, "merkle", "prove", self.file, says="--index")
        proof = self.write("proof.txt", self.must("merkle", "prove", self.file, "--index", 1).out)
        self.expect(2, "merkle", "check", proof, "--index", 1, says="--root")


if __name__ == "__main__":
    support.main()
