# SPDX-License-Identifier: BSD-3-Clause
"""Paths as a program, and in haste."""

import copy
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.spaces.constraints import of_one_row
from skstruct.spaces.paths.constraints import with_ends
from skstruct.spaces.paths.decoding import ends_open
from skstruct.spaces.solvers.binary_programs import BinaryProgram
from skstruct.spaces.solving import Solving


class SolvingOfPaths(Solving):
    """Flows of one unit, where there are no cycles."""

    __slots__ = ()

    def quick(self) -> Any:
        """Rows with a cycle of negative cost are not searched, but where few nodes allow tables."""
        hurried = copy.copy(self.space)
        hurried.hurried = True
        return hurried

    def program(self) -> BinaryProgram | None:
        """Paths of a graph without cycles as the 0/1 points of a polytope with integral corners.

        None of a graph with cycles, whose flows are more than paths.

        What leaves a node less what enters it is 1 at the source, -1 at the target and 0 elsewhere.
        A limit of the length may take the corners away; closed arcs add up to zero.
        """
        space = self.space
        if not space.is_acyclic:
            return None
        limits, table = with_ends(of_one_row(space.constraints_)), space._table
        (u, v), n_nodes = table.edges.T, len(space.nodes_)
        d, at, ones = len(u), np.arange(len(u)), np.ones(len(u))
        position = np.concatenate([u, v]), np.concatenate([at, at])
        A_eq = sparse.csr_array((np.concatenate([ones, -ones]), position), shape=(n_nodes, d))
        b_eq = np.zeros(n_nodes)
        np.add.at(b_eq, [limits.source[0], limits.target[0]], [1.0, -1.0])
        possible = ends_open(limits, 1)[0] and limits.spans(table)[0]
        closed = ~limits.usable_onward(table)[0]
        A_ub = sparse.csr_array(np.vstack([closed, np.ones(d)]).astype(np.float64))
        kept = np.array([bool(closed.any()) or not possible, limits.is_short])
        b_ub = np.array([0.0 if possible else -1.0, float(limits.longest[0])])
        return BinaryProgram(A_ub[kept], b_ub[kept], A_eq, b_eq)
