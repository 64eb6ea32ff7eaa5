# SPDX-License-Identifier: BSD-3-Clause
"""All graphs on named nodes, or those with a property."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, Self

import numpy as np

from skstruct.saving import savable
from skstruct.spaces.common.narrowing import within
from skstruct.spaces.constraints import Constraints, check_feasible
from skstruct.spaces.contracts import Guarantee
from skstruct.spaces.edge_sets.space import EdgeSetSpace
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.graphs.hereditary import Acyclic, Bipartite, Custom, Planar
from skstruct.spaces.graphs.properties import Anything, Clique, Connected, Forest, GraphProperty
from skstruct.spaces.inference import Inference, OwnInference, listed_distribution
from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.solvers.proposals import Proposals
from skstruct.spaces.uniform import Uniform

OWN_SPACES = ("matching", "spanning tree")


class OwnSpace(GraphProperty):
    """What another space over the same edges, in the same order, says and does."""

    def __init__(self, table: Any, name: str) -> None:
        super().__init__(table)
        self.name = name

    @cached_property
    def space(self) -> EdgeSetSpace:
        if self.name == "matching":
            from skstruct.spaces.matchings.space import Matchings

            return Matchings(self.table.nodes)
        from skstruct.spaces.spanning_trees.space import SpanningTrees

        return SpanningTrees(self.table.nodes)

    def why_not(self, row: np.ndarray) -> str:
        return self.space._why_not(row)

    def holds(self, Z: np.ndarray) -> np.ndarray:
        return self.space._holds(Z)

    def guarantee(self, constraints: Constraints) -> Any:
        return within(self.space, constraints).guarantee

    def decode(
        self, costs: np.ndarray, constraints: Constraints
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.space._decode(costs, constraints)

    def limited(self, constraints: Constraints | None) -> Any:
        """The other space within constraints."""
        return self.space if constraints is None else within(self.space, constraints)

    def count(self, constraints: Constraints | None) -> int | None:
        return self.limited(constraints).size()

    def closed_forms(self, constraints: Constraints | None) -> Uniform:
        return Uniform.of(self.limited(constraints))

    def distribution(self, scores: np.ndarray, constraints: Constraints | None) -> Any:
        return Inference.of(self.limited(constraints)).distribution(scores)

    def proposals(self, constraints: Constraints | None) -> Any:
        return Inference.of(self.limited(constraints)).proposals()


OF_GRAPHS: dict[Any, Any] = {
    None: Anything,
    "acyclic": Forest,
    "connected": Connected,
    "clique": Clique,
    "planar": Planar,
    "bipartite": Bipartite,
    **dict.fromkeys(OWN_SPACES, OwnSpace),
}
OF_DIGRAPHS = {None: Anything, "acyclic": Acyclic, "connected": Connected}


@savable
class Graphs(EdgeSetSpace):
    r"""Graphs on fixed nodes as sets of edges, :math:`\psi(z) = z`; all, or those with a property.

    All of them are the subsets of d possible edges: :math:`2^d` outputs of mean 1/2 and
    covariance :math:`I/4`, and the minimum-cost takes every edge of negative cost. With a
    property:

    ================  ============================================================
    property          minimum-cost edge set
    ================  ============================================================
    "acyclic"         forests: exact (Kruskal). Directed: exact up to 20 nodes
                      (linear ordering), ratio 1/2 beyond
    "connected"       exact; of a directed graph, where directions do not matter
    "spanning tree"   exact, as :class:`SpanningTrees`
    "matching"        exact, as :class:`Matchings`
    "clique"          all edges between some nodes: exact up to 14 nodes
    "bipartite"       exact up to 15 nodes, ratio 1/2 beyond
    "planar"          exact up to 5 nodes, ratio 1/3 beyond
    callable          exact up to 12 possible edges, else the ratio
                      :math:`1 / \lceil d / \log_2 d \rceil`, often much better
    ================  ============================================================

    Acyclic digraphs and the last four are NP-hard in general; every answer comes with a lower
    bound.

    Parameters
    ----------
    nodes : sequence of names, int or networkx graph, default=None
        Names of the nodes; an int N for 0, ..., N - 1, and of a graph its nodes. Learned from
        ``Y`` when None.
    directed : bool, default=False
        Whether edges lead from the first to the second of a pair of nodes.
    property : str or callable, default=None
        One of the above; ``property(graph)`` tells of a networkx graph with all nodes whether
        it is an output, and must be so of all its subgraphs that lack some edges. Training
        outputs must have it, too.
    constraints : Constraints, default=None
        What :meth:`restrict` sets.

    Attributes
    ----------
    nodes_ : tuple
    edges_ : int array of shape (d, 2)
        Positions in ``nodes_`` of both ends: pairs u < v, or all u != v, row by row.
    labels_ : tuple
        The same as pairs of names.

    Examples
    --------
    >>> space = Graphs(property="acyclic").fit([{("a", "b"), ("c", "b")}, set()])
    >>> space.labels_
    (('a', 'b'), ('a', 'c'), ('b', 'c'))
    >>> decoded = space.argmin(np.array([[-3.0, -1.0, -2.0]]))
    >>> sorted(space.restore(decoded.outputs)[0]), decoded.values
    ([('a', 'b'), ('b', 'c')], array([-5.]))
    >>> space.restrict(exclude=[("b", "a")]).argmin(np.array([[-3.0, -1.0, -2.0]])).values
    array([-3.])
    >>> space.size(), Uniform.of(space).counted.size(), Graphs(200).size().bit_length()
    (7, 8, 19901)

    References
    ----------
    Vembu (2010). Learning to predict combinatorial structures. Chapters 4 and 5.
    """

    _from_parameters = ("_kind",)

    _constraints_rest_on = ("directed", "property")

    def __init__(
        self,
        nodes: int | Iterable[Any] | None = None,
        directed: bool = False,
        property: str | Callable[[Any], bool] | None = None,
        *,
        constraints: Constraints | None = None,
    ) -> None:
        self.nodes = nodes
        self.directed = directed
        self.property = property
        self.constraints = constraints

    @property
    def _directed(self) -> bool:
        return self.directed

    # ------------------------------------------------------------- the property
    @cached_property
    def _kind(self) -> GraphProperty:
        kind = self._check_property()
        if callable(self.property):
            return Custom(self._table, self.property)
        if self.property in OWN_SPACES:
            return OwnSpace(self._table, self.property)
        return kind(self._table)

    def _check_property(self) -> type[Any]:
        """The class of a known property; an error where it is not known."""
        known = OF_DIGRAPHS if self.directed else OF_GRAPHS
        if callable(self.property):
            return Custom
        try:
            return known[self.property]
        except (KeyError, TypeError):
            names = ", ".join(repr(name) for name in known)
            raise ValueError(
                f"Graphs: property of {'directed ' if self.directed else ''}graphs is one of "
                f"{names}, or a callable; got {self.property!r}."
            ) from None

    def fit(self, Y: Any) -> Self:
        self._check_property()
        return super().fit(Y)

    @property
    def guarantee(self) -> Guarantee:
        return self._kind.guarantee(self.constraints_)

    def _holds(self, Z: np.ndarray) -> np.ndarray:
        return self._kind.holds(Z)

    def _why_not(self, row: np.ndarray) -> str:
        return self._kind.why_not(row)

    # ------------------------------------------------------------- decoding
    def restrict(
        self,
        *,
        include: Any = None,
        exclude: Any = None,
        min_size: int | None = None,
        max_size: int | None = None,
    ) -> Self:
        """The same space, narrowed.

        Parameters
        ----------
        include, exclude : pairs of nodes, the same for all rows or a collection per row
            Edges known to be in and known to be out; also networkx graphs, or 0/1 arrays of
            shape (n, d). A single row of them serves all rows.
        min_size, max_size : int
            Constraints on the number of edges, of all graphs and of forests.
        """
        if not self._kind.sized and (min_size is not None or max_size is not None):
            raise ValueError(self._unsized())
        return self._limited_to(include, exclude, min_size, max_size)

    def _decode(
        self, costs: np.ndarray, constraints: Constraints
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if constraints.low.shape[1] != len(self.edges_):
            raise ValueError(
                f"Graphs was restricted for {constraints.low.shape[1]} edges; there are "
                f"{len(self.edges_)}."
            )
        if constraints.is_sized and not self._kind.sized:
            raise ValueError(self._unsized())
        fixed = constraints.low.any(axis=1)
        if fixed.all() or not fixed.any():
            return self._kind.decode(costs, constraints)
        # Known edges may cost a promise: rows without them are decoded as if alone.
        outputs, values = np.empty(costs.shape, np.int8), np.empty(len(costs))
        bounds = values.copy()
        for rows in (np.flatnonzero(fixed), np.flatnonzero(~fixed)):
            part = self._kind.decode(costs[rows], constraints.rows(rows))
            outputs[rows], values[rows], bounds[rows] = part
        return outputs, values, bounds

    def _unsized(self) -> str:
        return (
            "Graphs: the number of edges is limited for all graphs and for forests; got "
            f"property={self.property!r}."
        )

    # ------------------------------------------------------------- distributions and chains
    def distribution(self, scores: Any) -> Distribution | None:
        """Distributions of all graphs, of trees, matchings and cliques; of others by a short
        list.
        """
        scores = self._checked_scores(scores, len(self.edges_))
        if self.property is not None and self.constraints_.n_rows is not None:
            return listed_distribution(self, scores)
        distribution = self._kind.distribution(scores, self._true_constraints)
        if distribution is None:
            return listed_distribution(self, scores)
        check_feasible(np.isfinite(distribution.log_partition), self)
        return distribution

    def proposals(self) -> Proposals | None:
        """Local moves among all graphs, trees and matchings; None for other properties."""
        return self._kind.proposals(self._true_constraints)

    @property
    def _true_constraints(self) -> Constraints | None:
        """Constraints that exclude something, else None."""
        constraints = self.constraints_
        return constraints if constraints.is_masked or constraints.is_sized else None


Uniform.at(Graphs, "skstruct.spaces.graphs.uniform:UniformOfGraphs")


Embeddings.at(Graphs, "skstruct.spaces.graphs.coordinates:EmbeddingsOfGraphs")
Inference.at(Graphs, OwnInference)
