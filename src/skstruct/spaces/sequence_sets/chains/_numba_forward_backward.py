# SPDX-License-Identifier: BSD-3-Clause
"""Compiled sums over chains: products where scores are not far apart, else logarithms.

Everything is scaled so that the largest number of a position is one. What is far below it is
not lost as long as it is above LEAST: a chain of which some number is smaller is left to sums
of logarithms.
"""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct._arrays._numba_copying import assign, largest

LEAST = 1e-100  # of a sum relative to the largest of its position
FACTOR = 1e-80  # of an exponential score; LEAST * FACTOR**2 is still a normal number
PRODUCTS = {"nsz", "nnan", "ninf", "contract", "reassoc"}


@nb.njit(cache=True, nogil=True, fastmath=PRODUCTS)
def _advance(before, matrix, factor, here):
    """here[y] = factor[y] * sum over z of before[z] matrix[z, y]; the largest of them."""
    q = before.shape[0]
    for y in range(q):
        here[y] = 0.0
    for z in range(0, q - 3, 4):
        a, b, c, d = before[z], before[z + 1], before[z + 2], before[z + 3]
        to_a, to_b, to_c, to_d = matrix[z], matrix[z + 1], matrix[z + 2], matrix[z + 3]
        for y in range(q):
            here[y] += a * to_a[y] + b * to_b[y] + c * to_c[y] + d * to_d[y]
    for z in range(q - q % 4, q):
        a = before[z]
        for y in range(q):
            here[y] += a * matrix[z, y]
    top = 0.0
    for y in range(q):
        here[y] *= factor[y]
        top = max(top, here[y])
    return top


@nb.njit(cache=True, nogil=True, fastmath=PRODUCTS)
def _scaled(here, top):
    """Divide by the largest; whether nothing but true zeros is far below it."""
    low, by = 1.0, 1.0 / top
    for y in range(here.shape[0]):
        here[y] *= by
        low = min(low, here[y] if here[y] > 0.0 else 1.0)
    return low >= LEAST


@nb.njit(cache=True, nogil=True)
def forward_products(
    factors, tops, starts, matrices, matrix_tops, which, longest, plain, sums, scale, offset,
    plain_row,
):  # fmt: skip
    """Sums over all beginnings of every chain: sums[p, y] exp(offset[p]).

    `factors` and `matrices` are exponential scores, divided by the largest of a position
    (exp(tops[p])) or matrix; `plain` says which positions and matrices have no factor that
    is small but not zero. `scale` is what a step's sums were divided by. `plain_row` becomes
    false where products are not safe.
    """
    plain_position, plain_matrix = plain
    for i in range(longest.shape[0]):
        first, good, reached = starts[i], True, 0.0
        for p in range(first, first + longest[i]):
            if not plain_position[p] or (p > first and not plain_matrix[which[p]]):
                good = False
                break
            if p == first:
                top = largest(factors[p])
                assign(sums[p], factors[p])
                reached = tops[p]
            else:
                m = which[p]
                top = _advance(sums[p - 1], matrices[m], factors[p], sums[p])
                reached += tops[p] + matrix_tops[m]
            if top == 0.0:  # no way leads here
                offset[p : first + longest[i]] = -np.inf
                sums[p : first + longest[i]] = 0.0
                break
            if not _scaled(sums[p], top):
                good = False
                break
            reached += np.log(top)
            offset[p], scale[p] = reached, top
        plain_row[i] = good


@nb.njit(cache=True, nogil=True, fastmath=PRODUCTS)
def _retreat(before, matrix, share, passed):
    """passed[z] = before[z] * sum over y of matrix[z, y] share[y]."""
    q = before.shape[0]
    for z in range(q):
        total = 0.0
        for y in range(q):
            total += matrix[z, y] * share[y]
        passed[z] = before[z] * total


@nb.njit(cache=True, nogil=True, fastmath=PRODUCTS)
def _retreat_counting(before, matrix, share, passed, weight, counts):
    """The same, and counts[z, y] grow by weight * before[z] matrix[z, y] share[y]."""
    q = before.shape[0]
    for z in range(q):
        total, a = 0.0, weight * before[z]
        for y in range(q):
            step = matrix[z, y] * share[y]
            total += step
            counts[z, y] += a * step
        passed[z] = before[z] * total


@nb.njit(cache=True, nogil=True)
def backward_products(
    factors, starts, matrices, which, longest, endings, share, plain_row, sums, scale, weight,
    slot, marginals, counts,
):  # fmt: skip
    """Probabilities of symbols, and expected steps, from the end of every chain to its beginning.

    The chain ends at position p with probability share[p]; given the symbol y at p, the symbol z
    before it has a probability proportional to sums[p - 1, z] matrix[z, y]. The steps into p are
    added to counts[slot[p]], unless there are none.
    """
    q = factors.shape[1]
    part = np.empty(q)
    for i in range(longest.shape[0]):
        if not plain_row[i]:
            continue
        e = min(i, endings.shape[0] - 1)
        first, last = starts[i], starts[i] + longest[i] - 1
        for p in range(last, first - 1, -1):
            here = marginals[p]  # holds what comes from longer chains
            if p == last:
                here[:] = 0.0
            if share[p] > 0.0:
                total = 0.0
                for y in range(q):
                    part[y] = sums[p, y] * endings[e, y]
                    total += part[y]
                for y in range(q):
                    here[y] += share[p] * part[y] / total
            if p == first:
                break
            matrix = matrices[which[p]]
            for y in range(q):
                # scale * sums[p, y] is factors[p, y] times the sum over all z before.
                part[y] = 0.0
                if here[y] > 0.0:
                    part[y] = here[y] * factors[p, y] / (scale[p] * sums[p, y])
            if counts.shape[0]:
                _retreat_counting(
                    sums[p - 1], matrix, part, marginals[p - 1], weight[i], counts[slot[p]]
                )
            else:
                _retreat(sums[p - 1], matrix, part, marginals[p - 1])


