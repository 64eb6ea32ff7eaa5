# SPDX-License-Identifier: BSD-3-Clause
"""The ramp between estimated risk and loss, computed by decoding."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.checks import TIE_BITS
from skstruct._arrays.memory import row_blocks
from skstruct._arrays.rows import dense
from skstruct.bounds.certificate import (
    LARGEST,
    WIDTH,
    Certificate,
    check_delta,
    check_not_encoded,
    check_positive,
    largest_of_problem,
)
from skstruct.fitted import Fitted
from skstruct.kernels.inputs import follows_scale
from skstruct.smoothing import KernelRidge, Learning, Weighing
from skstruct.spaces import Solving, Targets
from skstruct.tolerances import STATED_BOUND


def mean_surrogates(
    problem: Any, smoother: KernelRidge, rhos: Any, largest: float, memory: str
) -> np.ndarray:
    r"""Mean over the training rows of the ramp loss, for each rho; shape (len(rhos),).

    .. math:: \min\{L, \max_z\, \ell(z, y) + \tfrac1\rho (\min_{z'} R(z'|x) - R(z|x))\}

    The maximum is one decode, with the costs of :math:`R / \rho` minus those of the true
    output. Where a decoder is not exact its bound is taken: never below the true value.
    """
    total = np.zeros(len(rhos))
    m = len(problem.outputs)
    for rows in row_blocks(m, problem.bytes_per_row(), memory):
        means = fitted_means(problem, smoother, rows)
        for k, ramp in enumerate(ramps(problem, means, rows, rhos)):
            total[k] += ramp.clip(0.0, largest).sum()
    return total / m


def ramps(problem: Any, means: np.ndarray, rows: slice, rhos: Any) -> Iterator[np.ndarray]:
    """For each rho, the ramp of the training rows ``rows`` before it is cut at L."""
    if decided_from_weights(problem):
        yield from _weight_ramps(problem, means, rows, rhos)
        return
    space, loss = problem.space.rows(rows), problem.loss
    g, weight = problem.mean_embedding(means)
    risk, risk_offset = np.asarray(loss.cost(g, weight)), loss.offset(g, weight)
    psi = dense(Targets.of(problem.space).targets(problem.outputs[rows]))
    one = np.ones((len(psi), 1))
    true, true_offset = np.asarray(loss.cost(psi, one)), loss.offset(psi, one)
    least = space.argmin(risk.copy()).values + risk_offset
    for rho in rhos:
        lowest = space.argmin(risk / rho - true).bounds + risk_offset / rho - true_offset
        yield least / rho - lowest


def _weight_ramps(
    problem: Any, weights: np.ndarray, rows: slice, rhos: Any
) -> Iterator[np.ndarray]:
    """The same for losses without an embedding: weight -1 goes to the row's own output."""
    space, loss, outputs = problem.space.rows(rows), problem.loss, problem.outputs
    own = np.arange(len(outputs))[rows]
    least = loss.minimize(weights, outputs, space).values
    for rho in rhos:
        shifted = weights / rho
        shifted[np.arange(len(own)), own] -= 1.0
        yield least / rho - loss.minimize(shifted, outputs, space).bounds


def decided_from_weights(problem: Any) -> Any:
    """Whether the loss has no embedding and brings a decoder of its own."""
    return problem.loss.embedding_on(problem.space) == "weights"


def fitted_means(problem: Any, smoother: KernelRidge, rows: slice) -> Any:
    """What the smoother gives for its own rows: K A = T - alpha A, and no kernel is needed."""
    alpha = float(smoother.alpha)
    if not problem.by_weights:
        targets = smoother.targets_.reshape(len(smoother.targets_), -1)
        return targets[rows] - alpha * smoother.dual_coef_[rows]
    unit = np.eye(len(problem.outputs))[:, rows]
    return (unit - alpha * smoother.system_.solve(unit.copy(order="F"))).T


