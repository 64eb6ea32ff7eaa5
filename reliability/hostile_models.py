# SPDX-License-Identifier: BSD-3-Clause
"""Model files made by an enemy, checksums in order: refused in time, with no code run.

Files are read in other processes, see reading_children.py. Reading takes at most 2 seconds of work
and twice the memory of the cap that it is given, whether the file is refused or not; half of the
files are mapped. A file that is read after all, as a different but sound model may be, must also
predict without bringing the interpreter down. First come zips and nodes made by hand, then files
drawn by number: sound ones with one to three things turned against the reader, and, one in twenty,
files that stand for far more than they are. Six planted bugs must be caught before.

    python reliability/hostile_models.py [--cases 10000] [--minutes M] [--seed 0] [--first NUMBER]
"""

from __future__ import annotations

import copy
import os
import pickle
import sys
import tempfile
import time
import warnings
from collections import Counter
from functools import partial
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

import numpy as np
from flip_models import make_models, memory_folder
from growing_models import (
    STRETCHED,
    chained,
    copied,
    growing_nodes,
    lengths_of,
    stretched,
    with_nodes,
)
from hostile_files import drawn_attack, node_attacks, zip_attacks
from reading_children import CAP, SECONDS, SOUND, use, verdict, verdicts
from summary import Tries, arguments, finish

from skstruct._files.container import read_container, write_container
from skstruct.exceptions import ModelFileError
from skstruct.persistence import load_model, save_model
from skstruct.persistence.budget import Budget
from skstruct.persistence.names import class_named, known_names
from skstruct.spaces.indicator_sets.closed_products import ProductDag
from skstruct.spaces.solvers.dags import Dag

BATCH = 50  # files that one process reads, if it lives
GROWING = 0.05  # of the drawn files


def load(path, mmap=False):
    """The reader, with the size cap of these trials."""
    return load_model(path, max_bytes=CAP, mmap=mmap)


def warm_models() -> dict:
    """The models, after all that is imported and compiled once has been."""
    for name in known_names():
        class_named(name)
    for module in ("pandas", "sklearn.metrics.pairwise"):
        import_module(module)
    networkx = import_module("networkx")
    for kind in (networkx.Graph, networkx.DiGraph):
        kind([(0, 1)])
    # The search for products of parents, which sound models here do not come to: 14 s to compile.
    diamond, out = ProductDag(Dag(4, [0, 0, 1, 2], [1, 2, 3, 3])), np.zeros((1, 4), bool)
    diamond.closed_sets(np.array([[-1.0, -1, -1, -1, 1]]), out, ~out, 10)
    models = make_models()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model, X in models.values():
            use(copy.deepcopy(model), X)
    return models


