# SPDX-License-Identifier: BSD-3-Clause
"""Spanning trees of a graph of numbered nodes, and the components that edge sets join.

A graph may have several edges between the same nodes; an edge from a node to itself is in
no tree.
"""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct._arrays._numba_copying import assign, count_up


@nb.njit(cache=True, nogil=True)
def find(parent, v):
    """The node that stands for the component of v."""
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


@nb.njit(cache=True, nogil=True)
def join(parent, u, v):
    """Make one component of two; False if u and v are in the same already."""
    u, v = find(parent, u), find(parent, v)
    if u == v:
        return False
    parent[max(u, v)] = min(u, v)
    return True


@nb.njit(cache=True, nogil=True)
def min_cost_tree(cost, ends, low, high, tree, parent, part, left, best):
    """Fill ``tree`` with the minimum-cost one that obeys low..high; False if there is none.

    Boruvka's rounds: every component takes its lowest cost edge to another one, the first
    among equals, so that no circle can close. ``left`` holds the edges between different
    components, in order.
    """
    n_parts, n_left = len(parent), 0
    for v in range(len(parent)):
        parent[v] = v
    for e in range(len(cost)):
        if low[e]:
            if not high[e] or not join(parent, ends[e, 0], ends[e, 1]):
                return False
            tree[e] = 1
            n_parts -= 1
        elif high[e]:
            left[n_left] = e
            n_left += 1
    while n_parts > 1:
        for v in range(len(parent)):
            part[v], best[v] = find(parent, v), -1
        n_kept = 0
        for k in range(n_left):
            e = left[k]
            u, v = part[ends[e, 0]], part[ends[e, 1]]
            if u == v:
                continue
            left[n_kept] = e
            n_kept += 1
            if best[u] < 0 or cost[e] < cost[best[u]]:
                best[u] = e
            if best[v] < 0 or cost[e] < cost[best[v]]:
                best[v] = e
        if n_kept == 0:
            return False
        n_left = n_kept
        for e in best:
            if e >= 0 and join(parent, ends[e, 0], ends[e, 1]):
                tree[e] = 1
                n_parts -= 1
    return True


@nb.njit(cache=True, nogil=True)
def min_cost_tree_rows(costs, ends, n_nodes, low, high, trees, found):
    """``min_cost_tree`` of every row of costs (n, d); low and high of shape (1 or n, d)."""
    parent, part = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64)
    best = np.empty(n_nodes, np.int64)
    left = np.empty(len(ends), np.int64)
    for i in range(len(costs)):
        below, above = low[min(i, len(low) - 1)], high[min(i, len(high) - 1)]
        found[i] = min_cost_tree(costs[i], ends, below, above, trees[i], parent, part, left, best)


@nb.njit(cache=True, nogil=True)
def tree_rows(Z, ends, n_nodes, good):
    """Mark the 0/1 rows that are trees: one edge less than nodes, none of which closes a circle."""
    parent = np.empty(n_nodes, np.int64)
    for i in range(len(Z)):
        for v in range(n_nodes):
            parent[v] = v
        n_edges, joined = 0, 0
        for e in range(len(ends)):
            if Z[i, e]:
                n_edges += 1
                joined += join(parent, ends[e, 0], ends[e, 1])
        good[i] = n_edges == joined == n_nodes - 1


@nb.njit(cache=True, nogil=True)
def random_trees(start, head, edge, trees, rng):
    """Fill every row of ``trees`` with a uniform one of a connected graph: Wilson's walks.

    A walk from a node that is not in the tree runs until it meets the tree. The last way
    out of every node on it is what is left when its loops are erased, and joins the tree.
    Arcs out of node v are start[v]..start[v + 1].
    """
    n_nodes = len(start) - 1
    inside, way = np.empty(n_nodes, np.bool_), np.empty(n_nodes, np.int64)
    for tree in trees:
        inside[:] = False
        inside[0] = True
        for first in range(1, n_nodes):
            v = first
            while not inside[v]:
                way[v] = start[v] + rng.integers(0, start[v + 1] - start[v])
                v = head[way[v]]
            v = first
            while not inside[v]:
                inside[v] = True
                tree[edge[way[v]]] = 1
                v = head[way[v]]


@nb.njit(cache=True, nogil=True)
def complete_tree(tree, k, ends, parent, completed):
    """Edges of ``tree`` before k, and the first possible after k; False if they do not suffice."""
    n_parts = len(parent)
    for v in range(n_parts):
        parent[v] = v
    for e in range(len(ends)):
        wanted = e > k or (e < k and tree[e] == 1)
        completed[e] = wanted and join(parent, ends[e, 0], ends[e, 1])
        n_parts -= completed[e]
    return n_parts == 1


@nb.njit(cache=True, nogil=True)
def all_trees(ends, n_nodes, trees):
    """Fill ``trees`` with all of a graph that has just so many, the greatest 0/1 row first."""
    tree, completed = np.zeros(len(ends), np.int8), np.zeros(len(ends), np.int8)
    parent = np.empty(n_nodes, np.int64)
    complete_tree(tree, -1, ends, parent, tree)
    for row in range(len(trees)):
        assign(trees[row], tree)
        for k in range(len(ends) - 1, -1, -1):  # the last edge that can be done without
            if tree[k] == 1 and complete_tree(tree, k, ends, parent, completed):
                assign(tree, completed)
                break


# Edge sets of numbered nodes, by the components that they join.


@nb.njit(cache=True, nogil=True)
def count_parts(Z, edges, n_nodes, parts):
    """Number of components of every row of edges."""
    parent = np.empty(n_nodes, np.int64)
    for i in range(len(Z)):
        count_up(parent)
        parts[i] = n_nodes
        for e in range(len(edges)):
            if Z[i, e] and join(parent, edges[e, 0], edges[e, 1]):
                parts[i] -= 1


@nb.njit(cache=True, nogil=True)
def two_colorable(Z, edges, n_nodes, even):
    """Whether the nodes of every row have two colors, different across each edge.

    Node v on either side is v and n + v; an edge joins opposite sides, and an odd cycle
    joins a node to itself.
    """
    parent = np.empty(2 * n_nodes, np.int64)
    for i in range(len(Z)):
        count_up(parent)
        even[i] = True
        for e in range(len(edges)):
            if Z[i, e]:
                u, v = edges[e, 0], edges[e, 1]
                join(parent, u, n_nodes + v)
                join(parent, n_nodes + u, v)
                if find(parent, u) == find(parent, n_nodes + u):
                    even[i] = False
                    break


@nb.njit(cache=True, nogil=True)
def grow_rows(
    costs, order, edges, n_nodes, low, high, acyclic, connect, smallest, largest, outputs, found
):
    """Take edges in the given order, those that must be in first.

    ``acyclic``: only edges that join two components. ``connect``: edges that cost something
    are taken to join components, and one component must be left.
    """
    parent = np.empty(n_nodes, np.int64)
    for i in range(len(costs)):
        must, may = low[i % len(low)], high[i % len(high)]
        count_up(parent)
        parts, size, good = n_nodes, 0, True
        for e in order[i]:
            if not may[e]:
                good &= not must[e]
                continue
            u, v = edges[e, 0], edges[e, 1]
            joins = find(parent, u) != find(parent, v)
            wanted = costs[i, e] < 0 or size < smallest or (connect and joins)
            if must[e]:
                good &= joins or not acyclic
            elif not wanted or size >= largest or (acyclic and not joins):
                continue
            outputs[i, e] = 1
            size += 1
            if joins:
                join(parent, u, v)
                parts -= 1
        found[i] = good and smallest <= size <= largest and (parts == 1 or not connect)
