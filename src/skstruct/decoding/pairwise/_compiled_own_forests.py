# SPDX-License-Identifier: BSD-3-Clause
"""Compiled max-product where every row has a forest of its own, and ties go by index.

Of sets that cost the same the first in colexicographic order is taken: at the highest label in
which two sets differ, the one without it wins. Trees below different nodes have no label in
common, so that the first set of all is made of the first sets of the trees, and one pass that
carries sets along with their costs finds it.
"""

from __future__ import annotations

import numba as nb
import numpy as np

BITS = 62  # labels per word of a set


@nb.njit(cache=True, nogil=True)
def _hang(weights, start, other, edge, order, parent, weight):
    """Order the nodes by the edges that cost something, parents first; False at a circle.

    `parent` and `weight` are by node: the parent, -1 for roots, and the cost of the edge to it.
    """
    n, done, waiting = order.shape[0], 0, 0
    parent[:] = -2  # not seen
    for root in range(n):
        if parent[root] != -2:
            continue
        parent[root], weight[root] = -1, 0.0
        order[waiting] = root
        waiting += 1
        while done < waiting:
            i = order[done]
            done += 1
            for p in range(start[i], start[i + 1]):
                j, w = other[p], weights[edge[p]]
                if w == 0.0 or j == parent[i]:
                    continue
                if parent[j] != -2:
                    return False
                parent[j], weight[j] = i, w
                order[waiting] = j
                waiting += 1
    return True


@nb.njit(cache=True, nogil=True)
def _is_first(cost, sets, other_cost, other_sets):
    """Whether one choice costs less than another, or the same and comes first."""
    if cost != other_cost:
        return cost < other_cost
    for k in range(sets.shape[0] - 1, -1, -1):
        if sets[k] != other_sets[k]:
            return sets[k] < other_sets[k]
    return False


@nb.njit(cache=True, nogil=True)
def _gather(order, parent, weight, value, sets):
    """From leaves to roots: costs (n + 1, 2) and sets (n + 1, 2, words) of the trees below.

    The second index says whether the node is in. The last node is above all roots.
    """
    n, words = order.shape[0], sets.shape[2]
    for at in range(n - 1, -1, -1):
        v = order[at]
        if words:
            sets[v, 1, v // BITS] |= np.int64(1) << (v % BITS)
        up = parent[v] if parent[v] >= 0 else n
        for above in range(2):
            with_it = value[v, 1] + (weight[v] if above else 0.0)
            take = 1 if _is_first(with_it, sets[v, 1], value[v, 0], sets[v, 0]) else 0
            value[up, above] += with_it if take else value[v, 0]
            for k in range(words):
                sets[up, above, k] |= sets[v, take, k]


@nb.njit(cache=True, nogil=True)
def _spread(order, parent, weight, value, output):
    """From roots to leaves where no sets were kept: a label is in where it costs less."""
    for v in order:
        added = weight[v] if parent[v] >= 0 and output[parent[v]] else 0.0
        output[v] = value[v, 1] + added < value[v, 0]


@nb.njit(cache=True, nogil=True)
def best_on_own_forests(node_costs, edge_costs, start, other, edge, words, outputs, values):
    """Fill the rows whose edges of some cost are a forest; says which rows these are."""
    rows, n = node_costs.shape
    shared = edge_costs.shape[0] == 1
    order, parent, weight = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    value, sets = np.empty((n + 1, 2)), np.empty((n + 1, 2, words), np.int64)
    found = np.zeros(rows, np.bool_)
    for row in range(rows):
        w = edge_costs[0 if shared else row]
        if not _hang(w, start, other, edge, order, parent, weight):
            continue
        found[row] = True
        value[:], sets[:] = 0.0, 0
        value[:n, 1] = node_costs[row]
        _gather(order, parent, weight, value, sets)
        values[row] = value[n, 0]
        if words:
            for i in range(n):
                outputs[row, i] = (sets[n, 0, i // BITS] >> (i % BITS)) & 1
        else:
            _spread(order, parent, weight, value, outputs[row])
    return found
