# SPDX-License-Identifier: BSD-3-Clause
"""Sets of labels that have costs by label and by pair of labels."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from skstruct.saving import savable
from skstruct.spaces.base import check_k, decoded_or_infeasible
from skstruct.spaces.common.formats import check_distinct, sorted_names, unknown_label
from skstruct.spaces.common.label_graph import node_names, read_edges
from skstruct.spaces.constraints import Constraints, check_restricted
from skstruct.spaces.contracts import EXACT, Decoded, Guarantee
from skstruct.spaces.coordinates import Coordinates
from skstruct.spaces.description import Description
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.inference import Inference
from skstruct.spaces.known import Known
from skstruct.spaces.label_sets.space import IndicatorSpace, LabelSets
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.solvers.dags import Dag
from skstruct.spaces.solvers.pairwise.solve import is_exact, minimize, minimize_fixed
from skstruct.spaces.solving import Solving
from skstruct.spaces.uniform import Uniform

# Labels and the pairs of them that count: given, learned, or brought by a graph.


class LabelsAndEdges(IndicatorSpace):
    """Sets of labels with a graph on the labels.

    A child has the parameters ``graph``, ``labels`` and ``constraints``.
    """

    graph: Any
    labels: Any
    _from_parameters: ClassVar[tuple[str, ...]] = ("edges_", "_promise")

    def fit(self, Y: Any) -> Self:
        """Learn the labels where none were given, and the form of ``Y``."""
        self._forget()
        given = None if self.labels is None else self.labels_
        _, learned, format = self._read(Y, given)
        if given is None:
            learned = self._with_nodes(learned, named=format.kind in ("names", "series"))
        name = type(self).__name__
        if self.constraints is not None:
            check_restricted(self.constraints.low.shape[1], len(learned), "labels", name)
        read_edges(self.graph, learned, name)  # a graph that is wrong says so now
        self.learned_labels_, self.format_ = learned, format
        return self

    def _fit(self, Y: Any) -> np.ndarray:
        return self.fit(Y).validate(Y)

    def _with_nodes(self, learned: tuple[Any, ...], named: bool) -> tuple[Any, ...]:
        """Labels of ``Y`` and nodes of a graph; where ``Y`` has columns, it has them all."""
        known = set(learned)
        new = [name for name in node_names(self.graph) if name not in known]
        if new and not named:
            raise ValueError(unknown_label("graph holds", new[0], learned, type(self).__name__))
        return sorted_names({*learned, *new}) if new else tuple(learned)

    @property
    def labels_(self) -> tuple[Any, ...]:
        """Names of the labels, one per column."""
        if self.labels is not None:
            return self._given_labels
        if not hasattr(self, "learned_labels_"):
            raise NotFittedError(
                f"{type(self).__name__} learns its labels from Y: call fit, or give labels."
            )
        return self.learned_labels_

    @cached_property
    def _given_labels(self) -> tuple[Any, ...]:
        given = check_distinct(self.labels, type(self).__name__)
        known = set(given)
        return (*given, *(name for name in node_names(self.graph) if name not in known))

    @cached_property
    def edges_(self) -> np.ndarray:
        """Pairs i < j of positions in ``labels_``, sorted; int64 of shape (E, 2)."""
        return read_edges(self.graph, self.labels_, type(self).__name__)

    @property
    def graph_(self) -> Any:
        """The labels and their pairs as a networkx.Graph."""
        import networkx

        graph = networkx.Graph()
        graph.add_nodes_from(self.labels_)
        graph.add_edges_from((self.labels_[i], self.labels_[j]) for i, j in self.edges_)
        return graph

    @cached_property
    def dag_(self) -> Dag:
        """No label needs another: a graph without arcs."""
        return Dag(len(self.labels_), [], [])

    def _sets(self) -> LabelSets:
        return without_pairs(self)

    def restrict(self, *, include: Any = None, exclude: Any = None) -> Self:
        """The same space, narrowed.

        Parameters
        ----------
        include, exclude : label names, the same for all rows or a collection per row
            Labels known to be in and known to be out; also 0/1 arrays of shape (n, number of
            labels). A single row of them serves all rows.
        """
        return self._narrowed(include, exclude, None, None, (), False)


def min_cost_sets(
    node_costs: np.ndarray, edge_costs: np.ndarray, edges: np.ndarray, constraints: Any, exact: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sets of least cost within constraints, None for none; their values, infinite where there is
    no set, and bounds.
    """
    costs = node_costs, edge_costs, edges
    if constraints is None or not constraints.is_masked:
        return minimize(*costs, exact=exact)
    return minimize_fixed(*costs, constraints.low, constraints.high, exact=exact)


def without_pairs(space: LabelsAndEdges) -> LabelSets:
    """The same sets of labels, and no pairs."""
    sets = LabelSets(space.labels_, constraints=space.constraints)
    sets.__dict__.update({name: part for name, part in vars(space).items() if name == "format_"})
    return sets


