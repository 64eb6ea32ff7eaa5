# SPDX-License-Identifier: BSD-3-Clause
"""Small cuts between one place and all others, by augmenting paths."""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True)
def reach(room, source, sink, came_from, queue):
    """Breadth first along arcs with room; whether the sink was reached."""
    came_from[:] = -1
    came_from[source] = source
    queue[0] = source
    waiting, done = 1, 0
    while done < waiting:
        u = queue[done]
        done += 1
        for v in range(len(room)):
            if came_from[v] < 0 and room[u, v] > 1e-9:
                came_from[v] = u
                if v == sink:
                    return True
                queue[waiting] = v
                waiting += 1
    return False


@nb.njit(cache=True, nogil=True)
def small_cuts(capacity, y, sink, slack):
    """Sets S, one for each row, with room below y[v] + y[sink] - 1 for some v in S.

    ``capacity`` is symmetric; the sink is in no set. Places within a set that was found are
    not tried as sources again.
    """
    N = len(capacity)
    found, count = np.zeros((N, N), np.bool_), 0
    covered = np.zeros(N, np.bool_)
    came_from, queue = np.empty(N, np.int64), np.empty(N, np.int64)
    room = np.empty((N, N))
    for source in np.argsort(-y):
        enough = y[source] + y[sink] - 1.0 - slack
        if enough <= 0.0:
            break
        if source == sink or covered[source]:
            continue
        room[:] = capacity
        flow = 0.0
        while flow < enough and reach(room, source, sink, came_from, queue):
            amount, v = np.inf, sink
            while v != source:
                amount = min(amount, room[came_from[v], v])
                v = came_from[v]
            v = sink
            while v != source:
                u = came_from[v]
                room[u, v] -= amount
                room[v, u] += amount
                v = u
            flow += amount
        if flow < enough:
            for v in range(N):
                found[count, v] = came_from[v] >= 0
                covered[v] = covered[v] or found[count, v]
            count += 1
    return found[:count]
