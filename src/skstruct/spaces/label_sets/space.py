# SPDX-License-Identifier: BSD-3-Clause
"""Subsets of labels: the base class of 0/1 outputs closed in a graph, and plain label sets."""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from skstruct._arrays.stopping import Limit, check_cancelled
from skstruct.saving import savable
from skstruct.spaces.base import check_k, check_proven, decoded_or_infeasible
from skstruct.spaces.common.covariances import Covariance, Exchangeable, Scalar
from skstruct.spaces.common.formats import LabelSetFormat, check_distinct, read_label_sets
from skstruct.spaces.constraints import (
    Constraints,
    check_feasible,
    check_restricted,
    check_size,
    label_groups,
    label_mask,
)
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.coordinates import Coordinates
from skstruct.spaces.description import Description
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.indicator_sets.counting import UniformSets
from skstruct.spaces.indicator_sets.decoding import (
    keep_group_winners,
    limit_constraints,
    min_cost_subsets,
    threshold,
)
from skstruct.spaces.inference import Inference
from skstruct.spaces.known import Known
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.sklearn_target import SklearnTarget
from skstruct.spaces.solvers.binary_programs import BinaryProgram
from skstruct.spaces.solvers.dags import Dag
from skstruct.spaces.solvers.k_best import k_best
from skstruct.spaces.solving import Solving
from skstruct.spaces.targets import Targets


