# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions of nodes of a graph: one node is the output."""

import numpy as np
from scipy import sparse

from skstruct.spaces.classes.description import DescriptionOfClasses
from skstruct.spaces.description import DrawnGraph


class DescriptionOfGraphNodes(DescriptionOfClasses):
    """The one node, drawn in its graph."""

    __slots__ = ()
    drawn_as = "node"

    def drawn_graph(self) -> DrawnGraph:
        joined = sparse.triu(self.space.adjacency_, 1).tocoo()
        ends = np.column_stack([joined.row, joined.col])
        return DrawnGraph(list(self.space.labels_), ends)
