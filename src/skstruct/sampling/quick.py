# SPDX-License-Identifier: BSD-3-Clause
r"""Quick estimates of ln Z from counts alone.

Over all outputs, f = <u, psi> has mean m = psibar'u and variance v = u'Su, which countable spaces
know. Neither estimate has a guarantee; both are exact for u = 0, and the cumulant one is right to
second order around the uniform law whatever the number of outputs.
"""

from __future__ import annotations

import numpy as np

from skstruct.spaces.base import Countable


def moments_of_scores(space, scores) -> tuple[float, np.ndarray, np.ndarray]:
    """ln |Y|, and mean and variance of <u, psi(Y)> for uniform Y; shapes (n,)."""
    if not isinstance(space, Countable) or not hasattr(space, "covariance"):
        raise ValueError(
            f"{type(space).__name__} is not Countable: quick estimates need log_size(), "
            "mean_embedding() and second_moment(). Use method='annealed'."
        )
    mean = scores @ np.asarray(space.mean_embedding())
    variance = np.einsum("nd,nd->n", scores, space.covariance().apply(scores))
    return space.log_size(), mean, np.maximum(variance, 0.0)


def cumulant_estimate(space, scores) -> np.ndarray:
    r""":math:`\ln |\mathcal Y| + m + v / 2`; exact where f is normally distributed."""
    log_size, mean, variance = moments_of_scores(space, scores)
    return log_size + mean + variance / 2


def taylor_estimate(space, scores) -> np.ndarray:
    r""":math:`\ln |\mathcal Y| (1 + m + (v + m^2) / 2)`, the second order expansion of exp."""
    log_size, mean, variance = moments_of_scores(space, scores)
    return log_size + np.log1p(mean + (variance + mean**2) / 2)
