# SPDX-License-Identifier: BSD-3-Clause
"""Compiled closed sets of least cost: push-relabel for any graph, dynamic programs on forests.

Nodes are topological positions. A node of negative cost brings a *gain*; one of positive
cost has *room* for that much flow to the sink. Arcs child -> parent have no capacity, so
only the flow on them is kept, and the residual arc backwards is that flow.

Only nodes with gains enough below them can take part. They are marked in `inside` and listed in
`nodes`, children first, so that a row costs what these reach and one look at each node and arc;
`inside` and `flow` are clean again when a row is done.
"""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct.tolerances import ROUNDING_GAP

UNREACHABLE = 1 << 30  # distance of a node that cannot reach any room


@nb.njit(cache=True, nogil=True)
def _promising(cost, order, out_start, out, most, inside):
    """Mark the nodes that can be in a minimum-cost set; returns the sum of all gains.

    most(v) = -cost(v) + sum over children of max(0, most(child)) is no less than what any closed
    set with v gains by v and all below it: gains of nodes that two children share count twice. So
    where it is not positive, v is out with all below it, and the smallest optimal set is left.
    """
    d, total = order.shape[0], 0.0
    most[:d] = 0.0
    for v in range(d - 1, -1, -1):
        c = cost[order[v]]
        total -= min(c, 0.0)
        most[v] -= c
        if most[v] > 0.0:
            for e in range(out_start[v], out_start[v + 1]):
                most[out[e]] += most[v]
    for v in range(d):
        inside[v] = most[v] > 0.0
        for e in range(out_start[v], out_start[v + 1]):
            inside[v] = inside[v] and inside[out[e]]
    return total


@nb.njit(cache=True, nogil=True)
def _greedy(cost, order, out_start, out, gain, room, flow, inside, nodes):
    """Push every gain towards parents that still have room, children first.

    On a forest this start is already a maximum flow. Returns the number of nodes inside.
    """
    size = 0
    for v in range(order.shape[0]):
        if inside[v]:
            c = cost[order[v]]
            gain[v], room[v] = max(-c, 0.0), max(c, 0.0)
    for v in range(order.shape[0] - 1, -1, -1):
        if not inside[v]:
            continue
        nodes[size] = v
        size += 1
        first, last = out_start[v], out_start[v + 1]
        here = min(gain[v], room[v])
        room[v] -= here
        left = gain[v] - here
        if left > 0.0 and last > first:
            best, most = first, -np.inf
            for e in range(first, last):
                free = room[out[e]] - gain[out[e]]  # not claimed by others yet
                if 0.0 < free < left and e < last - 1:
                    flow[e] += free
                    gain[out[e]] += free
                    left -= free
                    free = 0.0
                if free > most:
                    best, most = e, free
            flow[best] += left
            gain[out[best]] += left
            left = 0.0
        gain[v] = left
    return size


@nb.njit(cache=True, nogil=True)
def _label(out_start, out, in_start, inn, gain, room, flow, inside, nodes, size, label, queue):
    """Exact distances to room over residual arcs; the gains that can move, far ones first.

    Returns how many stand in `queue`.
    """
    n = 0
    for i in range(size):
        v = nodes[i]
        label[v] = UNREACHABLE
        if room[v] > 0.0:
            label[v], queue[n], n = 1, v, n + 1
    i = 0
    while i < n:
        w = queue[i]
        i += 1
        for k in range(in_start[w], in_start[w + 1]):
            v = inn[k]
            if inside[v] and label[v] == UNREACHABLE:
                label[v], queue[n], n = label[w] + 1, v, n + 1
        for e in range(out_start[w], out_start[w + 1]):
            if flow[e] > 0.0 and label[out[e]] == UNREACHABLE:
                label[out[e]], queue[n], n = label[w] + 1, out[e], n + 1
    d, active = gain.shape[0], 0
    for i in range(n - 1, -1, -1):
        if gain[queue[i]] > 0.0:
            queue[d + active] = queue[i]
            active += 1
    for i in range(active):
        queue[i] = queue[d + i]
    return active


