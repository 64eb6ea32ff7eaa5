# SPDX-License-Identifier: BSD-3-Clause
"""Compiled sums over closed sets of forests.

Everywhere position t of a preorder stands for node ``order[t]``: parents come before children.
Bool arrays ``low`` and ``high`` have one row for all rows of scores, or one each.
"""

from __future__ import annotations

import numba as nb
import numpy as np

import skstruct._arrays.compiling  # noqa: F401 (tells who waits)

FULL = 1e100  # a larger factor is taken into a logarithm
MODERATE = 100.0  # scores whose exponentials times such a factor are multiplied


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
    # What is below v is base(v) + ln factor(v): one logarithm for all its children.
    base, factor = np.empty(d + 1), np.empty(d + 1)
    peak, mass = np.empty(d), np.empty(d)  # the sum of a group is exp(peak) * mass
    for row in range(n):
        known_in = low[row if low.shape[0] > 1 else 0]
        possible = high[row if high.shape[0] > 1 else 0]
        base[:], factor[:], peak[:], mass[:] = 0.0, 1.0, 0.0, 1.0
        for t in range(d - 1, -1, -1):
            j, up = order[t], parent[t]
            inside = scores[row, j] + base[t] if possible[j] else -np.inf
            if factor[t] > 1.0:
                inside += np.log(factor[t])
            if alone[t]:
                more, small, shares[row, j] = _coin(inside, known_in[j])
                base[up] += more
                factor[up] *= 1.0 + small
                if factor[up] > 1e300:
                    base[up] += np.log(factor[up])
                    factor[up] = 1.0
                continue
            f, shares[row, j] = first[t], inside  # the share follows when the sum is known
            if known_in[j]:  # its rivals are barred, and none at all is no choice
                peak[f] = inside
            elif inside > peak[f]:
                mass[f] = 1.0 + mass[f] * np.exp(peak[f] - inside)
                peak[f] = inside
            else:
                mass[f] += np.exp(inside - peak[f])
            if t == f:
                base[up] += peak[f] + np.log(mass[f])
        for t in range(d):
            if not alone[t]:
                j, f = order[t], first[t]
                shares[row, j] = np.exp(shares[row, j] - peak[f]) / mass[f]
        log_partition[row] = base[d] + np.log(factor[d])
    return shares, log_partition


@nb.njit(cache=True, nogil=True, inline="always")
def _coin(inside, known_in):
    """ln(1 + exp inside) as a + ln(1 + b) with b <= 1, and the chance of what is inside."""
    if known_in:
        return inside, 0.0, 1.0
    small = np.exp(-abs(inside))
    larger = 1.0 if inside > 0.0 else small
    return max(inside, 0.0), small, larger / (1.0 + small)


@nb.njit(cache=True, nogil=True)
def coin_shares(scores, order, parent):
    """The same without limits and groups, by products of odds: hardly a logarithm is taken."""
    n, d = scores.shape
    shares, log_partition = np.empty((n, d)), np.empty(n)
    base, factor = np.empty(d + 1), np.empty(d + 1)
    for row in range(n):
        base[:], factor[:] = 0.0, 1.0
        for t in range(d - 1, -1, -1):
            j, up = order[t], parent[t]
            inside = scores[row, j] + base[t]
            if abs(inside) < MODERATE:
                odds = np.exp(inside) * factor[t]
                both = 1.0 + odds
                shares[row, j] = odds / both
            else:
                more, small, shares[row, j] = _coin(inside + np.log(factor[t]), False)
                base[up] += more
                both = 1.0 + small
            both *= factor[up]
            if both > FULL:
                base[up] += np.log(both)
                both = 1.0
            factor[up] = both
        log_partition[row] = base[d] + np.log(factor[d])
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
