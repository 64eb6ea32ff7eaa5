# SPDX-License-Identifier: BSD-3-Clause
"""Chains among spanning trees: an edge comes in, one of the cycle that it closes goes out.

A tree is held as ``way[v]``, the edge from v towards node 0; -1 at node 0 itself.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from skstruct.walking._compiled_random import below, fraction


@nb.njit(cache=True, nogil=True)
def root_trees(trees, start, head, edge, ways):
    """Fill ways (n, N) from 0/1 rows; arcs out of node v are start[v]..start[v + 1]."""
    n_nodes = len(start) - 1
    queue = np.empty(n_nodes, np.int64)
    for row in range(len(trees)):
        way = ways[row]
        way[:] = -2
        way[0], queue[0] = -1, 0
        n_found, k = 1, 0
        while k < n_found:
            v = queue[k]
            k += 1
            for a in range(start[v], start[v + 1]):
                if trees[row, edge[a]] and way[head[a]] == -2:
                    way[head[a]] = edge[a]
                    queue[n_found] = head[a]
                    n_found += 1


@nb.njit(cache=True, nogil=True)
def climb(way, ends, v, n_steps):
    """The node that lies so many steps towards node 0."""
    for _ in range(n_steps):
        v = ends[way[v], 0] + ends[way[v], 1] - v
    return v


@nb.njit(cache=True, nogil=True)
def turn(way, ends, v, top, edge):
    """Hang v on ``edge``: all ways from v up to ``top``, which loses its own, are turned."""
    while True:
        old = way[v]
        way[v] = edge
        if v == top:
            return
        edge = old
        v = ends[old, 0] + ends[old, 1] - v


@nb.njit(cache=True, nogil=True)
def cycle_sides(way, ends, a, b, height, mark, tick):
    """Tree edges from a and from b to where their ways to node 0 meet."""
    n_up, v = 0, a
    while True:
        mark[v], height[v] = tick, n_up
        if way[v] < 0:
            break
        v = ends[way[v], 0] + ends[way[v], 1] - v
        n_up += 1
    n_other, v = 0, b
    while mark[v] != tick:
        v = ends[way[v], 0] + ends[way[v], 1] - v
        n_other += 1
    return height[v], n_other


@nb.njit(cache=True, nogil=True)
def walk_trees(ways, ends, columns, scores, row, beta, n_steps, streams, accepted):
    """Any edge, with chance 1 / m, and any tree edge of its cycle: as likely there as back."""
    n_nodes, m = ways.shape[1], len(ends)
    height, mark = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64)
    tick = 0
    if m < n_nodes:  # a single tree
        return
    for c in range(len(ways)):
        way, score = ways[c], scores[row[c]]
        for _ in range(n_steps):
            edge = below(streams, c, m)
            a, b = ends[edge, 0], ends[edge, 1]
            if way[a] == edge or way[b] == edge:
                continue
            tick += 1
            n_up, n_other = cycle_sides(way, ends, a, b, height, mark, tick)
            k = below(streams, c, n_up + n_other)
            first = a if k < n_up else b
            top = climb(way, ends, first, k if k < n_up else k - n_up)
            gain = score[columns[edge]] - score[columns[way[top]]]
            if np.log(fraction(streams, c)) < beta[c] * gain:
                turn(way, ends, first, top, edge)
                accepted[c] += 1
