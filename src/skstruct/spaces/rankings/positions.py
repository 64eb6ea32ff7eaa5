# SPDX-License-Identifier: BSD-3-Clause
"""Rankings by the position of each item: its rank, or an indicator for every position."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.exceptions import InfeasibleError
from skstruct.spaces.common.covariances import Covariance, Exchangeable, GridScheme
from skstruct.spaces.rankings.constraints import RankConstraints
from skstruct.spaces.rankings.partial import expected_ranks, is_total, position_shares, tied_behind
from skstruct.spaces.solvers.assignment import min_cost_assignments
from skstruct.spaces.solvers.binary_programs import BinaryProgram
from skstruct.spaces.solvers.linear_ordering import MOST_ITEMS, min_cost_orders, ranks_of


def min_cost_by_program(
    positions: np.ndarray, *, before: np.ndarray, allowed: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Best order of every row, its value (infinite where infeasible) and a lower bound.

    x[i, t] says that item i is at position t. "a before b" reads: b has come by t + 1
    only if a has come by t.

    Parameters
    ----------
    positions : array of shape (n, d, d)
        Cost of item i at position t.
    before : bool array of shape (n or 1, d, d)
    allowed : bool array of shape (n or 1, d, d)
        ``allowed[:, t, i]``: whether item i may stand at position t.

    Returns
    -------
    orders : int array of shape (n, d), best item first
    values, bounds : arrays of shape (n,)
    """
    n, d, _ = positions.shape
    orders = np.zeros((n, d), np.int64)
    values, bounds = np.full(n, np.inf), np.full(n, np.inf)
    program, known = None, None
    for row in range(n):
        demanded = before[min(row, len(before) - 1)]
        if program is None or (demanded != known).any():
            program, known = _program(demanded), demanded
        high = allowed[min(row, len(allowed) - 1)].T.ravel()
        try:
            point, bounds[row] = program.solve(positions[row].ravel(), high=high)
        except InfeasibleError:
            continue
        orders[row] = point.reshape(d, d).argmax(axis=0)
        values[row] = positions[row].ravel() @ point
    return orders, values, bounds


def _program(before: np.ndarray) -> BinaryProgram:
    d = len(before)
    once = sparse.kron(sparse.eye_array(d), np.ones((1, d)))
    filled = sparse.kron(np.ones((1, d)), sparse.eye_array(d))
    first, second = np.nonzero(before)
    m = len(first)
    # by[t, s] = 1 for s <= t: sums an item's row into "has come by t".
    by = np.tril(np.ones((d, d)))
    earlier = np.vstack([np.zeros(d), by[:-1]])
    pick = np.arange(m), np.ones(m)
    take_first = sparse.csr_array((pick[1], (pick[0], first)), shape=(m, d))
    take_second = sparse.csr_array((pick[1], (pick[0], second)), shape=(m, d))
    A_ub = sparse.csr_array(sparse.kron(take_second, by) - sparse.kron(take_first, earlier))
    A_eq = sparse.csr_array(sparse.vstack([once, filled]))
    return BinaryProgram(A_ub, np.zeros(m * d), A_eq, np.ones(2 * d))


