# SPDX-License-Identifier: BSD-3-Clause
"""Branch and bound over beginnings of strings, all of one length at a time.

Appending an n-gram that was counted p times costs 2 p + 1 - 2 g. With the slopes l of a
bound, every string that begins so costs at least

    sum over its n-grams so far of (max(l, 2 p + 1) - 2 g) + table[j, state] - sum_c h(l_c).

Beginnings with the same counts and the same last state have the same future: one of them is
kept. Where more than ``width`` are left the best go on, and the least bound of those that do
not is what the answer is certified by.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from skstruct.decoding.ngrams._compiled_paths import agrees

FAR = 0x5851F42D4C957F2D  # apart from all numbers of n-grams


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
def begin(nodes, width, limits, table, offset, upper):
    """The best states to begin with; returns their number and the least bound left out."""
    _, state, keys, low, value = nodes
    q, order, _, _, known, begins, _ = limits
    starts = np.empty(table.shape[1], np.int64)
    n, dropped = 0, np.inf
    for s in range(len(starts)):
        if begins[s] and table[0, s] - offset < upper and agrees(s, q, order, known):
            starts[n] = s
            n += 1
    starts = starts[:n]
    if n > width:
        rank = np.argsort(table[0][starts])
        dropped = table[0, starts[rank[width]]] - offset
        starts = starts[rank[:width]]
    n = len(starts)
    state[:n] = starts
    keys[:n] = np.uint64(0)
    low[:n] = value[:n] = 0.0
    return n, dropped


@nb.njit(cache=True, nogil=True)
def is_new(slots, stamp, stored, first, second, at):
    """Whether no earlier candidate of this level has the same two keys; remembers it.

    Two different ones agree in both 64-bit keys with a chance below 1e-25 in a million.
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
def extend(nodes, n, j, twice, limits, slopes, table, offset, upper, slots, stamp, candidates):
    """Append every symbol to every beginning, where that may lead below ``upper``."""
    grams, state, keys, low, value = nodes
    parent, gram, new_keys, new_low, new_value, bounds = candidates
    q, order, _, _, known, _, _ = limits
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
            first = keys[i, 0] + scramble(c) + scramble(FAR - after)
            second = keys[i, 1] + scramble(c + FAR) + np.uint64(after)
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
        ties = width - (bounds[:found] < limit).sum()
    n = 0
    for at in range(found):
        if bounds[at] > limit or (bounds[at] == limit and ties == 0):
            continue
        ties -= bounds[at] == limit
        i, c = parent[at], gram[at]
        new_nodes[0][n, :j] = nodes[0][i, :j]
        new_nodes[0][n, j] = c
        new_nodes[1][n] = c % n_states
        new_nodes[2][n, 0] = nodes[2][i, 0] + scramble(c)
        new_nodes[2][n, 1] = nodes[2][i, 1] + scramble(c + FAR)
        new_nodes[3][n], new_nodes[4][n] = new_low[at], new_value[at]
        n += 1
    return n, limit


@nb.njit(cache=True, nogil=True)
def note_best(nodes, n, j, limits, best, best_grams):
    """Remember the best string among those that may end here."""
    grams, state, _, _, value = nodes
    for i in range(n):
        if value[i] < best[0] and limits[6][state[i]]:
            best[0], best[1] = value[i], j
            best[2] = grams[i, 0] // limits[0] if j else state[i]
            best_grams[:j] = grams[i, :j]


@nb.njit(cache=True, nogil=True)
def search(width, twice, limits, tolerance, slopes, table, offset, best, best_grams):
    """One pass with so many beginnings per length; returns a bound and the nodes expanded."""
    q, order, shortest, _, _, _, _ = limits
    levels = len(table) - 1
    nodes, spare = make_nodes(width, levels), make_nodes(width, levels)
    candidates, size = make_candidates(width * q), 64
    while size < 2 * width * q:
        size *= 2
    slots = np.full(size, -1, np.int64)
    n, dropped = begin(nodes, width, limits, table, offset, best[0] - tolerance)
    work = 0
    for j in range(levels + 1):
        if order - 1 + j >= shortest:
            note_best(nodes, n, j, limits, best, best_grams)
        if j == levels or n == 0:
            break
        work += n
        stamp = j * width * q  # entries of earlier levels count as empty
        found = extend(
            nodes, n, j, twice, limits, slopes, table, offset, best[0] - tolerance, slots, stamp,
            candidates,
        )  # fmt: skip
        n, limit = keep(candidates, found, nodes, j, table.shape[1], spare)
        dropped = min(dropped, limit)
        nodes, spare = spare, nodes
    return min(dropped, best[0]), work
