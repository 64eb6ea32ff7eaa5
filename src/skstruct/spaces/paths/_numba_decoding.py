# SPDX-License-Identifier: BSD-3-Clause
"""The best and the k best paths through states that lead onward only, compiled.

Steps lead from a state to later ones: those of state s are first[s]..first[s + 1]. Step t takes
``column[t]`` of the costs, infinite where it is closed. ``start`` and ``end`` (1 or n,) are states.
``target`` and ``column`` are without sign: positions that may count from the end take longer.
"""

import numpy as np

from skstruct._arrays import compiling as nb


@nb.njit(cache=True, nogil=True)
def min_paths(costs, first, target, column, start, end, outputs, values):
    """Fill outputs (n, d), which are zero, and values (n,), infinite where there is no path."""
    table = np.empty(len(first) - 1)
    choice = np.empty(len(first) - 1, np.int32)
    for row in range(len(costs)):
        cost = costs[row]
        s, e = start[min(row, len(start) - 1)], end[min(row, len(end) - 1)]
        if s > e:
            values[row] = np.inf
            continue
        table[e] = 0.0
        for v in range(e - 1, s - 1, -1):
            best, step = np.inf, np.int32(-1)
            for t in range(first[v], first[v + 1]):
                w = target[t]
                if w <= e:
                    value = cost[column[t]] + table[w]
                    step = np.int32(t) if value < best else step  # no jump: half would be foreseen
                    best = min(value, best)
            table[v], choice[v] = best, step
        values[row] = table[s]
        if table[s] < np.inf:
            v = s
            while v < e:
                outputs[row, column[choice[v]]] = 1
                v = np.int64(target[choice[v]])


@nb.njit(cache=True, nogil=True)
def insert_ranked(value, step, rank, v, n_found, table, steps, ranks):
    """Put a path from v among the best so far, behind equal ones; their number afterwards."""
    k = table.shape[1]
    p = min(n_found, k - 1)
    while p > 0 and table[v, p - 1] > value:
        table[v, p], steps[v, p], ranks[v, p] = table[v, p - 1], steps[v, p - 1], ranks[v, p - 1]
        p -= 1
    table[v, p], steps[v, p], ranks[v, p] = value, step, rank
    return min(n_found + 1, k)


@nb.njit(cache=True, nogil=True)
def k_min_paths(costs, first, target, column, start, end, outputs, values):
    """Fill outputs (n, k, d), which are zero, and values (n, k), infinite beyond the last path."""
    n_states, k = len(first) - 1, values.shape[1]
    table, found = np.empty((n_states, k)), np.empty(n_states, np.int64)
    steps, ranks = np.empty((n_states, k), np.int32), np.empty((n_states, k), np.int32)
    values[:] = np.inf
    for row in range(len(costs)):
        cost = costs[row]
        s, e = start[min(row, len(start) - 1)], end[min(row, len(end) - 1)]
        if s > e:
            continue
        table[e, 0], found[e] = 0.0, 1
        for v in range(e - 1, s - 1, -1):
            m = 0
            for t in range(first[v], first[v + 1]):
                w = np.int64(target[t])
                if w > e or cost[column[t]] == np.inf:
                    continue
                for q in range(found[w]):
                    value = cost[column[t]] + table[w, q]
                    if m == k and value >= table[v, k - 1]:
                        break
                    m = insert_ranked(value, t, q, v, m, table, steps, ranks)
            found[v] = m
        for rank in range(found[s]):
            values[row, rank] = table[s, rank]
            v, q = s, rank
            while v < e:
                t = steps[v, q]
                outputs[row, rank, column[t]] = 1
                v, q = np.int64(target[t]), ranks[v, q]
