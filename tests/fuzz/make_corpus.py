#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seed files of the format readers (tests/fuzz/corpus/...), for a format change. The seeds are committed; this is not part of
the build. Valid files come from tests/format/vectors.py; the others are the attacks that the readers must refuse."""
import io
import json
import pathlib
import struct
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "format"))
import vectors as v  # noqa: E402


def put(reader, name, data):
    folder = HERE / "corpus" / reader
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)


def changed(base, path, value):
    copy = json.loads(json.dumps(base))
    at = copy
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return v.canonical(copy)


def orders():
    order = v.tiny_order()
    put("order", "tiny.json", v.canonical(order))
    put("order", "adamw.json", changed(order, ["optimizer"], dict(order["optimizer"], kind="adamw", beta1_f32="3f666666", beta2_f32="3f7fbe77",
                                                                  epsilon_f32="322bcc77", momentum_f32="00000000", schedule="cosine", warmup=2)))
    put("order", "keys.json", changed(order, ["trainer_keys"], ["00" * 32, "ab" * 32]))
    text = changed(order, ["data"], dict(order["data"], reader="text", context=3, image_shape=[], task="next-token", transform="none/1"))
    put("order", "text.json", text)
    put("order", "idx.json", changed(order, ["data"], dict(order["data"], reader="idx", classes=10, files=[
        {"name": "i", "sha256": "11" * 32, "size": 100}, {"name": "l", "sha256": "22" * 32, "size": 18}])))
    put("order", "nan.json", changed(order, ["optimizer", "learning_rate_f32"], "7fc00000"))
    put("order", "path.json", changed(order, ["data", "files", 0, "name"], "../../etc/passwd"))
    put("order", "batch_zero.json", changed(order, ["loop", "batch"], 0))
    put("order", "semantics.json", changed(order, ["semantics"], 99))
    put("order", "extra.json", changed(order, ["zzz"], 1))
    put("order", "spaces.json", json.dumps(order, sort_keys=True) + "\n")
    put("order", "float.json", v.canonical(order).replace(b'"seed":7', b'"seed":7.0'))
    put("order", "deep.json", b"[" * 100000)
    put("order", "truncated.json", v.canonical(order)[:300])


def programs():
    program = v.tiny_program()
    put("program", "tiny.json", v.canonical(program))
    wide = json.loads(json.dumps(program))
    names = ["image"]
    def add(kind, inputs, attributes, outputs=None):
        name = "op.%d.%s" % (len(wide["operators"]), kind)
        wide["operators"].append({"attributes": attributes, "inputs": inputs, "kind": kind, "name": name, "outputs": outputs or [name], "source": ""})
        names.append((outputs or [name])[0])
        return names[-1]
    wide["tensors"] += [{"dtype": "f32", "init": "ones", "name": n, "role": r, "shape": [2]} for n, r in
                        [("g", "parameter"), ("b", "parameter"), ("m", "buffer"), ("v", "buffer")]]
    x = add("conv2d", ["image", "g"], {"padding": 1, "stride": 2})
    x = add("batch_norm", [x, "g", "b", "m", "v"], {"eps_f32": "3727c5ac", "momentum_f32": "3dcccccd"})
    x = add("relu", [x], {})
    x = add("max_pool2d", [x], {"size": 2, "stride": 2})
    x = add("global_avg_pool", [x], {})
    x = add("layer_norm", [x, "g", "b"], {"eps_f32": "3727c5ac"})
    x = add("permute", [x], {"dims": [1, 0]})
    x = add("split", [x], {"dim": 0}, ["s1", "s2"])
    x = add("matmul", ["s1", "s2"], {"transpose_b": True})
    x = add("softmax", [x], {"causal": True})
    x = add("scale", [x], {"factor_f32": "3e800000"})
    x = add("add", [x, "s2"], {})
    x = add("gelu", [x], {})
    add("embedding", ["label", "g"], {})
    put("program", "every_kind.json", v.canonical(wide))
    put("program", "unknown.json", changed(program, ["operators", 1, "kind"], "lstm"))
    put("program", "cycle.json", changed(program, ["operators", 0, "inputs"], ["loss"]))
    put("program", "huge_shape.json", changed(program, ["tensors", 0, "shape"], [2**52, 2**52]))
    put("program", "negative.json", changed(program, ["tensors", 0, "shape"], [-3, 4]))
    put("program", "nested.json", changed(program, ["operators", 0, "attributes"], {"shape": {"a": 1}}))
    put("program", "twice.json", v.canonical(program).replace(b'"title":"tiny"', b'"title":"tiny","title":"tiny"'))


def json_texts():
    put("json", "value.json", dict(v.vectors())["json"])
    put("json", "escapes.json", '"\\b\\f\\n\\r\\t\\"\\\\\\u0001\\u001f"\n')
    put("json", "unicode.json", '{"é":"€😀"}\n')
    put("json", "surrogate.json", '"\\ud83d\\ude00"\n')
    put("json", "lone_surrogate.json", '"\\ud83d"\n')
    put("json", "numbers.json", "[0,-1,9007199254740991,-9007199254740991]\n")
    put("json", "too_large.json", "[9007199254740992]\n")
    put("json", "duplicate.json", '{"a":1,"a":2}\n')
    put("json", "unsorted.json", '{"b":1,"a":2}\n')
    put("json", "float.json", "[1.5,1e3]\n")
    put("json", "null.json", "[null]\n")
    put("json", "deep.json", "[" * 32 + "]" * 32 + "\n")
    put("json", "deeper.json", '{"a":' * 5000)
    put("json", "utf8.json", b'["\xc0\x80","\xed\xa0\x80"]\n')


def raw_safetensors(header, data=b""):
    header = header.encode()
    return struct.pack("<Q", len(header)) + header + data


def tensors():
    put("safetensors", "tiny", v.safetensors(v.tiny_state(1)))
    put("safetensors", "empty", raw_safetensors("{}"))
    put("safetensors", "metadata", raw_safetensors('{"__metadata__":{"format":"pt"},"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}  ', b"ab"))
    put("safetensors", "scalar_and_empty", v.safetensors({"s": ("F64", [], bytes(8)), "e": ("BF16", [0, 3], b"")}))
    put("safetensors", "ten_gigabytes", struct.pack("<Q", 10**10) + b"{}")
    put("safetensors", "overlap", raw_safetensors('{"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[3],"data_offsets":[2,5]}}', b"abcde"))
    put("safetensors", "hole", raw_safetensors('{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}', b"ab"))
    put("safetensors", "overflow", raw_safetensors('{"a":{"dtype":"F64","shape":[4294967296,4294967296],"data_offsets":[0,0]}}'))
    put("safetensors", "twice", raw_safetensors('{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}', b"ab"))
    put("safetensors", "deep", raw_safetensors('{"a":' + "[" * 3000))
    put("safetensors", "trailing", v.safetensors(v.tiny_state(1)) + b"x")


def leaves():
    examples = dict(v.vectors())
    put("leaf", "step", bytes.fromhex(examples["leaf"]))
    put("leaf", "diverged", bytes.fromhex(examples["diverged-leaf"]))
    files, _, _ = v.tiny_submission()
    ends = struct.unpack("<5Q", files["steps.idx"])
    put("leaf", "record_0", files["steps.bin"][:ends[0]])
    put("leaf", "record_1", files["steps.bin"][ends[0]:ends[1]])
    put("leaf", "initial", files["steps.bin"][4:4 + struct.unpack("<I", files["steps.bin"][:4])[0]])
    record = bytearray(files["steps.bin"][ends[0]:ends[1]])
    record[-100:-96] = b"\xff\xff\xff\xff"
    put("leaf", "many_roots", bytes(record))
    put("step_index", "tiny", struct.pack("<QQ", len(files["steps.bin"]), 5) + files["steps.idx"])
    put("step_index", "one", struct.pack("<QQQ", 7, 1, 7))
    put("step_index", "backwards", struct.pack("<QQQQQ", 30, 3, 10, 5, 30))
    put("step_index", "beyond", struct.pack("<QQQQ", 30, 2, 10, 2**63))
    put("step_index", "claimed", struct.pack("<QQQ", 30, 2**61, 30))
    put("step_index", "none", struct.pack("<QQ", 0, 0))
    put("manifest", "manifest.json", examples["manifest"])
    put("manifest", "commitment.json", examples["commitment"])
    put("manifest", "statement.json", examples["statement"].rstrip("\n"))
    put("manifest", "zip_slip.json", v.canonical({"files": [{"name": "../x", "sha256": "00" * 32, "size": 1}], "format": "assay/manifest/1"}))
    put("manifest", "case.json", v.canonical({"files": [{"name": n, "sha256": "00" * 32, "size": 1} for n in "Aa"], "format": "assay/manifest/1"}))
    put("manifest", "empty.json", v.canonical({"files": [], "format": "assay/manifest/1"}))


def tar(entries, **options):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT, **options) as archive:
        for name, data, *change in entries:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for key, value in (change[0] if change else {}).items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(data) if info.isreg() else None)
    return out.getvalue()


def bundles():
    files, root, order = v.tiny_submission()
    import base64
    payload = dict(v.vectors())["statement"].rstrip("\n").encode()
    files["attestation.dsse.json"] = json.dumps({"payload": base64.b64encode(payload).decode(), "payloadType": "application/vnd.in-toto+json",
                                                 "signatures": []}, separators=(",", ":")).encode()
    whole = tar(sorted(files.items()))
    put("bundle", "tiny.assay", whole)
    put("bundle", "two_files.assay", tar([("order.json", b"o"), ("logs/000001.rlog", b"l")]))
    put("bundle", "zip_slip.assay", tar([("../order.json", b"o")]))
    put("bundle", "absolute.assay", tar([("/etc/passwd", b"o")]))
    put("bundle", "symlink.assay", tar([("order.json", b"", {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"})]))
    put("bundle", "hardlink.assay", tar([("order.json", b"o"), ("program.json", b"", {"type": tarfile.LNKTYPE, "linkname": "order.json"})]))
    put("bundle", "device.assay", tar([("order.json", b"", {"type": tarfile.CHRTYPE})]))
    put("bundle", "twice.assay", tar([("order.json", b"o"), ("order.json", b"p")]))
    put("bundle", "trailing.assay", tar([("order.json", b"o")]) + b"x")
    put("bundle", "cut.assay", whole[:2000])
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT, pax_headers={"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}) as archive:
        info = tarfile.TarInfo("order.json")
        info.pax_headers = {"GNU.sparse.realsize": str(1 << 40), "GNU.sparse.name": "order.json", "size": "1"}
        info.size = 1
        archive.addfile(info, io.BytesIO(b"0"))
    put("bundle", "sparse.assay", out.getvalue())
    names = sorted(files)
    edit = lambda name, what, place, data: bytes([names.index(name), what]) + struct.pack("<HB", place, len(data)) + data  # noqa: E731
    put("submission", "unchanged", b"")
    put("submission", "leaf", edit("steps.bin", 0, 20, b"\xff"))
    put("submission", "index", edit("steps.idx", 0, 8, b"\xff" * 8))
    put("submission", "order", edit("order.json", 0, 0, b"["))
    put("submission", "cut_leaves", edit("leaves.bin", 2, 128, b""))
    put("submission", "log_gone", edit("logs/000002.rlog", 3, 0, b""))
    put("submission", "log_longer", edit("logs/000002.rlog", 1, 3, b"abc"))
    put("submission", "checkpoint", edit("checkpoints/000004.safetensors", 0, 0, struct.pack("<Q", 10**9)))
    put("submission", "attestation", edit("attestation.dsse.json", 0, 12, b"AAAA"))
    put("submission", "manifest", edit("manifest.json", 0, 12, b"../"))
    put("submission", "two", edit("steps.bin", 2, 900, b"") + edit("steps.idx", 2, 24, b""))


def idx(dims, data):
    return bytes([0, 0, 8, len(dims)]) + b"".join(struct.pack(">I", d) for d in dims) + data


def data_files():
    put("idx", "images", idx([2, 3, 4], bytes(range(24))))
    put("idx", "labels", idx([5], bytes(5)))
    put("idx", "channels", idx([1, 3, 2, 2], bytes(12)))
    put("idx", "huge", idx([2**32 - 1] * 4, bytes(4)))
    put("idx", "wraps", idx([2**16, 2**16, 2**16, 2**16], b""))
    put("idx", "zero", idx([0, 3, 4], b""))
    put("idx", "gzip", b"\x1f\x8b\x08\x00rest")
    put("idx", "floats", b"\x00\x00\x0d\x01" + struct.pack(">I", 1) + bytes(4))
    put("cifar10", "two", bytes([3]) + bytes(3072) + bytes([9]) + bytes(3072))
    put("cifar10", "bad_label", bytes([10]) + bytes(3072))
    put("cifar10", "short", bytes(3000))
    head = lambda reader, number, split=0: bytes([reader, number]) + struct.pack("<H", split)  # noqa: E731
    images = idx([3, 2, 2], bytes(range(12)))
    put("dataset", "idx", head(0, 0, len(images)) + images + idx([3], b"\x00\x01\x02"))
    put("dataset", "idx_count", head(0, 0, len(images)) + images + idx([2], b"\x00\x01"))
    put("dataset", "cifar10", head(1, 0) + bytes([3]) + bytes(3072))
    put("dataset", "text", head(2, 4) + b"It is a truth universally acknowledged")
    put("dataset", "text_short", head(2, 200) + b"It is")
    put("dataset", "bytes", head(3, 3) + b"that a single man in possession of a good fortune")
    put("dataset", "bytes_zero", head(3, 16) + b"must be in want of a wife")


for make in (orders, programs, json_texts, tensors, leaves, bundles, data_files):
    make()
