# SPDX-License-Identifier: BSD-3-Clause
"""Compiled max-product on forests: one for all rows, one per row, nodes of several states."""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct._arrays._numba_copying import assign, assign_rows
from skstruct.spaces.solvers._numba_closures import WIDTH, transposed


@nb.njit(cache=True, nogil=True)
def _spread(costs, columns, block):
    """Some columns of the only row of `costs`, in all columns of `block`."""
    for v in range(columns.shape[0]):
        if columns[v] >= 0:
            block[v, :] = costs[0, columns[v]]


@nb.njit(cache=True, nogil=True)
def _best_block(parent, weight, more, taken, joined, tied):
    """`more` becomes the cost of having a label with all below it, `taken` the best labels.

    more(v) = cost(v) + sum over children c of min(0, more(c) + w_vc) - min(0, more(c)).
    `tied` says for which rows some label with edges of some cost is as good in as out;
    `joined` is where such edges are noted, from a label to those below it.
    """
    n = parent.shape[0]
    more[n] = 0.0
    tied[:], joined[:] = False, False
    for v in range(n - 1, -1, -1):  # children come after their parents
        p = parent[v]
        for b in range(WIDTH):
            together = more[v, b] + weight[v, b]
            linked = weight[v, b] != 0.0
            tied[b] |= ((more[v, b] == 0.0) | (together == 0.0)) & (linked | joined[v, b])
            joined[p, b] |= linked
            without = min(more[v, b], 0.0)
            more[p, b] += min(together, 0.0) - without
            more[n, b] += without
    for v in range(n):
        p = parent[v]
        for b in range(WIDTH):
            added = weight[v, b] if taken[p, b] else 0.0
            taken[v, b] = more[v, b] + added < 0.0


@nb.njit(cache=True, nogil=True)
def best_labels(node_costs, edge_costs, order, parent, edge):
    """Minimum-cost labels of every row, their cost, and which rows may have other labels as cheap.

    `order` lists the columns, parents first; `parent` and `edge` hold, by position in that
    order, the parent's position and the number of the edge to it. Roots have parent n, one
    more node that costs nothing, and edge -1, which weighs nothing.
    """
    rows, n = node_costs.shape
    shared = edge_costs.shape[0] == 1
    outputs, values = np.empty((rows, n), np.int8), np.empty(rows)
    weight, more = np.zeros((n, WIDTH)), np.zeros((n + 1, WIDTH))
    taken, joined = np.zeros((n + 1, WIDTH), np.int8), np.zeros((n + 1, WIDTH), np.bool_)
    tied = np.zeros(WIDTH, np.bool_)
    tie = np.empty(rows, np.bool_)
    if shared:
        _spread(edge_costs, edge, weight)
    for first in range(0, rows, WIDTH):
        last = min(first + WIDTH, rows)
        transposed(node_costs, first, last, order, more)
        if not shared:
            transposed(edge_costs, first, last, edge, weight)
        _best_block(parent, weight, more, taken, joined, tied)
        for row in range(first, last):
            values[row], tie[row] = more[n, row - first], tied[row - first]
            for v in range(n):
                outputs[row, order[v]] = taken[v, row - first]
    return outputs, values, tie


# Compiled max-product where every row has a forest of its own, and ties go by index.
#
# Of sets that cost the same the first in colexicographic order is taken: at the highest label in
# which two sets differ, the one without it wins. Trees below different nodes have no label in
# common, so that the first set of all is made of the first sets of the trees, and one pass that
# carries sets along with their costs finds it.


BITS = 62  # labels per word of a set


@nb.njit(cache=True, nogil=True)
def _root_forest(weights, start, other, edge, order, parent, weight):
    """Order the nodes by the edges that cost something, parents first; False at a circle.

    `parent` and `weight` are by node: the parent, -1 for roots, and the cost of the edge to it.
    """
    n, done, waiting = order.shape[0], 0, 0
    parent[:] = -2  # not seen
    for root in range(n):
        if parent[root] != -2:
            continue
        parent[root], weight[root] = -1, 0.0
        order[waiting] = root
        waiting += 1
        while done < waiting:
            i = order[done]
            done += 1
            for p in range(start[i], start[i + 1]):
                j, w = other[p], weights[edge[p]]
                if w == 0.0 or j == parent[i]:
                    continue
                if parent[j] != -2:
                    return False
                parent[j], weight[j] = i, w
                order[waiting] = j
                waiting += 1
    return True


