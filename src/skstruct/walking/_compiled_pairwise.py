# SPDX-License-Identifier: BSD-3-Clause
"""Compiled Metropolis steps among labels or states with scores of pairs."""

from __future__ import annotations

import numba as nb
import numpy as np

from skstruct.walking._compiled_metropolis import accepts
from skstruct.walking._compiled_random import below


@nb.njit(cache=True, nogil=True)
def walk_labels(states, scores, row, beta, n_steps, streams, free, start, other, edge):
    """``n_steps`` proposals in every chain; how many of them changed a label.

    Node i owns the ends start[i]:start[i + 1] of edges, which lead to `other`; scores are
    those of labels and, after them, of pairs.
    """
    n = states.shape[1]
    accepted = np.zeros(states.shape[0], np.int64)
    for c in range(states.shape[0] if free.shape[0] else 0):
        labels, u = states[c], scores[row[c]]
        for _ in range(n_steps):
            i = free[below(streams, c, free.shape[0])]
            if below(streams, c, 2) == labels[i]:
                continue
            gain = u[i]
            for k in range(start[i], start[i + 1]):
                gain += u[n + edge[k]] * labels[other[k]]
            if labels[i]:
                gain = -gain
            if accepts(beta[c] * gain, streams, c):
                labels[i] = 1 - labels[i]
                accepted[c] += 1
    return accepted


@nb.njit(cache=True, nogil=True)
def walk_states(
    states, scores, row, beta, n_steps, streams, free, counts, choices, start, other, edge
):
    """``n_steps`` proposals in every chain; how many of them changed a state.

    The state a of node i has the coordinate i k + a; the states a and b at an edge e from a
    lower to a higher node n k + (e k + a) k + b, where scores have pairs at all.
    """
    n, k = choices.shape
    accepted = np.zeros(states.shape[0], np.int64)
    for c in range(states.shape[0] if free.shape[0] else 0):
        now, u = states[c], scores[row[c]]
        for _ in range(n_steps):
            i = free[below(streams, c, free.shape[0])]
            old, new = now[i], choices[i, below(streams, c, counts[i])]
            if old == new:
                continue
            gain = u[i * k + new] - u[i * k + old]
            for end in range(start[i], start[i + 1]):
                j, at = other[end], n * k + edge[end] * k * k
                if i < j:
                    gain += u[at + new * k + now[j]] - u[at + old * k + now[j]]
                else:
                    gain += u[at + now[j] * k + new] - u[at + now[j] * k + old]
            if accepts(beta[c] * gain, streams, c):
                now[i] = new
                accepted[c] += 1
    return accepted
