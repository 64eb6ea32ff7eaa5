# SPDX-License-Identifier: BSD-3-Clause
"""Closed sets of least cost where all parents of a label together cost something, too.

A row is f(y) = <a, y> + sum over m of w_m prod_{k in P(m)} y_k over closed sets y. Products of
negative weight are nodes below their parents, so all w_m here are positive: f is the sum of a
submodular g, which a min-cut minimizes, and a supermodular h that never falls.

Two cuts fix nodes of some best set. With h left out, a minimizer u has f(y and u) <= f(y) for every
y: what is not in u is out. With each product charged to its label, or to all of its parents, a
minimizer l has f(y or l) <= f(y): what is in l is in. A product one of whose parents is free is
linear, so what was fixed fixes more. What is left is searched by branch and bound. For any share
s in [0, 1],

    prod_{k in P} y_k >= s y_label + (1 - s) (sum_{k in P} y_k - |P| + 1),

so that a cut bounds f from below, and its set is one to compare with.
"""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct._arrays._numba_copying import assign, count_up
from skstruct.spaces.solvers._numba_closures import closure, workspace
from skstruct.tolerances import ROUNDING_GAP

OUT, FREE, IN = -1, 0, 1  # states of nodes
NEXT, FIX_OUT, FIX_IN, BOUND = 0, 1, 2, 3  # steps of the search
TURNS = 8  # cuts that bound a subproblem
DEPTH = 64  # subproblems that wait


@nb.njit(cache=True, nogil=True)
def _subgraph(taken, order, out_start, out):
    """Nodes that are taken, in order, as a graph: nodes, number by position or -1, and arcs."""
    number = np.full(order.shape[0], -1, np.int32)
    size, n_arcs = 0, 0
    for v in range(order.shape[0]):
        if taken[order[v]]:
            number[v] = size
            size += 1
            n_arcs += out_start[v + 1] - out_start[v]
    nodes, start = np.empty(size, np.int64), np.zeros(size + 1, np.int32)
    above, in_start = np.empty(n_arcs, np.int32), np.zeros(size + 1, np.int32)
    n_arcs = 0
    for v in range(order.shape[0]):
        if number[v] < 0:
            continue
        nodes[number[v]] = order[v]
        for e in range(out_start[v], out_start[v + 1]):  # parents are taken where a child is
            above[n_arcs] = number[out[e]]
            in_start[number[out[e]] + 1] += 1
            n_arcs += 1
        start[number[v] + 1] = n_arcs
    for v in range(size):
        in_start[v + 1] += in_start[v]
    below, in_arc = np.empty(n_arcs, np.int32), np.empty(n_arcs, np.int32)
    at = in_start.copy()
    for v in range(size):
        for e in range(start[v], start[v + 1]):
            p = above[e]
            below[at[p]], in_arc[at[p]] = v, e
            at[p] += 1
    return nodes, number, (start, above, in_start, below, in_arc)


@nb.njit(cache=True, nogil=True)
def _subproducts(cost, number, position, d, first, parent, label):
    """Products of positive weight all of whose parents are taken: weights, parents, labels."""
    n_products = label.shape[0]
    weight, start = np.empty(n_products), np.zeros(n_products + 1, np.int32)
    above, child = np.empty(parent.shape[0], np.int32), np.empty(n_products, np.int32)
    n, n_arcs = 0, 0
    for m in range(n_products):
        if cost[d + m] <= 0.0:
            continue
        at, whole = n_arcs, True
        for e in range(first[m], first[m + 1]):
            above[at] = number[position[parent[e]]]
            whole = whole and above[at] >= 0
            at += 1
        if whole:
            weight[n], child[n] = cost[d + m], number[position[label[m]]]
            n, n_arcs = n + 1, at
            start[n] = at
    return weight[:n], start[: n + 1], above[:n_arcs], child[:n]


@nb.njit(cache=True, nogil=True)
def _n_free(start, above, state, m):
    """Parents of a product that are not fixed; -1 where one is out, and the product zero."""
    n = 0
    for e in range(start[m], start[m + 1]):
        if state[above[e]] == OUT:
            return -1
        n += state[above[e]] == FREE
    return n


