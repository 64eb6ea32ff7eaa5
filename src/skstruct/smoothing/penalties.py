# SPDX-License-Identifier: BSD-3-Clause
"""Penalties to try, and the one of least left-out squared error."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from skstruct._arrays.memory import row_blocks
from skstruct.smoothing.folds import rank_by_content
from skstruct.smoothing.projections import few_targets

N_ALPHAS = 22
SOME_ROWS = 2500  # that penalties are compared on, where all are too many


def fit_and_leave_out(
    smoother: Any,
    X: Any,
    targets: np.ndarray,
    sample_weight: Any = None,
    groups: Any = None,
    cv: int = 5,
    rows: np.ndarray | None = None,
) -> tuple[Any, np.ndarray]:
    """The fitted smoother, and left-out means; of the shape of the targets, or of those of rows.

    A penalty that is "auto", or several, is that of least left-out squared error. What has no
    ``loo`` of its own is fitted to folds.

    Parameters
    ----------
    rows : array of row numbers, default=None
        Which to leave out; all when None. Groups are in it as a whole, or not at all.
    """
    from skstruct.smoothing.cross_fitting import CrossFitted

    if not hasattr(smoother, "loo"):
        smoother = CrossFitted(smoother, cv)
    given = {} if sample_weight is None else {"sample_weight": sample_weight}
    if groups is not None and has_fit_parameter(smoother, "groups"):
        given["groups"] = groups  # what is out of bag is out by groups
    alpha: Any = getattr(smoother, "alpha", None)
    if not (isinstance(alpha, str) or np.ndim(alpha) > 0):
        smoother.fit(X, targets, **given)
        return smoother, left_out_means(smoother, groups, rows)
    path = PenaltyPath(smoother, X, few_targets(targets), sample_weight, groups, rows)
    errors = {a: squared_error(left, path.judged, path.weights) for a, left in path.means(alpha)}
    smoother = path.smoother_with(min(errors, key=errors.__getitem__), targets)
    return smoother, left_out_means(smoother, groups, rows)


def left_out_means(smoother: Any, groups: Any = None, rows: np.ndarray | None = None) -> Any:
    """``loo`` of a smoother for all rows, or for some."""
    if rows is None:
        return smoother.loo(groups)
    if hasattr(smoother, "loo_rows"):
        return smoother.loo_rows(rows, groups)
    return smoother.loo(groups)[rows]


class PenaltyPath:
    """Left-out means of a ridge regression for one penalty after another, from one fit.

    Where an eigendecomposition of all rows would take too long, penalties are compared on some of
    them: the best one changes little with the number of rows. (With landmarks, which smooth by
    themselves, it would: on IMCLEF07A .3 in place of .1, which is best for all 10,000 rows and
    for 2,500 of them.)

    Parameters
    ----------
    smoother : ridge regression that is not fitted, perhaps of scaled inputs
    X, targets, sample_weight, groups : what it is fitted to
    rows : array of row numbers, default=None
        Which to leave out; all when None.
    fitted : the smoother fitted to other targets, default=None
        Saves a fit, where it can take these.
    """

    def __init__(
        self,
        smoother: Any,
        X: Any,
        targets: np.ndarray,
        sample_weight: Any = None,
        groups: Any = None,
        rows: np.ndarray | None = None,
        fitted: Any = None,
    ) -> None:
        self.smoother, self.X, self.weight = smoother, X, sample_weight
        self.targets, self.groups, self.rows = targets, groups, rows
        self.whole = X.shape[0] <= getattr(_inner(smoother), "most_path_rows", np.inf)
        if not self.whole and rows is None:
            key = rank_by_content(X, targets)
            self.rows = np.flatnonzero(key % max(1, round(X.shape[0] / SOME_ROWS)) == 0)
        if fitted is not None and self.whole:
            self.fitted = fitted.with_targets(targets)
        else:
            given = [X, targets, sample_weight]
            seen = given if self.whole else [self._of_rows(values) for values in given]
            self.fitted = open_to_any(clone(smoother)).fit(*seen)
        if self.whole and hasattr(self.fitted, "left_out_rows_"):
            self.fitted.left_out_rows_ = rows

    def _of_rows(self, values: Any) -> Any:
        return values if values is None or self.rows is None else values[self.rows]

    @property
    def judged(self) -> np.ndarray:
        """Targets of the rows that are left out; shape (k, q)."""
        found: np.ndarray = self._of_rows(self.targets.reshape(len(self.targets), -1))
        return found

    @property
    def weights(self) -> Any:
        """Of the rows that are left out; None for none."""
        return self._of_rows(self.weight)

    def decades(self) -> np.ndarray:
        """Some of the penalties: about one for each power of ten."""
        return smoother_alphas(self.fitted)[::3]

    def means(self, alpha: Any = "auto") -> Iterator[tuple[float, np.ndarray]]:
        """Pairs of a penalty and left-out means of shape (k, q)."""
        alphas = alpha_grid(alpha, partial(smoother_alphas, self.fitted))
        all_left_out = self.whole and not hasattr(self.fitted, "left_out_rows_")
        groups = self.groups if self.whole else self._of_rows(self.groups)
        for value, left in zip(alphas.tolist(), self.fitted.loo_path(alphas, groups)):
            kept = self._of_rows(left) if all_left_out else left
            yield value, kept.reshape(self.judged.shape)

    def smoother_with(self, alpha: float, targets: np.ndarray | None = None) -> Any:
        """The smoother with a penalty, fitted to its targets or to others."""
        targets = self.targets if targets is None else targets
        if not self.whole:
            smoother = clone(self.smoother)
            _inner(smoother).set_params(alpha=alpha, solver="cholesky")
            return smoother.fit(self.X, targets, self.weight)
        fitted = self.fitted
        if targets is not self.targets:
            fitted = fitted.with_targets(targets)
        return fitted.with_alpha(alpha)


def _inner(smoother: Any) -> Any:
    """The ridge regression itself, where inputs are scaled for it."""
    return smoother.smoother if hasattr(smoother, "smoother") else smoother


def open_to_any(smoother: Any) -> Any:
    """The same, to be fitted once for any penalty."""
    inner = _inner(smoother).set_params(alpha=np.inf)
    if "solver" in inner.get_params(deep=False):
        inner.set_params(solver="spectral")
    return smoother


def alpha_grid(alpha: Any, automatic: Callable[..., Any]) -> Any:
    """The penalties to try, largest first: those given, or ``automatic()`` for "auto"."""
    if isinstance(alpha, str) and alpha == "auto":
        return automatic()
    if np.asarray(alpha).dtype.kind not in "fiu":
        raise ValueError(f'alpha is a positive number, several, or "auto"; got {alpha!r}.')
    alphas = np.unique(np.asarray(alpha, dtype=np.float64))[::-1]
    if not len(alphas) or not (np.isfinite(alphas) & (alphas > 0)).all():
        raise ValueError(f"alpha must be positive; got {alpha!r}.")
    return alphas


def smoother_alphas(smoother: Any) -> np.ndarray:
    """Penalties from near the mean to near interpolation, largest first."""
    top, bound = smoother.penalty_range()
    alphas = (top if top > 0 else 1.0) * np.logspace(0, -7, N_ALPHAS)
    costly = getattr(smoother, "path_is_costly", False)
    allowed = alphas[alphas > bound][:: 2 if costly else 1]
    return allowed if len(allowed) else alphas[:1]


def squared_error(left: np.ndarray, targets: np.ndarray, sample_weight: Any = None) -> float:
    """Mean squared distance of left-out means from their targets."""
    errors = np.empty(len(left))
    for rows in row_blocks(len(left), 8 * targets.shape[1], "50MB"):
        wrong = left[rows] - targets[rows]
        errors[rows] = np.einsum("ij,ij->i", wrong, wrong)
    return float(np.average(errors, weights=sample_weight))
