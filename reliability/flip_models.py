# SPDX-License-Identifier: BSD-3-Clause
"""Model files with one bit turned over, or cut short: refused, or answering as before.

First a reader without checksums is tried, which the harness must catch.

    python reliability/flip_models.py --flips 10000 --cuts 1000 --seed 0
"""

from __future__ import annotations

import argparse
import contextlib
import json
import platform
import signal
import sys
import tempfile
import warnings
import zipfile
from collections import Counter
from functools import partial
from importlib.metadata import version
from pathlib import Path
from unittest.mock import patch

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skstruct import (
    ConditionalRiskMinimizer,
    ExponentialFamily,
    OutputKernelRegressor,
    StructuredPerceptron,
    StructuredSVM,
)
from skstruct.exceptions import ModelFileError
from skstruct.kernels import SpectrumKernel
from skstruct.learners import LabelRankingBoosting, PairwiseComparison
from skstruct.persistence import load_model, save_model
from skstruct.persistence.stored_predictions import predict_with_values
from skstruct.smoothing import Forest, KernelRidge, Neighbors, Scaled, Stacked
from skstruct.spaces import Cycles, Hierarchy, LabelSets, Polytope, Rankings, Sequences

SECONDS = 10  # of work that one file may take
N_ROWS = 12


def make_models() -> dict:
    """Small fitted models of several kinds with inputs, by name."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, 3))
    yes = X > 0
    space = Hierarchy([("r", "a"), ("r", "b"), ("a", "c"), ("b", "c")], close=True)
    closed = [["r", *(["a"] * row[0]), *(["b"] * row[1])] for row in yes.tolist()]
    words = ["".join("ab"[int(v)] for v in row) for row in yes]
    ranks = np.argsort(np.argsort(X, axis=1), axis=1) + 1
    tokens = [rng.standard_normal((2 + i % 3, 2)) for i in range(N_ROWS)]
    names = [[[f"w={int(2 * t[0])}", "one"] for t in x] for x in tokens]
    tags = [["xy"[int(t[0] > 0)] for t in x] for x in tokens]
    tours = [[0, 1, 2, 3] if row[0] else [0, 2, 1, 3] for row in yes]
    risk = ConditionalRiskMinimizer
    box = Polytope(A_ub=[[1, 1]], b_ub=[3], bounds=(0, 2))
    limited = Rankings(range(3)).restrict(before=[(0, 1)])
    ordered = [[1, 2, 3] if row[0] else [2, 3, 1] for row in yes]
    cases = {
        "hierarchy": (risk(space, smoother="kernel_ridge"), X, closed),
        "stack": (
            risk(space, smoother=Stacked([Scaled(KernelRidge()), Forest(2, random_state=0)])),
            X,
            closed,
        ),
        "forest": (risk(LabelSets("abc"), smoother=Forest(3, random_state=0)), X, yes.astype(int)),
        "neighbors": (risk(Rankings(), smoother=Neighbors(2)), X, ranks),
        "sparse": (risk(LabelSets(), kernel=SpectrumKernel(2)), words, yes.astype(int)),
        "polytope": (risk(box, alpha=1.0), X, np.abs(X[:, :2]) / 3),
        "tours": (
            StructuredSVM(Cycles(range(4)), alpha=0.01, max_iter=5, random_state=0),
            X,
            tours,
        ),
        "chains": (StructuredPerceptron(Sequences(), random_state=0), names, tags),
        "family": (
            ExponentialFamily(
                Sequences("xy"), alpha=1e-3, max_iter=5, random_state=0, fit_intercept=False
            ),
            tokens,
            tags,
        ),
        "constraints": (risk(limited, alpha=1.0), X, ordered),
        "strings": (OutputKernelRegressor(kernel="rbf", output_kernel=SpectrumKernel(2)), X, words),
        "boosting": (LabelRankingBoosting(n_estimators=3, random_state=0), X, ranks),
        "pairs": (PairwiseComparison(), X, ranks),
        "pipeline": (make_pipeline(StandardScaler(), risk(LabelSets(), alpha=1.0)), X, closed),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {name: (model.fit(X, y), X) for name, (model, X, y) in cases.items()}


def answers(model, X) -> bytes:
    """What a model says about X, to the last bit."""
    found = predict_with_values(model, X)
    values = b"" if found["values"] is None else np.ascontiguousarray(found["values"]).tobytes()
    return values + repr(np.asarray(found["outputs"], dtype=object).tolist()).encode()


@contextlib.contextmanager
def time_limit(seconds):
    """Raises TimeoutError in the block when it works longer; others may be busy, too."""

    def ring(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def verdict(path, X, expected, load) -> str:
    """What became of one damaged file."""
    try:
        with time_limit(SECONDS):
            model = load(path)
            return "same" if answers(model, X) == expected else "DIFFERENT"
    except ModelFileError:
        return "refused"
    except TimeoutError:
        return "HANGS"
    except Exception as error:
        return f"RAISES {type(error).__name__}"


def damage(models, n_flips, n_cuts, seed, load=load_model) -> Counter:
    """Verdicts on so many files with one bit flipped, and so many cut short."""
    rng, found = np.random.default_rng(seed), Counter()
    with tempfile.TemporaryDirectory() as folder:
        path, sound = Path(folder) / "model", {}
        for name, (model, X) in models.items():
            save_model(model, path)
            sound[name] = path.read_bytes(), X, answers(load_model(path), X)
        for i in range(n_flips + n_cuts):
            content, X, expected = sound[list(sound)[i % len(sound)]]
            at = int(rng.integers(len(content)))
            broken = bytearray(content if i < n_flips else content[:at])
            if i < n_flips:
                broken[at] ^= 1 << int(rng.integers(8))
            path.write_bytes(broken)
            found[verdict(path, X, expected, load)] += 1
    return found


def failures(found: Counter) -> int:
    """How many were neither refused nor the same."""
    return sum(n for word, n in found.items() if word not in ("same", "refused"))


@contextlib.contextmanager
def without_checksums():
    """A planted bug: the reader looks at no checksum, and rehearses nothing."""
    with (
        patch("skstruct._files.container._opened", lambda path, size: open(path, "rb")),
        patch.object(zipfile.ZipExtFile, "_update_crc", lambda self, data: None),
        patch("skstruct.persistence.model_files.check_stored_predictions", lambda *_: None),
    ):
        yield


def main(arguments=None) -> int:
    """Run it; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--flips", type=int, default=10_000)
    parser.add_argument("--cuts", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    models = make_models()
    with without_checksums():
        planted = damage(models, 400, 0, options.seed)
    print(f"planted bug, no checksums: {dict(planted)}")
    caught = planted["DIFFERENT"] > 0
    found = damage(models, options.flips, options.cuts, options.seed)
    mapped = partial(load_model, mmap=True)
    found += damage(models, options.flips // 10, options.cuts // 10, options.seed + 1, mapped)
    tried = f"{options.flips} flips and {options.cuts} cuts over {len(models)} models"
    print(f"{tried}, and a tenth of that mapped: {dict(found)}")
    failed = failures(found)
    versions = {name: version(name) for name in ("skstruct", "numpy", "scikit-learn")}
    summary = {"tried": sum(found.values()), "failed": failed, "verdicts": dict(found),
               "planted_bug_caught": caught, "seed": options.seed,
               "versions": versions | {"python": platform.python_version()}}  # fmt: skip
    print(json.dumps(summary))
    return int(failed > 0 or not caught)


if __name__ == "__main__":
    sys.exit(main())
