# SPDX-License-Identifier: BSD-3-Clause
"""Compiled sums over closed sets with limits on their size.

A set is a path: at position t it takes label ``order[t]`` and goes on at ``take[t]``, or skips
it and goes on at ``skip[t]``; position d is the end. The state is how many labels were taken.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from skstruct.summing._compiled_forests import _joined


@nb.njit(cache=True, nogil=True)
def _fill(scores, known_in, possible, steps, smallest, top, saturated, ways, chance):
    """ln of the weight of all that may follow each position, by the number taken; (d + 1, top + 1).

    ``chance`` becomes that of taking the label. Where ``saturated``, state ``top`` means so many
    or more.
    """
    order, take, skip = steps
    d = len(order)
    for s in range(top + 1):
        ways[d, s] = 0.0 if s >= smallest else -np.inf
    for t in range(d - 1, -1, -1):
        j = order[t]
        for s in range(min(top, t) + 1):
            without = -np.inf if known_in[j] else ways[skip[t], s]
            after = min(s + 1, top) if saturated else s + 1
            having = scores[j] + ways[take[t], after] if possible[j] and after <= top else -np.inf
            ways[t, s], chance[t, s] = _joined(without, having)


@nb.njit(cache=True, nogil=True)
def sized_sums(scores, low, high, steps, smallest, top, saturated):
    """ln Z and the chance of every label; shapes (n,) and (n, d)."""
    order, take, skip = steps
    n, d = scores.shape
    log_partition, marginals = np.empty(n), np.zeros((n, d))
    ways, chance = np.empty((d + 1, top + 1)), np.zeros((d, top + 1))
    reached = np.empty((d + 1, top + 1))
    for row in range(n):
        known_in = low[row if low.shape[0] > 1 else 0]
        possible = high[row if high.shape[0] > 1 else 0]
        _fill(scores[row], known_in, possible, steps, smallest, top, saturated, ways, chance)
        log_partition[row] = ways[0, 0]
        reached[:] = 0.0
        reached[0, 0] = 1.0
        for t in range(d):
            for s in range(min(top, t) + 1):
                here = reached[t, s]
                if here == 0.0:
                    continue
                having = here * chance[t, s]
                marginals[row, order[t]] += having
                if s < top or saturated:
                    reached[take[t], min(s + 1, top)] += having
                reached[skip[t], s] += here - having
    return log_partition, marginals


@nb.njit(cache=True, nogil=True)
def drawn_sized_sets(scores, low, high, steps, smallest, top, saturated, n_draws, rng):
    """``n_draws`` sets of every row; int8 of shape (n, n_draws, d)."""
    order, take, skip = steps
    n, d = scores.shape
    outputs = np.zeros((n, n_draws, d), np.int8)
    ways, chance = np.empty((d + 1, top + 1)), np.zeros((d, top + 1))
    for row in range(n):
        known_in = low[row if low.shape[0] > 1 else 0]
        possible = high[row if high.shape[0] > 1 else 0]
        _fill(scores[row], known_in, possible, steps, smallest, top, saturated, ways, chance)
        for draw in range(n_draws):
            t, s = 0, 0
            while t < d:
                if rng.random() < chance[t, s]:
                    outputs[row, draw, order[t]] = 1
                    t, s = take[t], min(s + 1, top)
                else:
                    t = skip[t]
    return outputs
