# SPDX-License-Identifier: BSD-3-Clause
"""Compiled max-product on forests."""

from __future__ import annotations

import numba as nb
import numpy as np

WIDTH = 16  # rows side by side: the inner loops become vector instructions


@nb.njit(cache=True, nogil=True)
def _turned(costs, first, last, columns, block):
    """Some columns of rows first..last of `costs`, as rows of `block`; -1 leaves a row out."""
    for v in range(columns.shape[0]):
        j = columns[v]
        if j < 0:
            continue
        if last - first == WIDTH:  # a fixed count is what the compiler unrolls
            for b in range(WIDTH):
                block[v, b] = costs[first + b, j]
        else:
            for b in range(last - first):
                block[v, b] = costs[first + b, j]


@nb.njit(cache=True, nogil=True)
def _spread(costs, columns, block):
    """Some columns of the only row of `costs`, in all columns of `block`."""
    for v in range(columns.shape[0]):
        if columns[v] >= 0:
            block[v, :] = costs[0, columns[v]]


@nb.njit(cache=True, nogil=True)
def _best_block(parent, weight, more, taken, joined, tied):
    """`more` becomes the cost of having a label with all below it, `taken` the best labels.

    more(v) = cost(v) + sum over children c of min(0, more(c) + w_vc) - min(0, more(c)).
    `tied` says for which rows some label with edges of some cost is as good in as out;
    `joined` is where such edges are noted, from a label to those below it.
    """
    n = parent.shape[0]
    more[n] = 0.0
    tied[:], joined[:] = False, False
    for v in range(n - 1, -1, -1):  # children come after their parents
        p = parent[v]
        for b in range(WIDTH):
            together = more[v, b] + weight[v, b]
            linked = weight[v, b] != 0.0
            tied[b] |= ((more[v, b] == 0.0) | (together == 0.0)) & (linked | joined[v, b])
            joined[p, b] |= linked
            without = min(more[v, b], 0.0)
            more[p, b] += min(together, 0.0) - without
            more[n, b] += without
    for v in range(n):
        p = parent[v]
        for b in range(WIDTH):
            added = weight[v, b] if taken[p, b] else 0.0
            taken[v, b] = more[v, b] + added < 0.0


@nb.njit(cache=True, nogil=True)
def best_labels(node_costs, edge_costs, order, parent, edge):
    """Cheapest labels of every row, their cost, and which rows may have other labels as cheap.

    `order` lists the columns, parents first; `parent` and `edge` hold, by position in that
    order, the parent's position and the number of the edge to it. Roots have parent n, one
    more node that costs nothing, and edge -1, which weighs nothing.
    """
    rows, n = node_costs.shape
    shared = edge_costs.shape[0] == 1
    outputs, values = np.empty((rows, n), np.int8), np.empty(rows)
    weight, more = np.zeros((n, WIDTH)), np.zeros((n + 1, WIDTH))
    taken, joined = np.zeros((n + 1, WIDTH), np.int8), np.zeros((n + 1, WIDTH), np.bool_)
    tied = np.zeros(WIDTH, np.bool_)
    tie = np.empty(rows, np.bool_)
    if shared:
        _spread(edge_costs, edge, weight)
    for first in range(0, rows, WIDTH):
        last = min(first + WIDTH, rows)
        _turned(node_costs, first, last, order, more)
        if not shared:
            _turned(edge_costs, first, last, edge, weight)
        _best_block(parent, weight, more, taken, joined, tied)
        for row in range(first, last):
            values[row], tie[row] = more[n, row - first], tied[row - first]
            for v in range(n):
                outputs[row, order[v]] = taken[v, row - first]
    return outputs, values, tie
