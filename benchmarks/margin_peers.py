# SPDX-License-Identifier: BSD-3-Clause
"""Another oracle for max-margin networks: one linear program per example, by HiGHS."""

from __future__ import annotations

import numpy as np

from skstruct.facets import kept
from skstruct.learners import MaxMarginNetwork, MaxMarginTree
from skstruct.spaces import Solving
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.pairwise.labels import PairwiseLabels
from skstruct.spaces.pairwise.solving import SolvingOfPairs
from skstruct.spaces.solvers.pairwise.solve import local_polytope


class LocalPolytope:
    """Costs minimized over the local polytope of a graph by HiGHS.

    The model stays loaded from row to row: only the costs change, and the simplex method goes
    on from the last basis.
    """

    def __init__(self, n_labels, edges):
        import highspy

        system = local_polytope(n_labels, edges)
        A = system.A_ub.tocsc()
        self.size = A.shape[1]
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = A.shape
        lp.col_cost_ = np.zeros(self.size)
        lp.col_lower_, lp.col_upper_ = np.zeros(self.size), np.ones(self.size)
        lp.row_lower_ = np.full(A.shape[0], -highspy.kHighsInf)
        lp.row_upper_ = system.b_ub
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_, lp.a_matrix_.index_ = A.indptr, A.indices
        lp.a_matrix_.value_ = A.data
        self.highs = highspy.Highs()
        for option, value in (("output_flag", False), ("presolve", "off"), ("threads", 1)):
            self.highs.setOptionValue(option, value)
        self.highs.passModel(lp)
        self.numbers = np.arange(self.size, dtype=np.int32)

    def argmin(self, costs) -> np.ndarray:
        """A point of least cost for each row; shape (n, labels + edges)."""
        points = np.empty(costs.shape)
        for row, cost in enumerate(costs):
            self.highs.changeColsCost(self.size, self.numbers, cost)
            self.highs.run()
            points[row] = self.highs.getSolution().col_value
        return points


class LabelsByPrograms(PairwiseLabels):
    """The same labels and pairs, with every relaxation solved by HiGHS."""


class SolvingByPrograms(SolvingOfPairs):
    __slots__ = ()

    @kept
    def polytope(self):
        return LocalPolytope(len(self.space.labels_), self.space.edges_)

    def argmin_relaxed_shared(self, node_costs, edge_costs) -> Decoded:
        edges = np.broadcast_to(edge_costs, (len(node_costs), len(self.space.edges_)))
        costs = np.hstack([node_costs, edges])
        points = self.polytope.argmin(costs)
        values = (points * costs).sum(axis=1)
        return Decoded(points, values, values)


Solving.at(LabelsByPrograms, SolvingByPrograms)


class NetworkByPrograms(MaxMarginNetwork):
    """The same training with another oracle."""

    def _new_space(self, y):
        return LabelsByPrograms("full" if self.space is None else self.space)


class TreeByPrograms(MaxMarginTree):
    """The same training with another oracle."""

    def _space_of(self, graph):
        if graph != "full":
            return super()._space_of(graph)
        space = LabelsByPrograms(graph, labels=self.space_.labels_)
        space.format_ = self.space_.format_
        return space
