# SPDX-License-Identifier: BSD-3-Clause
"""Model files with a bit turned over, cut short or damaged otherwise: refused, or as before.

Every other file is mapped. First a reader without checksums is tried, which must be caught.

    python reliability/flip_models.py [--cases 20000] [--minutes M] [--seed 0] [--first NUMBER]
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import warnings
import zipfile
from collections import Counter
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from summary import Tries, arguments, finish

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


def memory_folder() -> str | None:
    """A folder in memory, where there is one: files by the thousand need no disk."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


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


# ---------------------------------------------------------------------- damage
def _flipped(content, rng):
    broken = bytearray(content)
    broken[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
    return broken


def _cut(content, rng):
    return content[: int(rng.integers(len(content)))]


def _zeroed(content, rng):
    """A block of the disk that was never written."""
    at = 512 * int(rng.integers(-(-len(content) // 512)))
    return content[:at] + bytes(len(content[at : at + 512])) + content[at + 512 :]


def _without(content, rng):
    start, stop = sorted(rng.integers(len(content) + 1, size=2).tolist())
    return content[:start] + content[stop:]


def _doubled(content, rng):
    start, stop = sorted(rng.integers(len(content) + 1, size=2).tolist())
    return content[:stop] + content[start:]


def _longer(content, rng):
    return content + rng.bytes(int(rng.integers(1, 200)))


def _changed(content, rng):
    """Some bytes drawn anew."""
    broken = bytearray(content)
    for at in rng.integers(len(content), size=int(rng.integers(2, 20))):
        broken[at] = int(rng.integers(256))
    return broken


OFTEN = (_flipped,) * 6 + (_cut,) * 2
DAMAGE = (*OFTEN, _zeroed, _without, _doubled, _longer, _changed)


class Damaged:
    """Damaged files by number, of models that were saved soundly."""

    def __init__(self, models, folder, seed):
        self.path, self.seed, self.sound = Path(folder) / "model", seed, {}
        for name, (model, X) in models.items():
            save_model(model, self.path)
            self.sound[name] = self.path.read_bytes(), X, answers(load_model(self.path), X)

    def verdict(self, number) -> tuple[str, str]:
        """What was done to which model, and what became of it; every other file is mapped."""
        rng = np.random.default_rng([self.seed, number])
        name, how = list(self.sound)[number % len(self.sound)], DAMAGE[rng.integers(len(DAMAGE))]
        content, X, expected = self.sound[name]
        self.path.unlink(missing_ok=True)  # a model that has mapped the old one keeps it
        self.path.write_bytes(how(content, rng))
        load = partial(load_model, mmap=bool(rng.random() < 0.5))
        return f"{name}{how.__name__}", verdict(self.path, X, expected, load)


def damage(damaged, tries, first=0) -> Counter:
    """Verdicts on files of numbers from the first on."""
    found: Counter = Counter()
    for number in tries:
        what, word = damaged.verdict(first + number)
        found[word] += 1
        if word not in ("same", "refused"):
            again = f"--seed {damaged.seed} --first {first + number} --cases 1"
            tries.fail(first + number, f"{word}: {what}", again)
    return found


@contextlib.contextmanager
def without_checksums():
    """A planted bug: the reader looks at no checksum, and rehearses nothing."""
    with (
        patch("skstruct._files.container._opened", lambda path, size: open(path, "rb")),
        patch.object(zipfile.ZipExtFile, "_update_crc", lambda self, data: None),
        patch("skstruct.persistence.model_files.check_stored_predictions", lambda *_: None),
    ):
        yield


def caught(damaged, n=200) -> bool:
    """Whether a reader without checksums is caught."""
    with without_checksums():
        return any(damaged.verdict(number)[1] == "DIFFERENT" for number in range(n))


def main() -> int:
    given = arguments(__doc__, 20_000, ("--first", {"type": int, "default": 0}))
    with tempfile.TemporaryDirectory(dir=memory_folder()) as folder:
        damaged = Damaged(make_models(), folder, given.seed)
        planted, tries = caught(damaged), Tries(given)
        found = damage(damaged, tries, given.first)
    rate = round(tries.tried / max(tries.seconds, 0.001), 1)
    more = {"planted_caught": planted, "verdicts": dict(found), "files_per_second": rate}
    return finish("flip_models", tries.counts(**more))


if __name__ == "__main__":
    sys.exit(main())
