# SPDX-License-Identifier: BSD-3-Clause
"""Edges of a round trip that are asked for or forbidden, and what follows from it, compiled.

``state`` (n, n) says of every edge whether it is free, out or in; ``W`` are the costs by which
1-trees are chosen, infinite for edges that are out and lower by FAR for those that are in.
``trail`` lists the edges that are not free in the order in which they were marked, so that
``undo`` goes back to any earlier ``count``.
"""

import numpy as np

from skstruct._arrays import compiling as nb

FREE, OUT, IN = 0, 1, 2
FAR = 1e9  # in largest costs: by how much edges that are asked for come before all others


@nb.njit(cache=True, nogil=True)
def ask_at_first(C, must, state, W, trail, count):
    """Forbid edges that are not there, ask for known ones; False if no trip is left."""
    n = len(C)
    for i in range(n):
        for j in range(i):
            if C[i, j] == np.inf:
                if must[i, j]:
                    return False
                mark(i, j, OUT, state, W, trail, count)
    for i in range(n):
        for j in range(i):
            if must[i, j] and not put(i, j, IN, state, W, trail, count):
                return False
    return n == 0 or follow(np.ones(n, np.bool_), state, W, trail, count)


@nb.njit(cache=True, nogil=True)
def put(i, j, new, state, W, trail, count):
    """Ask for an edge or forbid it, with all that follows; False if no trip is left."""
    if state[i, j] != FREE:
        return state[i, j] == new
    stale = np.zeros(len(state), np.bool_)
    stale[i] = stale[j] = True
    if new == IN:
        if not _join(i, j, stale, state, W, trail, count):
            return False
    else:
        mark(i, j, OUT, state, W, trail, count)
    return follow(stale, state, W, trail, count)


@nb.njit(cache=True, nogil=True)
def follow(stale, state, W, trail, count):
    """Nodes with two edges get no others; where only two are left, both are asked for."""
    n = len(state)
    again = True
    while again:
        again = False
        for i in range(n):
            if not stale[i]:
                continue
            stale[i] = False
            asked, free = 0, 0
            for j in range(n):
                if j != i:
                    asked += state[i, j] == IN
                    free += state[i, j] == FREE
            if asked > 2 or asked + free < 2:
                return False
            if free == 0 or (asked < 2 and asked + free > 2):
                continue
            again = True
            for j in range(n):
                if j == i or state[i, j] != FREE:
                    continue
                stale[j] = True
                if asked == 2:
                    mark(i, j, OUT, state, W, trail, count)
                elif not _join(i, j, stale, state, W, trail, count):
                    return False
    return True


@nb.njit(cache=True, nogil=True)
def _join(i, j, stale, state, W, trail, count):
    """Ask for an edge; the one that would close its path too early goes. False if this does."""
    n = len(state)
    first, before = _end_of_path(i, state)
    last, behind = _end_of_path(j, state)
    mark(i, j, IN, state, W, trail, count)
    if first == j:  # the ends of one path
        return before == n
    if before + behind < n and state[first, last] == FREE:
        mark(first, last, OUT, state, W, trail, count)
        stale[first] = stale[last] = True
    return True


@nb.njit(cache=True, nogil=True)
def _end_of_path(i, state):
    """Other end of the path of known edges that ends at a node, and its number of nodes."""
    before, length = -1, 1
    while length <= len(state):
        after = -1
        for j in range(len(state)):
            if j != i and j != before and state[i, j] == IN:
                after = j
                break
        if after < 0:
            break
        before, i = i, after
        length += 1
    return i, length


@nb.njit(cache=True, nogil=True)
def mark(i, j, new, state, W, trail, count):
    """Write what is asked of an edge that was free."""
    state[i, j] = state[j, i] = new
    W[i, j] = W[j, i] = np.inf if new == OUT else W[i, j] - FAR
    trail[count[0], 0], trail[count[0], 1] = i, j
    count[0] += 1


@nb.njit(cache=True, nogil=True)
def undo(before, C, state, W, trail, count):
    """Make all edges free that were not before there were so many marks."""
    while count[0] > before:
        count[0] -= 1
        i, j = trail[count[0], 0], trail[count[0], 1]
        state[i, j] = state[j, i] = FREE
        W[i, j] = W[j, i] = C[i, j]
