# SPDX-License-Identifier: Apache-2.0
"""keygen, sign and verify-sig, also against the openssl command line."""
import base64
import json
import shutil
import stat
import subprocess
import unittest

import support


class Keys(support.CliTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.must("keygen", "--out", "key.pem", "--public-out", "key.pub")
        cls.must("keygen", "--out", "other.pem")

    def test_the_private_key_is_private(self):
        self.assertEqual(stat.S_IMODE(self.path("key.pem").stat().st_mode), 0o600)

    def test_nothing_is_overwritten(self):
        self.expect(2, "keygen", "--out", "key.pem", says="not overwritten")

    def test_envelope(self):
        file = self.write("note.txt", "hello")
        self.must("sign", file, "--key", "key.pem", "--type", "text/plain", "--out", "note.dsse")
        self.assertTrue(self.must("verify-sig", "note.dsse", "--key", "key.pub", "--json").json["valid"])
        self.expect(1, "verify-sig", "note.dsse", "--key", "other.pem")
        envelope = json.loads(self.path("note.dsse").read_text())
        self.assertEqual(base64.b64decode(envelope["payload"]), b"hello")
        envelope["payloadType"] = "text/html"
        self.write("retyped.dsse", json.dumps(envelope))
        self.expect(1, "verify-sig", "retyped.dsse", "--key", "key.pub")
        self.expect(3, "verify-sig", file, "--key", "key.pub", says="note.txt")

    def test_plain_signature(self):
        file = self.write("note.txt", "hello")
        self.must("sign", file, "--raw", "--key", "key.pem", "--out", "note.sig")
        self.expect(0, "verify-sig", file, "--signature", "note.sig", "--key", "key.pub")
        self.write("changed.txt", "hellO")
        self.expect(1, "verify-sig", "changed.txt", "--signature", "note.sig", "--key", "key.pub")
        self.write("short.sig", b"x" * 63)
        self.expect(3, "verify-sig", file, "--signature", "short.sig", "--key", "key.pub", says="64 bytes")

    def test_errors(self):
        self.expect(3, "sign", "missing.txt", "--key", "key.pem", says="missing.txt")
        self.expect(3, "sign", "key.pub", "--key", "key.pub", says="key.pub")
        self.expect(2, "sign", "key.pub", says="--key")

    @unittest.skipUnless(shutil.which("openssl"), "the openssl command line is not installed")
    def test_openssl_agrees_both_ways(self):
        file = self.write("o.txt", "signed by both")
        self.must("sign", file, "--key", "key.pem", "--out", "o.dsse")
        self.must("verify-sig", "o.dsse", "--key", "key.pub", "--pae", "o.pae", "--signature-out", "o.sig")
        subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", "key.pub", "-rawin", "-in", "o.pae", "-sigfile", "o.sig"],
                       cwd=self.folder, check=True, capture_output=True)
        self.assertTrue(self.path("o.pae").read_bytes().startswith(b"DSSEv1 24 application/octet-stream 14 signed"))
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", "theirs.pem"], cwd=self.folder, check=True, capture_output=True)
        subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", "theirs.pem", "-in", "o.pae", "-out", "theirs.sig"],
                       cwd=self.folder, check=True, capture_output=True)
        self.expect(0, "verify-sig", "o.pae", "--signature", "theirs.sig", "--key", "theirs.pem")
        self.expect(1, "verify-sig", "o.pae", "--signature", "theirs.sig", "--key", "key.pub")


if __name__ == "__main__":
    support.main()
