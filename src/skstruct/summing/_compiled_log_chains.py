# SPDX-License-Identifier: BSD-3-Clause
"""Compiled sums over chains by logarithms, for scores of any size, and draws."""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True)
def _log_sum(values):
    top = values.max()
    if top == -np.inf:
        return top
    total = 0.0
    for value in values:
        total += np.exp(value - top)
    return top + np.log(total)


@nb.njit(cache=True, nogil=True)
def forward_logs(unary, starts, transitions, which, longest, plain_row, sums, offset):
    """Logarithms of sums over all beginnings, sums[p, y] + offset[p], where not yet done.

    The largest of sums[p] is zero, so that what matters between symbols of one position is
    not rounded away by what all of them share.
    """
    q = unary.shape[1]
    way = np.empty(q)
    for i in range(longest.shape[0]):
        if plain_row[i]:
            continue
        first = starts[i]
        for p in range(first, first + longest[i]):
            here = sums[p]
            here[:] = unary[p]
            if p > first:
                matrix = transitions[which[p]]
                for y in range(q):
                    if here[y] > -np.inf:
                        for z in range(q):
                            way[z] = sums[p - 1, z] + matrix[z, y]
                        here[y] += _log_sum(way)
            top = here.max()
            offset[p] = top + (offset[p - 1] if p > first else 0.0)
            if top > -np.inf:
                here -= top


@nb.njit(cache=True, nogil=True)
def backward_logs(
    starts, transitions, which, longest, ending, share, plain_row, sums, weight, slot, marginals,
    counts,
):  # fmt: skip
    """Chances of symbols and expected steps as in ``backward_products``, by logarithms."""
    q = sums.shape[1]
    way = np.empty(q)
    for i in range(longest.shape[0]):
        if plain_row[i]:
            continue
        e = min(i, ending.shape[0] - 1)
        first, last = starts[i], starts[i] + longest[i] - 1
        for p in range(last, first - 1, -1):
            here = marginals[p]
            if p == last:
                here[:] = 0.0
            if share[p] > 0.0:
                way[:] = sums[p] + ending[e]
                _normalize(way)
                here += share[p] * way
            if p == first:
                break
            before, matrix = marginals[p - 1], transitions[which[p]]
            before[:] = 0.0
            for y in range(q):
                if here[y] > 0.0:
                    way[:] = sums[p - 1] + matrix[:, y]
                    _normalize(way)
                    for z in range(q):
                        before[z] += here[y] * way[z]
                        if counts.shape[0]:
                            counts[slot[p], z, y] += weight[i] * here[y] * way[z]


@nb.njit(cache=True, nogil=True)
def _normalize(values):
    """Logarithms become chances."""
    top, total = values.max(), 0.0
    for k in range(values.shape[0]):
        values[k] = np.exp(values[k] - top)
        total += values[k]
    values /= total


@nb.njit(cache=True, nogil=True)
def draw_chains(starts, transitions, which, longest, ending, share, empty, sums, chance, symbols):
    """Independent chains, symbols[i, k] from the end to the beginning; `sums` are logarithms.

    `share` holds the chances to end at each position and `empty` those to have no symbol;
    chance[p, k] are uniform numbers. The chances of the symbol before y are worked out when
    the first draw needs them.
    """
    q, n = sums.shape[1], symbols.shape[1]
    upto, known = np.empty((q, q)), np.empty(q, np.bool_)
    for i in range(longest.shape[0]):
        if longest[i] == 0:
            continue
        first, e = starts[i], min(i, ending.shape[0] - 1)
        ends = _ends(first, longest[i], ending[e], share, empty[i], sums)
        for k in range(n):
            found = _find(ends, chance[first, k])
            if found > 0:
                t, y = divmod(found - 1, q)
                symbols[i, k, t] = y
        for t in range(longest[i] - 1, 0, -1):
            p = first + t
            known[:] = False
            for k in range(n):
                y = symbols[i, k, t]
                if y < 0:
                    continue
                if not known[y]:
                    upto[y] = sums[p - 1] + transitions[which[p]][:, y]
                    _accumulate(upto[y])
                    known[y] = True
                symbols[i, k, t - 1] = _find(upto[y], chance[p, k])


@nb.njit(cache=True, nogil=True)
def _ends(first, length, ending, share, empty, sums):
    """Chances to have no symbol, or to end at a position with a symbol, added up."""
    q = ending.shape[0]
    ends = np.zeros(1 + length * q)
    ends[0] = empty
    for t in range(length):
        if share[first + t] > 0.0:
            way = sums[first + t] + ending
            _normalize(way)
            ends[1 + t * q : 1 + (t + 1) * q] = share[first + t] * way
    return ends.cumsum()


@nb.njit(cache=True, nogil=True)
def _accumulate(values):
    """Logarithms become chances, each added to those before it."""
    _normalize(values)
    for k in range(1, values.shape[0]):
        values[k] += values[k - 1]


@nb.njit(cache=True, nogil=True)
def _find(upto, level):
    """The first whose sum exceeds the level; none that has no chance."""
    return np.searchsorted(upto, level * upto[-1], side="right")


@nb.njit(cache=True, nogil=True)
def end_chains(
    starts, shortest, longest, ending, endings, plain_row, sums, offset, log_partition, share, empty
):
    """Sums over all chains, and the chances of their last positions and of no symbol at all.

    `endings` are the exponentials of `ending`, for rows whose sums are no logarithms.
    """
    for i in range(longest.shape[0]):
        e = min(i, ending.shape[0] - 1)
        first, stop = starts[i], starts[i] + longest[i]
        top = 0.0 if shortest[i] <= 0 else -np.inf
        for p in range(first + max(shortest[i] - 1, 0), stop):
            if plain_row[i]:
                share[p] = offset[p] + np.log((sums[p] * endings[e]).sum())
            else:
                share[p] = offset[p] + _log_sum(sums[p] + ending[e])
            top = max(top, share[p])
        log_partition[i] = top
        if top == -np.inf:
            share[first:stop] = 0.0
            continue
        empty[i] = total = np.exp(-top) if shortest[i] <= 0 else 0.0
        for p in range(first + max(shortest[i] - 1, 0), stop):
            share[p] = np.exp(share[p] - top)
            total += share[p]
        log_partition[i] += np.log(total)
        empty[i] /= total
        share[first:stop] /= total
