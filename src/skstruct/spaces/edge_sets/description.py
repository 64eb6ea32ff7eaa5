# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of sets of edges of a graph."""

from collections.abc import Iterable
from typing import Any

from skstruct.spaces.description import DrawnGraph
from skstruct.spaces.indicator_sets.description import DescriptionOfLabelSets


class DescriptionOfEdgeSets(DescriptionOfLabelSets):
    """The edges that are in, drawn between their nodes."""

    __slots__ = ()
    drawn_as = "graph"

    def drawn_graph(self) -> DrawnGraph:
        return DrawnGraph(self.space.nodes_, self.space.edges_, bool(self.space.directed))

    def fixable_names(self) -> Iterable[Any]:
        return self.space.edge_labels_
