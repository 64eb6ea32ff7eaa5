# SPDX-License-Identifier: BSD-3-Clause
"""Penalties to try, and the one of least left-out squared error."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from skstruct._arrays.memory import row_blocks
from skstruct.smoothing.projections import few_targets

N_ALPHAS = 22


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
    alpha: Any = getattr(smoother, "alpha", None)
    if not (isinstance(alpha, str) or np.ndim(alpha) > 0):
        smoother.fit(X, targets, **given)
        return smoother, left_out_means(smoother, groups, rows)
    path = PenaltyPath(smoother, X, few_targets(targets), sample_weight, groups, rows)
    weight = sample_weight if sample_weight is None or rows is None else sample_weight[rows]
    errors = {a: squared_error(left, path.judged, weight) for a, left in path.means(alpha)}
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

    Where an exact solver would need an eigendecomposition of many rows, landmarks take its place,
    and the penalty that is chosen serves both.

    Parameters
    ----------
    smoother : ridge regression that is not fitted, perhaps of scaled inputs
    X, targets, sample_weight, groups : what it is fitted to
    rows : array of row numbers, default=None
        Which to leave out; all when None.
    """

    def __init__(
        self,
        smoother: Any,
        X: Any,
        targets: np.ndarray,
        sample_weight: Any = None,
        groups: Any = None,
        rows: np.ndarray | None = None,
    ) -> None:
        self.smoother, self.X, self.weight = smoother, X, sample_weight
        self.targets, self.groups, self.rows = targets, groups, rows
        inner = _inner(smoother)
        other = inner.for_penalties(X.shape[0]) if hasattr(inner, "for_penalties") else None
        self.by_itself = other is None
        fitted = clone(smoother) if other is None else _around(smoother, other)
        self.fitted = _open_to_any(fitted).fit(X, targets, sample_weight)
        if hasattr(self.fitted, "left_out_rows_"):
            self.fitted.left_out_rows_ = rows

    @property
    def judged(self) -> np.ndarray:
        """Targets of the rows that are left out; shape (k, q)."""
        T = self.targets.reshape(len(self.targets), -1)
        return T if self.rows is None else T[self.rows]

    def means(self, alpha: Any = "auto") -> Iterator[tuple[float, np.ndarray]]:
        """Pairs of a penalty and left-out means of shape (k, q)."""
        alphas = alpha_grid(alpha, partial(smoother_alphas, self.fitted))
        narrowed = self.rows is not None and not hasattr(self.fitted, "left_out_rows_")
        for value, left in zip(alphas.tolist(), self.fitted.loo_path(alphas, self.groups)):
            chosen = left[self.rows] if narrowed else left
            yield value, chosen.reshape(self.judged.shape)

    def smoother_with(self, alpha: float, targets: np.ndarray | None = None) -> Any:
        """The smoother with a penalty, fitted to its targets or to others."""
        targets = self.targets if targets is None else targets
        if not self.by_itself:
            smoother = clone(self.smoother)
            _inner(smoother).set_params(alpha=alpha)
            return smoother.fit(self.X, targets, self.weight)
        fitted = self.fitted
        if targets is not self.targets:
            fitted = fitted.with_targets(targets)
        return fitted.with_alpha(alpha)


def _inner(smoother: Any) -> Any:
    """The ridge regression itself, where inputs are scaled for it."""
    return smoother.smoother if hasattr(smoother, "smoother") else smoother


def _around(smoother: Any, other: Any) -> Any:
    """Another ridge regression of inputs that are scaled in the same way."""
    if smoother is _inner(smoother):
        return other
    return clone(smoother).set_params(smoother=other)


def _open_to_any(smoother: Any) -> Any:
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
