# SPDX-License-Identifier: BSD-3-Clause
"""Compiled roof duality: maximum flow (Dinic) in the double cover of a signed graph."""

import numpy as np

from skstruct._arrays import compiling as nb


@nb.njit(cache=True, nogil=True)
def fold(node_costs, edge_costs, edges, low, high):
    """Costs of labels and edges given the known labels, and what these cost; see the wrapper."""
    rows, n = node_costs.shape
    masks, cost_rows, count = low.shape[0], edge_costs.shape[0], edges.shape[0]
    nodes, shift = np.zeros((rows, n)), np.zeros(rows)
    kept = 1 if masks == 1 and cost_rows == 1 else rows
    pairs = np.zeros((kept, count))
    for row in range(rows):
        m, r = row if masks > 1 else 0, row if cost_rows > 1 else 0
        for i in range(n):
            if low[m, i]:
                shift[row] += node_costs[row, i]
            elif high[m, i]:
                nodes[row, i] = node_costs[row, i]
        for e in range(count):
            i, j = edges[e]
            w = edge_costs[r, e]
            free_i, free_j = high[m, i] and not low[m, i], high[m, j] and not low[m, j]
            if free_i and free_j:
                if row < kept:
                    pairs[row, e] = w
            elif low[m, i] and low[m, j]:
                shift[row] += w
            elif low[m, i] and free_j:
                nodes[row, j] += w
            elif low[m, j] and free_i:
                nodes[row, i] += w
    return nodes, pairs, shift


@nb.njit(cache=True, nogil=True)
def evaluate(points, node_costs, edge_costs, edges, embedded):
    """Values of labels in [0, 1] with the best their edges can be.

    Labels and edges go to `embedded` (rows, n + E), unless it has no rows.
    """
    rows, n = points.shape
    shared, kept = edge_costs.shape[0] == 1, embedded.shape[0] > 0
    values = np.empty(rows)
    for row in range(rows):
        total = 0.0
        for i in range(n):
            total += node_costs[row, i] * points[row, i]
            if kept:
                embedded[row, i] = points[row, i]
        for e in range(edges.shape[0]):
            w = edge_costs[0 if shared else row, e]
            low, high = points[row, edges[e, 0]], points[row, edges[e, 1]]
            both = min(low, high) if w < 0.0 else max(low + high - 1.0, 0.0)
            total += w * both
            if kept:
                embedded[row, n + e] = both
        values[row] = total
    return values


# Compiled maximum flow in the double cover of a graph, by Dinic's algorithm.
#
# Nodes are i and n + i for every node i of the graph. Every end p of an edge at node i serves
# twice, as number p at i and as 2E + p at n + i: `head` says where it leads and `room` how
# much more fits; `mate` is the other end of the same edge. `surplus` is what a node has to
# give, or needs when it is below zero.


@nb.njit(cache=True, nogil=True)
def _levels(start, room, head, surplus, level, queue):
    """Steps from the nodes that can give, as far as the nearest that needs; whether there is."""
    nodes, ends = level.shape[0], room.shape[0] // 2
    n, waiting, done = nodes // 2, 0, 0
    for u in range(nodes):
        level[u] = -1
        if surplus[u] > 0.0:
            level[u] = 0
            queue[waiting] = u
            waiting += 1
    last = nodes
    while done < waiting and level[queue[done]] < last:
        u = queue[done]
        done += 1
        i, shift = (u, 0) if u < n else (u - n, ends)
        for p in range(start[i] + shift, start[i + 1] + shift):
            v = head[p]
            if level[v] < 0 and room[p] > 0.0:
                level[v] = level[u] + 1
                queue[waiting] = v
                waiting += 1
                if surplus[v] < 0.0:
                    last = level[v]
    return last < nodes


@nb.njit(cache=True, nogil=True)
def _send(source, path, depth, head, mate, room, surplus):
    """Push along a path as much as it takes; the step before the first that is full."""
    ends, n = mate.shape[0], surplus.shape[0] // 2
    amount = min(surplus[source], -surplus[head[path[depth - 1]]])
    for k in range(depth):
        amount = min(amount, room[path[k]])
    first = depth
    for k in range(depth - 1, -1, -1):
        p, v = path[k], head[path[k]]
        back = mate[p if p < ends else p - ends] + (ends if v >= n else 0)
        room[p] -= amount
        room[back] += amount
        if room[p] <= 0.0:
            first = k
    surplus[head[path[depth - 1]]] += amount
    surplus[source] -= amount
    return first


@nb.njit(cache=True, nogil=True)
def _fill_shortest(start, head, mate, room, surplus, level, last_end, path):
    """Fill all shortest paths: depth first, never twice along an end that led nowhere."""
    nodes, ends = level.shape[0], mate.shape[0]
    n = nodes // 2
    for u in range(nodes):
        last_end[u] = start[u] if u < n else start[u - n] + ends
    for source in range(nodes):
        if level[source] != 0:
            continue
        u, depth = source, 0
        while surplus[source] > 0.0:
            if depth and surplus[u] < 0.0:
                depth = _send(source, path, depth, head, mate, room, surplus)
                u = source if depth == 0 else head[path[depth - 1]]
                continue
            end = start[u + 1] if u < n else start[u - n + 1] + ends
            p = last_end[u]
            while p < end and not (room[p] > 0.0 and level[head[p]] == level[u] + 1):
                p += 1
            last_end[u] = p
            if p < end:
                path[depth] = p
                depth += 1
                u = head[p]
            elif depth == 0:
                break
            else:
                depth -= 1
                u = source if depth == 0 else head[path[depth - 1]]
                last_end[u] += 1


