# SPDX-License-Identifier: BSD-3-Clause
"""Inference over label sets."""

from typing import Any

from skstruct.spaces.indicator_sets.distribution import set_distribution, view_distribution
from skstruct.spaces.indicator_sets.proposals import set_proposals
from skstruct.spaces.inference import Inference
from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.solvers.proposals import Proposals


class InferenceOfSets(Inference):
    """By dynamic programming on label sets and forests, within constraints that may differ from row
    to row, with exclusive groups of siblings; by a list of all sets on other graphs, or None where
    there are too many.
    """

    __slots__ = ()

    def distribution(self, scores: Any) -> Distribution | None:
        return set_distribution(self.space, self.checked(scores, len(self.space.labels_)))

    def proposals(self) -> Proposals | None:
        """Labels come in and leave, or change places; None where constraints may cut sets off."""
        return set_proposals(self.space)


class InferenceOfPrograms(Inference):
    """By the list of sets, where it is short: constraints leave nothing to sum by, and single flips
    may not lead from each output to each.
    """

    __slots__ = ()

    def distribution(self, scores: Any) -> Distribution | None:
        return super().distribution(self.checked(scores, len(self.space.labels_)))


class InferenceBySize(Inference):
    """Of sets by their size, one sum for every size."""

    __slots__ = ()

    def distribution(self, scores: Any) -> Distribution | None:
        scores = self.checked(scores, len(self.space.labels_) ** 2 + 1)
        return view_distribution(self.space, scores)


class InferenceOfProducts(Inference):
    """Of the labels where there are no products, else from a list."""

    __slots__ = ()

    def distribution(self, scores: Any) -> Distribution | None:
        view = self.space
        if not len(view.shared_):
            return Inference.of(view.space).distribution(scores)
        scores = self.checked(scores, len(view.labels_) + len(view.shared_))
        return view_distribution(view, scores)

    def proposals(self) -> Proposals | None:
        view = self.space
        return None if len(view.shared_) else Inference.of(view.space).proposals()
