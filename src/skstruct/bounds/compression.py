# SPDX-License-Identifier: BSD-3-Clause
"""A certificate from PAC-Bayes sample compression, for regression in an output kernel's space."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from skstruct.bounds.certificate import LARGEST, Certificate, check_delta
from skstruct.bounds.output_regression import (
    input_bound_of,
    kernel_trials,
    output_assumptions,
    output_bound_of,
    squared_error_and_norm,
    training_matrices,
)

LOWEST, RATIO = 0.125, 2.0**0.125  # scales are LOWEST * RATIO**k, k = 0, 1, ..., over B_X


def compression_slack(m, width, delta) -> float:
    r"""How far the expected squared error may exceed its mean on the training rows [1]_.

    .. math:: (b - a) \sqrt{\frac{20 + \ln(8 \sqrt m / \delta)}{2 (m - 4)}}, \quad m \ge 8

    Parameters
    ----------
    m : int
        Number of training rows.
    width : float
        b - a, the range of the pairwise losses.
    delta : float
        Probability of failure.

    References
    ----------
    .. [1] S. Giguère, F. Laviolette, M. Marchand, K. Sylla, "Risk bounds and learning
       algorithms for the regression approach to structured output prediction", 2013,
       Theorem 5, corrected: the range belongs outside the root, the rest inside.

    Examples
    --------
    >>> round(compression_slack(1000, 8.0, 0.05), 4)
    0.9574
    """
    if m < 8:
        raise ValueError(f"The compression bound needs at least 8 rows; got {m}.")
    return width * math.sqrt((20.0 + math.log(8.0 * math.sqrt(m) / delta)) / (2.0 * (m - 4)))


def coefficient_scale(needed: float) -> tuple[float, int]:
    """The first scale of a fixed list that is large enough, and its place in the list.

    The theorem is about one scale fixed in advance; the list makes it hold for all, with
    shares delta / ((k + 1)(k + 2)), which add up to delta.

    >>> coefficient_scale(0.1), coefficient_scale(0.13)[1]
    ((0.125, 0), 1)
    """
    k = max(0, math.ceil(math.log(max(needed, LOWEST) / LOWEST, RATIO)))
    while LOWEST * RATIO**k < needed:  # the logarithm was rounded
        k += 1
    return LOWEST * RATIO**k, k


def spread_evenly(A, K_X, K_Y) -> np.ndarray:
    """Coefficients of the same W with smaller entries: means over rows that are the same.

    Outputs with the same features may share their coefficients, and so may inputs.
    """
    rows, columns = _same(K_Y), _same(K_X)
    means = rows @ A @ columns.T
    means /= np.outer(rows.sum(axis=1), columns.sum(axis=1))
    return rows.T @ means @ columns


def _same(K):
    """Which rows of a kernel matrix are the same; 0/1 of shape (n_groups, m)."""
    scale = max(float(np.diagonal(K).max()), np.finfo(float).tiny)
    numbers: dict[bytes, int] = {}
    rounded = np.round(K / scale, 14) + 0.0  # no minus zeros
    number = [numbers.setdefault(row.tobytes(), len(numbers)) for row in rounded]
    ones = np.ones(len(number))
    return sparse.csr_array((ones, (number, np.arange(len(number)))))


def compression_bound(model, X, y, *, delta=0.05, input_bound=None, output_bound=None):
    r"""Bound the expected kernel loss of an output kernel regression by sample compression.

    .. math:: E\,\ell \le 2 E |Y - WX|^2, \quad E |Y - WX|^2 \le \frac1m \sum_i |Y_i - W X_i|^2
              + (b - a) \sqrt{\frac{20 + \ln(8 \sqrt m / \delta)}{2 (m - 4)}}

    with :math:`b - a = 2 B_Y (1 + c B_X)^2` and :math:`c = m^2 \max |A_{ij}|`, rounded up to
    a list of scales fixed in advance, each with its share of delta. Equal outputs and equal
    inputs first share their coefficients, which leaves W as it is. No dimension enters, but c
    is large unless W is spread evenly over all pairs of rows: for typical models the bound is
    vacuous.

    Parameters
    ----------
    model : fitted OutputKernelRegressor
    X, y : the rows the model was fitted to
    delta : float, default=0.05
        Probability that the bound fails.
    input_bound, output_bound : float, default=None
        :math:`B_X` and :math:`B_Y`, the largest k(x, x) and k(y, y) there can be; None where
        the kernels tell.

    Returns
    -------
    Certificate
    """
    delta = check_delta(delta)
    A, K_X, K_Y = training_matrices(model, X, y, "compression_bound")
    m = len(A)
    B_X, B_Y = input_bound_of(model, input_bound, K_X), output_bound_of(model, output_bound, K_Y)
    squared_error, _ = squared_error_and_norm(A, K_X, K_Y)
    n_trials = kernel_trials(model)
    A = spread_evenly(A, K_X, K_Y)
    scale, k = coefficient_scale(B_X * m**2 * float(abs(A).max()))
    share = delta / (n_trials * (k + 1) * (k + 2))
    width = 2.0 * B_Y * (1.0 + scale) ** 2
    slack = compression_slack(m, width, share)
    largest = model.output_kernel_.largest_loss()
    largest = 2.0 * B_Y if largest is None else float(largest)  # |Y - Y'|² / 2 <= 2 B_Y
    value = 2.0 * (squared_error / m + slack)
    terms = {
        "twice the mean squared error": 2.0 * squared_error / m,
        "twice the slack": 2.0 * slack,
        "range of pairwise losses": width,
        "scale of the coefficients": scale / B_X,
        "kernels tried": float(n_trials),
        LARGEST: largest,
    }
    assumptions = output_assumptions(model)
    return Certificate(value, terms, value >= largest, delta, assumptions, "compression")
