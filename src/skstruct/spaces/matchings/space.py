# SPDX-License-Identifier: BSD-3-Clause
"""Sets of edges without common nodes."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.imports import is_networkx
from skstruct._arrays.memory import check_square_fits
from skstruct.exceptions import UndecidableError
from skstruct.saving import savable
from skstruct.spaces.common.counting import LIMIT, check_few
from skstruct.spaces.common.covariances import Covariance
from skstruct.spaces.common.formats import in_order
from skstruct.spaces.constraints import Constraints
from skstruct.spaces.edge_sets.table import read_nodes, runs_dry
from skstruct.spaces.matchings.counting import (
    CompleteDistribution,
    CompleteMatchings,
    CompletePairings,
    bipartite_edges,
)
from skstruct.spaces.matchings.decoding import hold_edges, min_cost_matchings, min_cost_pairings
from skstruct.spaces.matchings.distribution import MOST_STEPS, LawfulMatchings
from skstruct.spaces.solvers.state_graphs import StateGraph


@savable
class Matchings(LawfulMatchings):
    r"""Matchings: sets of edges, no two of which have a node in common.

    An output is the 0/1 vector of its edges and its own embedding. Decoding is exact, with
    costs of any sign. Counts, moments and samples are exact too: in closed form for complete
    graphs, with or without known edges, and node by node for others where these are not too
    entangled (counting matchings is #P-hard; an ``UndecidableError`` says when).

    Parameters
    ----------
    nodes : sequence of names, int or networkx graph, default=None
        The nodes, or how many; those of ``graph``, or learned from ``Y``, when None.
    other : sequence of names, int or networkx graph, default=None
        A second group of nodes: edges join one of ``nodes`` with one of ``other``. Two
        numbers name all nodes in one row, ``Matchings(2, 3)`` those from 0 to 4.
    perfect : bool, default=False
        Whether every node must be in an edge.
    graph : networkx graph or list of pairs of nodes, default=None
        The edges that a matching may have; all when None.
    constraints : Constraints, default=None
        What :meth:`restrict` sets.

    Attributes
    ----------
    nodes_ : tuple
        All nodes, those of the first group first.
    edges_ : int array of shape (d, 2)
    labels_ : tuple
        Edges as pairs of names, one per column.

    Examples
    --------
    >>> space = Matchings(["ann", "bob"], ["dig", "cook"])
    >>> space.labels_
    (('ann', 'dig'), ('ann', 'cook'), ('bob', 'dig'), ('bob', 'cook'))
    >>> space.argmin(np.array([[-3.0, -2.0, -2.0, 1.0]])).outputs
    array([[0, 1, 1, 0]], dtype=int8)
    >>> space.size(), space.set_params(perfect=True).size()
    (7, 2)
    >>> Matchings(200, perfect=True).mean_embedding()[:3]
    array([0.00502513, 0.00502513, 0.00502513])
    """

    _from_parameters = ("_sides",)
    _from_constraints = ("_distribution",)

    _constraints_rest_on = ("other", "graph")

    def __init__(
        self,
        nodes: int | Iterable[Any] | None = None,
        other: int | Iterable[Any] | None = None,
        perfect: bool = False,
        graph: Any = None,
        *,
        constraints: Constraints | None = None,
    ) -> None:
        self.nodes = nodes
        self.other = other
        self.perfect = perfect
        self.graph = graph
        self.constraints = constraints

    # ------------------------------------------------------------- nodes and edges
    @property
    def nodes_(self) -> tuple[Any, ...]:
        """Names of the nodes."""
        return super().nodes_ if self.other is None else self._given_nodes

    @cached_property
    def _given_nodes(self) -> tuple[Any, ...]:
        if self.other is None:
            return super()._given_nodes
        first, second = self._sides
        shared = next((name for name in first if name in set(second)), None)
        if shared is not None:
            raise ValueError(f"Matchings: {shared!r} is one of nodes and one of other.")
        return read_nodes([*first, *second], "Matchings")

    @cached_property
    def _sides(self) -> tuple[list[Any], list[Any]]:
        if self.nodes is None:
            raise ValueError("Matchings: other is a second group of nodes; give nodes, the first.")
        first, second = (_names(group) for group in (self.nodes, self.other))
        if _is_number(self.nodes) and _is_number(self.other):
            second = [len(first) + v for v in second]
        return first, second

    @property
    def _shape(self) -> tuple[int, int] | None:
        """How many nodes are in each of two groups."""
        return None if self.other is None else (len(self._sides[0]), len(self._sides[1]))

    def _possible_edges(self, nodes: tuple[Any, ...]) -> np.ndarray:
        shape, n = self._shape, len(nodes)
        if self.perfect and (n % 2 if shape is None else shape[0] != shape[1]):
            how = f"{n} nodes" if shape is None else f"{shape[0]} nodes with {shape[1]}"
            raise ValueError(f"Matchings: no perfect matching joins {how}, two by two.")
        if shape is None:
            return super()._possible_edges(nodes)
        if self.graph is None:
            return bipartite_edges(*shape)
        edges = super()._possible_edges(nodes)
        inside = np.flatnonzero((edges[:, 0] >= shape[0]) | (edges[:, 1] < shape[0]))
        if len(inside):
            u, v = edges[inside[0]]
            raise ValueError(
                f"Matchings: graph joins {nodes[u]!r} and {nodes[v]!r}, which are in the same "
                "group of nodes."
            )
        return edges

    def _holds(self, Z: np.ndarray) -> Any:
        number = np.arange(len(self.edges_)).repeat(2)
        at = self.edges_.ravel(), number
        shape = len(self.nodes_), len(self.edges_)
        incidence = sparse.csr_array((np.ones(len(number), np.int64), at), shape=shape)
        degree = (incidence @ np.asarray(Z).T).T
        good = (degree <= 1).all(axis=1)
        if self.perfect:
            good &= degree.sum(axis=1) == len(self.nodes_)
        return good

    def _why_not(self, row: np.ndarray) -> str:
        taken: dict[int, int] = {}
        for e in np.flatnonzero(row).tolist():
            for v in self.edges_[e].tolist():
                if v in taken:
                    return (
                        f"is no matching: {self.labels_[taken[v]]} and {self.labels_[e]} have "
                        f"the node {self.nodes_[v]!r} in common"
                    )
                taken[v] = e
        alone = [name for v, name in enumerate(self.nodes_) if v not in taken]
        return f"is not perfect: {alone[0]!r} is in no edge" if self.perfect and alone else ""

    def _decode(
        self, costs: np.ndarray, constraints: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        masks = constraints.low, constraints.high
        if self._shape is None:
            outputs, values = min_cost_matchings(
                costs, self.edges_, len(self.nodes_), *masks, perfect=self.perfect
            )
        else:
            rows, columns = self.edges_[:, 0], self.edges_[:, 1] - self._shape[0]
            outputs, values = min_cost_pairings(
                costs, rows, columns, self._shape, *masks, perfect=self.perfect
            )
        return outputs, values, values

    # ------------------------------------------------------------- all outputs
    def _open_graph(self) -> Any:
        """What constraints leave open: nodes, edges between them and the columns of these.

        None where constraints contradict.
        """
        constraints, n_nodes = self._one_row(), len(self.nodes_)
        fixed, free, possible = hold_edges(self.edges_, n_nodes, constraints.low, constraints.high)
        if not possible[0]:
            return None
        nodes = np.setdiff1d(np.arange(n_nodes), self.edges_[fixed[0]])
        columns = np.flatnonzero(free[0])
        return nodes, np.searchsorted(nodes, self.edges_[columns]), columns

    @cached_property
    def _distribution(self) -> CompleteDistribution | StateGraph:
        """Matchings of what constraints leave open."""
        open_graph = self._open_graph()
        if open_graph is None:
            return CompleteMatchings(1, perfect=True)  # which has none
        nodes, ends, _ = open_graph
        distribution: CompleteDistribution = CompleteMatchings(len(nodes), self.perfect)
        if self._shape is not None:
            n_first = int((nodes < self._shape[0]).sum())
            distribution = CompletePairings(n_first, len(nodes) - n_first, self.perfect)
        if len(ends) == len(distribution.edges):
            return distribution
        return self._all_paths()

    def _all_paths(self) -> StateGraph:
        if self._paths is None:
            nodes, ends, _ = self._open_graph()
            raise UndecidableError(
                f"Matchings: counting those of a graph of {len(nodes)} nodes and {len(ends)} edges "
                f"takes more than {MOST_STEPS} steps; it is #P-hard in general, and easy for "
                "complete graphs, for few nodes and for graphs that are long and narrow."
            )
        return self._paths

    @cached_property
    def _count(self) -> int:
        return self._distribution.total

    def mean_embedding(self) -> np.ndarray:
        """Probability of every edge to be in a matching; shape (d,)."""
        self._check_not_empty()
        return self._spread(self._distribution.mean()[None], self._open_graph()[2])[0]

    def second_moment(self) -> np.ndarray:
        """Mean of psi psi' over all matchings; shape (d, d)."""
        self._check_not_empty()
        what = "The second moment over Matchings"
        check_square_fits(len(self.edges_), what, "covariance() needs no matrix.")
        mean, columns = self.mean_embedding(), self._open_graph()[2]
        moment = np.outer(mean, mean)  # right wherever one of the two is known
        moment[np.ix_(columns, columns)] = self._distribution.second_moment()
        return moment

    def covariance(self) -> Covariance:
        """Covariance of the edges under the uniform distribution."""
        if not self.constraints_.is_masked and isinstance(self._distribution, CompleteDistribution):
            return self._distribution.covariance()
        return super().covariance()

    def sample(self, n: int, rng: np.random.Generator | int | None) -> np.ndarray:
        """``n`` matchings drawn uniformly and independently; shape (n, d)."""
        self._check_not_empty()
        drawn = self._distribution.sample(n, np.random.default_rng(rng))
        return self._spread(drawn, self._open_graph()[2])

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All matchings in canonical form; shape (size, d)."""
        check_few(self.size(), limit, self, "matchings")
        if self.size() == 0:
            return np.zeros((0, len(self.edges_)), np.int8)
        return self._spread(self._all_paths().listed(), self._open_graph()[2])


def _names(group: Any) -> list[Any]:
    """Names of a group of nodes, which may be a single one."""
    if _is_number(group):
        return list(range(group))
    if isinstance(group, (str, bytes)) or not hasattr(group, "__iter__") or runs_dry(group):
        raise ValueError(
            f"Matchings: a group of nodes is a sequence of names, or how many there are; got "
            f"{group!r}."
        )
    return list(group.nodes) if is_networkx(group) else list(in_order(group))


def _is_number(group: Any) -> bool:
    return isinstance(group, (int, np.integer)) and not isinstance(group, bool)
