# SPDX-License-Identifier: BSD-3-Clause
"""The shortest round trip through all nodes, compiled: branch and bound by 1-trees.

A 1-tree is a spanning tree of all nodes but the first, and two edges at the first. With prices
pi of the nodes every round trip costs, less 2 sum pi, the same as before, so that

    max_pi  min over 1-trees of sum (c_ij + pi_i + pi_j)  -  2 sum pi

is a lower bound. Where it does not reach the best trip known, an edge at a node of more than two
edges is forbidden, and then asked for. Costs are at most 1 in size, so that a trip through n
nodes costs n at most, and n + 1 stands for none.
"""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct._arrays._numba_copying import assign
from skstruct.spaces.cycles._numba_asked_edges import (
    FREE,
    IN,
    OUT,
    ask_at_first,
    follow,
    mark,
    put,
    undo,
)
from skstruct.spaces.cycles._numba_decoding import improve, tour_cost
from skstruct.tolerances import TIE

ROOT_STEPS, STEPS = 120, 25  # of the prices, before the first branch and after one
PATIENCE = 4  # steps without gain before they are halved
SEGMENT = 3  # nodes that local search moves together
TINY = float(np.finfo(np.float64).tiny)


@nb.njit(cache=True, nogil=True)
def round_trip_rows(costs, known, high, most_work, tours):
    """Fill the rows of ``tours`` (n, N), which hold -1; whether each was finished.

    ``costs`` (n, N, N) are infinite where there is no edge; ``known`` (1 or n, N, N) marks edges
    that must be used and ``high`` (n, N) the nodes, all of which are visited. A row that is
    finished without a trip has none. Work counts entries of the costs that were looked at.
    """
    done = np.zeros(len(costs), np.bool_)
    for row in range(len(costs)):
        nodes = np.flatnonzero(high[row])
        n = len(nodes)
        C, must = np.empty((n, n)), np.zeros((n, n), np.bool_)
        scale, whole = TINY, True
        for i in range(n):
            for j in range(n):
                C[i, j] = costs[row, nodes[i], nodes[j]]
                must[i, j] = known[row if len(known) > 1 else 0, nodes[i], nodes[j]]
                if i != j and C[i, j] < np.inf:
                    scale = max(scale, abs(C[i, j]))
                    whole = whole and C[i, j] == np.floor(C[i, j])
        for i in range(n):
            for j in range(n):
                C[i, j] /= scale
        grain = 1 / scale if whole and scale >= 1 else 0.0
        tour = np.full(n, -1)
        done[row] = _best_trip(C, must, grain, most_work[row], tour)
        if done[row] and tour[0] >= 0:
            for k in range(n):
                tours[row, k] = nodes[tour[k]]
    return done


