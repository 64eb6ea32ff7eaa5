# SPDX-License-Identifier: BSD-3-Clause
"""Maximum a posteriori by L-BFGS, where gradients are exact."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from skstruct._arrays.progress import ticker
from skstruct.learners.checkpoints.levels import NOWHERE
from skstruct.learners.exponential.replay import Replayed


@dataclass(frozen=True, eq=False)
class Solution:
    """Weights, and how good they are known to be."""

    theta: np.ndarray
    objective: float  # NaN where it is not known
    gradient_norm: float  # largest entry
    n_iter: int
    converged: bool


def lbfgs(
    model, theta, *, tol: float, max_iter: int, verbose: int = 0, level=NOWHERE, room: int = 2**30
) -> Solution:
    """Minimise a model's convex objective until no entry of the gradient exceeds ``tol``.

    Where a fit is saved, ``room`` is for how many bytes of gradients.
    """
    if not len(theta):  # a kernel of zeros has no features
        return Solution(theta, float(model.value_and_gradient(theta)[0]), 0.0, 0, True)
    evaluate = model.value_and_gradient
    with ticker(max_iter, "L-BFGS", verbose) as tick:
        found = minimize(
            evaluate if level is NOWHERE else Replayed(evaluate, level, room),
            theta,
            jac=True,
            method="L-BFGS-B",
            callback=tick,
            options={
                "maxiter": max_iter, "maxfun": 10 * max_iter, "gtol": tol, "maxls": 50,
                "ftol": 64 * np.finfo(float).eps,
            },
        )  # fmt: skip
    norm = float(np.abs(found.jac).max(initial=0.0))
    best, value = found.x, float(found.fun)
    # A search that ends because the objective moves by rounding alone has found what there is.
    converged = norm <= tol or (bool(found.success) and np.isfinite(value))
    if not converged:
        start = float(model.value_and_gradient(theta)[0])
        if not value <= start:
            best, value = theta, start
        warnings.warn(
            f"L-BFGS stopped after {found.nit} iterations with a gradient of {norm:.2g}, above "
            f"tol = {tol:.2g} ({found.message}): raise max_iter, scale the inputs, or penalise "
            "more (lam).",
            ConvergenceWarning,
            stacklevel=4,
        )
    return Solution(best, value, norm, int(found.nit), converged)
