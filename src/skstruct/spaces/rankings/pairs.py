# SPDX-License-Identifier: BSD-3-Clause
"""Rankings by which item of each pair comes first."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.spaces.common.covariances import Covariance, PairScheme
from skstruct.spaces.rankings.constraints import RankConstraints
from skstruct.spaces.rankings.partial import tied_behind
from skstruct.spaces.solvers.linear_ordering import (
    MOST_ITEMS,
    improve_tops,
    linear_orders,
    min_cost_orders,
    pair_matrix,
    pair_numbers,
    pair_signs,
)


@dataclass(frozen=True)
class Pairs:
    """psi(z)[p, q] = +1 where p comes before q, else -1 (pairs p < q): linear ordering."""

    family = "pairs"  # what scores are of: see walking.rankings
    reversible = True  # psi of an order and of its reverse add up to a constant

    def width(self, d: int) -> int:
        return math.comb(d, 2)

    def tensor_argmin(self, d: int, constraints: RankConstraints, backend: Any) -> None:
        return None

    def embed(self, Z: np.ndarray) -> np.ndarray:
        return pair_signs(np.asarray(Z, dtype=np.float64))

    def targets(self, Y: Any) -> Any:
        return self.embed(Y)

    def decode(
        self, costs: np.ndarray, d: int, constraints: RankConstraints, prove: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        costs, n = costs[:, : math.comb(d, 2)], len(costs)
        if (constraints.has_fixed or constraints.top is not None) and d <= MOST_ITEMS:
            orders, values = self._exact(
                costs, d, constraints, constraints.allowed().swapaxes(1, 2)
            )
            return tied_behind(orders, constraints.top), values, values
        if constraints.has_fixed and constraints.has_before:
            raise ValueError(
                "Known positions together with known precedences are decoded under pairs for up "
                f"to {MOST_ITEMS} items; there are {d}. Use a loss on positions, such as Footrule."
            )
        orders, values, bounds = linear_orders(_demanded(costs, constraints, d), d, prove=prove)
        if constraints.is_free:
            return tied_behind(orders, None), values, bounds
        gaps = values - bounds
        if constraints.has_fixed:
            orders = _slotted(orders, np.broadcast_to(constraints.fixed, (n, d)))
        if constraints.top is not None:
            bounds = -np.abs(costs).sum(axis=1)
            if not constraints.has_fixed and not constraints.has_before:
                bounds = improve_tops(costs, orders, constraints.top)
        ranks = tied_behind(orders, constraints.top)
        values = np.einsum("nk,nk->n", costs, pair_signs(ranks))
        if constraints.has_fixed or constraints.top is not None:
            return ranks, values, np.minimum(bounds, values)  # more orders cost no more
        return ranks, values, values - gaps

    def _exact(
        self, costs: np.ndarray, d: int, constraints: RankConstraints, allowed: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        return min_cost_orders(
            len(costs),
            d,
            pairs=pair_matrix(costs, d),
            before=constraints.before if constraints.has_before else None,
            allowed=allowed,
            stop=constraints.top,
        )

    def best_orders(
        self, costs: np.ndarray, d: int, constraints: RankConstraints
    ) -> Callable[..., Any]:
        """The best order of each row with given items allowed at each of the first positions."""
        costs = costs[:, : math.comb(d, 2)]

        def best_within(rows: np.ndarray, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            limited = constraints.rows(rows)
            orders, values = self._exact(costs[rows], d, limited, limited.by_position(allowed))
            return orders[:, : allowed.shape[1]], values

        return best_within

    def mean(self, d: int) -> np.ndarray:
        """Mean over all orders: either item of a pair is as often first."""
        return np.zeros(self.width(d))

    def second(self, d: int) -> np.ndarray:
        """Mean of psi psi': (I + B'B) / 3, with B the signed incidence of items and pairs."""
        p, q = pair_numbers(d)
        m = np.arange(len(p))
        ends = np.repeat([1.0, -1.0], len(p)), (np.append(p, q), np.append(m, m))
        B = sparse.csr_array(ends, shape=(d, len(p)))
        return ((sparse.eye_array(len(p)) + B.T @ B) / 3).toarray()

    def covariance(self, d: int) -> Covariance | None:
        """The same by its eigenspaces."""
        return PairScheme(d, ((d + 1) / 3, 1 / 3), signed=True)


@dataclass(frozen=True)
class WeightedPairs(Pairs):
    """Pairs whose training outputs count by more than their sign.

    ``differences``: by how much one item is better; the last of the d (d - 1) / 2 + 1
    numbers is the sum of their sizes. ``share``: divided by what the row has in all.
    """

    differences: bool = False
    share: bool = False

    def width(self, d: int) -> int:
        return math.comb(d, 2) + 1

    def embed(self, Z: np.ndarray) -> np.ndarray:
        signs = super().embed(Z)
        return np.hstack([signs, np.zeros((len(signs), 1))])

    def targets(self, Y: Any) -> Any:
        """What training outputs are regressed as; CSR where most pairs are open."""
        Y = np.asarray(Y, dtype=np.float64)
        n, d = Y.shape
        if n and (~np.isnan(Y)).mean() < 0.5:
            rows = [self._sparse_row(row) for row in Y]
            ends = np.cumsum([0, *(len(data) for data, _ in rows)])
            data, columns = (np.concatenate(part) for part in zip(*rows))
            return sparse.csr_array((data, columns, ends), shape=(n, self.width(d)))
        p, q = pair_numbers(d)
        weights = np.nan_to_num(Y[:, q] - Y[:, p])
        weights = weights if self.differences else np.sign(weights)
        size = np.abs(weights).sum(axis=1, keepdims=True)
        if self.share:
            weights /= np.where(size > 0, size, 1.0)
            size = (size > 0).astype(np.float64)
        return np.hstack([weights, size])

    def _sparse_row(self, row: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same of one row, from the items that it ranks: numbers and their columns."""
        d, known = len(row), np.flatnonzero(~np.isnan(row))
        p, q = np.triu_indices(len(known), 1)
        weights = row[known[q]] - row[known[p]]
        weights = weights if self.differences else np.sign(weights)
        p, q = known[p][weights != 0], known[q][weights != 0]
        weights = weights[weights != 0]
        size = np.abs(weights).sum()
        if self.share:
            weights, size = weights / max(size, np.finfo(float).tiny), float(size > 0)
        column = p * (2 * d - p - 1) // 2 + q - p - 1
        return np.append(weights, size), np.append(column, math.comb(d, 2))

    def second(self, d: int) -> np.ndarray:
        return np.pad(super().second(d), (0, 1))

    def covariance(self, d: int) -> PairScheme | None:
        return None  # one number more


def _demanded(costs: np.ndarray, constraints: RankConstraints, d: int) -> np.ndarray:
    """Costs at which a known precedence outweighs everything else together."""
    if not constraints.has_before:
        return costs
    p, q = pair_numbers(d)
    penalty = 2 * np.abs(costs).sum(axis=1, keepdims=True)
    penalty[penalty == 0] = 1.0
    demanded = np.where(constraints.before[:, p, q], -penalty, costs)
    return np.where(constraints.before[:, q, p], penalty, demanded)


def _slotted(orders: np.ndarray, fixed: np.ndarray) -> np.ndarray:
    """Orders whose known items stand where they must, the others in the same sequence."""
    n, d = orders.shape
    slotted = np.empty_like(orders)
    for i in range(n):
        items = np.flatnonzero(fixed[i])
        slotted[i, fixed[i, items] - 1] = items
        free = np.ones(d, bool)
        free[fixed[i, items] - 1] = False
        slotted[i, free] = orders[i][~np.isin(orders[i], items)]
    return slotted