def rounding_of_risk(problem: Any, t: float) -> Any:
    r"""How far the rounding of costs can move the estimated risk of any output at any x.

    The learner rounds costs to multiples of 2**-30 of their row's scale, and that scale is
    an estimate from bounded targets: at most :math:`\tfrac12 \sqrt t` times their size.
    """
    if decided_from_weights(problem) or not Solving.of(problem.space).discrete:
        return 0.0
    psi, cost = Targets.of(problem.space).targets(problem.outputs), 0.0
    size = float(abs(psi).max())
    for rows in row_blocks(len(problem.outputs), 8 * problem.width, "100MB"):
        block = dense(psi[rows])
        cost = max(cost, float(np.abs(problem.loss.cost(block, np.ones((len(block), 1)))).max()))
    scale = max(cost, problem.unit * max(1.0, size / problem.size))
    return problem.width * max(1.0, size) * 0.5 * np.sqrt(t) * scale * 2.0**-TIE_BITS


# Whether a model is what the stability theorem speaks of.


OTHER_ROWS = "Rows that no model was fitted to bound the risk of any: certify(X_new, y_new)."


def checked_ridge(model: Any, X: Any, y: Any) -> KernelRidge:
    """The kernel ridge regression of a fitted model, if the theorem covers it."""
    fitted = Fitted.of(model)
    smoother, name = fitted.smoother, type(model).__name__
    if smoother is None or fitted.learner is not model or not fitted.estimates_risks:
        raise ValueError(f"stability_bound needs a fitted ConditionalRiskMinimizer; got {name}.")
    if type(smoother) is not KernelRidge or np.ndim(smoother.alpha) > 0:
        raise ValueError(
            "stability_bound covers kernel ridge regression with one alpha for all labels; got "
            f"{type(smoother).__name__}. Leave smoother at None. {OTHER_ROWS}"
        )
    check_not_encoded(model, "stability_bound")
    if smoother.fit_intercept:
        raise ValueError(
            "stability_bound covers kernel ridge regression without intercept; fit the model "
            f"with fit_intercept=False. {OTHER_ROWS}"
        )
    if not np.isfinite(smoother.alpha):
        raise ValueError("stability_bound needs a finite alpha.")
    if (smoother.sample_weight_ != 1.0).any():
        raise ValueError(
            f"stability_bound is about rows of weight one; fit without sample_weight. {OTHER_ROWS}"
        )
    _check_training_rows(model, X, y)
    _check_fixed_outputs(model.problem_)
    return smoother


def _check_training_rows(model: Any, X: Any, y: Any) -> None:
    outputs = model.problem_.outputs
    if X is None or y is None:
        raise ValueError("stability_bound needs the rows that the model was fitted to.")
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if Fitted.of(model).starts is not None:
        raise ValueError(
            "stability_bound is about one row of inputs for each output; this model smooths "
            "the tokens of sequences, which are not independent draws."
        )
    same = n_rows == len(outputs) == len(y)
    if not same or not np.array_equal(
        np.asarray(model.space_.validate(y)), np.asarray(outputs), equal_nan=_may_be_nan(outputs)
    ):
        raise ValueError(
            "stability_bound needs the very rows that the model was fitted to; these differ."
        )


def _may_be_nan(outputs: np.ndarray) -> bool:
    return np.asarray(outputs).dtype.kind == "f"


def _check_fixed_outputs(problem: Any) -> None:
    """Outputs to choose from must not come from the training rows: leaving one out moves them."""
    listed = problem.space
    if getattr(listed, "candidates", True) is None and hasattr(listed, "n_candidates_"):
        name = type(problem.loss).__name__
        raise ValueError(
            f"{name} predicts outputs that were seen in training, so that the set of outputs "
            f"depends on the rows; give them in advance: loss={name}(..., candidates=...)."
        )


