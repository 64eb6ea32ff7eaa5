# SPDX-License-Identifier: BSD-3-Clause
"""Paths through a graph of states, compiled: least cost, k best, sums, marginals, draws, lists.

Steps lead from a state to later ones: those of state s are first[s]..first[s + 1]. Step t takes
``column[t]``, whose cost is added or whose weight is multiplied in. Paths begin at ``start`` (1 or
n,) and end at the last state, or at ``end``.

Sums have one entry for every state, what all paths from there to the end weigh together:

    table[end] = 1,  table[s] = sum over steps t of s of weight[column[t]] * table[target[t]].

They are numbers as they are, or, in rows that are ``wide``, ``table[s] * exp(UNIT * powers[s])``
with whole powers. Those neither overflow nor vanish, and take no logarithms of states.
"""

import numpy as np

from skstruct._arrays import compiling as nb

UNIT = 160.0
MOST, LEAST = np.exp(UNIT / 2), np.exp(-UNIT / 2)  # of numbers beside a power
LESS = np.exp(-UNIT)
NOTHING = -1e300  # the power of zero: less than any other


@nb.njit(cache=True, nogil=True)
def min_paths(costs, first, target, column, start, end, outputs, values):
    """Fill outputs (n, d), which are zero, and values (n,), infinite where there is no path."""
    table = np.empty(len(first) - 1)
    choice = np.empty(len(first) - 1, np.int32)
    for row in range(len(costs)):
        cost = costs[row]
        s, e = start[min(row, len(start) - 1)], end[min(row, len(end) - 1)]
        if s > e:
            values[row] = np.inf
            continue
        table[e] = 0.0
        for v in range(e - 1, s - 1, -1):
            best, step = np.inf, np.int32(-1)
            for t in range(first[v], first[v + 1]):
                w = target[t]
                if w <= e:
                    value = cost[column[t]] + table[w]
                    step = np.int32(t) if value < best else step  # no jump: half would be foreseen
                    best = min(value, best)
            table[v], choice[v] = best, step
        values[row] = table[s]
        if table[s] < np.inf:
            v = s
            while v < e:
                outputs[row, column[choice[v]]] = 1
                v = np.int64(target[choice[v]])


@nb.njit(cache=True, nogil=True)
def insert_ranked(value, step, rank, v, n_found, table, steps, ranks):
    """Put a path from v among the best so far, behind equal ones; their number afterwards."""
    k = table.shape[1]
    p = min(n_found, k - 1)
    while p > 0 and table[v, p - 1] > value:
        table[v, p], steps[v, p], ranks[v, p] = table[v, p - 1], steps[v, p - 1], ranks[v, p - 1]
        p -= 1
    table[v, p], steps[v, p], ranks[v, p] = value, step, rank
    return min(n_found + 1, k)


@nb.njit(cache=True, nogil=True)
def k_min_paths(costs, first, target, column, start, end, outputs, values):
    """Fill outputs (n, k, d), which are zero, and values (n, k), infinite beyond the last path."""
    n_states, k = len(first) - 1, values.shape[1]
    table, found = np.empty((n_states, k)), np.empty(n_states, np.int64)
    steps, ranks = np.empty((n_states, k), np.int32), np.empty((n_states, k), np.int32)
    values[:] = np.inf
    for row in range(len(costs)):
        cost = costs[row]
        s, e = start[min(row, len(start) - 1)], end[min(row, len(end) - 1)]
        if s > e:
            continue
        table[e, 0], found[e] = 0.0, 1
        for v in range(e - 1, s - 1, -1):
            m = 0
            for t in range(first[v], first[v + 1]):
                w = np.int64(target[t])
                if w > e or cost[column[t]] == np.inf:
                    continue
                for q in range(found[w]):
                    value = cost[column[t]] + table[w, q]
                    if m == k and value >= table[v, k - 1]:
                        break
                    m = insert_ranked(value, t, q, v, m, table, steps, ranks)
            found[v] = m
        for rank in range(found[s]):
            values[row, rank] = table[s, rank]
            v, q = s, rank
            while v < e:
                t = steps[v, q]
                outputs[row, rank, column[t]] = 1
                v, q = np.int64(target[t]), ranks[v, q]


@nb.njit(cache=True, nogil=True)
def weigh(score, wide, weight, power):
    """Exponentials of scores, and 1 for the last column: that of steps which take nothing."""
    d = len(score)
    weight[d], power[d] = 1.0, 0.0
    for j in range(d):
        units = np.rint(score[j] / UNIT) if wide else 0.0
        rest = score[j] - units * UNIT
        if wide and not abs(rest) <= UNIT:  # minus infinity, or so large that the rest is rounding
            rest = 0.0 if score[j] > -np.inf else -np.inf
        weight[j], power[j] = np.exp(rest), max(units, NOTHING)


@nb.njit(cache=True, nogil=True)
def fewer(number, units):
    """A product whose power is 1, 2, ... units less, in those of a larger one.

    Beside the same power two products are within two units, so that three less add nothing.
    """
    if units == 1.0:
        return number * LESS
    return number * LESS * LESS if units == 2.0 else 0.0


