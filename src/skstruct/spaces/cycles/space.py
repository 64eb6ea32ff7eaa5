# SPDX-License-Identifier: BSD-3-Clause
"""Simple cycles through some of N nodes: tours, round trips, routes."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skstruct.exceptions import UndecidableError
from skstruct.saving import savable
from skstruct.spaces.base import check_k, decoded_or_infeasible
from skstruct.spaces.constraints import check_feasible, label_mask
from skstruct.spaces.contracts import EXACT, Decoded, Guarantee
from skstruct.spaces.coordinates import Coordinates
from skstruct.spaces.cycles.constrained import CycleProblem, decides_exactly
from skstruct.spaces.cycles.constraints import CycleConstraints, read_sizes
from skstruct.spaces.cycles.distribution import LawfulCycles
from skstruct.spaces.cycles.formats import learn_nodes, read_tours, tour_rows, why_not_a_cycle
from skstruct.spaces.cycles.tours import SHORTEST, arc_columns, rows_to_tours, tours_to_rows
from skstruct.spaces.description import Description
from skstruct.spaces.edge_sets.table import EdgeTable, complete_edges
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.uniform import Uniform

EMBEDDINGS = ("signed pairs", "indicators")


@savable
class Cycles(LawfulCycles):
    r"""Simple cycles through at least three of N nodes.

    Outputs are lists of nodes in order of travel, the way back to the first one implied;
    or sets of edges, networkx graphs, 0/1 arrays (n, d), adjacency arrays (n, N, N). The form
    that came in comes out; lists start at the node that is first in ``nodes_``. Without
    direction a cycle and its reverse are the same. Where nodes are pairs themselves, such as
    squares of a board, give ``nodes``: a list of pairs is read as one of edges otherwise.

    Canonical outputs are int8 (n, d): 0/1 over the arcs (u, v), row by row, or over the edges
    u < v. There are :math:`\sum_{i \geq 3} \binom{N}{i}(i-1)!` directed cycles, and half as
    many without direction.

    Parameters
    ----------
    nodes : sequence of names, int or networkx graph, default=None
        The nodes; learned from ``Y`` when None.
    directed : bool, default=True
    embedding : "signed pairs" or "indicators", default=None
        :math:`\psi(z)`. "indicators" are the 0/1 numbers themselves. "signed pairs", for
        directed cycles only and their default, have one number for each pair u < v: 1 where
        the cycle goes from u to v, -1 where it goes from v to u. These see directions only,
        not *which* nodes are visited: what goes into a node goes out of it, so that a cost
        :math:`p_u - p_v` of going from u to v is zero for every cycle. Use "indicators" where
        nodes or arcs have a worth of their own.
    prove : bool, default=False
        With more than 16 nodes the answer may have a gap to its bound: close it by integer
        programs, in up to two minutes a row. The bounds say where that did not suffice.
        Undirected round trips through all nodes (``restrict(min_size=N)``) are first tried by
        branch and bound, which with random costs proves the best of 50 nodes within
        hundredths of a second; rows for which that is too much work go on as the others.
    constraints : CycleConstraints, default=None
        What ``restrict`` sets.

    Notes
    -----
    A path with known start and end is a cycle in which the arc from its end to its start is
    known: ``restrict(include_edges=[(end, start)])``; see the last example.

    Examples
    --------
    >>> import numpy as np
    >>> space = Cycles().fit([["Bonn", "Rome", "Oslo"], ["Riga", "Oslo", "Rome", "Bonn"]])
    >>> space.nodes_, space.size()
    (('Bonn', 'Oslo', 'Riga', 'Rome'), 14)
    >>> costs = np.array([[1.0, 0.2, -0.5, 0.3, 2.0, 0.1]])  # Bonn-Oslo, Bonn-Riga, ...
    >>> best = space.argmin(costs)
    >>> space.restore(best.outputs)[0], best.values.round(2), best.bounds.round(2)
    (['Bonn', 'Rome', 'Oslo'], array([-3.5]), array([-3.5]))
    >>> short = space.restrict(include=["Riga"], max_size=3)
    >>> short.restore(short.argmin(costs).outputs)[0]
    ['Oslo', 'Riga', 'Rome']

    The minimum-cost path from Bonn to Riga, with a cost for every arc:

    >>> from skstruct.spaces import Embeddings
    >>> arcs = Embeddings.of(space).view("indicators")
    >>> arcs = arcs.restrict(include_edges=[("Riga", "Bonn")])
    >>> path = arcs.argmin(np.arange(12.0)[None])
    >>> arcs.restore(path.outputs)[0]
    ['Bonn', 'Oslo', 'Riga']

    References
    ----------
    Vembu (2010), "Learning to predict combinatorial structures", appendix B; Held and Karp
    (1971), "The traveling-salesman problem and minimum spanning trees: part II".
    """

    _constraints_kind = CycleConstraints

    def __init__(
        self,
        nodes: int | Iterable[Any] | None = None,
        directed: bool = True,
        embedding: str | None = None,
        *,
        prove: bool = False,
        constraints: CycleConstraints | None = None,
    ) -> None:
        self.nodes = nodes
        self.directed = directed
        self.embedding = embedding
        self.prove = prove
        self.constraints = constraints

    # ------------------------------------------------------------- embedding
    @property
    def embedding(self) -> str:
        """The name of psi."""
        if self._given_embedding is None:
            return "signed pairs" if self.directed else "indicators"
        return self._given_embedding

    @embedding.setter
    def embedding(self, name: str | None) -> None:
        self._given_embedding = name

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        # None is a parameter: a clone may be given another direction.
        params: dict[str, Any] = super().get_params(deep)
        return params | {"embedding": self._given_embedding}

    @property
    def _signed(self) -> bool:
        if self.embedding not in EMBEDDINGS:
            raise ValueError(
                f"Cycles: embedding is 'signed pairs' or 'indicators'; got {self.embedding!r}."
            )
        signed = self.embedding == "signed pairs"
        if signed and not self.directed:
            raise ValueError("Cycles: signed pairs are of directed cycles; use 'indicators'.")
        return signed

    @property
    def labels_(self) -> tuple[Any, ...]:
        """Names of the coordinates of psi: pairs, +1 from the first to the second; or edges."""
        table = self._table
        if self._signed:
            table = EdgeTable(self.nodes_, complete_edges(len(self.nodes_), False), False)
        return table.labels

    @property
    def edge_labels_(self) -> tuple[Any, ...]:
        """Names of the columns of outputs: the two nodes of every edge."""
        return self._table.labels

    @property
    def _directed(self) -> bool:
        return self.directed

    def embed(self, Z: np.ndarray) -> np.ndarray:
        """psi, float64 of shape (n, d)."""
        if not self._signed:
            return np.asarray(Z, dtype=np.float64)
        there, back = arc_columns(len(self.nodes_))
        Z = np.asarray(Z)
        return np.subtract(Z[:, there], Z[:, back], dtype=np.float64)

    # ------------------------------------------------------------- the user's format
    def _possible_edges(self, nodes: tuple[Any, ...]) -> np.ndarray:
        if len(nodes) < SHORTEST:
            hint = "" if self.nodes is not None else " If nodes are pairs themselves, give nodes."
            raise ValueError(f"Cycles: a cycle has at least 3 nodes; there are {len(nodes)}.{hint}")
        return super()._possible_edges(nodes)

    def _read_graphs(
        self, Y: Any, nodes: tuple[Any, ...] | None
    ) -> tuple[np.ndarray, tuple[Any, ...], Any]:
        self._signed  # noqa: B018 - an embedding that is wrong says so now
        Y = list(Y) if hasattr(Y, "__next__") else Y  # it is looked at more than once
        found = tour_rows(Y, nodes, "Cycles")
        if found is None:
            return super()._read_graphs(Y, nodes)
        rows, format = found
        if nodes is None:
            nodes = learn_nodes(rows, "Cycles")
            table = EdgeTable(nodes, self._possible_edges(nodes), self.directed)
        else:
            table = self._table
        return tours_to_rows(read_tours(rows, nodes, "Cycles"), table), nodes, format

    def tours(self, Z: np.ndarray) -> np.ndarray:
        """Nodes in order of travel, as positions in ``nodes_``, padded with -1; (n, N)."""
        return rows_to_tours(np.asarray(Z), self._table)[0]

    # ------------------------------------------------------------- members
    def _holds(self, Z: np.ndarray) -> np.ndarray:
        return rows_to_tours(Z, self._table)[1]

    def _why_not(self, row: np.ndarray) -> str:
        return why_not_a_cycle(row, self._table)

    @property
    def constraints_(self) -> Any:
        """What predicted cycles must obey, a :class:`CycleConstraints`."""
        N, d = len(self.nodes_), len(self.edges_)
        if self.constraints is None:
            return CycleConstraints.none(N, d)
        if self.constraints.low.shape[1] != d:
            raise ValueError(
                f"Cycles was restricted for {self.constraints.low.shape[1]} edges between "
                f"{self.constraints.open.shape[1]} nodes; there are {d} between {N}."
            )
        return self.constraints

    def _constraints_sizes(self) -> tuple[Any, ...]:
        return self.dag_.n_nodes, len(self.nodes_)

    def contains(self, Z: np.ndarray) -> np.ndarray:
        """Whether each row is a cycle of this space, constraints included; shape (n,)."""
        inside = super().contains(Z)
        row, column = np.nonzero(np.asarray(Z))
        visited = np.zeros((len(inside), len(self.nodes_)), bool)
        visited[row[:, None], self.edges_[column]] = True
        return inside & self.constraints_.allow_nodes(visited)

    def restrict(
        self,
        *,
        include: Any = None,
        exclude: Any = None,
        min_size: ArrayLike | None = None,
        max_size: ArrayLike | None = None,
        include_edges: Any = None,
        exclude_edges: Any = None,
    ) -> Self:
        """The same space, narrowed.

        Parameters
        ----------
        include, exclude : names of nodes, the same for all rows or a collection per row
            Nodes to visit and nodes to avoid; also 0/1 arrays of shape (n, N).
        min_size, max_size : int, or one per row
            Constraints on the number of nodes.
        include_edges, exclude_edges : pairs of names, for all rows or a collection per row
            Arcs (edges, without direction) that are used and that are not; also networkx
            graphs, or 0/1 arrays of shape (n, d).
        """
        none = CycleConstraints.none(len(self.nodes_), len(self.edges_))
        smallest = read_sizes(min_size, "min_size", "Cycles")
        largest = read_sizes(max_size, "max_size", "Cycles")
        asked = CycleConstraints(
            low=self._table.mask(include_edges, "include_edges", "Cycles"),
            high=~self._table.mask(exclude_edges, "exclude_edges", "Cycles"),
            visited=label_mask(include, self.nodes_, "include", "Cycles"),
            open=~label_mask(exclude, self.nodes_, "exclude", "Cycles"),
            smallest=none.smallest if smallest is None else smallest,
            largest=none.largest if largest is None else largest,
        )
        return self._limited(self.constraints_.narrow(asked))

    # ------------------------------------------------------------- decoding
    @property
    def guarantee(self) -> Guarantee:
        N, constraints = len(self.nodes_), self.constraints_
        if decides_exactly(constraints):
            return EXACT
        if self._signed and constraints.is_free:
            # With R the reward found and R* the largest one: R >= R*/floor(N/3), and the
            # worst cycle, the reverse of the best, costs R*.
            ratio = 0.5 + 0.5 / (N // 3)
            return Guarantee("ratio", ratio, "assignment bound; a reverse costs the opposite")
        return Guarantee("bound only")

    def _problem(self, costs: np.ndarray) -> tuple[np.ndarray, CycleProblem]:
        d = len(self.edges_)
        costs = self._checked_costs(costs, d // 2 if self._signed else d)
        arcs = np.zeros((len(costs), len(self.nodes_), len(self.nodes_)))
        u, v = np.triu_indices(len(self.nodes_), 1) if self._signed else self.edges_.T
        arcs[:, u, v] = costs
        if self._signed or not self.directed:
            arcs[:, v, u] = -costs if self._signed else costs
        return costs, CycleProblem.of(arcs, self.constraints_, self._table)

    def argmin(self, costs: np.ndarray) -> Decoded:
        """For every row the cycle of least cost; costs of shape (n, d)."""
        _, problem = self._problem(costs)
        outputs, values, bounds = problem.best(self.prove)
        lost = np.flatnonzero(np.isinf(values) & np.isfinite(bounds))
        if len(lost):
            raise UndecidableError(
                f"Cycles: no cycle within the constraints was found in row {lost[0]}, and that "
                f"there is none was not shown{'' if self.prove else '; prove=True tries longer'}."
            )
        return decoded_or_infeasible(outputs, values, bounds, self)

    def kbest(self, costs: np.ndarray, k: int) -> Decoded:
        """The ``k`` minimum-cost cycles of every row: outputs (n, k, d), values (n, k)."""
        k = check_k(k, "Cycles")
        if not decides_exactly(self.constraints_):
            raise ValueError(
                f"Cycles: the k best are known for up to 16 nodes; there are {len(self.nodes_)}."
            )
        costs, problem = self._problem(costs)
        Z, found = problem.k_best(k)
        n, m, d = Z.shape
        psi = self.embed(Z.reshape(n * m, d)).reshape(n, m, costs.shape[1])
        values = np.where(found, np.einsum("nmd,nd->nm", psi, costs), np.inf)
        order = np.argsort(values, axis=1, kind="stable")[:, :k]
        Z = np.take_along_axis(Z, order[:, :, None], axis=1)
        values = np.take_along_axis(values, order, axis=1)
        finite = np.isfinite(values)
        check_feasible(np.asarray(finite.any(axis=1)), self)
        known = finite.any(axis=0)
        return Decoded(Z[:, known], values[:, known], values[:, known])


Coordinates.at(Cycles, "skstruct.spaces.cycles.coordinates:CoordinatesOfCycles")
Description.at(Cycles, "skstruct.spaces.cycles.description:DescriptionOfCycles")
Marginals.at(Cycles, "skstruct.spaces.cycles.marginals:MarginalsOfCycles")
Uniform.at(Cycles, "skstruct.spaces.cycles.uniform:UniformOfCycles")
Embeddings.at(Cycles, "skstruct.spaces.cycles.coordinates:EmbeddingsOfCycles")
