# SPDX-License-Identifier: BSD-3-Clause
"""Properties that have spaces of their own: matchings and spanning trees."""

from __future__ import annotations

from functools import cached_property

from skstruct.spaces.graphs.base import EdgeSetSpace
from skstruct.spaces.graphs.properties import GraphProperty

OWN_SPACES = ("matching", "spanning tree")


class OwnSpace(GraphProperty):
    """What another space over the same edges, in the same order, says and does."""

    def __init__(self, table, name: str):
        super().__init__(table)
        self.name = name

    @cached_property
    def space(self) -> EdgeSetSpace:
        if self.name == "matching":
            from skstruct.spaces.graphs.matchings import Matchings

            return Matchings(self.table.nodes)
        from skstruct.spaces.graphs.spanning_trees import SpanningTrees

        return SpanningTrees(self.table.nodes)

    def why_not(self, row):
        return self.space._why_not(row)

    def holds(self, Z):
        return self.space._holds(Z)

    def guarantee(self, limits):
        return self.space._limited(limits).guarantee

    def decode(self, costs, limits):
        return self.space._decode(costs, limits)

    def count(self, limits):
        return self.closed_forms(limits).size()

    def closed_forms(self, limits):
        return self.space if limits is None else self.space._limited(limits)

    def law(self, scores, limits):
        return self.closed_forms(limits).law(scores)

    def moves(self, limits):
        return self.closed_forms(limits).moves()