@nb.njit(cache=True, nogil=True)
def sum_onward(first, target, column, start, wide, weight, power, table, powers):
    """Fill ``table``, and ``powers`` of wide rows, from ``start`` on."""
    end = len(table) - 1
    table[end] = 1.0
    powers[end if wide else 0] = 0.0
    for s in range(end - 1, start - 1, -1):
        total = 0.0
        if not wide:
            for t in range(first[s], first[s + 1]):
                total += weight[column[t]] * table[target[t]]
            table[s] = total
            continue
        most = NOTHING
        for t in range(first[s], first[s + 1]):
            part, units = weight[column[t]] * table[target[t]], power[column[t]] + powers[target[t]]
            if units == most:
                total += part
            elif units > most:
                total, most = part + fewer(total, units - most), units
            else:
                total += fewer(part, most - units)
        if total > MOST:
            total, most = total * LESS, most + 1.0
        elif total < LEAST:
            total, most = (total / LESS, most - 1.0) if total > 0.0 else (0.0, NOTHING)
        table[s], powers[s] = total, most


@nb.njit(cache=True, nogil=True)
def probability(number, units):
    """A number beside a power, which is zero where the exponential of such a power is."""
    if units == 0.0 or number == 0.0:
        return number
    return number * np.exp(UNIT * units) if units > -8.0 else 0.0


@nb.njit(cache=True, nogil=True)
def scratch(n_states, d, wide):
    """Room for weights and powers of columns, and for sums and powers of states."""
    powers = np.empty(n_states if wide.any() else 1)
    return np.empty(d + 1), np.empty(d + 1), np.empty(n_states), powers


@nb.njit(cache=True, nogil=True)
def sum_paths(scores, wide, first, target, column, start, log_sums):
    """Logarithms of the sums over all paths; (n,)."""
    weight, power, table, powers = scratch(len(first) - 1, scores.shape[1], wide)
    for row in range(len(scores)):
        s, w = start[min(row, len(start) - 1)], wide[row]
        weigh(scores[row], w, weight, power)
        sum_onward(first, target, column, s, w, weight, power, table, powers)
        log_sums[row] = np.log(table[s]) if table[s] > 0.0 else -np.inf
        if w and table[s] > 0.0:
            log_sums[row] += UNIT * powers[s]


@nb.njit(cache=True, nogil=True)
def spread_onward(
    s, first, target, column, wide, weight, power, table, powers, reached, probabilities
):
    """Probabilities of columns on the way from states that are reached, from s on."""
    d = len(probabilities)
    for v in range(s, len(table) - 1):
        if reached[v] == 0.0:
            continue
        for t in range(first[v], first[v + 1]):
            w, j = target[t], column[t]
            part = weight[j] * table[w] / table[v]
            if wide:
                part = probability(part, power[j] + powers[w] - powers[v])
            part *= reached[v]
            reached[w] += part
            if j < d:
                probabilities[j] += part


@nb.njit(cache=True, nogil=True)
def column_probabilities(scores, wide, first, target, column, start, probabilities):
    """Probabilities of columns to be on a path, zero where there is none; (n, those wanted)."""
    n_states = len(first) - 1
    weight, power, table, powers = scratch(n_states, scores.shape[1], wide)
    reached = np.empty(n_states)
    for row in range(len(scores)):
        s, w = start[min(row, len(start) - 1)], wide[row]
        weigh(scores[row], w, weight, power)
        sum_onward(first, target, column, s, w, weight, power, table, powers)
        reached[:] = 0.0
        reached[s] = 1.0 if table[s] > 0.0 else 0.0
        sums = w, weight, power, table, powers
        spread_onward(s, first, target, column, *sums, reached, probabilities[row])


@nb.njit(cache=True, nogil=True)
def pair_probabilities(scores, wide, first, target, column, start, single, both):
    """Of the first row: every column (d,), and it with a later one on the path; (d, d)."""
    n_states, d, s = len(first) - 1, len(single), start[0]
    weight, power, table, powers = scratch(n_states, scores.shape[1], wide)
    sums = wide[0], weight, power, table, powers
    weigh(scores[0], wide[0], weight, power)
    sum_onward(first, target, column, s, *sums)
    if table[s] == 0.0:
        return
    reached, behind = np.zeros(n_states), np.empty(n_states)
    reached[s] = 1.0
    spread_onward(s, first, target, column, *sums, reached, single)
    order = np.argsort(column)
    at = np.searchsorted(column[order], np.arange(d + 1))
    origin = np.empty(len(target), np.int64)
    for v in range(n_states - 1):
        origin[first[v] : first[v + 1]] = v
    for j in range(d):
        behind[:] = 0.0
        nearest = n_states
        for k in range(at[j], at[j + 1]):
            t = order[k]
            v, w = origin[t], target[t]
            if reached[v] > 0.0:
                part = weight[j] * table[w] / table[v]
                if wide[0]:
                    part = probability(part, power[j] + powers[w] - powers[v])
                behind[w] += reached[v] * part
                nearest = min(nearest, w)
        spread_onward(nearest, first, target, column, *sums, behind, both[j])