@nb.njit(cache=True, nogil=True)
def _log_sum(values):
    top = largest(values)
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
            assign(here, unary[p])
            if p > first:
                matrix = transitions[which[p]]
                for y in range(q):
                    if here[y] > -np.inf:
                        for z in range(q):
                            way[z] = sums[p - 1, z] + matrix[z, y]
                        here[y] += _log_sum(way)
            top = largest(here)
            offset[p] = top + (offset[p - 1] if p > first else 0.0)
            if top > -np.inf:
                for y in range(q):
                    here[y] -= top


@nb.njit(cache=True, nogil=True)
def backward_logs(
    starts, transitions, which, longest, ending, share, plain_row, sums, weight, slot, marginals,
    counts,
):  # fmt: skip
    """Probabilities of symbols and expected steps as in ``backward_products``, by logarithms."""
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
                for y in range(q):
                    way[y] = sums[p, y] + ending[e, y]
                _normalize(way)
                for y in range(q):
                    here[y] += share[p] * way[y]
            if p == first:
                break
            before, matrix = marginals[p - 1], transitions[which[p]]
            before[:] = 0.0
            for y in range(q):
                if here[y] > 0.0:
                    for z in range(q):
                        way[z] = sums[p - 1, z] + matrix[z, y]
                    _normalize(way)
                    for z in range(q):
                        before[z] += here[y] * way[z]
                        if counts.shape[0]:
                            counts[slot[p], z, y] += weight[i] * here[y] * way[z]


@nb.njit(cache=True, nogil=True)
def _normalize(values):
    """Logarithms become probabilities."""
    top, total = largest(values), 0.0
    for k in range(values.shape[0]):
        values[k] = np.exp(values[k] - top)
        total += values[k]
    for k in range(values.shape[0]):
        values[k] /= total


@nb.njit(cache=True, nogil=True)
def draw_chains(
    starts, transitions, which, longest, ending, share, empty, sums, probability, symbols
):
    """Independent chains, symbols[i, k] from the end to the beginning; `sums` are logarithms.

    `share` holds the probabilities to end at each position and `empty` those to have no symbol;
    probability[p, k] are uniform numbers. The probabilities of the symbol before y are worked out
    when the first draw needs them.
    """
    q, n = sums.shape[1], symbols.shape[1]
    upto, known = np.empty((q, q)), np.empty(q, np.bool_)
    for i in range(longest.shape[0]):
        if longest[i] == 0:
            continue
        first, e = starts[i], min(i, ending.shape[0] - 1)
        ends = _ends(first, longest[i], ending[e], share, empty[i], sums)
        for k in range(n):
            found = _find(ends, probability[first, k])
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
                    for z in range(q):
                        upto[y, z] = sums[p - 1, z] + transitions[which[p], z, y]
                    _accumulate(upto[y])
                    known[y] = True
                symbols[i, k, t - 1] = _find(upto[y], probability[p, k])


@nb.njit(cache=True, nogil=True)
def _ends(first, length, ending, share, empty, sums):
    """Probabilities to have no symbol, or to end at a position with a symbol, added up."""
    q = ending.shape[0]
    ends = np.zeros(1 + length * q)
    ends[0] = empty
    for t in range(length):
        if share[first + t] > 0.0:
            way = ends[1 + t * q : 1 + (t + 1) * q]
            for y in range(q):
                way[y] = sums[first + t, y] + ending[y]
            _normalize(way)
            for y in range(q):
                way[y] *= share[first + t]
    for k in range(1, len(ends)):
        ends[k] += ends[k - 1]
    return ends


@nb.njit(cache=True, nogil=True)
def _accumulate(values):
    """Logarithms become probabilities, each added to those before it."""
    _normalize(values)
    for k in range(1, values.shape[0]):
        values[k] += values[k - 1]


@nb.njit(cache=True, nogil=True)
def _find(upto, level):
    """The first whose sum exceeds the level; none that has no probability."""
    return np.searchsorted(upto, level * upto[-1], side="right")


@nb.njit(cache=True, nogil=True)
def _inner(sums, endings):
    total = 0.0
    for y in range(sums.shape[0]):
        total += sums[y] * endings[y]
    return total


@nb.njit(cache=True, nogil=True)
def _log_sum_of(sums, ending):
    """The logarithm of the sum of exp(sums + ending)."""
    both = np.empty(sums.shape[0])
    for y in range(sums.shape[0]):
        both[y] = sums[y] + ending[y]
    return _log_sum(both)


@nb.njit(cache=True, nogil=True)
def end_chains(
    starts, shortest, longest, ending, endings, plain_row, sums, offset, log_partition, share, empty
):
    """Sums over all chains, and the probabilities of their last positions and of no symbol at all.

    `endings` are the exponentials of `ending`, for rows whose sums are no logarithms.
    """
    for i in range(longest.shape[0]):
        e = min(i, ending.shape[0] - 1)
        first, stop = starts[i], starts[i] + longest[i]
        top = 0.0 if shortest[i] <= 0 else -np.inf
        for p in range(first + max(shortest[i] - 1, 0), stop):
            if plain_row[i]:
                share[p] = offset[p] + np.log(_inner(sums[p], endings[e]))
            else:
                share[p] = offset[p] + _log_sum_of(sums[p], ending[e])
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
        for p in range(first, stop):
            share[p] /= total
