# SPDX-License-Identifier: BSD-3-Clause
"""Compiled maximum flow in the double cover of a graph, by Dinic's algorithm.

Nodes are i and n + i for every node i of the graph. Every end p of an edge at node i serves
twice, as number p at i and as 2E + p at n + i: `head` says where it leads and `room` how
much more fits; `mate` is the other end of the same edge. `surplus` is what a node has to
give, or needs when it is below zero.
"""

from __future__ import annotations

import numba as nb


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