@nb.njit(cache=True, nogil=True)
def _push(
    out_start, out, in_start, inn, in_arc, gain, room, flow, label, queue, waiting, count, limit
):
    """Discharge gains, first in, first out, until nothing moves or `limit` arcs were looked at.

    A gain moves one step down in label; a node with nowhere to send it is lifted. One long
    function, since a call for every node would count references to a dozen arrays.
    """
    d, head, work = gain.shape[0], 0, 0
    for i in range(count):
        waiting[queue[i]] = True
    while count > 0 and work < limit:
        v = queue[head]
        head = head + 1 if head + 1 < d else 0
        count -= 1
        waiting[v] = False
        here = min(gain[v], room[v])
        room[v] -= here
        left = gain[v] - here
        while left > 0.0:
            target, lowest = label[v] - 1, UNREACHABLE
            for k in range(in_start[v], in_start[v + 1]):  # give back to children
                e = in_arc[k]
                if flow[e] > 0.0:
                    u = inn[k]
                    if label[u] == target:
                        step = min(left, flow[e])
                        flow[e] -= step
                        gain[u] += step
                        left -= step
                        if not waiting[u]:
                            waiting[u] = True
                            at = head + count
                            queue[at if at < d else at - d] = u
                            count += 1
                        if left <= 0.0:
                            break
                    if flow[e] > 0.0:
                        lowest = min(lowest, label[u])
            work += in_start[v + 1] - in_start[v]
            if left <= 0.0:
                break
            for e in range(out_start[v], out_start[v + 1]):
                p = out[e]
                if label[p] == target:
                    flow[e] += left
                    gain[p] += left
                    left = 0.0
                    if not waiting[p]:
                        waiting[p] = True
                        at = head + count
                        queue[at if at < d else at - d] = p
                        count += 1
                    break
                lowest = min(lowest, label[p])
            work += out_start[v + 1] - out_start[v] + 1
            if left > 0.0:
                if lowest >= d:
                    label[v] = UNREACHABLE
                    break
                label[v] = lowest + 1
        gain[v] = left
    for i in range(count):
        at = head + i
        waiting[queue[at if at < d else at - d]] = False


@nb.njit(cache=True, nogil=True)
def _reached(
    cost, order, out_start, out, in_start, inn, in_arc, gain, flow, nodes, size, queue, output
):
    """Write what left-over gain reaches, the smallest optimal set, into `output`.

    Returns its cost, and minus the left-over gain: a lower bound on any cost (weak duality).
    """
    n, value, bound = 0, 0.0, 0.0
    for i in range(size):
        v = nodes[i]
        if gain[v] > 0.0:
            output[order[v]], queue[n], n = 1, v, n + 1
            bound -= gain[v]
    i = 0
    while i < n:
        v = queue[i]
        i += 1
        value += cost[order[v]]
        for e in range(out_start[v], out_start[v + 1]):
            p = out[e]
            if output[order[p]] == 0:
                output[order[p]], queue[n], n = 1, p, n + 1
        for k in range(in_start[v], in_start[v + 1]):
            if flow[in_arc[k]] > 0.0:
                u = inn[k]
                if output[order[u]] == 0:
                    output[order[u]], queue[n], n = 1, u, n + 1
    return value, bound


@nb.njit(cache=True, nogil=True)
def workspace(d, n_arcs):
    """Arrays that :func:`closure` works in, for graphs of up to d nodes; clean between rows."""
    gain, room, flow = np.empty(d), np.empty(d), np.zeros(n_arcs)
    label, queue, nodes = np.empty(d, np.int32), np.empty(2 * d, np.int32), np.empty(d, np.int32)
    inside, waiting = np.zeros(d, np.bool_), np.zeros(d, np.bool_)
    return gain, room, flow, label, queue, nodes, inside, waiting


