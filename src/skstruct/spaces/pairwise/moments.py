# SPDX-License-Identifier: BSD-3-Clause
"""Moments of labels and their products, where labels that are not known are fair coins."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skstruct._arrays.memory import check_square_fits


def mean_of_products(edges, low, high) -> np.ndarray:
    """Mean of (y_i) and (y_i y_j) over all labels between low and high; shape (n + E,)."""
    chance = 0.5 * (low.astype(float) + high)
    return np.concatenate([chance, chance[edges[:, 0]] * chance[edges[:, 1]]])


def second_moment_of_products(edges, low, high) -> np.ndarray:
    """Mean of psi psi' over all labels between low and high; shape (n + E, n + E).

    A product of labels is 1 when none of them is known to be out and all coins of their
    union fall on 1: a chance of 1/2 to the number of coins, and coins in both count once.
    """
    n, count = len(low), len(edges)
    check_square_fits(n + count, "The second moment", "Fewer labels or pairs take less.")
    row = np.concatenate([np.arange(n), np.repeat(np.arange(n, n + count), 2)])
    column = np.concatenate([np.arange(n), edges.ravel()])
    member = sparse.csr_array((np.ones(len(row)), (row, column)), shape=(n + count, n))
    coins, possible = member * (high & ~low), member @ ~high == 0
    number = coins.sum(axis=1)
    union = number[:, None] + number - (coins @ coins.T).toarray()
    return np.where(possible[:, None] & possible, 0.5**union, 0.0)
