# SPDX-License-Identifier: BSD-3-Clause
"""Local moves among simple cycles through some of the places."""

from __future__ import annotations

import numpy as np

from skstruct.walking.base import Moves

REORDERINGS, REPLACE, RESIZE = [0, 1], [2], [3]


class TourMoves(Moves):
    """Parts are turned round, places move along the cycle, come in, go out, or are replaced.

    A state is the number k of places on the cycle and then all places that may be visited,
    those of the cycle first and in order of travel. Kinds of moves that limits rule out are
    not tried.

    Parameters
    ----------
    places : int array
        Those that may be visited, at least three.
    must : bool array of shape (N,)
        Those that must be.
    sizes : smallest and largest number of places
    column : int array of shape (N, N)
        Which score an arc has.
    sign : array of shape (N, N)
        What that score is multiplied by.
    both_ways : bool
        Whether all arcs have the score of their reverse.
    tours_of, rows_of : callables
        Canonical outputs to tours (n, N), padded with -1, and back.
    """

    def __init__(self, places, must, sizes, column, sign, both_ways, tours_of, rows_of):
        self.places, self.must = np.asarray(places, dtype=np.int64), must
        self.column, self.sign = np.ascontiguousarray(column), np.ascontiguousarray(sign)
        self.both_ways, self.tours_of, self.rows_of = bool(both_ways), tours_of, rows_of
        m = len(places)
        self.sizes = max(int(sizes[0]), int(must.sum()), 3), min(int(sizes[1]), m)
        kinds = list(REORDERINGS)
        if self.sizes[0] < m and must.sum() < self.sizes[1]:
            kinds += REPLACE
        if self.sizes[0] < self.sizes[1]:
            kinds += RESIZE
        self.kinds = np.array(kinds, np.int64)
        self.sweep = m * (m - 1)

    def start(self, outputs):
        tours = self.tours_of(np.asarray(outputs))
        n, n_places = tours.shape
        # Places are sorted by when they are visited, the others behind.
        when = np.tile(np.arange(n_places, 2 * n_places), (n, 1))
        row, step = np.nonzero(tours >= 0)
        when[row, tours[row, step]] = step
        order = np.argsort(when[:, self.places], axis=1)
        size = (tours >= 0).sum(axis=1)
        return np.ascontiguousarray(np.column_stack([size, self.places[order]]))

    def outputs(self, states):
        tours = np.full((len(states), len(self.must)), -1, np.int64)
        m = len(self.places)
        tours[:, :m] = np.where(np.arange(m) < states[:, :1], states[:, 1:], -1)
        return self.rows_of(tours)

    def walk(self, states, scores, row, beta, n_steps, streams):
        from skstruct.walking._compiled_cycles import walk_cycles

        accepted = np.zeros(len(states), np.int64)
        problem = self.kinds, self.sizes, self.must, self.both_ways, self.column, self.sign
        walk_cycles(states, *problem, scores, row, beta, n_steps, streams, accepted)
        return accepted
