# SPDX-License-Identifier: BSD-3-Clause
"""Model files of other versions: refused, or answering as before, and never anything else.

Formats that are newer, older or none; files of older and newer libraries; fields, classes and
nodes that nobody knows yet, or that were dropped or called otherwise; arrays as other machines
write them. What is wanted is written beside each change: "refused", "same", or either. Every other
file is mapped. First a reader that looks at no version is tried, which must be caught.

    python reliability/skewed_models.py [--cases 20000] [--minutes M] [--seed 0] [--first NUMBER]
"""

from __future__ import annotations

import contextlib
import pickle
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
from flip_models import answers, make_models, memory_folder, verdict
from hostile_files import node_at, node_paths
from summary import Tries, arguments, finish

import skstruct._files.container as container
from skstruct._files.container import read_container, write_container
from skstruct.persistence import describe_model, load_model, save_model

REFUSED, SAME = ("refused",), ("same",)
EITHER = REFUSED + SAME
VERSIONS = ["0.0.1", "0.1.0", "1.0.0", "2.0.0rc1", "99.0", "", "1.4.dev0+local", None, 3, ["1.0"]]
WORDS = ["n_threads", "device_", "checked", "a b", "", "__new__", "é", "x" * 300]
LATER = ["Later", "skstruct.Later", "sklearn.LaterTree", "LabelSets2", "torch.nn.Linear"]


def pick(rng, options):
    return options[int(rng.integers(len(options)))]


# ---------------------------------------------------------------------- changes
# Each changes what it is given, and says what was done and what is wanted.
def _format(head, arrays, rng):
    value = pick(rng, [0, -1, 2, 3, 99, 2**40, 1.0, "1", True, False, None, [1], {"major": 1}])
    if pick(rng, [True, True, False]):
        head["manifest"]["format_version"] = value
    else:
        del head["manifest"]["format_version"]
        value = "gone"
    return f"format {value!r}", REFUSED


def _layout(head, arrays, rng):
    head["layout"] = value = pick(rng, [0, 2, -1, "1", None, [1], 1.5, True, 1.0])
    return f"layout {value!r}", REFUSED if value != 1 else EITHER


def _kind(head, arrays, rng):
    head["kind"] = value = pick(rng, ["checkpoint", "models", "", None, 1, "Model", ["model"]])
    return f"kind {value!r}", REFUSED


def _libraries(head, arrays, rng):
    """Told for people; what counts are the predictions."""
    versions = head["manifest"]["versions"]
    for name in list(versions):
        versions[name] = pick(rng, VERSIONS)
    if pick(rng, [True, False]):
        versions.pop(pick(rng, list(versions)))
        versions["jax"] = "1.0"
    return f"versions {versions!r:.200}", SAME


def _told(head, arrays, rng):
    part = pick(rng, ["parameters", "about"])
    head["manifest"][part] = value = pick(rng, [{}, {"a": 1}, None, [], "x", {"x" * 999: ["y"]}])
    return f"{part} {value!r:.100}", SAME


def _top(head, arrays, rng):
    word = pick(rng, WORDS)
    inside = pick(rng, [True, False])
    (head["manifest"] if inside else head)[word] = 1
    return f"unknown {word!r:.40} beside the {'parts' if inside else 'manifest'}", REFUSED


def _objects(head):
    entries = head["manifest"]["objects"]
    return [entry for entry in entries if isinstance(entry.get("state"), dict)]


def _unknown_state(head, arrays, rng):
    entry, word = pick(rng, _objects(head)), pick(rng, WORDS)
    entry["state"][word] = value = pick(rng, [None, 0, "x", {"list": []}])
    return f"{entry['class']}.{word:.40} = {value!r}", EITHER


def _unknown_entry(head, arrays, rng):
    entry, word = pick(rng, _objects(head)), pick(rng, WORDS)
    entry[word] = 1
    return f"entry of {entry['class']} with {word:.40}", EITHER


def _unknown_class(head, arrays, rng):
    entry, word = pick(rng, _objects(head)), pick(rng, LATER)
    was, entry["class"] = entry["class"], word
    return f"{was} is a {word}", REFUSED


def _unknown_node(head, arrays, rng):
    entry = pick(rng, [entry for entry in _objects(head) if entry["state"]])
    key = pick(rng, list(entry["state"]))
    was, entry["state"][key] = entry["state"][key], {"later": entry["state"][key]}
    return f"{entry['class']}.{key} = a later kind of {was!r:.60}", REFUSED


def _gone(head, arrays, rng):
    entry = pick(rng, [entry for entry in _objects(head) if entry["state"]])
    key = pick(rng, list(entry["state"]))
    value = entry["state"].pop(key)
    word = pick(rng, ["", f"{key}_", f"_{key}", key.rstrip("_"), key.upper()])
    if word:
        entry["state"][word] = value
    return f"{entry['class']}.{key} is {word or 'gone'}", EITHER


