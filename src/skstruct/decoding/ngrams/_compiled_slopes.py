# SPDX-License-Identifier: BSD-3-Clause
"""A bound on pre-images from straight lines below the squares of counts.

For any slope l >= 1 and all whole k >= 0, k**2 >= l k - h(l), where h(l) = m (l - m) and m is
how many of the odd numbers 1, 3, ... are at most l. With one slope for every n-gram c, a
string with counts k costs at least

    sum_c (l_c - 2 g_c) k_c - sum_c h(l_c) >= cheapest walk - sum_c h(l_c).

This is concave in the slopes. Its largest value is that of a linear program over mixtures of
walks, approached by the volume algorithm of Barahona and Anbil (2000): steps from the best
slopes so far, along the counts of a running mean of walks less those that the slopes stand for.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from skstruct.decoding.ngrams._compiled_paths import best_start, fill_table, trace

NEWEST = 0.1  # weight of the newest walk in the mean
LONGER, SHORTER, PATIENCE = 1.2, 0.7, 6  # steps after two good ones, and after so many bad ones
SHORTEST_STEP = 1e-3
BOUND, REACH, SEEN = 0, 1, 2  # what ``state`` holds between calls


@nb.njit(cache=True, nogil=True)
def line_offsets(slopes):
    """sum_c h(l_c), where h(l) = max over whole k >= 0 of l k - k**2."""
    total = 0.0
    for slope in slopes:
        if slope > 1.0:
            m = np.floor((slope + 1.0) / 2.0)
            total += m * (slope - m)
    return total


@nb.njit(cache=True, nogil=True)
def first_slopes(twice, least, most):
    """The best slopes if n-grams could be put in any order: l = max(1, 2 g + last price).

    ``least`` to ``most`` n-grams are taken one by one, the cheapest next.
    """
    price, last = 1.0 - twice, 0.0
    for taken in range(most):
        c = np.argmin(price)
        if taken >= least and price[c] >= 0.0:
            break
        last = price[c]
        price[c] += 2.0
    if not np.isfinite(last):  # all n-grams are forbidden
        last = 0.0
    return np.maximum(1.0, twice + last)


@nb.njit(cache=True, nogil=True)
def walk_value(grams, n_grams, twice, count):
    """sum_c k_c**2 - 2 g_c k_c of a walk; ``count`` is a workspace of zeros."""
    value = 0.0
    for j in range(n_grams):
        c = grams[j]
        value += 2.0 * count[c] + 1.0 - twice[c]
        count[c] += 1
    for j in range(n_grams):
        count[grams[j]] = 0
    return value


@nb.njit(cache=True, nogil=True)
def excess(slope, count):
    """What a count is more than the count, or the two, where a line touches the squares."""
    m = np.floor((slope + 1.0) / 2.0)
    if slope == 2.0 * m - 1.0 and count < m:
        return min(count - (m - 1.0), 0.0)
    return count - m


@nb.njit(cache=True, nogil=True)
def update_mean(mean, grams, n_grams, newest):
    """Mix a walk into the mean."""
    mean *= 1.0 - newest
    for j in range(n_grams):
        mean[grams[j]] += newest


@nb.njit(cache=True, nogil=True)
def step_from(slopes, mean, length, trial):
    """Slopes one step away; False where there is no direction to go."""
    norm = 0.0
    for c in range(len(slopes)):
        if mean[c] > 0.0 or slopes[c] > 1.0:
            norm += excess(slopes[c], mean[c]) ** 2
    if norm < 1e-14:
        return False
    for c in range(len(slopes)):
        if mean[c] > 0.0 or slopes[c] > 1.0:
            trial[c] = max(1.0, slopes[c] + length / norm * excess(slopes[c], mean[c]))
        else:
            trial[c] = 1.0
    return True


@nb.njit(cache=True, nogil=True)
def tighten(twice, limits, tolerance, slopes, mean, state, table, n_steps, best_grams, best):
    """Raise the bound state[BOUND] in so many steps or until it meets best[0].

    ``best`` holds value, number of n-grams and start of the best walk seen, ``best_grams``
    its n-grams. ``table`` is left as a workspace.
    """
    trial, count = slopes.copy(), np.zeros(len(twice), np.int64)
    grams = np.empty(len(table) - 1, np.int64)
    good = bad = 0
    for _ in range(n_steps):
        if state[SEEN] > 0:
            length = state[REACH] * (best[0] - state[BOUND])
            if not step_from(slopes, mean, length, trial):
                return
        cost = trial - twice
        fill_table(cost, limits, table)
        start = best_start(limits, table[0])
        if start < 0:  # no string meets the limits
            state[BOUND] = np.inf
            return
        n_grams = trace(start, cost, limits, table, grams)
        value = walk_value(grams, n_grams, twice, count)
        if value < best[0]:
            best[0], best[1], best[2] = value, n_grams, start
            best_grams[:n_grams] = grams[:n_grams]
        update_mean(mean, grams, n_grams, NEWEST if state[SEEN] > 0 else 1.0)
        state[SEEN] += 1
        bound = table[0, start] - line_offsets(trial)
        if bound > state[BOUND]:
            state[BOUND] = bound
            slopes[:] = trial
            good, bad = good + 1, 0
            if good > 1:
                state[REACH] = min(LONGER * state[REACH], 2.0)
        else:
            good, bad = 0, bad + 1
            if bad == PATIENCE:
                state[REACH] *= SHORTER
                bad = 0
        if state[BOUND] >= best[0] - tolerance or state[REACH] < SHORTEST_STEP:
            return
