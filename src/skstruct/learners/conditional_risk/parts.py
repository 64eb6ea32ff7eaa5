# SPDX-License-Identifier: BSD-3-Clause
"""Which smoothers a stack is made of: by the size of the data, and by what they would take."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from skstruct.kernels.inputs import Laplacian
from skstruct.smoothing import KernelRidge
from skstruct.smoothing.cross_fitting import CrossFitted
from skstruct.smoothing.forest import Forest
from skstruct.smoothing.planning import LINEAR_FEATURES, SPECTRAL_ROWS, plan
from skstruct.smoothing.scaled import Scaled

N_TREES, FEWEST_TREES, PILOT = 200, 50, 10
TIMES, AT_LEAST = 10.0, 10.0  # kernel ridge regressions, and seconds, that a fit may take
FOR_PARTS = 0.7  # of a budget: decisions of left-out rows take the rest
FEW_ROWS = 1000  # up to these, a second width of the Laplacian kernel is worth its time
RATE = 1e10  # operations a second, nominally: the plan is the same on every machine
TREE, VALUES = 2e-3, 8e6  # seconds of a tree, and values that it looks at in one, nominally
STEPS = 100  # of a logistic regression
WIDER = 0.25  # of the usual gamma
PENALTIES = {"logistic": 1.0, "logistic, strong penalty": 0.05}


@dataclass(frozen=True)
class Part:
    """A smoother of a stack, with the seconds that it should take."""

    name: str
    smoother: Any
    seconds: float


class PartPlan:
    """The smoothers that there is time for, the most useful first.

    Without a budget they take ten times what one kernel ridge regression does, or ten seconds, by
    nominal speeds: the same data give the same parts everywhere. With one, what was taken is
    measured, and the next parts are those that fit into what is left.

    Parameters
    ----------
    X : array or CSR of shape (n, p)
    targets : array of shape (n, n_targets)
    random_state : of forests
    budget : float, default=None
        Seconds that a fit may take.
    classify : bool, default=True
        Whether parts that are no linear smoothers may be among them.
    """

    def __init__(
        self,
        X: Any,
        targets: np.ndarray,
        random_state: Any = None,
        budget: float | None = None,
        classify: bool = True,
    ) -> None:
        self.X, self.targets, self.budget = X, targets, budget
        self.parts = _all_parts(X, targets, 0 if random_state is None else random_state, classify)
        first = self.parts[0].seconds
        self.limit = max(TIMES * first, AT_LEAST) if budget is None else FOR_PARTS * budget
        self.start = perf_counter()

    def __len__(self) -> int:
        return len(self.parts)

    def __str__(self) -> str:
        return "; ".join(part.name for part in self.parts)

    def __iter__(self) -> Iterator[Part]:
        taken = 0.0
        for number, part in enumerate(self.parts):
            left = self.limit - (taken if self.budget is None else perf_counter() - self.start)
            chosen = part if number == 0 else self._within(part, left)
            if chosen is None:
                continue
            began = perf_counter()
            yield chosen
            taken += chosen.seconds
            if self.budget is not None:
                self._learn_speed(number, chosen, perf_counter() - began)

    def _within(self, part: Part, left: float) -> Part | None:
        """The part, with fewer trees if need be; None if there is no time for it."""
        trees = isinstance(part.smoother, Forest)
        if trees and self.budget is not None and left > 0:
            began = perf_counter()
            clone(part.smoother).set_params(n_estimators=PILOT).fit(self.X, self.targets)
            each = (perf_counter() - began) / PILOT
            left -= PILOT * each
            part = replace(part, seconds=each * part.smoother.n_estimators)
        if part.seconds <= left:
            return part
        n_trees = int(left / part.seconds * part.smoother.n_estimators) if trees else 0
        if n_trees < FEWEST_TREES:
            return None
        fewer = clone(part.smoother).set_params(n_estimators=n_trees)
        return Part(part.name, fewer, left)

    def _learn_speed(self, number: int, part: Part, took: float) -> None:
        """What others should take, by the first one; forests are tried before they are grown."""
        if number == 0 and part.seconds > 0:
            speed = took / part.seconds
            self.parts[1:] = [replace(p, seconds=speed * p.seconds) for p in self.parts[1:]]


def parse_seconds(budget: Any) -> float | None:
    """Seconds of a budget such as "30s", "5min", "2h" or a number of seconds; None for none.

    >>> parse_seconds("30s"), parse_seconds("1.5min"), parse_seconds(20)
    (30.0, 90.0, 20.0)
    """
    if budget is None:
        return None
    units = {"": 1.0, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}
    found = re.fullmatch(r"\s*([0-9.]+)\s*([a-z]*)\s*", str(budget))
    try:
        seconds = float(found[1]) * units[found[2]] if found else 0.0
    except (KeyError, ValueError):
        seconds = 0.0
    if not seconds > 0:
        raise ValueError(f'budget is a time such as "30s" or "5min"; got {budget!r}.')
    return seconds


def _all_parts(X: Any, targets: np.ndarray, seed: Any, classify: bool) -> list[Part]:
    n_targets = targets.shape[1]
    ridge = _ridge_seconds(X, n_targets)
    parts = [
        Part("gaussian", Scaled(_ridge(X, "rbf")), ridge),
        _forest(X, n_targets, seed, "random"),
        Part("laplacian", Scaled(_ridge(X, "laplacian")), ridge + _manhattan_seconds(X)),
        _forest(X, n_targets, seed, "extra"),
        Part("gaussian, as given", _ridge(X, "rbf"), ridge),
        Part("linear", Scaled(_ridge(X, "linear")), ridge),
    ]
    if X.shape[0] <= FEW_ROWS and not sparse.issparse(X):
        # The usual width of columns that are scaled is one over their number.
        wide = Laplacian(WIDER / X.shape[1])
        parts.append(Part("laplacian, wide", Scaled(_ridge(X, wide)), ridge))
    return parts + (_logistic(X, targets) if classify else [])


def _ridge(X: Any, kernel: Any) -> Any:
    """Exact for some thousand rows, by landmarks beyond."""
    n, p = X.shape
    if n <= SPECTRAL_ROWS:
        return KernelRidge(kernel, "auto")
    from skstruct.smoothing.linear import LinearRidge
    from skstruct.smoothing.nystroem.ridge import NystroemRidge

    if kernel == "linear":
        few = p <= LINEAR_FEATURES
        return NystroemRidge("linear", "auto", features="linear") if few else LinearRidge("auto")
    return NystroemRidge(kernel, "auto")


def _ridge_seconds(X: Any, n_targets: int) -> float:
    n, p = X.shape
    solver = "spectral" if n <= SPECTRAL_ROWS else "nystroem"
    return float(plan(n, p, n_targets, solver=solver, n_alphas=22).flops) / RATE


def _manhattan_seconds(X: Any) -> float:
    n, p = X.shape
    width = X.nnz / max(1, n) if sparse.issparse(X) else p
    return float(n * min(n, SPECTRAL_ROWS) * width / RATE * 5)


def _forest(X: Any, n_targets: int, seed: Any, trees: str) -> Part:
    n, p = X.shape
    features = "sqrt" if trees == "random" else 1 / 3
    tried = np.sqrt(p) if trees == "random" else p / 30  # a random threshold costs a tenth
    values = n * np.log2(max(2, n)) * max(1.0, tried) * (1 + n_targets / 20)
    n_trees = min(N_TREES, max(FEWEST_TREES, n))
    forest = Forest(
        n_trees, trees=trees, max_features=features, min_samples_leaf=2, random_state=seed
    )
    name = "forest" if trees == "random" else "extra trees"
    return Part(name, forest, n_trees * (TREE + values / VALUES))


def _logistic(X: Any, targets: np.ndarray) -> list[Part]:
    """Logistic regressions, where every target has two values."""
    varying = targets[:, (targets != targets[0]).any(axis=0)]
    if not varying.shape[1] or not _two_values(varying):
        return []
    from sklearn.linear_model import LogisticRegression

    n, p = X.shape
    width = X.nnz / max(1, n) if sparse.issparse(X) else p
    seconds = 6.0 * varying.shape[1] * (4.0 * STEPS * n * width / RATE * 10 + 2 * TREE)
    return [
        Part(name, Scaled(CrossFitted(LogisticRegression(C=C, max_iter=STEPS))), seconds)
        for name, C in PENALTIES.items()
    ]


def _two_values(targets: np.ndarray) -> bool:
    low, high = targets.min(axis=0), targets.max(axis=0)
    return bool(((targets == low) | (targets == high)).all())
