# SPDX-License-Identifier: BSD-3-Clause
"""What is observed where decisions are judged by what they cost: a cost of every coordinate."""

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from skstruct._arrays.by_name import by_position
from skstruct._arrays.imports import is_pandas
from skstruct.saving import savable
from skstruct.spaces.base import BaseSpace
from skstruct.spaces.description import Description
from skstruct.spaces.embeddings import whole_of
from skstruct.spaces.known import Known
from skstruct.spaces.partial import PartialOutputs, are_partial, split_table
from skstruct.spaces.sklearn_target import SklearnTarget
from skstruct.spaces.solving import Solving, SolvingOfNumbers
from skstruct.spaces.targets import Targets

SENSES = {"min": 1.0, "max": -1.0}


def sign_of(sense: str) -> float:
    """1 for "min", -1 for "max"."""
    if sense not in SENSES:
        raise ValueError(f'sense is "min" or "max"; got {sense!r}.')
    return SENSES[sense]


@savable
class CostVectors(BaseSpace):
    r"""Costs of the coordinates of :math:`\psi`, one row for each decision.

    Of c the costs of a row, every decision z of a space costs :math:`\langle c, \psi(z) \rangle`.
    In canonical form a row is :math:`(c, \min_z \langle c, \psi(z) \rangle)`: what it would have
    cost to know c beforehand belongs to what was observed.

    Parameters
    ----------
    space : space of decisions
        Under the embedding that the costs are of; its constraints hold for the optimum.
    sense : "min" or "max", default="min"
        Whether the numbers are costs or values, of which much is wanted; the optimum is then the
        largest.
    with_optimum : bool, default=False
        Whether the optimum is regressed on, too.

    Examples
    --------
    >>> from skstruct.spaces import LabelSets
    >>> CostVectors(LabelSets(["bread", "milk"])).validate([[-3.0, 1.0], [2.0, 1.0]])
    array([[-3.,  1., -3.],
           [ 2.,  1.,  0.]])
    """

    @property
    def default_loss(self) -> str:
        return f"regret(sense={self.sense!r})"

    def __init__(self, space: Any, sense: str = "min", with_optimum: bool = False) -> None:
        self.space = space
        self.sense = sense
        self.with_optimum = with_optimum

    @property
    def embedding(self) -> str:  # type: ignore[override]
        return "costs and their optimum" if self.with_optimum else "costs"

    @property
    def labels_(self) -> tuple[Any, ...]:
        """Names of the coordinates, where the space has names for them."""
        names = Description.of(whole_of(self.space)).part_names()
        return () if names is None else tuple(names)

    @property
    def sign(self) -> float:
        """1 where little is wanted, -1 where much is."""
        return sign_of(self.sense)

    # ------------------------------------------------------------- reading
    def fit(self, Y: Any) -> Self:
        """Learn names that the space of decisions leaves open from the columns of a table."""
        Targets.of(whole_of(self.space)).fit_costs(_table(self, Y))
        return self

    def fit_validate(self, Y: Any) -> np.ndarray:
        return self.fit(Y).validate(Y)

    def validate(self, Y: Any) -> np.ndarray:
        """Costs with their optimum; float array of shape (n, d + 1)."""
        costs = _numbers(self, Y)
        bad = np.argwhere(~np.isfinite(costs))
        if len(bad):
            row, column = bad[0]
            name, cost = _names(self, costs.shape[1])[column], costs[row, column]
            raise ValueError(f"y[{row}], the cost of {name!r}, is {cost}: costs are finite.")
        return np.column_stack([costs, self.optima(costs)])

    def optima(self, costs: np.ndarray) -> np.ndarray:
        """Cost, or value, of the best decision for every row of costs (n, d); shape (n,)."""
        found: np.ndarray = self.space.argmin(self.full(self.sign * costs)).values
        return self.sign * found

    def full(self, costs: np.ndarray) -> np.ndarray:
        """Costs (n, d), of which little is wanted, beside those that are the space's own."""
        own = Targets.of(self.space).own_costs()
        if not len(own):
            return costs
        return np.hstack([costs, np.broadcast_to(own, (len(costs), len(own)))])

    # ------------------------------------------------------------- what is regressed on
    def embed(self, Z: np.ndarray) -> np.ndarray:
        Z = np.asarray(Z, dtype=np.float64)
        return Z if self.with_optimum else Z[:, :-1]

    def contains(self, Z: np.ndarray) -> np.ndarray:
        return np.asarray(np.isfinite(np.asarray(Z, dtype=np.float64)).all(axis=1))

    def restore(self, Z: np.ndarray, index: Any = None) -> Any:
        """The costs of canonical rows, as ``written``."""
        return self.written(np.asarray(Z)[:, :-1], index)

    def written(self, costs: np.ndarray, index: Any = None) -> Any:
        """Costs (n, d) alone, in a frame with the names of coordinates where there is an index."""
        if index is None:
            return costs
        import pandas

        columns = pandas.Index(_names(self, costs.shape[1]), tupleize_cols=False)
        return pandas.DataFrame(costs, index=index, columns=columns)

    def rows(self, index: Any) -> Self:
        return type(self)(self.space.rows(index), self.sense, self.with_optimum)

    def argmin(self, costs: np.ndarray) -> Any:
        """Costs are observed, not decided upon."""
        raise NotImplementedError("CostVectors are observed; decisions are those of their space.")


