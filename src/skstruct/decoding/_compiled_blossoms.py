# SPDX-License-Identifier: BSD-3-Clause
"""Blossoms: odd circles of a matching that are shrunk to one vertex and opened again.

Vertices are the nodes 1..n and the blossoms above n; 0 stands for none. All weights are
whole numbers, so that an edge is tight or it is not.
"""

from __future__ import annotations

from collections import namedtuple

import numba as nb
import numpy as np

OUTER, INNER, UNREACHED = 0, 1, -1

VERTEX = np.dtype(
    [
        ("price", np.int64),  # dual variable; twice as large as in textbooks
        ("mate", np.int64),  # node outside x that x is matched with
        ("nearest", np.int64),  # node of an outer vertex with the best edge to x
        ("top", np.int64),  # outermost blossom that x is in, 0 for a blossom that is not there
        ("parent", np.int64),  # node from which the tree reached x
        ("side", np.int64),  # outer or inner in its tree, or not reached
        ("seen", np.int64),  # when a search for a common root passed x
        ("length", np.int64),  # how many vertices are in the circle of a blossom
    ]
)
PAIR = np.dtype(
    [
        ("tail", np.int64),  # node of x at the end of the best edge between x and y
        ("head", np.int64),  # its node in y
        ("weight", np.int64),  # its weight, 0 where there is none
    ]
)
Search = namedtuple(
    "Search",
    [
        "n",  # number of nodes
        "vertex",  # [x]
        "pair",  # [x, y]
        "holder",  # [b, v]: vertex in the circle of b that holds node v
        "circle",  # [b, :]: vertices around b, beginning with its base
        "queue",  # outer nodes whose edges are still to be looked at
        "count",  # highest vertex, length of the queue, clock of `seen`
    ],
)


@nb.njit(cache=True, nogil=True)
def slack(s, u, v):
    """How far the best edge between two vertices is from being tight."""
    a, b = s.pair[u, v].tail, s.pair[u, v].head
    return s.vertex[a].price + s.vertex[b].price - 2 * s.pair[a, b].weight


@nb.njit(cache=True, nogil=True)
def note_nearest(s, u, x):
    """Remember u as the outer node next to x, if it is nearer than the one so far."""
    if s.vertex[x].nearest == 0 or slack(s, u, x) < slack(s, s.vertex[x].nearest, x):
        s.vertex[x].nearest = u


@nb.njit(cache=True, nogil=True)
def find_nearest(s, x):
    """The outer node next to x."""
    s.vertex[x].nearest = 0
    for u in range(1, s.n + 1):
        if (
            s.pair[u, x].weight > 0
            and s.vertex[u].top != x
            and s.vertex[s.vertex[u].top].side == OUTER
        ):
            note_nearest(s, u, x)


@nb.njit(cache=True, nogil=True)
def push(s, x):
    """Queue the nodes of x."""
    if x <= s.n:
        s.queue[s.count[1]] = x
        s.count[1] += 1
        return
    for k in range(s.vertex[x].length):
        push(s, s.circle[x, k])


@nb.njit(cache=True, nogil=True)
def put_into(s, x, b):
    """Say of x and all in it that b is outermost."""
    s.vertex[x].top = b
    if x > s.n:
        for k in range(s.vertex[x].length):
            put_into(s, s.circle[x, k], b)


@nb.njit(cache=True, nogil=True)
def reverse(s, b, start, stop):
    """Turn the order of the vertices start..stop around b."""
    while start < stop - 1:
        stop -= 1
        s.circle[b, start], s.circle[b, stop] = s.circle[b, stop], s.circle[b, start]
        start += 1


@nb.njit(cache=True, nogil=True)
def place_in_circle(s, b, x):
    """Place of x around b, which is turned so that an even number of steps leads there."""
    place, m = 0, s.vertex[b].length
    while s.circle[b, place] != x:
        place += 1
    if place % 2 == 0:
        return place
    reverse(s, b, 1, m)
    return m - place


