# SPDX-License-Identifier: BSD-3-Clause
"""Structured ridge regression by functional gradients, batch by batch.

For the batch at hand, with f the scores now and l its mean loss,

    f <- (1 - 2 eta lam/n) f - eta * sum over the batch of l'(f(x_i)) k(x_i, .),

so that every batch adds one term per row to an expansion in a kernel. The penalty shrinks old
terms, and the oldest are dropped beyond a budget. Features need neither.
"""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from skstruct._arrays.checks import is_count, is_number
from skstruct.learners.counting_ridge.objective import CountingExamples
from skstruct.saving import savable

RATES = ("optimal", "invscaling", "constant", "meta")
LONGEST = 1.9  # times one over the curvature: steps of no given size are not longer
FORGET = 0.99  # share of the past that the trace of meta-descent keeps


class Window:
    """The last rows of a table that grows; a copy, with room for further rows.

    >>> window = Window(np.zeros((0, 1)), most=2)
    >>> window.append(np.array([[1.0], [2.0], [3.0]]))
    >>> window.append(np.array([[4.0]]))
    >>> window.rows.ravel().tolist()
    [3.0, 4.0]
    """

    def __init__(self, rows: np.ndarray, most: int) -> None:
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


@savable
class StochasticGradient(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""How :meth:`CountingRidge.partial_fit <skstruct.CountingRidge.partial_fit>` steps.

    Parameters
    ----------
    learning_rate : "optimal", "invscaling", "constant" or "meta", default="optimal"
        Steps after t batches: :math:`\eta_0 / (1 + 2 \alpha \eta_0 t / n)`,
        :math:`\eta_0 / t^{power\_t}`, :math:`\eta_0`, or adapted by stochastic meta-descent.
    eta0 : float, default=None
        First step; None takes a safe one from the curvature of the first batch.
    power_t, meta_rate : float
        Of the rates ``"invscaling"`` and ``"meta"``.
    batch_size : int, default=4
        Rows of a step.
    budget : int, default=1000
        Kernel terms that are kept; the oldest are dropped.
    n_total : int, default=None
        Rows that share the penalty; those seen so far when None.

    Examples
    --------
    >>> from skstruct import CountingRidge
    >>> X, y = [[0.0], [1.0]] * 20, [["a"], ["b"]] * 20
    >>> model = CountingRidge(alpha=0.1).partial_fit(X, y, steps=StochasticGradient(batch_size=1))
    >>> [sorted(labels) for labels in model.predict([[0.0], [1.0]])]
    [['a'], ['b']]
    """

    def __init__(
        self,
        learning_rate: str = "optimal",
        *,
        eta0: float | None = None,
        power_t: float = 0.5,
        meta_rate: float = 0.1,
        batch_size: int = 4,
        budget: int = 1000,
        n_total: int | None = None,
    ) -> None:
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.power_t = power_t
        self.meta_rate = meta_rate
        self.batch_size = batch_size
        self.budget = budget
        self.n_total = n_total

    def checked(self) -> Self:
        """The same, once all parameters make sense."""
        if self.learning_rate not in RATES:
            raise ValueError(
                f"learning_rate is one of {', '.join(RATES)}; got {self.learning_rate!r}."
            )
        for name in ("batch_size", "budget", "n_total"):
            value = getattr(self, name)
            if not is_count(value) and not (name == "n_total" and value is None):
                raise ValueError(f"{name} is a whole number from 1; got {value!r}.")
        for name in ("eta0", "power_t", "meta_rate"):
            value = getattr(self, name)
            if name == "eta0" and value is None:
                continue
            if not (is_number(value) and 0 <= value < np.inf) or (name == "eta0" and value == 0):
                raise ValueError(f"{name} is a number that is not negative; got {value!r}.")
        return self


@savable
@dataclass
class OnlineState:
    """Where the descent is; ``weights`` and ``trace`` have a row per feature or kept row."""

    function: Any = None  # ScoreFunction
    steps: Any = None  # StochasticGradient
    eta0: Any = None  # None until the first batch that counts has been seen
    given: Any = None  # eta0 as the user gave it
    n_updates: int = 0
    n_rows: int = 0
    trace: Any = field(default=None)  # derivative of the weights in log eta
    windows: Any = field(default=None)  # kept rows and their weights, while steps are taken

    def step(self, X: Any, examples: CountingExamples, lam: float) -> None:
        """One step on a batch; ``lam`` is the penalty per row."""
        self.n_rows += len(examples.counts)
        if not examples.weight.any():
            return
        function, root = self.function, examples.root[:, None]
        basis = function.basis(X)
        scores = root * (basis @ function.weights_)
        # A batch that is short counts for as much less.
        slope = (examples.curvature(scores) + examples.slope()) * root / self.steps.batch_size
        part = lam * len(scores) / self.steps.batch_size
        most = np.inf
        if self.given is None:
            most = LONGEST / (self._curvature(X, examples) + 2.0 * lam)
            # The more the rows of a batch differ, the less they add up to.
            first = 0.25 * min(self.steps.batch_size**0.5, 3.0) * most
            self.eta0 = first if self.eta0 is None else self.eta0
        self.n_updates += 1
        if self.steps.learning_rate == "meta":
            self._meta_step(basis, examples, slope, part, most)
        eta = min(self._eta(lam), most)
        keep = 1.0 - 2.0 * eta * part
        if function.by_features_:
            function.weights_ = keep * function.weights_ - eta * basis.T @ slope
        else:
            self._append(X, keep, -eta * slope)

    def _eta(self, lam: float) -> Any:
        if self.steps.learning_rate == "optimal":
            return self.eta0 / (1.0 + 2.0 * lam * self.eta0 * self.n_updates)
        if self.steps.learning_rate == "invscaling":
            return self.eta0 / self.n_updates**self.steps.power_t
        return self.eta0

    def _curvature(self, X: Any, examples: CountingExamples) -> float:
        """The largest curvature of the loss of any row; positive.

        Steps below two over it do not overshoot, even where all rows of a batch are the same one.
        """
        if self.function.by_features_:
            squares = np.einsum("ij,ij->i", *[self.function.featured(X)] * 2)
        else:
            squares = self.function.between(X, X).diagonal()
        sizes = np.einsum("ad,ad->a", examples.U, examples.U)
        sizes = np.bincount(examples.row, sizes, minlength=len(squares))
        curvature = examples.covariance.eigenvalues.max() + sizes
        most = float((squares * examples.root**2 * curvature).max())
        return most if most > 0 else LONGEST

    # ------------------------------------------------------------------ expansions
    def _append(self, X: Any, keep: float, new: np.ndarray) -> None:
        """Shrunk kernel terms, and those of a batch behind them, within the budget."""
        function = self.function
        if self.windows is None:  # what others hold stays as it is
            rows = None if sparse.issparse(X) else Window(function.X_, self.steps.budget)
            self.windows = rows, Window(function.weights_, self.steps.budget)
        rows, weights = self.windows
        if rows is None:
            stacked = sparse.vstack([function.X_, X]).tocsr() if len(weights.rows) else X
            function.X_ = stacked[max(0, stacked.shape[0] - self.steps.budget) :]
        else:
            rows.append(X)
            function.X_ = rows.rows
        weights.rows *= keep
        weights.append(new)
        function.weights_ = weights.rows
        if self.trace is not None:
            self.trace = self.trace[-len(function.weights_) :]

    # ------------------------------------------------------------------ meta-descent
    def _meta_step(
        self,
        basis: np.ndarray,
        examples: CountingExamples,
        slope: np.ndarray,
        lam: float,
        most: float,
    ) -> None:
        """Stochastic meta-descent: the step grows while successive gradients agree.

        With v the derivative of f in log eta, eta <- eta max(1/2, 1 - mu <gradient, v>), and
        v <- c v - eta (gradient + c Hessian v); the penalty's part of the product is left out.
        """
        function, root = self.function, examples.root[:, None]
        trace = np.zeros_like(function.weights_) if self.trace is None else self.trace
        along = basis @ trace
        gain = 1.0 - self.steps.meta_rate * float(np.vdot(slope, along))
        self.eta0 = min(self.eta0 * min(max(0.5, gain), 2.0), most)
        bent = examples.curvature(root * along) * root / self.steps.batch_size
        fresh = -self.eta0 * (slope + FORGET * bent)
        keep = FORGET * (1.0 - 2.0 * self.eta0 * lam)
        old = keep * trace - 2.0 * self.eta0 * lam * function.weights_
        if function.by_features_:
            self.trace = old + basis.T @ fresh
        else:
            self.trace = np.vstack([old, fresh])  # rows are dropped with those of the weights
