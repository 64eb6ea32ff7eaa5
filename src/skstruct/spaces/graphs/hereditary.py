# SPDX-License-Identifier: BSD-3-Clause
"""Hereditary properties: every subset of edges inherits them, and decoding is hard."""

from collections.abc import Callable
from typing import Any

import numpy as np

from skstruct.spaces.contracts import EXACT, Guarantee
from skstruct.spaces.edge_sets.formats import as_networkx
from skstruct.spaces.edge_sets.spanning_trees import are_bipartite, min_cost_forests
from skstruct.spaces.graphs.independence_systems import min_cost_members, n_blocks
from skstruct.spaces.graphs.properties import (
    GraphProperty,
    n_acyclic_digraphs,
    n_bipartite,
    name_cycle,
    outweighing,
)
from skstruct.spaces.solvers.k_best import min_cost
from skstruct.spaces.solvers.linear_ordering import (
    MOST_ITEMS,
    close_transitively,
    linear_orders,
    min_cost_orders,
    ranks_of,
)
from skstruct.spaces.solvers.pairwise.solve import CORE, minimize


def better_of_siblings(
    costs: np.ndarray, psi: np.ndarray, siblings: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    r"""The cheaper of an output and its opposite, row by row.

    Where every output z of a space has a sibling r(z) with :math:`\psi(z) + \psi(r(z)) = s`,
    the same s for all of them, this is a 1/2-approximation, whatever the costs are and
    whichever output one starts from:

    .. math:: \max - v \ge \tfrac12 (\max - \min), \qquad v = \min(\langle c, \psi(y) \rangle,
              \langle c, \psi(r(y)) \rangle) \le \tfrac12 \langle c, s \rangle
              = \tfrac12 (\max + \min),

    since the sibling of the minimum-cost output is the most expensive. The rule "keep y where its
    cost is not positive" has no such guarantee unless s is orthogonal to c.

    Parameters
    ----------
    costs, psi, siblings : arrays of shape (n, d)
        Costs, and the embeddings of an output and of its sibling, for every row.

    Returns
    -------
    swapped : bool array of shape (n,)
        Where the sibling is the cheaper one.
    values : array of shape (n,)

    Examples
    --------
    >>> psi = np.array([[1.0, 0.0, 1.0]])
    >>> better_of_siblings(np.array([[2.0, -1.0, 0.5]]), psi, 1 - psi)
    (array([ True]), array([-1.]))

    References
    ----------
    Vembu (2010). Learning to predict combinatorial structures. Section 5.4.
    """
    own, other = np.einsum("nd,nd->n", costs, psi), np.einsum("nd,nd->n", costs, siblings)
    swapped = other < own
    return swapped, np.where(swapped, other, own)


LISTED = 12  # edges: of so many all sets are listed, and decoding is exact


def grow_sets(
    holds: Callable[..., Any], low: np.ndarray, high: np.ndarray, n_most: int
) -> np.ndarray | None:
    """All sets low..high with an inherited property, edge by edge; None if more than n_most."""
    rows = low[None].astype(np.int8)
    rows = rows[holds(rows)] if (low <= high).all() else rows[:0]
    for edge in np.flatnonzero(high & ~low):
        added = rows.copy()
        added[:, edge] = 1
        rows = np.concatenate([rows, added[holds(added)]])
        if len(rows) > n_most:
            return None
    return rows


class Inherited(GraphProperty):
    """Decoded by listing where edges are few, else by blocks of edges, greedily improved."""

    hereditary = True
    most: int | None = None  # no set has more edges

    def guarantee(self, constraints: Any) -> Guarantee:
        if len(self.edges) <= LISTED:
            return EXACT
        return Guarantee("ratio", 1 / n_blocks(len(self.edges)), "blocks of log2(d) edges")

    def decode(
        self, costs: np.ndarray, constraints: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if len(self.edges) <= LISTED:
            return self._from_list(costs, constraints)
        return self._by_blocks(costs, constraints)

    def _from_list(
        self, costs: np.ndarray, constraints: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if not hasattr(self, "_members"):
            low = np.zeros(len(self.edges), bool)
            self._members: Any = grow_sets(self.holds, low, ~low, 2**LISTED)
        members = self._members
        broken = constraints.low @ (1.0 - members).T + ~constraints.high @ members.T.astype(float)
        best, values = min_cost(np.where(broken > 0, np.inf, costs @ members.T))
        return members[best], values, values

    def _by_blocks(
        self, costs: np.ndarray, constraints: Any, starts: Any = ()
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        def holds(edges: np.ndarray) -> Any:
            row = np.zeros((1, len(self.edges)), np.int8)
            row[0, edges] = 1
            return self.holds(row)[0]

        masks = {"low": constraints.low, "high": constraints.high}
        return min_cost_members(costs, holds, **masks, most=self.most, starts=starts)


class Custom(Inherited):
    """Any test of a networkx graph."""

    slow = True

    def __init__(self, table: Any, test: Callable[..., Any]) -> None:
        super().__init__(table)
        self.test = test
        if not test(as_networkx(table, np.zeros(len(table.edges)))):
            raise ValueError(
                f"Graphs: the property {self.name} must be one that every subset of edges "
                "inherits, but the graph without edges has it not."
            )

    @property
    def name(self) -> str:
        return getattr(self.test, "__name__", repr(self.test))

    def why_not(self, row: np.ndarray) -> str:
        return "" if self.holds(row[None])[0] else f"has not the property {self.name}"

    def holds(self, Z: np.ndarray) -> np.ndarray:
        return np.array([bool(self.test(as_networkx(self.table, row))) for row in Z], dtype=bool)


class Planar(Inherited):
    """Drawn without crossings: at most 3N - 6 edges, and a union of three forests.

    The minimum-cost forest gains at least a third of the best (Nash-Williams: the edges of a
    planar graph split into three forests), and more edges are added to it.
    """

    slow = True

    def __init__(self, table: Any) -> None:
        super().__init__(table)
        self.most = max(3 * self.n_nodes - 6, 1)

    def why_not(self, row: np.ndarray) -> str:
        import networkx

        planar, parts = networkx.check_planarity(as_networkx(self.table, row), counterexample=True)
        if planar:
            return ""
        corners = [name for name, degree in parts.degree() if degree > 2]
        kind = "K5" if len(corners) == 5 else "K3,3"
        return f"is not planar: it has a subdivision of {kind} with corners {corners!r}"

    def holds(self, Z: np.ndarray) -> np.ndarray:
        import networkx

        size = Z.sum(axis=1)
        planar: np.ndarray = size < 9  # K3,3 has nine edges, K5 has ten
        for i in np.flatnonzero(~planar & (size <= self.most)):
            graph = networkx.Graph(self.edges[Z[i] > 0].tolist())
            planar[i] = networkx.check_planarity(graph)[0]
        return planar

    def guarantee(self, constraints: Any) -> Guarantee:
        promise = super().guarantee(constraints)
        if promise == EXACT or constraints.low.any():
            return promise
        return Guarantee("ratio", 1 / 3, "the minimum-cost forest")

    def decode(
        self, costs: np.ndarray, constraints: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if len(self.edges) <= LISTED or constraints.low.any():
            return super().decode(costs, constraints)
        forests = min_cost_forests(
            costs, self.edges, self.n_nodes, constraints.low, constraints.high
        )[0]
        return self._by_blocks(costs, constraints, starts=[forests])


class Acyclic(Inherited):
    r"""Directed graphs without cycle: the arcs of an order that lead forward, or some of them.

    Minimized as linear ordering, where p before q costs :math:`\min(0, c_{pq})`. The arcs of
    the reversed order are the others: the better of both gains at least half of all.
    """

    def why_not(self, row: np.ndarray) -> str:
        return name_cycle(self.table, row)

    def holds(self, Z: np.ndarray) -> np.ndarray:
        """Nodes that nothing leads to are taken away until none is left."""
        alive = np.ones((len(Z), self.n_nodes), bool)
        u, v = self.edges.T
        for _ in range(self.n_nodes):
            row, arc = np.nonzero(Z * alive[:, u])
            reached = np.zeros_like(alive)
            reached[row, v[arc]] = True
            alive &= reached
        return np.asarray(~alive.any(axis=1))

    def count_all(self) -> int | None:
        return n_acyclic_digraphs(self.n_nodes)

    def guarantee(self, constraints: Any) -> Guarantee:
        if self.n_nodes <= MOST_ITEMS:
            return EXACT
        if constraints.low.any():
            return super().guarantee(constraints)
        return Guarantee("ratio", 0.5, "the better of an order and its reverse")

    def decode(
        self, costs: np.ndarray, constraints: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        low, high, n = constraints.low, constraints.high, self.n_nodes
        if low.any() and n > MOST_ITEMS:
            return self._by_blocks(costs, constraints)
        gains = np.where(high & ~low, np.minimum(costs, 0.0), 0.0)
        matrix = np.zeros((len(costs), n, n))
        u, v = self.edges.T
        matrix[:, u, v] = gains
        orders, values, bounds = (self._fixed if low.any() else self._free)(matrix, low)
        ranks = ranks_of(orders)
        forward, gainful = ranks[:, u] < ranks[:, v], gains < 0
        taken = forward & gainful
        if not low.any():
            swapped = better_of_siblings(costs, taken, gainful & ~forward)[0]
            taken ^= swapped[:, None] & gainful
        outputs = (taken | low).astype(np.int8)
        feasible = np.isfinite(values) & (low <= high).all(axis=1)
        values = np.where(feasible, (costs * outputs).sum(axis=1), np.inf)
        exact = self.guarantee(constraints) == EXACT
        return outputs, values, values if exact else np.minimum(bounds, values)

    def _free(
        self, matrix: np.ndarray, low: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        p, q = np.triu_indices(self.n_nodes, 1)
        ahead, back = matrix[:, p, q], matrix[:, q, p]
        orders, values, bounds = linear_orders((ahead - back) / 2, self.n_nodes)
        mean = ((ahead + back) / 2).sum(axis=1)
        return orders, values + mean, bounds + mean

    def _fixed(
        self, matrix: np.ndarray, low: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        u, v = self.edges.T
        before = np.zeros((len(low), self.n_nodes, self.n_nodes), bool)
        before[:, u, v] = low
        before = close_transitively(before)
        orders, values = min_cost_orders(len(matrix), self.n_nodes, pairs=matrix, before=before)
        return orders, values, values


class Bipartite(Inherited):
    """Two sides with edges across: a cut, of which all edges that gain are taken."""

    def __init__(self, table: Any) -> None:
        super().__init__(table)
        self.most = self.n_nodes**2 // 4

    def why_not(self, row: np.ndarray) -> str:
        import networkx

        cycles = networkx.cycle_basis(as_networkx(self.table, row))
        odd = next((cycle for cycle in cycles if len(cycle) % 2), None)
        if odd is None:
            return ""
        return "has the odd cycle " + " - ".join(repr(name) for name in [*odd, odd[0]])

    def holds(self, Z: np.ndarray) -> np.ndarray:
        return are_bipartite(Z, self.edges, self.n_nodes)

    def count_all(self) -> int | None:
        return n_bipartite(self.n_nodes)

    @property
    def _is_small(self) -> bool:
        return self.n_nodes <= CORE + 1  # the side of one node may be chosen

    def guarantee(self, constraints: Any) -> Guarantee:
        if self._is_small:
            return EXACT
        if constraints.low.any():
            return super().guarantee(constraints)
        return Guarantee("ratio", 0.5, "a cut of at least half of all gains")

    def decode(
        self, costs: np.ndarray, constraints: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        if not self._is_small and constraints.low.any():
            return self._by_blocks(costs, constraints)
        low, high = constraints.low, constraints.high
        # An edge that must be in and is not across costs more than all else can gain.
        gains = np.where(low, -outweighing(costs), np.where(high, np.minimum(costs, 0.0), 0.0))
        sides = self._min_cost_sides(gains)
        u, v = self.edges.T
        across = sides[:, u] != sides[:, v]
        outputs = (across & (low | (high & (costs < 0)))).astype(np.int8)
        feasible = (low <= high).all(axis=1) & (outputs >= low).all(axis=1)
        values = np.where(feasible, (costs * outputs).sum(axis=1), np.inf)
        if self._is_small:
            return outputs, values, values
        ordered = np.sort(np.where(high, np.minimum(costs, 0.0), 0.0), axis=1)
        return outputs, values, np.minimum(ordered[:, : self.most].sum(axis=1), values)

    def _min_cost_sides(self, gains: np.ndarray) -> np.ndarray:
        """0/1 sides of all nodes, the first at 0: sum over edges of gain where sides differ.

        1[y_u != y_v] = y_u + y_v - 2 y_u y_v.
        """
        n, (u, v) = len(gains), self.edges.T
        nodes = np.zeros((n, self.n_nodes))
        for end in (u, v):
            np.add.at(nodes.T, end, gains.T)
        inner = u > 0
        pairs = self.edges[inner] - 1
        rest = minimize(np.ascontiguousarray(nodes[:, 1:]), -2 * gains[:, inner], pairs)[0]
        sides = np.hstack([np.zeros((n, 1), np.int8), rest])
        return sides if self._is_small else self._better_cut(gains, sides)

    def _better_cut(self, gains: np.ndarray, sides: np.ndarray) -> np.ndarray:
        """These sides or, where it is better, node by node the side that cuts more."""
        weight = np.zeros((len(gains), self.n_nodes, self.n_nodes))
        u, v = self.edges.T
        weight[:, u, v] = weight[:, v, u] = gains
        signs = np.zeros((len(gains), self.n_nodes))
        for node in range(self.n_nodes):
            pull = np.einsum("nv,nv->n", weight[:, node], signs)
            signs[:, node] = np.where(pull <= 0, -1.0, 1.0)
        own = (gains * (sides[:, u] != sides[:, v])).sum(axis=1)
        other = (gains * (signs[:, u] != signs[:, v])).sum(axis=1)
        return np.where((other < own)[:, None], (signs > 0).astype(np.int8), sides)
