# SPDX-License-Identifier: BSD-3-Clause
"""Compiled pass over chains that keeps the k cheapest ways to every symbol."""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True)
def _insert(costs, origins, cost, origin):
    """Put one way into a sorted list of k, behind those that cost as much."""
    r = costs.shape[0] - 1
    while r > 0 and costs[r - 1] > cost:
        costs[r] = costs[r - 1]
        origins[r] = origins[r - 1]
        r -= 1
    costs[r] = cost
    origins[r] = origin


@nb.njit(cache=True, nogil=True)
def _advance(before, matrix, unary, reach, origins):
    """The k cheapest ways to each symbol y: over symbols z before it, the ways to z.

    The ways to z are sorted, so that those of one z end at the first that is too dear. An
    origin is z * k + rank.
    """
    q, k = before.shape
    for y in range(q):
        costs = reach[y]
        costs[:] = np.inf
        for z in range(q):
            for r in range(k):
                cost = before[z, r] + matrix[z, y]
                if not cost < costs[k - 1]:
                    break
                _insert(costs, origins[y], cost, z * k + r)
        for r in range(k):
            costs[r] += unary[y]


@nb.njit(cache=True, nogil=True)
def _advance_apart(before, unary, reach, origins):
    """The same where no two symbols meet: the k cheapest ways so far are those to every y."""
    q, k = before.shape
    costs, ways = np.full(k, np.inf), np.zeros(k, np.int64)
    for z in range(q):
        for r in range(k):
            if not before[z, r] < costs[k - 1]:
                break
            _insert(costs, ways, before[z, r], z * k + r)
    for y in range(q):
        for r in range(k):
            reach[y, r] = costs[r] + unary[y]
            origins[y, r] = ways[r]


@nb.njit(cache=True, nogil=True)
def k_best_rows(
    unary, starts, transitions, which, beginning, ending, shortest, longest, symbols, values
):
    """As `viterbi_rows`, with k columns of symbols and values; these come filled with inf.

    Without any matrix of transitions, these cost nothing.
    """
    most = 1
    for i in range(longest.shape[0]):
        most = max(most, longest[i])
    q, k = unary.shape[1], values.shape[1]
    reach = np.empty((most, q, k))
    origins = np.zeros((most, q, k), np.int64)
    final = np.empty(k, np.int64)  # (t * q + symbol) * k + rank, or -1 for the empty chain
    for i in range(longest.shape[0]):
        p = starts[i]
        b, e = min(i, beginning.shape[0] - 1), min(i, ending.shape[0] - 1)
        if shortest[i] <= 0:
            _insert(values[i], final, 0.0, -1)
        for t in range(longest[i]):
            if t == 0:
                reach[0] = np.inf
                for y in range(q):
                    reach[0, y, 0] = beginning[b, y] + unary[p, y]
            elif transitions.shape[0] == 0:
                _advance_apart(reach[t - 1], unary[p + t], reach[t], origins[t])
            else:
                matrix = transitions[which[p + t]]
                _advance(reach[t - 1], matrix, unary[p + t], reach[t], origins[t])
            if t + 1 >= shortest[i]:
                for y in range(q):
                    for r in range(k):
                        cost = reach[t, y, r] + ending[e, y]
                        if not cost < values[i, k - 1]:
                            break
                        _insert(values[i], final, cost, (t * q + y) * k + r)
        for rank in range(k):
            if values[i, rank] < np.inf and final[rank] >= 0:
                way, t = final[rank] % (q * k), final[rank] // (q * k)
                for s in range(t, -1, -1):
                    symbols[p + s, rank] = way // k
                    way = origins[s, way // k, way % k]
