# SPDX-License-Identifier: BSD-3-Clause
"""Pre-images under counts of single symbols, where order does not matter.

The cost is sum_a k_a**2 - 2 g_a k_a. The next symbol a costs 2 k_a + 1 - 2 g_a, more each
time, so that taking the cheapest next symbol again and again is best for every length.
"""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True)
def most_counted(twice, shortest, longest, known, counts):
    """Counts of the best string of a row; returns its value, infinite where there is none."""
    counts[:] = 0
    value, length = 0.0, 0
    for t in range(longest):
        if known[t] >= 0:
            value += 2.0 * counts[known[t]] + 1.0 - twice[known[t]]
            counts[known[t]] += 1
            length += 1
    while length < longest:
        best, least = -1, np.inf
        for a in range(len(twice)):
            step = 2.0 * counts[a] + 1.0 - twice[a]
            if step < least:
                best, least = a, step
        if best < 0:
            return value if length >= shortest else np.inf
        if length >= shortest and least >= 0.0:
            break
        counts[best] += 1
        length += 1
        value += least
    return value


@nb.njit(cache=True, nogil=True)
def count_rows(twice, shortest, longest, known, symbols, values):
    """Fill symbols (n, T), in order of the alphabet where they are not known, and values."""
    counts = np.empty(twice.shape[1], np.int64)
    for i in range(len(twice)):
        held = known[i % len(known)]
        low, high = shortest[i % len(shortest)], longest[i % len(longest)]
        values[i] = most_counted(twice[i], low, high, held, counts)
        symbols[i] = -1
        length = counts.sum()
        for t in range(length):
            if held[t] >= 0:
                counts[held[t]] -= 1
        a = 0
        for t in range(length):
            if held[t] >= 0:
                symbols[i, t] = held[t]
                continue
            while counts[a] == 0:
                a += 1
            symbols[i, t] = a
            counts[a] -= 1
