# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of sets of edges of a graph."""

from skstruct.spaces.description import DrawnGraph
from skstruct.spaces.indicator_sets.description import DescriptionOfLabelSets


class DescriptionOfEdgeSets(DescriptionOfLabelSets):
    """The edges that are in, drawn between their nodes."""

    __slots__ = ()
    drawn_as = "graph"

    def drawn_graph(self) -> DrawnGraph:
        ends = self.space.edges_
        directed = bool((ends[:, 0] > ends[:, 1]).any())  # else the first node comes first
        return DrawnGraph(self.space.nodes_, ends, directed)