@nb.njit(cache=True, nogil=True)
def _best_trip(C, must, grain, most_work, tour):
    """Write the best trip; False where work or levels did not suffice. Depth first.

    Trips cost whole multiples of ``grain``, so that a better one is better by as much.
    """
    n, margin = len(C), max(TIE, grain - TIE)
    levels = min(n * (n - 1) // 2, 16 * n) + 2
    ends, marks = np.zeros((levels, 2), np.int64), np.zeros(levels, np.int64)
    asked = np.zeros(levels, np.int8)
    prices = np.zeros((levels, n))
    state, W = np.zeros((n, n), np.int8), C.copy()
    trail, count = np.zeros((n * (n - 1) // 2 + 1, 2), np.int64), np.zeros(1, np.int64)
    best = _first_trip(C, must, tour)
    if not ask_at_first(C, must, state, W, trail, count):
        tour[0] = -1
        return True
    tree = np.zeros((3, n), np.int64)  # parents, degrees, order of growth
    top, work = 0, 0
    while True:
        if work > most_work or top + 2 > levels:
            return False
        goal, steps = best - margin, STEPS if top else ROOT_STEPS
        bound, trees = _ascend(C, W, prices[top], best, goal, steps, tree)
        work += (trees + 2) * n * n
        if bound < goal:
            if _excess(tree[1]) == 0:
                _walk(tree, tour)
                best = tour_cost(C, tour, n)
            elif _leave_out_dear(goal - bound, W, prices[top], tree, state, trail, count):
                i, j = _branching_edge(W, prices[top], tree, state)
                if j < 0:  # what was left out has changed the tree: again
                    continue
                ends[top, 0], ends[top, 1] = i, j
                marks[top], asked[top] = count[0], FREE
                top += 1
        # On to the next branch: without the edge first, then with it.
        while top:
            undo(marks[top - 1], C, state, W, trail, count)
            asked[top - 1] += 1
            if asked[top - 1] > IN:
                top -= 1
                continue
            assign(prices[top], prices[top - 1])
            if put(ends[top - 1, 0], ends[top - 1, 1], asked[top - 1], state, W, trail, count):
                break
        if top == 0:
            if best > n:
                tour[0] = -1
            return True


# Bounds.


@nb.njit(cache=True, nogil=True)
def _excess(degree):
    """Sum of (degree - 2)^2, which is 0 for a trip."""
    total = 0
    for d in degree:
        total += (d - 2) ** 2
    return total


@nb.njit(cache=True, nogil=True)
def _ascend(C, W, price, best, goal, steps, tree):
    """A lower bound by subgradient steps and the number of trees that it took.

    ``price`` and ``tree`` become those of the bound, or of a trip.
    """
    n = len(C)
    kept, highest, stale, rate = price.copy(), -np.inf, 0, 2.0
    for step in range(steps):
        value = _one_tree(C, W, price, tree)
        if value == np.inf:
            return np.inf, step + 1
        square = _excess(tree[1])
        if value > highest + TIE:
            highest, stale = value, 0
            assign(kept, price)
        else:
            stale += 1
            if stale == PATIENCE:
                rate, stale = rate / 2, 0
        if square == 0 or highest >= goal:
            return (min(value, highest) if square == 0 else highest), step + 1
        length = rate * max(best - value, TIE) / square
        for i in range(n):
            price[i] += length * (tree[1, i] - 2)
    assign(price, kept)
    return _one_tree(C, W, price, tree), steps + 1


@nb.njit(cache=True, nogil=True)
def _one_tree(C, W, price, tree):
    """Cost of the least 1-tree with prices, less 2 sum of prices; infinite if there is none.

    The order of growth ends with the other neighbour of node 0; its parent is the first one.
    """
    n = len(C)
    parent, degree, order = tree[0], tree[1], tree[2]
    for i in range(n):
        degree[i] = 0
    reach, left = np.full(n, np.inf), np.arange(2, n)
    total, node, n_left = -2.0 * price.sum(), 1, n - 2
    order[0], parent[1] = 1, -1
    for step in range(1, n - 1):
        nearest, near = -1, np.inf
        for k in range(n_left):
            j = left[k]
            cost = W[node, j] + price[node] + price[j]
            if cost < reach[j]:
                reach[j], parent[j] = cost, node
            if reach[j] < near:
                nearest, near = k, reach[j]
        if nearest < 0:
            return np.inf
        node = left[nearest]
        n_left -= 1
        left[nearest] = left[n_left]
        order[step] = node
        before = parent[node]
        total += C[before, node] + price[before] + price[node]
        degree[node] += 1
        degree[before] += 1
    first, later, least, less = -1, -1, np.inf, np.inf
    for j in range(1, n):
        cost = W[0, j] + price[j]
        if cost < least:
            later, less, first, least = first, least, j, cost
        elif cost < less:
            later, less = j, cost
    if later < 0:
        return np.inf
    parent[0], order[n - 1] = first, later
    degree[0] = 2
    degree[first] += 1
    degree[later] += 1
    return total + C[0, first] + C[0, later] + 2 * price[0] + price[first] + price[later]


@nb.njit(cache=True, nogil=True)
def _leave_out_dear(room, W, price, tree, state, trail, count):
    """Forbid edges with which the bound rises by ``room`` or more; False if no trip is left.

    With an edge in it the least 1-tree costs more by its cost, less that of the dearest edge
    which it may replace: of those between its ends in the tree, or of the two at node 0.
    """
    n = len(W)
    parent, order = tree[0], tree[2]
    stale, changed = np.zeros(n, np.bool_), False
    dearest = np.full((n, n), -np.inf)
    second = W[0, order[n - 1]] + price[order[n - 1]]
    for step in range(n - 1):
        j = order[step]
        outside = j != parent[0] and j != order[n - 1] and state[0, j] == FREE
        if outside and W[0, j] + price[j] - second >= room:
            mark(0, j, OUT, state, W, trail, count)
            stale[0] = stale[j] = changed = True
        if step == 0:
            continue
        before = parent[j]
        last = W[before, j] + price[before] + price[j]
        for earlier in range(step):
            i = order[earlier]
            dearest[i, j] = dearest[j, i] = max(dearest[i, before], last)
            more = W[i, j] + price[i] + price[j] - dearest[i, j]
            if i != before and state[i, j] == FREE and more >= room:
                mark(i, j, OUT, state, W, trail, count)
                stale[i] = stale[j] = changed = True
    return not changed or follow(stale, state, W, trail, count)


@nb.njit(cache=True, nogil=True)
def _branching_edge(W, price, tree, state):
    """The dearest free edge of the 1-tree at a node of the highest degree."""
    n = len(W)
    parent, degree, order = tree[0], tree[1], tree[2]
    second = order[n - 1]
    i, j, dearest = int(np.argmax(degree)), -1, -np.inf
    for k in range(n):
        in_tree = k != i and (parent[i] == k or parent[k] == i)
        in_tree = in_tree or (i == 0 and k == second) or (k == 0 and i == second)
        if in_tree and state[i, k] == FREE and W[i, k] + price[k] > dearest:
            j, dearest = k, W[i, k] + price[k]
    return i, j


# Trips.


@nb.njit(cache=True, nogil=True)
def _walk(tree, tour):
    """Nodes of a 1-tree that is a trip, in order of travel."""
    n = len(tour)
    parent, order = tree[0], tree[2]
    near = np.full((n, 2), -1)
    for i in range(-1, n):
        u, v = (0, order[n - 1]) if i < 0 else (i, parent[i])
        if v >= 0:
            near[u, 0 if near[u, 0] < 0 else 1] = v
            near[v, 0 if near[v, 0] < 0 else 1] = u
    before, tour[0] = -1, 0
    for k in range(1, n):
        at = tour[k - 1]
        tour[k] = near[at, 0] if near[at, 0] != before else near[at, 1]
        before = at


@nb.njit(cache=True, nogil=True)
def _first_trip(C, must, tour):
    """The nearest node next, improved by local search; its cost, n + 1 if it is not allowed."""
    n = len(C)
    arc = C.copy()
    for i in range(n):
        for j in range(n):
            if must[i, j]:
                arc[i, j] = C[i, j] - 4 * n
            elif C[i, j] == np.inf:
                arc[i, j] = 4.0 * n
    assign(tour, np.arange(n))
    for k in range(1, n):
        nearest = k
        for other in range(k + 1, n):
            if arc[tour[k - 1], tour[other]] < arc[tour[k - 1], tour[nearest]]:
                nearest = other
        tour[k], tour[nearest] = tour[nearest], tour[k]
    improve(arc, np.ones(n, np.bool_), n, n, 1, SEGMENT, tour, n)
    used = 0
    for k in range(n):
        used += must[tour[k - 1], tour[k]]
    cost = tour_cost(C, tour, n)
    return cost if 2 * used == must.sum() and cost < np.inf else n + 1.0
