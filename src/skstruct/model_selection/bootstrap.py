# SPDX-License-Identifier: BSD-3-Clause
"""How far a mean could be off, by drawing the rows again."""

from __future__ import annotations

import numpy as np


def bootstrap_means(losses, n_draws: int, rng) -> np.ndarray:
    """Means of the columns of ``losses`` (n, m) over rows drawn with replacement; (n_draws, m).

    All columns see the same draws, so that differences of columns are paired.

    >>> bootstrap_means(np.ones((4, 1)), 3, np.random.default_rng(0)).ravel()
    array([1., 1., 1.])
    """
    losses = np.asarray(losses, dtype=np.float64)
    n = len(losses)
    means = np.empty((n_draws, losses.shape[1]))
    shares = np.full(n, 1.0 / n)
    block = max(1, 10**6 // n)
    for start in range(0, n_draws, block):
        counts = rng.multinomial(n, shares, size=min(block, n_draws - start))
        means[start : start + len(counts)] = counts @ losses / n
    return means


def percentile_interval(means, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends, by column, that hold a share ``level`` of the draws."""
    outside = (1.0 - level) / 2.0
    low, high = np.quantile(means, [outside, 1.0 - outside], axis=0)
    return low, high
