# SPDX-License-Identifier: BSD-3-Clause
"""Inference over tournaments by states of their pairs."""

from typing import Any

from skstruct.spaces.inference import Inference
from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.solvers.proposals import Proposals
from skstruct.spaces.tournaments.distribution import sign_distribution, sign_proposals


class InferenceOfStates(Inference):
    """By scores of every pair and sign, (n, d * S)."""

    __slots__ = ()

    def distribution(self, scores: Any) -> Distribution | None:
        view = self.space
        d, states = len(view.labels_), len(view.states_)
        cube = self.checked(scores, d * states).reshape(-1, d, states)
        return sign_distribution(view.space, cube, view.constraints_.allowed, signed=False)

    def proposals(self) -> Proposals | None:
        """Chains that change one pair; None where rows are restricted differently."""
        return sign_proposals(self.space.space, signed=False)