@nb.njit(cache=True, nogil=True)
def _charged(problem, state, share, drop, cut):
    """Write linear costs of the free nodes into `cut`; returns what has to be paid anyway.

    Products with two free parents and more are charged by their shares, or left out (`drop`).
    """
    a, weight, start, above, child = problem
    paid = 0.0
    for v in range(a.shape[0]):
        cut[v] = a[v] if state[v] == FREE else 0.0
        if state[v] == IN:
            paid += a[v]
    for m in range(weight.shape[0]):
        n_free = _n_free(start, above, state, m)
        if n_free < 0 or (drop and n_free > 1):
            continue
        if n_free == 0:
            paid += weight[m]
            continue
        s = share[m] if n_free > 1 else 0.0
        if child[m] >= 0 and state[child[m]] == FREE:
            cut[child[m]] += s * weight[m]
        rest = (1.0 - s) * weight[m]
        for e in range(start[m], start[m + 1]):
            if state[above[e]] == FREE:
                cut[above[e]] += rest
        paid -= rest * (n_free - 1)
    return paid


@nb.njit(cache=True, nogil=True)
def _fixed(state, found, way):
    """Fix free nodes that were found as IN, or those that were not as OUT; returns how many."""
    n = 0
    for v in range(state.shape[0]):
        if state[v] == FREE and (found[v] == IN) == (way == IN):
            state[v] = way
            n += 1
    return n


@nb.njit(cache=True, nogil=True)
def _any_free(state):
    free = False
    for v in range(state.shape[0]):
        free |= state[v] == FREE
    return free


@nb.njit(cache=True, nogil=True)
def _charge_labels(problem, state, share):
    """Charge every product to its label, or to its parents where that is out."""
    child = problem[4]
    for m in range(child.shape[0]):
        share[m] = 1.0 if child[m] >= 0 and state[child[m]] == FREE else 0.0


@nb.njit(cache=True, nogil=True)
def _settled(problem, state, share, found):
    """Whether all charges were right: a label pays where it is found, or no parent is.

    Others are charged to the parents from now on.
    """
    _, weight, start, above, child = problem
    settled = True
    for m in range(weight.shape[0]):
        if share[m] == 0.0 or found[child[m]]:
            continue
        for e in range(start[m], start[m + 1]):
            if found[above[e]] and state[above[e]] == FREE:
                share[m], settled = 0.0, False
    return settled


@nb.njit(cache=True, nogil=True)
def _value(problem, state):
    """Cost of the nodes that are in."""
    a, weight, start, above, _ = problem
    value = 0.0
    for v in range(a.shape[0]):
        if state[v] == IN:
            value += a[v]
    for m in range(weight.shape[0]):
        whole = True
        for e in range(start[m], start[m + 1]):
            whole = whole and state[above[e]] == IN
        if whole:
            value += weight[m]
    return value


@nb.njit(cache=True, nogil=True)
def _step(problem, state, found, share, step):
    """Move shares towards those that cost the set right; a parent to branch on, or -1.

    It is one of the product that the cut has charged worst.
    """
    _, weight, start, above, child = problem
    branch, worst = -1, 0.0
    for m in range(weight.shape[0]):
        if _n_free(start, above, state, m) < 2:
            continue
        missing, free = 0, -1
        for e in range(start[m], start[m + 1]):
            missing += found[above[e]] != IN
            if state[above[e]] == FREE:
                free = above[e]
        has_label = child[m] >= 0 and found[child[m]] == IN
        charged = share[m] * has_label + (1.0 - share[m]) * (1 - missing)
        wrong = weight[m] * ((missing == 0) - charged)
        if wrong > worst:
            branch, worst = free, wrong
        if missing == 0 and not has_label:
            share[m] -= step * share[m]
        elif missing > 1:
            share[m] += step * (1.0 - share[m])
    return branch


@nb.njit(cache=True, nogil=True)
def _improved(problem, state, found, best, value):
    """Fill up `found` with what is fixed, and keep it as `best` if it costs less than `value`."""
    for v in range(state.shape[0]):
        if state[v] != FREE:
            found[v] = state[v]
        elif found[v] == 0:
            found[v] = OUT
    here = _value(problem, found)
    if here < value:
        assign(best, found)
    return min(here, value)


@nb.njit(cache=True, nogil=True)
def _branch(arcs, state, node, way, child):
    """The subproblem in which a node is in, with all above it, or out, with all below it."""
    start, above, in_start, below, _ = arcs
    assign(child, state)
    child[node] = way
    if way == IN:
        for v in range(node, -1, -1):
            if child[v] == IN:
                for e in range(start[v], start[v + 1]):
                    child[above[e]] = IN
    else:
        for v in range(node, state.shape[0]):
            if child[v] == OUT:
                for e in range(in_start[v], in_start[v + 1]):
                    child[below[e]] = OUT


