# SPDX-License-Identifier: BSD-3-Clause
"""Which smoothers a stack is made of: by the size of the data, and by what they would take."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.kernels.inputs import Laplacian
from skstruct.smoothing import KernelRidge
from skstruct.smoothing.forest import Forest
from skstruct.smoothing.planning import LINEAR_FEATURES, SPECTRAL_ROWS, plan
from skstruct.smoothing.scaled import Scaled

N_TREES, FEWEST_TREES = 200, 50
TIMES, AT_LEAST = 10.0, 10.0  # kernel ridge regressions, and seconds, that a fit may take
FEW_ROWS = 1000  # up to these, a second width of the Laplacian kernel is worth its time
RATE = 1e10  # operations a second, nominally: the plan is the same on every machine
TREE, VALUES = 2e-3, 8e6  # seconds of a tree, and values that it looks at in one, nominally
WIDER = 0.25  # of the usual gamma


@dataclass(frozen=True)
class Part:
    """A smoother of a stack, with the seconds that it should take."""

    name: str
    smoother: Any
    seconds: float


def planned_parts(
    X: Any, n_targets: int, random_state: Any = None, seconds: float | None = None
) -> list[Part]:
    """The smoothers that there is time for, the most useful first.

    Without a limit they take ten times what one kernel ridge regression does, or ten seconds, by
    nominal speeds: the same data give the same parts everywhere.

    Parameters
    ----------
    X : array or CSR of shape (n, p)
    n_targets : int
    seconds : float, default=None
        A limit.
    """
    seed = 0 if random_state is None else random_state
    first, *others = _all_parts(X, n_targets, seed)
    limit = max(TIMES * first.seconds, AT_LEAST) if seconds is None else seconds
    found, left = [first], limit - first.seconds
    for part in others:
        fitting = _within(part, left)
        if fitting is not None:
            found.append(fitting)
            left -= fitting.seconds
    return found


def _all_parts(X: Any, n_targets: int, seed: Any) -> list[Part]:
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
    return parts


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
    return float(n) * min(n, SPECTRAL_ROWS) * width / RATE * 5


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


def _within(part: Part, seconds: float) -> Part | None:
    """The part, with fewer trees if need be; None if there is no time for it."""
    if part.seconds <= seconds:
        return part
    usual = getattr(part.smoother, "n_estimators", 1)
    each = part.seconds / usual
    n_trees = int(seconds / each) if usual > 1 else 0
    if n_trees < FEWEST_TREES:
        return None
    part.smoother.set_params(n_estimators=n_trees)
    return Part(part.name, part.smoother, n_trees * each)
