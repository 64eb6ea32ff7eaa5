# SPDX-License-Identifier: BSD-3-Clause
"""Inference over labels and pairs of labels."""

from typing import Any

import numpy as np

from skstruct.spaces.constraints import check_feasible
from skstruct.spaces.inference import Inference
from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.solvers.pairwise.inference import label_distribution
from skstruct.spaces.solvers.pairwise.proposals import LabelProposals
from skstruct.spaces.solvers.proposals import Proposals


class InferenceOfPairs(Inference):
    """By eliminating one label after the other.

    None where the graph is too wide for so many rows: 64 rows of twenty labels that are all
    joined are not, nor are any number of rows of a forest.
    """

    __slots__ = ()

    def distribution(self, scores: Any) -> Distribution | None:
        space, constraints = self.space, self.space.constraints_
        n = len(space.labels_)
        scores = self.checked(scores, n + len(space.edges_))
        fixed = (constraints.low, constraints.high) if constraints.is_masked else ()
        check_feasible(~(constraints.low & ~constraints.high).any(axis=1), space)
        return label_distribution(scores[:, :n], scores[:, n:], space.edges_, *fixed)

    def proposals(self) -> Proposals | None:
        """Chains that change one label; None where rows are restricted differently."""
        space, constraints = self.space, self.space.constraints_
        if constraints.n_rows is not None:
            return None
        check_feasible(~(constraints.low & ~constraints.high).any(axis=1), space)
        free = np.flatnonzero(constraints.high[0] & ~constraints.low[0])
        return LabelProposals(len(space.labels_), space.edges_, free)
