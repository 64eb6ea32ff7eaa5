# SPDX-License-Identifier: BSD-3-Clause
"""Compiled counts of linear extensions: taken apart, by dynamic programming, or sampled.

A count is kept as ``whole * exp(rest)`` with an integer ``whole``: ``rest`` stays zero, and
the count exact, as long as it fits into one.
"""

import math

import numpy as np

from skstruct._arrays import compiling as nb

CHOOSE = np.array([[math.comb(n, k) for k in range(63)] for n in range(63)])
LARGEST = np.iinfo(np.int64).max
FACTORIAL_FITS = 20  # 20! is below 2^63
WORD = 63  # items that fit into the bits of one signed integer
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio


@nb.njit(cache=True, nogil=True)
def count_pairs(A, B, rows, columns, max_down_sets, n_samples, seed):
    """Common linear extensions of A[rows[i]] and B[columns[i]], for every i.

    Returns, shape (3, n_pairs), c, its standard error, and r: the count is c e^r.
    """
    d = A.shape[1]
    R, items = np.empty((d, d), np.bool_), np.empty(d, np.int64)
    bits = 1
    while 2**bits < 2 * min(max_down_sets, 2 ** min(d, WORD - 2)):
        bits += 1
    keys, queue = np.full(2**bits, -1, np.int64), np.empty(2 ** (bits - 1), np.int64)
    integers, floats = np.empty(2**bits, np.int64), np.empty(2**bits if d > FACTORIAL_FITS else 0)
    tables = (keys, queue, integers, floats, max_down_sets)
    found, logs = np.zeros((3, rows.shape[0])), np.empty(n_samples)
    for i in range(rows.shape[0]):
        if _union(A[rows[i]], B[columns[i]], R):
            found[0, i], found[1, i], found[2, i] = _extensions(R, items, tables, logs, seed)
    return found


@nb.njit(cache=True, nogil=True)
def _union(a, b, R):
    """Make R the transitive closure of a | b; False if that has a cycle."""
    d = R.shape[0]
    for p in range(d):
        for q in range(d):
            if a[p, q] and b[q, p]:  # most cycles are as short as this
                return False
            R[p, q] = a[p, q] or b[p, q]
    for k in range(d):
        for p in range(d):
            if R[p, k]:
                if R[k, p]:
                    return False
                for q in range(d):
                    R[p, q] |= R[k, q]
    return True


@nb.njit(cache=True, nogil=True)
def _extensions(R, items, tables, logs, seed):
    """Number of linear extensions of R: c, its standard error, and r as above.

    Items are split as long as possible: parts with no relation between them interleave in
    binomially many ways, parts that stand one before the other in a single one. What
    cannot be split is counted, or else sampled.
    """
    d = R.shape[0]
    for p in range(d):
        items[p] = p
    starts, ends, size = np.zeros(d + 1, np.int64), np.full(d + 1, d), 1
    whole, rest, state = 1, 0.0, np.zeros(1, np.uint64)
    sampled = False
    while size:
        size -= 1
        first, last = starts[size], ends[size]
        middle = _split(R, items, first, last, True)
        if middle < last:
            factor, log_factor = _interleavings(last - first, middle - first)
        else:
            middle = _split(R, items, first, last, False)
            factor, log_factor = 1, 0.0
        if middle < last:
            ends[size] = middle
            starts[size + 1], ends[size + 1] = middle, last
            size += 2
        else:
            factor, log_factor = _counted(R, items[first:last], tables)
        if factor == 0:
            if not sampled:
                sampled, state[0] = True, _fingerprint(R, seed)
                logs.fill(0.0)
            _sample(R, items[first:last], logs, state)
            factor = 1
        rest += log_factor
        if whole > LARGEST // factor:
            whole, rest = 1, rest + math.log(whole)
        whole *= factor
    if not sampled:
        return float(whole), 0.0, rest
    mean, error, largest = _mean_of_exponentials(logs)
    return whole * mean, whole * error, rest + largest


@nb.njit(cache=True, nogil=True)
def _split(R, items, first, last, comparable):
    """Move what is connected with items[first] to the front of first..last; where it ends.

    Neighbours are items that are comparable, or items that are not.
    """
    end = first + 1
    front = first
    while front < end < last:
        p = items[front]
        for j in range(end, last):
            q = items[j]
            if (R[p, q] or R[q, p]) == comparable:
                items[j], items[end] = items[end], q
                end += 1
        front += 1
    return end


@nb.njit(cache=True, nogil=True)
def _interleavings(n, k):
    """n over k, as an integer and the logarithm of a factor."""
    if n < CHOOSE.shape[0]:
        return CHOOSE[n, k], 0.0
    return 1, math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


@nb.njit(cache=True, nogil=True)
def _counted(R, part, tables):
    """Linear extensions of some items, as an integer and the logarithm of a factor.

    Zero when they have too many items or down-sets.
    """
    keys, queue, integers, floats, limit = tables
    n = part.shape[0]
    if n == 1 or n > WORD:
        return int(n == 1), 0.0
    before = np.zeros(n, np.int64)
    for p in range(n):
        for q in range(n):
            if R[part[p], part[q]]:
                before[q] |= 1 << p
    if n <= FACTORIAL_FITS:
        return _down_set_paths(before, keys, queue, integers, limit), 0.0
    ways = _down_set_paths(before, keys, queue, floats, limit)
    if ways < 2.0**53:
        return int(ways), 0.0
    return 1, math.log(ways)