@nb.njit(cache=True, nogil=True)
def match(s, x, y):
    """Match x with y by their best edge; inside x all that follows from it."""
    s.vertex[x].mate = s.pair[x, y].head
    if x <= s.n:
        return
    base = s.holder[x, s.pair[x, y].tail]
    place = place_in_circle(s, x, base)
    for k in range(place):
        match(s, s.circle[x, k], s.circle[x, k ^ 1])
    match(s, base, y)
    m = s.vertex[x].length  # the base comes first: rotate by three reversals
    reverse(s, x, 0, place)
    reverse(s, x, place, m)
    reverse(s, x, 0, m)


@nb.njit(cache=True, nogil=True)
def add_path(s, b, x, root):
    """Append the way from x to the root to the circle of b; what was inner is outer now."""
    while x != root:
        other = s.vertex[s.vertex[x].mate].top
        s.circle[b, s.vertex[b].length] = x
        s.circle[b, s.vertex[b].length + 1] = other
        s.vertex[b].length += 2
        push(s, other)
        x = s.vertex[s.vertex[other].parent].top


@nb.njit(cache=True, nogil=True)
def shrink(s, u, root, v):
    """Make a blossom of the circle that the edge between u and v closes."""
    b = s.n + 1
    while b <= s.count[0] and s.vertex[b].top != 0:
        b += 1
    s.count[0] = max(s.count[0], b)
    s.vertex[b].price, s.vertex[b].side, s.vertex[b].mate = 0, OUTER, s.vertex[root].mate
    s.circle[b, 0], s.vertex[b].length = root, 1
    add_path(s, b, u, root)
    reverse(s, b, 1, s.vertex[b].length)
    add_path(s, b, v, root)
    put_into(s, b, b)
    for x in range(s.count[0] + 1):
        s.pair[b, x].weight = s.pair[x, b].weight = 0
    for node in range(s.n + 1):
        s.holder[b, node] = 0
    for k in range(s.vertex[b].length):
        inside = s.circle[b, k]
        for x in range(1, s.count[0] + 1):
            if s.pair[inside, x].weight > 0 and (
                s.pair[b, x].weight == 0 or slack(s, inside, x) < slack(s, b, x)
            ):
                s.pair[b, x].tail, s.pair[b, x].head = (
                    s.pair[inside, x].tail,
                    s.pair[inside, x].head,
                )
                s.pair[x, b].tail, s.pair[x, b].head = (
                    s.pair[x, inside].tail,
                    s.pair[x, inside].head,
                )
                s.pair[b, x].weight = s.pair[x, b].weight = s.pair[inside, x].weight
        for node in range(1, s.n + 1):
            if s.holder[inside, node] != 0:
                s.holder[b, node] = inside
    find_nearest(s, b)


@nb.njit(cache=True, nogil=True)
def expand(s, b):
    """Open an inner blossom: one way around it stays in the tree."""
    for k in range(s.vertex[b].length):
        put_into(s, s.circle[b, k], s.circle[b, k])
    entry = s.holder[b, s.pair[b, s.vertex[b].parent].tail]
    place = place_in_circle(s, b, entry)
    for k in range(0, place, 2):
        inner, outer = s.circle[b, k], s.circle[b, k + 1]
        s.vertex[inner].parent = s.pair[outer, inner].tail
        s.vertex[inner].side, s.vertex[outer].side = INNER, OUTER
        s.vertex[inner].nearest = 0
        find_nearest(s, outer)
        push(s, outer)
    s.vertex[entry].side, s.vertex[entry].parent = INNER, s.vertex[b].parent
    for k in range(place + 1, s.vertex[b].length):
        s.vertex[s.circle[b, k]].side = UNREACHED
        find_nearest(s, s.circle[b, k])
    s.vertex[b].top = 0
