# SPDX-License-Identifier: BSD-3-Clause
"""Jackknife+: intervals from predictions with single rows left out; no rows are set aside."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skstruct.conformal.sets.intervals import Intervals
from skstruct.tolerances import WHOLE_NUMBER


def jackknife_plus(
    left_out: ArrayLike, truth: ArrayLike, predictions_without: ArrayLike, level: float
) -> Intervals:
    r"""Intervals for new rows from models that were fitted without one training row each.

    With :math:`R_i = |y_i - \hat y_{-i}(x_i)|` and :math:`k = \lfloor \mathrm{level}\,(n + 1)
    \rfloor`, the interval reaches from the k-th smallest :math:`\hat y_{-i}(x) - R_i` to the k-th
    largest :math:`\hat y_{-i}(x) + R_i` [1]_. It holds y with probability at least
    **1 - 2 level** over training and new rows, and with about 1 - level for learners that are
    stable; the first is all that is promised. Without limits where k is 0.

    Parameters
    ----------
    left_out : array of shape (n,)
        For each training row the prediction of the model that was fitted without it.
    truth : array of shape (n,)
    predictions_without : array of shape (n, m)
        Of the model without training row i, at m new rows.
    level : float from 0 to 1

    Returns
    -------
    Intervals
        With arrays of shape (m,).

    References
    ----------
    .. [1] R. Foygel Barber, E. J. Candès, A. Ramdas and R. J. Tibshirani, "Predictive inference
       with the jackknife+", 2021, Theorem 1.

    Examples
    --------
    >>> y = np.array([1.0, 2.0, 4.0])
    >>> means = (y.sum() - y) / 2  # a model that predicts the mean of the others
    >>> jackknife_plus(means, y, means[:, None], 0.5)
    Intervals(lower=array([1.]), upper=array([4.]))
    """
    fitted, y, new = (
        np.asarray(a, dtype=np.float64) for a in (left_out, truth, predictions_without)
    )
    _check(fitted, y, new, level)
    n, residuals = len(y), np.abs(y - fitted)[:, None]
    k = math.floor(level * (n + 1) + WHOLE_NUMBER)
    if k == 0:
        return Intervals(np.full(new.shape[1], -np.inf), np.full(new.shape[1], np.inf))
    k = min(k, n)
    lower = np.sort(new - residuals, axis=0)[k - 1]
    upper = np.sort(new + residuals, axis=0)[n - k]
    return Intervals(lower, upper)


def _check(left_out: Any, truth: Any, new: Any, level: float) -> None:
    if not 0 <= level <= 1:
        raise ValueError(f"jackknife_plus: level is a number from 0 to 1; got {level!r}.")
    if truth.ndim != 1 or left_out.shape != truth.shape or not len(truth):
        raise ValueError(
            "jackknife_plus: left_out and truth have one number per training row; got shapes "
            f"{left_out.shape} and {truth.shape}."
        )
    if new.ndim != 2 or len(new) != len(truth):
        raise ValueError(
            f"jackknife_plus: predictions_without has a row for each of {len(truth)} training "
            f"rows and a column for each new row; got shape {new.shape}."
        )
    for name, numbers in (("left_out", left_out), ("truth", truth), ("predictions_without", new)):
        if not np.isfinite(numbers).all():
            at = np.argwhere(~np.isfinite(numbers))[0].tolist()
            raise ValueError(f"jackknife_plus: {name}{at} is not a finite number.")
