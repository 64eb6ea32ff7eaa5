# SPDX-License-Identifier: BSD-3-Clause
"""Partial orders of least cost, compiled: a dual bound by triples, branch and bound.

A pair p of items a < b has one of three states: 0 open, 1 a before b, 2 b before a; ``allowed[p]``
has bit s where state s may be. Any three items are in one of 19 states. The bound shares out the
costs of pairs among the triples (block coordinate ascent on the dual of the linear program over
triples): ``theta[p, s]`` is what is left with the pair, ``shared[t, i, s]`` what triple t has
given to its i-th pair, and no order costs less than the sum of the least ``theta`` of all pairs.
"""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct.spaces.partial_orders._numba_relations import (
    add,
    climb,
    close,
    may_add,
    reinsert,
    total_cost,
)
from skstruct.tolerances import TIE

OPEN, FIRST, SECOND = 0, 1, 2
MOST_STEPS = 1000.0  # of a grid that all costs lie on; of finer ones nothing is gained


@nb.njit(cache=True, nogil=True)
def ascend(theta, allowed, shared, triples, states):
    """One round over all triples; the bound, infinite where a pair has no state left."""
    least = np.empty((3, 3))
    for t in range(len(triples)):
        least[:] = np.inf
        for k in range(len(states)):
            total = 0.0
            for i in range(3):
                p, s = triples[t, i], states[k, i]
                if not (allowed[p] >> s) & 1:
                    total = np.inf
                    break
                total += theta[p, s] - shared[t, i, s]
            if total < np.inf:
                for i in range(3):
                    if total < least[i, states[k, i]]:
                        least[i, states[k, i]] = total
        for i in range(3):
            p = triples[t, i]
            for s in range(3):
                if (allowed[p] >> s) & 1:
                    if least[i, s] == np.inf:
                        allowed[p] ^= 1 << s
                        if allowed[p] == 0:
                            return np.inf
                    else:
                        own = theta[p, s] - shared[t, i, s]
                        theta[p, s] = least[i, s] / 3.0
                        shared[t, i, s] = theta[p, s] - own
    return least_sum(theta, allowed)


@nb.njit(cache=True, nogil=True)
def least_sum(theta, allowed):
    """The least of every pair, added up."""
    bound = 0.0
    for p in range(len(theta)):
        smallest = np.inf
        for s in range(3):
            if (allowed[p] >> s) & 1 and theta[p, s] < smallest:
                smallest = theta[p, s]
        bound += smallest
    return bound


