# SPDX-License-Identifier: BSD-3-Clause
"""What spaces of edge sets share: named nodes, possible edges, and constraints on them."""

from abc import abstractmethod
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from skstruct._arrays.imports import is_networkx
from skstruct.spaces.common.counting import LIMIT, check_few, list_closed_sets
from skstruct.spaces.common.formats import sorted_names
from skstruct.spaces.common.label_graph import read_edges
from skstruct.spaces.constraints import check_restricted, check_size
from skstruct.spaces.contracts import EXACT, Decoded
from skstruct.spaces.description import Description
from skstruct.spaces.edge_sets.formats import GraphFormat, learn_nodes, read_format, read_rows
from skstruct.spaces.edge_sets.table import (
    EdgeTable,
    check_numbered_nodes,
    complete_edges,
    read_nodes,
)
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.inference import Inference
from skstruct.spaces.known import Known
from skstruct.spaces.label_sets.space import IndicatorSpace
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.solvers.dags import Dag
from skstruct.spaces.targets import Targets


class EdgeSetSpace(IndicatorSpace):
    r"""Sets of edges between named nodes as 0/1 rows, :math:`\psi(z) = z`, some of all sets.

    A child has parameters ``nodes`` and ``constraints`` (and ``directed``, where it may be both),
    and brings

    - ``_why_not(row)``: why a 0/1 row is no output of the space, "" where it is one;
    - ``_decode(costs, constraints)``: outputs, values (infinite where infeasible) and bounds;
    - ``_possible_edges(nodes)``, where not all edges are possible;
    - ``_holds(Z)``, where membership of many rows is quicker than one by one;
    - ``enumerate``, ``_count`` and moments, where there is more than sifting all edge sets.

    Attributes
    ----------
    nodes_ : tuple
    edges_ : int array of shape (d, 2)
        Positions in ``nodes_`` of both ends, one edge per column.
    labels_ : tuple
        The same as pairs of names.
    """

    _from_parameters: ClassVar[tuple[str, ...]] = ("_given_nodes", "_table")
    _from_constraints: ClassVar[tuple[str, ...]] = ("_listed",)

    _directed: Any = False  # whether edges have a direction
    _named_by: ClassVar = {"nodes": "nodes_"}
    _pairs_of = ("nodes", "other", "learned_nodes_")
    _pair_bytes = 48  # both ends, and three numbers of a graph without arcs; once more in between
    _constraints_rest_on: ClassVar[tuple[str, ...]] = ("directed",)

    @abstractmethod
    def _why_not(self, row: np.ndarray) -> str:
        """What keeps a 0/1 row from being an output; "" where it is one. Constraints do not
        count.
        """

    def _holds(self, Z: np.ndarray) -> np.ndarray:
        """Which 0/1 rows are outputs, constraints aside; shape (n,)."""
        return np.array([not self._why_not(row) for row in Z], dtype=bool)

    def _possible_edges(self, nodes: tuple[Any, ...]) -> np.ndarray:
        """Positions of both ends of every edge that an output may have; shape (d, 2)."""
        return complete_edges(len(nodes), self._directed)

    # ------------------------------------------------------------- nodes and edges
    @property
    def nodes_(self) -> tuple[Any, ...]:
        if self.nodes is not None:
            return self._given_nodes
        if not hasattr(self, "learned_nodes_"):
            name = type(self).__name__
            raise NotFittedError(f"{name} learns its nodes from Y: call fit, or give nodes.")
        return self.learned_nodes_

    @property
    def _nodes_given_by(self) -> Any:
        """What names the nodes: the parameter, or a graph of possible edges."""
        return self.nodes

    @cached_property
    def _given_nodes(self) -> tuple[Any, ...]:
        return read_nodes(self.nodes, type(self).__name__)

    @cached_property
    def _table(self) -> EdgeTable:
        return EdgeTable(self.nodes_, self._possible_edges(self.nodes_), self._directed)

    @property
    def edges_(self) -> np.ndarray:
        return self._table.edges

    @property
    def labels_(self) -> tuple[Any, ...]:
        return self._table.labels

    @cached_property
    def dag_(self) -> Dag:
        return Dag(len(self.edges_), [], [])

    # ------------------------------------------------------------- the user's format
    @property
    def _graph_format(self) -> GraphFormat:
        return getattr(self, "format_", GraphFormat())

    def _read_graphs(
        self, Y: Any, nodes: tuple[Any, ...] | None
    ) -> tuple[np.ndarray, tuple[Any, ...], GraphFormat]:
        """Indicators, nodes (learned where they are None) and the form of ``Y``."""
        name = type(self).__name__
        rows, format = read_format(Y, name)
        if nodes is not None and format.kind in ("array", "adjacency"):
            check_numbered_nodes(self._nodes_given_by, nodes, name)
        if nodes is None:
            nodes = learn_nodes(rows, format, self._directed, name)
            table = EdgeTable(nodes, self._possible_edges(nodes), self._directed)
        else:
            table = self._table
        return read_rows(rows, format, table, name), nodes, format

    def fit(self, Y: Any) -> Self:
        self._fit(Y)
        return self

    def fit_validate(self, Y: Any) -> np.ndarray:
        return self._fit(Y)

    def _fit(self, Y: Any) -> np.ndarray:
        self._forget()
        known = None if self.nodes is None else self.nodes_
        Z, nodes, format = self._read_graphs(Y, known)
        if self.constraints is not None:
            check_restricted(
                self.constraints.low.shape[1], Z.shape[1], "edges", type(self).__name__
            )
        self.learned_nodes_, self.format_ = nodes, format
        self._check_members(Z)
        return Z

    def validate(self, Y: Any) -> np.ndarray:
        """Outputs in canonical form: an int8 array of shape (n, d), one column per edge.

        A row that is not in the space is an error that says why. Constraints are for predictions:
        training outputs may break them.
        """
        Z = self._read_graphs(Y, self.nodes_)[0]
        self._check_members(Z)
        return Z

    def _check_members(self, Z: np.ndarray) -> None:
        outside = np.flatnonzero(~self._holds(Z))
        if len(outside):
            row = int(outside[0])
            raise ValueError(
                f"{type(self).__name__}: Y[{row}] {self._why_not(Z[row])} ({len(outside)} such "
                f"{'row' if len(outside) == 1 else 'rows'})."
            )

    def restore(self, Z: np.ndarray, index: Any = None) -> Any:
        """Canonical outputs in the format that was seen in ``fit``."""
        return self._graph_format.write(np.asarray(Z), self._table, index)

    def contains(self, Z: np.ndarray) -> np.ndarray:
        """Whether each row is an output of this space, constraints included; shape (n,)."""
        inside = super().contains(Z)  # 0/1 rows within constraints: the graph of labels has no arcs
        Z = np.asarray(Z)
        inside[inside] = self._holds(Z[inside])
        return inside

    # ------------------------------------------------------------- constraints
    def restrict(self, *, include: Any = None, exclude: Any = None) -> Self:
        """The same space, narrowed.

        Parameters
        ----------
        include, exclude : pairs of nodes, the same for all rows or a collection per row
            Edges known to be in and known to be out; also networkx graphs, or 0/1 arrays of
            shape (n, d). A single row of them serves all rows.
        """
        return self._limited_to(include, exclude)

    def _limited_to(
        self, include: Any, exclude: Any, min_size: int | None = None, max_size: int | None = None
    ) -> Self:
        name = type(self).__name__
        constraints = self.constraints_.narrow(
            low=self._table.mask(include, "include", name),
            high=~self._table.mask(exclude, "exclude", name),
            min_size=check_size(min_size, "min_size", name),
            max_size=check_size(max_size, "max_size", name),
            groups=(),
            one_path=False,
        )
        return self._limited(constraints)

    def kbest(self, costs: np.ndarray, k: int) -> Decoded:
        """The ``k`` minimum-cost edge sets of every row: outputs (n, k, d), values (n, k)."""
        if self.guarantee.kind != EXACT.kind:
            raise ValueError(
                f"{type(self).__name__}: the k best need exact decoding; this space has "
                f"{self.guarantee.kind!r} for {len(self.nodes_)} nodes."
            )
        return super().kbest(costs, k)

    # ------------------------------------------------------------- distributions and chains
    # ------------------------------------------------------------- all outputs
    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All outputs in canonical form; shape (size, d).

        At most ``limit`` edge sets are sifted for those that are outputs.
        """
        constraints = self._one_row()
        if constraints.largest == len(self.edges_):
            self._check_few(limit)
        listed = list_closed_sets(
            self.dag_, constraints.low[0], constraints.high[0], constraints.largest, limit
        )
        return listed[self.contains(listed)]

    def _check_few(self, limit: int) -> None:
        """Refuse to sift more than so many edge sets."""
        constraints = self._one_row()
        n_open = int((constraints.high & ~constraints.low).sum())
        check_few(2**n_open, limit, self, f"sets of {n_open} possible edges")

    @cached_property
    def _listed(self) -> np.ndarray:
        return self.enumerate()

    @cached_property
    def _count(self) -> int:
        return len(self._listed)

    def _count_within(self, low: np.ndarray, high: np.ndarray) -> int:
        return int(((self._listed >= low) & (self._listed <= high)).all(axis=1).sum())

    def mean_embedding(self) -> np.ndarray:
        """Mean of the indicators over all outputs; shape (d,)."""
        self._check_not_empty()
        return self._listed.mean(axis=0)

    def second_moment(self) -> np.ndarray:
        """Mean of psi psi' over all outputs; shape (d, d)."""
        self._check_not_empty()
        listed = self._listed.astype(np.float64)
        return listed.T @ listed / len(listed)

    def sample(self, n: int, rng: np.random.Generator | int | None) -> np.ndarray:
        """``n`` outputs drawn uniformly and independently; shape (n, d)."""
        self._check_not_empty()
        rng = np.random.default_rng(rng)
        return self._listed[rng.integers(len(self._listed), size=n)]


