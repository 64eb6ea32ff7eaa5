# SPDX-License-Identifier: BSD-3-Clause
"""Model files made by an enemy, checksums in order: refused in time, with no code run.

Every file is read in a process of its own, with a limit on memory and a hook that hears of code
being compiled or run, files being written and connections. A file that is read after all, as a
different but sound model may be, must also predict without bringing the interpreter down.
First four planted bugs are tried, which the harness must catch.

    python reliability/hostile_models.py --files 2000 --seed 0
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import faulthandler
import hashlib
import io
import json
import os
import platform
import resource
import shutil
import signal
import struct
import sys
import tempfile
import time
import warnings
import zipfile
from collections import Counter
from importlib import import_module
from importlib.metadata import version
from itertools import count, islice
from pathlib import Path
from unittest.mock import patch

import numpy as np
from flip_models import answers, make_models

from skstruct._files.container import read_container, write_container
from skstruct.exceptions import ModelFileError
from skstruct.persistence import load_model, save_model
from skstruct.persistence.names import MODULE_OF

CAP = 64 * 2**20  # the size cap that files are read with
SECONDS = 2.0  # that reading may take
PATIENCE = 20  # seconds until a child is ended
FORBIDDEN = ("exec", "compile", "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen",
             "os.remove", "os.rename", "os.mkdir", "os.chmod", "shutil.rmtree", "ctypes.dlopen",
             "pickle.find_class", "marshal.loads", "webbrowser.open")  # fmt: skip
OUR_OWN = ("importlib", "/numba/", "threadpoolctl", "/joblib/")
BY_HAND = "by hand: "
BATCH = 20  # files that one process reads, if it lives
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
    places, start = [], raw.find(b"PK\x01\x02")
    while start >= 0:
        places.append(start)
        start = raw.find(b"PK\x01\x02", start + 1)
    return places[at]


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
    place = made
    for key in path[:-1]:
        place = place.setdefault(key, {}) if isinstance(place, dict) else place[key]
    place[path[-1]] = value
    return made


# ---------------------------------------------------------------------- drawn changes
def drawn_attack(manifest, arrays, rng):
    """A sound file with one to three numbers, shapes or names turned against the reader."""
    manifest, arrays = copy.deepcopy(manifest), dict(arrays)
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


def _places(node, found, inside=()):
    """Paths to all numbers and nodes of the table."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, part in items:
        found.append((*inside, key))
        if isinstance(part, (dict, list)):
            _places(part, found, (*inside, key))
    return found


def _put(manifest, path, value):
    place = manifest["objects"]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value


def _at(manifest, path):
    place = manifest["objects"]
    for key in path:
        place = place[key]
    return place


def _draw_number(manifest, arrays, rng):
    places = [p for p in _places(manifest["objects"], []) if type(_at(manifest, p)) is int]
    if not places:
        return "no number"
    path = places[rng.integers(len(places))]
    value = int(rng.choice([*HUGE, 0, 1, 7, 1000, 10**6]))
    _put(manifest, path, value)
    return f"{path} = {value}"


def _is_object(entry):
    return isinstance(entry, dict) and isinstance(entry.get("state"), dict)


def _draw_class(manifest, arrays, rng):
    places = [i for i, entry in enumerate(manifest["objects"]) if _is_object(entry)]
    at = int(rng.choice(places))
    name = str(rng.choice([n for n in MODULE_OF if not n.startswith("Task")]))
    manifest["objects"][at]["class"] = name
    return f"object {at} is a {name}"


def _draw_node(manifest, arrays, rng):
    places = _places(manifest["objects"], [])
    path, other = (places[rng.integers(len(places))] for _ in range(2))
    values = [
        None, 0, "x", {"list": []}, {"array": str(rng.choice(list(arrays)))}, True, -1.5,
        copy.deepcopy(_at(manifest, other)), {"ref": int(rng.integers(len(places)))},
    ]  # fmt: skip
    value = values[rng.integers(len(values))]
    _put(manifest, path, value)
    return f"{path} = {value!r:.60}"


