# SPDX-License-Identifier: BSD-3-Clause
"""The blossom algorithm: matchings of greatest weight, compiled.

Vertices are the nodes 1..n and the blossoms above n; 0 stands for none. All weights are
whole numbers, so that an edge is tight or it is not.
"""

from collections import namedtuple

import numpy as np

from skstruct._arrays import compiling as nb

OUTER, INNER, UNREACHED = 0, 1, -1

VERTEX = np.dtype(
    [
        ("dual", np.int64),  # dual variable; twice as large as in textbooks
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
    return s.vertex[a].dual + s.vertex[b].dual - 2 * s.pair[a, b].weight


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
def position_in_circle(s, b, x):
    """Position of x around b, which is turned so that an even number of steps leads there."""
    position, m = 0, s.vertex[b].length
    while s.circle[b, position] != x:
        position += 1
    if position % 2 == 0:
        return position
    reverse(s, b, 1, m)
    return m - position


@nb.njit(cache=True, nogil=True)
def match(s, x, y):
    """Match x with y by their best edge; inside x all that follows from it."""
    s.vertex[x].mate = s.pair[x, y].head
    if x <= s.n:
        return
    base = s.holder[x, s.pair[x, y].tail]
    position = position_in_circle(s, x, base)
    for k in range(position):
        match(s, s.circle[x, k], s.circle[x, k ^ 1])
    match(s, base, y)
    m = s.vertex[x].length  # the base comes first: rotate by three reversals
    reverse(s, x, 0, position)
    reverse(s, x, position, m)
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
    s.vertex[b].dual, s.vertex[b].side, s.vertex[b].mate = 0, OUTER, s.vertex[root].mate
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
    position = position_in_circle(s, b, entry)
    for k in range(0, position, 2):
        inner, outer = s.circle[b, k], s.circle[b, k + 1]
        s.vertex[inner].parent = s.pair[outer, inner].tail
        s.vertex[inner].side, s.vertex[outer].side = INNER, OUTER
        s.vertex[inner].nearest = 0
        find_nearest(s, outer)
        push(s, outer)
    s.vertex[entry].side, s.vertex[entry].parent = INNER, s.vertex[b].parent
    for k in range(position + 1, s.vertex[b].length):
        s.vertex[s.circle[b, k]].side = UNREACHED
        find_nearest(s, s.circle[b, k])
    s.vertex[b].top = 0


# Matchings of greatest weight in a graph, by augmenting ways through blossoms in O(n^3).


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
    """How far dual variables can move before an edge gets tight or an inner blossom opens."""
    step = np.iinfo(np.int64).max
    for x in range(1, s.count[0] + 1):
        if s.vertex[x].top != x:
            continue
        if x > s.n and s.vertex[x].side == INNER:
            step = min(step, s.vertex[x].dual // 2)
        if s.vertex[x].nearest != 0:
            if s.vertex[x].side == UNREACHED:
                step = min(step, slack(s, s.vertex[x].nearest, x))
            elif s.vertex[x].side == OUTER:
                step = min(step, slack(s, s.vertex[x].nearest, x) // 2)
    return step


@nb.njit(cache=True, nogil=True)
def move_duals(s, step):
    """Lower outer duals and raise inner ones; False if an outer one reaches zero."""
    for u in range(1, s.n + 1):
        if s.vertex[s.vertex[u].top].side == OUTER and s.vertex[u].dual <= step:
            return False
    for u in range(1, s.n + 1):
        side = s.vertex[s.vertex[u].top].side
        s.vertex[u].dual += step if side == INNER else -step if side == OUTER else 0
    for b in range(s.n + 1, s.count[0] + 1):
        if s.vertex[b].top == b:
            side = s.vertex[b].side
            s.vertex[b].dual += 2 * step if side == OUTER else -2 * step if side == INNER else 0
    return True


@nb.njit(cache=True, nogil=True)
def augment_once(s):
    """Match two nodes more, at the best cost; False if the matching has the greatest weight."""
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
        if not move_duals(s, largest_step(s)):
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
            if s.vertex[b].top == b and s.vertex[b].side == INNER and s.vertex[b].dual == 0:
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
    """Begin with no edge matched and the dual of every node at the largest weight."""
    m = len(s.vertex)
    for x in range(m):
        s.vertex[x].mate = s.vertex[x].top = s.vertex[x].seen = 0
        for y in range(m):
            s.pair[x, y].weight = 0
        for v in range(s.n + 1):
            s.holder[x, v] = 0
    s.count[0], s.count[1], s.count[2] = s.n, 0, 0
    largest = 0
    for e in range(len(ends)):
        u, v = ends[e, 0] + 1, ends[e, 1] + 1
        s.pair[u, v].weight = s.pair[v, u].weight = max(weights[e], 0)
        largest = max(largest, weights[e])
    for u in range(1, s.n + 1):
        s.vertex[u].top = s.holder[u, u] = u
        s.vertex[u].dual = largest
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
