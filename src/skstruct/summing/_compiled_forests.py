# SPDX-License-Identifier: BSD-3-Clause
"""Compiled sums over closed sets of forests.

Everywhere position t of a preorder stands for node ``order[t]``: parents come before children.
Bool arrays ``low`` and ``high`` have one row for all rows of scores, or one each.
"""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True, inline="always")
def _joined(a, b):
    """ln(exp a + exp b), and the share of b in it."""
    if b == -np.inf:
        return a, 0.0
    if a == -np.inf:
        return b, 1.0
    if a >= b:
        small = np.exp(b - a)
        return a + np.log1p(small), small / (1.0 + small)
    small = np.exp(a - b)
    return b + np.log1p(small), 1.0 / (1.0 + small)


@nb.njit(cache=True, nogil=True)
def shares_of(scores, low, high, order, parent, first, alone):
    """The chance of every node given its parent, and ln Z of every row.

    ``parent`` holds positions, and d for roots. Of the nodes with the same ``first``, the
    position of the first of them, at most one is in; ``alone`` marks those with no other.
    A group adds to what is below its parent ln(1 + sum of exp(inside) over its members), with
    inside(v) = score(v) + what is below v.
    """
    n, d = scores.shape
    shares, log_partition = np.empty((n, d)), np.empty(n)
    below, total = np.empty(d + 1), np.empty(d)
    for row in range(n):
        known_in = low[row if low.shape[0] > 1 else 0]
        possible = high[row if high.shape[0] > 1 else 0]
        below[:] = 0.0
        total[:] = 0.0
        for t in range(d):
            if known_in[order[t]]:  # then none of the group is no choice
                total[first[t]] = -np.inf
        for t in range(d - 1, -1, -1):
            j, f = order[t], first[t]
            inside = scores[row, j] + below[t] if possible[j] else -np.inf
            total[f], shares[row, j] = _joined(total[f], inside)
            if not alone[t]:
                shares[row, j] = inside  # the share follows when the total is known
            if t == f:
                below[parent[t]] += total[f]
        for t in range(d):
            if not alone[t]:
                j = order[t]
                shares[row, j] = np.exp(shares[row, j] - total[first[t]])
        log_partition[row] = below[d]
    return shares, log_partition


@nb.njit(cache=True, nogil=True)
def multiplied_down(shares, order, parent):
    """Chances of nodes from their chances given the parent; shape (n, d)."""
    n, d = shares.shape
    marginals, here = np.empty((n, d)), np.ones(d + 1)
    for row in range(n):
        for t in range(d):
            here[t] = shares[row, order[t]] * here[parent[t]]
            marginals[row, order[t]] = here[t]
    return marginals


@nb.njit(cache=True, nogil=True)
def drawn_sets(shares, order, parent, first, alone, n_draws, rng):
    """``n_draws`` closed sets of every row; int8 of shape (n, n_draws, d)."""
    n, d = shares.shape
    outputs = np.zeros((n, n_draws, d), np.int8)
    taken, level = np.ones(d + 1, np.bool_), np.empty(d)
    for row in range(n):
        for draw in range(n_draws):
            for t in range(d):
                taken[t] = False
                if not taken[parent[t]]:
                    continue
                f, share = first[t], shares[row, order[t]]
                if t == f:
                    level[f] = rng.random()
                if level[f] < share:
                    taken[t] = True
                    outputs[row, draw, order[t]] = 1
                    level[f] = np.inf  # no other of the group
                elif not alone[t]:
                    level[f] -= share
    return outputs