@nb.njit(cache=True, nogil=True)
def closure(cost, order, arcs, work, output):
    """Write the minimum-cost set that holds the parents of its members into `output`, all zero.

    Returns its cost, a lower bound on any cost, and the sum of all gains: flow is made of these,
    so they measure its rounding errors.
    """
    out_start, out, in_start, inn, in_arc = arcs
    gain, room, flow, label, queue, nodes, inside, waiting = work
    total = _promising(cost, order, out_start, out, gain, inside)
    size = _greedy(cost, order, out_start, out, gain, room, flow, inside, nodes)
    limit = 2 * (size + out.shape[0] * size // max(cost.shape[0], 1)) + 10
    while True:
        active = _label(
            out_start, out, in_start, inn, gain, room, flow, inside, nodes, size, label, queue
        )
        if active == 0:
            break
        _push(
            out_start,
            out,
            in_start,
            inn,
            in_arc,
            gain,
            room,
            flow,
            label,
            queue,
            waiting,
            active,
            limit,
        )
    value, bound = _reached(
        cost,
        order,
        out_start,
        out,
        in_start,
        inn,
        in_arc,
        gain,
        flow,
        nodes,
        size,
        queue,
        output,
    )
    for i in range(size):
        v = nodes[i]
        inside[v] = False
        for e in range(out_start[v], out_start[v + 1]):
            flow[e] = 0.0
    return value, bound, total


@nb.njit(cache=True, nogil=True)
def closures(costs, order, out_start, out, in_start, inn, in_arc):
    """Minimum-cost set of every row that holds the parents of its members, its cost and a bound."""
    n, d = costs.shape
    outputs, values, bounds = np.zeros((n, d), np.int8), np.empty(n), np.empty(n)
    arcs, work = (out_start, out, in_start, inn, in_arc), workspace(d, out.shape[0])
    for row in range(n):
        value, bound, total = closure(costs[row], order, arcs, work, outputs[row])
        values[row] = value
        bounds[row] = value if value - bound <= ROUNDING_GAP * total else bound
    return outputs, values, bounds


WIDTH = 16  # rows side by side: the inner loops become vector instructions


@nb.njit(cache=True, nogil=True)
def transposed(costs, first, last, columns, block):
    """Some columns of rows first..last of `costs`, as rows of `block`; -1 leaves a row out."""
    for v in range(columns.shape[0]):
        j = columns[v]
        if j < 0:
            continue
        if last - first == WIDTH:  # a fixed count is what the compiler unrolls
            for b in range(WIDTH):
                block[v, b] = costs[first + b, j]
        else:
            for b in range(last - first):
                block[v, b] = costs[first + b, j]


@nb.njit(cache=True, nogil=True)
def _closed_block(parent, below, taken):
    """Costs in `below` become those of whole subtrees; `taken` marks the minimum-cost set."""
    d = parent.shape[0]
    below[d] = 0.0
    for v in range(d - 1, -1, -1):  # children come after their parents
        p = parent[v]
        for b in range(WIDTH):
            below[p, b] += min(below[v, b], 0.0)
    for v in range(d):
        p = parent[v]
        for b in range(WIDTH):
            taken[v, b] = taken[p, b] & (below[v, b] < 0.0)


@nb.njit(cache=True, nogil=True)
def closed_sets(costs, order, parent):
    """Minimum-cost ancestor-closed set of every row, and its cost.

    below(v) = cost(v) + sum over children of min(0, below(child)); a node is taken
    when its parent is and below(v) < 0. `parent` holds topological positions, and d for
    roots: they hang below one more node, which is always taken.
    """
    n, d = costs.shape
    outputs, values = np.empty((n, d), np.int8), np.empty(n)
    below, taken = np.zeros((d + 1, WIDTH)), np.ones((d + 1, WIDTH), np.int8)
    for first in range(0, n, WIDTH):
        last = min(first + WIDTH, n)
        transposed(costs, first, last, order, below)
        _closed_block(parent, below, taken)
        for row in range(first, last):
            values[row] = below[d, row - first]
            for v in range(d):
                outputs[row, order[v]] = taken[v, row - first]
    return outputs, values


@nb.njit(cache=True, nogil=True)
def exclusive_sets(costs, order, parent, group):
    """As `closed_sets`, with at most one member taken of each group of siblings.

    `group[v]` is the number of the group of position v, or -1; the members of a
    group share their parent.
    """
    n, d = costs.shape
    n_groups = group.max() + 1 if d else 0
    outputs = np.zeros((n, d), np.int8)
    below, best = np.empty(d), np.empty(n_groups)
    winner, taken = np.empty(n_groups, np.int64), np.empty(d, np.bool_)
    for row in range(n):
        for v in range(d):
            below[v] = costs[row, order[v]]
        best[:] = 0.0
        winner[:] = -1
        for v in range(d - 1, -1, -1):
            gain = min(below[v], 0.0)
            g = group[v]
            if g >= 0:
                # Ties go to the lowest index: positions run downwards here.
                if gain <= best[g] and gain < 0.0:
                    gain, best[g], winner[g] = gain - best[g], gain, v
                else:
                    gain = 0.0
            if parent[v] >= 0:
                below[parent[v]] += gain
        for v in range(d):
            taken[v] = below[v] < 0.0
            if group[v] >= 0:
                taken[v] &= winner[group[v]] == v
            if parent[v] >= 0:
                taken[v] &= taken[parent[v]]
            outputs[row, order[v]] = taken[v]
    return outputs


@nb.njit(cache=True, nogil=True)
def _sized_tables(cost, low, high, end, largest, table):
    """table[i, k]: least cost of k more nodes among preorder positions i, i+1, ..."""
    d = cost.shape[0]
    table[:, :] = np.inf
    table[d, 0] = 0.0
    for i in range(d - 1, -1, -1):
        for k in range(largest + 1):
            best = np.inf
            if not low[i]:
                best = table[end[i], k]  # without i, its whole subtree is passed over
            if high[i] and k > 0:
                best = min(best, cost[i] + table[i + 1, k - 1])
            table[i, k] = best


@nb.njit(cache=True, nogil=True)
def _trace(cost, low, end, size, table, preorder, output):
    d = cost.shape[0]
    i, k = 0, size
    while i < d:
        if not low[i] and table[end[i], k] <= table[i, k]:
            i = end[i]
        else:
            output[preorder[i]] = 1
            i, k = i + 1, k - 1


@nb.njit(cache=True, nogil=True)
def sized_sets(costs, low, high, preorder, end, smallest, largest, per_size):
    """Minimum-cost ancestor-closed set with smallest..largest nodes, for every row.

    `costs` is (n, d), or with `per_size` (n, d * d): entry j * d + (k - 1) is then the
    cost of node j in a set of k nodes. `low` and `high` (n or 1 rows) mark the nodes
    that must and that may be taken. Infeasible rows get value infinity.
    """
    n, d = costs.shape[0], preorder.shape[0]
    outputs, values = np.zeros((n, d), np.int8), np.full(n, np.inf)
    table, cost = np.empty((d + 1, largest + 1)), np.empty(d)
    must, may = np.empty(d, np.bool_), np.empty(d, np.bool_)
    for row in range(n):
        r_low, r_high = min(row, low.shape[0] - 1), min(row, high.shape[0] - 1)
        for i in range(d):
            must[i], may[i] = low[r_low, preorder[i]], high[r_high, preorder[i]]
        for k in range(smallest, largest + 1):
            if per_size or k == smallest:
                for i in range(d):
                    j = preorder[i]
                    cost[i] = costs[row, j * d + max(k, 1) - 1] if per_size else costs[row, j]
                _sized_tables(cost, must, may, end, k if per_size else largest, table)
            if table[0, k] < values[row]:
                values[row] = table[0, k]
                outputs[row, :] = 0
                _trace(cost, must, end, k, table, preorder, outputs[row])
    return outputs, values
