# SPDX-License-Identifier: BSD-3-Clause
"""Paths through a graph of states, compiled: least cost, k best, sums, marginals, draws, lists.

Steps lead from a state to later ones: those of state s are first[s]..first[s + 1]. Step t takes
``column[t]``, whose cost is added or whose weight is multiplied in. ``logs`` says that weights and
sums are logarithms. Paths begin at ``start`` (1 or n,) and end at the last state, or at ``end``.
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


@nb.njit(cache=True, nogil=True)
def sum_onward(score, first, target, column, start, logs, weight, table):
    """Fill ``table``: sums over all paths from each state on; weights of columns, none the last."""
    for j in range(len(score)):
        weight[j] = score[j] if logs else np.exp(score[j])
    weight[len(score)] = 0.0 if logs else 1.0
    end = len(table) - 1
    table[end] = 0.0 if logs else 1.0
    for s in range(end - 1, start - 1, -1):
        total = 0.0
        if not logs:
            for t in range(first[s], first[s + 1]):
                total += weight[column[t]] * table[target[t]]
            table[s] = total
            continue
        most = -np.inf
        for t in range(first[s], first[s + 1]):
            most = max(most, weight[column[t]] + table[target[t]])
        if most > -np.inf:
            for t in range(first[s], first[s + 1]):
                total += np.exp(weight[column[t]] + table[target[t]] - most)
            most += np.log(total)
        table[s] = most


@nb.njit(cache=True, nogil=True)
def share(s, t, target, column, weight, logs, table):
    """Probability of step t of a path that has come to state s."""
    if logs:
        return np.exp(weight[column[t]] + table[target[t]] - table[s])
    return weight[column[t]] * table[target[t]] / table[s]


@nb.njit(cache=True, nogil=True)
def sum_paths(scores, logs, first, target, column, start, log_sums):
    """Logarithms of the sums over all paths; (n,)."""
    table, weight = np.empty(len(first) - 1), np.empty(scores.shape[1] + 1)
    for row in range(len(scores)):
        s = start[min(row, len(start) - 1)]
        sum_onward(scores[row], first, target, column, s, logs[row], weight, table)
        log_sums[row] = table[s] if logs[row] else (np.log(table[s]) if table[s] > 0 else -np.inf)


@nb.njit(cache=True, nogil=True)
def leads(s, logs, table):
    """Whether there is a way from a state to the end."""
    return table[s] > (-np.inf if logs else 0.0)


@nb.njit(cache=True, nogil=True)
def spread_onward(s, first, target, column, weight, logs, table, reached, probabilities):
    """Probabilities of columns on the way from states that are reached, from s on."""
    d = len(weight) - 1
    for v in range(s, len(table) - 1):
        if reached[v] == 0.0:
            continue
        for t in range(first[v], first[v + 1]):
            probability = reached[v] * share(v, t, target, column, weight, logs, table)
            reached[target[t]] += probability
            if column[t] < d:
                probabilities[column[t]] += probability


@nb.njit(cache=True, nogil=True)
def column_probabilities(scores, logs, first, target, column, start, probabilities):
    """Probabilities of all columns to be on a path; (n, d)."""
    n_states, d = len(first) - 1, scores.shape[1]
    table, weight, reached = np.empty(n_states), np.empty(d + 1), np.empty(n_states)
    for row in range(len(scores)):
        s = start[min(row, len(start) - 1)]
        sum_onward(scores[row], first, target, column, s, logs[row], weight, table)
        reached[:] = 0.0
        reached[s] = 1.0 if leads(s, logs[row], table) else 0.0
        into = probabilities[row]
        spread_onward(s, first, target, column, weight, logs[row], table, reached, into)


@nb.njit(cache=True, nogil=True)
def pair_probabilities(score, logs, first, target, column, s, single, both):
    """Probabilities of every column (d,), and of it and a later one on one path; (d, d)."""
    n_states, d = len(first) - 1, len(score)
    table, weight = np.empty(n_states), np.empty(d + 1)
    reached, behind = np.zeros(n_states), np.empty(n_states)
    sum_onward(score, first, target, column, s, logs, weight, table)
    reached[s] = 1.0
    spread_onward(s, first, target, column, weight, logs, table, reached, single)
    order = np.argsort(column)
    at = np.searchsorted(column[order], np.arange(d + 1))
    origin = np.empty(len(target), np.int64)
    for v in range(n_states - 1):
        origin[first[v] : first[v + 1]] = v
    for j in range(d):
        behind[:] = 0.0
        for k in range(at[j], at[j + 1]):
            t = order[k]
            v = origin[t]
            if reached[v] > 0.0:
                behind[target[t]] += reached[v] * share(v, t, target, column, weight, logs, table)
        spread_onward(s, first, target, column, weight, logs, table, behind, both[j])


@nb.njit(cache=True, nogil=True)
def draw_paths(scores, logs, first, target, column, start, drawn, rng):
    """Fill drawn (n_rows, n, d), which is zero, with the columns of random paths."""
    n_states, d = len(first) - 1, scores.shape[1]
    table, weight = np.empty(n_states), np.empty(d + 1)
    for row in range(len(scores)):
        begin = start[min(row, len(start) - 1)]
        sum_onward(scores[row], first, target, column, begin, logs[row], weight, table)
        for draw in range(drawn.shape[1] if leads(begin, logs[row], table) else 0):
            s = begin
            while s < n_states - 1:
                left, last = rng.random(), -1
                for t in range(first[s], first[s + 1]):
                    probability = share(s, t, target, column, weight, logs[row], table)
                    if probability > 0.0:
                        last = t
                        left -= probability
                        if left < 0.0:
                            break
                if column[last] < d:
                    drawn[row, draw, column[last]] = 1
                s = target[last]


@nb.njit(cache=True, nogil=True)
def count_onward(first, target, start, table):
    """The number of paths, if it is one of 64 bits."""
    table[-1] = 1
    for s in range(len(table) - 2, start - 1, -1):
        table[s] = 0
        for t in range(first[s], first[s + 1]):
            table[s] += table[target[t]]
    return table[start]


@nb.njit(cache=True, nogil=True)
def list_paths(first, target, column, start, table, outputs):
    """All paths to the last state; ``table`` has the logarithms of how many there are."""
    end, d = len(first) - 2, outputs.shape[1]
    states, next_step = np.empty(end + 2, np.int64), np.empty(end + 2, np.int64)
    states[0], next_step[0], depth, found = start, first[start], 0, 0
    while depth >= 0:
        v, t = states[depth], next_step[depth]
        if v == end or t == first[v + 1]:
            if v == end:
                for i in range(depth):
                    if column[next_step[i] - 1] < d:
                        outputs[found, column[next_step[i] - 1]] = 1
                found += 1
            depth -= 1
            continue
        next_step[depth] += 1
        if leads(target[t], True, table):
            depth += 1
            states[depth], next_step[depth] = target[t], first[target[t]]
