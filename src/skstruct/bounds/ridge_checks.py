# SPDX-License-Identifier: BSD-3-Clause
"""Whether a model is what the stability theorem speaks of."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skstruct.bounds.certificate import WIDTH, check_positive
from skstruct.bounds.surrogate import decided_from_weights
from skstruct.kernels.inputs import SCALED, UNIT_KERNELS, is_sum
from skstruct.smoothing import KernelRidge

OTHER_ROWS = "Rows that no model was fitted to bound the risk of any: certify(X_new, y_new)."


def checked_ridge(model, X, y) -> KernelRidge:
    """The kernel ridge regression of a fitted model, if the theorem covers it."""
    smoother = getattr(model, "smoother_", None)
    name = type(model).__name__
    if smoother is None or not hasattr(model, "predict_risk"):
        raise ValueError(f"stability_bound needs a fitted ConditionalRiskMinimizer; got {name}.")
    if type(smoother) is not KernelRidge or np.ndim(smoother.alpha) > 0:
        raise ValueError(
            "stability_bound covers kernel ridge regression with one alpha for all labels; got "
            f"{type(smoother).__name__}. Leave smoother and label_kernel at None. {OTHER_ROWS}"
        )
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


def _check_training_rows(model, X, y):
    outputs = model.problem_.outputs
    if X is None or y is None:
        raise ValueError("stability_bound needs the rows that the model was fitted to.")
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if getattr(model, "starts_", None) is not None:
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


def _may_be_nan(outputs) -> bool:
    return np.asarray(outputs).dtype.kind == "f"


def _check_fixed_outputs(problem):
    """Outputs to choose from must not come from the training rows: leaving one out moves them."""
    listed = problem.space
    if getattr(listed, "candidates", True) is None and hasattr(listed, "n_candidates_"):
        name = type(problem.loss).__name__
        raise ValueError(
            f"{name} predicts outputs that were seen in training, so that the set of outputs "
            f"depends on the rows; give them in advance: loss={name}(..., candidates=...)."
        )


def largest_kernel_value(model, X, kappa) -> float:
    """kappa = sup k(x, x), known or given; what is given must hold on the training rows."""
    if kappa is None:
        if _is_unit(model):
            return 1.0
        kernel = getattr(model, "kernel_", None) or model.smoother_.kernel
        raise ValueError(
            f"stability_bound: the largest k(x, x) of the kernel {kernel!r} is not known; give "
            "kappa, for all inputs that may come."
        )
    kappa = check_positive(kappa, "kappa", "stability_bound")
    seen = _largest_diagonal(model.smoother_, X)
    if seen > kappa * (1 + 1e-9):
        raise ValueError(f"kappa is {kappa:g}, but k(x, x) = {seen:g} for a training row.")
    return kappa


def _is_unit(model) -> bool:
    features = getattr(model, "features_", None)
    if features is not None:
        return bool(getattr(features, "normalize", False))
    kernel = model.smoother_.kernel
    if is_sum(kernel):
        return all(name.strip() in UNIT_KERNELS for name in kernel.split("+"))
    return kernel in UNIT_KERNELS if isinstance(kernel, str) else False


def _largest_diagonal(smoother, X, step: int = 64) -> float:
    rows = smoother.X_fit_
    if rows is None:  # precomputed: X is the matrix itself
        return float((X.diagonal() if sparse.issparse(X) else np.diagonal(np.asarray(X))).max())
    blocks = (rows[start : start + step] for start in range(0, rows.shape[0], step))
    return max(float(np.diagonal(smoother.kernel_(block, block)).max()) for block in blocks)


def ridge_assumptions(model, *, rho_given: bool) -> tuple[str, ...]:
    """What the theorem needs and no computation can see."""
    problem, smoother = model.problem_, model.smoother_
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
    kernel, gamma = smoother.kernel, smoother.gamma
    names = kernel.split("+") if isinstance(kernel, str) else []
    if any(name.strip() in SCALED for name in names) and (
        gamma is None or isinstance(getattr(model, "gamma", None), str)
    ):
        lines.append(WIDTH)
    if problem.space.guarantee.kind != "exact" or decided_from_weights(problem):
        lines.append("predictions minimize the estimated risk, as their bounds can confirm")
    if type(problem.loss).__name__ == "Listed":
        lines.append("no output that may come has a larger loss than those listed")
    return tuple(lines)