@nb.njit(cache=True, nogil=True)
def send_all(start, head, mate, room, surplus, level, queue, last_end, path):
    """As much as can be sent; `level` is then -1 for the nodes that no surplus reaches.

    Capacities change by exactly what is sent along the fullest end of a path, so that each
    path fills an end, whatever the rounding, and the rounds come to an end.
    """
    while _levels(start, room, head, surplus, level, queue):
        _fill_shortest(start, head, mate, room, surplus, level, last_end, path)


# Compiled roof duality: a maximum flow in the double cover of a signed graph.
#
# With s_e = |w_e| / 2 the cost of labels is, up to a constant,
#
#     sum_i a_i y_i + sum_e s_e [y_i and y_j differ, as w_e says they should not],
#
# a_i = cost(i) + sum of w_e / 2 over its edges; an edge of w_e < 0 wants y_i = y_j, one of
# w_e > 0 wants y_i = 1 - y_j. In the double cover label i is a node i and a node i' = n + i,
# which stands for 1 - y_i; an edge of w_e < 0 joins i with j and i' with j', one of w_e > 0
# joins i with j' and i' with j, all of capacity s_e both ways. Node i has -a_i to give and
# node i' has a_i.


@nb.njit(cache=True, nogil=True)
def _peel(costs, weights, start, other, edge, pull, strength, label, queue):
    """Settle labels whose own cost outweighs all their edges, and what follows; -1 is open.

    `pull` becomes a_i, given the labels that are settled.
    """
    n = costs.shape[0]
    waiting = 0
    for i in range(n):
        pull[i], strength[i] = costs[i], 0.0
        for p in range(start[i], start[i + 1]):
            half = 0.5 * weights[edge[p]]
            pull[i] += half
            strength[i] += abs(half)
        label[i] = -1
        if abs(pull[i]) >= strength[i]:
            label[i] = pull[i] < 0.0
            queue[waiting] = i
            waiting += 1
    done = 0
    while done < waiting:
        i = queue[done]
        done += 1
        for p in range(start[i], start[i + 1]):
            j, half = other[p], 0.5 * weights[edge[p]]
            if label[j] >= 0 or half == 0.0:
                continue
            # The edge wants y_j = label[i] when half < 0, and its contrary otherwise.
            pull[j] += half if label[i] else -half
            strength[j] -= abs(half)
            if abs(pull[j]) >= strength[j]:
                label[j] = pull[j] < 0.0
                queue[waiting] = j
                waiting += 1
    return n - waiting


@nb.njit(cache=True, nogil=True)
def _paint(weights, start, other, edge, label, color, queue):
    """Colors by which all edges of a piece want the same of both ends; -1 where there are none.

    A label of color 1 is to be turned over: then all edges of its piece have w_e <= 0.
    """
    n = label.shape[0]
    color[:] = 2  # not seen
    for root in range(n):
        if label[root] >= 0 or color[root] != 2:
            continue
        color[root] = 0
        queue[0], done, waiting, balanced = root, 0, 1, True
        while done < waiting:
            i = queue[done]
            done += 1
            for p in range(start[i], start[i + 1]):
                j, w = other[p], weights[edge[p]]
                if label[j] >= 0 or w == 0.0:
                    continue
                wanted = color[i] ^ (w > 0.0)
                if color[j] == 2:
                    color[j] = wanted
                    queue[waiting] = j
                    waiting += 1
                elif color[j] != wanted:
                    balanced = False
        if not balanced:
            for k in range(waiting):
                color[queue[k]] = -1


@nb.njit(cache=True, nogil=True)
def _build(weights, start, other, edge, label, color, pull, room, head, surplus):
    """Capacities, heads and what the nodes have to give, in the double cover of open labels.

    Pieces without contradiction fall apart in two copies, of which one is enough.
    """
    n, ends = label.shape[0], other.shape[0]
    for i in range(n):
        surplus[i] = surplus[n + i] = 0.0
        if label[i] >= 0:
            continue
        if color[i] != 1:
            surplus[i] = -pull[i]
        if color[i] != 0:
            surplus[n + i] = pull[i]
        for p in range(start[i], start[i + 1]):
            j, w = other[p], weights[edge[p]]
            across = n if w > 0.0 else 0
            head[p], head[ends + p] = j + across, j + n - across
            room[p] = room[ends + p] = 0.0 if label[j] >= 0 else 0.5 * abs(w)


@nb.njit(cache=True, nogil=True)
def _read(label, color, level, halves):
    """1, 0 or one half for every label, from the nodes that surplus still reaches."""
    n = label.shape[0]
    for i in range(n):
        if label[i] >= 0:
            halves[i] = label[i]
        elif color[i] >= 0:
            halves[i] = (level[i + n * color[i]] >= 0) ^ color[i]
        else:
            halves[i] = 0.5 * ((level[i] >= 0) + (level[n + i] < 0))


@nb.njit(cache=True, nogil=True)
def roof_dual(node_costs, edge_costs, start, other, edge, mate):
    """A half-integral optimum of the local polytope for every row; see the wrapper."""
    rows, n = node_costs.shape
    ends, shared = other.shape[0], edge_costs.shape[0] == 1
    halves = np.empty((rows, n))
    pull, strength = np.empty(n), np.empty(n)
    label, color = np.empty(n, np.int8), np.empty(n, np.int8)
    room, head, surplus = np.empty(2 * ends), np.empty(2 * ends, np.int64), np.empty(2 * n)
    level, last_end = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    queue, path = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    for row in range(rows):
        w = edge_costs[0 if shared else row]
        if _peel(node_costs[row], w, start, other, edge, pull, strength, label, queue):
            _paint(w, start, other, edge, label, color, queue)
            _build(w, start, other, edge, label, color, pull, room, head, surplus)
            send_all(start, head, mate, room, surplus, level, queue, last_end, path)
        _read(label, color, level, halves[row])
    return halves
