# SPDX-License-Identifier: BSD-3-Clause
"""The minimum of the structured ridge objective by Newton's method with conjugate gradients.

The objective is quadratic, so that one Newton step from zero is the minimum, and conjugate
gradients find it in the geometry of the kernel, <A, B> = tr(A' K B). It knows nothing of
eigenvalues: a check on the closed form, and the way to go where d is very large.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skstruct._arrays.progress import ticker
from skstruct.learners.checkpoints.levels import NOWHERE
from skstruct.learners.counting.examples import CountingExamples


def newton_cg(
    examples: CountingExamples, gram, lam: float, *, tol: float, max_iter: int, verbose: int = 0,
    level=NOWHERE,
) -> tuple[np.ndarray, int]:  # fmt: skip
    """Coefficients A (m, d) with scaled scores K A, and the number of iterations.

    Parameters
    ----------
    gram : with ``times(A)`` = K A
    tol : float
        Stop when the norm of the gradient is at most this share of that at zero.
    level : Level
        Where a fit that is saved goes on.
    """
    residual = -examples.slope()
    A = np.zeros_like(residual)
    K_residual = gram.times(residual)
    direction, K_direction = residual.copy(), K_residual.copy()
    size = first = np.vdot(residual, K_residual)
    vectors, done = (A, residual, K_residual, direction, K_direction), 0
    if stopped := level.found:
        for mine, theirs in zip(vectors, stopped["vectors"]):
            np.copyto(mine, theirs)
        size, done = np.float64(stopped["size"]), stopped["done"]
    with ticker(max_iter, "newton-cg", verbose) as tick:
        for step in range(done + 1, max_iter + 1):
            if size <= tol**2 * first:
                return A, step - 1
            bent = examples.curvature(K_direction)
            bent += 2.0 * lam * direction
            length = size / np.vdot(bent, K_direction)
            A += length * direction
            bent *= length
            residual -= bent
            K_residual -= gram.times(bent)
            size, last = np.vdot(residual, K_residual), size
            for gradient, way in ((residual, direction), (K_residual, K_direction)):
                way *= size / last
                way += gradient
            tick()
            level.reached(vectors=vectors, size=float(size), done=step)
    warnings.warn(
        f"newton-cg stopped after {max_iter} iterations with a gradient of "
        f"{np.sqrt(max(size, 0.0) / first):.1e} of the first one; raise max_iter or alpha.",
        ConvergenceWarning,
        stacklevel=2,
    )
    return A, max_iter