@nb.njit(cache=True, nogil=True)
def draw_paths(scores, wide, first, target, column, start, drawn, rng):
    """Fill drawn (n_rows, n, d), which is zero, with the columns of random paths."""
    n_states, d = len(first) - 1, drawn.shape[2]
    weight, power, table, powers = scratch(n_states, scores.shape[1], wide)
    for row in range(len(scores)):
        begin, w = start[min(row, len(start) - 1)], wide[row]
        weigh(scores[row], w, weight, power)
        sum_onward(first, target, column, begin, w, weight, power, table, powers)
        for draw in range(drawn.shape[1] if table[begin] > 0.0 else 0):
            s = np.int64(begin)
            while s < n_states - 1:
                left, last = rng.random(), -1
                for t in range(first[s], first[s + 1]):
                    part = weight[column[t]] * table[target[t]] / table[s]
                    if w:
                        part = probability(part, power[column[t]] + powers[target[t]] - powers[s])
                    if part > 0.0:
                        last = t
                        left -= part
                        if left < 0.0:
                            break
                if column[last] < d:
                    drawn[row, draw, column[last]] = 1
                s = np.int64(target[last])


@nb.njit(cache=True, nogil=True)
def count_onward(first, target, start, modulus, table):
    """The number of paths from ``start`` to the end, but for multiples of ``modulus`` <= 2**62."""
    table[-1] = 1
    for s in range(len(table) - 2, start - 1, -1):
        total = np.int64(0)
        for t in range(first[s], first[s + 1]):
            total += table[target[t]]
            if total >= modulus:
                total -= modulus
        table[s] = total
    return table[start]


@nb.njit(cache=True, nogil=True)
def find_leading(first, target, leading):
    """Which states have a way to the end."""
    leading[-1] = True
    for s in range(len(leading) - 2, -1, -1):
        for t in range(first[s], first[s + 1]):
            leading[s] |= leading[target[t]]


@nb.njit(cache=True, nogil=True)
def list_paths(first, target, column, start, leading, outputs):
    """Fill outputs (number of paths, d), which are zero, with the columns of all paths."""
    end, d = len(first) - 2, outputs.shape[1]
    states, next_step = np.empty(end + 2, np.int64), np.empty(end + 2, np.int64)
    states[0], next_step[0], depth, found = start, first[start], 0, 0
    while depth >= 0:
        v, t = states[depth], next_step[depth]
        if v == end or t == first[v + 1]:
            if v == end:
                for i in range(depth):
                    if column[next_step[i] - 1] < d:
                        outputs[found, column[next_step[i] - 1]] = 1
                found += 1
            depth -= 1
            continue
        next_step[depth] += 1
        if leading[target[t]]:
            depth += 1
            states[depth], next_step[depth] = target[t], first[target[t]]


# Labels that are taken or skipped in turn. With m levels, state t * m + x is before label order[t]
# at level x. Those at position d, behind all labels, are all the end, where levels are final.

LEADS, REACHED = 1, 2


@nb.njit(cache=True, nogil=True)
def choice(t, order, take, skip, change, low, high):
    """Of position t: where it leads, skipped and taken, by how much, and what of both may be."""
    return skip[t], take[t], change[t], not low[order[t]], high[order[t]]


@nb.njit(cache=True, nogil=True)
def choice_steps(order, take, skip, change, saturated, final, starts, low, high):
    """Steps between states on the way from one of the ``starts`` to the end, as arrays."""
    d, m = len(order), len(final)
    end, top = d * m, m - 1 if saturated else np.int64(2**62)
    marks = np.zeros(end + m, np.uint8)
    marks[end:] = final * LEADS
    for t in range(d - 1, -1, -1):
        on, up, more, may_skip, may_take = choice(t, order, take, skip, change, low, high)
        for x in range(m):
            leads = marks[on * m + x] if may_skip else 0
            level = min(x + more, top)
            if may_take and 0 <= level < m:
                leads |= marks[up * m + level]
            marks[t * m + x] = leads
    for s in starts:
        marks[s] |= REACHED
    first, n_steps = np.empty(end + 2, np.int64), 0
    target, column = np.empty(2 * end, np.int32), np.empty(2 * end, np.int32)
    for t in range(d):
        on, up, more, may_skip, may_take = choice(t, order, take, skip, change, low, high)
        j = order[t]
        for x in range(m):
            first[t * m + x] = n_steps
            if marks[t * m + x] != LEADS | REACHED:
                continue
            if may_skip and marks[on * m + x] & LEADS:
                marks[on * m + x] |= REACHED
                target[n_steps], column[n_steps] = min(on * m + x, end), d + j
                n_steps += 1
            level = min(x + more, top)
            if may_take and 0 <= level < m and marks[up * m + level] & LEADS:
                marks[up * m + level] |= REACHED
                target[n_steps], column[n_steps] = min(up * m + level, end), j
                n_steps += 1
    first[end:] = n_steps
    return first, target[:n_steps], column[:n_steps]
