# SPDX-License-Identifier: BSD-3-Clause
"""Minimum-cost walks of so many steps in the graph of n-grams (de Bruijn).

A state is the last n - 1 symbols, read as a number in base q; there are S = q**(n-1). The
n-gram c = s * q + a leads from state s to c % S. Level j of a table stands for strings of
n - 1 + j symbols, and thus j n-grams.
"""

import numpy as np

from skstruct._arrays import compiling as nb


@nb.njit(cache=True, nogil=True)
def agrees(state, q, order, known):
    """Whether the first ``order - 1`` symbols may be those of a state, for what is known."""
    for t in range(order - 2, -1, -1):
        if known[t] >= 0 and known[t] != state % q:
            return False
        state //= q
    return True


# Leaving NaN and the sign of zero out of account lets minima be taken several at a time.
@nb.njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def fill_level(cost, behind, q, order, may_end, fixed, here):
    """One level of a table from the one behind it; a string may end in some states."""
    block = max(len(here) // q, 1)
    for s in range(len(here)):
        best = 0.0 if may_end[s] else np.inf
        steps, following = cost[s * q : s * q + q], behind[(s % block) * q : (s % block) * q + q]
        if order == 1:
            for a in range(q):
                if fixed < 0 or fixed == a:
                    best = min(best, steps[a] + behind[0])
        elif fixed >= 0:
            best = min(best, steps[fixed] + following[fixed])
        else:
            for a in range(q):
                best = min(best, steps[a] + following[a])
        here[s] = best


@nb.njit(cache=True, nogil=True)
def fill_table(cost, constraints, table):
    """table[j, s] = least cost of what follows state s at level j; inf where nothing may.

    ``constraints`` are the alphabet's size, the order n, the shortest and longest length, known
    symbols by position (-1 where free), and the states to begin and to end with.
    """
    q, order, shortest, longest, known, _, ends = constraints
    levels = longest - order + 1
    nowhere = np.zeros(len(ends), np.bool_)
    for s in range(len(ends)):
        table[levels, s] = 0.0 if ends[s] else np.inf
    for j in range(levels - 1, -1, -1):
        may_end = ends if order - 1 + j >= shortest else nowhere
        fill_level(cost, table[j + 1], q, order, may_end, known[order - 1 + j], table[j])


@nb.njit(cache=True, nogil=True)
def best_start(constraints, first_level):
    """The state of least cost among those that a string may begin with; -1 if none."""
    q, order, _, _, known, begins, _ = constraints
    start, least = -1, np.inf
    for s in range(len(first_level)):
        if begins[s] and first_level[s] < least and agrees(s, q, order, known):
            start, least = s, first_level[s]
    return start


@nb.njit(cache=True, nogil=True)
def trace(start, cost, constraints, table, grams):
    """Follow a table from a state; fills ``grams`` and returns their number.

    Of strings that cost the same the shorter is taken, then the lower symbol.
    """
    q, order, shortest, longest, known, _, ends = constraints
    s, levels = start, longest - order + 1
    for j in range(levels):
        if order - 1 + j >= shortest and ends[s] and table[j, s] >= 0.0:
            return j
        fixed = known[order - 1 + j]
        best, least = -1, np.inf
        for a in range(q):
            if fixed < 0 or fixed == a:
                c = s * q + a
                total = cost[c] + table[j + 1, c % len(ends)]
                if total < least:
                    best, least = c, total
        grams[j] = best
        s = best % len(ends)
    return levels


@nb.njit(cache=True, nogil=True)
def spell(start, grams, n_grams, q, order, symbols):
    """Write the symbols of a walk, padded with -1."""
    for t in range(order - 2, -1, -1):
        symbols[t] = start % q
        start //= q
    for j in range(n_grams):
        symbols[order - 1 + j] = grams[j] % q
    symbols[order - 1 + n_grams :] = -1


@nb.njit(cache=True, nogil=True)
def row_constraints(i, q, order, shortest, longest, known, begins, ends):
    """The constraints of one row, where each may be the same for all; at least one n-gram."""
    low, high = shortest[i % len(shortest)], longest[i % len(longest)]
    fixed, first, last = known[i % len(known)], begins[i % len(begins)], ends[i % len(ends)]
    return q, order, max(low, order), high, fixed, first, last


@nb.njit(cache=True, nogil=True)
def min_cost_rows(costs, q, order, constraints, symbols, values):
    """Fill symbols (n, T) with strings of least cost where these cost less than ``values``."""
    levels = max(symbols.shape[1] - order + 1, 0)
    table, grams = np.empty((levels + 1, q ** (order - 1))), np.empty(levels, np.int64)
    for i in range(len(symbols)):
        of_row = row_constraints(i, q, order, *constraints)
        if of_row[3] < of_row[2]:  # too short for an n-gram
            continue
        fill_table(costs[i], of_row, table)
        start = best_start(of_row, table[0])
        if start >= 0 and table[0, start] < values[i]:
            n_grams = trace(start, costs[i], of_row, table, grams)
            spell(start, grams, n_grams, q, order, symbols[i])
            values[i] = table[0, start]
