# SPDX-License-Identifier: BSD-3-Clause
"""Simple paths in graphs with cycles: Dijkstra, Bellman and Ford, tables over sets of nodes.

Steps of node v are first[v]..first[v + 1]; step t leads to ``target[t]`` and takes ``column[t]`` of
the costs, infinite where it is closed. ``source`` and ``goal`` (n,) are nodes.
"""

import numpy as np

from skstruct._arrays import compiling as nb

FOUND, NONE, CYCLE = 0, 1, 2  # a path, no path, a cycle of negative cost in the way


@nb.njit(cache=True, nogil=True)
def push(key, node, size, keys, nodes):
    """Put a node into a heap of so many; the smallest key is at 0."""
    i = size
    while i > 0:
        above = (i - 1) // 2
        if keys[above] <= key:
            break
        keys[i], nodes[i] = keys[above], nodes[above]
        i = above
    keys[i], nodes[i] = key, node


@nb.njit(cache=True, nogil=True)
def drop_first(size, keys, nodes):
    """Take the smallest out of a heap of so many."""
    key, node = keys[size - 1], nodes[size - 1]
    i = 0
    while 2 * i + 1 < size - 1:
        below = 2 * i + 1
        if below + 1 < size - 1 and keys[below + 1] < keys[below]:
            below += 1
        if keys[below] >= key:
            break
        keys[i], nodes[i] = keys[below], nodes[below]
        i = below
    keys[i], nodes[i] = key, node


@nb.njit(cache=True, nogil=True)
def walk_back(s, g, step, origin, column, output):
    """Mark the columns of steps from g back to s; False where these run in a circle."""
    v, n_steps = g, 0
    while v != s:
        output[column[step[v]]] = 1
        v = origin[step[v]]
        n_steps += 1
        if n_steps >= len(step):
            output[:] = 0
            return False
    return True


@nb.njit(cache=True, nogil=True)
def dijkstra(costs, rows, first, target, origin, column, source, goal, outputs, values):
    """Least paths of the rows named, whose costs are at least zero; others are left alone."""
    n_nodes = len(first) - 1
    distance, step = np.empty(n_nodes), np.empty(n_nodes, np.int32)
    keys, nodes = np.empty(len(target) + 1), np.empty(len(target) + 1, np.int32)
    for row in rows:
        cost, s, g = costs[row], source[row], goal[row]
        distance[:] = np.inf
        distance[s], size = 0.0, 1
        keys[0], nodes[0] = 0.0, s
        while size:
            key, v = keys[0], nodes[0]
            drop_first(size, keys, nodes)
            size -= 1
            if v == g:
                break
            if key > distance[v]:  # an older entry
                continue
            for t in range(first[v], first[v + 1]):
                there = key + cost[column[t]]
                if there < distance[target[t]]:
                    distance[target[t]], step[target[t]] = there, t
                    push(there, target[t], size, keys, nodes)
                    size += 1
        values[row] = distance[g]
        if distance[g] < np.inf:
            walk_back(s, g, step, origin, column, outputs[row])


@nb.njit(cache=True, nogil=True)
def spread(begin, barred, cost, first, target, column, marked, queue):
    """Mark all nodes that open steps lead to from ``begin``, not through ``barred``."""
    marked[:] = False
    marked[begin] = True
    queue[0], done, size = begin, 0, 1
    while done < size:
        v = queue[done]
        done += 1
        if v == barred:
            continue
        for t in range(first[v], first[v + 1]):
            w = target[t]
            if cost[column[t]] < np.inf and not marked[w]:
                marked[w] = True
                queue[size] = w
                size += 1


@nb.njit(cache=True, nogil=True)
def useful_steps(s, g, cost, first, target, origin, column, back, ahead, behind, queue, useful):
    """List steps on ways from s to g, none into s or out of g; how many there are."""
    spread(s, g, cost, first, target, column, ahead, queue)
    spread(g, s, cost, back[0], back[1], back[2], behind, queue)
    size = 0
    for t in range(len(target)):
        u, v = origin[t], target[t]
        both = ahead[u] and behind[v] and u != g and v != s
        if both and cost[column[t]] < np.inf:
            useful[size] = t
            size += 1
    return size


@nb.njit(cache=True, nogil=True)
def bellman_ford(costs, rows, first, target, origin, column, back, source, goal, outputs, values, status):  # fmt: skip # noqa: E501
    """Least paths of the rows named, costs of any sign; ``status`` says where that fails.

    ``back`` are first, target and column of all steps turned round.
    """
    n_nodes = len(first) - 1
    distance, step = np.empty(n_nodes), np.empty(n_nodes, np.int32)
    ahead, behind = np.empty(n_nodes, np.bool_), np.empty(n_nodes, np.bool_)
    queue, useful = np.empty(n_nodes, np.int64), np.empty(len(target), np.int64)
    for row in rows:
        cost, s, g = costs[row], source[row], goal[row]
        m = useful_steps(s, g, cost, first, target, origin, column, back, ahead, behind, queue, useful)  # fmt: skip # noqa: E501
        distance[:] = np.inf
        distance[s], changed = 0.0, True
        for _ in range(n_nodes):
            changed = False
            for i in range(m):
                t = useful[i]
                there = distance[origin[t]] + cost[column[t]]
                if there < distance[target[t]]:
                    distance[target[t]], step[target[t]], changed = there, t, True
            if not changed:
                break
        values[row] = distance[g]
        status[row] = CYCLE if changed else FOUND if distance[g] < np.inf else NONE
        if status[row] == FOUND and not walk_back(s, g, step, origin, column, outputs[row]):
            status[row] = CYCLE


@nb.njit(cache=True, nogil=True)
def subset_paths(costs, first, target, origin, column, source, goal, required, longest, outputs, values):  # fmt: skip # noqa: E501
    """Least simple paths through all nodes of ``required`` (n,), bits of an integer; few nodes.

    table[S, v]: the least cost of a path from the source to v through exactly the nodes of S.
    """
    n_nodes = len(first) - 1
    table = np.empty((1 << n_nodes, n_nodes))
    step = np.empty((1 << n_nodes, n_nodes), np.int16)
    count = np.zeros(1 << n_nodes, np.int64)
    for S in range(1, 1 << n_nodes):
        count[S] = count[S >> 1] + (S & 1)
    for row in range(len(costs)):
        cost, s, g = costs[row], source[row], goal[row]
        table[:] = np.inf
        table[1 << s, s] = 0.0
        best, last = np.inf, 0
        for S in range(1 << n_nodes):
            if not (S >> s) & 1 or count[S] - 1 > longest[row]:
                continue
            if table[S, g] < best and S & required[row] == required[row]:
                best, last = table[S, g], S
            for v in range(n_nodes):
                if v == g or table[S, v] == np.inf:
                    continue
                for t in range(first[v], first[v + 1]):
                    w, there = target[t], table[S, v] + cost[column[t]]
                    if not (S >> w) & 1 and there < table[S | (1 << w), w]:
                        table[S | (1 << w), w], step[S | (1 << w), w] = there, t
        values[row] = best
        v = g
        while best < np.inf and v != s:
            t = step[last, v]
            outputs[row, column[t]] = 1
            last, v = last & ~(1 << v), origin[t]
