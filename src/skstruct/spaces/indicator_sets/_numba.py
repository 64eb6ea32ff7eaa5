# SPDX-License-Identifier: BSD-3-Clause
"""Compiled sums over closed sets of forests, and Markov chains among label sets.

Everywhere position t of a preorder stands for node ``order[t]``: parents come before children.
Bool arrays ``low`` and ``high`` have one row for all rows of scores, or one each.
"""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct.spaces.solvers._numba_markov_chains import accepts, below, fraction
from skstruct.spaces.solvers.pairwise._numba_inference import FULL, MODERATE


@nb.njit(cache=True, nogil=True)
def shares_of(scores, low, high, order, parent, first, alone):
    """The probability of every node given its parent, and ln Z of every row.

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
            if known_in[j]:  # its exclusive labels are barred, and none at all is no choice
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
    """ln(1 + exp inside) as a + ln(1 + b) with b <= 1, and the probability of what is inside."""
    if known_in:
        return inside, 0.0, 1.0
    small = np.exp(-abs(inside))
    larger = 1.0 if inside > 0.0 else small
    return max(inside, 0.0), small, larger / (1.0 + small)


@nb.njit(cache=True, nogil=True)
def coin_shares(scores, order, parent):
    """The same without constraints and groups, by products of odds: hardly a logarithm is taken."""
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
    """Probabilities of nodes from their probabilities given the parent; shape (n, d)."""
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


# Compiled chains among label sets.
#
# The first entry k of a state says how many of its units are in use; then the units follow in
# any order, those in use first: so both a used and an unused one are drawn in O(1). One unit more
# than there are is drawn from, and nothing happens when it is that one: a chain in which all is
# accepted would else be in every second state at every second step.


@nb.njit(cache=True, nogil=True, inline="always")
def _trade(state, a, b):
    """Units at positions a and b change places."""
    state[1 + a], state[1 + b] = state[1 + b], state[1 + a]


@nb.njit(cache=True, nogil=True, inline="always")
def _toggle(state, at):
    """The unit at a position comes into use, or falls out of it."""
    k = state[0]
    if at < k:
        _trade(state, at, k - 1)
        state[0] = k - 1
    else:
        _trade(state, at, k)
        state[0] = k + 1


@nb.njit(cache=True, nogil=True)
def walk_groups(states, scores, row, beta, n_steps, streams, start, member, sizes, swaps):
    """Chains among sets with at most one label of each group, in which all labels are.

    Group g has the labels ``member[start[g]:start[g + 1]]``; a state ends with the position of the
    chosen one by group, -1 for none. Two proposals, the second with probability ``swaps``: a group
    takes another of its options, all alike; a group in use falls out and an unused one comes in
    with any of its labels, so that the way back differs in the number of labels.
    """
    accepted = np.zeros(len(states), np.int64)
    smallest, largest = sizes
    n_groups = len(start) - 1
    for c in range(len(states)):
        state, score, beta_c = states[c], scores[row[c]], beta[c]
        chosen = state[1 + n_groups :]
        for _ in range(n_steps):
            k = state[0]
            if swaps > 0.0 and fraction(streams, c) < swaps:
                if k == 0 or k == n_groups:
                    continue
                a, b = below(streams, c, k), k + below(streams, c, n_groups - k + 1)
                if b == n_groups:
                    continue
                g, h = state[1 + a], state[1 + b]
                n_here, n_there = start[g + 1] - start[g], start[h + 1] - start[h]
                new = below(streams, c, n_there)
                gain = score[member[start[h] + new]] - score[member[start[g] + chosen[g]]]
                if accepts(beta_c * gain + np.log(n_there / n_here), streams, c):
                    chosen[g], chosen[h] = -1, new
                    _trade(state, a, b)
                    accepted[c] += 1
                continue
            at = below(streams, c, n_groups + 1)
            if at == n_groups:
                continue
            g = state[1 + at]
            old = chosen[g]
            new = below(streams, c, start[g + 1] - start[g]) - 1  # the options -1, 0, ... but old
            if new >= old:
                new += 1
            size = k + (old < 0) - (new < 0)
            if size < smallest or size > largest:
                continue
            gain = 0.0
            if new >= 0:
                gain += score[member[start[g] + new]]
            if old >= 0:
                gain -= score[member[start[g] + old]]
            if accepts(beta_c * gain, streams, c):
                chosen[g] = new
                if size != k:
                    _toggle(state, at)
                accepted[c] += 1
    return accepted


@nb.njit(cache=True, nogil=True, inline="always")
def _may_leave(inside, v, child_start, child):
    """Whether no child of v is in."""
    n_inside = 0
    for e in range(child_start[v], child_start[v + 1]):
        n_inside += inside[child[e]]
    return n_inside == 0


@nb.njit(cache=True, nogil=True, inline="always")
def _may_enter(inside, v, parent_start, parent, exclusive_start, exclusive, but):
    """Whether all parents of v are in and none of its exclusive labels, once label ``but`` has
    left.
    """
    for e in range(parent_start[v], parent_start[v + 1]):
        if not inside[parent[e]] or parent[e] == but:
            return False
    for e in range(exclusive_start[v], exclusive_start[v + 1]):
        if inside[exclusive[e]] and exclusive[e] != but:
            return False
    return True


@nb.njit(cache=True, nogil=True)
def walk_closed(states, scores, row, beta, n_steps, streams, n_open, arcs, sizes, swaps):
    """Chains among sets that hold the parents of their members.

    A state ends with 0 or 1 for every label; the units are the labels that are not known.
    ``arcs`` are children, parents and exclusive labels of every label, each as starts and a list.
    Two proposals, the second with probability ``swaps``: a label comes in or leaves; one leaves
    while another comes in. Both are as likely on the way back.
    """
    child_start, child, parent_start, parent, exclusive_start, exclusive = arcs
    accepted = np.zeros(len(states), np.int64)
    smallest, largest = sizes
    for c in range(len(states)):
        state, score, beta_c = states[c], scores[row[c]], beta[c]
        inside = state[1 + n_open :]
        for _ in range(n_steps):
            k = state[0]
            if swaps > 0.0 and fraction(streams, c) < swaps:
                if k == 0 or k == n_open:
                    continue
                a, b = below(streams, c, k), k + below(streams, c, n_open - k + 1)
                if b == n_open:
                    continue
                i, j = state[1 + a], state[1 + b]
                good = _may_leave(inside, i, child_start, child) and _may_enter(
                    inside, j, parent_start, parent, exclusive_start, exclusive, i
                )
                if good and accepts(beta_c * (score[j] - score[i]), streams, c):
                    inside[i], inside[j] = 0, 1
                    _trade(state, a, b)
                    accepted[c] += 1
                continue
            at = below(streams, c, n_open + 1)
            if at == n_open:
                continue
            v = state[1 + at]
            leaves = at < k
            size = k - 1 if leaves else k + 1
            if size < smallest or size > largest:
                continue
            if leaves:
                good = _may_leave(inside, v, child_start, child)
            else:
                good = _may_enter(inside, v, parent_start, parent, exclusive_start, exclusive, -1)
            if good and accepts(beta_c * (-score[v] if leaves else score[v]), streams, c):
                inside[v] = 0 if leaves else 1
                _toggle(state, at)
                accepted[c] += 1
    return accepted
