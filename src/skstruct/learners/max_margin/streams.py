# SPDX-License-Identifier: BSD-3-Clause
"""The structured support vector machine from blocks of rows: a pass for each cut, and no row is
kept; see :mod:`~skstruct.learners.max_margin.cutting_planes`.

A sample of the rows tells names, landmarks and the penalty.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skstruct._arrays.progress import announce, ticker
from skstruct.config import get_config
from skstruct.kernels.inputs import kernel_name
from skstruct.learners.checkpoints.saving import resuming
from skstruct.learners.conditional_risk.streams import BlockReader, placed_in
from skstruct.learners.inputs import plain_kernel
from skstruct.learners.max_margin.cutting_planes import CuttingPlanes
from skstruct.learners.max_margin.slack_rescaling import oracle_of
from skstruct.learners.passes import NEEDS_FEATURES, Passes, first_sample
from skstruct.learners.token_problem import check_positions
from skstruct.learners.tokens import TokenBatch
from skstruct.sizes import AT_ONCE
from skstruct.spaces.constraints import differs_by_row
from skstruct.streaming.engines import kept_open, opened


class HingeBlocks(BlockReader):
    """Features and problems of blocks; it can be pickled.

    Parameters
    ----------
    model : StructuredSVM that has read a sample
    rows : LinearRows, of that sample
    """

    def __init__(self, model: Any, rows: Any) -> None:
        super().__init__(model, model.problem_.trained())
        self.rescaling_, self.scores_, self.p = model.rescaling, model.scores_, rows.X.shape[1]

    def __call__(self, block: Any) -> tuple[Any, Any, np.ndarray]:
        """Features (R, p), the problem of these examples, and weights (B,)."""
        X, outputs, weight = self.read(block, self._with_positions)
        rows, starts = X, np.arange(X.shape[0] + 1)
        if isinstance(X, TokenBatch):
            rows, starts = X.tokens, X.starts
        weight = np.ones(len(outputs)) if weight is None else weight
        return self.scores_.features_of(rows), self.problem_.of(outputs, starts), weight

    def _with_positions(self, X: Any, outputs: np.ndarray) -> np.ndarray:
        check_positions(X, self.space_, outputs)
        return outputs

    @property
    def rows_of_block(self) -> int:
        problem = self.problem_
        positions = max(1, problem.width // problem.n_seeing)
        return max(1, int(AT_ONCE // (positions * (self.p + 4 * problem.n_seeing))))


def hinge_sums(
    partition: Any, read: HingeBlocks, weights: np.ndarray, constants: np.ndarray
) -> list[Any]:
    """What makes a cut, summed over rows with their weights.

    Directions of the features with the constant (p, q) and of what sees no input (r,); losses of
    the most violating outputs; upper bounds of the hinge; and the weights of the rows.
    """
    directions, fixed, sums = np.zeros_like(weights), np.zeros_like(constants), np.zeros(3)
    p = len(weights) - bool(read.scores_.fit_intercept)
    for block in partition.blocks(read.rows_of_block):
        X, problem, weight = read(block)
        scores = np.asarray(X @ weights[:p])
        if p < len(weights):
            scores += weights[p]
        found = oracle_of(problem, read.rescaling_)(scores, constants, np.arange(len(weight)))
        weighted = found.directions * np.repeat(weight, problem.n_rows_of)[:, None]
        directions[:p] += X.T @ weighted
        directions[p:] += weighted.sum(axis=0)
        fixed += weight @ found.constants
        sums += weight @ found.losses, weight @ found.bounds, weight.sum()
    return [directions, fixed, sums]


class StreamedHinge:
    """The objective of all rows of a source, minimized by cuts; what is found is kept as of a dual.

    Parameters
    ----------
    passes : Passes
    rows : LinearRows, of the sample
    shape : pair of int
        Of the weights of features, (p, q).
    n_constants : int
    alpha : float
    """

    def __init__(
        self, passes: Passes, rows: Any, shape: tuple[int, int], n_constants: int, alpha: float
    ) -> None:
        self.passes, self.rows, self.shape = passes, rows, shape
        self.planes = CuttingPlanes(shape[0] * shape[1] + n_constants, alpha)

    def solve(self, tol: float, max_iter: int, verbose: int, level: Any) -> StreamedHinge:
        """A pass for each cut, until the gap is at most ``tol`` of the objective."""
        planes = self.planes
        if stopped := level.found:
            planes.restore(stopped["planes"])
        with ticker(max_iter, "passes", verbose) as tick:
            while planes.n_iter < max_iter:
                self._pass()
                tick()
                if planes.gap <= tol * max(planes.objective, 0.0):
                    break
                planes.move()
                level.reached(planes=planes)
        return self

    def _pass(self) -> None:
        directions, fixed, sums = self.passes(hinge_sums, *self._parts(self.planes.weights))
        loss, bound, weight = sums.tolist()
        if not weight > 0:
            raise ValueError("sample_weight: all rows have weight zero.")
        cut = np.concatenate([directions.ravel(), fixed]) / weight
        self.planes.add(cut, loss / weight, bound / weight)

    def _parts(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights of the features (p, q), and those that see no input (r,)."""
        cut = self.shape[0] * self.shape[1]
        return theta[:cut].reshape(self.shape), theta[cut:]

    @property
    def weights(self) -> np.ndarray:
        return self._parts(self.planes.best)[0]

    @property
    def constants(self) -> np.ndarray:
        return self._parts(self.planes.best)[1]

    @property
    def objective(self) -> float:
        return self.planes.objective

    @property
    def gap(self) -> float:
        return self.planes.gap

    @property
    def n_iter(self) -> int:
        return self.planes.n_iter

    @property
    def history(self) -> list[tuple[int, float, float]]:
        return self.planes.history


