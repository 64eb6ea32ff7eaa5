# SPDX-License-Identifier: BSD-3-Clause
"""Sums over all outputs, and a chi-square test of draws, by their definitions."""

import numpy as np
from scipy.special import logsumexp
from scipy.stats import chi2

LEVEL = 1e-6  # probability that a right sampler fails one test


def family(scores, psi, allowed=True):
    """ln Z (n,) and probabilities (n, m) of p(y) ~ exp <u, psi(y)>; ``allowed`` is a mask."""
    values = np.where(allowed, scores @ psi.T, -np.inf)
    log_partition = logsumexp(values, axis=1)
    return log_partition, np.exp(values - log_partition[:, None])


def covariance_products(probabilities, psi, directions):
    """Cov(psi) v of every row."""
    along = directions @ psi.T  # [row, output]
    mean = (probabilities * along).sum(axis=1, keepdims=True)
    return (probabilities * (along - mean)) @ psi


def is_drawn_from(places, probabilities, level=LEVEL):
    """Whether draws, as numbers of outputs, may have these probabilities.

    Outputs that are expected less than five times are counted together; draws of outputs that have
    no probability are wrong at once.
    """
    if (places < 0).any() or (probabilities[places] == 0).any():
        return False
    counts = np.bincount(places, minlength=len(probabilities))
    expected = probabilities * len(places)
    order = np.argsort(expected)
    counts, expected = counts[order], expected[order]
    rare = expected < 5
    counts = np.append(counts[~rare], counts[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    if expected[-1] < 5 and len(expected) > 1:  # the rare ones join the most frequent
        counts[-2] += counts[-1]
        expected[-2] += expected[-1]
        counts, expected = counts[:-1], expected[:-1]
    if len(expected) < 2:
        return True
    statistic = ((counts - expected) ** 2 / expected).sum()
    return statistic <= chi2.isf(level, len(expected) - 1)
