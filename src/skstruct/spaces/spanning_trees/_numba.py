# SPDX-License-Identifier: BSD-3-Clause
"""Spanning trees, compiled: determinants, sums by elimination, weighted draws, Markov chains."""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct.spaces.edge_sets._numba_spanning_trees import find, join
from skstruct.spaces.solvers._numba_markov_chains import below, fraction


@nb.njit(cache=True, nogil=True)
def inverse_modulo(a, p):
    """The number that makes 1 with a, by Fermat: a^(p - 2)."""
    power, exponent, inverse = a, p - 2, 1
    while exponent > 0:
        if exponent & 1:
            inverse = inverse * power % p
        power = power * power % p
        exponent >>= 1
    return inverse


@nb.njit(cache=True, nogil=True)
def determinant_modulo(matrix, p):
    """Determinant modulo a prime p < 2^31 of a matrix with entries 0..p - 1, which is spent."""
    n, answer = len(matrix), 1
    for k in range(n):
        row = k
        while row < n and matrix[row, k] == 0:
            row += 1
        if row == n:
            return 0
        if row != k:
            answer = p - answer
            for j in range(k, n):
                matrix[k, j], matrix[row, j] = matrix[row, j], matrix[k, j]
        answer = answer * matrix[k, k] % p
        inverse = inverse_modulo(matrix[k, k], p)
        for i in range(k + 1, n):
            if matrix[i, k] != 0:
                factor = p - matrix[i, k] * inverse % p
                for j in range(k + 1, n):
                    matrix[i, j] = (matrix[i, j] + factor * matrix[k, j]) % p
    return answer


# Sums over weighted spanning trees by eliminating nodes, where positive numbers are added only.
#
# Node k with weights a_i to the nodes before it, S in all, is replaced by a_i a_j / S between
# these (a star becomes a mesh): the trees of the smaller graph sum to 1 / S of those of the
# larger one. Effective resistances between nodes that are left do not change. W[k, i] for i < k
# is a_i when k goes; ``logs`` says that weights are kept as logarithms.


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
def edge_probabilities(scores, ends, logs, W, total, probabilities):
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
                probability = np.exp(min(scores[row, e] + resistance, 0.0))
            else:
                probability = min(np.exp(scores[row, e]) * resistance, 1.0)
            probabilities[row, e] = probability


# Weighted random spanning trees: the elimination of nodes undone, node by node.
#
# A tree on the nodes before k has edges that stand for ways over k, with the share of
# a_i a_j / S in their weight. These are taken out; node k is then joined with one node of every
# part that is left, node i with probability a_i over the sum of its part. That is the distribution
# of the larger graph: the trees that join m parts with weights a(B) sum to S^(m-2) prod a(B)
# (Cayley). No walk has to meet anything, so that draws take O(N^2) whatever the weights.


@nb.njit(cache=True, nogil=True)
def way_of(i, j, direct, W, total, rng):
    """Over which node k > i edge i > j leads, with its share; 0 where it is an edge itself.

    ``direct`` is the logarithm of its own weight.
    """
    left = rng.random() - np.exp(direct - W[i, j])
    if left < 0.0:
        return 0
    last = 0
    for k in range(i + 1, len(W)):
        share = np.exp(W[k, i] + W[k, j] - total[k] - W[i, j])
        if share > 0.0:
            last = k
            left -= share
            if left < 0.0:
                return k
    return last  # by rounding alone


@nb.njit(cache=True, nogil=True)
def one_of(pairs, probability, rng):
    """A position below ``pairs`` with probabilities in proportion."""
    whole = 0.0
    for p in range(pairs):
        whole += probability[p]
    left, last = rng.random() * whole, 0
    for p in range(pairs):
        if probability[p] > 0.0:
            last = p
            left -= probability[p]
            if left < 0.0:
                break
    return last


@nb.njit(cache=True, nogil=True)
def join_parts(k, n_edges, tail, head, way, direct, W, total, parent, score, best, chosen, rng):
    """Join node k with one node of each part; the number of edges after it."""
    for v in range(k):
        parent[v], best[v] = v, -np.inf
    kept = 0
    for e in range(n_edges):
        if way[e] != k:
            tail[kept], head[kept], way[kept] = tail[e], head[e], way[e]
            join(parent, tail[e], head[e])
            kept += 1
    # The largest of log a_i + Gumbel noise is node i with probability a_i over the sum of its part.
    for i in range(k):
        if W[k, i] > -np.inf:
            part = find(parent, i)
            score[i] = W[k, i] - np.log(-np.log1p(-rng.random()))
            if score[i] > best[part]:
                best[part], chosen[part] = score[i], i
    for part in range(k):
        if parent[part] == part:
            i = chosen[part]
            tail[kept], head[kept] = k, i
            way[kept] = way_of(k, i, direct[k, i], W, total, rng)
            kept += 1
    return kept


