# SPDX-License-Identifier: BSD-3-Clause
"""Knapsacks of one constraint by a table over the capacity: best sets, counts, distributions."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.solvers.distributions import Distribution


@dataclass(frozen=True, eq=False)
class WholeWeights:
    """Weights that are whole, the room of every row, and what is known of items.

    Examples
    --------
    >>> free = np.ones((1, 3), bool)
    >>> table = WholeWeights(np.array([1, 2, 3]), np.array([3]), ~free, free)
    >>> table.count(), table.least_cost(np.array([[-2.0, -1.0, -2.5]]))[0].tolist()
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

    # ------------------------------------------------------------- all sets of one row
    def count(self) -> int:
        """Exact number of sets of the first row."""
        low, high, room = self.low[0], self.high[0], int(self.room[0])
        room -= int(self.weights[low].sum())
        if room < 0 or (low & ~high).any():
            return 0
        ways = np.zeros(room + 1, dtype=object)  # sets by what they weigh
        ways[0] = 1
        for weight in self.weights[high & ~low].tolist():
            if weight <= room:
                added = ways.copy()
                added[weight:] += ways[: room + 1 - weight]
                ways = added
        return int(ways.sum())

    def mean(self) -> np.ndarray:
        """Probability of each item when all sets are equally likely; shape (d,)."""
        return self._all_alike().marginals()[0]

    def second_moment(self) -> np.ndarray:
        """Probability of each two items together; (d, d). Row j of a batch has item j in."""
        d, mean = len(self.weights), self.mean()
        low = self.low | np.eye(d, dtype=bool)
        with_each = WholeWeights(self.weights, self.room, low, self.high)
        given = KnapsackDistribution(with_each, np.zeros((d, d))).marginals()
        moment: np.ndarray = mean[:, None] * given
        return (moment + moment.T) / 2

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` sets drawn uniformly and independently; int8 of shape (n, d)."""
        return self._all_alike().sample(n, rng)[0]

    def _all_alike(self) -> "KnapsackDistribution":
        return KnapsackDistribution(self, np.zeros((1, len(self.weights))))


class KnapsackDistribution(Distribution):
    r"""The distributions :math:`p(z) \propto \exp \langle u, z \rangle` of sets within capacities.

    With :math:`S_t(x)` the log of the sum over sets of the items from t on that fit into room x,

    .. math:: S_t(x) = \ln \bigl(\exp S_{t+1}(x) + \exp(u_t + S_{t+1}(x - w_t))\bigr).

    Parameters
    ----------
    table : WholeWeights
    scores : array u of shape (n, d)
    """

    def __init__(self, table: WholeWeights, scores: np.ndarray) -> None:
        from skstruct.spaces.knapsacks._numba_distribution import log_partitions

        self.table, self.scores = table, np.ascontiguousarray(scores, dtype=np.float64)
        self.log_partition = np.empty(len(scores))
        log_partitions(self.scores, *table.arguments, self.log_partition)

    def marginals(self) -> np.ndarray:
        from skstruct.spaces.knapsacks._numba_distribution import fill_marginals

        means = np.zeros(self.scores.shape)
        fill_marginals(self.scores, *self.table.arguments, means)
        return means

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        from skstruct.spaces.knapsacks._numba_distribution import draw_rows

        rows, d = self.scores.shape
        drawn = np.zeros((rows, n, d), np.int8)
        draw_rows(self.scores, *self.table.arguments, rng.random((rows, n, d)), drawn)
        return drawn


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
