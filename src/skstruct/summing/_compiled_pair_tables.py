# SPDX-License-Identifier: BSD-3-Clause
"""Compiled sums over all subsets of a few labels, pairs of which have scores."""

from __future__ import annotations

import numba as nb
import numpy as np

import skstruct._arrays.compiling  # noqa: F401 (tells who waits)


@nb.njit(cache=True, nogil=True)
def fill_table(table, gains, single, pair):
    """exp(score - largest) of every subset, a number whose bits are its labels; ln of their sum.

    The sets that have label j as their last are those before it, each with j added: the gain of
    that, over all sets before, is again built label by label.
    """
    table[0], size = 0.0, 1
    for j in range(len(single)):
        gains[0], built = single[j], 1
        for i in range(j):
            for s in range(built):
                gains[built + s] = gains[s] + pair[i, j]
            built *= 2
        for s in range(size):
            table[size + s] = table[s] + gains[s]
        size *= 2
    top = table.max()
    total = 0.0
    for s in range(size):
        table[s] = np.exp(table[s] - top)
        total += table[s]
    return top, total


@nb.njit(cache=True, nogil=True)
def fold_table(table, part, total, of_labels, of_pairs):
    """Chances of labels and of pairs: the last label is looked at, and then folded away."""
    size = len(table)
    for j in range(len(of_labels) - 1, -1, -1):
        size //= 2
        of_labels[j] = 0.0
        for s in range(size):
            part[s] = table[size + s]
            of_labels[j] += part[s]
            table[s] += part[s]
        of_labels[j] /= total
        left = size
        for i in range(j - 1, -1, -1):
            left //= 2
            both = 0.0
            for s in range(left):
                both += part[left + s]
                part[s] += part[left + s]
            of_pairs[i, j] = both / total


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
