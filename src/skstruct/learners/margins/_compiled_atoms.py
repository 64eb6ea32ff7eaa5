# SPDX-License-Identifier: BSD-3-Clause
"""Compiled keeping of the atoms of every example.

Example m keeps atoms in slots, which stand side by side in memory: directions (N, slots, q),
constants (M, slots, r), losses and portions (M, slots). Portions sum to one. Slot 0 is a mixture
of atoms that were given up. Products (M, slots, slots) are the inner products of the atoms of an
example, x x' included: steps between them need no look at the atoms themselves.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from skstruct.learners.margins._compiled_rows import SUMS


@nb.njit(cache=True, nogil=True)
def _same(a, m, first, offset, number, directions, constants, loss, atoms):
    """Whether slot a of example m already holds a new atom."""
    points, point_constants, point_losses, _ = atoms
    if point_losses[m, a] != loss:
        return False
    for e in range(constants.shape[1]):
        if point_constants[m, a, e] != constants[number, e]:
            return False
    for t in range(offset[number + 1] - offset[number]):
        for k in range(directions.shape[1]):
            if points[first + t, a, k] != directions[offset[number] + t, k]:
                return False
    return True


@nb.njit(cache=True, nogil=True)
def _give_up(a, m, first, last, portions, atoms):
    """Add slot a to the mixture in slot 0."""
    points, point_constants, point_losses, products = atoms
    part, rest = portions[m, a], portions[m, 0]
    if part == 0.0:
        return
    share = part / (part + rest)
    points[first:last, 0] += share * (points[first:last, a] - points[first:last, 0])
    point_constants[m, 0] += share * (point_constants[m, a] - point_constants[m, 0])
    point_losses[m, 0] += share * (point_losses[m, a] - point_losses[m, 0])
    portions[m, 0], portions[m, a] = part + rest, 0.0
    for b in range(products.shape[1]):  # a row, then a column: products are linear in both
        products[m, 0, b] += share * (products[m, a, b] - products[m, 0, b])
    for b in range(products.shape[1]):
        products[m, b, 0] += share * (products[m, b, a] - products[m, b, 0])


@nb.njit(cache=True, nogil=True, fastmath=SUMS)
def _multiply(a, m, first, T, gram, free, stamps, atoms):
    """Inner products of slot a of example m with all slots; constants count where free is 1."""
    points, point_constants, _, products = atoms
    q, r = points.shape[2], point_constants.shape[2]
    image = np.zeros((T, q))
    for t in range(T):
        for s in range(T):
            for k in range(q):
                image[t, k] += gram[t * T + s] * points[first + s, a, k]
    for b in range(stamps.shape[1]):
        if stamps[m, b] < 0:
            continue
        total = 0.0
        for t in range(T):
            for k in range(q):
                total += image[t, k] * points[first + t, b, k]
        for e in range(r):
            total += free[e] * point_constants[m, a, e] * point_constants[m, b, e]
        products[m, a, b] = products[m, b, a] = total


@nb.njit(cache=True, nogil=True)
def multiply_all(starts, gram, gram_starts, free, stamps, atoms):
    """Inner products of all atoms anew."""
    for m in range(stamps.shape[0]):
        inner = gram[gram_starts[m] : gram_starts[m + 1]]
        for a in range(stamps.shape[1]):
            if stamps[m, a] >= 0:
                _multiply(a, m, starts[m], starts[m + 1] - starts[m], inner, free, stamps, atoms)


@nb.njit(cache=True, nogil=True)
def remember(
    examples, clock, starts, offset, directions, constants, losses, gram, gram_starts, free,
    portions, stamps, atoms,
):  # fmt: skip
    """Keep new atoms; those without a portion go first, then those unused for longest."""
    points, point_constants, point_losses, _ = atoms
    for number in range(examples.shape[0]):
        m = examples[number]
        first, last = starts[m], starts[m + 1]
        place, known = 1, False
        for a in range(1, stamps.shape[1]):
            if stamps[m, a] >= 0 and _same(
                a, m, first, offset, number, directions, constants, losses[number], atoms
            ):
                place, known = a, True
                break
            held, held_there = portions[m, a] > 0.0, portions[m, place] > 0.0
            if (held, stamps[m, a]) < (held_there, stamps[m, place]):
                place = a
        if known:
            stamps[m, place] = clock
            continue
        _give_up(place, m, first, last, portions, atoms)
        stamps[m, place] = clock
        points[first:last, place] = directions[offset[number] : offset[number + 1]]
        point_constants[m, place] = constants[number]
        point_losses[m, place] = losses[number]
        inner = gram[gram_starts[m] : gram_starts[m + 1]]
        _multiply(place, m, first, last - first, inner, free, stamps, atoms)
