# SPDX-License-Identifier: BSD-3-Clause
"""Certificates from PAC-Bayes theory, for regression in an output kernel's space."""

import math
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.bounds.certificate import LARGEST, Certificate, check_delta, check_positive
from skstruct.bounds.output_regression import (
    input_bound_of,
    kernel_trials,
    largest_output_loss,
    output_assumptions,
    output_bound_of,
    output_dimension_of,
    squared_error_and_norm,
    training_matrices,
)
from skstruct.fitted import Fitted
from skstruct.tolerances import STATED_BOUND

SOME = 500  # training outputs whose span a given dimension is compared with
SIGMAS = tuple(2.0**power for power in range(-18, 4))  # values of sigma² tried; all in advance


def pac_bayes_value(
    m: int, squared_error: float, squared_norm: float, dimension: int, sigma2: float, delta: float
) -> float:
    r"""Bound on the expected loss of every linear W at once [1]_.

    .. math:: \frac{a e}{e - 1} \Big[1 - \exp\Big(-N \big(2s - \tfrac12 \ln(1 + 4s)\big)
              - \frac{1}{m} \big(2 \textstyle\sum_i |Y_i - W X_i|^2 + \tfrac{1}{2s} |W|^2 +
              \ln \tfrac1\delta\big)\Big)\Big], \quad a = 1 + 4s

    for losses of at most a, inputs of unit norm and s fixed in advance.

    Parameters
    ----------
    m : int
        Number of training rows.
    squared_error : float
        Sum over the training rows of the squared distances from W X to Y.
    squared_norm : float
        Squared Frobenius norm of W.
    dimension : int
        N, the dimension of the outputs' features.
    sigma2 : float
        s, the variance of prior and posterior.
    delta : float
        Probability of failure.

    References
    ----------
    .. [1] S. Giguère, F. Laviolette, M. Marchand, K. Sylla, "Risk bounds and learning
       algorithms for the regression approach to structured output prediction", 2013,
       Theorem 4, corrected: the Gaussian integral (6) has a factor too many, so the noise
       of the prior does not cancel and the bound depends on N.

    Examples
    --------
    >>> round(pac_bayes_value(10_000, 0.0, 2.0, dimension=2, sigma2=0.02, delta=0.05), 4)
    0.0142
    """
    a = 1.0 + 4.0 * sigma2
    noise = dimension * (2.0 * sigma2 - 0.5 * math.log(a))
    fit = (2.0 * squared_error + squared_norm / (2.0 * sigma2) + math.log(1.0 / delta)) / m
    return a * math.e / (math.e - 1.0) * -math.expm1(-noise - fit)


def pac_bayes_bound(
    model: Any,
    X: Any,
    y: Any,
    *,
    delta: float = 0.05,
    sigma2: float | None = None,
    loss_bound: float | None = None,
    output_dimension: float | str | None = None,
) -> Certificate:
    r"""Bound the expected kernel loss of an output kernel regression by PAC-Bayes theory.

    The loss is that of the output kernel, :math:`\tfrac12 |Y(z) - Y(y)|^2`, or any smaller
    one. The theorem of :func:`pac_bayes_value` asks for a loss of at most
    :math:`a = 1 + 4 \sigma^2`: the output kernel is scaled so that its largest loss is just
    that, and the bound scaled back. It holds for all matrices W at once, so the penalty may
    be chosen on the same rows; the input kernel may not.

    Parameters
    ----------
    model : fitted OutputKernelRegressor
        With k(x, x) = 1 for all inputs.
    X, y : the rows the model was fitted to
    delta : float, default=0.05
        Probability that the bound fails.
    sigma2 : float, default=None
        Variance of the prior, chosen in advance; None takes the best of a fixed grid, each
        value with its share of delta.
    loss_bound : float, default=None
        Largest kernel loss; None where the output kernel tells.
    output_dimension : int, default=None
        Dimension of the output kernel's features; None where kernel and space tell.

    Returns
    -------
    Certificate
    """
    delta = check_delta(delta)
    if not Fitted.of(model).unit_inputs:
        raise ValueError(
            "pac_bayes_bound needs k(x, x) = 1 for all inputs; use the rbf or laplacian kernel, "
            "or a normalized one."
        )
    A, K_X, K_Y = training_matrices(model, X, y, "pac_bayes_bound")
    squared_error, squared_norm = squared_error_and_norm(A, K_X, K_Y)
    _check_unit(K_X)
    largest = largest_output_loss(model, loss_bound, "pac_bayes_bound")
    dimension = _dimension(model, output_dimension)
    if output_dimension is not None:
        _check_rank(K_Y, dimension)
    n_trials = kernel_trials(model)
    sigmas = SIGMAS
    if sigma2 is not None:
        sigmas = (check_positive(sigma2, "sigma2", "pac_bayes_bound"),)
    share = delta / (n_trials * len(sigmas))

    scales = [(1.0 + 4.0 * s) / largest for s in sigmas]  # the largest loss becomes 1 + 4s
    values = [
        pac_bayes_value(len(A), c * squared_error, c * squared_norm, dimension, s, share) / c
        for s, c in zip(sigmas, scales)
    ]
    best = int(np.argmin(values))
    s, c, m = sigmas[best], scales[best], len(A)
    terms = {
        "squared error": 2.0 * c * squared_error / m,
        "norm": c * squared_norm / (2.0 * s * m),
        "dimension": dimension * (2.0 * s - 0.5 * math.log(1.0 + 4.0 * s)),
        "confidence": math.log(1.0 / share) / m,
        "factor": largest * math.e / (math.e - 1.0),
        "sigma2": s,
        "variances tried": len(sigmas),
        "kernels tried": n_trials,
        LARGEST: largest,
    }
    terms = {name: float(term) for name, term in terms.items()}
    value = float(values[best])
    lines = ["k(x, x) = 1 for every input, so that none is empty or zero"]
    if sigma2 is not None:
        lines.append("sigma2 was chosen before seeing the rows")
    assumptions = output_assumptions(model, *lines)
    return Certificate(value, terms, value >= largest, delta, assumptions, "pac_bayes")


