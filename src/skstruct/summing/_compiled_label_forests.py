# SPDX-License-Identifier: BSD-3-Clause
"""Compiled sums over 0/1 labels with scores of pairs along the edges of a forest."""

from __future__ import annotations

import numba as nb
import numpy as np

FULL = 1e100  # a larger factor, or a smaller one than its inverse, is taken into a logarithm
MODERATE = 100.0  # scores whose exponentials times such factors are multiplied


@nb.njit(cache=True, nogil=True, inline="always")
def _coin(odds):
    """ln(1 + exp odds) as a + ln b with b from 1 to 2, and the chance of being in."""
    small = np.exp(-abs(odds))
    larger = 1.0 if odds > 0.0 else small
    return max(odds, 0.0), 1.0 + small, larger / (1.0 + small)


@nb.njit(cache=True, nogil=True, inline="always")
def _kept(base, factor):
    """A number exp(base) * factor with a factor of moderate size."""
    if 1.0 / FULL < factor < FULL:
        return base, factor
    return base + np.log(factor), 1.0


@nb.njit(cache=True, nogil=True)
def sum_labels(nodes, pairs, order, parent, edge, given):
    """Logarithms of the sums over all sets of every row, from the leaves to the roots.

    given[row, v] becomes the chances of v given that its parent is out, and that it is in; of
    a root, the same chance twice. ``order`` lists the nodes, parents first. Odds are kept as
    exp(base) * factor, so that few logarithms are taken.
    """
    rows, n = nodes.shape
    log_partition, base, factor = np.empty(rows), np.empty(n), np.empty(n)
    for row in range(rows):
        base[:], factor[:] = nodes[row], 1.0
        total, product = 0.0, 1.0  # the sum so far is exp(total) * product
        for place in range(n - 1, -1, -1):
            v = order[place]
            p, pair = parent[v], pairs[row, edge[v]] if parent[v] >= 0 else 0.0
            if abs(base[v]) < MODERATE and abs(pair) < MODERATE:
                odds = np.exp(base[v]) * factor[v]
                out, given[row, v, 0] = 1.0 + odds, odds / (1.0 + odds)
                odds *= np.exp(pair) if p >= 0 else 1.0
                into, given[row, v, 1] = 1.0 + odds, odds / (1.0 + odds)
                shift_out, shift = 0.0, 0.0
            else:
                odds = base[v] + np.log(factor[v])
                shift_out, out, given[row, v, 0] = _coin(odds)
                shift, into, given[row, v, 1] = _coin(odds + pair)
                shift -= shift_out
            total, product = _kept(total + shift_out, product * out)
            if p >= 0:
                base[p], factor[p] = _kept(base[p] + shift, factor[p] * (into / out))
        log_partition[row] = total + np.log(product)
    return log_partition


@nb.njit(cache=True, nogil=True)
def spread_labels(order, parent, edge, given, n_edges):
    """Chances of labels and of pairs, from the roots to the leaves; shape (rows, n + E)."""
    rows, n = given.shape[:2]
    found = np.empty((rows, n + n_edges))
    for row in range(rows):
        for v in order:
            p = parent[v]
            if p < 0:
                found[row, v] = given[row, v, 0]
                continue
            both = found[row, p] * given[row, v, 1]
            found[row, n + edge[v]] = both
            found[row, v] = (1.0 - found[row, p]) * given[row, v, 0] + both
    return found


@nb.njit(cache=True, nogil=True)
def draw_labels(order, parent, given, n_draws, rng):
    """Independent sets of labels; int8 of shape (rows, n_draws, n)."""
    rows, n = given.shape[:2]
    drawn = np.empty((rows, n_draws, n), np.int8)
    for row in range(rows):
        for draw in range(n_draws):
            one = drawn[row, draw]
            for v in order:
                above = one[parent[v]] if parent[v] >= 0 else 0
                one[v] = rng.random() < given[row, v, above]
    return drawn
