# SPDX-License-Identifier: BSD-3-Clause
"""Costs of both signs, with ties, over twelve orders of magnitude, all of these in one batch."""

import numpy as np


def signed(rng, n, d):
    return rng.standard_normal((n, d))


def tied(rng, n, d):
    return rng.integers(-2, 3, (n, d)).astype(float)


def halves(rng, n, d):
    return rng.choice([-0.5, 0.0, 0.1, 0.2, 0.3], (n, d))


def constant(rng, n, d):
    return np.repeat(rng.integers(-1, 2, (n, 1)).astype(float), d, axis=1)


def wide(rng, n, d):
    """Twelve orders of magnitude within a row."""
    return rng.choice([-1.0, 1.0], (n, d)) * 10 ** rng.uniform(-6, 6, (n, d))


def scaled(rng, n, d):
    """Twelve orders of magnitude from row to row."""
    return rng.standard_normal((n, d)) * 10 ** rng.uniform(-6, 6, (n, 1))


def positive(rng, n, d):
    return rng.exponential(size=(n, d))


def negative(rng, n, d):
    return -rng.exponential(size=(n, d))


def mostly_zero(rng, n, d):
    return rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.2)


KINDS = [signed, signed, tied, halves, constant, wide, scaled, positive, negative, mostly_zero]


def costs(rng, n, d):
    """Rows of all kinds in one array (n, d), mixed."""
    parts = np.array_split(np.arange(n), len(KINDS))
    drawn = np.concatenate([kind(rng, len(part), d) for kind, part in zip(KINDS, parts)])
    return drawn[rng.permutation(n)]
