# SPDX-License-Identifier: BSD-3-Clause
"""Penalties to try, and the one of least left-out squared error."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from skstruct._arrays.memory import row_blocks

N_ALPHAS = 22


def fit_and_leave_out(
    smoother: Any,
    X: Any,
    targets: np.ndarray,
    sample_weight: Any = None,
    groups: Any = None,
    cv: int = 5,
) -> tuple[Any, np.ndarray]:
    """The fitted smoother, and its left-out means of all rows; of the shape of the targets.

    A penalty that is "auto", or several, is that of least left-out squared error. What has no
    ``loo`` of its own is fitted to folds.
    """
    from skstruct.smoothing.cross_fitting import CrossFitted

    if not hasattr(smoother, "loo"):
        smoother = CrossFitted(smoother, cv)
    given = {} if sample_weight is None else {"sample_weight": sample_weight}
    alpha: Any = getattr(smoother, "alpha", None)
    if isinstance(alpha, str) or np.ndim(alpha) > 0:
        return _with_best_alpha(smoother, alpha, X, targets, sample_weight, groups)
    smoother.fit(X, targets, **given)
    return smoother, smoother.loo(groups)


def _with_best_alpha(
    smoother: Any, alpha: Any, X: Any, targets: np.ndarray, sample_weight: Any, groups: Any
) -> tuple[Any, np.ndarray]:
    open_to_any(smoother).fit(X, targets, sample_weight)
    if hasattr(smoother, "left_out_rows_"):
        smoother.left_out_rows_ = None
    alphas = alpha_grid(alpha, partial(smoother_alphas, smoother))
    best, found = np.inf, (alphas[0], np.empty(0))
    T = targets.reshape(len(targets), -1)
    for value, left in zip(alphas.tolist(), smoother.loo_path(alphas, groups)):
        error = squared_error(left.reshape(T.shape), T, sample_weight)
        if error < best:
            best, found = error, (value, left)
    return smoother.with_alpha(found[0]), found[1]


def open_to_any(smoother: Any) -> Any:
    """The same, to be fitted once for any penalty."""
    inner = smoother.smoother if hasattr(smoother, "smoother") else smoother
    inner.set_params(alpha=np.inf)
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
