# SPDX-License-Identifier: BSD-3-Clause
"""Compiled projections on probabilities that fall along the arcs of a graph."""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct._arrays._numba_copying import assign


@nb.njit(cache=True, nogil=True)
def falling_on_forests(values, parent, found):
    """Fill in the nearest rows in which no node is above its parent.

    Nodes come parents first; parent[t] is -1 of roots. From the leaves up, a node takes in the
    highest of the blocks below it as long as that is above it; a block has the mean of its nodes
    (Pardalos and Xue, 1999).
    """
    n, d = values.shape
    first, following = np.empty(d, np.int64), np.empty(d, np.int64)  # blocks below, as lists
    block, total, size = np.empty(d, np.int64), np.empty(d), np.empty(d, np.int64)
    for i in range(n):
        for t in range(d - 1, -1, -1):
            total[t], size[t], block[t] = values[i, t], 1, t
        first[:] = -1
        for t in range(d - 1, -1, -1):
            _take_in(t, first, following, block, total, size)
            if parent[t] >= 0:
                following[t] = first[parent[t]]
                first[parent[t]] = t
        for t in range(d):
            block[t] = t if block[t] == t else block[block[t]]
            found[i, t] = total[block[t]] / size[block[t]]


@nb.njit(cache=True, nogil=True)
def _take_in(t, first, following, block, total, size):
    """Merge blocks below node t into its block, the highest first."""
    while first[t] >= 0:
        highest, before = first[t], -1
        last, one = first[t], following[first[t]]
        while one >= 0:
            if total[one] * size[highest] > total[highest] * size[one]:
                highest, before = one, last
            last, one = one, following[one]
        if total[highest] * size[t] <= total[t] * size[highest]:
            return
        if before < 0:
            first[t] = following[highest]
        else:
            following[before] = following[highest]
        total[t] += total[highest]
        size[t] += size[highest]
        block[highest] = t
        one = first[highest]
        while one >= 0:  # what was below it is now below t
            after = following[one]
            following[one] = first[t]
            first[t] = one
            one = after


@nb.njit(cache=True, nogil=True)
def falling_on_graphs(values, parents, children, tolerance, most, found):
    """Fill in the nearest rows in which no child is above a parent, by Dykstra's algorithm.

    Every arc in turn moves its ends together, after what it moved them by before is undone. Rows
    end when no arc moves by more than the tolerance, or after ``most`` rounds.
    """
    n, m = values.shape[0], len(parents)
    moved = np.empty(m)
    for i in range(n):
        x = found[i]
        assign(x, values[i])
        moved[:] = 0.0
        for _ in range(most):
            change = 0.0
            for e in range(m):
                p, c = parents[e], children[e]
                gap = (x[c] + moved[e]) - (x[p] - moved[e])
                step = max(gap, 0.0) / 2.0
                x[p] += step - moved[e]
                x[c] += moved[e] - step
                change = max(change, abs(step - moved[e]))
                moved[e] = step
            if change <= tolerance:
                break
