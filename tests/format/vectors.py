#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An independent reading of core/format/FORMAT.md: makes every example of that document from its prose alone (hashlib and struct,
nothing of ours) and compares. `--write` puts the results into the document, for a format change."""
import hashlib
import json
import pathlib
import re
import struct
import sys

# ---- primitives


def sha(data):
    return hashlib.sha256(data).digest()


def leaf_hash(data):
    return sha(b"\x00" + data)


def merkle_root(leaves):
    """RFC 9162, 2.1.1, recursively, over leaf hashes."""
    if not leaves:
        return sha(b"")
    if len(leaves) == 1:
        return leaves[0]
    k = 1
    while 2 * k < len(leaves):
        k *= 2
    return sha(b"\x01" + merkle_root(leaves[:k]) + merkle_root(leaves[k:]))


def canonical(value):
    """The JSON profile: Python's writer gives it when keys are ASCII and nothing is escaped needlessly."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def f32(value):
    return struct.pack("<f", value)


def bits(value):
    return struct.unpack("<I", f32(value))[0]


def hex_f32(value):
    return "%08x" % bits(value)


# ---- section 4: sample order (Philox 4x32-10 and a Feistel network with cycle walking)


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def permute(seed, epoch, n, i):
    if n <= 1:
        return 0
    half = ((n - 1).bit_length() + 1) // 2
    mask = (1 << half) - 1
    key = (seed & 0xFFFFFFFF, seed >> 32)
    while True:
        left, right = i >> half, i & mask
        for r in range(8):
            word = philox((right & 0xFFFFFFFF, r, epoch & 0xFFFFFFFF, epoch >> 32), key)[0]
            left, right = right, (left ^ word) & mask
        i = left << half | right
        if i < n:
            return i


