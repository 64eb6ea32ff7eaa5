# SPDX-License-Identifier: BSD-3-Clause
"""Smoothers that a stack may be made of, and about how long each of them takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.kernels import RBF, Laplacian
from skstruct.kernels.inputs import kernel_name
from skstruct.smoothing import CrossFitted, Forest, KernelRidge, Scaled
from skstruct.smoothing.base import has_gaps
from skstruct.smoothing.bracketing import BRACKETED
from skstruct.smoothing.folds import n_folds_for
from skstruct.smoothing.nystroem.landmarks import most_landmarks
from skstruct.smoothing.penalties import SAMPLE, sample_size
from skstruct.smoothing.planning import (
    EXACT_ROWS,
    LINEAR_FEATURES,
    PATH_ROWS,
    SPECTRAL_ROWS,
    feature_costs,
    plan,
)
from skstruct.smoothing.projections import FEW, MANY

N_TREES, FEWEST_TREES = 200, 50
FEW_ROWS = 1000  # up to these, second widths of kernels are worth their time
JUDGED = SAMPLE[1]  # that judge what is fitted to more than five thousand
# Operations a second of decompositions and of products, nominally: the plan is the same on every
# machine, and a budget in seconds is kept by what the first part took.
RATE, PRODUCTS = 1e10, 3e10
SMALL_PRODUCTS = 2e10  # of two hundred rows
MOST_EXACT = 40.0  # seconds that all rows may take, of one ridge regression; more have landmarks
TREE, VALUES = 2e-3, 8e6  # seconds of a tree, and values that it looks at in one, nominally
STEPS = 100  # of a logistic regression, or of conjugate gradients
WIDER, NEARLY_LINEAR = 0.25, 0.1  # of the usual gamma
PENALTIES = {"logistic": 1.0, "logistic, strong penalty": 0.05}


@dataclass(frozen=True)
class Part:
    """A smoother of a stack, with the seconds that it should take.

    Attributes
    ----------
    n_landmarks : int, default=None
        Of ridge regressions that have landmarks.
    instead : Part, default=None
        What does about the same in less time.
    n_trees : int, default=0
    """

    name: str
    smoother: Any = field(repr=False)
    seconds: float
    n_landmarks: int | None = None
    instead: Part | None = None
    n_trees: int = 0


class Size:
    """How much there is to learn from.

    Parameters
    ----------
    X : array or CSR of shape (k, p)
        The rows, or a sample of them.
    targets : array of shape (k, n_targets)
    n_rows : int, default=None
        Rows of which there is a sample; those of X when None.
    """

    def __init__(self, X: Any, targets: np.ndarray, n_rows: int | None = None) -> None:
        self.n_held, self.p = X.shape
        self.streamed = n_rows is not None
        self.n = self.n_held if n_rows is None else n_rows
        self.n_targets = targets.shape[1]
        self.is_sparse = sparse.issparse(X)
        self.width = X.nnz / max(1, self.n_held) if self.is_sparse else self.p
        # Ranks of two values are these values again.
        self.has_gaps = has_gaps(targets)
        self.has_ranks = not self.is_sparse and any(len(np.unique(x)) > 2 for x in X.T)


def all_parts(size: Size, targets: np.ndarray, seed: Any, classify: bool) -> list[Part]:
    """The smoothers that may have a part, the most useful first."""
    has_network = classify and size.n > SPECTRAL_ROWS and not size.streamed and not size.has_gaps
    parts = [
        ridge_part("gaussian", "rbf", size),
        _forest(size, seed, "random"),
        *([_network(size, seed)] if has_network else []),
        ridge_part("laplacian", "laplacian", size),
        _forest(size, seed, "extra"),
        ridge_part("gaussian, as given", "rbf", size, scale=None),
    ]
    if size.has_ranks:
        parts.append(ridge_part("gaussian, ranked", "rbf", size, scale="rank"))
    if not (size.streamed and size.p > LINEAR_FEATURES):
        parts.append(ridge_part("linear", "linear", size))
    if size.n <= FEW_ROWS and not size.is_sparse:
        # The usual width of columns that are scaled is one over their number.
        parts.append(ridge_part("laplacian, wide", Laplacian(WIDER / size.p), size))
        parts.append(ridge_part("gaussian, wide", RBF(NEARLY_LINEAR / size.p), size))
    return parts + (_logistic(size, targets) if classify else [])


# Ridge regressions: all eigenvectors of a thousand rows, one factorization of some ten thousand,
# landmarks of more.


def ridge_part(
    name: str,
    kernel: Any,
    size: Size,
    scale: str | None = "standard",
    n_landmarks: int | None = None,
) -> Part:
    """Exact where that is possible, with landmarks in its place if need be."""

    def made(ridge: Any, seconds: float, m: int | None = None, instead: Any = None) -> Part:
        return Part(name, ridge if scale is None else Scaled(ridge, scale), seconds, m, instead)

    primal = None
    if kernel_name(kernel) == "linear" and size.n > SPECTRAL_ROWS:
        primal = made(*_primal(size))
        if size.p <= LINEAR_FEATURES or size.n > EXACT_ROWS:
            return primal
    from skstruct.smoothing import NystroemRidge

    m = most_landmarks("auto", size.n) if n_landmarks is None else n_landmarks
    landmarks = NystroemRidge(kernel, "auto", n_landmarks="auto" if n_landmarks is None else m)
    other = made(landmarks, _landmark_seconds(kernel, size, m), m)
    seconds = _exact_seconds(size) + _kernel_seconds(kernel, size, size.n)
    if primal is not None and primal.seconds < min(seconds, MOST_EXACT):
        return primal
    if size.streamed or size.n > EXACT_ROWS or n_landmarks is not None:
        return other
    if seconds > MOST_EXACT:
        return other
    few = m >= size.n  # landmarks would be as many as the rows
    return made(KernelRidge(kernel, "auto"), seconds, None, None if few else other)


def _exact_seconds(size: Size) -> float:
    """Of a penalty chosen on all rows or a sample, a factorization, and rows left out of it."""
    n, d = size.n, size.n_targets
    sample = n if n <= PATH_ROWS else sample_size(n)
    path = plan(sample, 0, d, solver="spectral", n_alphas=BRACKETED).flops / RATE
    left_out = n**3 / 3 if n <= SPECTRAL_ROWS else n**2 * JUDGED
    return float(path + (n**3 / 3 + left_out + 4 * n**2 * d) / PRODUCTS)


def _primal(size: Size) -> tuple[Any, float]:
    """Linear ridge regression of many rows, by products of their columns."""
    from skstruct.smoothing import LinearRidge, NystroemRidge

    if size.p <= LINEAR_FEATURES:
        seconds = feature_costs(size.n, 0, size.n_targets, size.p, BRACKETED)[1] / PRODUCTS
        return NystroemRidge("linear", "auto", features="linear"), seconds
    searched = min(size.n_targets, FEW) * BRACKETED / 2  # targets that choose the penalty
    of_target = 2.0 * size.n * size.width + 10.0 * size.p  # a step: products, and sums of vectors
    return LinearRidge("auto"), STEPS * of_target * (searched + size.n_targets) / RATE


def _landmark_seconds(kernel: Any, size: Size, m: int) -> float:
    d = size.n_targets
    sums = feature_costs(size.n, 0, d, m, BRACKETED)[1] / PRODUCTS
    return float(2 * sums if d > MANY else sums) + _kernel_seconds(kernel, size, m)


def _kernel_seconds(kernel: Any, size: Size, m: int) -> float:
    """Of values of n rows with m others; sums of distances cannot be products."""
    slow = 5.0 if kernel_name(kernel) == "laplacian" else 0.5
    return float(slow * size.n * m * size.width / RATE)


# Others.


def _forest(size: Size, seed: Any, trees: str) -> Part:
    n, p = size.n_held, size.p  # of rows in blocks a sample is held
    features = "sqrt" if trees == "random" else 1 / 3
    tried = np.sqrt(p) if trees == "random" else p / 30  # a random threshold costs a tenth
    n_targets = FEW if size.n_targets > MANY else size.n_targets
    values = n * np.log2(max(2, n)) * max(1.0, tried) * (1 + n_targets / 400)
    n_trees = min(N_TREES, max(FEWEST_TREES, n))
    forest = Forest(
        n_trees, trees=trees, max_features=features, min_samples_leaf=2, random_state=seed
    )
    name = "forest" if trees == "random" else "extra trees"
    return Part(name, forest, n_trees * (TREE + values / VALUES), n_trees=n_trees)


def _network(size: Size, seed: Any) -> Part:
    """Fitted to all rows, and as often again as those that judge are left out."""
    from skstruct.smoothing import NeuralNetwork
    from skstruct.smoothing.neural_network import BATCH, passes_over

    network = CrossFitted(NeuralNetwork(random_state=seed), cv=3)
    layers = *network.estimator.hidden_layer_sizes, size.n_targets
    products = sum(a * b for a, b in pairwise((size.width, *layers)))
    held = sum(a * b for a, b in pairwise((size.p, *layers)))  # numbers that a step changes
    n_fits = 1 + n_folds_for(network.cv, JUDGED, size.n)
    steps = n_fits * size.n * passes_over(size.n)
    seconds = steps * (6.0 * products + 30.0 * held / BATCH) / SMALL_PRODUCTS
    return Part("network", Scaled(network), seconds)


def _logistic(size: Size, targets: np.ndarray) -> list[Part]:
    """Logistic regressions, where every target has two values."""
    if size.has_gaps:
        targets = np.where(np.isnan(targets), np.nanmin(targets, axis=0), targets)
    varying = targets[:, (targets != targets[0]).any(axis=0)]
    if not varying.shape[1] or not _two_values(varying):
        return []
    from skstruct.smoothing.logistic import LabelLogistic

    steps = 4.0 * STEPS * size.n_held * (size.width + 10) / RATE  # ten for a power of e
    seconds = 6.0 * varying.shape[1] * (steps + 2 * TREE)
    return [
        Part(name, Scaled(CrossFitted(LabelLogistic(C, max_iter=STEPS))), seconds)
        for name, C in PENALTIES.items()
    ]


def _two_values(targets: np.ndarray) -> bool:
    low, high = targets.min(axis=0), targets.max(axis=0)
    return bool(((targets == low) | (targets == high)).all())
