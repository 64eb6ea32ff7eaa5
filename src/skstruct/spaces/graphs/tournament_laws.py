# SPDX-License-Identifier: BSD-3-Clause
"""Tournaments as outcomes of exponential families: every pair has a law of its own."""

from __future__ import annotations

import numpy as np

from skstruct.spaces.base import check_feasible
from skstruct.summing.base import Law
from skstruct.summing.state_forests import StateForestLaw
from skstruct.walking.pairwise import StateMoves

NO_EDGES = np.empty((0, 2), np.int64)


class SignLaw(Law):
    r"""Laws of independent signs: those of states of pairs that nothing joins.

    .. math:: Z = \prod_{uv} \sum_{s \text{ allowed}} e^{u_{uv}(s)}

    Parameters
    ----------
    scores : array of shape (n, d, S)
        Of every pair and sign.
    signs : int array of shape (S,)
    allowed : bool array of shape (1 or n, d, S)
    signed : bool
        Whether marginals are mean signs, (n, d), or chances of signs, (n, d S).

    Examples
    --------
    >>> law = SignLaw(np.log([[[1.0, 2.0, 1.0]]]), np.array([0, 1, -1]), np.ones((1, 1, 3), bool))
    >>> np.exp(law.log_partition).round(12), law.marginals().round(12)
    (array([4.]), array([[0.25]]))
    """

    def __init__(self, scores, signs, allowed, signed=True):
        self.signs, self.signed, self.shape = signs, signed, scores.shape
        n, _, k = scores.shape
        unary = np.where(allowed, scores, -np.inf)
        self.states = StateForestLaw(unary, np.empty((n, 0, k, k)), NO_EDGES)
        self.log_partition = self.states.log_partition

    def marginals(self):
        chances = self.states.marginals()
        return chances.reshape(self.shape) @ self.signs if self.signed else chances

    def sample(self, n, rng):
        return self.signs[self.states.sample(n, rng)].astype(np.int8)


class SignMoves(StateMoves):
    """Pick a pair that has a choice, and one of its signs.

    Parameters
    ----------
    allowed : bool array of shape (d, S)
    signs : int array of shape (S,)
    signed : bool
        Whether scores are of signed pairs, (r, d), or of pairs and signs, (r, d S).
    """

    def __init__(self, allowed, signs, signed=True):
        super().__init__(allowed, NO_EDGES)
        self.signs, self.signed = signs, signed

    def start(self, outputs):
        return super().start((np.asarray(outputs)[:, :, None] == self.signs).argmax(axis=2))

    def outputs(self, states):
        return self.signs[states].astype(np.int8)

    def walk(self, states, scores, row, beta, n_steps, streams):
        if self.signed:
            scores = (scores[:, :, None] * self.signs).reshape(len(scores), -1)
        return super().walk(states, scores, row, beta, n_steps, streams)


def sign_law(space, scores, allowed, signed=True) -> SignLaw:
    """The law of tournaments within limits; scores (n, d, S)."""
    check_feasible(np.broadcast_to(allowed.any(axis=2).all(axis=1), len(scores)), space)
    return SignLaw(scores, np.array(space.states_), allowed, signed)


def sign_moves(space, signed=True) -> SignMoves | None:
    """Moves of tournaments, unless their limits differ from row to row."""
    if space.limits_.n_rows is not None:
        return None
    return SignMoves(space.limits_.allowed[0], np.array(space.states_), signed)
