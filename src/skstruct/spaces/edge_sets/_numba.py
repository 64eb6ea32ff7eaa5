# SPDX-License-Identifier: BSD-3-Clause
"""Sums over all sets of few nodes, compiled."""

import numpy as np

from skstruct._arrays import compiling as nb

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
