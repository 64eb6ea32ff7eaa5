# SPDX-License-Identifier: BSD-3-Clause
r"""Compiled decoders of F measures from means, by branch and bound over the size of a set.

With the mean :math:`g_{js}` of label j in true sets of s labels, it is worth

.. math:: f_j(k) = \sum_s g_{js} \frac{1 + b}{b s + k}

in a set of k, b the square of beta. The best set of k labels is worth P(k), the most of all sets z
of k labels under weights f(k). A size is evaluated in O(d S) for S sizes that occur; most are not:
between two sizes a < b that were, at k = (1 - t) a + t b,

    P(k) <= (1 - t) P_a(k) + t P_b(k) + gap(a, b),

P_a(k) being the most of sets of k labels under f(a): each positive term of f is convex in k and
below its chord, each negative one above it by no more than
|g| (1 + b) (1 / sqrt(b s + a) - 1 / sqrt(b s + b))^2.

Gains are rounded to multiples of a quantum of the row, as costs are (see ``snap``).

Where all sets are allowed, ``end`` is None: numba then leaves out what is for forests.
"""

import math

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct._arrays.checks import TIE_BITS
from skstruct.spaces.indicator_sets._numba_f_measures import _select
from skstruct.spaces.solvers._numba_closures import _trace

WIDE = 16  # sizes between two that are evaluated, for a bound on all above to pay


@nb.njit(cache=True, nogil=True)
def _spread(means, label, place, worth, scale, g, negative):
    """Fill in g[s, j], and how much of it may be negative; the empty set's gain, the quantum.

    negative[s] : sum over labels, and the most of one
    """
    empty = 0.0
    for s in range(g.shape[0]):
        for j in range(g.shape[1]):
            g[s, j] = 0.0
    for c in range(len(means)):
        if place[c] >= 0:
            g[place[c], label[c]] = means[c]
        else:
            empty = means[c]
    largest = max(scale, abs(empty))
    for j in range(g.shape[1]):
        total = 0.0
        for s in range(g.shape[0]):
            total += abs(g[s, j]) * worth[s, 1]
        largest = max(largest, total)
    for s in range(g.shape[0]):
        negative[s, 0] = negative[s, 1] = 0.0
        for j in range(g.shape[1]):
            if g[s, j] < 0.0:
                negative[s, 0] -= g[s, j]
                negative[s, 1] = max(negative[s, 1], -g[s, j])
    quantum = math.ldexp(1.0, math.frexp(largest)[1] - TIE_BITS)
    return empty, quantum if 0.0 < quantum < np.inf else 1.0


@nb.njit(cache=True, nogil=True)
def _gains(k, g, worth, quantum, gains):
    """What each label is worth in a set of k."""
    for j in range(len(gains)):
        gains[j] = 0.0
    for s in range(g.shape[0]):
        each = worth[s, k]
        for j in range(len(gains)):
            gains[j] += each * g[s, j]
    for j in range(len(gains)):
        gains[j] = np.rint(gains[j] / quantum) * quantum


@nb.njit(cache=True, nogil=True)
def _gap(a, b, roots, square, quantum, negative):
    """How much the best of a size between a and b may be above what chords tell."""
    total = b * quantum
    for s in range(len(negative)):
        step = roots[s, a] - roots[s, b]
        total += (1.0 + square) * step * step * min(negative[s, 0], b * negative[s, 1])
    return total


@nb.njit(cache=True, nogil=True)
def _allowed_sizes(must, may, smallest, largest):
    """The least and the largest size of a set; the second is -1 where there is none."""
    n_must = n_may = 0
    for j in range(len(must)):
        if must[j] and not may[j]:
            return 0, -1
        n_must += must[j]
        n_may += may[j]
    first, last = max(n_must, smallest), min(n_may, largest)
    return first, last if first <= last else -1


@nb.njit(cache=True, nogil=True)
def _most_of_size(k, gains, must, may, free):
    """The most of sets of k labels, and the gains of the last label in and of the next one."""
    m, wanted, total = 0, k, 0.0
    for j in range(len(gains)):
        if must[j]:
            wanted -= 1
            total += gains[j]
        elif may[j]:
            free[m] = -gains[j]
            m += 1
    if 0 < wanted < m:
        _select(free, m, wanted)
    last, following = np.inf, -np.inf
    for t in range(wanted):
        total -= free[t]
        last = min(last, -free[t])
    for t in range(wanted, m):
        following = max(following, -free[t])
    return total, last, following


