# SPDX-License-Identifier: BSD-3-Clause
"""Partial orders of named items as outputs."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import NotFittedError

from skstruct.saving import savable
from skstruct.spaces.common.counting import LIMIT
from skstruct.spaces.constraints import Constraints
from skstruct.spaces.contracts import EXACT, Guarantee
from skstruct.spaces.description import Description
from skstruct.spaces.edge_sets.formats import GraphFormat
from skstruct.spaces.edge_sets.space import EdgeSetSpace
from skstruct.spaces.entries import Entries, OrderedPairs
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.partial_orders.counting import COUNTS, MOST_LISTED, list_orders
from skstruct.spaces.partial_orders.decoding import (
    MOST_PROVEN,
    are_orders,
    as_matrices,
    closed,
    covers,
    min_cost_orders,
    swapped_columns,
)
from skstruct.spaces.partial_orders.formats import as_pairs
from skstruct.spaces.partial_orders.relaxation import OpenPairs
from skstruct.spaces.solvers.linear_ordering import close_transitively
from skstruct.spaces.solving import Solving


@savable
class PartialOrders(EdgeSetSpace):
    r"""Partial orders of N items: some come before others, other pairs are left open.

    .. math:: \psi_{ab}(z) = 1[a \text{ before } b], \qquad a \ne b,

    where relations are transitive and have no cycle; inner products are the edge kernel, the
    number of common relations. Predicted from partial orders or from rankings, which are total
    ones: with :class:`~skstruct.losses.Kendall` a ranking that abstains from pairs it is not sure
    of. Exact up to 10 items, by a dual bound over triples of items and branch and bound; beyond,
    every answer has a lower bound, which it mostly meets.

    Training outputs are collections of pairs (first, second), mappings from an item to those
    behind it, directed networkx graphs, relation matrices (n, N, N), indicators (n, N(N-1)), and
    rankings: ordered lists of names, best first, or ranks, one column per item. What follows from
    the relations is added. Predictions come back in the same form, those from rankings as sets of
    pairs, with all relations that they imply.

    Parameters
    ----------
    items : sequence of names, int or networkx graph, default=None
        What is ordered; an int N for 0, ..., N - 1. Learned from ``Y`` when None.
    prove : bool, default=False
        With more than 10 items the answer may have a gap to its bound: close it, whatever time
        that takes.
    constraints : Constraints, default=None
        What :meth:`restrict` sets.

    Attributes
    ----------
    items_ : tuple
    labels_ : tuple
        Ordered pairs of items, one per column: (a, b) stands for a before b.

    See Also
    --------
    Rankings : total orders.
    Tournaments : pairs that need not agree with any order.
    Poset : the elements of one partial order as outputs.

    Examples
    --------
    >>> space = PartialOrders().fit([["ann", "bob", "cem"], {("cem", "bob")}])
    >>> space.labels_[:3]
    (('ann', 'bob'), ('ann', 'cem'), ('bob', 'ann'))
    >>> costs = np.array([[-2.0, 3.0, 0.0, -1.0, 0.0, 0.0]])  # ann-cem would follow from both
    >>> decoded = space.argmin(costs)
    >>> space.restore(decoded.outputs)[0], decoded.values, decoded.bounds
    ({('ann', 'bob')}, array([-2.]), array([-2.]))
    >>> space.open_pairs(decoded.outputs)[0]
    [('ann', 'cem'), ('bob', 'cem')]
    >>> PartialOrders(4).size(), PartialOrders(10).size()
    (219, 6611065248783)

    References
    ----------
    Vembu (2010). Learning to predict combinatorial structures. Sections 3.1, 3.7 and 4.3.1.
    """

    _directed = True
    default_loss = "kendall"  # which sees whether truths are mostly open
    _named_by: ClassVar = {"items": "items_"}
    _pairs_of = ("items", "nodes", "learned_nodes_")  # nodes are the items, once more
    _constraints_rest_on: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        items: int | Iterable[Any] | None = None,
        *,
        prove: bool = False,
        constraints: Constraints | None = None,
    ) -> None:
        self.items = items
        self.prove = prove
        self.constraints = constraints

    # ------------------------------------------------------------- items and formats
    @property
    def nodes(self) -> Any:
        return self.items

    @property
    def nodes_(self) -> tuple[Any, ...]:
        if self.items is None and not hasattr(self, "learned_nodes_"):
            raise NotFittedError("PartialOrders learns its items from Y: call fit, or give items.")
        return super().nodes_

    @property
    def items_(self) -> tuple[Any, ...]:
        """Names of the items."""
        return self.nodes_

    def _read_graphs(
        self, Y: Any, nodes: tuple[Any, ...] | None
    ) -> tuple[np.ndarray, tuple[Any, ...], GraphFormat]:
        rows, known = as_pairs(Y, nodes, "PartialOrders")
        if nodes is None and known is not None:  # told by rankings, whether they order them or not
            self.learned_nodes_, nodes = known, known
            self._forget()
        Z, nodes, format = super()._read_graphs(rows, nodes)
        return closed(Z, len(nodes)), nodes, format

    def _holds(self, Z: np.ndarray) -> np.ndarray:
        return are_orders(Z, len(self._table.nodes))

    def _why_not(self, row: np.ndarray) -> str:
        before = as_matrices(np.asarray(row)[None], len(self.items_)).astype(bool)
        both = np.argwhere((before & before.swapaxes(1, 2))[0])
        if len(both):
            first, second = (self.items_[k] for k in both[0])
            return f"has a cycle: {first!r} comes before {second!r}, {second!r} before {first!r}"
        missing = np.argwhere((close_transitively(before) & ~before)[0])
        if len(missing):
            first, last = (self.items_[k] for k in missing[0])
            return f"does not say that {first!r} comes before {last!r}, which follows"
        return ""

    # ------------------------------------------------------------- what an output says
    def covers(self, Z: np.ndarray) -> list[list[tuple[Any, Any]]]:
        """Relations of canonical outputs with no item between, the arcs of their Hasse diagrams."""
        found = covers(np.asarray(Z), len(self.items_))
        return [[self.labels_[j] for j in np.flatnonzero(row)] for row in found]

    def open_pairs(self, Z: np.ndarray) -> list[list[tuple[Any, Any]]]:
        """Pairs of items that canonical outputs leave open, each named once."""
        Z = np.asarray(Z)
        swapped = swapped_columns(len(self.items_))
        first = np.arange(len(swapped)) < swapped
        is_open = (Z == 0) & (Z[:, swapped] == 0) & first
        return [[self.labels_[j] for j in np.flatnonzero(row)] for row in is_open]

    # ------------------------------------------------------------- decoding
    @property
    def guarantee(self) -> Guarantee:
        if self.prove or len(self.items_) <= MOST_PROVEN:
            return EXACT
        return Guarantee("bound only", 0.0, "dual bound over triples")

    def _decode(
        self, costs: np.ndarray, constraints: Constraints
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        low, high, n = constraints.low, constraints.high, len(self.items_)
        if self.hurried:
            return min_cost_orders(costs, low, high, n, most_nodes=0)
        return min_cost_orders(costs, low, high, n, prove=bool(self.prove))

    hurried = False  # whether the order found first will do

    # ------------------------------------------------------------- all outputs
    @property
    def counted(self) -> Any:
        """The space itself where its orders can be listed, else all partial tournaments."""
        return self if len(self.items_) <= MOST_LISTED else self.relaxation()

    def relaxation(self) -> OpenPairs:
        """All partial tournaments: every pair open, or ordered either way, by itself."""
        relaxed = OpenPairs(self.items_)
        relaxed.format_ = self._graph_format
        return relaxed

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All partial orders in canonical form; shape (size, d)."""
        constraints = self._one_row()
        return list_orders(constraints.low[0], constraints.high[0], len(self.items_), limit)

    @cached_property
    def _count(self) -> int:
        n = len(self.items_)
        if n < len(COUNTS) and not self._one_row().is_masked:
            return COUNTS[n]
        return len(self._listed)


Solving.at(PartialOrders, "skstruct.spaces.partial_orders.solving:SolvingOfPartialOrders")
Entries.at(PartialOrders, OrderedPairs)
Description.at(PartialOrders, "skstruct.spaces.partial_orders.description:DescriptionOfOrders")
Marginals.at(PartialOrders, "skstruct.spaces.partial_orders.marginals:MarginalsOfRelations")
