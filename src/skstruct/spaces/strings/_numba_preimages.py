# SPDX-License-Identifier: BSD-3-Clause
"""Compiled pre-images of n-gram counts: bounds and searches in turn, ever more thorough.

The cost is sum_a k_a**2 - 2 g_a k_a. The next symbol a costs 2 k_a + 1 - 2 g_a, more each
time, so that taking the minimum-cost next symbol again and again is best for every length.
"""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct._arrays._numba_copying import assign, stable_order
from skstruct.spaces.strings._numba_paths import (
    agrees,
    best_start,
    fill_table,
    row_constraints,
    spell,
    trace,
)
from skstruct.tolerances import CANCELED, TIE


@nb.njit(cache=True, nogil=True)
def most_counted(twice, shortest, longest, known, counts):
    """Counts of the best string of a row; returns its value, infinite where there is none."""
    counts[:] = 0
    value, length = 0.0, 0
    for t in range(longest):
        if known[t] >= 0:
            value += 2.0 * counts[known[t]] + 1.0 - twice[known[t]]
            counts[known[t]] += 1
            length += 1
    while length < longest:
        best, least = -1, np.inf
        for a in range(len(twice)):
            step = 2.0 * counts[a] + 1.0 - twice[a]
            if step < least:
                best, least = a, step
        if best < 0:
            return value if length >= shortest else np.inf
        if length >= shortest and least >= 0.0:
            break
        counts[best] += 1
        length += 1
        value += least
    return value


@nb.njit(cache=True, nogil=True)
def count_rows(twice, shortest, longest, known, symbols, values):
    """Fill symbols (n, T), in order of the alphabet where they are not known, and values."""
    counts = np.empty(twice.shape[1], np.int64)
    for i in range(len(twice)):
        fixed = known[i % len(known)]
        low, high = shortest[i % len(shortest)], longest[i % len(longest)]
        values[i] = most_counted(twice[i], low, high, fixed, counts)
        symbols[i] = -1
        length = 0
        for a in range(len(counts)):
            length += counts[a]
        for t in range(length):
            if fixed[t] >= 0:
                counts[fixed[t]] -= 1
        a = 0
        for t in range(length):
            if fixed[t] >= 0:
                symbols[i, t] = fixed[t]
                continue
            while counts[a] == 0:
                a += 1
            symbols[i, t] = a
            counts[a] -= 1


# A bound on pre-images from straight lines below the squares of counts.
#
# For any slope l >= 1 and all whole k >= 0, k**2 >= l k - h(l), where h(l) = m (l - m) and m is
# how many of the odd numbers 1, 3, ... are at most l. With one slope for every n-gram c, a
# string with counts k costs at least
#
#     sum_c (l_c - 2 g_c) k_c - sum_c h(l_c) >= minimum-cost walk - sum_c h(l_c).
#
# This is concave in the slopes. Its largest value is that of a linear program over mixtures of
# walks, approached by the volume algorithm of Barahona and Anbil (2000): steps from the best
# slopes so far, along the counts of a running mean of walks less those that the slopes stand for.


NEWEST = 0.1  # weight of the newest walk in the mean
LONGER, SHORTER, PATIENCE = 1.2, 0.7, 6  # steps after two good ones, and after so many bad ones
SHORTEST_STEP = 1e-3
BOUND, REACH, SEEN = 0, 1, 2  # what ``state`` holds between calls


@nb.njit(cache=True, nogil=True)
def line_offsets(slopes):
    """sum_c h(l_c), where h(l) = max over whole k >= 0 of l k - k**2."""
    total = 0.0
    for slope in slopes:
        if slope > 1.0:
            m = np.floor((slope + 1.0) / 2.0)
            total += m * (slope - m)
    return total


@nb.njit(cache=True, nogil=True)
def first_slopes(twice, least, most):
    """The best slopes if n-grams could be put in any order: l = max(1, 2 g + last cost).

    ``least`` to ``most`` n-grams are taken one by one, the minimum-cost next.
    """
    cost, last = np.empty(len(twice)), 0.0
    for c in range(len(twice)):
        cost[c] = 1.0 - twice[c]
    for taken in range(most):
        c = 0
        for other in range(1, len(cost)):
            if cost[other] < cost[c]:
                c = other
        if taken >= least and cost[c] >= 0.0:
            break
        last = cost[c]
        cost[c] += 2.0
    if not np.isfinite(last):  # all n-grams are forbidden
        last = 0.0
    for c in range(len(twice)):
        cost[c] = max(1.0, twice[c] + last)
    return cost


@nb.njit(cache=True, nogil=True)
def walk_value(grams, n_grams, twice, count):
    """sum_c k_c**2 - 2 g_c k_c of a walk; ``count`` is a workspace of zeros."""
    value = 0.0
    for j in range(n_grams):
        c = grams[j]
        value += 2.0 * count[c] + 1.0 - twice[c]
        count[c] += 1
    for j in range(n_grams):
        count[grams[j]] = 0
    return value