@nb.njit(cache=True, nogil=True)
def _tables(gains, must, may, preorder, end, largest, table):
    """table[i, k]: the least of minus the gains of k nodes at preorder positions i, i + 1, ..."""
    d = len(gains)
    table[d, 0], table[d, 1 : largest + 1] = 0.0, np.inf
    for i in range(d - 1, -1, -1):
        j = preorder[i]
        here, without, below = table[i], table[end[i]], table[i + 1]
        here[0] = np.inf if must[j] else without[0]
        if must[j] or not may[j]:
            for k in range(1, largest + 1):
                here[k] = below[k - 1] - gains[j] if may[j] else without[k]
            continue
        for k in range(1, largest + 1):
            taken = below[k - 1] - gains[j]
            here[k] = taken if taken < without[k] else without[k]


@nb.njit(cache=True, nogil=True)
def _evaluate(k, upto, gains, must, may, preorder, end, free, table, most):
    """What the best sets are worth under the gains of a set of k.

    Of label sets most[k] is (P(k), gain of the last label in, of the next one); of closed sets of
    a forest it is P of all sizes up to ``upto``. Returns P(k).
    """
    if end is None:
        most[k, 0], most[k, 1], most[k, 2] = _most_of_size(k, gains, must, may, free)
        return most[k, 0]
    _tables(gains, must, may, preorder, end, upto, table)
    for t in range(upto + 1):
        most[k, t] = -table[0, t]
    return most[k, k]


@nb.njit(cache=True, nogil=True)
def _between(a, b, most, end):
    """The most of (1 - t) P_a(k) + t P_b(k) over sizes k between a and b.

    Of label sets P is concave in k, so that P_a(k) <= P_a(a) + (k - a) next_a and
    P_b(k) <= P_b(b) - (b - k) last_b: with D = (b - a) (next_a - last_b) the sum is at most
    (1 - t) P_a(a) + t P_b(b) + t (1 - t) D.
    """
    width, best = b - a, -np.inf
    if end is not None:
        for k in range(a + 1, b):
            t = (k - a) / width
            best = max(best, (1.0 - t) * most[a, k] + t * most[b, k])
        return best
    bend, rise = width * max(most[a, 2] - most[b, 1], 0.0), most[b, 0] - most[a, 0]
    t = 0.5 + 0.5 * rise / bend if bend > 0.0 else (1.0 if rise > 0.0 else 0.0)
    t = min(max(t, 1.0 / width), 1.0 - 1.0 / width)
    return (1.0 - t) * most[a, 0] + t * most[b, 0] + t * (1.0 - t) * bend


@nb.njit(cache=True, nogil=True)
def _most_above(k, highest, g, worth, quantum, must, may, preorder, end, gains, free):
    """At least what any set of k to ``highest`` labels is worth: positive terms at the one end,
    negative ones at the other, and sets of any size.
    """
    d = len(gains)
    for j in range(d):
        gains[j] = quantum
    for s in range(g.shape[0]):
        near, far = worth[s, k], worth[s, highest]
        for j in range(d):
            gains[j] += max(near * g[s, j], far * g[s, j])
    if end is None:
        total = 0.0
        for j in range(d):
            total += gains[j] if must[j] else max(gains[j], 0.0) * may[j]
        return total
    for i in range(d - 1, -1, -1):  # free[i]: the most of nodes at preorder positions i, i + 1, ...
        j = preorder[i]
        taken = gains[j] + (free[i + 1] if i + 1 < d else 0.0)
        without = free[end[i]] if end[i] < d else 0.0
        free[i] = taken if must[j] else max(without, taken) if may[j] else without
    return free[0]


@nb.njit(cache=True, nogil=True)
def _grid(first, last, nodes):
    """Sizes to begin with: the first ones, then about twice as many each time; how many."""
    n, k = 0, first
    while k < last:
        nodes[n] = k
        n, k = n + 1, k + max(1, k - first)
    nodes[n] = last
    return n + 1


