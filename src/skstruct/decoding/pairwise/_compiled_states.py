# SPDX-License-Identifier: BSD-3-Clause
"""Compiled max-product on forests whose nodes have several states."""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True)
def best_states(unary, pairs, order, parent, edge, flipped):
    """Cheapest states of every row, and their cost; infinite where none is finite.

    `order` lists the nodes, parents first; `parent` and `edge` hold, by node, its parent and
    the edge to it, -1 for roots; `flipped` says where the parent is the second node of its
    edge. `pairs` may have a single row, for all.
    """
    rows, n, k = unary.shape
    shared = pairs.shape[0] == 1
    states, values = np.empty((rows, n), np.int64), np.zeros(rows)
    total = np.empty((n, k))  # cost of a node's state with all below it
    choice = np.empty((n, k), np.int64)  # best state of a node, for each of its parent
    for row in range(rows):
        of = 0 if shared else row
        total[:] = unary[row]
        for place in range(n - 1, -1, -1):  # children come after their parents
            v = order[place]
            p, e = parent[v], edge[v]
            if p < 0:
                values[row] += _least_root(total, v, choice)
            elif flipped[v]:
                _pass_up(total, v, p, pairs[of, e], choice)
            else:
                _pass_up(total, v, p, pairs[of, e].T, choice)
        for place in range(n):
            v = order[place]
            p = parent[v]
            states[row, v] = choice[v, 0] if p < 0 else choice[v, states[row, p]]
    return states, values


@nb.njit(cache=True, nogil=True)
def _pass_up(total, v, p, costs, choice):
    """Add to every state s of p the least of total(v, a) + costs(a, s)."""
    k = total.shape[1]
    for s in range(k):
        best, at = np.inf, 0
        for a in range(k):
            price = total[v, a] + costs[a, s]
            if price < best:
                best, at = price, a
        total[p, s] += best
        choice[v, s] = at


@nb.njit(cache=True, nogil=True)
def _least_root(total, v, choice):
    best, at = np.inf, 0
    for a in range(total.shape[1]):
        if total[v, a] < best:
            best, at = total[v, a], a
    choice[v, 0] = at
    return best
