# SPDX-License-Identifier: BSD-3-Clause
"""Orders by pivots: each item goes to the side of the pivot that it prefers."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.linear_ordering import pair_matrix
from skstruct.decoding.triangles import solve_triangles


def kwik_sort(costs: np.ndarray, d: int, n_runs: int, rng) -> np.ndarray:
    """KwikSort of Ailon, Charikar and Newman: ``n_runs`` orders from random pivots.

    Parameters
    ----------
    costs : array of shape (d (d - 1) / 2,)
        Cost of p before q, minus that of q before p, for pairs p < q.

    Returns
    -------
    int array of shape (n_runs, d), best item first
    """
    first = (pair_matrix(costs[None], d)[0] < 0).astype(np.float64)
    return _pivot_orders(first, n_runs, rng)


def linear_program_order(costs: np.ndarray, d: int, n_runs: int, rng) -> np.ndarray:
    """The same by the triangle program: sides are drawn with the chances that it gives."""
    if d < 3:
        return kwik_sort(costs, d, n_runs, rng)
    matrix, _, _ = solve_triangles(pair_matrix(costs[None], d)[0])
    return _pivot_orders(matrix, n_runs, rng)


def _pivot_orders(chance, n_runs, rng):
    """``chance[p, q]`` is that of p coming before the pivot q."""
    return np.array([_pivot_order(chance, rng) for _ in range(max(1, n_runs))], dtype=np.int64)


def _pivot_order(chance, rng):
    order, parts = [], [np.arange(len(chance))]
    while parts:
        part = parts.pop()
        if len(part) <= 1:
            order.extend(part.tolist())
            continue
        pivot = part[rng.integers(len(part))]
        others = part[part != pivot]
        before = rng.random(len(others)) < chance[others, pivot]
        # A stack: what comes first is pushed last.
        parts += [others[~before], np.array([pivot]), others[before]]
    return order
