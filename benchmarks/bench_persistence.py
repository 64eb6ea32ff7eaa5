# SPDX-License-Identifier: BSD-3-Clause
"""Saving and loading models, against pickle: which checks nothing and can run anything."""

from __future__ import annotations

import pickle
import sys
import tempfile
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
from harness import Table, at_most, compare, median, ratio

from skstruct import ConditionalRiskMinimizer, StructuredSVM
from skstruct.persistence import load_model, save_model
from skstruct.smoothing import Forest
from skstruct.spaces import Hierarchy, LabelSets, Sequences

QUICK = "--quick" in sys.argv
BUDGET = 0.2 if QUICK else 8.0  # seconds for the rounds of a case
N = 100 if QUICK else 2000


def models():
    """Fitted models: one that is mostly arrays, one of trees, one of many names, a small one."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 20))
    sets = (X @ rng.standard_normal((20, 30)) > 1).astype(int)
    edges = [((j - 1) // 3, j) for j in range(1, 10_000)]
    paths = [{0, 1, 4} if x[0] > 0 else {0, 2} for x in X[:50]]
    tokens = [[[f"word={rng.integers(N)}", "here"] for _ in range(8)] for _ in range(N // 10)]
    tags = [["ab"[int(len(t[0]) > 7)] for t in x] for x in tokens]
    risk = ConditionalRiskMinimizer
    yield "kernel ridge", risk(LabelSets(), alpha=1.0).fit(X, sets)
    forest = Forest(20, random_state=0, min_samples_leaf=5)
    yield "forest of 20 trees", risk(LabelSets(), smoother=forest).fit(X, sets)
    yield "hierarchy of 10,000 labels", risk(Hierarchy(edges), alpha=1.0).fit(X[:50], paths)
    yield (
        "chains of names",
        StructuredSVM(Sequences(), alpha=0.01, max_iter=3, tol=1.0).fit(tokens, tags),
    )


def dumped(model, path):
    """Pickle to a file."""
    with open(path, "wb") as file:
        pickle.dump(model, file, protocol=5)


def undumped(path):
    """Pickle from a file."""
    with open(path, "rb") as file:
        return pickle.load(file)


def bench_files():
    """Seconds to save and to load, without waiting for the disk."""
    table = Table("model files", "ours / pickle")
    with tempfile.TemporaryDirectory() as folder, patch("os.fsync"):
        ours, theirs = Path(folder) / "ours", Path(folder) / "theirs"
        for name, model in models():
            calls = {
                "save": partial(save_model, model, ours),
                "dump": partial(dumped, model, theirs),
                "load": partial(load_model, ours),
                "undump": partial(undumped, theirs),
            }
            times = compare(calls, budget=BUDGET)
            table.add(f"save {name}", median(times, "save"), ratio(times, "save", "dump"))
            # Reading checks a checksum and every index, and predicts three rows.
            slow = at_most(0.5)
            table.add(f"load {name}", median(times, "load"), target=slow)
            share = ours.stat().st_size / theirs.stat().st_size
            table.add(f"bytes of {name}", None, share, at_most(1.5))


if __name__ == "__main__":
    bench_files()
