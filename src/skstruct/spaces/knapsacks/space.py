# SPDX-License-Identifier: BSD-3-Clause
"""Sets of items within capacities."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from skstruct.saving import savable
from skstruct.spaces.constraints import check_feasible, check_size, label_mask
from skstruct.spaces.description import Description
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.indicator_sets.decoding import with_limits
from skstruct.spaces.inference import Inference, OwnDistribution, listed_distribution
from skstruct.spaces.knapsacks.constraints import KnapsackConstraints
from skstruct.spaces.knapsacks.table import WholeWeights
from skstruct.spaces.knapsacks.weights import (
    constraint_names,
    read_capacities,
    read_capacity,
    read_weights,
    sizes_of,
    whole_units,
)
from skstruct.spaces.label_sets.space import IndicatorSpace
from skstruct.spaces.solvers.binary_programs import BinaryProgram
from skstruct.spaces.solvers.dags import Dag
from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.solving import Solving
from skstruct.spaces.uniform import Uniform
from skstruct.tolerances import FEASIBLE

QUICK_TABLE = 2**14  # entries up to which a table is always filled: the search is no quicker
LARGEST_TABLE = 2**25  # entries of one row that are filled at all
SUMMED_TABLE = 2**20  # entries that are summed though there are few items: a list is no quicker
FEW_ITEMS = 16  # whose sets are rather listed than summed over a larger table


@savable
class Knapsacks(IndicatorSpace):
    r"""Sets of items within capacities: 0/1 vectors with :math:`W z \le b`, :math:`W \ge 0`.

    A set is its own embedding, :math:`\psi(z) = z`: costs are prices less values, and minimizing
    :math:`\langle c, z \rangle` packs what is worth most. Always exact. One constraint with whole
    weights, or weights that are multiples of one unit, is solved by dynamic programming over a
    small capacity [1]_. All others are searched, with bounds by the multipliers of the linear
    relaxation (for one constraint, Dantzig's); HiGHS takes over where a search is too long.

    Parameters
    ----------
    weights : array of shape (d,) or (m, d), Series, DataFrame with a column per item, or dict
        What each item weighs, at least 0; with m rows in each of m constraints. A dict has a
        number, or a sequence of m numbers, for every name.
    capacity : number, array of shape (m,), or dict or Series by the index of a frame of weights
        May be infinite. Sums are compared up to rounding, 1e-9 of the capacity.
    labels : sequence, default=None
        Names of the items; those that weights bring, or numbers, when None.
    constraints : KnapsackConstraints, default=None
        Further constraints, made by :meth:`restrict`.

    References
    ----------
    .. [1] S. Martello, P. Toth, "Knapsack Problems: Algorithms and Computer Implementations",
       Wiley, 1990.

    Examples
    --------
    >>> space = Knapsacks({"tent": 3, "stove": 1, "rope": 2}, capacity=4)
    >>> costs = np.array([[-3.0, -2.0, -2.5]])  # minus what each is worth
    >>> space.argmin(costs).outputs, space.argmin(costs).values
    (array([[1, 1, 0]], dtype=int8), array([-5.]))
    >>> space.restrict(capacity=3, exclude=["tent"]).argmin(costs).outputs
    array([[0, 1, 1]], dtype=int8)
    >>> space.size(), space.kbest(costs, 2).values
    (6, array([[-5. , -4.5]]))
    """

    _from_parameters = ("_read_weights", "_room", "_units", "_normal")
    _from_constraints = ("_searched",)
    _constraints_rest_on = ("weights", "capacity", "labels")
    _constraints_kind: ClassVar[type] = KnapsackConstraints

    def __init__(
        self,
        weights: Any,
        capacity: Any,
        *,
        labels: Iterable[Any] | None = None,
        constraints: KnapsackConstraints | None = None,
    ) -> None:
        self.weights = weights
        self.capacity = capacity
        self.labels = labels
        self.constraints = constraints

    # ------------------------------------------------------------- items
    @cached_property
    def _read_weights(self) -> tuple[np.ndarray, tuple[Any, ...]]:
        return read_weights(self.weights, self.labels)

    @cached_property
    def _room(self) -> np.ndarray:
        return read_capacity(self.capacity, len(self.weights_), constraint_names(self.weights))

    @property
    def weights_(self) -> np.ndarray:
        """Weights of shape (m, d), a row per constraint."""
        return self._read_weights[0]

    @property
    def labels_(self) -> tuple[Any, ...]:
        return self._read_weights[1]

    @cached_property
    def dag_(self) -> Dag:
        return Dag(len(self.labels_), [], [])

    @property
    def constraints_(self) -> KnapsackConstraints:
        """What predicted sets must obey, the capacity included."""
        if self.constraints is None:
            return KnapsackConstraints.within_capacity(len(self.labels_), self._room[None])
        return self.constraints

    def _constraints_sizes(self) -> tuple[Any, ...]:
        return self.dag_.n_nodes, len(self.labels_), len(self.weights_)

    # ------------------------------------------------------------- members
    @property
    def _slack(self) -> np.ndarray:
        """By how much sums of weights may exceed a capacity; shape (m,)."""
        return FEASIBLE * sizes_of(self.weights_, self._room)

    def _fit(self, Y: Any) -> np.ndarray:
        Z = super()._fit(Y)
        self._check_members(Z)
        return Z

    def validate(self, Y: Any) -> np.ndarray:
        """Outputs in canonical form: an int8 array of shape (n, d), one column per item.

        Sets over the capacity are an error; other constraints are for predictions alone.
        """
        Z = super().validate(Y)
        self._check_members(Z)
        return Z

    def _check_members(self, Z: np.ndarray) -> None:
        loads = Z @ self.weights_.T
        over = np.argwhere(loads > self._room + self._slack)
        if len(over):
            row, i = over[0]
            which = f" of constraint {i}" if len(self._room) > 1 else ""
            raise ValueError(
                f"Knapsacks: Y[{row}] weighs {loads[row, i]:.6g}, more than the capacity{which}, "
                f"{self._room[i]:.6g}."
            )

    def contains(self, Z: np.ndarray) -> np.ndarray:
        """Whether each row is an output of this space, constraints included; shape (n,)."""
        inside = super().contains(Z)
        loads = np.asarray(Z, dtype=np.float64) @ self.weights_.T
        fits: np.ndarray = (loads <= self.constraints_.capacity + self._slack).all(axis=1)
        return inside & fits

    # ------------------------------------------------------------- decoding
    @cached_property
    def _units(self) -> tuple[np.ndarray, float] | None:
        """Weights in whole units, where there is one constraint and such a unit."""
        if len(self.weights_) > 1:
            return None
        return whole_units(self.weights_[0], float(sizes_of(self.weights_, self._room)[0]))

    def _table(self, constraints: KnapsackConstraints) -> WholeWeights | None:
        """The sets by what they weigh, where weights are whole and nothing else is counted."""
        if self._units is None or constraints.is_sized or constraints.groups:
            return None
        weights, unit = self._units
        most = unit * weights.sum()
        room = np.minimum(constraints.capacity[:, 0], most) + self._slack[0] / 4
        table = WholeWeights(
            weights,
            np.floor(np.maximum(room / unit, -1.0)).astype(np.int64),
            constraints.low,
            constraints.high,
        )
        return table if table.work <= LARGEST_TABLE else None

    def _summed(self, constraints: KnapsackConstraints) -> WholeWeights | None:
        """The table by which sets are counted and drawn; None where they are listed."""
        table = self._table(constraints)
        long = table is not None and table.work > SUMMED_TABLE
        return None if long and len(self.labels_) <= FEW_ITEMS else table

    @cached_property
    def _normal(self) -> BinaryProgram:
        """The capacities as a program in which each constraint is of size one."""
        size = sizes_of(self.weights_, self._room)[:, None]
        d = len(self.labels_)
        none = sparse.csr_array((0, d)), np.zeros(0)
        return BinaryProgram(sparse.csr_array(self.weights_ / size), np.zeros(len(size)), *none)

    @cached_property
    def _searched(self) -> BinaryProgram:
        return with_limits(self._normal, self.dag_, self.constraints_)

    def _decode(
        self, costs: np.ndarray, constraints: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        table = self._table(constraints)
        if table is not None and table.work <= QUICK_TABLE:
            outputs, feasible = table.least_cost(costs)
            values = np.where(feasible, (costs * outputs).sum(axis=1), np.inf)
            return outputs, values, values
        if table is None:
            return self._search(costs, constraints)
        outputs, values, unsolved = self._search_first(costs, constraints)
        if len(unsolved):
            best, feasible = table.rows(unsolved).least_cost(costs[unsolved])
            outputs[unsolved] = best
            found = (costs[unsolved] * best).sum(axis=1)
            values[unsolved] = np.where(feasible, found, np.inf)
        return outputs, values, values

    def _sides(self, constraints: KnapsackConstraints) -> np.ndarray:
        """Right-hand sides of the program that is searched; (1 or n, m and what limits add)."""
        size = sizes_of(self.weights_, self._room)
        room = np.minimum(constraints.capacity, self.weights_.sum(axis=1)) / size
        limits = self._searched.b_ub[len(size) :]
        return np.hstack([room, np.broadcast_to(limits, (len(room), len(limits)))])

    def _search(
        self, costs: np.ndarray, constraints: KnapsackConstraints
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        sides = self._sides(constraints)
        return self._searched.solve_rows(costs, constraints.low, constraints.high, sides)

    def _search_first(
        self, costs: np.ndarray, constraints: KnapsackConstraints
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Outputs, values, and which rows the search has left to the table."""
        sides = self._sides(constraints)
        return self._searched.search_rows(costs, constraints.low, constraints.high, sides)

    def restrict(
        self,
        *,
        include: Any = None,
        exclude: Any = None,
        min_size: int | None = None,
        max_size: int | None = None,
        exclusive: Iterable[Any] | None = None,
        capacity: Any = None,
    ) -> Self:
        """The same space, narrowed.

        Parameters
        ----------
        include, exclude : names of items, the same for all rows or a collection per row
            Items that are packed, with their weights, and items that are not there; also 0/1
            arrays of shape (n, d). A single row of them serves all rows.
        min_size, max_size : int
            Constraints on the number of items.
        exclusive : list of groups of names
            At most one item of each group.
        capacity : number, (m,) or (n, m); with one constraint also (n,)
            What is left of the capacity, where that is less.
        """
        name = type(self).__name__
        constraints = self.constraints_.narrow(
            low=label_mask(include, self.labels_, "include", name),
            high=~label_mask(exclude, self.labels_, "exclude", name),
            min_size=check_size(min_size, "min_size", name),
            max_size=check_size(max_size, "max_size", name),
            groups=self._groups(exclusive),
            one_path=False,
            capacity=None
            if capacity is None
            else read_capacities(capacity, len(self.weights_), constraint_names(self.weights)),
        )
        return self._limited(constraints)

    def distribution(self, scores: Any) -> Distribution | None:
        r"""The distributions :math:`p(z) \propto \exp \langle u, z \rangle`; scores u (n, d).

        By dynamic programming over the capacity, with one constraint of whole weights; by a list
        of all sets otherwise, or None where there are too many.
        """
        scores = self._checked_scores(scores, len(self.labels_))
        table = self._summed(self.constraints_)
        if table is None:
            return listed_distribution(self, scores)
        found = table.distribution(scores)
        check_feasible(np.isfinite(found.log_partition), self)
        return found


Solving.at(Knapsacks, "skstruct.spaces.knapsacks.solving:SolvingOfKnapsacks")
Description.at(Knapsacks, "skstruct.spaces.knapsacks.description:DescriptionOfKnapsacks")
Uniform.at(Knapsacks, "skstruct.spaces.knapsacks.uniform:UniformOfKnapsacks")
Embeddings.at(Knapsacks, "skstruct.spaces.indicator_sets.coordinates:EmbeddingsOfPrograms")
Inference.at(Knapsacks, OwnDistribution)
