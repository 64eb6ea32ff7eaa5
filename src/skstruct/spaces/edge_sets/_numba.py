# SPDX-License-Identifier: BSD-3-Clause
"""Sums over the paths of a graph of states and over all sets of few nodes, compiled.

Steps lead from a state to later ones: those of state s are first[s]..first[s + 1]. Step t takes
``column[t]``, whose weight is multiplied in; ``table[s]`` is the sum over all paths from s on.
``logs`` says that weights and sums are logarithms.
"""

import numpy as np

from skstruct._arrays import compiling as nb


@nb.njit(cache=True, nogil=True)
def step_weights(score, logs, weight):
    """Weights of all columns; the last one stands for a step that takes none."""
    for j in range(len(score)):
        weight[j] = score[j] if logs else np.exp(score[j])
    weight[len(score)] = 0.0 if logs else 1.0


@nb.njit(cache=True, nogil=True)
def sum_onward(first, target, column, weight, logs, table):
    """Fill ``table``, the last state first."""
    end = len(table) - 1
    table[end] = 0.0 if logs else 1.0
    for s in range(end - 1, -1, -1):
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
def sum_paths(scores, logs, first, target, column, log_sums):
    """Logarithms of the sums over all paths; (n,)."""
    table, weight = np.empty(len(first) - 1), np.empty(scores.shape[1] + 1)
    for row in range(len(scores)):
        step_weights(scores[row], logs[row], weight)
        sum_onward(first, target, column, weight, logs[row], table)
        log_sums[row] = table[0] if logs[row] else (np.log(table[0]) if table[0] > 0 else -np.inf)


@nb.njit(cache=True, nogil=True)
def column_probabilities(scores, logs, first, target, column, probabilities):
    """Probabilities of all columns to be on a path; (n, d)."""
    n_states, d = len(first) - 1, scores.shape[1]
    table, weight = np.empty(n_states), np.empty(d + 1)
    reached = np.empty(n_states)
    for row in range(len(scores)):
        step_weights(scores[row], logs[row], weight)
        sum_onward(first, target, column, weight, logs[row], table)
        reached[:] = 0.0
        reached[0] = 1.0
        for s in range(n_states - 1):
            if reached[s] == 0.0:
                continue
            for t in range(first[s], first[s + 1]):
                probability = reached[s] * share(s, t, target, column, weight, logs[row], table)
                reached[target[t]] += probability
                if column[t] < d:
                    probabilities[row, column[t]] += probability


@nb.njit(cache=True, nogil=True)
def draw_paths(scores, logs, first, target, column, drawn, rng):
    """Fill drawn (n_rows, n, d), which is zero, with the columns of random paths."""
    n_states, d = len(first) - 1, scores.shape[1]
    table, weight = np.empty(n_states), np.empty(d + 1)
    for row in range(len(scores)):
        step_weights(scores[row], logs[row], weight)
        sum_onward(first, target, column, weight, logs[row], table)
        for draw in range(drawn.shape[1]):
            s = 0
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


# Values of all sets of few nodes, where pairs inside have scores; bit b stands for node b.


@nb.njit(cache=True, nogil=True)
def node_set_weights(score, column, allowed, weight, gained):
    """Weights of all sets, divided by the largest; the logarithms of that one and of the sum.

    Sets with node b have the values of those without it, plus what these gain by b.
    """
    weight[0] = gained[0] = 0.0
    for b in range(len(column)):
        for a in range(b):
            more = score[column[a, b]]
            for S in range(1 << a):
                gained[(1 << a) + S] = gained[S] + more
        for S in range(1 << b):
            weight[(1 << b) + S] = weight[S] + gained[S]
    top, total = -np.inf, 0.0
    for S in range(len(weight)):
        if allowed[S]:
            top = max(top, weight[S])
    for S in range(len(weight)):
        weight[S] = np.exp(weight[S] - top) if allowed[S] else 0.0
        total += weight[S]
    return top, total


@nb.njit(cache=True, nogil=True)
def sum_sets(scores, column, allowed, log_sums):
    """Logarithms of the sums over all sets; (n,)."""
    weight, gained = np.empty(len(allowed)), np.empty(len(allowed))
    for row in range(len(scores)):
        top, total = node_set_weights(scores[row], column, allowed, weight, gained)
        log_sums[row] = top + np.log(total) if total > 0.0 else -np.inf


@nb.njit(cache=True, nogil=True)
def pair_probabilities(scores, column, allowed, probabilities):
    """Probabilities of all pairs to be inside; (n, d)."""
    n_nodes = len(column)
    weight, gained = np.empty(len(allowed)), np.empty(len(allowed))
    for row in range(len(scores)):
        total = node_set_weights(scores[row], column, allowed, weight, gained)[1]
        for b in range(n_nodes):  # of every set the sum over those that contain it
            half = 1 << b
            for begin in range(0, len(weight), 2 * half):
                for S in range(begin, begin + half):
                    weight[S] += weight[S + half]
        for v in range(n_nodes):
            for u in range(v):
                probabilities[row, column[u, v]] = min(weight[(1 << u) | (1 << v)] / total, 1.0)


@nb.njit(cache=True, nogil=True)
def draw_sets(scores, column, allowed, levels, drawn):
    """Numbers of sets at levels (n_rows, n) from 0 to 1 of the sum over all sets."""
    weight, gained = np.empty(len(allowed)), np.empty(len(allowed))
    for row in range(len(scores)):
        node_set_weights(scores[row], column, allowed, weight, gained)
        upto = np.cumsum(weight)
        last = np.searchsorted(upto, upto[-1])  # sets behind it have no weight
        for draw in range(levels.shape[1]):
            found = np.searchsorted(upto, levels[row, draw] * upto[-1], side="right")
            drawn[row, draw] = min(found, last)
