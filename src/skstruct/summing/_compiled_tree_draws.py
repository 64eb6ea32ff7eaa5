# SPDX-License-Identifier: BSD-3-Clause
"""Weighted random spanning trees: the elimination of nodes undone, node by node.

A tree on the nodes before k has edges that stand for ways over k, with the share of
a_i a_j / S in their weight. These are taken out; node k is then joined with one node of every
part that is left, node i with chance a_i over the sum of its part. That is the law of the
larger graph: the trees that join m parts with weights a(B) sum to S^(m-2) prod a(B) (Cayley).
No walk has to meet anything, so that draws take O(N^2) whatever the weights.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from skstruct.decoding._compiled_spanning_trees import find, join


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
def one_of(pairs, chance, rng):
    """A position below ``pairs`` with chances in proportion."""
    whole = 0.0
    for p in range(pairs):
        whole += chance[p]
    left, last = rng.random() * whole, 0
    for p in range(pairs):
        if chance[p] > 0.0:
            last = p
            left -= chance[p]
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
    # The largest of log a_i + Gumbel noise is node i with chance a_i over the sum of its part.
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
    direct, chance = np.empty((n_nodes, n_nodes)), np.empty(scores.shape[1])
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
                    chance[p] = np.exp(scores[row, among[p]] - direct[tail[e], head[e]])
                trees[row, draw, among[one_of(len(among), chance, rng)]] = 1