@nb.njit(cache=True, nogil=True)
def draw_trees(scores, W, total, start, parallel, trees, rng):
    """Fill trees (n_rows, n, m); all weights are logarithms.

    ``parallel[start[k N + i] : start[k N + i + 1]]`` are the edges between k > i.
    """
    n_nodes = W.shape[1]
    tail, head = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64)
    way, parent = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64)
    chosen, score, best = np.empty(n_nodes, np.int64), np.empty(n_nodes), np.empty(n_nodes)
    direct, probability = np.empty((n_nodes, n_nodes)), np.empty(scores.shape[1])
    for row in range(len(scores)):
        for k in range(n_nodes):
            for i in range(k):
                among = parallel[start[k * n_nodes + i] : start[k * n_nodes + i + 1]]
                direct[k, i] = -np.inf
                for e in among:
                    direct[k, i] = np.logaddexp(direct[k, i], scores[row, e])
        for draw in range(trees.shape[1]):
            n_edges = 0
            for k in range(1, n_nodes):
                n_edges = join_parts(
                    k, n_edges, tail, head, way, direct, W[row], total[row], parent, score, best,
                    chosen, rng,
                )  # fmt: skip
            for e in range(n_edges):
                pair = tail[e] * n_nodes + head[e]
                among = parallel[start[pair] : start[pair + 1]]
                for p in range(len(among)):
                    probability[p] = np.exp(scores[row, among[p]] - direct[tail[e], head[e]])
                trees[row, draw, among[one_of(len(among), probability, rng)]] = 1


# Chains among spanning trees: an edge comes in, one of the cycle that it closes goes out.
#
# A tree is stored as ``way[v]``, the edge from v towards node 0; -1 at node 0 itself.


@nb.njit(cache=True, nogil=True)
def root_trees(trees, start, head, edge, ways):
    """Fill ways (n, N) from 0/1 rows; arcs out of node v are start[v]..start[v + 1]."""
    n_nodes = len(start) - 1
    queue = np.empty(n_nodes, np.int64)
    for row in range(len(trees)):
        way = ways[row]
        way[:] = -2
        way[0], queue[0] = -1, 0
        n_found, k = 1, 0
        while k < n_found:
            v = queue[k]
            k += 1
            for a in range(start[v], start[v + 1]):
                if trees[row, edge[a]] and way[head[a]] == -2:
                    way[head[a]] = edge[a]
                    queue[n_found] = head[a]
                    n_found += 1


@nb.njit(cache=True, nogil=True)
def climb(way, ends, v, n_steps):
    """The node that lies so many steps towards node 0."""
    for _ in range(n_steps):
        v = ends[way[v], 0] + ends[way[v], 1] - v
    return v


@nb.njit(cache=True, nogil=True)
def turn(way, ends, v, top, edge):
    """Hang v on ``edge``: all ways from v up to ``top``, which loses its own, are turned."""
    while True:
        old = way[v]
        way[v] = edge
        if v == top:
            return
        edge = old
        v = ends[old, 0] + ends[old, 1] - v


@nb.njit(cache=True, nogil=True)
def cycle_sides(way, ends, a, b, height, mark, tick):
    """Tree edges from a and from b to where their ways to node 0 meet."""
    n_up, v = 0, a
    while True:
        mark[v], height[v] = tick, n_up
        if way[v] < 0:
            break
        v = ends[way[v], 0] + ends[way[v], 1] - v
        n_up += 1
    n_other, v = 0, b
    while mark[v] != tick:
        v = ends[way[v], 0] + ends[way[v], 1] - v
        n_other += 1
    return height[v], n_other


@nb.njit(cache=True, nogil=True)
def walk_trees(ways, ends, columns, scores, row, beta, n_steps, streams, accepted):
    """Any edge, with probability 1 / m, and any tree edge of its cycle: as likely there as back."""
    n_nodes, m = ways.shape[1], len(ends)
    height, mark = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.int64)
    tick = 0
    if m < n_nodes:  # a single tree
        return
    for c in range(len(ways)):
        way, score = ways[c], scores[row[c]]
        for _ in range(n_steps):
            edge = below(streams, c, m)
            a, b = ends[edge, 0], ends[edge, 1]
            if way[a] == edge or way[b] == edge:
                continue
            tick += 1
            n_up, n_other = cycle_sides(way, ends, a, b, height, mark, tick)
            k = below(streams, c, n_up + n_other)
            first = a if k < n_up else b
            top = climb(way, ends, first, k if k < n_up else k - n_up)
            gain = score[columns[edge]] - score[columns[way[top]]]
            if np.log(fraction(streams, c)) < beta[c] * gain:
                turn(way, ends, first, top, edge)
                accepted[c] += 1