def _draw_drop(manifest, arrays, rng):
    places = [i for i, entry in enumerate(manifest["objects"]) if _is_object(entry)]
    if not places:
        return "nothing to drop"
    state = manifest["objects"][places[rng.integers(len(places))]]["state"]
    if not state:
        return "nothing to drop"
    key = str(rng.choice(list(state)))
    del state[key]
    return f"without {key}"


DRAWN = {
    "array": _draw_array, "number": _draw_number, "class": _draw_class, "node": _draw_node,
    "drop": _draw_drop,
}  # fmt: skip


# ---------------------------------------------------------------------- one file, one process
def load(path):
    """The reader, with the size cap of these trials."""
    return load_model(path, max_bytes=CAP)


def verdicts(files, load=load, seconds=SECONDS) -> list[str]:
    """What became of (path, inputs) pairs, read in a process of their own, or in several.

    A process that ends has one file on its conscience; the files after it get another process.
    """
    found: list[str] = []
    while len(found) < len(files):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            _read_in_child(files[len(found) :], load, seconds, writer)
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            told = pipe.read().decode().splitlines()
        status = os.waitpid(child, 0)[1]
        found += [line[2:] for line in told if line.startswith("= ")]
        if len(found) < len(files) and not (told and told[-1].startswith("= RUNS")):
            found.append(_ended(status, told[-1] if told else "nothing"))
    return found


def verdict(path, X, load=load, seconds=SECONDS) -> str:
    """What became of one file."""
    return verdicts([(path, X)], load, seconds)[0]


def _ended(status, doing):
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return f"HANGS {doing}" if number == signal.SIGALRM else f"DIES of {number} {doing}"
    return f"ENDS with {os.waitstatus_to_exitcode(status)} {doing}"


def _is_our_own() -> bool:
    """Whether a module is imported, a kernel of ours compiled, or threads are counted."""
    frame = sys._getframe(2)
    while frame is not None:
        if any(word in frame.f_code.co_filename for word in OUR_OWN):
            return True
        frame = frame.f_back
    return False


def _read_in_child(files, load, seconds, writer):
    """Never returns; tells what happens line by line."""

    def tell(word):
        os.write(writer, f"{word}\n".encode())

    def hear(event, arguments):
        mode = arguments[1] if event == "open" else None
        writes = isinstance(mode, str) and set(mode) & set("wax+")
        heard = event in FORBIDDEN or event.startswith("socket.") or writes
        if heard and not _is_our_own():
            tell(f"= RUNS {event} {' '.join(str(arguments).split())[:80]}")
            os._exit(0)

    faulthandler.disable()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + 2 * CAP
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    sys.addaudithook(hear)
    for path, X in files:
        signal.alarm(PATIENCE)
        tell("reading")
        try:
            tell(f"= {_read(path, X, load, seconds, tell)}")
        except BaseException as error:
            tell(f"= RAISES {type(error).__name__} {' '.join(str(error).split())[:100]}")
    os._exit(0)


def _read(path, X, load, seconds, tell):
    """Read one file, and use the model if there is one."""
    start = time.process_time()
    try:
        model = load(path)
    except ModelFileError:
        model = None
    spent = time.process_time() - start
    if spent > seconds:
        return f"SLOW {spent:.1f} s"
    if model is None:
        return "refused"
    tell("predicting")
    _use(model, X)
    return "read"


# ---------------------------------------------------------------------- all of them
def warm_models() -> dict:
    """The models, after all that is imported and compiled once has been."""
    for module in set(MODULE_OF.values()):
        import_module(module)
    for module in ("networkx", "pandas", "sklearn.metrics.pairwise"):
        import_module(module)
    models = make_models()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model, X in models.values():
            _use(copy.deepcopy(model), X)
    return models


def _use(model, X):
    """Ask for everything that a model may know."""
    asked = (
        lambda: answers(model, X),
        lambda: model.kbest(X, 2),
        lambda: model.explain(X),
        lambda: model.partial_fit(X, model.predict(X)),
    )
    for ask in asked:
        with contextlib.suppress(Exception):  # a model that cannot answer harms nobody
            ask()