@nb.njit(cache=True, nogil=True)
def _best_size(lowest, highest, size, best, g, roots, worth, square, quantum, negative, must, may,
               preorder, end, gains, free, table, most, nodes, left, right, upper):  # fmt: skip
    """The best size from ``lowest`` to ``highest``, or ``size`` if that is as good; its worth."""
    n_open = 0
    n = _grid(lowest, highest, nodes)
    for t in range(n):
        k, upto = nodes[t], nodes[min(t + 1, n - 1)]
        if t > 0 and k - nodes[t - 1] >= WIDE and best > _most_above(
            nodes[t - 1] + 1, highest, g, worth, quantum, must, may, preorder, end, gains,
            free,
        ):  # fmt: skip
            n = t
            break
        _gains(k, g, worth, quantum, gains)
        here = _evaluate(k, upto, gains, must, may, preorder, end, free, table, most)
        if here > best:
            size, best = k, here
    for t in range(n - 1):
        a, b = nodes[t], nodes[t + 1]
        if b - a > 1:
            left[n_open], right[n_open] = a, b
            upper[n_open] = _between(a, b, most, end)
            upper[n_open] += _gap(a, b, roots, square, quantum, negative)
            n_open += 1
    while n_open > 0:
        t = 0
        for one in range(1, n_open):
            t = one if upper[one] > upper[t] else t
        if upper[t] < best:
            break
        a, b = left[t], right[t]
        n_open -= 1
        left[t], right[t], upper[t] = left[n_open], right[n_open], upper[n_open]
        k = (a + b) // 2
        _gains(k, g, worth, quantum, gains)
        here = _evaluate(k, b, gains, must, may, preorder, end, free, table, most)
        if here > best or (here == best and k < size):
            size, best = k, here
        for side in range(2):
            low, high = (a, k) if side == 0 else (k, b)
            if high - low > 1:
                left[n_open], right[n_open] = low, high
                upper[n_open] = _between(low, high, most, end)
                upper[n_open] += _gap(low, high, roots, square, quantum, negative)
                n_open += 1
    return size, best


@nb.njit(cache=True, nogil=True)
def _fill_in(k, gains, must, may, preorder, end, free, table, most, output):
    """The best set of k labels; of equals the first labels, and of closed sets as ``sized_sets``"""
    _evaluate(k, k, gains, must, may, preorder, end, free, table, most)
    if end is not None:
        kept = must[preorder]
        _trace(gains, kept, end, k, table, preorder, output)
        return
    last, wanted = most[k, 1], k
    for j in range(len(gains)):
        output[j] = must[j] or (may[j] and gains[j] > last)
        wanted -= output[j]
    for j in range(len(gains)):
        if wanted > 0 and may[j] and not output[j] and gains[j] == last:
            output[j] = 1
            wanted -= 1


@nb.njit(cache=True, nogil=True)
def best_sets(means, label, place, roots, worth, square, scale, low, high, smallest, largest,
              preorder, end, g, negative, gains, free, table, most, nodes, left, right, upper,
              outputs, values):  # fmt: skip
    """Fill in the best set of every row, and minus what it is worth; infinity where there is none.

    means : array of shape (n, q)
    label, place : int arrays of shape (q,)
        The label of a column, and the place of its size among ``sizes``; -1 for the empty set.
    roots, worth : arrays of shape (S, d + 1)
        1 / sqrt(b s + k) of the sizes s that occur, and the sizes k of a set; (1 + b) / (b s + k).
    low, high : bool arrays of shape (1 or n, d), closed where there is a forest
    preorder, end : int arrays of shape (d,)
        Of a forest; None where all sets are allowed.
    outputs, values : arrays of shape (n, d), zero, and (n,)

    Others are worked in.
    """
    for i in range(outputs.shape[0]):
        must, may = low[i if len(low) > 1 else 0], high[i if len(high) > 1 else 0]
        empty, quantum = _spread(means[i], label, place, worth, scale[i], g, negative)
        lowest, highest = _allowed_sizes(must, may, smallest, largest)
        size, best = -1, -np.inf
        if lowest == 0 and highest >= 0:
            size, best = 0, np.rint(empty / quantum) * quantum
        if highest >= max(lowest, 1):
            size, best = _best_size(
                max(lowest, 1), highest, size, best, g, roots, worth, square, quantum, negative,
                must, may, preorder, end, gains, free, table, most, nodes, left, right, upper,
            )  # fmt: skip
        values[i] = -best
        if size > 0:
            _gains(size, g, worth, quantum, gains)
            _fill_in(size, gains, must, may, preorder, end, free, table, most, outputs[i])
