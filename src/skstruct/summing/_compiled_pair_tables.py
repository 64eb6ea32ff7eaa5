# SPDX-License-Identifier: BSD-3-Clause
"""Compiled sums over all subsets of a few labels, pairs of which have scores."""

from __future__ import annotations

import numba as nb
import numpy as np

import skstruct._arrays.compiling  # noqa: F401 (tells who waits)

SAFE = 600.0  # scores that add up to less in size can be multiplied as exponentials
SUMS = {"reassoc"}  # sums in whichever order is quick


@nb.njit(cache=True, nogil=True)
def _times(values, factor, result):
    for s in range(len(result)):
        result[s] = values[s] * factor


@nb.njit(cache=True, nogil=True)
def _multiplied(values, factors, result):
    for s in range(len(result)):
        result[s] = values[s] * factors[s]


@nb.njit(cache=True, nogil=True, fastmath=SUMS)
def _sum(values):
    total = 0.0
    for s in range(len(values)):
        total += values[s]
    return total


@nb.njit(cache=True, nogil=True, fastmath=SUMS)
def _folded(values, others):
    """The others are added to the values; their own sum."""
    total = 0.0
    for s in range(len(values)):
        total += others[s]
        values[s] += others[s]
    return total


@nb.njit(cache=True, nogil=True)
def fill_table(table, gains, single, pair):
    """exp(score - shift) of every subset, a number whose bits are its labels; shift and sum.

    The sets that have label j as their last are those before it, each with j added: the gain of
    that, over all sets before, is again built label by label. Exponentials are multiplied where
    none can overflow; else scores are added up, and the shift is the largest.
    """
    if np.abs(single).sum() + np.abs(pair).sum() >= SAFE:
        return _fill_by_logarithms(table, gains, single, pair)
    table[0] = 1.0
    for j in range(len(single)):
        size = 1 << j
        gains[0] = np.exp(single[j])
        for i in range(j):
            built = 1 << i
            _times(gains[:built], np.exp(pair[i, j]), gains[built : 2 * built])
        _multiplied(table[:size], gains[:size], table[size : 2 * size])
    return 0.0, _sum(table)


@nb.njit(cache=True, nogil=True)
def _fill_by_logarithms(table, gains, single, pair):
    table[0] = 0.0
    for j in range(len(single)):
        size = 1 << j
        gains[0] = single[j]
        for i in range(j):
            built = 1 << i
            gains[built : 2 * built] = gains[:built] + pair[i, j]
        table[size : 2 * size] = table[:size] + gains[:size]
    top = table.max()
    for s in range(len(table)):
        table[s] = np.exp(table[s] - top)
    return top, _sum(table)


@nb.njit(cache=True, nogil=True)
def fold_table(table, part, total, of_labels, of_pairs):
    """Chances of labels and of pairs: the last label is looked at, and then folded away."""
    for j in range(len(of_labels) - 1, -1, -1):
        size = 1 << j
        part[:size] = table[size : 2 * size]
        of_labels[j] = _folded(table[:size], part[:size]) / total
        for i in range(j - 1, -1, -1):
            left = 1 << i
            of_pairs[i, j] = _folded(part[:left], part[left : 2 * left]) / total


@nb.njit(cache=True, nogil=True)
def sum_pair_tables(single, pair, log_partition, of_labels, of_pairs):
    """Partition functions (n,), and chances of labels (n, d) and of pairs (n, d, d)."""
    n, d = single.shape
    table, gains = np.empty(2**d), np.empty(2 ** max(d - 1, 0))
    for r in range(n):
        top, total = fill_table(table, gains, single[r], pair[r])
        log_partition[r] = top + np.log(total)
        fold_table(table, gains, total, of_labels[r], of_pairs[r])


@nb.njit(cache=True, nogil=True)
def draw_pair_tables(single, pair, levels, drawn):
    """Subsets (n, m, d) where the running sum of their chances passes levels (n, m)."""
    n, d = single.shape
    table, gains = np.empty(2**d), np.empty(2 ** max(d - 1, 0))
    for r in range(n):
        fill_table(table, gains, single[r], pair[r])
        running = np.cumsum(table)
        for m in range(levels.shape[1]):
            level = levels[r, m] * running[-1]
            found = min(np.searchsorted(running, level, side="right"), len(table) - 1)
            while table[found] == 0.0:  # rounding: the last set that has a chance
                found -= 1
            for j in range(d):
                drawn[r, m, j] = (found >> j) & 1
