# SPDX-License-Identifier: BSD-3-Clause
"""Inference over classes: a softmax."""

from typing import Any

import numpy as np

from skstruct.spaces.constraints import check_feasible
from skstruct.spaces.inference import Inference
from skstruct.spaces.solvers.distributions import ChoiceDistribution
from skstruct.spaces.solvers.proposals import ChoiceProposals


class InferenceOfClasses(Inference):
    """Any class follows any other."""

    __slots__ = ()

    def _predicted(self) -> np.ndarray:
        """Numbers of the classes that may be predicted."""
        listed, allowed = self.space.enumerate(), self.space.allowed_
        return listed if allowed is None else listed[allowed]

    def distribution(self, scores: Any) -> ChoiceDistribution:
        """Distributions of the classes: a softmax of the scores themselves, (n, k)."""
        scores = self.checked(scores, len(self.space.listed_))
        allowed = self.space.allowed_
        if allowed is not None and allowed.ndim == 2:
            values = np.where(allowed, scores, -np.inf)
        else:
            values, predicted = np.full(scores.shape, -np.inf), self._predicted()
            values[:, predicted] = scores[:, predicted]
        distribution = ChoiceDistribution(values)
        check_feasible(np.isfinite(distribution.log_partition), self.space)
        return distribution

    def proposals(self) -> ChoiceProposals:
        return ChoiceProposals(self._predicted(), np.asarray)