@nb.njit(cache=True, nogil=True)
def excess(slope, count):
    """What a count is more than the count, or the two, where a line touches the squares."""
    m = np.floor((slope + 1.0) / 2.0)
    if slope == 2.0 * m - 1.0 and count < m:
        return min(count - (m - 1.0), 0.0)
    return count - m


@nb.njit(cache=True, nogil=True)
def update_mean(mean, grams, n_grams, newest):
    """Mix a walk into the mean."""
    for c in range(len(mean)):
        mean[c] *= 1.0 - newest
    for j in range(n_grams):
        mean[grams[j]] += newest


@nb.njit(cache=True, nogil=True)
def step_from(slopes, mean, length, trial):
    """Slopes one step away; False where there is no direction to go."""
    norm = 0.0
    for c in range(len(slopes)):
        if mean[c] > 0.0 or slopes[c] > 1.0:
            norm += excess(slopes[c], mean[c]) ** 2
    if norm < CANCELED:
        return False
    for c in range(len(slopes)):
        if mean[c] > 0.0 or slopes[c] > 1.0:
            trial[c] = max(1.0, slopes[c] + length / norm * excess(slopes[c], mean[c]))
        else:
            trial[c] = 1.0
    return True


@nb.njit(cache=True, nogil=True)
def tighten(twice, constraints, tolerance, slopes, mean, state, table, n_steps, best_grams, best):
    """Raise the bound state[BOUND] in so many steps or until it meets best[0].

    ``best`` holds value, number of n-grams and start of the best walk seen, ``best_grams``
    its n-grams. ``table`` is left as a workspace.
    """
    trial, count = slopes.copy(), np.zeros(len(twice), np.int64)
    grams, cost = np.empty(len(table) - 1, np.int64), np.empty(len(twice))
    good = bad = 0
    for _ in range(n_steps):
        if state[SEEN] > 0:
            length = state[REACH] * (best[0] - state[BOUND])
            if not step_from(slopes, mean, length, trial):
                return
        for c in range(len(twice)):
            cost[c] = trial[c] - twice[c]
        fill_table(cost, constraints, table)
        start = best_start(constraints, table[0])
        if start < 0:  # no string meets the constraints
            state[BOUND] = np.inf
            return
        n_grams = trace(start, cost, constraints, table, grams)
        value = walk_value(grams, n_grams, twice, count)
        if value < best[0]:
            best[0], best[1], best[2] = value, n_grams, start
            assign(best_grams[:n_grams], grams)
        update_mean(mean, grams, n_grams, NEWEST if state[SEEN] > 0 else 1.0)
        state[SEEN] += 1
        bound = table[0, start] - line_offsets(trial)
        if bound > state[BOUND]:
            state[BOUND] = bound
            assign(slopes, trial)
            good, bad = good + 1, 0
            if good > 1:
                state[REACH] = min(LONGER * state[REACH], 2.0)
        else:
            good, bad = 0, bad + 1
            if bad == PATIENCE:
                state[REACH] *= SHORTER
                bad = 0
        if state[BOUND] >= best[0] - tolerance or state[REACH] < SHORTEST_STEP:
            return


# Branch and bound over beginnings of strings, all of one length at a time.
#
# Appending an n-gram that was counted p times costs 2 p + 1 - 2 g. With the slopes l of a
# bound, every string that begins so costs at least
#
#     sum over its n-grams so far of (max(l, 2 p + 1) - 2 g) + table[j, state] - sum_c h(l_c).
#
# Beginnings with the same counts and the same last state have the same future: one of them is
# kept. Where more than ``width`` are left the best go on, and the least bound of those that do
# not is what the answer is certified by.


HASH_OFFSET = 0x5851F42D4C957F2D  # apart from all numbers of n-grams


@nb.njit(cache=True, nogil=True)
def scramble(x):
    """A well mixed 64-bit number for every whole number (splitmix64)."""
    x = np.uint64(x) + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@nb.njit(cache=True, nogil=True)
def make_nodes(width, levels):
    """n-grams (width, levels), last states, two keys of the counts, bounds and values so far."""
    return (
        np.empty((width, levels), np.int32),
        np.empty(width, np.int64),
        np.empty((width, 2), np.uint64),
        np.empty(width),
        np.empty(width),
    )


@nb.njit(cache=True, nogil=True)
def make_candidates(room):
    """Parents, n-grams, two keys of counts and state, bounds and values so far, bounds."""
    return (
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty((room, 2), np.uint64),
        np.empty(room),
        np.empty(room),
        np.empty(room),
    )


