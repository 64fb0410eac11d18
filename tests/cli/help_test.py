# SPDX-License-Identifier: Apache-2.0
"""Help texts against golden files (ASSAY_UPDATE_GOLDEN=1 writes them), usage errors, completion, manual page, start time."""
import os
import re
import shutil
import statistics
import subprocess
import time
import unittest

import support

VERBS = ["", "order", "order new", "order check", "order show", "train", "verify", "plan", "tamper", "eval", "inspect", "log", "log info", "merkle",
         "merkle root", "merkle prove", "merkle check", "keygen", "sign", "verify-sig", "bundle", "bundle pack", "bundle unpack", "demo",
         "version", "completion", "completion bash", "completion man"]


class Help(support.CliTest):
    maxDiff = None

    def test_golden(self):
        for verb in VERBS:
            with self.subTest(verb or "assay"):
                text = self.must(*verb.split(), "--help").out
                self.assertEqual(text, self.must("--help").out if not verb else text)
                golden = support.HERE / "golden" / f"help{'-' if verb else ''}{verb.replace(' ', '-')}.txt"
                if os.environ.get("ASSAY_UPDATE_GOLDEN"):
                    golden.write_text(text)
                self.assertEqual(text, golden.read_text())

    def test_no_line_is_too_long(self):
        for verb in VERBS:
            for line in self.must(*verb.split(), "--help").out.splitlines():
                if "assay " not in line:  # example commands may be longer
                    self.assertLessEqual(len(line), 100, line)

    def test_every_verb_is_in_the_list(self):
        listed = set()
        for line in self.must("--help").out.splitlines():
            match = re.match(r"  ([a-z-]+)  ", line)
            if match:
                listed.add(match.group(1))
        self.assertLessEqual({verb.split()[0] for verb in VERBS if verb}, listed)

    def test_slips_are_answered_with_a_suggestion(self):
        self.expect(2, "verfy", says=["verfy", "assay verify"])
        self.expect(2, "order", "nwe", says=["nwe", "order new"])
        self.expect(2, "verify", "x", "--kernal", "haswell", says=["--kernal", "--kernel"])
        self.expect(2, "merkle", "root", "a", "b", says='"b"')
        self.expect(2, "train", says="ORDER")
        self.expect(2, says="VERB")
        self.expect(2, "order", says="VERB")
        self.expect(2, "verify", "x", "--progress", "loud", says="--progress")

    def test_errors_are_json_too(self):
        result = self.expect(2, "verify", "--json", says="SUBMISSION")
        self.assertEqual(result.json["schema"], "assay.error")
        self.assertEqual(result.json["error"]["code"], "usage")
        result = self.expect(3, "inspect", "nowhere", "--json", says="nowhere")
        self.assertEqual(result.json["error"]["file"], "nowhere")

    def test_standard_output_that_is_full(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        with open("/dev/full", "w") as full:
            done = subprocess.run([str(support.BIN / "assay"), "version"], stdout=full, stderr=subprocess.PIPE, env=self.env)
        self.assertEqual(done.returncode, 4)
        self.assertIn(b"standard output", done.stderr)

    def test_nobody_can_steer_the_terminal(self):
        result = self.assay("inspect", "evil\x1b[2Jname")
        self.assertEqual(result.code, 3)
        self.assertNotIn("\x1b", result.err)

    def test_no_colour_when_asked(self):
        script = f"{support.BIN / 'assay'} inspect nowhere"
        if not shutil.which("script"):
            self.skipTest("script is not installed")
        for setting, coloured in (("", True), ("1", False)):
            env = dict(self.env, NO_COLOR=setting, TERM="xterm")
            done = subprocess.run(["script", "-qec", script, "/dev/null"], capture_output=True, env=env, stdin=subprocess.DEVNULL)
            self.assertEqual(b"\x1b[" in done.stdout, coloured, done.stdout)


class Shell(support.CliTest):
    def complete(self, line):
        words = line.split(" ")
        script = self.must("completion", "bash").out + f"""
COMP_WORDS=({' '.join("'" + word + "'" for word in words)}); COMP_CWORD={len(words) - 1}; _assay; printf '%s\\n' "${{COMPREPLY[@]}}" """
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=self.folder)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_completion(self):
        self.assertEqual(self.complete("assay ver"), ["verify", "verify-sig", "version"])
        self.assertEqual(self.complete("assay order n"), ["new"])
        self.assertIn("--site-digests", self.complete("assay verify run --s"))
        self.assertEqual(self.complete("assay order new --program "), ["mlp", "cnn", "gpt"])
        self.assertEqual(self.complete("assay tamper run --kind log-e"), ["log-extra", "log-empty"])
        self.write("mine.txt", "")
        self.assertIn("mine.txt", self.complete("assay inspect mi"))

    @unittest.skipUnless(shutil.which("man"), "man is not installed")
    def test_manual_page(self):
        self.write("assay.1", self.must("completion", "man").out)
        done = subprocess.run(["man", "--warnings", "-l", "./assay.1"], capture_output=True, text=True, cwd=self.folder,
                              env=dict(self.env, MANWIDTH="100"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--site-digests", done.stdout.replace("‐", "-"))
        self.assertEqual(done.stderr, "")


class Start(support.CliTest):
    def test_start_time_is_printed(self):
        for arguments in (["version"], ["--help"]):
            times = []
            for _ in range(9):
                start = time.monotonic()
                self.must(*arguments)
                times.append(time.monotonic() - start)
            print(f"assay {arguments[0]}: median {1000 * statistics.median(times):.0f} ms, best {1000 * min(times):.0f} ms")
            # Not a gate on a busy machine, but BLAS or torch linked by mistake would cost seconds.
            self.assertLess(min(times), 1.0)

    def test_no_linear_algebra_is_linked(self):
        if not shutil.which("ldd"):
            self.skipTest("ldd is not installed")
        libraries = subprocess.run(["ldd", str(support.BIN / "assay")], capture_output=True, text=True).stdout
        for name in ("blas", "torch", "libQt"):
            self.assertNotIn(name, libraries)


if __name__ == "__main__":
    support.main()