def _check_unit(K_X: np.ndarray) -> None:
    off = np.flatnonzero(np.abs(np.diagonal(K_X) - 1.0) > STATED_BOUND)
    if len(off):
        raise ValueError(
            f"pac_bayes_bound needs k(x, x) = 1 for all inputs; it is {K_X[off[0], off[0]]:g} for "
            f"training row {off[0]}, which may be empty or zero."
        )


def _check_rank(K_Y: np.ndarray, dimension: int) -> None:
    """Training outputs span no more dimensions than were given."""
    rank = int(np.linalg.matrix_rank(K_Y[:SOME, :SOME], hermitian=True))
    if rank > dimension:
        raise ValueError(
            f"pac_bayes_bound: output_dimension is {dimension}, but training outputs span {rank}."
        )


def _dimension(model: Any, given: float | str | None) -> int:
    dimension = output_dimension_of(model) if given is None else given
    if dimension is None:
        raise ValueError(
            "pac_bayes_bound: the dimension of the features of "
            f"{type(model.output_kernel_).__name__} is not known; give output_dimension."
        )
    number = float(dimension) if isinstance(dimension, Real) else 0.0
    if not number.is_integer() or number < 1:
        raise ValueError(f"output_dimension is a whole number, at least 1; got {given!r}.")
    return int(number)


# A certificate from PAC-Bayes sample compression, for regression in an output kernel's space.


LOWEST, RATIO = 0.125, 2.0**0.125  # scales are LOWEST * RATIO**k, k = 0, 1, ..., over B_X


def compression_slack(m: int, width: float, delta: float) -> float:
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
    """The first scale of a fixed list that is large enough, and its index in the list.

    The theorem is about one scale fixed in advance; the list makes it hold for all, with
    shares delta / ((k + 1)(k + 2)), which add up to delta.

    >>> coefficient_scale(0.1), coefficient_scale(0.13)[1]
    ((0.125, 0), 1)
    """
    k = max(0, math.ceil(math.log(max(needed, LOWEST) / LOWEST, RATIO)))
    while LOWEST * RATIO**k < needed:  # the logarithm was rounded
        k += 1
    return LOWEST * RATIO**k, k


def spread_evenly(A: np.ndarray, K_X: np.ndarray, K_Y: np.ndarray) -> Any:
    """Coefficients of the same W with smaller entries: means over rows that are the same.

    Outputs with the same features may share their coefficients, and so may inputs.
    """
    rows, columns = _same(K_Y), _same(K_X)
    means = rows @ A @ columns.T
    means /= np.outer(rows.sum(axis=1), columns.sum(axis=1))
    return rows.T @ means @ columns


def _same(K: np.ndarray) -> Any:
    """Which rows of a kernel matrix are the same; 0/1 of shape (n_groups, m)."""
    scale = max(float(np.diagonal(K).max()), np.finfo(float).tiny)
    numbers: dict[bytes, int] = {}
    rounded = np.round(K / scale, 14) + 0.0  # no minus zeros
    number = [numbers.setdefault(row.tobytes(), len(numbers)) for row in rounded]
    ones = np.ones(len(number))
    return sparse.csr_array((ones, (number, np.arange(len(number)))))


def compression_bound(
    model: Any,
    X: Any,
    y: Any,
    *,
    delta: float = 0.05,
    input_bound: float | None = None,
    output_bound: float | None = None,
) -> Certificate:
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