@nb.njit(cache=True, nogil=True)
def begin(nodes, width, constraints, table, offset, upper):
    """The best states to begin with; returns their number and the least bound left out."""
    _, state, keys, low, value = nodes
    q, order, _, _, known, begins, _ = constraints
    starts = np.empty(table.shape[1], np.int64)
    n, dropped = 0, np.inf
    for s in range(len(starts)):
        if begins[s] and table[0, s] - offset < upper and agrees(s, q, order, known):
            starts[n] = s
            n += 1
    starts = starts[:n]
    if n > width:
        least, rank = np.empty(n), np.empty(n, np.int64)
        for k in range(n):
            least[k] = table[0, starts[k]]
        stable_order(least, rank)
        dropped = least[rank[width]] - offset
        n = width
        for k in range(n):
            rank[k] = starts[rank[k]]
        starts = rank
    assign(state[:n], starts)
    keys[:n] = np.uint64(0)
    low[:n] = value[:n] = 0.0
    return n, dropped


@nb.njit(cache=True, nogil=True)
def is_new(slots, stamp, stored, first, second, at):
    """Whether no earlier candidate of this level has the same two keys; remembers it.

    Two different ones agree in both 64-bit keys with a probability below 1e-25 in a million.
    """
    mask = len(slots) - 1
    slot = np.int64(first & np.uint64(mask))
    while slots[slot] >= stamp:
        other = slots[slot] - stamp
        if stored[other, 0] == first and stored[other, 1] == second:
            return False
        slot = (slot + 1) & mask
    slots[slot] = stamp + at
    return True


@nb.njit(cache=True, nogil=True)
def extend(nodes, n, j, twice, constraints, slopes, table, offset, upper, slots, stamp, candidates):
    """Append every symbol to every beginning, where that may lead below ``upper``."""
    grams, state, keys, low, value = nodes
    parent, gram, new_keys, new_low, new_value, bounds = candidates
    q, order, _, _, known, _, _ = constraints
    times, fixed, found = np.zeros(q, np.int64), known[order - 1 + j], 0
    for i in range(n):
        base = state[i] * q
        for k in range(j):
            a = grams[i, k] - base
            if 0 <= a < q:
                times[a] += 1
        for a in range(q):
            c, step = base + a, 2.0 * times[a] + 1.0
            times[a] = 0
            after = c % table.shape[1]
            lower = low[i] + max(slopes[c], step) - twice[c]
            bound = lower + table[j + 1, after] - offset
            if (0 <= fixed != a) or not bound < upper:
                continue
            first = keys[i, 0] + scramble(c) + scramble(HASH_OFFSET - after)
            second = keys[i, 1] + scramble(c + HASH_OFFSET) + np.uint64(after)
            if is_new(slots, stamp, new_keys, first, second, found):
                parent[found], gram[found], bounds[found] = i, c, bound
                new_keys[found, 0], new_keys[found, 1] = first, second
                new_low[found], new_value[found] = lower, value[i] + step - twice[c]
                found += 1
    return found


@nb.njit(cache=True, nogil=True)
def keep(candidates, found, nodes, j, n_states, new_nodes):
    """Make nodes of the best candidates; returns their number and the least bound left out."""
    parent, gram, _, new_low, new_value, bounds = candidates
    width, limit, ties = len(nodes[1]), np.inf, found
    if found > width:
        limit = np.partition(bounds[:found], width)[width]
        ties = width
        for at in range(found):
            ties -= bounds[at] < limit
    n = 0
    for at in range(found):
        if bounds[at] > limit or (bounds[at] == limit and ties == 0):
            continue
        ties -= bounds[at] == limit
        i, c = parent[at], gram[at]
        assign(new_nodes[0][n, :j], nodes[0][i])
        new_nodes[0][n, j] = c
        new_nodes[1][n] = c % n_states
        new_nodes[2][n, 0] = nodes[2][i, 0] + scramble(c)
        new_nodes[2][n, 1] = nodes[2][i, 1] + scramble(c + HASH_OFFSET)
        new_nodes[3][n], new_nodes[4][n] = new_low[at], new_value[at]
        n += 1
    return n, limit


@nb.njit(cache=True, nogil=True)
def note_best(nodes, n, j, constraints, best, best_grams):
    """Remember the best string among those that may end here."""
    grams, state, _, _, value = nodes
    for i in range(n):
        if value[i] < best[0] and constraints[6][state[i]]:
            best[0], best[1] = value[i], j
            best[2] = grams[i, 0] // constraints[0] if j else state[i]
            assign(best_grams[:j], grams[i])


