# SPDX-License-Identifier: BSD-3-Clause
"""Compiled decoders of F measures: sets whose costs depend on their size, or by chances of labels.

Bool arrays ``low`` and ``high`` tell which labels are known to be in a set, and which may be.
"""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct.tolerances import BOUND_ROUNDING

FAR = 40.0  # exp(-40) is less than the rounding of what is added up


@nb.njit(cache=True, nogil=True)
def best_sizes(costs, empty, low, high, smallest, largest, sizes, values):
    """Fill in how many labels the minimum-cost subset of every row has, and what it costs.

    costs[i, j, k - 1] is that of label j in a subset of k. low and high have shape (1 or n, d,
    1 or d). The size is -1 and the cost infinite where no subset is allowed.
    """
    n, d, _ = costs.shape
    free = np.empty(d)
    for i in range(n):
        must, may = low[min(i, len(low) - 1)], high[min(i, len(high) - 1)]
        sizes[i], values[i] = -1, np.inf
        last = min(largest, d) if _agree(must, may) else -1
        for k in range(max(smallest, 0), last + 1):
            total = _least_of_size(costs[i], empty[i], k, must, may, free)
            if total < values[i]:
                sizes[i], values[i] = k, total


@nb.njit(cache=True, nogil=True)
def _agree(low, high):
    """Whether no label must and may not be in a subset."""
    for j in range(low.shape[0]):
        for c in range(low.shape[1]):
            if low[j, c] and not high[j, c]:
                return False
    return True


@nb.njit(cache=True, nogil=True)
def _least_of_size(costs, empty, k, low, high, free):
    """The cost of the forced labels and of the least others, k in all; infinite for none."""
    c = min(max(k - 1, 0), low.shape[1] - 1)
    m, wanted, total = 0, k, empty if k == 0 else 0.0
    for j in range(len(costs)):
        if low[j, c]:
            wanted -= 1
            total += costs[j, k - 1]
        elif high[j, c]:
            free[m] = costs[j, k - 1]
            m += 1
    if wanted < 0 or wanted > m:
        return np.inf
    if 0 < wanted < m:
        _select(free, m, wanted)
    for t in range(wanted):
        total += free[t]
    return total


@nb.njit(cache=True, nogil=True)
def _select(values, n, k):
    """Bring the k least of the first n values to the front: Hoare's selection."""
    first, last = 0, n - 1
    while first < last:
        pivot = values[(first + last) // 2]
        i, j = first, last
        while i <= j:
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            last = j
        elif k - 1 >= i:
            first = i
        else:
            return


@nb.njit(cache=True, nogil=True)
def independent_sizes(chances, square, first, last, sizes, values):
    """Fill in how many of the first labels to take, of independent ones, and minus the measure.

    Of all sets of k labels the k most probable ones are best (Lewis, 1995). With A of them true,
    and B of the others, the measure is (1 + square) E[A / (square (A + B) + k)].

    chances : array of shape (n, d), in the order that labels are taken in
    first, last : int arrays of shape (n,)
        How many labels there may be; none where first is above last.
    """
    for i in range(len(chances)):
        sizes[i], values[i] = -1, np.inf
        if first[i] <= last[i]:
            sizes[i], best = _best_size(chances[i], square, first[i], last[i])
            values[i] = -best


@nb.njit(cache=True, nogil=True)
def _best_size(p, square, first, last):
    """How many of the first labels to take, from ``first`` to ``last``, and what it is worth.

    With N true labels in all, N without one of them is at least N - 1, so that a set of k is worth
    at most (1 + square) (p_1 + ... + p_k) E[1 / (square N + k)]: most sizes need no closer look.
    """
    d, most = len(p), _most_true(p)
    rest = np.zeros((d + 1, most + 1))  # [k, b]: b of the labels after the first k are true
    rest[d, 0] = 1.0
    for k in range(d - 1, -1, -1):
        _one_more(rest[k + 1], p[k], rest[k])
    taken = np.zeros((last + 1, most + 1))  # [k, a]: a of the first k are true
    taken[0, 0] = 1.0
    bound, inverse, total = np.empty(last + 1), np.empty(most + 1), 0.0
    bound[0] = rest[0, 0]
    for k in range(1, last + 1):
        _one_more(taken[k - 1], p[k - 1], taken[k])
        total += p[k - 1]
        bound[k] = (
            (1.0 + square) * total * _mean_inverse(rest[0], square, k) * (1.0 + BOUND_ROUNDING)
        )
    likely = first + np.argmax(bound[first:])
    size, best = likely, _worth(taken[likely], rest[likely], square, likely, inverse)
    for k in range(first, last + 1):
        if k != likely and bound[k] >= best:
            worth = _worth(taken[k], rest[k], square, k, inverse)
            if worth > best or (worth == best and k < size):
                size, best = k, worth
    return size, best


@nb.njit(cache=True, nogil=True)
def _most_true(p):
    """The count that independent labels exceed with a probability below exp(-FAR): Bernstein."""
    mean, variance = p.sum(), (p * (1.0 - p)).sum()
    step = FAR / 3.0 + np.sqrt((FAR / 3.0) ** 2 + 2.0 * FAR * variance)
    return min(len(p), int(mean + step) + 1)


@nb.njit(cache=True, nogil=True)
def _one_more(counts, p, longer):
    """The distribution of a count with one label more."""
    longer[0] = (1.0 - p) * counts[0]
    for t in range(1, len(counts)):
        longer[t] = (1.0 - p) * counts[t] + p * counts[t - 1]


@nb.njit(cache=True, nogil=True)
def _mean_inverse(counts, square, k):
    total = 0.0
    for t in range(len(counts)):
        total += counts[t] / (square * t + k)
    return total


@nb.njit(cache=True, nogil=True)
def _worth(taken, rest, square, k, inverse):
    """The expected measure of the first k labels."""
    if k == 0:
        return rest[0]
    most = len(taken)
    for t in range(most):
        inverse[t] = 1.0 / (square * t + k)
    total = 0.0
    for a in range(1, min(k + 1, most)):
        inner = 0.0
        for b in range(most - a):
            inner += rest[b] * inverse[a + b]
        total += a * taken[a] * inner
    return (1.0 + square) * total
