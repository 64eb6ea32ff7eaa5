# SPDX-License-Identifier: BSD-3-Clause
"""Compiled chains among label sets.

The first entry k of a state says how many of its units are in use; then the units follow in
any order, those in use first: so both a used and an unused one are drawn in O(1). One unit more
than there are is drawn from, and nothing happens when it is that one: a chain in which all is
accepted would else be in every second state at every second step.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from skstruct.walking._compiled_metropolis import accepts
from skstruct.walking._compiled_random import below, fraction


@nb.njit(cache=True, nogil=True, inline="always")
def _trade(state, a, b):
    """Units at places a and b change places."""
    state[1 + a], state[1 + b] = state[1 + b], state[1 + a]


@nb.njit(cache=True, nogil=True, inline="always")
def _toggle(state, at):
    """The unit at a place comes into use, or falls out of it."""
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

    Group g has the labels ``member[start[g]:start[g + 1]]``; a state ends with the place of the
    chosen one by group, -1 for none. Two proposals, the second with chance ``swaps``: a group
    takes another of its options, all alike; a group in use falls out and an unused one comes in
    with any of its labels, so that the way back differs in the number of labels.
    """
    accepted = np.zeros(len(states), np.int64)
    smallest, largest = sizes
    n_groups = len(start) - 1
    for c in range(len(states)):
        state, score, warmth = states[c], scores[row[c]], beta[c]
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
                if accepts(warmth * gain + np.log(n_there / n_here), streams, c):
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
            if accepts(warmth * gain, streams, c):
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
def _may_enter(inside, v, parent_start, parent, rival_start, rival, but):
    """Whether all parents of v are in and none of its rivals, once label ``but`` has left."""
    for e in range(parent_start[v], parent_start[v + 1]):
        if not inside[parent[e]] or parent[e] == but:
            return False
    for e in range(rival_start[v], rival_start[v + 1]):
        if inside[rival[e]] and rival[e] != but:
            return False
    return True


@nb.njit(cache=True, nogil=True)
def walk_closed(states, scores, row, beta, n_steps, streams, n_open, arcs, sizes, swaps):
    """Chains among sets that hold the parents of their members.

    A state ends with 0 or 1 for every label; the units are the labels that are not known.
    ``arcs`` are children, parents and rivals of every label, each as starts and a list. Two
    proposals, the second with chance ``swaps``: a label comes in or leaves; one leaves while
    another comes in. Both are as likely on the way back.
    """
    child_start, child, parent_start, parent, rival_start, rival = arcs
    accepted = np.zeros(len(states), np.int64)
    smallest, largest = sizes
    for c in range(len(states)):
        state, score, warmth = states[c], scores[row[c]], beta[c]
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
                    inside, j, parent_start, parent, rival_start, rival, i
                )
                if good and accepts(warmth * (score[j] - score[i]), streams, c):
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
                good = _may_enter(inside, v, parent_start, parent, rival_start, rival, -1)
            if good and accepts(warmth * (-score[v] if leaves else score[v]), streams, c):
                inside[v] = 0 if leaves else 1
                _toggle(state, at)
                accepted[c] += 1
    return accepted
