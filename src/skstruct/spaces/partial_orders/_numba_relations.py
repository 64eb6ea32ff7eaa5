# SPDX-License-Identifier: BSD-3-Clause
"""Relations as matrices, compiled: closing them, adding and taking back, moving single items.

``order[a, b]`` says that a comes before b, ``costs[a, b]`` what that costs; ``known`` are relations
that must stay, closed, and ``barred`` those that must not be.
"""

import numpy as np

from skstruct._arrays import compiling as nb


@nb.njit(cache=True, nogil=True)
def close(order, barred):
    """Close a relation transitively, in place; whether that has no cycle, and nothing barred."""
    n, good = len(order), True
    for k in range(n):
        for i in range(n):
            if order[i, k]:
                for j in range(n):
                    if order[k, j]:
                        order[i, j] = True
    for i in range(n):
        for j in range(n):
            if order[i, j] and (i == j or barred[i, j]):
                good = False
    return good


@nb.njit(cache=True, nogil=True)
def may_add(a, b, order, barred):
    """Whether a may come before b: nothing that follows is barred or the other way round."""
    n = len(order)
    for x in range(n):
        if x == a or order[x, a]:
            for y in range(n):
                if (y == b or order[b, y]) and (x == y or order[y, x] or barred[x, y]):
                    return False
    return True


@nb.njit(cache=True, nogil=True)
def added_cost(a, b, order, costs):
    """What a before b costs with all that follows from it."""
    n, total = len(order), 0.0
    for x in range(n):
        if x == a or order[x, a]:
            for y in range(n):
                if (y == b or order[b, y]) and not order[x, y]:
                    total += costs[x, y]
    return total


@nb.njit(cache=True, nogil=True)
def add(a, b, order):
    """a comes before b, with all that follows; no loop reads what it has written."""
    n = len(order)
    before, after = np.empty(n, np.bool_), np.empty(n, np.bool_)
    for x in range(n):
        before[x], after[x] = x == a or order[x, a], x == b or order[b, x]
    for x in range(n):
        if before[x]:
            for y in range(n):
                if after[y]:
                    order[x, y] = True


@nb.njit(cache=True, nogil=True)
def is_cover(a, b, order):
    """Whether no item is between a and b."""
    return not (order[a] & order[:, b]).any()


@nb.njit(cache=True, nogil=True)
def total_cost(order, costs):
    """What all relations of an order cost together."""
    total = 0.0
    for a in range(len(order)):
        for b in range(len(order)):
            if order[a, b]:
                total += costs[a, b]
    return total


@nb.njit(cache=True, nogil=True)
def climb(order, costs, known, barred, slack):
    """Add and take back single relations for as long as that pays."""
    n, again = len(order), True
    while again:
        again = False
        for a in range(n):
            for b in range(n):
                if a == b:
                    continue
                if order[a, b]:
                    if costs[a, b] > slack and not known[a, b] and is_cover(a, b, order):
                        order[a, b] = False
                        again = True
                elif not order[b, a] and added_cost(a, b, order, costs) < -slack:
                    grown = may_add(a, b, order, barred)
                    if grown:
                        add(a, b, order)
                    again |= grown


@nb.njit(cache=True, nogil=True)
def reinsert(order, costs, known, barred, slack):
    """Take out items one by one and build their relations anew, where that costs less."""
    n, again = len(order), True
    value = total_cost(order, costs)
    while again:
        again = False
        for v in range(n):
            if known[v].any() or known[:, v].any():
                continue
            trial = order.copy()
            trial[v, :] = False
            trial[:, v] = False
            while True:
                least, first, second = -slack, -1, -1
                for u in range(n):
                    for way in range(2):
                        a, b = (u, v) if way == 0 else (v, u)
                        if u != v and not trial[a, b] and not trial[b, a]:
                            gain = added_cost(a, b, trial, costs)
                            if gain < least and may_add(a, b, trial, barred):
                                least, first, second = gain, a, b
                if first < 0:
                    break
                add(first, second, trial)
            climb(trial, costs, known, barred, slack)
            reached = total_cost(trial, costs)
            if reached < value - slack:
                order[:], value, again = trial, reached, True
    return value
