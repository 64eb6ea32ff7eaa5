# SPDX-License-Identifier: BSD-3-Clause
"""Problems of papers/decisions.py: what may be decided, and the best decision of given costs.

A problem has n_costs, ``sense`` (1 where costs are to be small, -1 where they are values to be
large) and

    decide(costs) -> decisions, values        costs (n, n_costs), decisions of 0 and 1, values (n,)

exactly. Nothing else of this experiment knows how decisions are found.
"""

from dataclasses import dataclass

import numba as nb
import numpy as np

from skstruct.spaces import Cycles


class Problem:
    """Regrets of decisions; subclasses decide."""

    sense = 1

    def decide(self, costs):
        costs = np.ascontiguousarray(costs, dtype=np.float64)
        decisions = self._best(costs)
        return decisions, np.einsum("nd,nd->n", decisions, costs)

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

    @property
    def n_costs(self):
        return self.height * (self.width - 1) + (self.height - 1) * self.width

    def _best(self, costs):
        return _grid_paths(costs, self.height, self.width)


@nb.njit(cache=True)
def _grid_paths(costs, height, width):
    found = np.zeros(costs.shape, np.int8)
    length = np.zeros((height, width))
    step = 2 * width - 1  # arcs of a row and below it
    for row in range(len(costs)):
        c = costs[row]
        for i in range(height):
            for j in range(width):
                left, up = np.inf, np.inf
                if j:
                    left = length[i, j - 1] + c[i * step + j - 1]
                if i:
                    up = length[i - 1, j] + c[(i - 1) * step + width - 1 + j]
                length[i, j] = min(left, up) if i or j else 0.0
        i, j = height - 1, width - 1
        while i or j:
            arc = i * step + j - 1
            if j and length[i, j - 1] + c[arc] == length[i, j]:
                j -= 1
            else:
                i -= 1
                arc = i * step + width - 1 + j
            found[row, arc] = 1
    return found


@dataclass(frozen=True, eq=False)
class Knapsack(Problem):
    """Items of the greatest value whose weights (n_dimensions, n_items) fit all capacities.

    Weights have two decimals at most. One dimension: a table over items and capacity; more: branch
    and bound.
    """

    weights: np.ndarray
    capacities: np.ndarray
    sense = -1

    def __post_init__(self):
        whole = np.rint(self.weights * 100).astype(np.int64)
        room = np.rint(np.asarray(self.capacities) * 100).astype(np.int64)
        divisor = np.gcd.reduce(np.append(whole, room))
        object.__setattr__(self, "_weights", whole // divisor)
        object.__setattr__(self, "_room", room // divisor)

    @property
    def n_costs(self):
        return self.weights.shape[1]

    def _best(self, values):
        if len(self._weights) == 1:
            return _knapsacks(values, self._weights[0], self._room[0])
        joint = (self._weights / self._room[:, None]).sum(axis=0)
        order = np.argsort(-values / joint, axis=1, kind="stable")
        return _multiple_knapsacks(values, self._weights, self._room, joint, order)


@nb.njit(cache=True)
def _knapsacks(values, weights, room):
    n, n_items = values.shape
    found = np.zeros((n, n_items), np.int8)
    best = np.zeros(room + 1)
    taken = np.zeros((n_items, room + 1), np.bool_)
    for row in range(n):
        best[:] = 0.0
        for item in range(n_items):
            taken[item] = False
            value, weight = values[row, item], weights[item]
            if value > 0:
                for left in range(room, weight - 1, -1):
                    if best[left - weight] + value > best[left]:
                        best[left] = best[left - weight] + value
                        taken[item, left] = True
        left = room
        for item in range(n_items - 1, -1, -1):
            if taken[item, left]:
                found[row, item] = 1
                left -= weights[item]
    return found


@nb.njit(cache=True)
def _multiple_knapsacks(values, weights, room, joint, orders):
    """Depth first, an item in before out.

    The bound is that of one knapsack with the weights sum_k w_kj / capacity_k, items divisible.
    orders (n, n_items): items by falling value / joint weight.
    """
    n, n_items = values.shape
    found = np.zeros((n, n_items), np.int8)
    taken = np.zeros(n_items, np.int8)
    left = room.copy()
    for row in range(n):
        v, order = values[row], orders[row]
        left[:] = room
        k, value, best = 0, 0.0, 0.0
        while True:
            if _bound(v, order, k, joint, left, room) + value > best:
                taken[k] = _move(order[k], weights, left, 1)
                if taken[k]:
                    value += v[order[k]]
                k += 1
                if value > best:
                    best = value
                    found[row, :] = 0
                    for i in range(k):
                        found[row, order[i]] = taken[i]
                continue
            k -= 1
            while k >= 0 and not taken[k]:
                k -= 1
            if k < 0:
                break
            taken[k] = 0
            _move(order[k], weights, left, -1)
            value -= v[order[k]]
            k += 1
    return found


@nb.njit(cache=True)
def _bound(v, order, k, joint, left, room):
    """Most that items from the k-th on can be worth; 0 where none is left."""
    space, total = 0.0, 0.0
    for i in range(len(room)):
        space += left[i] / room[i]
    for i in range(k, len(order)):
        item = order[i]
        if v[item] <= 0 or space <= 0:
            break
        share = min(1.0, space / joint[item])
        total += share * v[item]
        space -= share * joint[item]
    return total


@nb.njit(cache=True)
def _move(item, weights, left, sign):
    """Put an item in (1), if it fits, or take it out (-1); whether that was done."""
    for i in range(len(left)):
        if sign * weights[i, item] > left[i]:
            return 0
    for i in range(len(left)):
        left[i] -= sign * weights[i, item]
    return 1


@dataclass(frozen=True)
class Tours(Problem):
    """Round trips through all nodes; costs of edges above the diagonal, row by row."""

    n_nodes: int = 20

    @property
    def n_costs(self):
        return self.n_nodes * (self.n_nodes - 1) // 2

    def _best(self, costs):
        space = Cycles(self.n_nodes, directed=False).restrict(min_size=self.n_nodes)
        decoded = space.argmin(costs)
        if (decoded.bounds < decoded.values).any():
            raise ArithmeticError("A tour was not proven to be the shortest.")
        return decoded.outputs