# ---------------------------------------------------------------------- files by number
class Attacks:
    """Files by their numbers: (name, function that makes the file, whether it may be read)."""

    def __init__(self, models, folder, seed):
        self.folder, self.seed, self.sound = Path(folder), seed, {}
        for name, (model, X) in models.items():
            path = self.folder / "sound"
            save_model(model, path)
            manifest, arrays = read_container(path, "model")
            self.sound[name] = pickle.dumps(manifest), arrays, X
        manifest, arrays, X = self._of(next(iter(self.sound)))
        by_hand = {**zip_attacks(manifest), **node_attacks(manifest)}
        self.by_hand = [(name, made, arrays, X) for name, made in by_hand.items()]
        self.growing = list(_growing({name: self._of(name) for name in self.sound}))

    def _of(self, name):
        manifest, arrays, X = self.sound[name]
        return pickle.loads(manifest), arrays, X

    def __call__(self, number):
        if number < 2 * len(self.by_hand):  # each read, and mapped
            name, made, arrays, X = self.by_hand[number // 2]
            words, parts = f"by hand: {name}", lambda: (made, arrays)
            mmap, may_be_read = number % 2 == 1, False
        else:
            rng = np.random.default_rng([self.seed, number])
            words, parts, X = self._drawn(rng)
            mmap, may_be_read = bool(rng.random() < 0.5), True
        return words, partial(self._make, parts, X, mmap), may_be_read

    def _drawn(self, rng):
        if rng.random() < GROWING:
            name, words, make = self.growing[rng.integers(len(self.growing))]
            return f"{name}: {words}", lambda: make(*self._of(name)[:2]), self.sound[name][2]
        name = list(self.sound)[rng.integers(len(self.sound))]
        manifest, arrays, X = self._of(name)
        words, *parts = drawn_attack(manifest, arrays, rng)
        return f"{name}: {words}", lambda: parts, X

    def make_growing(self, number, mmap=False):
        """Write one of the files that grow."""
        name, _, make = self.growing[number]
        manifest, arrays, X = self._of(name)
        return self._make(lambda: make(manifest, arrays), X, mmap)

    def _make(self, parts, X, mmap):
        """Write a file; a sound one where no such file can be."""
        path = self.folder / f"{os.getpid()}.skstruct"
        made, arrays = parts()
        if isinstance(made, bytes):
            path.write_bytes(made)
        else:
            try:
                write_container(path, "model", made, arrays)
            except (ModelFileError, ValueError):
                path.write_bytes(b"no such file can be written")
        return path, X, partial(load, mmap=mmap)


def _growing(sound):
    """(name of the model, words, how it is made) for all files that grow."""
    first = next(iter(sound))
    for name, nodes in growing_nodes().items():
        yield first, name, partial(with_nodes, nodes=nodes)
    for name, (manifest, arrays, _) in sound.items():
        for number, entry in enumerate(manifest["objects"]):
            for which in range(2 if "class" in entry else 0):
                made = partial(_nth, copied, which, numbers=[number])
                yield name, f"{entry['class']} {number} copied {which}", made
        for to in STRETCHED:
            for length in sorted(lengths_of(manifest, arrays)):
                made = partial(_nth, stretched, 0, lengths=[length], to=[to])
                yield name, f"{length} stretched to {to}", made
            if any(entry.get("class") == "Dag" for entry in manifest["objects"]):
                yield name, f"a path of {to} labels", partial(_nth, chained, 0, to=[to])


def _nth(make, which, manifest, arrays, **how):
    return list(make(manifest, arrays, **how))[which][1:]


def run(attacks, tries, first=0, seconds=SECONDS, jobs=1) -> Counter:
    """Verdicts on files of numbers from the first on."""
    found: Counter = Counter()
    batch: list = []

    def read():
        words = verdicts([make for _, (_, make, _) in batch], seconds, jobs)
        for (number, (name, _, may_be_read)), word in zip(batch, words):
            found[word.split(" ")[0]] += 1
            if word not in SOUND or (word == "read" and not may_be_read):
                seed = tries.given.seed
                tries.fail(number, f"{word}: {name[:300]}",
                           f"--seed {seed} --first {number} --cases 1")  # fmt: skip
        batch.clear()

    # Nobody cuts the power here: files need not reach the disk.
    with patch("os.fsync"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in tries:
            batch.append((first + number, attacks(first + number)))
            if len(batch) >= jobs * BATCH:
                read()
        read()
    return found


# ---------------------------------------------------------------------- planted bugs
def planted(models) -> dict[str, bool]:
    """Whether each of six bugs, planted in the reader, is caught."""

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
        path, (model, X) = Path(folder) / "model", models["forest"]
        for word, reader in (("RAISES", wrong_error), ("SLOW", slow), ("RUNS", runs)):
            case = partial(_saved, path, lambda *parts: parts, model, X, reader)
            caught[word] = verdict(case).startswith(word)
        case = partial(_saved, path, _outside, model, X, load)
        with patch("skstruct.persistence.scikit_learn._check_paths", lambda *_: None):
            caught["DIES"] = verdict(case).startswith("DIES")
        caught["and not without it"] = verdict(case) == "refused"
        nodes = growing_nodes()
        for word, method, name in (
            ("GREEDY", "take", "lists of one array"), ("SLOW", "work", "doubled tuples, many keys"),
        ):  # fmt: skip
            case = partial(_saved, path, partial(with_nodes, nodes=nodes[name]), model, X, load)
            with patch.object(Budget, method, lambda *_: None):
                caught[f"{word} without {method}"] = verdict(case).startswith((word, "HANGS"))
            caught[f"{word}, and not without it"] = verdict(case) == "refused"
    return caught


def _saved(path, change, model, X, reader):
    save_model(model, path)
    write_container(path, "model", *change(*read_container(path, "model")))
    return path, X, reader


def _outside(manifest, arrays):
    """Trees whose children are far outside of the arrays of nodes."""
    manifest["rehearsal"] = None
    entry = next(e for e in manifest["objects"] if e.get("class") == "sklearn.Tree")
    name = dict(zip(*entry["state"]["columns"]["dict"]))["left_child"]["array"]
    return manifest, arrays | {name: np.where(arrays[name] > 0, 2**40, arrays[name])}


def main() -> int:
    given = arguments(
        __doc__, 10_000, ("--first", {"type": int, "default": 0}),
        ("--jobs", {"type": int, "default": os.cpu_count() or 1}),
    )  # fmt: skip
    models = warm_models()
    caught = planted(models)
    with tempfile.TemporaryDirectory(dir=memory_folder()) as folder:
        attacks, tries = Attacks(models, folder, given.seed), Tries(given)
        found = run(attacks, tries, given.first, jobs=given.jobs)
    rate = round(tries.tried / max(tries.seconds, 0.001), 1)
    more = {"planted_caught": all(caught.values()), "planted": caught, "verdicts": dict(found)}
    return finish("hostile_models", tries.counts(**more, files_per_second=rate))


if __name__ == "__main__":
    sys.exit(main())
