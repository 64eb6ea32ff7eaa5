# SPDX-License-Identifier: BSD-3-Clause
"""Compiled dynamic programs on forests."""

from __future__ import annotations

import numba as nb
import numpy as np

WIDTH = 16  # rows side by side: the inner loops become vector instructions


@nb.njit(cache=True, nogil=True)
def _turned(costs, first, last, order, below):
    """Rows first..last of `costs` as columns of `below`, in topological order."""
    for v in range(order.shape[0]):
        j = order[v]
        if last - first == WIDTH:  # a fixed count is what the compiler unrolls
            for b in range(WIDTH):
                below[v, b] = costs[first + b, j]
        else:
            for b in range(last - first):
                below[v, b] = costs[first + b, j]


@nb.njit(cache=True, nogil=True)
def _closed_block(parent, below, taken):
    """Costs in `below` become those of whole subtrees; `taken` marks the cheapest set."""
    d = parent.shape[0]
    below[d] = 0.0
    for v in range(d - 1, -1, -1):  # children come after their parents
        p = parent[v]
        for b in range(WIDTH):
            below[p, b] += min(below[v, b], 0.0)
    for v in range(d):
        p = parent[v]
        for b in range(WIDTH):
            taken[v, b] = taken[p, b] & (below[v, b] < 0.0)


@nb.njit(cache=True, nogil=True)
def closed_sets(costs, order, parent):
    """Cheapest ancestor-closed set of every row, and its cost.

    below(v) = cost(v) + sum over children of min(0, below(child)); a node is taken
    when its parent is and below(v) < 0. `parent` holds topological positions, and d for
    roots: they hang below one more node, which is always taken.
    """
    n, d = costs.shape
    outputs, values = np.empty((n, d), np.int8), np.empty(n)
    below, taken = np.zeros((d + 1, WIDTH)), np.ones((d + 1, WIDTH), np.int8)
    for first in range(0, n, WIDTH):
        last = min(first + WIDTH, n)
        _turned(costs, first, last, order, below)
        _closed_block(parent, below, taken)
        for row in range(first, last):
            values[row] = below[d, row - first]
            for v in range(d):
                outputs[row, order[v]] = taken[v, row - first]
    return outputs, values


@nb.njit(cache=True, nogil=True)
def exclusive_sets(costs, order, parent, group):
    """As `closed_sets`, with at most one member taken of each group of siblings.

    `group[v]` is the number of the group of position v, or -1; the members of a
    group share their parent.
    """
    n, d = costs.shape
    n_groups = group.max() + 1 if d else 0
    outputs = np.zeros((n, d), np.int8)
    below, best = np.empty(d), np.empty(n_groups)
    winner, taken = np.empty(n_groups, np.int64), np.empty(d, np.bool_)
    for row in range(n):
        for v in range(d):
            below[v] = costs[row, order[v]]
        best[:] = 0.0
        winner[:] = -1
        for v in range(d - 1, -1, -1):
            gain = min(below[v], 0.0)
            g = group[v]
            if g >= 0:
                # Ties go to the lowest index: positions run downwards here.
                if gain <= best[g] and gain < 0.0:
                    gain, best[g], winner[g] = gain - best[g], gain, v
                else:
                    gain = 0.0
            if parent[v] >= 0:
                below[parent[v]] += gain
        for v in range(d):
            taken[v] = below[v] < 0.0
            if group[v] >= 0:
                taken[v] &= winner[group[v]] == v
            if parent[v] >= 0:
                taken[v] &= taken[parent[v]]
            outputs[row, order[v]] = taken[v]
    return outputs


@nb.njit(cache=True, nogil=True)
def _sized_tables(cost, low, high, end, largest, table):
    """table[i, k]: least cost of k more nodes among preorder positions i, i+1, ..."""
    d = cost.shape[0]
    table[:, :] = np.inf
    table[d, 0] = 0.0
    for i in range(d - 1, -1, -1):
        for k in range(largest + 1):
            best = np.inf
            if not low[i]:
                best = table[end[i], k]  # without i, its whole subtree is passed over
            if high[i] and k > 0:
                best = min(best, cost[i] + table[i + 1, k - 1])
            table[i, k] = best


@nb.njit(cache=True, nogil=True)
def _trace(cost, low, end, size, table, preorder, output):
    d = cost.shape[0]
    i, k = 0, size
    while i < d:
        if not low[i] and table[end[i], k] <= table[i, k]:
            i = end[i]
        else:
            output[preorder[i]] = 1
            i, k = i + 1, k - 1


@nb.njit(cache=True, nogil=True)
def sized_sets(costs, low, high, preorder, end, smallest, largest, per_size):
    """Cheapest ancestor-closed set with smallest..largest nodes, for every row.

    `costs` is (n, d), or with `per_size` (n, d * d): entry j * d + (k - 1) is then the
    cost of node j in a set of k nodes. `low` and `high` (n or 1 rows) mark the nodes
    that must and that may be taken. Infeasible rows get value infinity.
    """
    n, d = costs.shape[0], preorder.shape[0]
    outputs, values = np.zeros((n, d), np.int8), np.full(n, np.inf)
    table, cost = np.empty((d + 1, largest + 1)), np.empty(d)
    must, may = np.empty(d, np.bool_), np.empty(d, np.bool_)
    for row in range(n):
        r_low, r_high = min(row, low.shape[0] - 1), min(row, high.shape[0] - 1)
        for i in range(d):
            must[i], may[i] = low[r_low, preorder[i]], high[r_high, preorder[i]]
        for k in range(smallest, largest + 1):
            if per_size or k == smallest:
                for i in range(d):
                    j = preorder[i]
                    cost[i] = costs[row, j * d + max(k, 1) - 1] if per_size else costs[row, j]
                _sized_tables(cost, must, may, end, k if per_size else largest, table)
            if table[0, k] < values[row]:
                values[row] = table[0, k]
                outputs[row, :] = 0
                _trace(cost, must, end, k, table, preorder, outputs[row])
    return outputs, values