@nb.njit(cache=True, nogil=True)
def build(theta, allowed, ends, known, barred, costs, slack, order):
    """An order from what is left with the pairs, the clearest relations first; its cost."""
    n_pairs = len(ends)
    gains = np.zeros(2 * n_pairs)
    for p in range(n_pairs):
        rest = theta[p, OPEN] if allowed[p] & 1 else np.inf
        for s in (FIRST, SECOND):
            here = (allowed[p] >> s) & 1
            other = theta[p, 3 - s] if (allowed[p] >> (3 - s)) & 1 else np.inf
            gains[2 * p + s - 1] = theta[p, s] - min(rest, other) if here else np.inf
    order[:] = known
    for k in np.argsort(gains):
        if not gains[k] < 0.0:
            break
        a, b = ends[k // 2]
        if k % 2:
            a, b = b, a
        if not order[a, b] and not order[b, a] and may_add(a, b, order, barred):
            add(a, b, order)
    climb(order, costs, known, barred, slack)
    return total_cost(order, costs)


@nb.njit(cache=True, nogil=True)
def bind_pairs(allowed, ends, known, barred):
    """Relations that must be, and those that must not, from the states that pairs may have."""
    known[:], barred[:] = False, False
    for p in range(len(ends)):
        a, b = ends[p]
        known[a, b], known[b, a] = allowed[p] == 1 << FIRST, allowed[p] == 1 << SECOND
        barred[a, b] = not (allowed[p] >> FIRST) & 1
        barred[b, a] = not (allowed[p] >> SECOND) & 1


@nb.njit(cache=True, nogil=True)
def closest(theta, allowed):
    """The pair to decide next: its two best states are closest; -1 where all are decided."""
    best, found = np.inf, -1
    for p in range(len(theta)):
        low, next_ = np.inf, np.inf
        for s in range(3):
            if (allowed[p] >> s) & 1:
                if theta[p, s] < low:
                    low, next_ = theta[p, s], low
                elif theta[p, s] < next_:
                    next_ = theta[p, s]
        if next_ < np.inf and next_ - low < best:
            best, found = next_ - low, p
    return found


@nb.njit(cache=True, nogil=True)
def grid_step(costs):
    """What all costs are multiples of, if that is the least of them; zero where it is not."""
    flat = costs.ravel()
    step = np.inf
    for c in flat:
        if c != 0.0 and abs(c) < step:
            step = abs(c)
    if step == np.inf:
        return 0.0
    for c in flat:
        if abs(c / step - np.rint(c / step)) > TIE * abs(c / step) or abs(c / step) > MOST_STEPS:
            return 0.0
    return step


@nb.njit(cache=True, nogil=True)
def rise(theta, allowed, shared, triples, states, rounds, target, slack):
    """Rounds of ascent, until the bound reaches the target or hardly rises; the bound."""
    bound = least_sum(theta, allowed)
    for k in range(rounds):
        if bound >= target:
            break
        risen = ascend(theta, allowed, shared, triples, states)
        if risen - bound < slack + 0.01 * (target - risen) and k > 2:
            return max(risen, bound)
        bound = max(risen, bound)
    return bound


@nb.njit(cache=True, nogil=True)
def branch(costs, ends, triples, states, rounds, most, slack, gap, theta, allowed, shared, order):
    """Depth first over states of pairs; theta, allowed and shared have one level per depth.

    Level 0 is given with its ascent done, ``order`` is a good one; the better order replaces it.
    No order is better by less than ``gap``.
    Returns its cost and a lower bound, which is the cost unless ``most`` nodes were not enough.
    """
    n, depths = len(order), len(theta)
    known, barred = np.empty((n, n), np.bool_), np.empty((n, n), np.bool_)
    trial = np.empty((n, n), np.bool_)
    value = total_cost(order, costs)
    pair, left = np.full(depths, -1), np.zeros(depths, np.int64)
    bounds = np.full(depths, np.inf)
    bounds[0] = least_sum(theta[0], allowed[0])
    depth, nodes, lost = 0, 0, np.inf  # lost: the least bound of nodes that were given up
    pair[0] = closest(theta[0], allowed[0])
    left[0] = 0 if pair[0] < 0 else allowed[0, pair[0]]
    while depth >= 0:
        if left[depth] == 0 or bounds[depth] >= value - gap:
            depth -= 1
            continue
        if nodes >= most or depth + 1 == depths:
            lost = min(lost, bounds[depth])
            left[depth] = 0
            continue
        p, s, least = pair[depth], -1, np.inf
        for k in range(3):
            if (left[depth] >> k) & 1 and (s < 0 or theta[depth, p, k] < least):
                s, least = k, theta[depth, p, k]
        left[depth] ^= 1 << s
        nodes += 1
        below = depth + 1
        theta[below], allowed[below] = theta[depth], allowed[depth]
        shared[below] = shared[depth]
        allowed[below, p] = 1 << s
        given = theta[below], allowed[below], shared[below], triples, states
        bounds[below] = max(rise(*given, rounds, value - gap, slack), bounds[depth])
        if bounds[below] >= value - gap:
            continue
        bind_pairs(allowed[below], ends, known, barred)
        if not close(known, barred):
            continue
        reached = build(theta[below], allowed[below], ends, known, barred, costs, slack, trial)
        if reached < value - slack:
            value, order[:] = reached, trial
        pair[below] = closest(theta[below], allowed[below])
        left[below] = 0 if pair[below] < 0 else allowed[below, pair[below]]
        depth = below
    return value, min(value, lost)


@nb.njit(cache=True, nogil=True)
def solve_row(costs, known, barred, ends, triples, states, rounds, most, slack, levels, order):
    """The order of least cost found for one row, in place; its cost and a lower bound.

    ``rounds`` are those of the ascent at first and in every node, ``most`` the nodes; ``known`` is
    closed, and agrees with ``barred``.
    """
    theta, allowed, shared = levels
    shared[0] = 0.0
    for p in range(len(ends)):
        a, b = ends[p]
        theta[0, p, OPEN] = 0.0
        theta[0, p, FIRST], theta[0, p, SECOND] = costs[a, b], costs[b, a]
        allowed[0, p] = 7 ^ (barred[a, b] << FIRST) ^ (barred[b, a] << SECOND)
        if known[a, b]:
            allowed[0, p] = 1 << FIRST
        elif known[b, a]:
            allowed[0, p] = 1 << SECOND
    value = build(theta[0], allowed[0], ends, known, barred, costs, slack, order)
    bound = least_sum(theta[0], allowed[0])
    if value - bound <= slack:
        return value, value
    gap = max(slack, grid_step(costs) - slack)
    value = reinsert(order, costs, known, barred, slack)
    top = rise(theta[0], allowed[0], shared[0], triples, states, rounds[0], value - gap, slack)
    bound = max(bound, top)
    if value - bound <= gap:
        return value, value
    trial = order.copy()
    build(theta[0], allowed[0], ends, known, barred, costs, slack, trial)
    reached = reinsert(trial, costs, known, barred, slack)
    if reached < value - slack:
        value, order[:] = reached, trial
    if most > 0 and value - bound > gap:
        search = costs, ends, triples, states, rounds[1], most, slack, gap
        value, better = branch(*search, theta, allowed, shared, order)
        bound = max(bound, better)
    return value, value if value - bound <= gap else bound


@nb.njit(cache=True, nogil=True)
def solve_rows(
    costs, known, barred, ends, triples, states, rounds, most, tie, levels, orders, values, bounds
):
    """The same for all rows; values are infinite where constraints contradict each other."""
    for row in range(len(costs)):
        must = known[min(row, len(known) - 1)].copy()
        no = barred[min(row, len(barred) - 1)]
        orders[row] = False
        if not close(must, no):
            values[row] = bounds[row] = np.inf
            continue
        slack = tie * np.abs(costs[row]).sum()
        problem = costs[row], must, no, ends, triples, states, rounds, most, slack
        values[row], bounds[row] = solve_row(*problem, levels, orders[row])
