# SPDX-License-Identifier: BSD-3-Clause
"""Paths one by one, and the nodes that rows of arcs lead along, compiled."""

import numpy as np

from skstruct._arrays import compiling as nb


@nb.njit(cache=True, nogil=True)
def mark_alive(g, back_first, back_target, back_column, allowed, on_path, alive, queue):
    """Mark nodes off the path from which the goal can be reached without touching the path."""
    alive[:] = False
    alive[g] = True
    queue[0], done, size = g, 0, 1
    while done < size:
        v = queue[done]
        done += 1
        for t in range(back_first[v], back_first[v + 1]):
            w = back_target[t]
            if allowed[back_column[t]] and not alive[w] and not on_path[w]:
                alive[w] = True
                queue[size] = w
                size += 1


@nb.njit(cache=True, nogil=True)
def list_simple(first, target, column, back, allowed, s, g, limit, outputs):
    """Number of simple paths from s to g, limit + 1 at most; the first ones in ``outputs``.

    A path is only continued where it can come to an end, so that none is tried in vain.
    """
    n_nodes, found = len(first) - 1, 0
    on_path, next_step = np.zeros(n_nodes, np.bool_), np.empty(n_nodes, np.int64)
    nodes, taken = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64)
    alive, queue = np.empty((n_nodes, n_nodes), np.bool_), np.empty(n_nodes, np.int64)
    nodes[0], next_step[0], on_path[s], depth = s, first[s], True, 0
    mark_alive(g, back[0], back[1], back[2], allowed, on_path, alive[0], queue)
    while depth >= 0:
        v, t = nodes[depth], next_step[depth]
        if v == g or t == first[v + 1]:
            if v == g:
                if found < len(outputs):
                    for i in range(depth):
                        outputs[found, column[taken[i]]] = 1
                found += 1
                if found > limit:
                    return found
            on_path[v] = False
            depth -= 1
            continue
        next_step[depth] += 1
        w = target[t]
        if allowed[column[t]] and not on_path[w] and alive[depth, w]:
            taken[depth] = t
            depth += 1
            nodes[depth], next_step[depth], on_path[w] = w, first[w], True
            if w != g:
                mark_alive(g, back[0], back[1], back[2], allowed, on_path, alive[depth], queue)
    return found


@nb.njit(cache=True, nogil=True)
def first_end(row, edges, directed, balance):
    """Where a path begins: the node that is left once more than entered, or an end; -1 for none."""
    balance[:] = 0
    for j in range(len(row)):
        if row[j]:
            balance[edges[j, 0]] += 1
            balance[edges[j, 1]] += -1 if directed else 1
    for v in range(len(balance)):
        if balance[v] == 1:
            return v
    return -1


@nb.njit(cache=True, nogil=True)
def trace(rows, edges, directed, first, target, column, source, goal, nodes, is_path):
    """Fill nodes (n, longest + 1), -1 behind the end, and whether each row is a simple path.

    ``source`` and ``goal`` (n,) are -1 where any node will do.
    """
    n_nodes = len(first) - 1
    balance, seen = np.empty(n_nodes, np.int64), np.full(n_nodes, -1, np.int64)
    for i in range(len(rows)):
        row, last, length, total = rows[i], -1, 0, 0
        for j in range(len(row)):
            total += row[j]
        v = source[i] if source[i] >= 0 else first_end(row, edges, directed, balance)
        if v < 0 and total == 0 and goal[i] >= 0:
            v = goal[i]
        good = v >= 0 or (total == 0 and goal[i] < 0)
        while good and v >= 0:
            seen[v], nodes[i, length], step = i, v, -1
            for t in range(first[v], first[v + 1]):
                if row[column[t]] and column[t] != last:
                    good = good and step < 0
                    step = t
            if step < 0:
                break
            last, v = column[step], target[step]
            length += 1
            good = good and seen[v] != i and length <= total
        good = good and length == total and (goal[i] < 0 or v < 0 or v == goal[i])
        is_path[i] = good