@nb.njit(cache=True, nogil=True)
def search(width, twice, constraints, tolerance, slopes, table, offset, best, best_grams):
    """One pass with so many beginnings per length; returns a bound and the nodes expanded."""
    q, order, shortest, _, _, _, _ = constraints
    levels = len(table) - 1
    nodes, spare = make_nodes(width, levels), make_nodes(width, levels)
    candidates, size = make_candidates(width * q), 64
    while size < 2 * width * q:
        size *= 2
    slots = np.full(size, -1, np.int64)
    n, dropped = begin(nodes, width, constraints, table, offset, best[0] - tolerance)
    work = 0
    for j in range(levels + 1):
        if order - 1 + j >= shortest:
            note_best(nodes, n, j, constraints, best, best_grams)
        if j == levels or n == 0:
            break
        work += n
        stamp = j * width * q  # entries of earlier levels count as empty
        found = extend(
            nodes, n, j, twice, constraints, slopes, table, offset, best[0] - tolerance, slots,
            stamp, candidates,
        )  # fmt: skip
        n, limit = keep(candidates, found, nodes, j, table.shape[1], spare)
        dropped = min(dropped, limit)
        nodes, spare = spare, nodes
    return min(dropped, best[0]), work


# Pre-images of many rows: bounds and searches in turn, each more thorough than the last.


FIRST_STEPS, FIRST_WIDTH = 25, 16
MORE_STEPS, WIDER = 2, 4  # times, from one round to the next
MOST_CANDIDATES = 2**22  # held at once: some 300 MB
CHEAPER = 500  # a node of the search costs as much as so many entries of a table
FIRST_REACH = 0.1  # of the way to the best value, divided by the square of the direction


@nb.njit(cache=True, nogil=True)
def solve(twice, constraints, tolerance, table, max_nodes, best, best_grams):
    """Improve ``best`` (value, number of n-grams, start); returns a lower bound."""
    d, levels = len(twice), len(table) - 1
    # The first slopes give the better bound where many walks tie, as where g is the counts of
    # a string, but steps and searches from there get stuck: those begin at slopes of 1.
    slopes = first_slopes(twice, constraints[2] - constraints[1] + 1, levels)
    mean, state = np.zeros(d), np.zeros(3)
    state[0], state[1] = -np.inf, FIRST_REACH
    tighten(twice, constraints, tolerance, slopes, mean, state, table, 1, best_grams, best)
    lower = state[BOUND]
    slopes[:], mean[:] = 1.0, 0.0
    state[0], state[1], state[2] = -np.inf, FIRST_REACH, 0.0
    cost = np.empty(d)
    step_work = 1 + levels * d // CHEAPER
    steps, width, widest, left = FIRST_STEPS, FIRST_WIDTH, 0, max_nodes
    while lower < best[0] - tolerance:
        # No more than half of what is left, but one step always: it gives a bound.
        steps, before = max(1, min(steps, left // (2 * step_work))), state[SEEN]
        tighten(twice, constraints, tolerance, slopes, mean, state, table, steps, best_grams, best)
        left -= np.int64(state[SEEN] - before) * step_work
        lower = max(lower, state[BOUND])
        width = min(width, left // levels, MOST_CANDIDATES // constraints[0])
        if lower >= best[0] - tolerance or width <= widest:
            break
        for c in range(d):
            cost[c] = slopes[c] - twice[c]
        fill_table(cost, constraints, table)
        offset = line_offsets(slopes)
        bound, work = search(
            width, twice, constraints, tolerance, slopes, table, offset, best, best_grams
        )
        left -= work
        lower = max(lower, bound)
        state[REACH] = FIRST_REACH
        steps, width, widest = MORE_STEPS * steps, WIDER * width, width
    return lower


@nb.njit(cache=True, nogil=True)
def nearest_rows(twice, q, order, constraints, max_nodes, symbols, values, bounds):
    """Fill symbols (n, T), values and bounds where strings cost less than ``values``.

    ``twice`` is 2 g, minus infinity for what is forbidden.
    """
    levels = max(symbols.shape[1] - order + 1, 0)
    table = np.empty((levels + 1, q ** (order - 1)))
    best_grams, best = np.empty(levels, np.int64), np.empty(3)
    for i in range(len(twice)):
        of_row = row_constraints(i, q, order, *constraints)
        bounds[i], high = values[i], of_row[3]
        if high < of_row[2]:  # too short for an n-gram
            continue
        scale = 1.0
        for cost in twice[i]:
            if np.isfinite(cost):
                scale = max(scale, abs(cost))
        tolerance = TIE * scale * high
        best[0], best[1], best[2] = values[i], 0.0, -1.0
        part = table[: high - order + 2]
        lower = solve(twice[i], of_row, tolerance, part, max_nodes, best, best_grams)
        values[i] = best[0]
        bounds[i] = best[0] if lower >= best[0] - tolerance else lower
        if best[2] >= 0:
            spell(np.int64(best[2]), best_grams, np.int64(best[1]), q, order, symbols[i])
