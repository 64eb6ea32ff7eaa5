# SPDX-License-Identifier: BSD-3-Clause
"""Matchings of greatest weight in a graph, by augmenting ways through blossoms in O(n^3)."""

from __future__ import annotations

import numba as nb
import numpy as np

import skstruct._arrays.compiling  # noqa: F401 (tells who waits)
from skstruct.decoding._compiled_blossoms import (
    INNER,
    OUTER,
    PAIR,
    UNREACHED,
    VERTEX,
    Search,
    expand,
    match,
    note_nearest,
    push,
    shrink,
    slack,
)


@nb.njit(cache=True, nogil=True)
def augment(s, u, v):
    """Flip the way from u to the root of its tree, and match u with v."""
    while True:
        next_one = s.vertex[s.vertex[u].mate].top
        match(s, u, v)
        if next_one == 0:
            return
        match(s, next_one, s.vertex[s.vertex[next_one].parent].top)
        u, v = s.vertex[s.vertex[next_one].parent].top, next_one


@nb.njit(cache=True, nogil=True)
def common_root(s, u, v):
    """Where the ways from u and v to their roots meet; 0 if the roots differ."""
    s.count[2] += 1
    clock = s.count[2]
    while u != 0 or v != 0:
        if u != 0:
            if s.vertex[u].seen == clock:
                return u
            s.vertex[u].seen = clock
            u = s.vertex[s.vertex[u].mate].top
            if u != 0:
                u = s.vertex[s.vertex[u].parent].top
        u, v = v, u
    return 0


@nb.njit(cache=True, nogil=True)
def follow(s, a, b):
    """Take a tight edge from an outer node a to node b; True if it augmented the matching."""
    u, v = s.vertex[a].top, s.vertex[b].top
    if s.vertex[v].side == UNREACHED:
        s.vertex[v].parent, s.vertex[v].side = a, INNER
        other = s.vertex[s.vertex[v].mate].top
        s.vertex[v].nearest = s.vertex[other].nearest = 0
        s.vertex[other].side = OUTER
        push(s, other)
    elif s.vertex[v].side == OUTER:
        root = common_root(s, u, v)
        if root == 0:
            augment(s, u, v)
            augment(s, v, u)
            return True
        shrink(s, u, root, v)
    return False


@nb.njit(cache=True, nogil=True)
def scan(s):
    """Look at the edges of all queued nodes; True if one augmented the matching."""
    k = 0
    while k < s.count[1]:
        u = s.queue[k]
        k += 1
        if s.vertex[s.vertex[u].top].side == INNER:
            continue
        for v in range(1, s.n + 1):
            if s.pair[u, v].weight > 0 and s.vertex[u].top != s.vertex[v].top:
                if slack(s, u, v) > 0:
                    note_nearest(s, u, s.vertex[v].top)
                elif follow(s, u, v):
                    return True
    s.count[1] = 0
    return False


@nb.njit(cache=True, nogil=True)
def largest_step(s):
    """How far prices can move before an edge gets tight or an inner blossom opens."""
    step = np.iinfo(np.int64).max
    for x in range(1, s.count[0] + 1):
        if s.vertex[x].top != x:
            continue
        if x > s.n and s.vertex[x].side == INNER:
            step = min(step, s.vertex[x].price // 2)
        if s.vertex[x].nearest != 0:
            if s.vertex[x].side == UNREACHED:
                step = min(step, slack(s, s.vertex[x].nearest, x))
            elif s.vertex[x].side == OUTER:
                step = min(step, slack(s, s.vertex[x].nearest, x) // 2)
    return step


@nb.njit(cache=True, nogil=True)
def move_prices(s, step):
    """Lower outer prices and raise inner ones; False if an outer one reaches zero."""
    for u in range(1, s.n + 1):
        if s.vertex[s.vertex[u].top].side == OUTER and s.vertex[u].price <= step:
            return False
    for u in range(1, s.n + 1):
        side = s.vertex[s.vertex[u].top].side
        s.vertex[u].price += step if side == INNER else -step if side == OUTER else 0
    for b in range(s.n + 1, s.count[0] + 1):
        if s.vertex[b].top == b:
            side = s.vertex[b].side
            s.vertex[b].price += 2 * step if side == OUTER else -2 * step if side == INNER else 0
    return True


@nb.njit(cache=True, nogil=True)
def augment_once(s):
    """Match two nodes more, at the best price; False if the matching has the greatest weight."""
    s.count[1] = 0
    for x in range(s.count[0] + 1):
        s.vertex[x].side, s.vertex[x].nearest = UNREACHED, 0
    for x in range(1, s.count[0] + 1):
        if s.vertex[x].top == x and s.vertex[x].mate == 0:
            s.vertex[x].parent, s.vertex[x].side = 0, OUTER
            push(s, x)
    if s.count[1] == 0:
        return False
    while True:
        if scan(s):
            return True
        if not move_prices(s, largest_step(s)):
            return False
        for x in range(1, s.count[0] + 1):
            near = s.vertex[x].nearest
            if (
                s.vertex[x].top != x
                or near == 0
                or s.vertex[near].top == x
                or slack(s, near, x) > 0
            ):
                continue
            if follow(s, s.pair[near, x].tail, s.pair[near, x].head):
                return True
        for b in range(s.n + 1, s.count[0] + 1):
            if s.vertex[b].top == b and s.vertex[b].side == INNER and s.vertex[b].price == 0:
                expand(s, b)


def new_search(n: int) -> Search:
    """Room for a search over n nodes and the blossoms that they can make."""
    m = n + n // 2 + 2
    return Search(
        n,
        np.zeros(m, VERTEX),
        np.zeros((m, m), PAIR),
        np.zeros((m, n + 1), np.int64),
        np.zeros((m, n + 1), np.int64),
        np.zeros(n * (n + 2) + 2, np.int64),
        np.zeros(3, np.int64),
    )


@nb.njit(cache=True, nogil=True)
def prepare(s, ends, weights):
    """Begin with no edge matched and every node at the price of the dearest edge."""
    m = len(s.vertex)
    for x in range(m):
        s.vertex[x].mate = s.vertex[x].top = s.vertex[x].seen = 0
        for y in range(m):
            s.pair[x, y].weight = 0
        for v in range(s.n + 1):
            s.holder[x, v] = 0
    s.count[0], s.count[1], s.count[2] = s.n, 0, 0
    dearest = 0
    for e in range(len(ends)):
        u, v = ends[e, 0] + 1, ends[e, 1] + 1
        s.pair[u, v].weight = s.pair[v, u].weight = max(weights[e], 0)
        dearest = max(dearest, weights[e])
    for u in range(1, s.n + 1):
        s.vertex[u].top = s.holder[u, u] = u
        s.vertex[u].price = dearest
        for v in range(1, s.n + 1):
            s.pair[u, v].tail, s.pair[u, v].head = u, v


@nb.njit(cache=True, nogil=True)
def heaviest_matchings(weights, ends, s, matchings):
    """Fill every row with a matching of greatest weight; whole weights (n, d), those > 0 count."""
    for i in range(len(weights)):
        prepare(s, ends, weights[i])
        while augment_once(s):
            pass
        for e in range(len(ends)):
            u, v = ends[e, 0] + 1, ends[e, 1] + 1
            matchings[i, e] = s.vertex[u].mate == v and s.pair[u, v].weight > 0