def batch_indices(order, step):
    n, batch = order["data"]["samples"], order["loop"]["batch"]
    epoch, place = divmod(step - 1, n // batch)
    return [permute(order["seed"], epoch, n, place * batch + i) for i in range(batch)]


# ---- sections 5 to 8: safetensors, trees, leaves


def safetensors(tensors):
    """tensors: {name: (dtype, shape, bytes)}"""
    header, data = {}, b""
    parts = []
    for name in sorted(tensors):
        dtype, shape, raw = tensors[name]
        parts.append('%s:{"data_offsets":[%d,%d],"dtype":"%s","shape":[%s]}' %
                     (json.dumps(name), len(data), len(data) + len(raw), dtype, ",".join(map(str, shape))))
        data += raw
    header = ("{" + ",".join(parts) + "}").encode()
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header + data


def tensor_root(raw):
    return merkle_root([leaf_hash(b"assay/chunk/1\n" + raw[i:i + 65536]) for i in range(0, len(raw), 65536)])


def text32(text):
    return struct.pack("<I", len(text)) + text.encode()


def state(tensors):
    roots, leaves = [], []
    for name in sorted(tensors):
        dtype, shape, raw = tensors[name]
        roots.append(tensor_root(raw))
        leaves.append(leaf_hash(b"assay/tensor/1\n" + text32(name) + text32(dtype) + struct.pack("<I", len(shape)) +
                                b"".join(struct.pack("<Q", d) for d in shape) + struct.pack("<Q", len(raw)) + roots[-1]))
    return merkle_root(leaves), roots


def log_root(sections):
    return merkle_root([leaf_hash(b"assay/log/1\n" + s) for s in sections])


def sample_digest(data, label):
    return leaf_hash(b"assay/sample/1\n" + struct.pack("<QQ", label, len(data)) + data)


def batch_digest(indices, digests):
    return sha(b"assay/batch/1\n" + struct.pack("<Q", len(indices)) +
               b"".join(struct.pack("<Q", i) + d for i, d in zip(indices, digests)))


def step_leaf(order, step, batch, rate, loss, log, state_root, evaluation, previous):
    out = b"assay/step/1\n" + order + struct.pack("<Q", step) + batch + struct.pack("<II", rate, loss) + log
    out += bytes([(state_root is not None) + 2 * (evaluation is not None)])
    out += state_root or b""
    out += b"" if evaluation is None else struct.pack("<I", evaluation)
    return out + previous


def diverged_leaf(order, step, batch, rate, site, previous):
    return (b"assay/diverged/1\n" + order + struct.pack("<Q", step) + batch + struct.pack("<I", rate) +
            struct.pack("<H", len(site)) + site.encode() + previous)


def step_record(leaf, log, roots):
    return (struct.pack("<I", len(leaf)) + leaf + struct.pack("<Q", len(log)) + (sha(log) if log else bytes(32)) +
            struct.pack("<I", len(roots)) + b"".join(roots))


# ---- section 10: the tiny training of the examples


def tiny_state(step, counter=True):
    tensors = {
        "head.weight": ("F32", [3, 4], b"".join(f32(0.25 * i + step) for i in range(12))),
        "head.bias": ("F32", [3], f32(0) + f32(1) + f32(-2.0 * (step + 1))),
    }
    if counter:
        tensors["optimizer.step"] = ("I64", [], struct.pack("<q", step))
    return tensors


def tiny_program():
    def op(name, kind, inputs, attributes=None, source=""):
        return {"attributes": attributes or {}, "inputs": inputs, "kind": kind, "name": name, "outputs": [name], "source": source}
    return {
        "batch": [{"dtype": "f32", "name": "image", "shape": [0, 1, 2, 2]}, {"dtype": "i64", "name": "label", "shape": [0]}],
        "format": "assay/program/1",
        "logits": "head",
        "loss": "loss",
        "operators": [
            op("flatten", "reshape", ["image"], {"shape": [0, -1]}),
            op("head", "linear", ["flatten", "head.weight", "head.bias"], source="tiny.py:7"),
            op("drop", "dropout", ["head"], {"p_f32": "3f000000"}),
            op("loss", "cross_entropy", ["drop", "label"]),
        ],
        "tensors": [
            {"dtype": "f32", "init": "normal 3d4ccccd", "name": "head.weight", "role": "parameter", "shape": [3, 4]},
            {"dtype": "f32", "init": "zeros", "name": "head.bias", "role": "parameter", "shape": [3]},
        ],
        "title": "tiny",
    }


def tiny_order():
    return {
        "bound_exceeded_budget": 0,
        "checkpoint_every": 2,
        "data": {"classes": 256, "context": 0, "files": [{"name": "data.txt", "sha256": sha(b"data").hex(), "size": 50}],
                 "held_out": 2, "image_shape": [1, 2, 2], "reader": "bytes", "sample_root": sha(b"samples").hex(), "samples": 8,
                 "task": "classification", "transform": "unit/1"},
        "evaluate_every": 0,
        "format": "assay/order/1",
        "initial_state": sha(safetensors(tiny_state(0, False))).hex(),
        "initialiser": "philox-normal/1",
        "kind": "training",
        "loop": {"batch": 2, "sample_order": "keyed-permutation/1", "steps": 4},
        "metric": "accuracy",
        "numerics": {"block": 256, "bound": "proven", "mode": "interval"},
        "optimizer": {"beta1_f32": hex_f32(0), "beta2_f32": hex_f32(0), "clip_norm_f32": hex_f32(0), "epsilon_f32": hex_f32(0),
                      "kind": "sgd", "learning_rate_f32": hex_f32(0.1), "min_learning_rate_f32": hex_f32(0),
                      "momentum_f32": hex_f32(0.9), "nesterov": False, "schedule": "constant", "warmup": 0,
                      "weight_decay_f32": hex_f32(0)},
        "program": sha(canonical(tiny_program())).hex(),
        "seed": 7,
        "semantics": 1,
        "state_root_every": 1,
        "title": "tiny",
        "trainer_keys": [],
    }


def tiny_log(step):
    return b"log" + bytes((step * 31 + i) % 256 for i in range(5 + step % 3))


def tiny_submission():
    """All files of the finished, unsigned tiny submission but attestation.dsse.json: {name: bytes}."""
    order = tiny_order()
    digest = sha(canonical(order))
    files = {"order.json": canonical(order), "program.json": canonical(tiny_program()),
             "init.safetensors": safetensors(tiny_state(0, False)), "leaves.bin": b"", "steps.bin": b"", "steps.idx": b""}
    previous, leaves = bytes(32), []
    for step in range(5):
        root, roots = state(tiny_state(step))
        if step == 0:
            leaf = step_leaf(digest, 0, batch_digest([], []), 0, 0, log_root([]), root, None, previous)
            log = b""
        else:
            indices = batch_indices(order, step)
            batch = batch_digest(indices, [sha(str(i).encode()) for i in indices])
            log = tiny_log(step)
            leaf = step_leaf(digest, step, batch, bits(0.1), bits(struct.unpack("<f", f32(2.0 / step))[0]), log_root([log]), root, None,
                             previous)
            files["logs/%06d.rlog" % step] = log
            if step % 2 == 0:
                files["checkpoints/%06d.safetensors" % step] = safetensors(tiny_state(step))
        previous = leaf_hash(leaf)
        leaves.append(previous)
        files["leaves.bin"] += previous
        files["steps.bin"] += step_record(leaf, log, roots)
        files["steps.idx"] += struct.pack("<Q", len(files["steps.bin"]))
    import base64
    root = merkle_root(leaves)
    note = "assay/training/%s\n5\n%s\n" % (digest.hex(), base64.b64encode(root).decode())
    files["commitment.json"] = canonical({"checkpoint_note": note, "diverged": False, "format": "assay/commitment/1", "leaves": 5,
                                          "order": digest.hex(), "root": root.hex()})
    manifest = canonical({"files": [{"name": n, "sha256": sha(files[n]).hex(), "size": len(files[n])} for n in sorted(files)],
                          "format": "assay/manifest/1"})
    files["manifest.json"] = manifest
    return files, root, digest


# ---- the examples of the document


def vectors():
    files, root, order = tiny_submission()
    steps = files["steps.bin"]
    ends = struct.unpack("<5Q", files["steps.idx"])
    example = {"z": [0, -1, 9007199254740991, True, False], "a": "quote \" line\n bell\x07 euro €", "": {}}
    leaf = step_leaf(sha(b"order"), 3, sha(b"batch"), 0x3DCCCCCD, 0x40000000, sha(b"log"), sha(b"state"), 0x3F000000, sha(b"previous"))
    diverged = diverged_leaf(sha(b"order"), 9, sha(b"batch"), 0x3DCCCCCD, "blocks.0.attn.qkv / dW", sha(b"previous"))
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "predicate": {"engine_version": "0.1.0", "format": "assay/training/1", "leaves": 5,
                      "profiles": [{"first_step": 1, "last_step": 4, "profile": "haswell"}]},
        "predicateType": "urn:assay:training:v1",
        "subject": [{"digest": {"assayRfc9162Sha256V1": root.hex()}, "name": "root"},
                    {"digest": {"sha256": sha(files["manifest.json"]).hex()}, "name": "manifest.json"},
                    {"digest": {"sha256": sha(files["checkpoints/000004.safetensors"]).hex()}, "name": "checkpoints/000004.safetensors"},
                    {"digest": {"sha256": order.hex()}, "name": "order.json"}],
    }
    state_root, roots = state(tiny_state(1))
    yield "json", canonical(example).decode()
    yield "order", files["order.json"].decode()
    yield "order-digest", order.hex()
    yield "program", files["program.json"].decode()
    yield "sample-order", "".join("step %d: %s\n" % (s, " ".join(map(str, batch_indices(tiny_order(), s)))) for s in range(1, 9))
    yield "sample-digest", sample_digest(b"abc", 7).hex()
    yield "sample-digest-text", sample_digest(b"abc", 2**64 - 1).hex()
    yield "batch-digest", batch_digest([1, 2], [sha(b"1"), sha(b"2")]).hex()
    yield "safetensors", files["init.safetensors"].hex()
    yield "tensor-roots", "".join(r.hex() + "\n" for r in roots)
    yield "tensor-root-100000", tensor_root(bytes(i % 251 for i in range(100000))).hex()
    yield "state-root", state_root.hex()
    yield "log-root", log_root([b"\x01\x02\x03", b""]).hex()
    yield "leaf", leaf.hex()
    yield "leaf-hash", leaf_hash(leaf).hex()
    yield "diverged-leaf", diverged.hex()
    yield "diverged-leaf-hash", leaf_hash(diverged).hex()
    yield "step-record", steps[ends[0]:ends[1]].hex()
    yield "steps-index", files["steps.idx"].hex()
    yield "commitment", files["commitment.json"].decode()
    yield "manifest", files["manifest.json"].decode()
    yield "statement", canonical(statement).decode()


def wrapped(name, text):
    if re.fullmatch("[0-9a-f]+", text):
        text = "\n".join(text[i:i + 128] for i in range(0, len(text), 128)) + "\n"
    return "```vector %s\n%s```" % (name, text)


def main():
    path = pathlib.Path(sys.argv[1])
    text = path.read_text(encoding="utf-8")
    wrong = []
    names = []
    for name, value in vectors():
        names.append(name)
        pattern = re.compile("```vector %s\n.*?```" % re.escape(name), re.S)
        found = pattern.search(text)
        if found is None:
            wrong.append("%s: not in the document" % name)
        elif found.group(0) != wrapped(name, value):
            wrong.append("%s: the document has\n%s\nbut its prose gives\n%s" % (name, found.group(0), wrapped(name, value)))
            if "--write" in sys.argv:
                text = text[:found.start()] + wrapped(name, value) + text[found.end():]
    for name in re.findall("```vector (.*)\n", text):
        if name not in names:
            wrong.append("%s: an example that this script does not make" % name)
    if "--write" in sys.argv:
        path.write_text(text, encoding="utf-8")
    print(*wrong, sep="\n")
    print("%d examples, %d wrong" % (len(names), len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