@nb.njit(cache=True, nogil=True)
def _is_first(cost, sets, other_cost, other_sets):
    """Whether one choice costs less than another, or the same and comes first."""
    if cost != other_cost:
        return cost < other_cost
    for k in range(sets.shape[0] - 1, -1, -1):
        if sets[k] != other_sets[k]:
            return sets[k] < other_sets[k]
    return False


@nb.njit(cache=True, nogil=True)
def _gather(order, parent, weight, value, sets):
    """From leaves to roots: costs (n + 1, 2) and sets (n + 1, 2, words) of the trees below.

    The second index says whether the node is in. The last node is above all roots.
    """
    n, words = order.shape[0], sets.shape[2]
    for at in range(n - 1, -1, -1):
        v = order[at]
        if words:
            sets[v, 1, v // BITS] |= np.int64(1) << (v % BITS)
        up = parent[v] if parent[v] >= 0 else n
        for above in range(2):
            with_it = value[v, 1] + (weight[v] if above else 0.0)
            take = 1 if _is_first(with_it, sets[v, 1], value[v, 0], sets[v, 0]) else 0
            value[up, above] += with_it if take else value[v, 0]
            for k in range(words):
                sets[up, above, k] |= sets[v, take, k]


@nb.njit(cache=True, nogil=True)
def _trace_back(order, parent, weight, value, output):
    """From roots to leaves where no sets were kept: a label is in where it costs less."""
    for v in order:
        added = weight[v] if parent[v] >= 0 and output[parent[v]] else 0.0
        output[v] = value[v, 1] + added < value[v, 0]


@nb.njit(cache=True, nogil=True)
def best_on_own_forests(node_costs, edge_costs, start, other, edge, words, outputs, values):
    """Fill the rows whose edges of some cost are a forest; says which rows these are."""
    rows, n = node_costs.shape
    shared = edge_costs.shape[0] == 1
    order, parent, weight = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    value, sets = np.empty((n + 1, 2)), np.empty((n + 1, 2, words), np.int64)
    found = np.zeros(rows, np.bool_)
    for row in range(rows):
        w = edge_costs[0 if shared else row]
        if not _root_forest(w, start, other, edge, order, parent, weight):
            continue
        found[row] = True
        value[:], sets[:] = 0.0, 0
        assign(value[:n, 1], node_costs[row])
        _gather(order, parent, weight, value, sets)
        values[row] = value[n, 0]
        if words:
            for i in range(n):
                outputs[row, i] = (sets[n, 0, i // BITS] >> (i % BITS)) & 1
        else:
            _trace_back(order, parent, weight, value, outputs[row])
    return found


@nb.njit(cache=True, nogil=True)
def best_states(unary, pairs, order, parent, edge, flipped):
    """Minimum-cost states of every row, and their cost; infinite where none is finite.

    `order` lists the nodes, parents first; `parent` and `edge` hold, by node, its parent and
    the edge to it, -1 for roots; `flipped` says where the parent is the second node of its
    edge. `pairs` may have a single row, for all.
    """
    rows, n, k = unary.shape
    shared = pairs.shape[0] == 1
    states, values = np.empty((rows, n), np.int64), np.zeros(rows)
    total = np.empty((n, k))  # cost of a node's state with all below it
    choice = np.empty((n, k), np.int64)  # best state of a node, for each of its parent
    for row in range(rows):
        of = 0 if shared else row
        assign_rows(total, unary[row])
        for position in range(n - 1, -1, -1):  # children come after their parents
            v = order[position]
            p, e = parent[v], edge[v]
            if p < 0:
                values[row] += _least_root(total, v, choice)
            elif flipped[v]:
                _pass_up(total, v, p, pairs[of, e], choice)
            else:
                _pass_up(total, v, p, pairs[of, e].T, choice)
        for position in range(n):
            v = order[position]
            p = parent[v]
            states[row, v] = choice[v, 0] if p < 0 else choice[v, states[row, p]]
    return states, values


@nb.njit(cache=True, nogil=True)
def _pass_up(total, v, p, costs, choice):
    """Add to every state s of p the least of total(v, a) + costs(a, s)."""
    k = total.shape[1]
    for s in range(k):
        best, at = np.inf, 0
        for a in range(k):
            cost = total[v, a] + costs[a, s]
            if cost < best:
                best, at = cost, a
        total[p, s] += best
        choice[v, s] = at


@nb.njit(cache=True, nogil=True)
def _least_root(total, v, choice):
    best, at = np.inf, 0
    for a in range(total.shape[1]):
        if total[v, a] < best:
            best, at = total[v, a], a
    choice[v, 0] = at
    return best
