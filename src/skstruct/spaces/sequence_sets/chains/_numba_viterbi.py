# SPDX-License-Identifier: BSD-3-Clause
"""Compiled min-sum passes over chains of unequal lengths, with one or k ways to every symbol."""

import numpy as np

from skstruct._arrays import compiling as nb

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
    """Minimum-cost chain of every row, of any length from shortest[i] to longest[i].

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
                for y in range(q):  # an assignment of rows takes seconds to compile
                    arrival[0, y] = beginning[b, y]
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


@nb.njit(cache=True, nogil=True)
def _insert(costs, origins, cost, origin):
    """Put one way into a sorted list of k, behind those that cost as much."""
    r = costs.shape[0] - 1
    while r > 0 and costs[r - 1] > cost:
        costs[r] = costs[r - 1]
        origins[r] = origins[r - 1]
        r -= 1
    costs[r] = cost
    origins[r] = origin


@nb.njit(cache=True, nogil=True)
def _advance_k_best(before, matrix, unary, reach, origins):
    """The k minimum-cost ways to each symbol y: over symbols z before it, the ways to z.

    The ways to z are sorted, so that those of one z end at the first that is too expensive. An
    origin is z * k + rank.
    """
    q, k = before.shape
    for y in range(q):
        costs = reach[y]
        costs[:] = np.inf
        for z in range(q):
            for r in range(k):
                cost = before[z, r] + matrix[z, y]
                if not cost < costs[k - 1]:
                    break
                _insert(costs, origins[y], cost, z * k + r)
        for r in range(k):
            costs[r] += unary[y]


@nb.njit(cache=True, nogil=True)
def _advance_apart(before, unary, reach, origins):
    """The same where no two symbols meet: the k minimum-cost ways so far are those to every y."""
    q, k = before.shape
    costs, ways = np.full(k, np.inf), np.zeros(k, np.int64)
    for z in range(q):
        for r in range(k):
            if not before[z, r] < costs[k - 1]:
                break
            _insert(costs, ways, before[z, r], z * k + r)
    for y in range(q):
        for r in range(k):
            reach[y, r] = costs[r] + unary[y]
            origins[y, r] = ways[r]


@nb.njit(cache=True, nogil=True)
def k_best_rows(
    unary, starts, transitions, which, beginning, ending, shortest, longest, symbols, values
):
    """As `viterbi_rows`, with k columns of symbols and values; these come filled with inf.

    Without any matrix of transitions, these cost nothing.
    """
    most = 1
    for i in range(longest.shape[0]):
        most = max(most, longest[i])
    q, k = unary.shape[1], values.shape[1]
    reach = np.empty((most, q, k))
    origins = np.zeros((most, q, k), np.int64)
    final = np.empty(k, np.int64)  # (t * q + symbol) * k + rank, or -1 for the empty chain
    for i in range(longest.shape[0]):
        p = starts[i]
        b, e = min(i, beginning.shape[0] - 1), min(i, ending.shape[0] - 1)
        if shortest[i] <= 0:
            _insert(values[i], final, 0.0, -1)
        for t in range(longest[i]):
            if t == 0:
                reach[0] = np.inf
                for y in range(q):
                    reach[0, y, 0] = beginning[b, y] + unary[p, y]
            elif transitions.shape[0] == 0:
                _advance_apart(reach[t - 1], unary[p + t], reach[t], origins[t])
            else:
                matrix = transitions[which[p + t]]
                _advance_k_best(reach[t - 1], matrix, unary[p + t], reach[t], origins[t])
            if t + 1 >= shortest[i]:
                for y in range(q):
                    for r in range(k):
                        cost = reach[t, y, r] + ending[e, y]
                        if not cost < values[i, k - 1]:
                            break
                        _insert(values[i], final, cost, (t * q + y) * k + r)
        for rank in range(k):
            if values[i, rank] < np.inf and final[rank] >= 0:
                way, t = final[rank] % (q * k), final[rank] // (q * k)
                for s in range(t, -1, -1):
                    symbols[p + s, rank] = way // k
                    way = origins[s, way // k, way % k]