@nb.njit(cache=True, nogil=True)
def _searched(problem, arcs, state, best, gap, most):
    """Write the best set into `best`, as states; returns a lower bound. At most `most` branchings.

    One loop, and one place where cuts are made, since every function that calls another is compiled
    with all of it.
    """
    size = state.shape[0]
    cut, found, numbers = np.empty(size), np.empty(size, np.int8), np.empty(size, np.int64)
    count_up(numbers)
    share, work = np.empty(problem[1].shape[0]), workspace(size, arcs[1].shape[0])
    stack, bounds = np.empty((DEPTH + 2, size), np.int8), np.empty(DEPTH + 2)
    value, lowest, error, n_branched, top = np.inf, np.inf, 0.0, 0, 1
    assign(stack[0], state)
    bounds[0], step, turn, n_fixed = -np.inf, NEXT, 0, 0
    while True:
        if step == NEXT:
            if top == 0:
                return min(lowest, value) - error
            top -= 1
            bound = bounds[top]
            if value - bound <= gap or n_branched > most:
                lowest = min(lowest, bound)
                continue
            assign(state, stack[top])
            step = FIX_OUT
        paid = _charged(problem, state, share, step == FIX_OUT, cut)
        found[:] = 0
        least, lower, _ = closure(cut, numbers, arcs, work, found)
        if step == FIX_OUT:
            error += max(least - lower, 0.0)
            n_fixed = _fixed(state, found, OUT)
            _charge_labels(problem, state, share)
            step = FIX_IN
        elif step == FIX_IN:
            if not _settled(problem, state, share, found):
                continue
            error += max(least - lower, 0.0)
            n_fixed += _fixed(state, found, IN)
            step = FIX_OUT if n_fixed > 0 else BOUND
            share[:], turn = 1.0, 0
            if not _any_free(state):
                assign(found, state)
                value = _improved(problem, state, found, best, value)
                lowest, step = min(lowest, value), NEXT
        else:
            value, turn = _improved(problem, state, found, best, value), turn + 1
            bound = max(bound, paid + lower)
            # Full steps at first, then an average: some shares are between 0 and 1.
            node = _step(problem, state, found, share, 1.0 if turn <= 3 else 1.0 / turn)
            if value - bound > gap and node >= 0 and turn < TURNS:
                continue
            n_branched, step = n_branched + 1, NEXT
            if value - bound <= gap or node < 0 or n_branched > most or top > DEPTH:
                lowest = min(lowest, bound)
                continue
            likely = IN if best[node] == IN else OUT
            _branch(arcs, state, node, -likely, stack[top])
            _branch(arcs, state, node, likely, stack[top + 1])
            bounds[top], bounds[top + 1], top = bound, bound, top + 2


@nb.njit(cache=True, nogil=True)
def closed_product_sets(
    costs, taken, low, errors, order, position, out_start, out, first, parent, label, most
):
    """Closed set of least cost of every row, its cost, and a lower bound.

    The graph has the products as nodes d, d + 1, ... below their parents, which are
    `parent[first[m]:first[m + 1]]`; `label[m]` has the same ones.

    `costs` (n, d + n_products); `taken` (n, d + n_products) are sets that have some best set within
    them, `errors` (n,) by how much the best of those may cost more; `low` (n or 1, d) are closed
    sets that are in.
    """
    n, d = costs.shape[0], low.shape[1]
    outputs, values, bounds = np.zeros((n, d), np.int8), np.empty(n), np.empty(n)
    for row in range(n):
        cost, known = costs[row], low[min(row, low.shape[0] - 1)]
        nodes, number, arcs = _subgraph(taken[row], order, out_start, out)
        products = _subproducts(cost, number, position, d, first, parent, label)
        state, best = np.zeros(nodes.shape[0], np.int8), np.zeros(nodes.shape[0], np.int8)
        for v in range(nodes.shape[0]):
            if nodes[v] < d and known[nodes[v]]:
                state[v] = IN
        gap = ROUNDING_GAP * np.abs(cost).sum()
        bound = _searched((cost[nodes], *products), arcs, state, best, gap, most) - errors[row]
        value = 0.0
        for v in range(nodes.shape[0]):
            if best[v] == IN and nodes[v] < d:
                outputs[row, nodes[v]] = 1
                value += cost[nodes[v]]
        for m in range(label.shape[0]):
            whole = True
            for e in range(first[m], first[m + 1]):
                whole = whole and outputs[row, parent[e]] == 1
            if whole:
                value += cost[d + m]
        values[row], bounds[row] = value, value if value - bound <= gap else bound
    return outputs, values, bounds
