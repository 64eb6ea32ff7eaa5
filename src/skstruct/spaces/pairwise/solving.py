# SPDX-License-Identifier: BSD-3-Clause
"""Labels and pairs of labels over the local polytope, and with costs of pairs that rows share."""

from typing import Any

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct.spaces.base import decoded_or_infeasible
from skstruct.spaces.constraints import check_feasible, check_n_rows
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.pairwise.labels import min_cost_sets
from skstruct.spaces.solvers.pairwise.roof_duality import embed_points
from skstruct.spaces.solvers.pairwise.solve import relax, relax_fixed
from skstruct.spaces.solving import Solving


class SolvingOfPairs(Solving):
    """Roof duality bounds costs by label and by pair of labels."""

    __slots__ = ()

    def argmin_shared(self, node_costs: np.ndarray, edge_costs: np.ndarray) -> Decoded:
        space, costs = self.space, self._checked(node_costs, edge_costs)
        found = min_cost_sets(*costs, space.edges_, space.constraints, space.exact)
        return decoded_or_infeasible(*found, space)

    def argmin_relaxed(self, costs: np.ndarray) -> Decoded:
        n, m, name = len(self.space.labels_), len(self.space.edges_), type(self.space).__name__
        costs = check_costs(costs, n + m, used_by=name)
        check_n_rows(self.space.constraints_, len(costs), name)
        return self._relaxed(*(np.ascontiguousarray(part) for part in (costs[:, :n], costs[:, n:])))

    def argmin_relaxed_shared(self, node_costs: np.ndarray, edge_costs: Any) -> Decoded:
        return self._relaxed(*self._checked(node_costs, edge_costs))

    def _checked(self, node_costs: Any, edge_costs: Any) -> tuple[np.ndarray, np.ndarray]:
        n, m = len(self.space.labels_), len(self.space.edges_)
        node_costs = check_costs(node_costs, n, used_by="PairwiseLabels")
        edge_costs = np.atleast_2d(np.asarray(edge_costs, dtype=np.float64))
        edge_costs = check_costs(edge_costs, m, used_by="PairwiseLabels (pairs)")
        if len(edge_costs) != 1:
            raise ValueError(
                f"PairwiseLabels expects one cost per pair, shape ({m},); "
                f"got shape {edge_costs.shape}. argmin takes costs of pairs row by row."
            )
        check_n_rows(self.space.constraints_, len(node_costs), type(self.space).__name__)
        return node_costs, edge_costs

    def _relaxed(self, node_costs: np.ndarray, edge_costs: np.ndarray) -> Decoded:
        costs, constraints = (node_costs, edge_costs, self.space.edges_), self.space.constraints
        if constraints is None or not constraints.is_masked:
            points = relax(*costs)
        else:
            check_feasible(~(constraints.low & ~constraints.high).any(axis=1), self.space)
            points = relax_fixed(*costs, constraints.low, constraints.high)
        embedded, values = embed_points(points, *costs)
        return Decoded(embedded, values, values)