class IndicatorSpace(UniformSets):
    """Sets of named labels as 0/1 rows, each its own embedding.

    A child brings ``labels_``, ``dag_`` (sets hold the parents of their members),
    ``constraints_`` and ``_decode``; everything else is here.
    """

    embedding = "indicators"
    default_loss = "hamming"
    format_: Any  # how outputs are written
    _constraints_kind: ClassVar[type] = Constraints

    @abstractmethod
    def _decode(
        self, costs: np.ndarray, constraints: Constraints
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Outputs, values (infinite where infeasible) and bounds."""

    # ------------------------------------------------------------- the user's format
    @property
    def _format(self) -> LabelSetFormat:
        return getattr(self, "format_", LabelSetFormat())

    def _read(
        self, Y: Any, labels: tuple[Any, ...] | None
    ) -> tuple[np.ndarray, tuple[Any, ...], LabelSetFormat]:
        return read_label_sets(Y, labels, used_by=type(self).__name__)

    def fit(self, Y: Any) -> Self:
        self._fit(Y)
        return self

    def fit_validate(self, Y: Any) -> np.ndarray:
        return self._fit(Y)

    def _fit(self, Y: Any) -> np.ndarray:
        """What was read, once names and form are learned from it."""
        Z, _, self.format_ = self._read(Y, self.labels_)
        return Z

    def validate(self, Y: Any) -> np.ndarray:
        """Outputs in canonical form: an int8 array of shape (n, d), one column per label."""
        return self._read(Y, self.labels_)[0]

    def restore(self, Z: np.ndarray, index: Any = None) -> Any:
        """Canonical outputs in the format that was seen in ``fit``."""
        return self._format.write(np.asarray(Z), self.labels_, index)

    def embed(self, Z: np.ndarray) -> np.ndarray:
        return np.asarray(Z, dtype=np.float64)

    # ------------------------------------------------------------- constraints
    def _groups(self, exclusive: Any) -> list[np.ndarray]:
        return label_groups(exclusive, self.labels_, type(self).__name__)

    def _narrowed(
        self,
        include: Any,
        exclude: Any,
        min_size: int | None,
        max_size: int | None,
        groups: Any,
        one_path: bool,
    ) -> Self:
        name = type(self).__name__
        low = label_mask(include, self.labels_, "include", name)
        high = ~label_mask(exclude, self.labels_, "exclude", name)
        sizes = {
            "min_size": check_size(min_size, "min_size", name),
            "max_size": check_size(max_size, "max_size", name),
        }
        constraints = self.constraints_.narrow(
            low=low, high=high, groups=groups, one_path=one_path, **sizes
        )
        return self._limited(constraints)

    def _constraints_sizes(self) -> tuple[Any, ...]:
        return self.dag_.n_nodes, len(self.labels_)

    # ------------------------------------------------------------- decoding
    def argmin(self, costs: np.ndarray) -> Decoded:
        """For every row the set of least total cost; costs of shape (n, d)."""
        costs = self._checked_costs(costs, len(self.labels_))
        outputs, values, bounds = self._decode(costs, self.constraints_)
        return decoded_or_infeasible(outputs, values, bounds, self)

    def kbest(self, costs: np.ndarray, k: int) -> Decoded:
        """The ``k`` minimum-cost sets of every row: outputs (n, k, d), values (n, k)."""
        k = check_k(k, type(self).__name__)
        costs = self._checked_costs(costs, len(self.labels_))
        return self._k_best(
            lambda rows, constraints: self._decode(costs[rows], constraints), len(costs), k
        )

    def _k_best(self, decode: Callable[..., Any], n: int, k: int) -> Decoded:
        """The k best sets of n rows, by ``decode(rows, constraints)``: outputs and values first."""

        limited = Limit().is_set

        def best_within(rows: np.ndarray, low: np.ndarray, high: np.ndarray) -> Any:
            check_cancelled()
            found = decode(rows, self.constraints_.rows(rows).within(low, high))
            if limited and len(found) > 2:
                check_proven(found[1], found[2], type(self).__name__)
            return found[:2]

        outputs, values = k_best(best_within, n, len(self.labels_), k)
        check_feasible(np.isfinite(values).any(axis=1), self)
        return Decoded(outputs, values, values)

    # ------------------------------------------------------------- distributions and chains
    def relaxation(self) -> Any:
        """All sets of the same labels."""
        return LabelSets(self.labels_) if self.embedding == "indicators" else None


class FreeSubsets:
    """Subsets of smallest..largest labels, of which some are known to be in or out.

    All others may change places: everything follows from how many subsets there are of each
    size, as whole numbers.

    Parameters
    ----------
    low, high : bool arrays of shape (d,)
        Labels that must and that may be in.
    smallest, largest : int

    Examples
    --------
    >>> two_of_four = FreeSubsets(np.zeros(4, bool), np.ones(4, bool), 2, 2)
    >>> two_of_four.total, two_of_four.mean()
    (6, array([0.5, 0.5, 0.5, 0.5]))
    """

    def __init__(self, low: np.ndarray, high: np.ndarray, smallest: int, largest: int) -> None:
        self.low, self.high, self.open = low, high, np.flatnonzero(high & ~low)
        self.sizes = smallest, largest
        self.possible = not (low & ~high).any()

    @cached_property
    def ways(self) -> list[int]:
        """Number of subsets with s free labels, for every s."""
        (smallest, largest), free, forced = self.sizes, len(self.open), int(self.low.sum())
        binomial, ways = int(self.possible), []
        for s in range(free + 1):
            ways.append(binomial if smallest <= s + forced <= largest else 0)
            binomial = binomial * (free - s) // (s + 1)
        return ways

    @cached_property
    def total(self) -> int:
        """Number of subsets."""
        smallest, largest = self.sizes
        forced, free = int(self.low.sum()), len(self.open)
        if self.possible and smallest <= forced and forced + free <= largest:
            return int(2**free)
        return sum(self.ways)

    def _sum(self, function: Callable[..., Any]) -> int:
        """Sum of a function of the number of free labels over all subsets."""
        return sum(function(s) * ways for s, ways in enumerate(self.ways))

    def mean(self) -> np.ndarray:
        """Probability of each label; shape (d,)."""
        probability = self._sum(lambda s: s) / (max(len(self.open), 1) * self.total)
        return np.where(self.low, 1.0, np.where(self.high, probability, 0.0))

    def second_moment(self) -> np.ndarray:
        """Probability of each two labels together; shape (d, d)."""
        n, mean = len(self.open), self.mean()
        moment = np.outer(mean, mean)  # right wherever one of the two is known
        both = self._sum(lambda s: s * (s - 1)) / (max(n * (n - 1), 1) * self.total)
        moment[np.ix_(self.open, self.open)] = both
        np.fill_diagonal(moment, mean)
        return moment

    def covariance(self) -> Covariance | None:
        """By its eigenspaces, where nothing is known; else None.

        With s the size of a subset, Var(s) / d on ones and E[s (d - s)] / (d (d - 1)) on what
        is orthogonal to them.
        """
        d = len(self.low)
        if len(self.open) < d:
            return None
        if self.total == 2**d:
            return Scalar(0.25, d)
        one, square = self._sum(lambda s: s), self._sum(lambda s: s * s)
        on_ones = (square * self.total - one * one) / (d * self.total**2)
        on_rest = (d * one - square) / (max(d * (d - 1), 1) * self.total)
        return Exchangeable(on_ones, on_rest, d)

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` subsets drawn uniformly and independently; int8 of shape (n, d)."""
        outputs = np.repeat(self.low[None].astype(np.int8), n, axis=0)
        free = len(self.open)
        if self.total == 2**free:
            outputs[:, self.open] = rng.integers(2, size=(n, free), dtype=np.int8)
            return outputs
        share = np.array([ways / self.total for ways in self.ways])
        size = rng.choice(free + 1, size=n, p=share / share.sum())
        rank = rng.random((n, free)).argsort(axis=1).argsort(axis=1)
        outputs[:, self.open] = rank < size[:, None]
        return outputs


@savable
class LabelSets(IndicatorSpace):
    r"""Subsets of a fixed set of labels, as 0/1 vectors.

    A subset is its own embedding, :math:`\psi(z) = z`, so that minimizing
    :math:`\langle c, \psi(z) \rangle` takes every label of negative cost; with constraints
    on the size, the minimum-cost so many. Always exact.

    Parameters
    ----------
    labels : sequence, default=None
        Names of the labels, in the order of the columns; learned from ``Y`` when None.
    min_size, max_size : int, default=0 and None
        Constraints on the number of labels in a *predicted* set. Training sets may break them.
    propensity : float, sequence, or mapping or Series from label to float, default=None
        Where training sets lack labels that apply, but hold none that do not: the probability
        :math:`p_j` that a label which applies was annotated. Indicators over :math:`p_j` have the
        mean of complete ones [1]_, if what is overlooked does not depend on the input.
    constraints : Constraints, default=None
        Further constraints, made by :meth:`restrict`.

    References
    ----------
    .. [1] H. Jain, Y. Prabhu, M. Varma, "Extreme multi-label loss functions for recommendation,
       tagging, ranking and other missing label applications", 2016.

    Examples
    --------
    >>> import numpy as np
    >>> space = LabelSets().fit([{"beach", "sunset"}, {"city"}])
    >>> space.labels_
    ('beach', 'city', 'sunset')
    >>> space.argmin(np.array([[0.3, -2.0, -0.1]])).outputs
    array([[0, 1, 1]], dtype=int8)
    >>> space.restrict(max_size=1).argmin(np.array([[0.3, -2.0, -0.1]])).values
    array([-2.])
    >>> space.size(), space.restrict(exclusive=[["beach", "city"]]).size()
    (8, 6)
    """

    _named_by: ClassVar = {"labels": "labels_"}
    _constraints_rest_on = ("min_size", "max_size")

    def __init__(
        self,
        labels: Iterable[Any] | None = None,
        min_size: int = 0,
        max_size: int | None = None,
        *,
        propensity: Any = None,
        constraints: Constraints | None = None,
    ) -> None:
        self.labels = labels
        self.min_size = min_size
        self.max_size = max_size
        self.propensity = propensity
        self.constraints = constraints

    def _fit(self, Y: Any) -> np.ndarray:
        self._forget()
        known = None if self.labels is None else self.labels_
        Z, learned, format = self._read(Y, known)
        if self.constraints is not None:
            check_restricted(self.constraints.low.shape[1], len(learned), "labels", "LabelSets")
        self.learned_labels_, self.format_ = learned, format
        return Z

    @property
    def labels_(self) -> tuple[Any, ...]:
        if self.labels is not None:
            return self._given_labels
        if not hasattr(self, "learned_labels_"):
            raise NotFittedError("LabelSets learns its labels from Y: call fit, or give labels.")
        return self.learned_labels_

    @cached_property
    def _given_labels(self) -> tuple[Any, ...]:
        return check_distinct(self.labels, "LabelSets")

    @cached_property
    def dag_(self) -> Dag:
        return Dag(len(self.labels_), [], [])

    @property
    def constraints_(self) -> Constraints:
        constraints = (
            Constraints.none(len(self.labels_)) if self.constraints is None else self.constraints
        )
        smallest = check_size(self.min_size, "min_size", "LabelSets")
        largest = check_size(self.max_size, "max_size", "LabelSets")
        return replace(
            constraints,
            smallest=constraints.smallest
            if smallest is None
            else max(constraints.smallest, smallest),
            largest=constraints.largest if largest is None else min(constraints.largest, largest),
        )

    def _decode(
        self, costs: np.ndarray, constraints: Constraints
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if not (constraints.is_masked or constraints.is_sized or constraints.groups):
            outputs = threshold(costs)
            values = np.minimum(costs, 0.0).sum(axis=1)
            return outputs, values, values
        low, high = constraints.low, constraints.high
        if constraints.groups:
            if not self._sibling_groups(constraints):
                program = BinaryProgram(*limit_constraints(self.dag_, constraints))
                return program.solve_rows(costs, low, high)
            outvoted = keep_group_winners(costs, low, high, constraints.groups)
            # A forbidden label that must be in shows as infeasible below.
            low, high = np.broadcast_to(low, costs.shape), outvoted
        outputs, feasible = min_cost_subsets(
            costs, low, high, constraints.smallest, constraints.largest
        )
        values = np.where(feasible, (costs * outputs).sum(axis=1), np.inf)
        return outputs, values, values

    def restrict(
        self,
        *,
        include: Any = None,
        exclude: Any = None,
        min_size: int | None = None,
        max_size: int | None = None,
        exclusive: Iterable[Any] | None = None,
    ) -> Self:
        """The same space, narrowed.

        Parameters
        ----------
        include, exclude : label names, the same for all rows or a collection per row
            Labels known to be in and known to be out; also 0/1 arrays of shape (n, d). A
            single row of them serves all rows.
        min_size, max_size : int
            Constraints on the number of labels.
        exclusive : list of groups of label names
            At most one label of each group.
        """
        return self._narrowed(include, exclude, min_size, max_size, self._groups(exclusive), False)

    # ------------------------------------------------------------- all outputs
    def _uniform(self) -> Any:
        constraints = self._one_row()
        return self._forest_paths(constraints) if constraints.groups else _free_subsets(constraints)

    def _count_within(self, low: np.ndarray, high: np.ndarray) -> int:
        constraints = self._one_row().within(low, high)
        return (
            super()._count_within(low, high)
            if constraints.groups
            else _free_subsets(constraints).total
        )

    def uniform_means(self, n: int) -> np.ndarray:
        """Labels that are neither in nor out are in half of the sets, if sizes are free."""
        limits = self.constraints_
        if limits.is_sized or limits.groups:
            return super().uniform_means(n)
        return np.array(
            np.broadcast_to((limits.low + 0.0 + limits.high) / 2.0, (n, limits.low.shape[1]))
        )

    def covariance(self) -> Covariance:
        """Covariance of the indicators: two eigenvalues at most where labels are alike."""
        self._check_not_empty()
        constraints = self._one_row()
        alike = None if constraints.groups else _free_subsets(constraints).covariance()
        return super().covariance() if alike is None else alike

    def sibling(self, Z: np.ndarray) -> np.ndarray:
        """The complement of each set: together they are all labels."""
        if self.constraints_.is_masked or self.constraints_.is_sized or self.constraints_.groups:
            raise ValueError("LabelSets: complements may leave a space with constraints.")
        return 1 - np.asarray(Z)


def _free_subsets(constraints: Constraints) -> FreeSubsets:
    return FreeSubsets(
        constraints.low[0], constraints.high[0], constraints.smallest, constraints.largest
    )


Solving.at(LabelSets, "skstruct.spaces.label_sets.solving:SolvingOfLabelSets")
Targets.at(IndicatorSpace, "skstruct.spaces.indicator_sets.targets:TargetsOfNamed")
Targets.at(LabelSets, "skstruct.spaces.indicator_sets.targets:TargetsOfSets")
Coordinates.at(IndicatorSpace, "skstruct.spaces.indicator_sets.coordinates:CoordinatesOfSets")
Known.at(IndicatorSpace, "skstruct.spaces.indicator_sets.known:KnownOfSets")
Description.at(IndicatorSpace, "skstruct.spaces.indicator_sets.description:DescriptionOfLabelSets")
Marginals.at(IndicatorSpace, "skstruct.spaces.indicator_sets.marginals:MarginalsOfIndicators")
Marginals.at(LabelSets, "skstruct.spaces.label_sets.marginals:MarginalsOfLabelSets")
SklearnTarget.at(LabelSets, "skstruct.spaces.sklearn_target:Labels")
Embeddings.at(IndicatorSpace, "skstruct.spaces.indicator_sets.coordinates:EmbeddingsOfSets")
Inference.at(IndicatorSpace, "skstruct.spaces.indicator_sets.inference:InferenceOfSets")