@savable
class PairwiseLabels(LabelsAndEdges):
    r"""Subsets of a set of labels, embedded by labels and by pairs of labels.

    .. math:: \psi(y) = (y_1, \dots, y_n, (y_i y_j)_{ij \in E})

    so that a cost may say which labels go together. Decoding is exact on forests, with up to
    14 labels, and where no pair costs more than zero; on other graphs roof duality gives a
    lower bound and often proves the answer, and ``exact=True`` asks for the best at any
    cost.

    Parameters
    ----------
    graph : "full", "empty", pairs of label names or networkx graph, default="full"
        The pairs that count. Nodes of a networkx graph join the labels.
    labels : sequence, default=None
        Names of the labels, in the order of the columns; learned from ``Y`` when None.
    exact : bool, default=False
        Whether what roof duality leaves open is solved by branch and bound.
    constraints : Constraints, default=None
        What :meth:`restrict` sets.

    Attributes
    ----------
    labels_ : tuple
    edges_ : int array of shape (E, 2)
        Pairs i < j of positions in ``labels_``, sorted.
    graph_ : networkx.Graph
        The same, between names.

    Examples
    --------
    >>> space = PairwiseLabels([("beach", "sea"), ("sea", "city")])
    >>> space = space.fit([["beach", "sea"], ["city"]])
    >>> space.labels_, space.edges_.tolist()
    (('beach', 'city', 'sea'), [[0, 2], [1, 2]])
    >>> costs = np.array([[-0.5, -1.0, 0.3, -1.0, 2.0]])
    >>> space.restore(space.argmin(costs).outputs)
    array([list(['beach', 'city'])], dtype=object)
    >>> space.restrict(exclude=["city"]).argmin(costs).values
    array([-1.2])

    References
    ----------
    Boros, Hammer (2002). Pseudo-Boolean optimization. Discrete Applied Mathematics 123.
    """

    embedding = "indicators and edges"
    _named_by: ClassVar = {"labels": "labels_"}
    _constraints_rest_on = ("graph",)

    def __init__(
        self,
        graph: Any = "full",
        labels: Iterable[Any] | None = None,
        *,
        exact: bool = False,
        constraints: Constraints | None = None,
    ) -> None:
        self.graph = graph
        self.labels = labels
        self.exact = exact
        self.constraints = constraints

    @property
    def guarantee(self) -> Guarantee:
        return EXACT if self.exact else self._promise

    @cached_property
    def _promise(self) -> Guarantee:
        exact = is_exact(len(self.labels_), self.edges_)
        return EXACT if exact else Guarantee("bound only")

    def embed(self, Z: np.ndarray) -> np.ndarray:
        """Labels and products of pairs of labels; shape (n, d)."""
        Z = np.asarray(Z, dtype=np.float64)
        i, j = self.edges_.T
        return np.hstack([Z, Z[:, i] * Z[:, j]])

    # ------------------------------------------------------------- decoding
    def argmin(self, costs: np.ndarray) -> Decoded:
        """For every row the labels of least cost; costs of shape (n, d)."""
        node_costs, edge_costs = self._split(costs)
        outputs, values, bounds = self._best(node_costs, edge_costs, self.constraints)
        return decoded_or_infeasible(outputs, values, bounds, self)

    def kbest(self, costs: np.ndarray, k: int) -> Decoded:
        """The ``k`` minimum-cost sets of every row: outputs (n, k, labels), values (n, k)."""
        k = check_k(k, "PairwiseLabels")
        if self.guarantee != EXACT:
            raise ValueError(
                "PairwiseLabels: the k best sets need exact decoding, which this graph has not; "
                "give exact=True."
            )
        node_costs, edge_costs = self._split(costs)

        def decode(rows: np.ndarray, constraints: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            return self._best(node_costs[rows], edge_costs[rows], constraints)

        return self._k_best(decode, len(node_costs), k)

    def _split(self, costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Costs of labels and costs of pairs."""
        n = len(self.labels_)
        costs = self._checked_costs(costs, n + len(self.edges_))
        return np.ascontiguousarray(costs[:, :n]), np.ascontiguousarray(costs[:, n:])

    def _decode(
        self, costs: np.ndarray, constraints: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n = len(self.labels_)
        return self._best(costs[:, :n], costs[:, n:], constraints)

    def _best(
        self, node_costs: np.ndarray, edge_costs: np.ndarray, constraints: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        costs = node_costs, edge_costs, self.edges_
        return min_cost_sets(*costs, constraints, self.exact)

    # ------------------------------------------------------------- distributions


Solving.at(PairwiseLabels, "skstruct.spaces.pairwise.solving:SolvingOfPairs")
Coordinates.at(PairwiseLabels, "skstruct.spaces.pairwise.coordinates:CoordinatesOfLabels")
Known.at(PairwiseLabels, "skstruct.spaces.pairwise.known:KnownOfPairs")
Description.at(LabelsAndEdges, "skstruct.spaces.pairwise.description:DescriptionOfLabelsAndEdges")
Marginals.at(PairwiseLabels, "skstruct.spaces.pairwise.marginals:MarginalsOfPairwiseLabels")
Uniform.at(LabelsAndEdges, "skstruct.spaces.pairwise.uniform:UniformOfLabelsAndEdges")
Embeddings.at(LabelsAndEdges, "skstruct.spaces.pairwise.coordinates:EmbeddingsOfPairs")
Inference.at(PairwiseLabels, "skstruct.spaces.pairwise.inference:InferenceOfPairs")
