# SPDX-License-Identifier: BSD-3-Clause
"""Local moves among rankings: two items change places."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.linear_ordering import ranks_of
from skstruct.walking.base import Moves

FAMILIES = {"positions": 0, "ranks": 1, "pairs": 2}


class RankingMoves(Moves):
    r"""Chains of orders of d items.

    Without precedences any two items that are free to move change places: a score of positions
    or ranks then changes in constant time, one of pairs in time of their distance. Within
    precedences neighbors change places (Karzanov and Khachiyan), which leads from every linear
    extension to every other one: under the uniform law in :math:`O(d^3 \ln d)` steps. Where
    only a top is ranked, one of the two is in it; within precedences its last item is
    exchanged for one that is behind.

    Parameters
    ----------
    family : "positions", "ranks" or "pairs"
        What scores are of: item j at position k is entry ``j * d + k``; ranks start at 1;
        pairs p < q have signs. Further columns of scores are not read.
    fixed : int array of shape (d,)
        Known ranks, 0 where free.
    before : bool array of shape (d, d), default=None
        Known precedences, transitive; not together with known ranks.
    top : int, default=None
        Items at later positions are tied.

    Examples
    --------
    >>> from skstruct.walking.streams import new_streams
    >>> moves = RankingMoves("ranks", np.zeros(3, int))
    >>> states = moves.start(np.array([[2.0, 1.0, 3.0]]))
    >>> states
    array([[1, 0, 2]])
    >>> scores, row, beta = np.array([[-1e3, 0.0, 1e3]]), np.zeros(1, int), np.ones(1)
    >>> n_accepted = moves.walk(states, scores, row, beta, 50, new_streams(1, 0))
    >>> moves.outputs(states)
    array([[1., 2., 3.]])

    References
    ----------
    A. Karzanov and L. Khachiyan (1991). On the conductance of order Markov chains. Order 8.
    """

    def __init__(self, family, fixed, *, before=None, top=None):
        d = len(fixed)
        self.family, self.d, self.top = FAMILIES[family], d, d if top is None else top
        self.before = np.zeros((0, 0), bool) if before is None else np.ascontiguousarray(before)
        self.free = np.setdiff1d(np.arange(d), fixed - 1)
        self.n_first = int((self.free < self.top).sum())
        self.value = self._tied(np.arange(d)[None])[0]
        self.sweep = max(1, min(len(self.free), self.top))

    def _tied(self, positions) -> np.ndarray:
        """Ranks from 1, those behind the top at their mean."""
        return np.where(positions < self.top, positions + 1.0, (self.top + 1 + self.d) / 2)

    def start(self, outputs):
        return np.ascontiguousarray(np.argsort(outputs, axis=1, kind="stable"), dtype=np.int64)

    def outputs(self, states):
        return self._tied(ranks_of(states))

    def walk(self, states, scores, row, beta, n_steps, streams):
        from skstruct.walking._compiled_rankings import walk_orders

        accepted = np.zeros(len(states), np.int64)
        if len(self.free) < 2 or self.n_first == 0:  # there is one ranking
            return accepted
        if self.family == FAMILIES["positions"] and self.top < self.d:
            scores = self._shared(scores)
        walk_orders(self.family, states, scores, row, beta, n_steps, streams, self.value,
                    self.free, self.n_first, self.before, self.top, accepted)  # fmt: skip
        return accepted

    def _shared(self, scores) -> np.ndarray:
        """Scores of positions, those behind the top replaced by their mean."""
        cube = scores.reshape(len(scores), self.d, self.d).copy()
        cube[:, :, self.top :] = cube[:, :, self.top :].mean(axis=2, keepdims=True)
        return cube.reshape(len(scores), -1)
