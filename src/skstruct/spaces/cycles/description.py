# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of cycles."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from skstruct.spaces.common.fixing import fixed_nodes_and_edges
from skstruct.spaces.description import Part, Parts
from skstruct.spaces.edge_sets.description import DescriptionOfEdgeSets


class DescriptionOfCycles(DescriptionOfEdgeSets):
    """Nodes in order of travel."""

    __slots__ = ()
    part_words: ClassVar[tuple[str, str]] = ("edge", "edges")
    output_kind = "tour"

    def parts_of(self, z: Any) -> Parts:
        stops, nodes = self.space.tours(np.asarray(z)[None])[0], self.space.nodes_
        return Parts([Part(int(v), nodes[v]) for v in stops[stops >= 0]], " → ", 30)

    def fixable_names(self) -> Sequence[Any]:
        return self.space.edge_labels_

    def fixing(self, included: Sequence[Any], excluded: Sequence[Any]) -> dict[str, Any]:
        """Nodes by ``include`` and ``exclude``, arcs by those of edges."""
        return fixed_nodes_and_edges(
            (self.space.nodes_, ("include", "exclude")),
            (self.space.edge_labels_, ("include_edges", "exclude_edges")),
            (included, excluded),
        )