class PositionEmbedding:
    """What positions and ranks share: a cost of every item at every position."""

    family = "positions"  # what scores are of: see walking.rankings
    reversible = False  # psi of an order and of its reverse add up to a constant

    def targets(self, Y: Any) -> Any:
        return self.embed(Y)

    @abstractmethod
    def embed(self, Z: np.ndarray) -> Any:
        """psi, shape (n, width)."""

    @abstractmethod
    def full_positions(self, costs: np.ndarray, d: int) -> np.ndarray:
        """Costs of item j at position k, all positions counted; shape (n, d, d)."""

    @abstractmethod
    def from_positions(self, probabilities: np.ndarray) -> np.ndarray:
        """Mean of psi, (n, width), from the probability of item j at position k, (n, d, d)."""

    def positions(self, costs: np.ndarray, d: int, top: int | None) -> np.ndarray:
        """Costs of item j at position k, (n, d, d); beyond the top their mean."""
        positions = self.full_positions(costs, d)
        if top is not None:
            positions = positions.copy()
            positions[:, :, top:] = positions[:, :, top:].mean(axis=2, keepdims=True)
        return positions

    def decode(
        self, costs: np.ndarray, d: int, constraints: RankConstraints, prove: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Ranks, values (infinite where infeasible) and bounds."""
        positions = self.positions(costs, d, constraints.top)
        if not constraints.has_before:
            allowed = constraints.allowed() if constraints.has_fixed else None
            columns, values = min_cost_assignments(positions, allowed)
            return tied_behind(ranks_of(columns), constraints.top), values, values
        limited = {"before": constraints.before, "allowed": constraints.allowed().swapaxes(1, 2)}
        if d <= MOST_ITEMS:
            orders, values = self._by_table(positions, limited, constraints.top)
            return tied_behind(orders, constraints.top), values, values
        orders, values, bounds = min_cost_by_program(positions, **limited)
        return tied_behind(orders, constraints.top), values, bounds

    def tensor_argmin(
        self, d: int, constraints: RankConstraints, backend: Any
    ) -> Callable[..., Any] | None:
        """As ``Solving.tensor_argmin``, of rankings of d items."""
        return None

    @staticmethod
    def _by_table(
        positions: np.ndarray, limited: dict[str, Any], top: int | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Orders by dynamic programming, which leaves out what items beyond the top cost."""
        n, d, _ = positions.shape
        if top is None:
            return min_cost_orders(n, d, positions=positions, **limited)
        rest = positions[:, :, -1]
        orders, gains = min_cost_orders(
            n, d, positions=positions - rest[:, :, None], **limited, stop=top
        )
        return orders, gains + rest.sum(axis=1)

    def best_orders(
        self, costs: np.ndarray, d: int, constraints: RankConstraints
    ) -> Callable[..., Any]:
        """The best order of each row with given items allowed at each of the first positions."""
        positions = self.positions(costs, d, constraints.top)

        def best_within(rows: np.ndarray, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            limited = constraints.rows(rows)
            fixed = {"before": limited.before, "allowed": limited.by_position(allowed)}
            orders, values = self._by_table(positions[rows], fixed, constraints.top)
            return orders[:, : allowed.shape[1]], values

        return best_within

    def best_assignments(
        self, costs: np.ndarray, d: int, constraints: RankConstraints
    ) -> Callable[..., Any]:
        """The best positions of each row with given positions allowed for each item."""
        positions = self.positions(costs, d, None)

        def best_within(rows: np.ndarray, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return min_cost_assignments(positions[rows], allowed & constraints.rows(rows).allowed())

        return best_within


@dataclass(frozen=True)
class Ranks(PositionEmbedding):
    """psi(z) = the rank of every item (d numbers): a sort decodes it."""

    family = "ranks"
    reversible = True

    def width(self, d: int) -> int:
        return d

    def embed(self, Z: np.ndarray) -> Any:
        return expected_ranks(Z)

    def full_positions(self, costs: np.ndarray, d: int) -> np.ndarray:
        return costs[:, :, None] * np.arange(1.0, d + 1)

    def from_positions(self, probabilities: np.ndarray) -> np.ndarray:
        return probabilities @ np.arange(1.0, probabilities.shape[2] + 1)

    def decode(
        self, costs: np.ndarray, d: int, constraints: RankConstraints, prove: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if constraints.has_before:
            return super().decode(costs, d, constraints, prove)
        # Expensive items first (rearrangement inequality): known items keep to their positions.
        fixed = np.broadcast_to(constraints.fixed, costs.shape)
        free = fixed == 0
        items = np.argsort(np.where(free, -costs, np.inf), axis=1, kind="stable")
        here = np.zeros(costs.shape, bool)
        row, item = np.nonzero(~free)
        here[row, fixed[row, item] - 1] = True
        positions = np.argsort(here, axis=1, kind="stable") + 1  # the free ones first
        ranks = np.empty(costs.shape)
        np.put_along_axis(ranks, items, positions, axis=1)
        ranks[row, item] = fixed[row, item]
        ranks = tied_behind(np.argsort(ranks, axis=1), constraints.top)
        values = np.einsum("nd,nd->n", costs, ranks)
        return ranks, values, values

    def tensor_argmin(
        self, d: int, constraints: RankConstraints, backend: Any
    ) -> Callable[..., Any] | None:
        if constraints.has_before or constraints.has_fixed:
            return None
        from skstruct.spaces.solvers.on_device import ranks_argmin

        return ranks_argmin(d, constraints.top, backend)

    def mean(self, d: int) -> np.ndarray:
        """Mean over all orders."""
        return np.full(d, (d + 1) / 2)

    def second(self, d: int) -> np.ndarray:
        """Mean of psi psi'."""
        second = np.full((d, d), (d + 1) * (3 * d + 2) / 12)
        np.fill_diagonal(second, (d + 1) * (2 * d + 1) / 6)
        return second

    def covariance(self, d: int) -> Covariance | None:
        """Variances (d^2 - 1) / 12 and covariances -(d + 1) / 12: ranks have a fixed sum."""
        return Exchangeable(0.0, d * (d + 1) / 12, d)


@dataclass(frozen=True)
class RatedRanks(Ranks):
    """Ranks, where training outputs are complete ratings: a sort decodes these, too.

    Differences of ratings over pairs add up to sum_q y_q (2 z_q - d - 1). The last of the
    d + 1 numbers is the sum of all differences; ``share`` divides by it.
    """

    share: bool = False

    def width(self, d: int) -> int:
        return d + 1

    def embed(self, Z: np.ndarray) -> Any:
        return np.pad(super().embed(Z), ((0, 0), (0, 1)))

    def targets(self, Y: Any) -> Any:
        Y = np.asarray(Y, dtype=np.float64)
        Y = Y - Y.mean(axis=1, keepdims=True)  # sum_q (2 z_q - d - 1) = 0: a shift costs nothing
        d = Y.shape[1]
        size = np.sort(Y, axis=1) @ (2 * np.arange(1.0, d + 1) - d - 1)[:, None]
        if not self.share:
            return np.hstack([Y, size])
        return np.hstack([Y / np.where(size > 0, size, 1.0), size > 0])

    def full_positions(self, costs: np.ndarray, d: int) -> np.ndarray:
        return super().full_positions(costs[:, :d], d)

    def from_positions(self, probabilities: np.ndarray) -> np.ndarray:
        return np.pad(super().from_positions(probabilities), ((0, 0), (0, 1)))

    def decode(
        self, costs: np.ndarray, d: int, constraints: RankConstraints, prove: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return super().decode(costs[:, :d], d, constraints, prove)

    def mean(self, d: int) -> np.ndarray:
        return np.append(super().mean(d), 0.0)

    def second(self, d: int) -> np.ndarray:
        return np.pad(super().second(d), (0, 1))

    def covariance(self, d: int) -> Exchangeable | None:
        return None  # one number more


@dataclass(frozen=True)
class Positions(PositionEmbedding):
    """psi(z)[j, k] = 1 where item j is k-th (d * d numbers): an assignment decodes it."""

    def width(self, d: int) -> int:
        return d * d

    def embed(self, Z: np.ndarray) -> Any:
        Z = np.asarray(Z, dtype=np.float64)
        n, d = Z.shape
        if not is_total(Z).all():
            return position_shares(Z).reshape(n, d * d)
        columns = (np.arange(d) * d + Z - 1).astype(np.int64).ravel()
        shape = n, d * d
        return sparse.csr_array((np.ones(n * d), columns, np.arange(0, n * d + 1, d)), shape=shape)

    def full_positions(self, costs: np.ndarray, d: int) -> np.ndarray:
        return costs.reshape(len(costs), d, d)

    def from_positions(self, probabilities: np.ndarray) -> np.ndarray:
        return probabilities.reshape(
            len(probabilities), probabilities.shape[1] * probabilities.shape[2]
        )

    def tensor_argmin(
        self, d: int, constraints: RankConstraints, backend: Any
    ) -> Callable[..., Any] | None:
        # Positions beyond the top are all alike: only the host knows which of equals it takes.
        if constraints.has_before or constraints.has_fixed or constraints.top is not None:
            return None
        from skstruct.spaces.rankings.assignment_on_device import positions_argmin

        return positions_argmin(d, backend)

    def mean(self, d: int) -> np.ndarray:
        """Mean over all orders."""
        return np.full(d * d, 1.0 / d)

    def second(self, d: int) -> np.ndarray:
        """Mean of psi psi': two items at two positions, or one at one."""
        different = 1.0 - np.eye(d)
        second = np.kron(different, different)
        second /= max(d * (d - 1), 1)
        second.flat[:: d * d + 1] = 1.0 / d
        return second

    def covariance(self, d: int) -> Covariance | None:
        """(I - 11'/d) x (I - 11'/d) / (d - 1): rows and columns have fixed sums."""
        return GridScheme(d, d, (0.0, 0.0, 0.0, 1 / max(d - 1, 1)))