def fit_source(model: Any, source: Any, checkpoint: Any) -> Any:
    """Fit a StructuredSVM to the blocks of a source, which is read once for each cut."""
    sample = first_sample(model, source)
    try:
        # A sample does not tell what is missing in other rows: numbers alone are read.
        X, weight = model._begin(sample.X, sample.y, sample.weight, reset=True, encode=False)
    except (ValueError, TypeError) as error:
        raise placed_in(source, sample, error) from error
    if model._partial is not None:
        raise ValueError(
            "StructuredSVM completes outputs of which parts are missing in memory: give arrays, or "
            "leave these rows out of the blocks."
        )
    if differs_by_row(model.space_):
        raise ValueError("Constraints of single rows do not go with rows that come in blocks.")
    data = {"X": X, "y": sample.y, "sample_weight": weight, "n_rows": source.n_rows}
    with resuming(model, checkpoint, **data) as level, kept_open():
        model.problem_ = model._problem(X)
        model._warn_if_approximate()
        if not (kernel_name(plain_kernel(model, model.kernel)) == "linear" or model.n_landmarks):
            raise ValueError(NEEDS_FEATURES)
        model.scores_, rows = model._rows(X, weight)
        model.alpha_, model.search_ = model._chosen(X, rows, weight, level)
        _solve(model, source, rows, level)
    model.problem_ = model.problem_.trained()
    return model


def _solve(model: Any, source: Any, rows: Any, level: Any) -> None:
    problem, n_rows = model.problem_, source.n_rows
    announce(
        f"{type(model).__name__} on {'rows' if n_rows is None else f'{n_rows:,} rows'} in blocks, "
        f"{type(model.space_).__name__}, {type(model.loss_).__name__}, alpha={model.alpha_:.3g}; "
        f"at most {model.max_iter:,} passes"
    )
    shape = rows.X.shape[1], problem.n_seeing
    with opened(get_config()["engine"]) as workers:
        passes = Passes(source, HingeBlocks(model, rows), workers)
        hinge = StreamedHinge(passes, rows, shape, problem.n_constants, model.alpha_)
        hinge.solve(model.tol, model.max_iter, model.verbose, level.below("passes"))
    model._finish(hinge)
