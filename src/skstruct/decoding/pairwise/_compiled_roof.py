# SPDX-License-Identifier: BSD-3-Clause
"""Compiled roof duality: a maximum flow in the double cover of a signed graph.

With s_e = |w_e| / 2 the cost of labels is, up to a constant,

    sum_i a_i y_i + sum_e s_e [y_i and y_j differ, as w_e says they should not],

a_i = cost(i) + sum of w_e / 2 over its edges; an edge of w_e < 0 wants y_i = y_j, one of
w_e > 0 wants y_i = 1 - y_j. In the double cover label i is a node i and a node i' = n + i,
which stands for 1 - y_i; an edge of w_e < 0 joins i with j and i' with j', one of w_e > 0
joins i with j' and i' with j, all of capacity s_e both ways. Node i has -a_i to give and
node i' has a_i.
"""

from __future__ import annotations

import numba as nb
import numpy as np

import skstruct._arrays.compiling  # noqa: F401 (tells who waits)
from skstruct.decoding.pairwise._compiled_flow import send_all


@nb.njit(cache=True, nogil=True)
def _peel(costs, weights, start, other, edge, pull, strength, label, queue):
    """Settle labels whose own cost outweighs all their edges, and what follows; -1 is open.

    `pull` becomes a_i, given the labels that are settled.
    """
    n = costs.shape[0]
    waiting = 0
    for i in range(n):
        pull[i], strength[i] = costs[i], 0.0
        for p in range(start[i], start[i + 1]):
            half = 0.5 * weights[edge[p]]
            pull[i] += half
            strength[i] += abs(half)
        label[i] = -1
        if abs(pull[i]) >= strength[i]:
            label[i] = pull[i] < 0.0
            queue[waiting] = i
            waiting += 1
    done = 0
    while done < waiting:
        i = queue[done]
        done += 1
        for p in range(start[i], start[i + 1]):
            j, half = other[p], 0.5 * weights[edge[p]]
            if label[j] >= 0 or half == 0.0:
                continue
            # The edge wants y_j = label[i] when half < 0, and its contrary otherwise.
            pull[j] += half if label[i] else -half
            strength[j] -= abs(half)
            if abs(pull[j]) >= strength[j]:
                label[j] = pull[j] < 0.0
                queue[waiting] = j
                waiting += 1
    return n - waiting


@nb.njit(cache=True, nogil=True)
def _paint(weights, start, other, edge, label, color, queue):
    """Colors by which all edges of a piece want the same of both ends; -1 where there are none.

    A label of color 1 is to be turned over: then all edges of its piece have w_e <= 0.
    """
    n = label.shape[0]
    color[:] = 2  # not seen
    for root in range(n):
        if label[root] >= 0 or color[root] != 2:
            continue
        color[root] = 0
        queue[0], done, waiting, balanced = root, 0, 1, True
        while done < waiting:
            i = queue[done]
            done += 1
            for p in range(start[i], start[i + 1]):
                j, w = other[p], weights[edge[p]]
                if label[j] >= 0 or w == 0.0:
                    continue
                wanted = color[i] ^ (w > 0.0)
                if color[j] == 2:
                    color[j] = wanted
                    queue[waiting] = j
                    waiting += 1
                elif color[j] != wanted:
                    balanced = False
        if not balanced:
            for k in range(waiting):
                color[queue[k]] = -1


@nb.njit(cache=True, nogil=True)
def _build(weights, start, other, edge, label, color, pull, room, head, surplus):
    """Capacities, heads and what the nodes have to give, in the double cover of open labels.

    Pieces without contradiction fall apart in two copies, of which one is enough.
    """
    n, ends = label.shape[0], other.shape[0]
    for i in range(n):
        surplus[i] = surplus[n + i] = 0.0
        if label[i] >= 0:
            continue
        if color[i] != 1:
            surplus[i] = -pull[i]
        if color[i] != 0:
            surplus[n + i] = pull[i]
        for p in range(start[i], start[i + 1]):
            j, w = other[p], weights[edge[p]]
            across = n if w > 0.0 else 0
            head[p], head[ends + p] = j + across, j + n - across
            room[p] = room[ends + p] = 0.0 if label[j] >= 0 else 0.5 * abs(w)


@nb.njit(cache=True, nogil=True)
def _read(label, color, level, halves):
    """1, 0 or one half for every label, from the nodes that surplus still reaches."""
    n = label.shape[0]
    for i in range(n):
        if label[i] >= 0:
            halves[i] = label[i]
        elif color[i] >= 0:
            halves[i] = (level[i + n * color[i]] >= 0) ^ color[i]
        else:
            halves[i] = 0.5 * ((level[i] >= 0) + (level[n + i] < 0))


@nb.njit(cache=True, nogil=True)
def roof_dual(node_costs, edge_costs, start, other, edge, mate):
    """A half-integral optimum of the local polytope for every row; see the wrapper."""
    rows, n = node_costs.shape
    ends, shared = other.shape[0], edge_costs.shape[0] == 1
    halves = np.empty((rows, n))
    pull, strength = np.empty(n), np.empty(n)
    label, color = np.empty(n, np.int8), np.empty(n, np.int8)
    room, head, surplus = np.empty(2 * ends), np.empty(2 * ends, np.int64), np.empty(2 * n)
    level, last_end = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    queue, path = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    for row in range(rows):
        w = edge_costs[0 if shared else row]
        if _peel(node_costs[row], w, start, other, edge, pull, strength, label, queue):
            _paint(w, start, other, edge, label, color, queue)
            _build(w, start, other, edge, label, color, pull, room, head, surplus)
            send_all(start, head, mate, room, surplus, level, queue, last_end, path)
        _read(label, color, level, halves[row])
    return halves
