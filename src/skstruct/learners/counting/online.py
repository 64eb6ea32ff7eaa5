# SPDX-License-Identifier: BSD-3-Clause
r"""Structured ridge regression by functional gradients, batch by batch.

For the batch at hand, with f the scores now and l its mean loss,

    f <- (1 - 2 eta lam/n) f - eta * sum over the batch of l'(f(x_i)) k(x_i, .),

so that every batch adds one term per row to an expansion in a kernel. The penalty shrinks old
terms, and the oldest are dropped beyond a budget. Features need neither.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.learners.counting.examples import CountingExamples

RATES = ("optimal", "invscaling", "constant", "meta")
FORGET = 0.99  # share of the past that the trace of meta-descent keeps


class Window:
    """The last rows of a table that grows; a copy, with room for further rows.

    >>> window = Window(np.zeros((0, 1)), most=2)
    >>> window.append(np.array([[1.0], [2.0], [3.0]]))
    >>> window.append(np.array([[4.0]]))
    >>> window.rows.ravel().tolist()
    [3.0, 4.0]
    """

    def __init__(self, rows: np.ndarray, most: int):
        self.rows, self.most = rows[:0], most
        self._room, self._last = rows[:0], 0
        self.append(rows)

    def append(self, new: np.ndarray) -> None:
        """New rows behind the old ones, the oldest of which are dropped."""
        new = new[-self.most :]
        n = min(len(self.rows) + len(new), self.most)
        if self._last + len(new) > len(self._room):
            kept = self.rows[len(self.rows) + len(new) - n :]
            self._room = np.empty((2 * n + len(new), new.shape[1]), dtype=new.dtype)
            self._room[: len(kept)] = kept
            self._last = len(kept)
        self._room[self._last : self._last + len(new)] = new
        self._last += len(new)
        self.rows = self._room[self._last - n : self._last]


@dataclass
class OnlineState:
    """Where the descent is; ``weights`` and ``trace`` have a row per feature or kept row."""

    function: Any  # ScoreFunction
    learning_rate: str
    eta0: Any  # None until the first batch has been seen
    power_t: float
    meta_rate: float
    budget: int
    n_updates: int = 0
    n_rows: int = 0
    trace: Any = field(default=None)  # derivative of the weights in log eta
    windows: Any = field(default=None)  # kept rows and their weights, while steps are taken

    def step(self, X, examples: CountingExamples, lam: float) -> None:
        """One step on a batch; ``lam`` is the penalty per row."""
        function, root = self.function, examples.root[:, None]
        basis = function.basis(X)
        scores = root * (basis @ function.weights_)
        slope = (examples.curvature(scores) + examples.slope()) * root / len(scores)
        if self.eta0 is None:
            self.eta0 = self._safe_step(X, examples)
        self.n_updates += 1
        eta = self._eta(lam)
        keep = 1.0 - 2.0 * eta * lam
        if self.learning_rate == "meta":
            eta = self._meta_step(basis, examples, slope, lam)
        if function.by_features_:
            function.weights_ = keep * function.weights_ - eta * basis.T @ slope
        else:
            self._append(X, keep, -eta * slope)
        self.n_rows += len(scores)

    def _eta(self, lam):
        if self.learning_rate == "optimal":
            return self.eta0 / (1.0 + 2.0 * lam * self.eta0 * self.n_updates)
        if self.learning_rate == "invscaling":
            return self.eta0 / self.n_updates**self.power_t
        return self.eta0

    def _safe_step(self, X, examples) -> float:
        """Min(sqrt(B), 3)/2 over the largest curvature of any row.

        Below two over it no step overshoots, even where all rows of a batch are the same one; the
        more they differ, the less they add up to.
        """
        if self.function.by_features_:
            squares = np.einsum("ij,ij->i", *[self.function.featured(X)] * 2)
        else:
            rows = range(X.shape[0])
            squares = np.array([self.function.between(X[[i]], X[[i]])[0, 0] for i in rows])
        sizes = np.einsum("ad,ad->a", examples.U, examples.U)
        sizes = np.bincount(examples.row, sizes, minlength=len(squares))
        curvature = examples.covariance.eigenvalues.max() + sizes
        most = (squares * examples.root**2 * curvature).max()
        return 0.5 * min(len(squares) ** 0.5, 3.0) / float(most) if most > 0 else 1.0

    # ------------------------------------------------------------------ expansions
    def _append(self, X, keep, new):
        """Shrunk kernel terms, and those of a batch behind them, within the budget."""
        function = self.function
        if self.windows is None:  # what others hold stays as it is
            rows = None if sparse.issparse(X) else Window(function.X_, self.budget)
            self.windows = rows, Window(function.weights_, self.budget)
        rows, weights = self.windows
        if rows is None:
            stacked = sparse.vstack([function.X_, X]).tocsr() if len(weights.rows) else X
            function.X_ = stacked[max(0, stacked.shape[0] - self.budget) :]
        else:
            rows.append(X)
            function.X_ = rows.rows
        weights.rows *= keep
        weights.append(new)
        function.weights_ = weights.rows
        if self.trace is not None:
            self.trace = self.trace[-len(function.weights_) :]

    # ------------------------------------------------------------------ meta-descent
    def _meta_step(self, basis, examples, slope, lam) -> float:
        """Stochastic meta-descent: the step grows while successive gradients agree.

        With v the derivative of f in log eta, eta <- eta max(1/2, 1 - mu <gradient, v>), and
        v <- c v - eta (gradient + c Hessian v); the penalty's part of the product is left out.
        """
        function, root = self.function, examples.root[:, None]
        trace = np.zeros_like(function.weights_) if self.trace is None else self.trace
        along = basis @ trace
        gain = 1.0 - self.meta_rate * float(np.vdot(slope, along))
        self.eta0 *= min(max(0.5, gain), 2.0)
        bent = examples.curvature(root * along) * root / len(along)
        fresh = -self.eta0 * (slope + FORGET * bent)
        keep = FORGET * (1.0 - 2.0 * self.eta0 * lam)
        old = keep * trace - 2.0 * self.eta0 * lam * function.weights_
        if function.by_features_:
            self.trace = old + basis.T @ fresh
        else:
            self.trace = np.vstack([old, fresh])  # rows are dropped with those of the weights
        return self.eta0