def largest_kernel_value(model: Any, X: Any, kappa: float | None) -> float:
    """kappa = sup k(x, x), known or given; what is given must hold on the training rows."""
    if kappa is None:
        if _is_unit(model):
            return 1.0
        kernel = getattr(model, "kernel_", None) or Learning.of(model.smoother_).kernel
        raise ValueError(
            f"stability_bound: the largest k(x, x) of the kernel {kernel!r} is not known; give "
            "kappa, for all inputs that may come."
        )
    kappa = check_positive(kappa, "kappa", "stability_bound")
    seen = _largest_diagonal(model.smoother_, X)
    if seen > kappa * (1 + STATED_BOUND):
        raise ValueError(f"kappa is {kappa:g}, but k(x, x) = {seen:g} for a training row.")
    return kappa


def _is_unit(model: Any) -> bool:
    features = Fitted.of(model).features
    if features is not None:
        return bool(getattr(features, "normalize", False))
    return bool(model.smoother_.kernel_.is_unit)


def _largest_diagonal(smoother: KernelRidge, X: Any, step: int = 64) -> float:
    rows = Weighing.of(smoother).rows
    if rows is None:  # precomputed: X is the matrix itself
        return float((X.diagonal() if sparse.issparse(X) else np.diagonal(np.asarray(X))).max())
    blocks = (rows[start : start + step] for start in range(0, rows.shape[0], step))
    return max(float(np.diagonal(smoother.kernel_(block, block)).max()) for block in blocks)


def ridge_assumptions(model: Any, *, rho_given: bool) -> tuple[str, ...]:
    """What the theorem needs and no computation can see."""
    problem = model.problem_
    lines = [
        "training rows and new rows are independent draws from one distribution",
        "the outputs that may be predicted, the kernel and alpha were fixed before seeing the rows",
    ]
    if model.search_ is not None:
        lines.append(
            f"the {len(model.search_.trials)} models tried were listed without looking at the "
            "outputs; each has its share of delta"
        )
    if rho_given:
        lines.append("rho was chosen before seeing the rows")
    if follows_scale(model):
        lines.append(WIDTH)
    if problem.space.guarantee.kind != "exact" or decided_from_weights(problem):
        lines.append("predictions minimize the estimated risk, as their bounds can confirm")
    if type(problem.loss).__name__ == "Listed":
        lines.append("no output that may come has a larger loss than those listed")
    return tuple(lines)


# A certificate from algorithmic stability, for conditional risk minimization.


RATIO = math.sqrt(2.0)  # between neighbours of the grid of rho


def stability_constant(m: int, alpha: float, kappa: float) -> Any:
    r"""How far one training row can move the estimated risk, times m / L.

    With :math:`t = \kappa / \lambda`, :math:`\lambda = \alpha / m`:
    :math:`\nu = t + \tfrac12 t^{3/2} + \min(t, \tfrac12 \sqrt t)`. The constant printed in
    the paper, :math:`t + t^{3/2}`, is too small where t < 0.295.

    >>> stability_constant(100, alpha=100.0, kappa=1.0)
    2.0
    """
    t = kappa * m / alpha
    return t + 0.5 * t**1.5 + min(t, 0.5 * math.sqrt(t))


def stability_slack(
    m: int, alpha: float, kappa: float, largest: float, rho: float, delta: float
) -> float:
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


def _slack_terms(
    m: int, alpha: float, kappa: float, largest: float, rho: float, delta: float
) -> tuple[float, float]:
    nu = stability_constant(m, alpha, kappa)
    deviation = math.sqrt(math.log(1.0 / delta) / (2.0 * m))
    return 4.0 * largest * nu / (rho * m), largest * (8.0 * nu / rho + 1.0) * deviation


def rho_grid(m: int, alpha: float, kappa: float, delta: float) -> np.ndarray:
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


def stability_bound(
    model: Any,
    X: Any,
    y: Any,
    *,
    delta: float = 0.05,
    rho: float | None = None,
    loss_bound: float | str | None = None,
    kappa: float | None = None,
) -> Certificate:
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