def _untested(head, arrays, rng):
    head["manifest"]["rehearsal"] = None
    return "without predictions", SAME


def _other_machine(head, arrays, rng):
    """Byte order, order of the axes, and widths of whole numbers as elsewhere."""
    how = pick(rng, ["order of bytes", "order of axes", "32 bits"])
    for name, array in arrays.items():
        if how == "order of bytes":
            arrays[name] = array.astype(array.dtype.newbyteorder(">"))
        elif how == "order of axes":
            arrays[name] = np.asfortranarray(array)
        elif array.dtype == np.int64 and np.all(np.abs(array) < 2**31):
            arrays[name] = array.astype(np.int32)
    return how, EITHER


def _more_arrays(head, arrays, rng):
    arrays[f"later.{rng.integers(100)}"] = np.ones(int(rng.integers(50)))
    return "an array that nobody asks for", EITHER


def _refused_node(head, arrays, rng):
    """A number where later versions may have a text, and the like."""
    objects = head["manifest"]["objects"]
    path = pick(rng, node_paths(objects, []))
    value = pick(rng, [{"later": 1}, {"later": {"ref": 0}}, {"list": [], "later": 1}])
    node_at(objects, path[:-1])[path[-1]] = value
    return f"{path} = {value!r}", EITHER if path[-1] == "state" else REFUSED


CHANGES = (_format, _layout, _kind, _libraries, _told, _top, _unknown_state, _unknown_entry,
           _unknown_class, _unknown_node, _gone, _untested, _other_machine, _more_arrays,
           _refused_node)  # fmt: skip


# ---------------------------------------------------------------------- files by number
class Skewed:
    """Files of other versions by number."""

    def __init__(self, models, folder, seed):
        self.path, self.seed, self.sound = Path(folder) / "model", seed, {}
        for name, (model, X) in models.items():
            save_model(model, self.path)
            manifest, arrays = read_container(self.path, "model")
            head = {"kind": "model", "layout": 1, "manifest": manifest}
            expected = answers(load_model(self.path), X)
            self.sound[name] = pickle.dumps((head, arrays)), X, expected

    def verdict(self, number):
        """What was done, what became of the file, and whether that is right."""
        rng = np.random.default_rng([self.seed, number])
        name = list(self.sound)[number % len(self.sound)]
        content, X, expected = self.sound[name]
        head, arrays = pickle.loads(content)
        how = CHANGES[number // len(self.sound) % len(CHANGES)]
        words, wanted = how(head, arrays, rng)
        self._write(head, arrays)
        load = partial(load_model, mmap=bool(rng.random() < 0.5))
        found = verdict(self.path, X, expected, load)
        good = found in wanted
        if good and found == "same" and how is not _told and how is not _libraries:
            describe_model(self.path)
        return f"{name}: {words}", found, good

    def _write(self, head, arrays):
        """As a library of another version would: its own words around the manifest."""
        self.path.unlink(missing_ok=True)  # a model that has mapped the old one keeps it
        dumps = container.json.dumps
        with (
            patch.object(container, "_member", lambda name, array: f"arrays/{name}.npy"),
            patch.object(container.json, "dumps", lambda _, **options: dumps(head, **options)),
            patch("os.fsync"),
        ):
            write_container(self.path, "model", {}, arrays)


def skew(skewed, tries, first=0) -> Counter:
    """Verdicts on files of numbers from the first on."""
    found: Counter = Counter()
    for number in tries:
        what, word, good = skewed.verdict(first + number)
        found[word] += 1
        if not good:
            again = f"--seed {skewed.seed} --first {first + number} --cases 1"
            tries.fail(first + number, f"{word}: {what}", again)
    return found


@contextlib.contextmanager
def without_versions():
    """A planted bug: the reader looks at no version."""
    with patch("skstruct.persistence.model_files._check_version", lambda _: None):
        yield


def caught(skewed, n=30) -> bool:
    """Whether a reader that looks at no version is caught."""
    with without_versions():
        return any(not skewed.verdict(number)[2] for number in range(n))


def main() -> int:
    given = arguments(__doc__, 20_000, ("--first", {"type": int, "default": 0}))
    with tempfile.TemporaryDirectory(dir=memory_folder()) as folder:
        skewed = Skewed(make_models(), folder, given.seed)
        planted, tries = caught(skewed), Tries(given)
        found = skew(skewed, tries, given.first)
    rate = round(tries.tried / max(tries.seconds, 0.001), 1)
    more = {"planted_caught": planted, "verdicts": dict(found), "files_per_second": rate}
    return finish("skewed_models", tries.counts(**more))


if __name__ == "__main__":
    sys.exit(main())
