# SPDX-License-Identifier: BSD-3-Clause
"""Problems of papers/decisions.py: what may be decided, and the best decision of given costs.

A problem has ``n_costs``, ``sense`` (1 where costs are to be small, -1 where they are values to be
large), the space of its decisions, and

    decide(costs) -> decisions, values        costs (n, n_costs), decisions of 0 and 1, values (n,)

exactly. Nothing else of this experiment knows how decisions are found.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skstruct.spaces import Cycles, Knapsacks, ShortestPaths


class Problem:
    """Regrets of decisions; subclasses bring ``space``."""

    sense = 1

    @property
    def n_costs(self):
        return len(self.space.labels_)

    def decide(self, costs):
        costs = np.ascontiguousarray(costs, dtype=np.float64)
        decisions = self._best(costs)
        return decisions, np.einsum("nd,nd->n", decisions, costs)

    def _best(self, costs):
        return self.space.argmin(self.sense * costs).outputs

    def regrets(self, costs, decisions):
        """What decisions cost more than the best ones (n,), and what the best ones cost (n,)."""
        _, best = self.decide(costs)
        return self.sense * (np.einsum("nd,nd->n", decisions, costs) - best), best

    def relative_regret(self, costs, decisions):
        """sum of regrets / sum of |optimum|: PyEPO's normalised regret."""
        regrets, best = self.regrets(costs, decisions)
        return float(regrets.sum() / np.abs(best).sum())


@dataclass(frozen=True)
class GridPaths(Problem):
    """Paths from the first to the last corner of a grid, to the right and downwards.

    Costs are in PyEPO's order: of each row first its arcs to the right, then those downwards.
    """

    height: int = 5
    width: int = 5

    @cached_property
    def space(self):
        return ShortestPaths.grid(self.height, self.width)


@dataclass(frozen=True, eq=False)
class Knapsack(Problem):
    """Items of the greatest value whose weights (n_dimensions, n_items) fit all capacities."""

    weights: np.ndarray
    capacities: np.ndarray
    sense = -1

    @cached_property
    def space(self):
        return Knapsacks(self.weights, self.capacities)


@dataclass(frozen=True)
class Tours(Problem):
    """Round trips through all nodes; costs of edges above the diagonal, row by row."""

    n_nodes: int = 20

    @cached_property
    def space(self):
        return Cycles(self.n_nodes, directed=False).restrict(include=range(self.n_nodes))

    @property
    def n_costs(self):
        return self.n_nodes * (self.n_nodes - 1) // 2

    def _best(self, costs):
        decoded = self.space.argmin(costs)
        if (decoded.bounds < decoded.values).any():
            raise ArithmeticError("A tour was not proven to be the shortest.")
        return decoded.outputs
