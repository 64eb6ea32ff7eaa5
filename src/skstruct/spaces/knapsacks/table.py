# SPDX-License-Identifier: BSD-3-Clause
"""Knapsacks of one constraint by a table over the capacity: best sets, counts, distributions."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.solvers.state_graphs import PathDistribution, StateGraph


@dataclass(frozen=True, eq=False)
class WholeWeights:
    """Weights that are whole, the room of every row, and what is known of items.

    Examples
    --------
    >>> free = np.ones((1, 3), bool)
    >>> table = WholeWeights(np.array([1, 2, 3]), np.array([3]), ~free, free)
    >>> table.alike().total, table.least_cost(np.array([[-2.0, -1.0, -2.5]]))[0].tolist()
    (5, [[1, 1, 0]])
    """

    weights: np.ndarray  # int64, shape (d,)
    room: np.ndarray  # int64, shape (1 or n,)
    low: np.ndarray  # bool, shape (1 or n, d): items that must be in
    high: np.ndarray  # bool, shape (1 or n, d): items that may be in

    @property
    def work(self) -> int:
        """Entries of the table of one row."""
        return len(self.weights) * (int(self.room.max()) + 1)

    @property
    def arguments(self) -> tuple[np.ndarray, ...]:
        """As kernels take them, each of one type."""
        masks = (np.array(mask, dtype=bool, order="C") for mask in (self.low, self.high))
        return self.weights, self.room, *masks

    def rows(self, index: np.ndarray) -> "WholeWeights":
        """The same for some rows."""
        parts = (a if len(a) == 1 else a[index] for a in (self.room, self.low, self.high))
        return WholeWeights(self.weights, *parts)

    def least_cost(self, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The best set of every row, int8 (n, d), and whether there is one, (n,)."""
        from skstruct.spaces.knapsacks._numba import fill_rows

        costs = np.array(costs, dtype=np.float64, order="C")
        outputs, feasible = np.zeros(costs.shape, np.int8), np.empty(len(costs), bool)
        fill_rows(costs, *self.arguments, outputs, feasible)
        return outputs, feasible

    # ------------------------------------------------------------- all sets
    def graph(self, low: Any = None, high: Any = None) -> StateGraph:
        """All sets, item by item: the level of a state is the room that is left."""
        d, room = len(self.weights), np.maximum(self.room, 0)
        final = np.full(int(room.max()) + 1, self.room.max() >= 0)
        items, sizes = np.arange(d), -self.weights
        most = np.append(room.max(), room)  # of all starts the first is the graph's own
        onward = items + 1
        return StateGraph.of_choices(items, onward, onward, sizes, final, d, most, low, high)

    def alike(self) -> StateGraph:
        """The sets of the first row."""
        return self.rows(np.array([0])).graph(self.low[0], self.high[0])

    def distribution(self, scores: np.ndarray) -> Distribution:
        r"""The distributions :math:`p(z) \propto \exp \langle u, z \rangle`; scores u (n, d)."""
        high = self.high & (self.room >= 0)[:, None]  # no room for nothing: no set
        low = self.low | (self.room < 0)[:, None]
        return PathDistribution(self.graph(), scores, low, high, np.maximum(self.room, 0))


def list_fillings(
    weights: np.ndarray, room: np.ndarray, constraints: Any, limit: int
) -> np.ndarray | None:
    """All sets of items within the room (m,), int8 (count, d); None where there are more.

    Item by item: whatever fits with none of the later items is a set itself, unless it is too
    small, and those that stay too small are dropped on the way.
    """
    low, high = constraints.low[0], constraints.high[0]
    rows: np.ndarray = low[None].astype(np.int8)
    if (weights @ low > room).any() or (low & ~high).any():
        return rows[:0]
    used, size, open_items = weights @ rows.T, rows.sum(axis=1), np.flatnonzero(high & ~low)
    for t, j in enumerate(open_items):
        fits = (used + weights[:, [j]] <= room[:, None]).all(axis=0) & (size < constraints.largest)
        for group in constraints.groups:
            if j in group:
                fits &= ~rows[:, group].any(axis=1)
        added = rows[fits]
        added[:, j] = 1
        rows = np.concatenate([rows, added])
        used = np.hstack([used, used[:, fits] + weights[:, [j]]])
        size = np.concatenate([size, size[fits] + 1])
        enough = size + len(open_items) - t - 1 >= constraints.smallest
        rows, used, size = rows[enough], used[:, enough], size[enough]
        if len(rows) > limit:
            return None
    return rows[constraints.allow(rows)]
