# SPDX-License-Identifier: BSD-3-Clause
"""Sums over weighted spanning trees by eliminating nodes, where positive numbers are added only.

Node k with weights a_i to the nodes before it, S in all, is replaced by a_i a_j / S between
these (a star becomes a mesh): the trees of the smaller graph sum to 1 / S of those of the
larger one. Effective resistances between nodes that are left do not change. W[k, i] for i < k
is a_i when k goes; ``logs`` says that weights are kept as logarithms.
"""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True)
def log_add(a, b):
    """Logarithm of exp(a) + exp(b)."""
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))


@nb.njit(cache=True, nogil=True)
def eliminate(W, total):
    """Eliminate the last node, the one before it, ... in place; the logarithm of the sum."""
    log_sum = 0.0
    for k in range(len(W) - 1, 0, -1):
        S = 0.0
        for i in range(k):
            S += W[k, i]
        for i in range(1, k):
            share = W[k, i] / S
            for j in range(i):
                W[i, j] += share * W[k, j]
        total[k] = S
        log_sum += np.log(S)
    return log_sum


@nb.njit(cache=True, nogil=True)
def eliminate_logs(W, total):
    """The same with logarithms of weights."""
    log_sum = 0.0
    for k in range(len(W) - 1, 0, -1):
        S = -np.inf
        for i in range(k):
            S = log_add(S, W[k, i])
        for i in range(1, k):
            if W[k, i] > -np.inf:
                for j in range(i):
                    W[i, j] = log_add(W[i, j], W[k, i] - S + W[k, j])
        total[k] = S
        log_sum += S
    return log_sum


@nb.njit(cache=True, nogil=True)
def resistances(W, total, R, mean):
    r"""Effective resistances, nodes added one by one; with p = a / S,

    R_ki = 1 / S + sum_j p_j R_ij - sum_{j < l} p_j p_l R_jl.

    What is subtracted is at most k / S, and R_ki at least 1 / S: no digits of weight are lost.
    """
    R[0, 0] = 0.0
    for k in range(1, len(W)):
        half = 0.0
        mean[:k] = 0.0
        for j in range(k):
            p = W[k, j] / total[k]
            for i in range(k):  # this loop runs in lanes
                mean[i] += p * R[j, i]
        for i in range(k):
            half += 0.5 * mean[i] * (W[k, i] / total[k])
        R[k, k] = 0.0
        for i in range(k):
            R[k, i] = R[i, k] = 1.0 / total[k] + mean[i] - half


@nb.njit(cache=True, nogil=True)
def log_resistances(W, total, R, mean):
    """Logarithms of the resistances from logarithms of weights."""
    R[0, 0] = -np.inf
    for k in range(1, len(W)):
        half = -np.inf
        for i in range(k):
            mean[i] = -np.inf
            for j in range(k):
                mean[i] = log_add(mean[i], W[k, j] + R[i, j] - total[k])
            half = log_add(half, mean[i] + W[k, i] - total[k] - np.log(2.0))
        R[k, k] = -np.inf
        for i in range(k):
            most = log_add(-total[k], mean[i])
            R[k, i] = R[i, k] = most + np.log1p(-np.exp(half - most))


@nb.njit(cache=True, nogil=True)
def sum_trees(scores, ends, logs, W, total, log_sums):
    """Fill W (n, N, N) and total (n, N) with what elimination leaves, and its sums (n,)."""
    for row in range(len(scores)):
        W[row] = -np.inf if logs[row] else 0.0
        for e in range(len(ends)):
            u, v = max(ends[e, 0], ends[e, 1]), min(ends[e, 0], ends[e, 1])
            if logs[row]:
                W[row, u, v] = log_add(W[row, u, v], scores[row, e])
            else:
                W[row, u, v] += np.exp(scores[row, e])
        if logs[row]:
            log_sums[row] = eliminate_logs(W[row], total[row])
        else:
            log_sums[row] = eliminate(W[row], total[row])


@nb.njit(cache=True, nogil=True)
def edge_chances(scores, ends, logs, W, total, chances):
    """P(e in T), the weight of e times the resistance between its ends; (n, m)."""
    n_nodes = W.shape[1]
    R, mean = np.empty((n_nodes, n_nodes)), np.empty(n_nodes)
    for row in range(len(scores)):
        if logs[row]:
            log_resistances(W[row], total[row], R, mean)
        else:
            resistances(W[row], total[row], R, mean)
        for e in range(len(ends)):
            resistance = R[ends[e, 0], ends[e, 1]]
            if logs[row]:
                chance = np.exp(min(scores[row, e] + resistance, 0.0))
            else:
                chance = min(np.exp(scores[row, e]) * resistance, 1.0)
            chances[row, e] = chance
