# SPDX-License-Identifier: BSD-3-Clause
"""Simulation-based calibration: draws of a right sampler leave the truth any rank alike.

S. Talts, M. Betancourt, D. Simpson, A. Vehtari, A. Gelman, Validating Bayesian inference
algorithms with simulation-based calibration. arXiv:1804.06788 (2018).
"""

import numpy as np
from scipy.stats import chi2


def rank_among(truth, draws, rng):
    """How many draws (..., L) lie below the truth (...), of 0..L, ties broken at random.

    Without that, values that repeat, as those of structured outputs do, have uneven ranks.
    """
    truth = np.asarray(truth)[..., None]
    n_ties = (draws == truth).sum(axis=-1)
    return (draws < truth).sum(axis=-1) + rng.integers(n_ties + 1)


def ranks_are_uniform(ranks, n_bins, level=1e-6, n_ranks=None):
    """Chi-square test that ranks are uniform on 0..n_ranks-1; even ones fail with probability
    level.

    L draws leave n_ranks = L + 1, which n_bins divides; each rank is a bin when None.
    """
    n_ranks = n_bins if n_ranks is None else n_ranks
    ranks = np.ravel(ranks)
    if n_ranks % n_bins:
        raise ValueError(f"{n_bins} bins of equal length do not divide {n_ranks} ranks.")
    if len(ranks) < 5 * n_bins:
        raise ValueError(f"{len(ranks)} ranks are too few for {n_bins} bins: 5 each, at least.")
    if ranks.min() < 0 or ranks.max() >= n_ranks:
        raise ValueError(f"Ranks are from 0 to {n_ranks - 1}; got {ranks.min()}..{ranks.max()}.")
    counts = np.bincount(ranks * n_bins // n_ranks, minlength=n_bins)
    expected = len(ranks) / n_bins
    return bool(((counts - expected) ** 2).sum() / expected <= chi2.isf(level, n_bins - 1))
