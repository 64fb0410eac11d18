# SPDX-License-Identifier: Apache-2.0
"""What a trainer who holds the key can do: takes a submission apart, changes any part, and puts it together again with
consistent leaves, root, note and manifest. Follows core/format/FORMAT.md through tests/format/vectors.py, nothing of ours."""
import base64
import json
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "format"))
import vectors as V  # noqa: E402


class Leaf:
    """One step's record with its parts as plain values."""

    def __init__(self, record):
        size, = struct.unpack_from("<I", record)
        data, at = record[4:4 + size], 4 + size
        self.log_bytes, self.log_sha = struct.unpack_from("<Q", record, at)[0], record[at + 8:at + 40]
        count, = struct.unpack_from("<I", record, at + 40)
        self.tensor_roots = [record[at + 44 + 32 * i:at + 76 + 32 * i] for i in range(count)]
        self.diverged = data.startswith(b"assay/diverged/1\n")
        at = 17 if self.diverged else 13
        self.order, self.step, self.batch = data[at:at + 32], struct.unpack_from("<Q", data, at + 32)[0], data[at + 40:at + 72]
        self.rate, = struct.unpack_from("<I", data, at + 72)
        at += 76
        self.site, self.loss, self.log, self.root, self.evaluation = "", 0, bytes(32), None, None
        if self.diverged:
            size, = struct.unpack_from("<H", data, at)
            self.site = data[at + 2:at + 2 + size].decode()
        else:
            self.loss, self.log, flags = struct.unpack_from("<I", data, at)[0], data[at + 4:at + 36], data[at + 36]
            at += 37
            if flags & 1:
                self.root, at = data[at:at + 32], at + 32
            if flags & 2:
                self.evaluation, = struct.unpack_from("<I", data, at)

    def data(self, previous):
        if self.diverged:
            return V.diverged_leaf(self.order, self.step, self.batch, self.rate, self.site, previous)
        return V.step_leaf(self.order, self.step, self.batch, self.rate, self.loss, self.log, self.root, self.evaluation, previous)

    def record(self, data):
        return (struct.pack("<I", len(data)) + data + struct.pack("<Q", self.log_bytes) + self.log_sha +
                struct.pack("<I", len(self.tensor_roots)) + b"".join(self.tensor_roots))

    def diverge(self, site):
        """The trainer says that the run broke down here."""
        self.diverged, self.site = True, site
        self.log_bytes, self.log_sha, self.tensor_roots, self.root, self.evaluation = 0, bytes(32), [], None, None


class Forgery:
    def __init__(self, folder):
        folder = pathlib.Path(folder)
        self.files = {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
        ends = [0] + [end for end, in struct.iter_unpack("<Q", self.files["steps.idx"])]
        self.leaves = [Leaf(self.files["steps.bin"][a:b]) for a, b in zip(ends, ends[1:])]
        self.diverged = json.loads(self.files["commitment.json"])["diverged"]
        self.profile = "default,threads=1"
        self.origin = "assay/training/" + V.sha(self.files["order.json"]).hex()

    def cut(self, steps):
        """Nothing is left of what came after these steps."""
        self.leaves = self.leaves[:steps + 1]
        for name in [n for n in self.files if n.startswith(("logs/", "checkpoints/")) and int(n.split("/")[1].split(".")[0]) > steps]:
            del self.files[name]

    def set_log(self, step, data, sections):
        self.files["logs/%06d.rlog" % step] = data
        leaf = self.leaves[step]
        leaf.log, leaf.log_bytes, leaf.log_sha = V.log_root(sections), len(data), V.sha(data)

    def attest(self, root):
        """A statement over what the files are now, not yet signed: `assay sign` does that."""
        checkpoints = sorted(n for n in self.files if n.startswith("checkpoints/"))
        last = checkpoints[-1] if checkpoints else "init.safetensors"
        steps = len(self.leaves) - 1
        profiles = [{"first_step": 1, "last_step": steps, "profile": self.profile}] if steps else []
        subjects = [("root", "assayRfc9162Sha256V1", root.hex())] + [(n, "sha256", V.sha(self.files[n]).hex())
                                                                     for n in ("manifest.json", last, "order.json")]
        statement = {"_type": "https://in-toto.io/Statement/v1", "predicateType": "urn:assay:training:v1",
                     "predicate": {"engine_version": "0.1.0", "format": "assay/training/1", "leaves": len(self.leaves), "profiles": profiles},
                     "subject": [{"digest": {kind: digest}, "name": name} for name, kind, digest in subjects]}
        self.files["attestation.dsse.json"] = V.canonical({"payload": base64.b64encode(V.canonical(statement)[:-1]).decode(),
                                                           "payloadType": "application/vnd.in-toto+json", "signatures": []})

    def write(self, folder, root=None):
        """`root`: another one than that of the leaves. Unsigned. Returns the root of the leaves."""
        folder = pathlib.Path(folder)
        previous, hashes, steps, index = bytes(32), [], b"", b""
        for leaf in self.leaves:
            data = leaf.data(previous)
            previous = V.leaf_hash(data)
            hashes.append(previous)
            steps += leaf.record(data)
            index += struct.pack("<Q", len(steps))
        own = V.merkle_root(hashes)
        root = root or own
        note = "%s\n%d\n%s\n" % (self.origin, len(hashes), base64.b64encode(root).decode())
        commitment = {"checkpoint_note": note, "diverged": self.diverged, "format": "assay/commitment/1", "leaves": len(hashes),
                      "order": V.sha(self.files["order.json"]).hex(), "root": root.hex()}
        self.files.update({"leaves.bin": b"".join(hashes), "steps.bin": steps, "steps.idx": index, "commitment.json": V.canonical(commitment)})
        listed = [n for n in sorted(self.files) if n not in ("manifest.json", "attestation.dsse.json")]
        self.files["manifest.json"] = V.canonical({"files": [{"name": n, "sha256": V.sha(self.files[n]).hex(), "size": len(self.files[n])}
                                                             for n in listed], "format": "assay/manifest/1"})
        self.attest(root)
        for name, data in self.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
        return own


def sections_of(log):
    """The sections of a step's log file."""
    count, = struct.unpack_from("<I", log, 52)
    at, found = 56, []
    for _ in range(count):
        size = shift = 0
        while True:
            byte, at = log[at], at + 1
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        found.append(log[at:at + size])
        at += size
    return found


def log_file(order, step, sections):
    out = b"ASSAYLOG" + struct.pack("<I", 1) + order + struct.pack("<QI", step, len(sections))
    for section in sections:
        size = len(section)
        while size > 127:
            out, size = out + bytes([size & 127 | 128]), size >> 7
        out += bytes([size]) + section
    return out
