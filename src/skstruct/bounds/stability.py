# SPDX-License-Identifier: BSD-3-Clause
"""A certificate from algorithmic stability, for conditional risk minimization."""

from __future__ import annotations

import math

import numpy as np

from skstruct.bounds.certificate import LARGEST, Certificate, check_delta, check_positive
from skstruct.bounds.largest import largest_of_problem
from skstruct.bounds.ridge_checks import checked_ridge, largest_kernel_value, ridge_assumptions
from skstruct.bounds.surrogate import mean_surrogates, rounding_of_risk

RATIO = math.sqrt(2.0)  # between neighbours of the grid of rho


def stability_constant(m: int, alpha: float, kappa: float) -> float:
    r"""How far one training row can move the estimated risk, times m / L.

    With :math:`t = \kappa / \lambda`, :math:`\lambda = \alpha / m`:
    :math:`\nu = t + \tfrac12 t^{3/2} + \min(t, \tfrac12 \sqrt t)`. The constant printed in
    the paper, :math:`t + t^{3/2}`, is too small where t < 0.295.

    >>> stability_constant(100, alpha=100.0, kappa=1.0)
    2.0
    """
    t = kappa * m / alpha
    return t + 0.5 * t**1.5 + min(t, 0.5 * math.sqrt(t))


def stability_slack(m, alpha, kappa, largest, rho, delta) -> float:
    r"""What is added to the mean ramp loss on the training rows.

    .. math:: \frac{4 L \nu}{\rho m} + L \Big(\frac{8 \nu}{\rho} + 1\Big)
              \sqrt{\frac{\ln(1/\delta)}{2m}}

    Parameters
    ----------
    m : int
        Number of training rows.
    alpha : float
        Ridge penalty, K + alpha I.
    kappa : float
        Largest k(x, x).
    largest : float
        L, the largest loss.
    rho : float
        Slope of the ramp, fixed in advance.
    delta : float
        Probability of failure.

    Examples
    --------
    >>> round(stability_slack(10_000, 1e4, 1.0, largest=1.0, rho=1.0, delta=0.05), 4)
    0.2089
    """
    return sum(_slack_terms(m, alpha, kappa, largest, rho, delta))


def _slack_terms(m, alpha, kappa, largest, rho, delta) -> tuple[float, float]:
    nu = stability_constant(m, alpha, kappa)
    deviation = math.sqrt(math.log(1.0 / delta) / (2.0 * m))
    return 4.0 * largest * nu / (rho * m), largest * (8.0 * nu / rho + 1.0) * deviation


def rho_grid(m, alpha, kappa, delta) -> np.ndarray:
    r"""Slopes worth trying, known before any data are seen.

    Below :math:`8 \nu \sqrt{\ln(1/\delta) / 2m}` the slack alone exceeds the largest loss;
    above :math:`\min(2t, \sqrt t)`, in which all estimated risks lie (divided by L), the
    ramp hardly tells outputs apart.
    """
    t = kappa * m / alpha
    low = 8.0 * stability_constant(m, alpha, kappa) * math.sqrt(math.log(1.0 / delta) / (2.0 * m))
    high = min(2.0 * t, math.sqrt(t))
    steps = max(0, math.ceil(math.log(high / low, RATIO)) - 1)
    return high * RATIO ** -np.arange(steps + 1.0)


def stability_bound(model, X, y, *, delta=0.05, rho=None, loss_bound=None, kappa=None):
    r"""Bound the expected loss of a conditional risk minimizer by its stability [1]_.

    .. math:: E\,\ell(\hat z(X), Y) \le \frac1m \sum_i L^\rho(x_i, y_i) +
              \frac{4 L \nu}{\rho m} + L \Big(\frac{8\nu}{\rho} + 1\Big)
              \sqrt{\frac{\ln(1/\delta)}{2m}}

    with the ramp loss :math:`L^\rho(x, y) = \min\{L, \max_z \ell(z, y) + (\min_{z'} R(z'|x)
    - R(z|x)) / \rho\}`, found by decoding. It never lies below the loss of the prediction,
    and grows with rho; the slack falls with it. Nothing is assumed of the distribution, so
    the bound needs many rows (thousands) and a penalty of their order to say something.

    Parameters
    ----------
    model : fitted ConditionalRiskMinimizer
        Kernel ridge regression with ``fit_intercept=False`` and no label kernel.
    X, y : the rows the model was fitted to
    delta : float, default=0.05
        Probability that the bound fails.
    rho : float, default=None
        Slope of the ramp, chosen before seeing the data; None takes the best of a fixed
        grid and pays for it, each with its share of delta. If alpha or the kernel was
        searched, every trial has its share too.
    loss_bound : float, default=None
        Largest loss; None where the loss and the space tell.
    kappa : float, default=None
        Largest k(x, x); None where the kernel tells (1 for rbf, laplacian, cosine and
        normalized string kernels).

    Returns
    -------
    Certificate

    References
    ----------
    .. [1] C. Y. Goh and P. Jaillet, "Structured prediction by conditional risk
       minimization", Theorem 4.2, with a larger constant: the lemma it rests on fails
       as printed where kappa / lambda is small.

    Examples
    --------
    >>> from skstruct import ConditionalRiskMinimizer
    >>> from skstruct.spaces import Classes
    >>> X, y = [[-1.0], [1.0]] * 500, ["left", "right"] * 500
    >>> model = ConditionalRiskMinimizer(Classes(["left", "right"]), kernel="cosine", alpha=1e5,
    ...     fit_intercept=False).fit(X, y)
    >>> certificate = stability_bound(model, X, y, rho=0.01)
    >>> round(certificate.value, 2), certificate.vacuous
    (0.69, False)
    """
    delta = check_delta(delta)
    smoother, problem = checked_ridge(model, X, y), model.problem_
    m, alpha = len(problem.outputs), float(smoother.alpha)
    kappa = largest_kernel_value(model, X, kappa)
    largest = largest_of_problem(problem, loss_bound, "stability_bound")
    n_trials = 1 if model.search_ is None else len(model.search_.trials)
    if rho is None:
        rhos = rho_grid(m, alpha, kappa, delta / n_trials)
    else:
        rhos = np.array([check_positive(rho, "rho", "stability_bound")])
    share = delta / (n_trials * len(rhos))

    surrogates = mean_surrogates(problem, smoother, rhos, largest, model.memory)
    slacks = np.array([_slack_terms(m, alpha, kappa, largest, r, share) for r in rhos])
    rounding = 2.0 * rounding_of_risk(problem, kappa * m / alpha) / rhos
    values = surrogates + slacks.sum(axis=1) + rounding
    best = int(values.argmin())
    terms = {
        "mean ramp loss": surrogates[best],
        "stability": slacks[best, 0],
        "deviation": slacks[best, 1],
        "rounding": rounding[best],
        "rho": rhos[best],
        "slopes tried": len(rhos),
        "models tried": n_trials,
        "nu": stability_constant(m, alpha, kappa),
        LARGEST: largest,
    }
    value = float(values[best])
    terms = {name: float(term) for name, term in terms.items()}
    assumptions = ridge_assumptions(model, rho_given=rho is not None)
    return Certificate(value, terms, value >= largest, delta, assumptions, "stability")
