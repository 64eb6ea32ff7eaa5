# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of paths."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from skstruct.spaces.common.fixing import fixed_nodes_and_edges
from skstruct.spaces.description import CanonicalRange, Description, DrawnGraph, Part, Parts


class DescriptionOfPaths(Description):
    """Arcs in order of travel."""

    __slots__ = ()
    part_words: ClassVar[tuple[str, str]] = ("arc", "arcs")
    output_kind = "parts"
    drawn_as = "graph"
    usual_losses: ClassVar[Sequence[str]] = ("zero_one",)

    def part_names(self) -> Sequence[Any]:
        return self.space.labels_

    def drawn_graph(self) -> DrawnGraph:
        number = {node: i for i, node in enumerate(self.space.nodes_)}
        ends = [(number[tail], number[head]) for tail, head in self.space.labels_]
        return DrawnGraph(self.space.nodes_, np.array(ends).reshape(-1, 2), directed=True)

    def parts_of(self, z: Any) -> Parts:
        arcs = {self.space.labels_[j][0]: int(j) for j in np.flatnonzero(z)}  # by their tails
        heads = {self.space.labels_[j][1] for j in arcs.values()}
        at, found = next((tail for tail in arcs if tail not in heads), None), []
        while at in arcs:
            found.append(Part(arcs[at], self.space.labels_[arcs.pop(at)]))
            at = found[-1].name[1]
        return Parts(found)

    def fixing(self, included: Sequence[Any], excluded: Sequence[Any]) -> dict[str, Any]:
        """Arcs by ``include`` and ``exclude``, nodes by ``via`` and ``avoid``."""
        return fixed_nodes_and_edges(
            (self.space.nodes_, ("via", "avoid")),
            (self.space.labels_, ("include", "exclude")),
            (included, excluded),
        )

    def canonical_range(self) -> CanonicalRange:
        return 0, 2, len(self.space.labels_)
