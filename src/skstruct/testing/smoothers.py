# SPDX-License-Identifier: BSD-3-Clause
"""Do smoothers, and ways of solving ridge systems, keep what they promise?"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.utils import get_tags

from skstruct.smoothing import LinearSmoother
from skstruct.tolerances import CHECKED_BATCH, CHECKED_RISK


def check_system(system: Any, *, n: int = 50, shift: float = 0.3, seed: int = 0) -> None:
    """Solutions, leverages and inverse blocks agree with the textbook, with and without border.

    Parameters
    ----------
    system : unfitted ridge system

    Examples
    --------
    >>> from skstruct.smoothing.systems import CholeskySystem
    >>> check_system(CholeskySystem())
    """
    rng = np.random.default_rng(seed)
    X, B = rng.standard_normal((n, 4)), rng.standard_normal((n, 3))
    K = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2))
    for border in (None, np.ones(n), rng.random(n) + 0.1):
        inverse = _inverse(K + shift * np.eye(n), border)
        fitted = clone(system).fit(K.copy(), shift, border=border)
        assert_allclose(fitted.solve(B.copy()), inverse @ B, atol=CHECKED_RISK)
        assert_allclose(fitted.leverages(), 1 - shift * np.diag(inverse), atol=CHECKED_RISK)
        assert_allclose(fitted.residual_shares(), shift * np.diag(inverse), atol=CHECKED_RISK)
        rows = rng.permutation(n)[:7]
        block = shift * inverse[np.ix_(rows, rows)]
        assert_allclose(fitted.residual_block(rows), block, atol=CHECKED_RISK)


def _inverse(M: np.ndarray, border: np.ndarray | None) -> np.ndarray:
    if border is None:
        return np.linalg.inv(M)
    n = len(M)
    bordered = np.zeros((n + 1, n + 1))
    bordered[:n, :n] = M
    bordered[n, :n] = bordered[:n, n] = border
    return np.linalg.inv(bordered)[:n, :n]


def check_smoother(
    smoother: Any,
    X: Any = None,
    targets: np.ndarray | None = None,
    *,
    exact_loo: bool = True,
    seed: int = 0,
) -> None:
    """Compare what a linear smoother declares with what it predicts.

    The smoother is fitted to the first two thirds of the rows and asked about all. Of
    every smoother:

    - ``weights(X) @ targets`` is ``predict(X)``, one row at a time or all at once;
    - ``with_targets`` applies the same weights to other targets and leaves the original be;
    - ``loo`` of a row, or of a group, does not change when its own targets do;
    - targets of shape (n,) give predictions of shape (n,), and ``clone`` works.

    Parameters
    ----------
    smoother : estimator
        Unfitted, with the methods of :class:`skstruct.smoothing.LinearSmoother`; a fixed
        ``random_state`` where it has one.
    X : array or CSR of shape (n, n_features), default=None
        At least six rows; square if the smoother takes precomputed kernels or distances.
        Normal, of shape (30, 3), when None. Rows at tied distances may be told apart by
        their order, which leaving out changes.
    targets : array of shape (n, n_targets), default=None
        Normal, with three columns, when None.
    exact_loo : bool, default=True
        Whether the smoother learns nothing but its weights from X, and those without the
        targets. Then fitting to other targets is ``with_targets``, all columns at once are
        each column by itself, and ``loo`` is fitting without each row, or each group.
    seed : int, default=0
        For the data, the groups and the other targets.

    Raises
    ------
    AssertionError
        At the first promise that is broken, naming it.

    Examples
    --------
    >>> from skstruct.smoothing.local_averages import Neighbors
    >>> check_smoother(Neighbors(n_neighbors=4))
    """
    rng = np.random.default_rng(seed)
    case = _Case.draw(smoother, X, targets, rng)
    model = case.fit(case.targets)
    assert isinstance(model, LinearSmoother), "has weights, with_targets and loo"
    assert repr(clone(model)) == repr(clone(smoother)), "clone keeps the parameters"
    _check_weights(model, case)
    _check_other_targets(model, case, rng)
    _check_one_target(model, case)
    groups = rng.permutation(case.n_fitted) % min(4, case.n_fitted)
    _check_left_out(model, case, None, np.arange(case.n_fitted), rng)
    _check_left_out(model, case, groups, groups, rng)
    if exact_loo:
        _check_refitting(model, case, groups, rng)


@dataclass(frozen=True)
class _Case:
    smoother: Any
    X: Any  # fitted rows first
    targets: np.ndarray  # shape: (n_fitted, n_targets)

    @classmethod
    def draw(
        cls, smoother: Any, X: Any, targets: np.ndarray | None, rng: np.random.Generator
    ) -> "_Case":
        X = rng.standard_normal((30, 3)) if X is None else X
        X = X if hasattr(X, "tocsr") else np.asarray(X)
        n_fitted = X.shape[0] - X.shape[0] // 3
        targets = rng.standard_normal((X.shape[0], 3)) if targets is None else np.asarray(targets)
        return cls(smoother, X, targets.reshape(X.shape[0], -1)[:n_fitted].astype(float))

    @property
    def n_fitted(self) -> int:
        return len(self.targets)

    def fit(self, targets: np.ndarray, rows: np.ndarray | None = None) -> Any:
        rows = np.arange(self.n_fitted) if rows is None else rows
        return clone(self.smoother).fit(self.rows(rows, rows), targets[rows])

    def rows(self, rows: np.ndarray, fitted: np.ndarray | None = None) -> Any:
        """Rows of X to ask a smoother about that was fitted to rows ``fitted``."""
        if not get_tags(self.smoother).input_tags.pairwise:
            return self.X[rows]
        return self.X[rows][:, np.arange(self.n_fitted) if fitted is None else fitted]

    @property
    def all_rows(self) -> Any:
        return self.rows(np.arange(self.X.shape[0]))

    def same(
        self,
        actual: np.ndarray,
        expected: np.ndarray,
        promise: str,
        tolerance: float = CHECKED_RISK,
    ) -> None:
        scale = max(1.0, np.abs(self.targets).max())
        assert_allclose(actual, expected, tolerance, tolerance * scale, err_msg=promise)


def _check_weights(model: Any, case: _Case) -> None:
    X, predicted = case.all_rows, model.predict(case.all_rows)
    W = model.weights(X)
    assert W.shape == (X.shape[0], case.n_fitted), f"weights have shape {W.shape}"
    case.same(W @ case.targets, predicted, "weights(X) @ targets is predict(X)")
    alone = np.vstack([model.predict(X[[i]]) for i in range(X.shape[0])])
    case.same(alone, predicted, "a prediction does not depend on the batch", CHECKED_BATCH)


def _check_other_targets(model: Any, case: _Case, rng: np.random.Generator) -> None:
    X, before = case.all_rows, model.predict(case.all_rows)
    targets = rng.standard_normal((case.n_fitted, 2))
    other = model.with_targets(targets)
    case.same(other.predict(X), model.weights(X) @ targets, "with_targets keeps the weights")
    case.same(model.predict(X), before, "with_targets leaves the original be", 0.0)


def _check_one_target(model: Any, case: _Case) -> None:
    vector = case.fit(case.targets[:, 0])
    assert vector.predict(case.all_rows).shape == (case.X.shape[0],), "targets (n,) predict (n,)"
    assert vector.loo().shape == (case.n_fitted,), "targets (n,) leave out to (n,)"
    assert model.loo().shape == case.targets.shape, "loo has the shape of the targets"


def _check_left_out(
    model: Any, case: _Case, groups: Any, numbers: np.ndarray, rng: np.random.Generator
) -> None:
    left_out = model.loo(groups)
    for number in np.unique(numbers):
        out = numbers == number
        changed = case.targets + out[:, None] * rng.standard_normal(case.targets.shape)
        again = model.with_targets(changed).loo(groups)
        case.same(again[out], left_out[out], f"loo of rows {np.flatnonzero(out)} ignores them")


def _check_refitting(model: Any, case: _Case, groups: Any, rng: np.random.Generator) -> None:
    X, targets = case.all_rows, rng.standard_normal((case.n_fitted, 2))
    other = model.with_targets(targets)
    case.same(other.predict(X), case.fit(targets).predict(X), "with_targets is fitting to them")
    by_column = [case.fit(column).predict(X) for column in targets.T]
    case.same(other.predict(X), np.column_stack(by_column), "targets do not know of each other")
    _check_without(other, case, targets, None, np.arange(case.n_fitted))
    _check_without(other, case, targets, groups, groups)


def _check_without(
    model: Any, case: _Case, targets: np.ndarray, groups: Any, numbers: np.ndarray
) -> None:
    left_out = model.loo(groups)
    for number in np.unique(numbers):
        out, kept = np.flatnonzero(numbers == number), np.flatnonzero(numbers != number)
        refitted = case.fit(targets, kept).predict(case.rows(out, kept))
        case.same(left_out[out], refitted, f"loo of rows {out} is fitting without them")
