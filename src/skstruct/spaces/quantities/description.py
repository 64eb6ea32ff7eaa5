# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of quantities: numbers by name, and the ranges that they are known to have."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from skstruct.spaces.description import CanonicalRange, Description, Part, Parts

SMALL_FLOW = 0.01  # of the largest: less is not written out


class DescriptionOfQuantities(Description):
    """All numbers, each with the name of its column."""

    __slots__ = ()
    part_words: ClassVar[tuple[str, str]] = ("number", "numbers")
    output_kind = "quantities"
    usual_losses: ClassVar[Sequence[str]] = ("absolute",)

    def part_names(self) -> Sequence[Any]:
        return self.space.labels_

    def parts_of(self, z: Any) -> Parts:
        names = self.space.labels_
        named = [None] if len(names) == 1 else names
        parts = [Part(None, name, value=x) for name, x in zip(named, np.ravel(z))]
        return Parts(parts, longest=30)

    def canonical_range(self) -> CanonicalRange:
        return None, None, len(self.space.labels_)


class DescriptionOfBoxes(DescriptionOfQuantities):
    """Numbers between limits, which were given or learned."""

    __slots__ = ()

    def coordinate_range(self, j: int) -> tuple[float, float]:
        return self.space.low_[j], self.space.high_[j]

    def given_range(self, j: int) -> tuple[float, float]:
        low, high = self.coordinate_range(j)
        space = self.space
        return low if space.low is not None else -np.inf, high if space.high is not None else np.inf


class DescriptionOfSimplices(DescriptionOfQuantities):
    """Shares of a total."""

    __slots__ = ()
    usual_losses: ClassVar[Sequence[str]] = ("absolute", "squared_hellinger")

    def given_range(self, j: int) -> tuple[float, float]:
        return 0.0, float(self.space.total)


class DescriptionOfDecisions(DescriptionOfQuantities):
    """Numbers that only their own loss judges."""

    __slots__ = ()
    usual_losses: ClassVar[Sequence[str]] = ()


class DescriptionOfPortfolios(DescriptionOfDecisions):
    """Weights between given limits."""

    __slots__ = ()

    def given_range(self, j: int) -> tuple[float, float]:
        return float(self.space.low_[j]), float(self.space.high_[j])


class DescriptionOfFlows(DescriptionOfQuantities):
    """Arcs with their flows, the largest first; those that carry next to nothing left out."""

    __slots__ = ()
    part_words: ClassVar[tuple[str, str]] = ("arc", "arcs")
    output_kind = "flow"

    def parts_of(self, z: Any) -> Parts:
        z, arcs = np.asarray(z), self.space.labels_
        least = SMALL_FLOW * np.max(z, initial=0.0)
        used = [a for a in np.argsort(-z, kind="stable") if z[a] > least]
        return Parts([Part(None, arcs[a], after=f": {z[a]:.3g}") for a in used], longest=30)
