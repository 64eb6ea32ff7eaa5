# SPDX-License-Identifier: BSD-3-Clause
"""Compiled min-sum passes over chains of unequal lengths."""

from __future__ import annotations

import numba as nb
import numpy as np

# Costs are never NaN, and the sign of a zero does not matter: a minimum is one instruction.
MINIMA = {"nnan", "nsz"}


@nb.njit(cache=True, nogil=True, fastmath=MINIMA)
def _advance(arrival, unary, matrix, following):
    """following[y] = min over z of arrival[z] + unary[z] + matrix[z, y].

    Four symbols z at a time, and all y of them side by side: the inner loop reads and
    writes once for four sums, in vector instructions.
    """
    q = arrival.shape[0]
    for y in range(q):
        following[y] = np.inf
    for z in range(0, q - 3, 4):
        a, b = arrival[z] + unary[z], arrival[z + 1] + unary[z + 1]
        c, d = arrival[z + 2] + unary[z + 2], arrival[z + 3] + unary[z + 3]
        to_a, to_b, to_c, to_d = matrix[z], matrix[z + 1], matrix[z + 2], matrix[z + 3]
        for y in range(q):
            ab, cd = min(a + to_a[y], b + to_b[y]), min(c + to_c[y], d + to_d[y])
            following[y] = min(following[y], min(ab, cd))
    for z in range(q - q % 4, q):
        a, to_a = arrival[z] + unary[z], matrix[z]
        for y in range(q):
            following[y] = min(following[y], a + to_a[y])


@nb.njit(cache=True, nogil=True)
def _trace(arrival, length, last, unary, transitions, which, first, symbols):
    """Write the chain that ends in `last`; of equally cheap ways there the lowest symbol.

    Only along the best chain is it worth knowing where a minimum came from: it is the first
    sum that equals it, to the last bit. Back pointers would be kept q * q times as often.
    """
    y = last
    symbols[first + length - 1] = y
    for p in range(first + length - 1, first, -1):
        here, before = arrival[p - first], arrival[p - first - 1]
        matrix = transitions[which[p]]
        z = 0
        while z + 1 < here.shape[0] and before[z] + unary[p - 1, z] + matrix[z, y] != here[y]:
            z += 1
        y = z
        symbols[p - 1] = y


@nb.njit(cache=True, nogil=True)
def viterbi_rows(
    unary, starts, transitions, which, beginning, ending, shortest, longest, symbols, values
):
    """Cheapest chain of every row, of any length from shortest[i] to longest[i].

    The transition into the position p costs ``transitions[which[p]]``. `beginning` and
    `ending` have one row, or one per chain. `symbols` comes filled with -1.
    """
    most = 1
    for i in range(longest.shape[0]):
        most = max(most, longest[i])
    q = unary.shape[1]
    arrival = np.empty((most, q))  # least cost of all before a position, by the symbol there
    for i in range(longest.shape[0]):
        p = starts[i]
        b, e = min(i, beginning.shape[0] - 1), min(i, ending.shape[0] - 1)
        best, length, last = np.inf, 0, -1
        if shortest[i] <= 0:
            best = 0.0
        for t in range(longest[i]):
            if t == 0:
                arrival[0] = beginning[b]
            else:
                matrix = transitions[which[p + t]]
                _advance(arrival[t - 1], unary[p + t - 1], matrix, arrival[t])
            if t + 1 >= shortest[i]:
                for y in range(q):
                    v = arrival[t, y] + unary[p + t, y] + ending[e, y]
                    if v < best:
                        best, length, last = v, t + 1, y
        values[i] = best
        if length > 0:
            _trace(arrival, length, last, unary, transitions, which, p, symbols)
