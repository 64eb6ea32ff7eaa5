# SPDX-License-Identifier: BSD-3-Clause
"""Compiled maximum-weight closure: push-relabel on floats, without building a flow network.

Nodes are topological positions. A node of negative cost brings a *gain*; one of positive
cost has *room* for that much flow to the sink. Arcs child -> parent have no capacity, so
only the flow on them is kept, and the residual arc backwards is that flow.
"""

from __future__ import annotations

import numba as nb
import numpy as np

FAR = 1 << 30  # distance of a node that cannot reach any room


@nb.njit(cache=True, nogil=True)
def _greedy(cost, order, out_start, out, gain, room, flow, inside):
    """Push every gain towards parents that still have room, children first.

    Only ancestors of gain nodes can take part: they are marked in `inside`, and their
    number is returned. On a forest this start is already a maximum flow.
    """
    d, size = gain.shape[0], 0
    flow[:] = 0.0
    for v in range(d):
        c = cost[order[v]]
        inside[v] = c < 0.0
        gain[v], room[v] = max(-c, 0.0), max(c, 0.0)
    for v in range(d - 1, -1, -1):
        if not inside[v]:
            continue
        size += 1
        first, last = out_start[v], out_start[v + 1]
        for e in range(first, last):
            inside[out[e]] = True
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
def _label(out_start, out, in_start, inn, gain, room, flow, inside, label, queue):
    """Exact distances to room over residual arcs; the gains that can move, far ones first.

    Returns how many stand in `queue`.
    """
    d, n = gain.shape[0], 0
    for v in range(d):
        label[v] = FAR
        if inside[v] and room[v] > 0.0:
            label[v], queue[n], n = 1, v, n + 1
    i = 0
    while i < n:
        w = queue[i]
        i += 1
        for k in range(in_start[w], in_start[w + 1]):
            v = inn[k]
            if inside[v] and label[v] == FAR:
                label[v], queue[n], n = label[w] + 1, v, n + 1
        for e in range(out_start[w], out_start[w + 1]):
            if flow[e] > 0.0 and label[out[e]] == FAR:
                label[out[e]], queue[n], n = label[w] + 1, out[e], n + 1
    active = 0
    for i in range(n - 1, -1, -1):
        if gain[queue[i]] > 0.0:
            queue[d + active] = queue[i]
            active += 1
    for i in range(active):
        queue[i] = queue[d + i]
    return active


@nb.njit(cache=True, nogil=True)
def _append(v, head, count, queue, waiting):
    """Put v at the end of the circular queue unless it waits there already."""
    if waiting[v]:
        return count
    waiting[v] = True
    at = head + count
    d = waiting.shape[0]
    queue[at if at < d else at - d] = v
    return count + 1


@nb.njit(cache=True, nogil=True)
def _discharge(
    v, out_start, out, in_start, inn, in_arc, gain, flow, label, queue, waiting, head, count
):
    """Move the gain of v one step down in label, lifting v when it has nowhere to go.

    Returns the length of the queue and the number of arcs looked at.
    """
    d, work, left = label.shape[0], 0, gain[v]
    while left > 0.0:
        target, lowest = label[v] - 1, FAR
        for k in range(in_start[v], in_start[v + 1]):  # give back to children
            e = in_arc[k]
            if flow[e] > 0.0:
                u = inn[k]
                if label[u] == target:
                    step = min(left, flow[e])
                    flow[e] -= step
                    gain[u] += step
                    left -= step
                    count = _append(u, head, count, queue, waiting)
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
                count = _append(p, head, count, queue, waiting)
                break
            lowest = min(lowest, label[p])
        work += out_start[v + 1] - out_start[v] + 1
        if left > 0.0:
            if lowest >= d:
                label[v] = FAR
                break
            label[v] = lowest + 1
    gain[v] = left
    return count, work


@nb.njit(cache=True, nogil=True)
def _push(
    out_start, out, in_start, inn, in_arc, gain, room, flow, label, queue, waiting, count, limit
):
    """First in, first out, until nothing moves or `limit` arcs were looked at."""
    d, head, work = gain.shape[0], 0, 0
    waiting[:] = False
    for i in range(count):
        waiting[queue[i]] = True
    while count > 0 and work < limit:
        v = queue[head]
        head = head + 1 if head + 1 < d else 0
        count -= 1
        waiting[v] = False
        here = min(gain[v], room[v])
        room[v] -= here
        gain[v] -= here
        count, looked = _discharge(
            v, out_start, out, in_start, inn, in_arc, gain, flow, label, queue, waiting, head, count
        )
        work += looked


@nb.njit(cache=True, nogil=True)
def _reached(out_start, out, in_start, inn, in_arc, gain, flow, inside, queue):
    """Mark in `inside` what left-over gain reaches: the smallest optimal set."""
    n = 0
    for v in range(gain.shape[0]):
        inside[v] = gain[v] > 0.0
        if inside[v]:
            queue[n], n = v, n + 1
    i = 0
    while i < n:
        v = queue[i]
        i += 1
        for e in range(out_start[v], out_start[v + 1]):
            if not inside[out[e]]:
                inside[out[e]], queue[n], n = True, out[e], n + 1
        for k in range(in_start[v], in_start[v + 1]):
            if flow[in_arc[k]] > 0.0 and not inside[inn[k]]:
                inside[inn[k]], queue[n], n = True, inn[k], n + 1


@nb.njit(cache=True, nogil=True)
def closures(costs, order, out_start, out, in_start, inn, in_arc):
    """Cheapest set of every row that holds the parents of its members, with a dual bound.

    The gain that no room could take is a lower bound on the cost (weak duality).
    """
    n, d = costs.shape
    outputs, bounds = np.empty((n, d), np.int8), np.zeros(n)
    gain, room, flow = np.empty(d), np.empty(d), np.empty(out.shape[0])
    label, queue = np.empty(d, np.int32), np.empty(2 * d, np.int32)
    inside, waiting = np.empty(d, np.bool_), np.empty(d, np.bool_)
    for row in range(n):
        size = _greedy(costs[row], order, out_start, out, gain, room, flow, inside)
        limit = 2 * (size + out.shape[0] * size // max(d, 1)) + 10
        while True:
            active = _label(out_start, out, in_start, inn, gain, room, flow, inside, label, queue)
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
        _reached(out_start, out, in_start, inn, in_arc, gain, flow, inside, queue)
        for v in range(d):
            outputs[row, order[v]] = inside[v]
            bounds[row] -= gain[v]
    return outputs, bounds
