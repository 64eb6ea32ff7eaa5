# SPDX-License-Identifier: BSD-3-Clause
"""The shortest round trip through all of some twenty nodes: branch and bound by 1-trees.

A 1-tree is a spanning tree of all nodes but the first, and two edges at the first. With prices
pi of the nodes every round trip costs, less 2 sum pi, the same as before, so that

    max_pi  min over 1-trees of sum (c_ij + pi_i + pi_j)  -  2 sum pi

is a lower bound (Held and Karp, 1971). Where it does not reach the best tour known, an edge at a
node of more than two edges is forbidden, and then asked for. Costs may have any sign.
"""

import numba as nb
import numpy as np

FAR = 1e9  # in units of the largest cost: an edge that may not be used; its negative: that must
FREE, OUT, IN = 0, 1, 2
TINY = float(np.finfo(float).tiny)
CLOSE = 1e-9  # of the costs' scale: what a bound may lack to the best tour
ROOT_STEPS, STEPS = 120, 25


@nb.njit(cache=True)
def shortest_tours(costs, n_nodes):
    """Tours of least cost as edges (n, n_nodes (n_nodes - 1) / 2), row-major above the diagonal."""
    found = np.zeros(costs.shape, np.int8)
    C = np.zeros((n_nodes, n_nodes))
    for row in range(len(costs)):
        scale = TINY
        for cost in costs[row]:
            scale = max(scale, abs(cost))
        e = 0
        for i in range(n_nodes):
            for j in range(i + 1, n_nodes):
                C[i, j] = C[j, i] = costs[row, e] / scale
                e += 1
        tour = _best_tour(C)
        for k in range(n_nodes):
            i, j = tour[k], tour[(k + 1) % n_nodes]
            i, j = min(i, j), max(i, j)
            found[row, i * n_nodes - i * (i + 1) // 2 + j - i - 1] = 1
    return found


@nb.njit(cache=True)
def _best_tour(C):
    """Depth first; every level has its own table of what is asked of edges, and its prices."""
    n = len(C)
    depth = n * n
    states = np.zeros((depth, n, n), np.int8)
    prices = np.zeros((depth, n))
    tour = _first_tour(C)
    best = _length(C, tour)
    parent = np.zeros(n, np.int64)
    second = np.zeros(1, np.int64)
    top = 0
    while top >= 0:
        steps = STEPS if top else ROOT_STEPS
        bound, degree = _ascend(C, states[top], prices[top], best, steps, parent, second)
        if bound >= best - CLOSE:
            top -= 1
            continue
        if _excess(degree) == 0:
            tour = _walk(parent, second[0])
            best = _length(C, tour)
            top -= 1
            continue
        i, j = _branching_edge(C, states[top], degree, parent, second[0], prices[top])
        # Without the edge is searched first (it lies above); with it afterwards.
        states[top + 1, :, :] = states[top]
        prices[top + 1, :] = prices[top]
        fits = _ask_for(states[top], i, j)
        if not fits:
            states[top, :, :] = states[top + 1]
            top -= 1
        top += 1
        forbidden = states[top]
        forbidden[i, j] = forbidden[j, i] = OUT
        if not _completed(forbidden, i) or not _completed(forbidden, j):
            top -= 1
    return tour


@nb.njit(cache=True)
def _ask_for(state, i, j):
    """Put an edge in; False if a node would have three."""
    state[i, j] = state[j, i] = IN
    return _completed(state, i) and _completed(state, j)


@nb.njit(cache=True)
def _completed(state, i):
    """Forbid the other edges of a node that has two, ask for both if only two are left."""
    n = len(state)
    asked, free = 0, 0
    for j in range(n):
        if j != i:
            asked += state[i, j] == IN
            free += state[i, j] == FREE
    if asked > 2 or asked + free < 2:
        return False
    if asked == 2 or asked + free == 2:
        new = OUT if asked == 2 else IN
        for j in range(n):
            if j != i and state[i, j] == FREE:
                state[i, j] = state[j, i] = new
    return True


@nb.njit(cache=True)
def _excess(degree):
    """Sum of (degree - 2)^2, which is 0 for a tour."""
    total = 0
    for d in degree:
        total += (d - 2) ** 2
    return total


@nb.njit(cache=True)
def _ascend(C, state, price, best, steps, parent, second):
    """A lower bound by subgradient steps, and the degrees of the last 1-tree."""
    n = len(C)
    degree = np.zeros(n, np.int64)
    highest, kept, stale, rate = -np.inf, price.copy(), 0, 2.0
    for _ in range(steps):
        value = _one_tree(C, state, price, parent, second, degree)
        if value == np.inf:
            return np.inf, degree
        for i in range(n):
            value -= 2 * price[i]
        if value > highest + CLOSE:
            highest, stale = value, 0
            kept[:] = price
        else:
            stale += 1
            if stale == 4:
                rate, stale = rate / 2, 0
        square = _excess(degree)
        if highest >= best - CLOSE or square == 0:
            break
        length = rate * max(best - value, CLOSE) / square
        for i in range(n):
            price[i] += length * (degree[i] - 2)
    if _excess(degree):
        price[:] = kept
        _one_tree(C, state, price, parent, second, degree)
        return highest, degree
    return min(highest, _tree_length(C, parent, second[0])), degree


@nb.njit(cache=True)
def _one_tree(C, state, price, parent, second, degree):
    """Cost of the least 1-tree with prices; parents (of node 0: its first edge); inf if none."""
    n = len(C)
    degree[:] = 0
    reach = np.full(n, np.inf)
    inside = np.zeros(n, np.bool_)
    total, node, asked = 0.0, 1, 0
    inside[0] = inside[1] = True
    parent[1] = -1
    for _ in range(n - 2):
        nearest, near = -1, np.inf
        for j in range(2, n):
            if not inside[j]:
                cost = _seen(C, state, price, node, j)
                if cost < reach[j]:
                    reach[j] = cost
                    parent[j] = node
                if reach[j] < near:
                    nearest, near = j, reach[j]
        if near > FAR / 2:
            return np.inf
        node = nearest
        inside[node] = True
        asked += state[parent[node], node] == IN
        total += C[parent[node], node] + price[parent[node]] + price[node]
        degree[node] += 1
        degree[parent[node]] += 1
    wanted = 0
    for i in range(1, n):
        for j in range(i + 1, n):
            wanted += state[i, j] == IN
    if wanted > asked:  # edges that were asked for close a cycle
        return np.inf
    first, later = -1, -1
    least, less = np.inf, np.inf
    for j in range(1, n):
        cost = _seen(C, state, price, 0, j)
        if cost < least:
            later, less = first, least
            first, least = j, cost
        elif cost < less:
            later, less = j, cost
    if less > FAR / 2:
        return np.inf
    parent[0], second[0] = first, later
    degree[0] = 2
    degree[first] += 1
    degree[later] += 1
    return total + C[0, first] + C[0, later] + 2 * price[0] + price[first] + price[later]


@nb.njit(cache=True)
def _seen(C, state, price, i, j):
    """Cost that chooses: edges that are asked for come before all others."""
    cost = C[i, j] + price[i] + price[j]
    if state[i, j] == OUT:
        return cost + FAR
    if state[i, j] == IN:
        return cost - FAR
    return cost


@nb.njit(cache=True)
def _branching_edge(C, state, degree, parent, second, price):
    """The dearest free edge of the 1-tree at a node of the highest degree."""
    i, j, dearest = 0, -1, -np.inf
    for k in range(len(C)):
        if degree[k] > degree[i]:
            i = k
    for k in range(len(C)):
        in_tree = k != i and (parent[i] == k or parent[k] == i)
        in_tree = in_tree or (i == 0 and k == second) or (k == 0 and i == second)
        cost = C[i, k] + price[k]
        if in_tree and state[i, k] == FREE and cost > dearest:
            j, dearest = k, cost
    return i, j


@nb.njit(cache=True)
def _walk(parent, second):
    """Nodes of a 1-tree that is a tour, in order of travel."""
    n = len(parent)
    near = np.full((n, 2), -1)
    for i in range(-1, n):
        u, v = (0, second) if i < 0 else (i, parent[i])
        if v >= 0:
            near[u, 0 if near[u, 0] < 0 else 1] = v
            near[v, 0 if near[v, 0] < 0 else 1] = u
    tour = np.zeros(n, np.int64)
    before = -1
    for k in range(1, n):
        at = tour[k - 1]
        tour[k] = near[at, 0] if near[at, 0] != before else near[at, 1]
        before = at
    return tour


@nb.njit(cache=True)
def _tree_length(C, parent, second):
    total = C[0, second]
    for i in range(len(C)):
        if parent[i] >= 0:
            total += C[i, parent[i]]
    return total


@nb.njit(cache=True)
def _length(C, tour):
    total = C[tour[-1], tour[0]]
    for k in range(1, len(tour)):
        total += C[tour[k - 1], tour[k]]
    return total


@nb.njit(cache=True)
def _first_tour(C):
    """The nearest node next, then pieces are turned round as long as that pays."""
    n = len(C)
    tour = np.arange(n)
    for k in range(1, n):
        nearest = k
        for other in range(k + 1, n):
            if C[tour[k - 1], tour[other]] < C[tour[k - 1], tour[nearest]]:
                nearest = other
        tour[k], tour[nearest] = tour[nearest], tour[k]
    better = True
    while better:
        better = False
        for a in range(n - 1):
            for b in range(a + 2, n if a else n - 1):
                i, j, k, m = tour[a], tour[a + 1], tour[b], tour[(b + 1) % n]
                if C[i, k] + C[j, m] < C[i, j] + C[k, m] - CLOSE:
                    for step in range((b - a) // 2):
                        left, right = a + 1 + step, b - step
                        tour[left], tour[right] = tour[right], tour[left]
                    better = True
    return tour