class KnownOfCosts(Known):
    """Costs of which some are missing: a row without a gap has an optimum."""

    __slots__ = ()

    def has_gaps(self, Y: Any) -> bool:
        return are_partial(Y)

    def read(self, Y: Any, known: Any = None) -> PartialOutputs:
        """What is known of costs; the space of decisions learns its names."""
        vectors: CostVectors = self.space
        table = _table(vectors, Y)
        vectors.fit(split_table(table, None, 0.0, "Costs", range)[0])
        numbers = _numbers(vectors, table)
        costs, seen = split_table(numbers, known, 0.0, "Costs", lambda d: _names(vectors, d))
        optima = np.zeros(len(costs))
        complete = np.flatnonzero(seen.all(axis=1))
        if len(complete):
            here = CostVectors(vectors.space.rows(complete), vectors.sense)
            optima[complete] = here.optima(costs[complete])
        return PartialOutputs(np.column_stack([costs, optima]), seen, seen)

    def targets(self, known: np.ndarray) -> np.ndarray | None:
        if not self.space.with_optimum:
            return known
        return np.column_stack([known, known.all(axis=1)])


def _table(vectors: CostVectors, Y: Any) -> Any:
    """A frame, or an array (n, d); tables of costs, such as (n, agents, tasks), in a row."""
    if is_pandas(Y, "DataFrame"):
        return Y
    if sparse.issparse(Y):
        Y = Y.toarray()
    costs = np.ma.filled(Y, np.nan) if isinstance(Y, np.ma.MaskedArray) else np.asarray(Y)
    if costs.ndim < 2:
        raise ValueError(
            "y holds costs, a row of numbers for each decision and a column for each "
            f"coordinate of {type(whole_of(vectors.space)).__name__}; got {_shape_of(Y, costs)}."
        )
    return costs.reshape(len(costs), -1)


def _numbers(vectors: CostVectors, Y: Any) -> np.ndarray:
    """Costs (n, d) as floats, columns of a frame by the names of the coordinates."""
    table = _table(vectors, Y)
    names = _names(vectors, table.shape[1])
    try:
        if not is_pandas(table, "DataFrame"):
            return np.asarray(table, dtype=np.float64)
        table = table.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"y holds costs, which are numbers; got {_types(table)}.") from None
    if list(table.columns) == list(range(len(names))):  # a frame without names of its own
        return np.asarray(table.to_numpy())
    used_by = f"Costs of {type(whole_of(vectors.space)).__name__}"
    return np.asarray(by_position(table, names, what="y", used_by=used_by))


def _names(vectors: CostVectors, d: int) -> list[Any]:
    """Names of d coordinates: numbers where these are others than the named parts."""
    names = vectors.labels_
    return list(names) if len(names) == d else list(range(d))


def _types(table: Any) -> str:
    of_columns = table.dtypes.tolist() if is_pandas(table, "DataFrame") else [table.dtype]
    return ", ".join(sorted(set(map(str, of_columns))))


def _shape_of(Y: Any, costs: np.ndarray) -> str:
    first = f"{Y[0]!r:.60} first" if costs.dtype == object and len(costs) else ""
    return first or f"{costs.dtype} of shape {costs.shape}"


Solving.at(CostVectors, SolvingOfNumbers)


class TargetsOfCosts(Targets):
    """Costs, and perhaps their optimum, which no decision changes."""

    __slots__ = ()

    def n_deciding(self, width: int) -> int | None:
        return width - 1 if self.space.with_optimum else None

    def outputs_of(self, observed: np.ndarray) -> np.ndarray:
        """The best decisions, once the costs are known."""
        costs = self.space.full(self.space.sign * observed[:, :-1])
        best: np.ndarray = self.space.space.argmin(costs).outputs
        return best


Targets.at(CostVectors, TargetsOfCosts)
Known.at(CostVectors, KnownOfCosts)


class DescriptionOfCosts(Description):
    """A cost of every coordinate."""

    __slots__ = ()
    part_words: ClassVar[tuple[str, str]] = ("cost", "costs")

    @property
    def usual_losses(self) -> Sequence[str]:  # type: ignore[override]
        return (f"cost(sense={self.space.sense!r})",)


Description.at(CostVectors, DescriptionOfCosts)
SklearnTarget.at(CostVectors, "skstruct.spaces.sklearn_target:Quantities")
