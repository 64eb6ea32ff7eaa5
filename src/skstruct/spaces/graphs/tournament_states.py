# SPDX-License-Identifier: BSD-3-Clause
"""What each pair of a tournament may be, and tournaments embedded by that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct.spaces.base import decoded_or_infeasible
from skstruct.spaces.graphs.tournament_laws import sign_law, sign_moves
from skstruct.spaces.limits import check_n_rows
from skstruct.spaces.views import EmbeddingView


@dataclass(frozen=True, eq=False)
class SignLimits:
    """Which signs every pair may have, the same for all rows or one set per row."""

    allowed: np.ndarray  # bool, shape (1 or n, d, number of states)

    def __deepcopy__(self, memo):
        return self

    def __repr__(self):
        n_open = int((self.allowed.sum(axis=2) > 1).sum())
        return f"SignLimits({n_open} of {self.allowed[:, :, 0].size} pairs open)"

    @property
    def n_rows(self) -> int | None:
        return None if len(self.allowed) == 1 else len(self.allowed)

    def rows(self, index) -> SignLimits:
        return self if self.n_rows is None else SignLimits(self.allowed[index])

    def within(self, allowed: np.ndarray) -> SignLimits:
        """Narrowed further."""
        counts = {len(self.allowed), len(allowed)} - {1}
        if len(counts) > 1:
            raise ValueError(
                f"Known outcomes are given for different numbers of rows: {sorted(counts)}."
            )
        return SignLimits(self.allowed & allowed)


def best_signs(costs: np.ndarray, states: np.ndarray, allowed: np.ndarray):
    """The cheapest sign of every pair that is allowed.

    Parameters
    ----------
    costs : array of shape (n, d, number of states)
    states : array of signs
        Of equally cheap ones the first is taken.
    allowed : bool array of shape (1 or n, d, number of states)

    Returns
    -------
    outputs : int8 array of shape (n, d)
    values : array of shape (n,), infinite where a pair has no sign left
    """
    masked = np.where(allowed, costs, np.inf)
    best = masked.argmin(axis=2)
    least = np.take_along_axis(masked, best[:, :, None], axis=2)[:, :, 0]
    return states[best].astype(np.int8), least.sum(axis=1)


class TournamentStates(EmbeddingView):
    r"""Tournaments with a 0/1 coordinate for every pair and sign, :math:`1[z_{uv} = s]`.

    Entry ``j * S + k`` stands for pair j with the k-th of S signs. The number of pairs that
    differ is bilinear here, and an open pair can be cheaper than either win, which it never is
    under signed pairs: margins are learned for these coordinates.
    """

    embedding = "node states"

    @property
    def states_(self):
        return self.space.states_

    def embed(self, Z):
        hot = np.asarray(Z)[:, :, None] == np.array(self.states_)
        return hot.reshape(len(hot), hot.shape[1] * hot.shape[2]).astype(np.float64)

    def lift(self, costs, embedding):
        """Costs of signed pairs, (n, d), where no pair is open: a sign costs its multiple."""
        if embedding != "signed pairs" or self.space.partial:
            return super().lift(costs, embedding)
        costs = check_costs(costs, len(self.labels_), used_by="Tournaments")
        return (costs[:, :, None] * np.array(self.states_, dtype=float)).reshape(len(costs), -1)

    def argmin(self, costs):
        d, states = len(self.labels_), np.array(self.states_)
        costs = check_costs(costs, d * len(states), used_by="Tournaments")
        check_n_rows(self.limits_, len(costs), "Tournaments")
        cube = costs.reshape(len(costs), d, len(states))
        outputs, values = best_signs(cube, states, self.limits_.allowed)
        return decoded_or_infeasible(outputs, values, values, self.space)

    def kbest(self, costs, k):
        d, states = len(self.labels_), len(self.states_)
        costs = check_costs(costs, d * states, used_by="Tournaments")
        return self.space.kbest_states(costs.reshape(len(costs), d, states), k)

    def law(self, scores):
        """Laws of tournaments by scores of every pair and sign, (n, d * S)."""
        d, states = len(self.labels_), len(self.states_)
        scores = self._checked_scores(scores, d * states)
        check_n_rows(self.limits_, len(scores), "Tournaments")
        cube = scores.reshape(len(scores), d, states)
        return sign_law(self.space, cube, self.limits_.allowed, signed=False)

    def moves(self):
        """Chains that change one pair; None where rows are restricted differently."""
        return sign_moves(self.space, signed=False)
