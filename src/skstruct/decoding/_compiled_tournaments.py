# SPDX-License-Identifier: BSD-3-Clause
"""Linear orderings from pair costs: splitting into components, and a packing bound.

``pair[p, q]`` is the cost of p before q and antisymmetric; an order costs the sum over
its pairs, so p should come first when the entry is negative.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from skstruct.decoding._compiled_insertion import search_part, total
from skstruct.decoding._compiled_orders import complete, half_sums, set_sizes, walk


@nb.njit(cache=True, nogil=True)
def read_pairs(costs, pair):
    """The antisymmetric matrix of the costs of the pairs p < q."""
    d, k = len(pair), 0
    for p in range(d):
        pair[p, p] = 0.0
        for q in range(p + 1, d):
            pair[p, q] = costs[k]
            pair[q, p] = -costs[k]
            k += 1


@nb.njit(cache=True, nogil=True)
def split(pair, order):
    """Items by how many they beat, and where this order may be cut without loss.

    A pair of equal cost may point either way; pointing it along the order of total costs
    makes a tournament, whose strong components are intervals of the order of wins. Across
    components every pair is at its cheapest, so each may be solved by itself.
    """
    d = len(pair)
    sums = np.zeros(d)
    for p in range(d):
        for q in range(d):
            sums[p] += pair[p, q]
    place = np.empty(d, np.int64)
    place[np.argsort(sums, kind="mergesort")] = np.arange(d)
    wins = np.zeros(d, np.int64)
    for p in range(d):
        for q in range(d):
            if pair[p, q] < 0 or (pair[p, q] == 0 and place[p] < place[q]):
                wins[p] += 1
    # Among equal numbers of wins the lower total cost goes first: a better start.
    by_cost = np.argsort(sums, kind="mergesort")
    order[:] = by_cost[np.argsort(-wins[by_cost], kind="mergesort")]
    ends, n_ends, reach = np.empty(d, np.int64), 0, 0
    for k in range(d):
        p = order[k]
        for at in range(d - 1, max(k, reach), -1):
            q = order[at]
            if pair[q, p] < 0 or (pair[q, p] == 0 and place[q] < place[p]):
                reach = at
                break
        if reach <= k:
            ends[n_ends] = k + 1
            n_ends += 1
    return ends[:n_ends]


@nb.njit(cache=True, nogil=True)
def solve_part(pair, part):
    """Put the few items of ``part`` into their best order, in place."""
    d = len(part)
    half = 1 << ((d + 1) // 2)
    small, zeros = np.empty((d, d)), np.zeros((d, d))
    for p in range(d):
        for q in range(d):
            small[p, q] = pair[part[p], part[q]]
    later, lower, upper = np.empty(d), np.empty((d, half)), np.empty((d, half))
    best, none, order = np.empty(1 << d), np.zeros(d, np.int64), np.empty(d, np.int64)
    half_sums(small, later, lower, upper)
    complete(zeros, later, lower, upper, none, none, d, set_sizes(d), best)
    walk(zeros, later, lower, upper, none, none, d, best, order)
    part[:] = part[order]


@nb.njit(cache=True, nogil=True)
def packed_cycles(pair, order):
    """What every order loses against all pairs at their cheapest, at least.

    Preferences u -> w -> v -> u cannot all be met: one of the three costs twice its size
    more than it might. Cycles packed so that no pair pays more than it has add up (this is
    a solution of the dual of the triangle program). Only pairs that ``order`` turns
    around can pay, short spans first because they have the fewest cycles to choose from.
    """
    d = len(order)
    # What each pair can still pay, by position. Above the diagonal pairs met along this
    # order; below it the same once more, so that both legs of a cycle are read along rows.
    left = np.empty((d, d))
    for p in range(d):
        for q in range(p + 1, d):
            left[p, q] = left[q, p] = -2 * pair[order[p], order[q]]
    packed = 0.0
    for span in range(2, d):
        for u in range(d - span):
            v = u + span
            turned = -left[u, v]
            if turned <= 0:
                continue
            for w in range(u + 1, v):
                size = min(turned, left[u, w], left[v, w])
                if size > 0:
                    turned -= size
                    left[u, w] -= size
                    left[w, u] -= size
                    left[v, w] -= size
                    left[w, v] -= size
                    packed += size
                    if turned <= 0:
                        break
    return packed


@nb.njit(cache=True, nogil=True)
def met(pair, part):
    """What the pairs of a part would gain if all were at their cheapest."""
    gain = 0.0
    for p in range(len(part)):
        for q in range(p + 1, len(part)):
            gain += abs(pair[part[p], part[q]])
    return gain


@nb.njit(cache=True, nogil=True)
def linear_order_rows(costs, d, most_exact, most_sweeps, orders, values, bounds, unproven):
    """Fill orders (n, d), their costs and lower bounds (n,), and the size of the smallest
    component whose order may not be the best (n,), d + 1 for none; costs (n, d (d - 1) / 2)."""
    pair = np.empty((d, d))
    for n in range(len(costs)):
        read_pairs(costs[n], pair)
        order = orders[n]
        ends = split(pair, order)
        begin, bound, unproven[n] = 0, 0.0, d + 1
        for k in range(len(costs[n])):
            bound -= abs(costs[n, k])
        for end in ends:
            part = order[begin:end]
            if 2 < len(part) <= most_exact:
                solve_part(pair, part)
                bound += total(pair, part) + met(pair, part)
            elif len(part) > most_exact:
                search_part(pair, part, most_sweeps)
                packed = packed_cycles(pair, part)
                bound += packed
                if packed < (total(pair, part) + met(pair, part)) * (1 - 1e-12):
                    unproven[n] = min(unproven[n], len(part))
            begin = end
        values[n], bounds[n] = total(pair, order), bound
