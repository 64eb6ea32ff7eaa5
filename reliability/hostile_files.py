# SPDX-License-Identifier: BSD-3-Clause
"""Model files made by an enemy, checksums in order: zips, nodes and numbers that no model has."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import struct
import zipfile

import numpy as np

from skstruct.persistence.names import known_names

HUGE = [-1, 2**31, 2**40, 2**62, -(2**40)]


# ---------------------------------------------------------------------- zips by hand
def sealed(members, *, compression=zipfile.ZIP_STORED, change=None) -> bytes:
    """A zip of (name, bytes) pairs with the right checksum, changed before it is sealed."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as packed:
        for name, data in members:
            packed.writestr(zipfile.ZipInfo(name), data, compression)
        packed.comment = b"0" * 64
    raw = stream.getvalue()
    raw = raw if change is None else change(raw)
    return raw[:-64] + hashlib.sha256(raw[:-64]).hexdigest().encode()


def _npy(header: str, data: bytes = b"") -> bytes:
    text = header.encode("latin1") + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def _header(descr="'<f8'", shape="(3,)", order="False"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"


def zip_attacks(manifest) -> dict[str, bytes]:
    """Containers that are not what they say."""
    head = json.dumps({"kind": "model", "layout": 1, "manifest": manifest}).encode()
    first, array = ("manifest.json", head), _npy(_header(), bytes(24))
    zeros = bytes(2**26)
    deflated = zipfile.ZIP_DEFLATED
    arrays = {
        "object array": _npy(_header("'|O'"), b"\x80\x04]q\x00."),
        "record array": _npy(_header("[('a', '<f8')]"), bytes(24)),
        "record in a word": _npy(_header("'f8,f8'"), bytes(48)),
        "void array": _npy(_header("'|V8'"), bytes(24)),
        "huge shape": _npy(_header(shape="(1000000000000,)"), bytes(24)),
        "shape beyond all numbers": _npy(_header(shape=f"({10**30},)"), bytes(24)),
        "two large sides": _npy(_header(shape="(4294967296, 4294967296)"), bytes(24)),
        "nothing times much": _npy(_header(shape=f"(0, {2**62}, {2**62})")),
        "negative shape": _npy(_header(shape="(-3,)"), bytes(24)),
        "a hundred axes": _npy(_header(shape=f"({'1, ' * 100})"), bytes(8)),
        "zero wide text": _npy(_header("'<U0'", f"({2**40},)")),
        "code in the header": _npy("__import__('os').system('true')", bytes(24)),
        "deep header": _npy("(" * 5000 + ")" * 5000, bytes(24)),
        "no header": b"\x93NUMPY\x01\x00\xff\xff",
        "pickle": b"\x80\x04cposix\nsystem\n\x94(X\x04\x00\x00\x00truetR.",
        "empty": b"",
    }
    nested = b'{"kind": "model", "layout": 1, "manifest": ' + b"[" * 10**6 + b"]" * 10**6 + b"}"
    heads = {
        "deep nesting": nested,
        "huge number": head.replace(b'"format_version": 1', b'"format_version": 1' + b"0" * 10**6),
        "not a number": head.replace(b'"format_version": 1', b'"format_version": NaN'),
        "infinity": head.replace(b'"format_version": 1', b'"format_version": 1e999'),
        "newer": head.replace(b'"format_version": 1', b'"format_version": 2'),
        "true version": head.replace(b'"format_version": 1', b'"format_version": true'),
        "list": b"[]",
        "null": b"null",
        "no json": b"\xff\xfe",
        "long json": b'{"kind": "model", "layout": 1, "manifest": [' + b"[]," * 10**6 + b"0]}",
        "checkpoint": head.replace(b'"model"', b'"checkpoint"', 1),
        "layout": head.replace(b'"layout": 1', b'"layout": 9'),
    }
    names = [
        "../evil.npy", "/etc/passwd", "arrays/../../x.npy", "arrays/a\x00.npy", "C:\\x.npy",
        "arrays/a0.py", "arrays/.npy", "manifest.json", "arrays/" + "a" * 400 + ".npy",
    ]  # fmt: skip
    files = {f"array: {k}": sealed([first, ("arrays/a0.npy", v)]) for k, v in arrays.items()}
    files |= {f"manifest: {k}": sealed([("manifest.json", v)]) for k, v in heads.items()}
    files |= {f"member {n[:20]!r}": sealed([first, (n, array)]) for n in names}
    return files | {
        "bomb": sealed([first, ("arrays/a0.npy", zeros)], compression=deflated),
        "bomb of json": sealed([("manifest.json", b" " * 2**26)], compression=deflated),
        "bzip2": sealed([first, ("arrays/a0.npy", zeros)], compression=zipfile.ZIP_BZIP2),
        "lzma": sealed([first, ("arrays/a0.npy", array)], compression=zipfile.ZIP_LZMA),
        "members twice": sealed([first, ("arrays/a0.npy", array), ("arrays/a0.npy", array)]),
        "manifest last": sealed([("arrays/a0.npy", array), first]),
        "no member": sealed([]),
        "overlap": sealed([first, ("arrays/a0.npy", array), ("arrays/a1.npy", array)],
                          change=_overlapping),
        "larger than it is": sealed([first, ("arrays/a0.npy", array)], change=_inflated),
        "encrypted": sealed([first, ("arrays/a0.npy", array)], change=_encrypted),
        "text before": sealed([first], change=lambda raw: b"#!/bin/sh\ntrue\n" + raw),
        "seal alone": hashlib.sha256(b"").hexdigest().encode(),
        "empty file": b"",
        "noise": bytes(range(256)) * 40,
    }  # fmt: skip


def _directory(raw, at=-1):
    """Where an entry of the zip's directory begins."""
    starts, start = [], raw.find(b"PK\x01\x02")
    while start >= 0:
        starts.append(start)
        start = raw.find(b"PK\x01\x02", start + 1)
    return starts[at]


def _overlapping(raw):
    first, last = _directory(raw, -2), _directory(raw)
    return raw[: last + 42] + raw[first + 42 : first + 46] + raw[last + 46 :]


def _inflated(raw):
    at = _directory(raw)
    return raw[: at + 20] + struct.pack("<II", 2**31, 2**31) + raw[at + 28 :]


def _encrypted(raw):
    at = _directory(raw)
    return raw[: at + 8] + b"\x01\x00" + raw[at + 10 :]


# ---------------------------------------------------------------------- nodes by hand
def node_attacks(manifest) -> dict[str, dict]:
    """Manifests with something in them that no model has."""
    wrong = [
        "os.system", "builtins.eval", "subprocess.Popen", "sklearn.FunctionTransformer",
        "skstruct.persistence.load_model", "Dag.__init__", "", "__class__", 7, None, [],
    ]  # fmt: skip
    last = ["objects", -1]
    changed = {f"class {c!r}": _changed(manifest, [*last, "class"], c) for c in wrong}
    extra = {
        "foreign function": {"function": "eval"}, "foreign type": {"type": "subprocess.Popen"},
        "foreign kind": {"pickle": "gASVAAAA"}, "two kinds": {"list": [], "tuple": []},
        "ahead": {"ref": 10**6}, "behind": {"ref": -1}, "half": {"ref": 0.5}, "yes": {"ref": True},
        "long range": {"range": [0, 10**15, 1]}, "no range": {"range": [0, 1, 0]},
        "backwards": {"range": [10**15, 0, -1]}, "wide text": {"scalar": ["<U1000000000", "a"]},
        "record": {"dtype": "f8,f8"}, "object": {"scalar": ["|O", "a"]},
        "no dtype": {"dtype": "__import__('os')"}, "subarray": {"dtype": "(1000000,1000000)f8"},
        "long number": {"int": "0x" + "f" * 2 * 10**6}, "no number": {"int": "zz"},
        "float": {"float": "1e5"}, "bytes": {"bytes": "%%%"}, "no array": {"array": "zz"},
        "shape": {"objects": {"shape": [10**9, 10**9], "items": []}},
        "shape below": {"objects": {"shape": [-5], "items": [1]}},
        "texts": {"list": {"texts": ["a0", "a0"]}}, "graph": {"graph": {"kind": "nx_agraph"}},
        "keys": {"dict": [[{"list": []}], [1]]}, "set of lists": {"set": [{"list": []}]},
        "frame": {"pandas": {"kind": "read_pickle", "path": "x"}},
        "dtype of pandas": {"pandas dtype": "category"},
        "sparse": {"sparse": {"array": True, "format": "csr", "kept": "csr", "shape": [2, 2],
                              "data": {"array": "a0"}, "indices": {"array": "a0"},
                              "indptr": {"array": "a0"}}},
        "sparse, huge": {"sparse": {"array": True, "format": "csr", "kept": "csr",
                                    "shape": [2**60, 2**60], "data": {"array": "a0"},
                                    "indices": {"array": "a0"}, "indptr": {"array": "a0"}}},
        "date": {"date": "tomorrow"}, "complex": {"complex": ["1"]}, "slice": {"slice": [1]},
    }  # fmt: skip
    for name, node in extra.items():
        changed[name] = _changed(manifest, ["objects", -1, "state", "extra_"], node)
    for key in (
        "__class__",
        "__dict__",
        "__reduce__",
        "predict",
        "decode",
        "fit",
        "a b",
        "_checked",
    ):
        changed[f"attribute {key}"] = _changed(manifest, ["objects", -1, "state", key], "x")
    for key in list(manifest):
        changed[f"without {key}"] = {k: v for k, v in manifest.items() if k != key}
    changed["many jobs"] = _changed(manifest, [*last, "state", "n_jobs"], 10**6)
    changed["a model of a space"] = manifest | {"class": "Classes"}
    changed["circle"] = _changed(manifest, ["objects", 0, "state"], {"a": {"ref": 0}})
    return changed


def _changed(manifest, path, value):
    """A copy with one entry replaced."""
    made = copy.deepcopy(manifest)
    node = made
    for key in path[:-1]:
        node = node.setdefault(key, {}) if isinstance(node, dict) else node[key]
    node[path[-1]] = value
    return made


# ---------------------------------------------------------------------- drawn changes
def drawn_attack(manifest, arrays, rng):
    """A sound file with one to three numbers, shapes or names turned against the reader.

    The manifest that is given is changed.
    """
    arrays = dict(arrays)
    if rng.random() < 0.5:
        manifest["rehearsal"] = None  # nothing is compared: only the reader itself can object
    words = []
    for _ in range(int(rng.integers(1, 4))):
        kind = rng.choice(["array", "array", "array", "number", "class", "node", "drop"])
        words.append(DRAWN[str(kind)](manifest, arrays, rng))
    return "; ".join(words), manifest, arrays


def _draw_array(manifest, arrays, rng):
    name = str(rng.choice(list(arrays)))
    array = arrays[name].copy()
    how = str(
        rng.choice(["entry", "entry", "entry", "short", "long", "axis", "type", "all", "flat"])
    )
    if how == "entry" and array.size and array.dtype.kind in "iufb":
        value = _any_number(array.dtype, rng)
        array.reshape(-1)[rng.integers(array.size)] = value
    elif how == "all" and array.size and array.dtype.kind in "iufb":
        array[...] = _any_number(array.dtype, rng)
    elif how == "short" and array.ndim:
        array = array[: len(array) // 2]
    elif how == "long" and array.ndim:
        array = np.concatenate([array, array])
    elif how == "axis":
        array = array[None] if rng.random() < 0.5 else array.reshape(-1)
    elif how == "flat" and array.ndim:
        array = array[..., :1]
    elif how == "type" and array.dtype.kind in "iufb":
        array = array.astype(rng.choice(["f4", "i1", "i4", "u1", "f8", "i8", "c16", "U5"]))
    arrays[name] = array
    return f"{how} of {name} {array.dtype}{array.shape}"


def _any_number(dtype, rng):
    if dtype.kind == "f":
        return float(rng.choice([np.nan, np.inf, 1e308, -1e300, 1e-320, 2**53]))
    with np.errstate(over="ignore"):
        return np.array([int(rng.choice(HUGE))]).astype(dtype)[0]


def node_paths(node, found, inside=()):
    """Paths to all numbers and nodes of the table."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, part in items:
        found.append((*inside, key))
        if isinstance(part, (dict, list)):
            node_paths(part, found, (*inside, key))
    return found


def put_node(manifest, path, value):
    node = manifest["objects"]
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value


def node_at(node, path):
    """What stands at a path."""
    for key in path:
        node = node[key]
    return node


def _draw_number(manifest, arrays, rng):
    objects = manifest["objects"]
    paths = [p for p in node_paths(objects, []) if type(node_at(objects, p)) is int]
    if not paths:
        return "no number"
    path = paths[rng.integers(len(paths))]
    value = int(rng.choice([*HUGE, 0, 1, 7, 1000, 10**6]))
    put_node(manifest, path, value)
    return f"{path} = {value}"


def _is_object(entry):
    return isinstance(entry, dict) and isinstance(entry.get("state"), dict)


def _draw_class(manifest, arrays, rng):
    indices = [i for i, entry in enumerate(manifest["objects"]) if _is_object(entry)]
    at = int(rng.choice(indices))
    name = str(rng.choice([n for n in known_names() if not n.startswith("Task")]))
    manifest["objects"][at]["class"] = name
    return f"object {at} is a {name}"


def _draw_node(manifest, arrays, rng):
    paths = node_paths(manifest["objects"], [])
    path, other = (paths[rng.integers(len(paths))] for _ in range(2))
    values = [
        None, 0, "x", {"list": []}, {"array": str(rng.choice(list(arrays)))}, True, -1.5,
        copy.deepcopy(node_at(manifest["objects"], other)), {"ref": int(rng.integers(len(paths)))},
    ]  # fmt: skip
    value = values[rng.integers(len(values))]
    put_node(manifest, path, value)
    return f"{path} = {value!r:.60}"


def _draw_drop(manifest, arrays, rng):
    indices = [i for i, entry in enumerate(manifest["objects"]) if _is_object(entry)]
    if not indices:
        return "nothing to drop"
    state = manifest["objects"][indices[rng.integers(len(indices))]]["state"]
    if not state:
        return "nothing to drop"
    key = str(rng.choice(list(state)))
    del state[key]
    return f"without {key}"


DRAWN = {
    "array": _draw_array, "number": _draw_number, "class": _draw_class, "node": _draw_node,
    "drop": _draw_drop,
}  # fmt: skip