def attacks(models, n_drawn, seed, folder):
    """(name, path, inputs of the model it was made of) for all files, one after the other."""
    rng, sound, paths = np.random.default_rng(seed), {}, _numbered(Path(folder))
    for name, (model, X) in models.items():
        path = next(paths)
        save_model(model, path)
        sound[name] = *read_container(path, "model"), X
    manifest, arrays, X = next(iter(sound.values()))
    for name, content in zip_attacks(manifest).items():
        path = next(paths)
        path.write_bytes(content)
        yield f"{BY_HAND}{name}", path, X
    for name, changed in node_attacks(manifest).items():
        path = next(paths)
        write_container(path, "model", changed, arrays)
        yield f"{BY_HAND}{name}", path, X
    for i in range(n_drawn):
        name = list(sound)[i % len(sound)]
        manifest, arrays, X = sound[name]
        words, changed, others = drawn_attack(manifest, arrays, rng)
        path = next(paths)
        try:
            write_container(path, "model", changed, others)
        except (ModelFileError, ValueError):  # no such file can be
            continue
        yield f"{name}: {words}", path, X


def _numbered(folder):
    return (folder / f"{i}.skstruct" for i in count())


def run(models, n_drawn, seed, load=load, tell=None, keep=None) -> tuple[Counter, list]:
    """Verdicts on all files, and the failures by name."""
    found, failed = Counter(), []
    # Nobody cuts the power here: files need not reach the disk.
    with tempfile.TemporaryDirectory() as folder, patch("os.fsync"):
        files = attacks(models, n_drawn, seed, folder)
        while batch := list(islice(files, BATCH)):
            words = verdicts([(path, X) for _, path, X in batch], load)
            for (name, path, _), word in zip(batch, words):
                found[word.split(" ")[0]] += 1
                # Changes by chance may give another model, which is read; those by hand not.
                if word != "refused" and (word != "read" or name.startswith(BY_HAND)):
                    failed.append((name, word))
                    if keep is not None:
                        shutil.copy(path, keep / f"{len(failed)}.skstruct")
                    if tell is not None:
                        tell(f"{word:40} {name}")
                path.unlink()
    return found, failed


def planted(models) -> dict[str, bool]:
    """Whether each of four bugs, planted in the reader, is caught."""

    def wrong_error(path):
        raise KeyError(path)

    def slow(path):
        start = time.process_time()
        while time.process_time() < start + 1.2 * SECONDS:
            pass
        raise ModelFileError("late")

    def runs(path):
        exec("1 + 1")

    caught = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model, X = models["forest"]
        save_model(model, path)
        for word, load in (("RAISES", wrong_error), ("SLOW", slow), ("RUNS", runs)):
            caught[word] = verdict(path, X, load).startswith(word)
        manifest, arrays = read_container(path, "model")
        manifest["rehearsal"] = None
        entry = next(e for e in manifest["objects"] if e.get("class") == "sklearn.Tree")
        columns = dict(zip(*_at({"objects": entry["state"]}, ["columns", "dict"])))
        name = columns["left_child"]["array"]
        arrays[name] = np.where(arrays[name] > 0, 2**40, arrays[name])
        write_container(path, "model", manifest, arrays)
        with patch("skstruct.persistence.trees._check_paths", lambda *_: None):
            caught["DIES"] = verdict(path, X).startswith("DIES")
        caught["and not without it"] = verdict(path, X) == "refused"
    return caught


def main(arguments=None) -> int:
    """Run it; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=int, default=2000, help="drawn files, besides the others")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="a folder for the files that failed")
    options = parser.parse_args(arguments)
    models = warm_models()
    caught = planted(models)
    print(f"planted bugs: {caught}")
    found, failed = run(models, options.files, options.seed, tell=print, keep=options.keep)
    print(f"{sum(found.values())} files: {dict(found)}")
    versions = {name: version(name) for name in ("skstruct", "numpy", "scikit-learn")}
    summary = {"tried": sum(found.values()), "failed": len(failed), "verdicts": dict(found),
               "planted_bugs_caught": all(caught.values()), "seed": options.seed,
               "versions": versions | {"python": platform.python_version()}}  # fmt: skip
    print(json.dumps(summary))
    return int(bool(failed) or not all(caught.values()))


if __name__ == "__main__":
    sys.exit(main())
