# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of labels and of their states in a graph."""

from collections.abc import Sequence
from typing import Any, ClassVar

from skstruct.spaces.common.fixing import finder, only_one, pair_of
from skstruct.spaces.description import CanonicalRange, Description, DrawnGraph, Part, Parts
from skstruct.spaces.indicator_sets.description import DescriptionOfLabelSets


class DescriptionOfLabelsAndEdges(DescriptionOfLabelSets):
    """The labels that are in, drawn as nodes of their graph."""

    __slots__ = ()
    drawn_as = "nodes"

    def drawn_graph(self) -> DrawnGraph:
        return DrawnGraph(self.space.labels_, self.space.edges_)


class DescriptionOfStates(Description):
    """Labels with their states."""

    __slots__ = ()
    drawn_as = "states"
    fixable = ("in", "out")
    usual_losses: ClassVar[Sequence[str]] = ("zero_one",)

    def part_names(self) -> Sequence[Any]:
        return self.space.labels_

    def parts_of(self, z: Any) -> Parts:
        labels, states = self.space.labels_, self.space.states_
        found = [(j, int(s)) for j, s in enumerate(z)]
        return Parts([Part(p, labels[p[0]], after=f": {states[p[1]]}") for p in found])

    def fixing(self, included: Sequence[Any], excluded: Sequence[Any]) -> dict[str, Any]:
        """States of labels, pairs (label, state), as ``known`` and ``forbidden``."""
        label, state = finder(self.space.labels_, "label"), finder(self.space.states_, "state")
        known: dict[Any, Any] = {}
        forbidden: dict[Any, list[Any]] = {}
        for part in included:
            name, value = pair_of(part, "a label and a state")
            only_one(known, label(name), state(value), "Label")
        for part in excluded:
            name, value = pair_of(part, "a label and a state")
            forbidden.setdefault(label(name), []).append(state(value))
        asked = {"known": known, "forbidden": forbidden}
        return {key: named for key, named in asked.items() if named}

    def canonical_range(self) -> CanonicalRange:
        return -1, max(len(self.space.states_), 2), len(self.space.labels_)
