# SPDX-License-Identifier: BSD-3-Clause
"""Strings of least cost when every occurrence of an n-gram has its price."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.ngrams.limits import GramLimits


def cheapest_strings(costs: np.ndarray, limits: GramLimits):
    """For every row the string that minimizes <costs, n-gram counts>, exactly.

    A walk in the de Bruijn graph: states are the last n - 1 symbols, and the table of least
    costs by state and remaining length has one step per n-gram. Of strings that cost the
    same the shortest is taken, then the one with lower symbols first.

    Parameters
    ----------
    costs : array of shape (n, q**order)
    limits : GramLimits

    Returns
    -------
    symbols : int array of shape (n, longest length of all), padded with -1
    values : array of shape (n,)
        Infinite where no string meets the limits.

    Examples
    --------
    >>> costs = np.array([[3.0, -1.0, -2.0, 0.0]])  # of 00, 01, 10 and 11
    >>> four = GramLimits(2, 2, np.array([4]), np.array([4]))
    >>> symbols, values = cheapest_strings(costs, four)
    >>> symbols.tolist(), values.tolist()
    ([[1, 0, 1, 0]], [-5.0])
    """
    from skstruct.decoding.ngrams._compiled_paths import cheapest_rows

    costs = np.ascontiguousarray(costs, dtype=np.float64)
    if limits.forbidden is not None:
        costs = np.where(limits.forbidden, np.inf, costs)
    symbols, values = limits.without_grams(len(costs))
    cheapest_rows(costs, limits.q, limits.order, limits.compiled(), symbols, values)
    return symbols, values