class WithinGraph(EdgeSetSpace):
    """Sets of undirected edges, each of which is an edge of ``graph``.

    A child has the parameters ``nodes``, ``graph`` and ``constraints``. The graph brings its nodes
    where none are given; without a graph all pairs of nodes are possible edges.
    """

    nodes: Any
    graph: Any
    _constraints_rest_on: ClassVar[tuple[str, ...]] = ("graph",)
    _takes_graph = True

    @property
    def nodes_(self) -> tuple[Any, ...]:
        """Names of the nodes."""
        return super().nodes_ if self.graph is None else self._given_nodes

    @cached_property
    def _given_nodes(self) -> tuple[Any, ...]:
        nodes = self._node_names() if self.nodes is None else self.nodes
        return read_nodes(nodes, type(self).__name__)

    @property
    def _nodes_given_by(self) -> Any:
        return self.graph if self.nodes is None else self.nodes

    def _node_names(self) -> Any:
        """The nodes that a graph brings itself."""
        if is_networkx(self.graph):
            return self.graph
        try:
            return sorted_names({node for pair in self._checked_graph() for node in pair})
        except TypeError:
            raise ValueError(self._what_graph_is()) from None

    def _checked_graph(self) -> Any:
        """The graph, unless it is text: the letters of a word are no nodes."""
        if isinstance(self.graph, (str, bytes)):
            raise ValueError(self._what_graph_is())
        return self.graph

    def _what_graph_is(self) -> str:
        return (
            f"{type(self).__name__}: graph is a list of pairs of nodes or a networkx graph; got "
            f"{self.graph!r}."
        )

    def _possible_edges(self, nodes: tuple[Any, ...]) -> np.ndarray:
        if self.graph is None:
            return complete_edges(len(nodes), directed=False)
        name = type(self).__name__
        if is_networkx(self.graph) and self.graph.is_directed():
            raise ValueError(f"{name}: edges have no direction, but those of graph have one.")
        try:
            return read_edges(self._checked_graph(), nodes, name)
        except ValueError as error:
            raise ValueError(str(error).replace("label", "node")) from None

    @property
    def _is_complete(self) -> bool:
        """Whether all pairs of nodes are possible, and there are no constraints."""
        n = len(self.nodes_)
        return not self.constraints_.is_masked and len(self.edges_) == n * (n - 1) // 2

    def _read_graphs(
        self, Y: Any, nodes: tuple[Any, ...] | None
    ) -> tuple[np.ndarray, tuple[Any, ...], Any]:
        return super()._read_graphs(Y, nodes if self.graph is None else self.nodes_)

    def _spread(self, values: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """What is known of some columns, (n, m), with 1 for known edges; shape (n, d)."""
        everywhere = np.repeat(self._one_row().low.astype(values.dtype), len(values), axis=0)
        everywhere[:, columns] = values
        return everywhere


Known.at(EdgeSetSpace, "skstruct.spaces.indicator_sets.known:KnownAsWhole")
Description.at(EdgeSetSpace, "skstruct.spaces.edge_sets.description:DescriptionOfEdgeSets")
Marginals.at(EdgeSetSpace, "skstruct.spaces.edge_sets.marginals:MarginalsOfEdges")
Embeddings.at(EdgeSetSpace, Embeddings)
Targets.at(EdgeSetSpace, Targets)
Inference.at(EdgeSetSpace, Inference)
