# SPDX-License-Identifier: BSD-3-Clause
"""Structured ridge regression from blocks of rows, of which none is kept.

Few weights are solved for after one pass, see :mod:`.normal_equations`; many take one pass for
each step, as follows.

With features x~ of rows (scaled as in :class:`~.objective.CountingExamples`) and weights W (p, d),
the objective is quadratic with the second derivative

    H V = 2 lam V + (sum x~ x~') V S + sum_i x~_i (sum_a (N U_a x~_i' V) u_a)'.

Its first two terms are known from one pass, and are inverted in the eigenvectors of both matrices:
a preconditioner, by which conjugate gradients take a few passes more.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.exceptions import ConvergenceWarning

from skstruct._arrays.progress import announce, ticker
from skstruct._arrays.rows import dense
from skstruct.config import get_config
from skstruct.learners.checkpoints.saving import resuming
from skstruct.learners.conditional_risk.streams import BlockReader
from skstruct.learners.counting_ridge.closed_form import ClosedForms
from skstruct.learners.counting_ridge.normal_equations import MOST_EQUATIONS, NormalEquations
from skstruct.learners.counting_ridge.objective import CountingExamples, NewtonCG
from skstruct.learners.counting_ridge.reading import check_ridge, solver_of
from skstruct.learners.passes import NEEDS_FEATURES, Passes, first_sample
from skstruct.sizes import AT_ONCE
from skstruct.streaming.engines import kept_open, opened
from skstruct.tolerances import SYSTEM_RESIDUAL


class CountingBlocks(BlockReader):
    """Scaled features and examples of blocks; it can be pickled.

    Parameters
    ----------
    model : CountingRidge that has read a sample
    """

    def __init__(self, model: Any) -> None:
        super().__init__(model, model.problem_)
        self.moments_, self.size_, self.function_ = model.moments_, model.size_, model.function_

    def __call__(self, block: Any) -> tuple[np.ndarray, CountingExamples]:  # type: ignore[override]
        X, outputs, weight = self.read(block, lambda X, outputs: outputs)
        weight = np.ones(len(block)) if weight is None else weight
        mean, covariance = self.moments_
        psi = dense(self.space_.embed(outputs), np.float64)
        row = np.arange(len(weight))
        examples = CountingExamples.of(psi, mean, row, weight, covariance, self.size_)
        return self.function_.featured(X) * examples.root[:, None], examples

    @property
    def n_features(self) -> int:
        """Features of a row, the constant included."""
        p = self.n_features_in_ if self.function_.map_ is None else self.function_.map_.map.shape[1]
        return int(p) + 1

    @property
    def rows_of_block(self) -> int:
        return max(1, AT_ONCE // (len(self.moments_[0]) + self.n_features))


# What is summed over the rows of a partition; sums are lists of arrays, which add up.


def first_sums(partition: Any, read: CountingBlocks) -> list[Any]:
    """Squares of features (p, p), minus the slope at zero (p, d), and the sum of weights."""
    sums: list[Any] = [0.0, 0.0, 0.0]
    for block in partition.blocks(read.rows_of_block):
        Z, examples = read(block)
        sums[0] = sums[0] + Z.T @ Z
        sums[1] = sums[1] - Z.T @ examples.slope()
        sums[2] += float(examples.weight.sum())
    return sums


def curvature_sums(partition: Any, read: CountingBlocks, V: np.ndarray) -> list[Any]:
    """What single outputs add to the second derivative along V; (p, d)."""
    total: Any = 0.0
    for block in partition.blocks(read.rows_of_block):
        Z, examples = read(block)
        bent = examples.gathered(examples.times_N(examples.margins(Z @ V)))
        total = total + Z.T @ bent
    return [total]


def lacking_sums(partition: Any, read: CountingBlocks, W: np.ndarray) -> list[Any]:
    """Features, weighted by what outputs still lack of a margin of one at W; (p,)."""
    total: Any = 0.0
    for block in partition.blocks(read.rows_of_block):
        Z, examples = read(block)
        total = total + Z.T @ (examples.b - examples.times_N(examples.margins(Z @ W)))
    return [total]


class StreamedSolution:
    """The minimum by conjugate gradients, preconditioned by what all rows share.

    Parameters
    ----------
    passes : Passes
    covariance : Covariance
        S.
    lam : float
    """

    says = "one pass for each step"

    def __init__(self, passes: Passes, covariance: Any, lam: float) -> None:
        self.passes, self.covariance, self.lam = passes, covariance, lam
        self.G, self.right, self.weight = passes(first_sums)
        if not self.weight > 0:
            raise ValueError("sample_weight: all rows have weight zero.")
        self.k, self.Q = eigh(self.G, check_finite=False)
        self.k = self.k.clip(min=0.0)

    def _preconditioned(self, R: np.ndarray) -> np.ndarray:
        shrink = 1.0 / (2.0 * self.lam + np.multiply.outer(self.k, self.covariance.eigenvalues))
        return self.Q @ self.covariance.filter(self.Q.T @ R, shrink)

    def _bent(self, V: np.ndarray) -> Any:
        """H V, in one pass."""
        [own] = self.passes(curvature_sums, V)
        return 2.0 * self.lam * V + self.covariance.apply(self.G @ V) + own

    def solve(self, tol: float, max_iter: int, verbose: int, level: Any) -> tuple[np.ndarray, int]:
        """W, and the number of passes."""
        W, R = np.zeros_like(self.right), self.right.copy()
        D = Z = self._preconditioned(R)
        size = first = float(np.vdot(R, Z))
        done = 0
        if stopped := level.found:
            W, R, D = (np.array(part) for part in stopped["vectors"])
            size, done = float(stopped["size"]), int(stopped["done"])
        with ticker(max_iter, "passes", verbose) as tick:
            for step in range(done + 1, max_iter + 1):
                if size <= tol**2 * first:
                    return W, step - 1
                bent = self._bent(D)
                length = size / float(np.vdot(bent, D))
                W, R = W + length * D, R - length * bent
                Z = self._preconditioned(R)
                size, last = float(np.vdot(R, Z)), size
                D = Z + (size / last) * D
                tick()
                level.reached(vectors=(W, R, D), size=size, done=step)
        if size > tol**2 * first:
            warnings.warn(
                f"CountingRidge stopped after {max_iter} passes with a gradient of "
                f"{np.sqrt(max(size, 0.0) / first):.1e} of the first one; raise max_iter or alpha.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return W, max_iter

    def objective(self, W: np.ndarray) -> float:
        """That of any quadratic at its minimum."""
        return float(-0.5 * np.vdot(self.right, W))

    def total(self, W: np.ndarray) -> Any:
        """Weights of the total weight, g (2 lam I + g G)^-1 c at the largest g of S; (p,)."""
        [lacking] = self.passes(lacking_sums, W)
        top = float(self.covariance.eigenvalues.max())
        return self.Q @ ((self.Q.T @ lacking) * (top / (2.0 * self.lam + top * self.k)))


def fit_source(model: Any, source: Any, checkpoint: Any) -> Any:
    """Fit a CountingRidge to the blocks of a source, which is read several times."""
    check_ridge(model.solver, "A source of blocks")
    sample = first_sample(model, source, "; or call partial_fit with each block")
    model.several_outputs_ = False
    # A sample does not tell what is missing in other rows: numbers alone are read.
    X, outputs, row, weight = model._begin(sample.X, sample.y, sample.weight, True, encode=False)
    kept = np.flatnonzero(weight > 0)
    if len(kept) < len(weight):
        X, outputs, row, weight, _ = model._only(kept, X, outputs, row, weight, None)
    data = {"X": X, "y": sample.y, "sample_weight": sample.weight, "n_rows": source.n_rows}
    with resuming(model, checkpoint, **data) as level, kept_open():
        model._open(X, outputs, row, weight)
        if not model.function_.by_features_:
            raise ValueError(NEEDS_FEATURES)
        examples = model._examples(outputs, row, weight)
        forms = ClosedForms(examples, model.function_.gram(X, examples.root))
        model.alpha_, model.search_ = model._penalty(X, forms, None, level)
        _solve(model, source, level)
    model.problem_.n_features = len(model.function_.weights_)
    return model


def _way(model: Any) -> Any:
    """One pass for all pairs of weights where these are few; else one for each step."""
    few = CountingBlocks(model).n_features * model.problem_.width <= MOST_EQUATIONS
    return NormalEquations if few and solver_of(model.solver) is None else StreamedSolution


def _solve(model: Any, source: Any, level: Any) -> None:
    way = _way(model)
    rows = "Rows" if source.n_rows is None else f"{source.n_rows:,} rows"
    announce(
        f"CountingRidge on {rows} in blocks x {model.problem_.width:,} coordinates of "
        f"{type(model.space_).__name__}, alpha={model.alpha_:.3g}; {way.says}"
    )
    method = solver_of(model.solver) or NewtonCG()
    tol = method.tol if model.solver != "closed-form" else SYSTEM_RESIDUAL
    with opened(get_config()["engine"]) as workers:
        passes = Passes(source, CountingBlocks(model), workers)
        solution = way(passes, model.moments_[1], model.alpha_)
        W, steps = solution.solve(tol, method.max_iter, model.verbose, level.below("newton-cg"))
        model.function_.take(None, W, solution.total(W))
    model.objective_, model.n_iter_, model.online_ = solution.objective(W), steps, None