@nb.njit(cache=True, nogil=True)
def _down_set_paths(before, keys, queue, ways, limit):
    """Number of ways to add all items one by one; zero for more than `limit` down-sets."""
    n_sets, complete = _add_one_by_one(before, keys, queue, ways, limit)
    answer = ways[queue[n_sets - 1]]
    for i in range(n_sets):
        keys[queue[i]] = -1
    return answer if complete else 0


@nb.njit(cache=True, nogil=True)
def _add_one_by_one(before, keys, queue, ways, limit):
    """Fill the table of down-sets; their number, and whether these are all.

    ways(T) = sum of ways(T - u) over the items u that T holds and no other item of T comes
    after. Sets are bits of an integer, found in `keys` by hashing; the queue gives smaller
    sets first, so that their numbers are complete when they are used.
    """
    # Without scattering a set is its own slot, where the table has one for every set.
    scatter = GOLDEN if 2.0 ** before.shape[0] > keys.shape[0] else np.uint64(1)
    keys[0], ways[0], queue[0] = 0, 1, 0
    first, last = 0, 1
    while first < last:
        small, n_ways = keys[queue[first]], ways[queue[first]]
        first += 1
        for u in range(before.shape[0]):
            large = small | (1 << u)
            if large == small or before[u] & ~small:
                continue
            slot = _slot(keys, large, scatter)
            if keys[slot] < 0:
                if last == limit:
                    return last, False
                keys[slot], ways[slot], queue[last] = large, 0, slot
                last += 1
            ways[slot] += n_ways
    return last, True


@nb.njit(cache=True, nogil=True)
def _slot(keys, mask, scatter):
    """Where a set is in the table, or the empty slot for it."""
    last = keys.shape[0] - 1  # all bits one: the table's size is a power of two
    scattered = np.uint64(mask) * scatter
    slot = np.int64((scattered ^ (scattered >> np.uint64(32))) & np.uint64(last))
    while keys[slot] >= 0 and keys[slot] != mask:
        slot = (slot + 1) & last
    return slot


@nb.njit(cache=True, nogil=True)
def _sample(R, part, logs, state):
    """Add to each of `logs` the logarithm of an unbiased estimate for the items in `part`.

    Items are drawn one after the other among those with nothing left before them, item u
    with probability h(u) / sum of h, and the estimate is the product of the inverses. With
    h(u) = 1 + number of items after u it is exact where no item follows two that are
    incomparable (the hook formula), and has less variance than equal probabilities elsewhere.
    """
    n = part.shape[0]
    n_before, n_after = np.zeros(n, np.int64), np.zeros(n, np.int64)
    after = np.empty((n, n), np.int64)
    for p in range(n):
        for q in range(n):
            if R[part[p], part[q]]:
                after[p, n_after[p]] = q
                n_after[p] += 1
                n_before[q] += 1
    ready, waits_for = np.empty(n, np.int64), np.empty(n, np.int64)
    for s in range(logs.shape[0]):
        n_ready, total = 0, 0
        for p in range(n):
            waits_for[p] = n_before[p]
            if n_before[p] == 0:
                ready[n_ready], n_ready, total = p, n_ready + 1, total + 1 + n_after[p]
        while n_ready:
            left, j = _uniform(state) * total, 0
            while j < n_ready - 1 and left >= 1 + n_after[ready[j]]:
                left -= 1 + n_after[ready[j]]
                j += 1
            p = ready[j]
            logs[s] += math.log(total / (1 + n_after[p]))
            n_ready, total = n_ready - 1, total - 1 - n_after[p]
            ready[j] = ready[n_ready]
            for q in after[p, : n_after[p]]:
                waits_for[q] -= 1
                if waits_for[q] == 0:
                    ready[n_ready], n_ready, total = q, n_ready + 1, total + 1 + n_after[q]


@nb.njit(cache=True, nogil=True)
def _mean_of_exponentials(logs):
    """Mean of exp(logs) as c e^r: c, its standard error, and r."""
    n, largest, total, squares = logs.shape[0], -math.inf, 0.0, 0.0
    for log in logs:
        largest = max(largest, log)
    for log in logs:
        total += math.exp(log - largest)
    for log in logs:
        squares += (math.exp(log - largest) - total / n) ** 2
    return total / n, math.sqrt(squares / (n * (n - 1.0))), largest


@nb.njit(cache=True, nogil=True)
def _fingerprint(R, seed):
    """A seed for R alone: the same order gets the same estimate wherever it occurs."""
    state = seed
    for related in R.ravel():
        state = (state ^ np.uint64(related)) * np.uint64(0x100000001B3)  # FNV-1a
    return state


@nb.njit(cache=True, nogil=True)
def _uniform(state):
    """A number in [0, 1) and the next state of the SplitMix64 generator."""
    state[0] += GOLDEN
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53
