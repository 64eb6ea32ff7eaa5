# SPDX-License-Identifier: BSD-3-Clause
"""Pre-images of many rows: bounds and searches in turn, each more thorough than the last."""

from __future__ import annotations

import numba as nb
import numpy as np

import skstruct._arrays.compiling  # noqa: F401 (tells who waits)
from skstruct.decoding.ngrams._compiled_beams import search
from skstruct.decoding.ngrams._compiled_paths import fill_table, row_limits, spell
from skstruct.decoding.ngrams._compiled_slopes import (
    BOUND,
    REACH,
    SEEN,
    first_slopes,
    line_offsets,
    tighten,
)

FIRST_STEPS, FIRST_WIDTH = 25, 16
MORE_STEPS, WIDER = 2, 4  # times, from one round to the next
MOST_CANDIDATES = 2**22  # held at once: some 300 MB
CHEAPER = 500  # a node of the search costs as much as so many entries of a table
FIRST_REACH = 0.1  # of the way to the best value, divided by the square of the direction


@nb.njit(cache=True, nogil=True)
def solve(twice, limits, tolerance, table, max_nodes, best, best_grams):
    """Improve ``best`` (value, number of n-grams, start); returns a lower bound."""
    d, levels = len(twice), len(table) - 1
    # The first slopes give the better bound where many walks tie, as where g is the counts of
    # a string, but steps and searches from there get stuck: those begin at slopes of 1.
    slopes = first_slopes(twice, limits[2] - limits[1] + 1, levels)
    mean, state = np.zeros(d), np.array([-np.inf, FIRST_REACH, 0.0])
    tighten(twice, limits, tolerance, slopes, mean, state, table, 1, best_grams, best)
    lower = state[BOUND]
    slopes[:], mean[:] = 1.0, 0.0
    state[:] = -np.inf, FIRST_REACH, 0.0
    step_work = 1 + levels * d // CHEAPER
    steps, width, widest, left = FIRST_STEPS, FIRST_WIDTH, 0, max_nodes
    while lower < best[0] - tolerance:
        # No more than half of what is left, but one step always: it gives a bound.
        steps, before = max(1, min(steps, left // (2 * step_work))), state[SEEN]
        tighten(twice, limits, tolerance, slopes, mean, state, table, steps, best_grams, best)
        left -= np.int64(state[SEEN] - before) * step_work
        lower = max(lower, state[BOUND])
        width = min(width, left // levels, MOST_CANDIDATES // limits[0])
        if lower >= best[0] - tolerance or width <= widest:
            break
        fill_table(slopes - twice, limits, table)
        offset = line_offsets(slopes)
        bound, work = search(
            width, twice, limits, tolerance, slopes, table, offset, best, best_grams
        )
        left -= work
        lower = max(lower, bound)
        state[REACH] = FIRST_REACH
        steps, width, widest = MORE_STEPS * steps, WIDER * width, width
    return lower


@nb.njit(cache=True, nogil=True)
def nearest_rows(twice, q, order, limits, max_nodes, symbols, values, bounds):
    """Fill symbols (n, T), values and bounds where strings cost less than ``values``.

    ``twice`` is 2 g, minus infinity for what is forbidden.
    """
    levels = max(symbols.shape[1] - order + 1, 0)
    table = np.empty((levels + 1, q ** (order - 1)))
    best_grams, best = np.empty(levels, np.int64), np.empty(3)
    for i in range(len(twice)):
        of_row = row_limits(i, q, order, *limits)
        bounds[i], high = values[i], of_row[3]
        if high < of_row[2]:  # too short for an n-gram
            continue
        scale = 1.0
        for price in twice[i]:
            if np.isfinite(price):
                scale = max(scale, abs(price))
        tolerance = 1e-12 * scale * high
        best[:] = values[i], 0.0, -1.0
        part = table[: high - order + 2]
        lower = solve(twice[i], of_row, tolerance, part, max_nodes, best, best_grams)
        values[i] = best[0]
        bounds[i] = best[0] if lower >= best[0] - tolerance else lower
        if best[2] >= 0:
            spell(np.int64(best[2]), best_grams, np.int64(best[1]), q, order, symbols[i])
