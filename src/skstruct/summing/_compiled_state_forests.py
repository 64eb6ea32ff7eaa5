# SPDX-License-Identifier: BSD-3-Clause
"""Compiled sum-product on forests whose nodes have several states."""

from __future__ import annotations

import numba as nb
import numpy as np

import skstruct._arrays.compiling  # noqa: F401 (tells who waits)


@nb.njit(cache=True, nogil=True)
def _to_chances(values):
    """Logarithms become chances; the logarithm of their sum, minus infinity where all are."""
    top, total = -np.inf, 0.0
    for value in values:
        top = max(top, value)
    for a in range(values.shape[0]):
        values[a] = np.exp(values[a] - top) if top > -np.inf else 0.0
        total += values[a]
    if total == 0.0:
        return top
    for a in range(values.shape[0]):
        values[a] /= total
    return top + np.log(total)


@nb.njit(cache=True, nogil=True)
def sum_states(unary, pairs, order, parent, edge, flipped, first, given):
    """Logarithms of the sums over all states of every row, from the leaves to the roots.

    first[row, v] becomes the chances of the states of a root; given[row, e, s] those of the
    states of the child at edge e, given the state s of its parent. `order` lists the nodes,
    parents first; `flipped` says where the parent is the second node of its edge.
    """
    rows, n, k = unary.shape
    log_partition = np.zeros(rows)
    total, message = np.empty((n, k)), np.empty(k)
    for row in range(rows):
        total[:] = unary[row]
        for place in range(n - 1, -1, -1):  # children come after their parents
            v = order[place]
            p, e = parent[v], edge[v]
            if p < 0:
                first[row, v] = total[v]
                log_partition[row] += _to_chances(first[row, v])
                continue
            for s in range(k):
                chances = given[row, e, s]
                for a in range(k):
                    pair = pairs[row, e, a, s] if flipped[v] else pairs[row, e, s, a]
                    chances[a] = total[v, a] + pair
                message[s] = _to_chances(chances)
            # What all states of the parent share is kept apart: differences stay exact.
            top = message.max()
            log_partition[row] += top
            for s in range(k):
                if top > -np.inf:
                    total[p, s] += message[s] - top
    return log_partition


@nb.njit(cache=True, nogil=True)
def spread_states(order, parent, edge, flipped, first, given, nodes, pairs):
    """Marginals of states and of pairs of states, from the roots to the leaves."""
    rows, _, k = nodes.shape
    for row in range(rows):
        for v in order:
            p, e = parent[v], edge[v]
            if p < 0:
                nodes[row, v] = first[row, v]
                continue
            for s in range(k):
                for a in range(k):
                    both = nodes[row, p, s] * given[row, e, s, a]
                    nodes[row, v, a] += both
                    if flipped[v]:
                        pairs[row, e, a, s] = both
                    else:
                        pairs[row, e, s, a] = both


@nb.njit(cache=True, nogil=True)
def draw_states(order, parent, edge, first, given, chance, states):
    """Independent states[row, d] of all nodes; chance[row, d, v] are uniform numbers."""
    rows, draws, _ = states.shape
    for row in range(rows):
        for d in range(draws):
            for v in order:
                p = parent[v]
                if p < 0:
                    chances = first[row, v]
                else:
                    chances = given[row, edge[v], states[row, d, p]]
                states[row, d, v] = _find(chances, chance[row, d, v])


@nb.njit(cache=True, nogil=True)
def _find(chances, level):
    """The first state whose sum of chances exceeds the level; none that has no chance."""
    last, upto = 0, 0.0
    for a in range(chances.shape[0]):
        if chances[a] > 0.0:
            last = a
            upto += chances[a]
            if upto > level:
                break
    return last
