# SPDX-License-Identifier: BSD-3-Clause
"""Flows in a network."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from skstruct._arrays.imports import is_pandas
from skstruct.exceptions import InfeasibleError
from skstruct.saving import savable
from skstruct.spaces.description import Description
from skstruct.spaces.quantities.base import read_quantities
from skstruct.spaces.quantities.boxes import Range
from skstruct.spaces.quantities.constrained import ConstrainedSpace, LinearSystem, for_all
from skstruct.spaces.quantities.networks import read_network, read_supply, tight_cut
from skstruct.spaces.solvers.linear_constraints import read_constraints
from skstruct.tolerances import FEASIBLE

ATTRIBUTE = "flow"  # of the edges of a graph


@savable
@dataclass(frozen=True)
class FlowFormat:
    """How flows that came one object per row were written."""

    kind: str  # "arcs" {arc: flow}, "nested" {tail: {head: flow}} or "graphs"
    template: Any = None  # a graph to copy

    def write(self, Z: np.ndarray, labels: tuple[Any, ...], index: Any = None) -> list[Any]:
        writer = {"arcs": _to_arcs, "nested": _to_nested}.get(self.kind)
        if writer is not None:
            return [writer(row, labels) for row in np.asarray(Z).tolist()]
        return [self._to_graph(row, labels) for row in np.asarray(Z).tolist()]

    def _to_graph(
        self,
        row: list[float],
        labels: tuple[Any, ...],
    ) -> Any:
        graph = self.template.copy()
        for arc, flow in zip(labels, row):
            graph.edges[arc][ATTRIBUTE] = flow
        return graph


def read_flows(
    Y: Any, arcs: Any, graph: Any, *, used_by: str
) -> tuple[np.ndarray, tuple[Any, ...], Any]:
    """Flows (n, d), their arcs, and the format they came in."""
    plain = isinstance(Y, np.ndarray) and Y.dtype != object
    rows = None if plain or is_pandas(Y, "DataFrame") else list(Y)
    if rows and hasattr(rows[0], "is_directed"):
        values = [_from_graph(row, arcs, i, used_by) for i, row in enumerate(rows)]
        template = graph if hasattr(graph, "is_directed") else rows[0]
        format: Any = FlowFormat("graphs", template)
    elif rows and hasattr(rows[0], "keys"):
        nested = any(hasattr(value, "keys") for value in rows[0].values())
        read = _from_nested if nested else _from_arcs
        known = set(arcs)
        values = [read(row, arcs, known, i, used_by) for i, row in enumerate(rows)]
        format = FlowFormat("nested" if nested else "arcs")
    else:
        return read_quantities(Y, arcs, used_by=used_by)
    return read_quantities(np.array(values, dtype=object), arcs, used_by=used_by)[0], arcs, format


def _from_arcs(
    row: dict[Any, Any], arcs: tuple[Any, ...], known: set[Any], i: int, used_by: str
) -> list[Any]:
    unknown = [arc for arc in row if arc not in known]
    if unknown:
        raise ValueError(f"{used_by}: Y[{i}] names {unknown[0]!r}, which is no arc of the graph.")
    return [row.get(arc, 0.0) for arc in arcs]


def _from_nested(
    row: dict[str, Any],
    arcs: tuple[Any, ...],
    known: set[Any],
    i: int,
    used_by: str,
) -> list[float]:
    flat: dict[Any, Any]
    if arcs and len(arcs[0]) == 3:
        flat = {
            (tail, head, key): flow
            for tail, heads in row.items()
            for head, keys in heads.items()
            for key, flow in keys.items()
        }
    else:
        flat = {(tail, head): flow for tail, heads in row.items() for head, flow in heads.items()}
    return _from_arcs(flat, arcs, known, i, used_by)


def _from_graph(
    graph: Any,
    arcs: tuple[Any, ...],
    i: int,
    used_by: str,
) -> list[float]:
    missing = [arc for arc in arcs if not graph.has_edge(*arc)]
    if missing:
        raise ValueError(f"{used_by}: Y[{i}] has no edge {missing[0]!r}.")
    return [graph.edges[arc].get(ATTRIBUTE, 0.0) for arc in arcs]


def _to_arcs(row: list[float], labels: tuple[Any, ...]) -> dict[Any, Any]:
    return dict(zip(labels, row))


def _to_nested(
    row: list[float],
    labels: tuple[Any, ...],
) -> dict[str, Any]:
    nested: dict[Any, Any] = {}
    for arc, flow in zip(labels, row):
        inner = nested.setdefault(arc[0], {})
        if len(arc) == 3:
            inner.setdefault(arc[1], {})[arc[2]] = flow
        else:
            inner[arc[1]] = flow
    return nested


@savable
class Flows(ConstrainedSpace):
    r"""Flows along the arcs of a network: what comes into a node leaves it.

    .. math:: \sum_{k: (j, k)} z_{jk} - \sum_{k: (k, j)} z_{kj} = b_j, \qquad 0 \le z \le u

    The squared loss is a projection, exact while the weights sum to more than zero; a linear
    cost is a min-cost flow; the absolute loss and its relatives are linear programs where no
    weight is negative. For weights of any sign every arc cost is replaced by its lower convex
    hull: a bound, and the flow that it leads to is improved from there [1]_. On networks of up to
    40 arcs branch and bound then closes the gap to 1e-7 of the risk.

    Parameters
    ----------
    graph : networkx.DiGraph, networkx.MultiDiGraph or sequence of arcs
        Arcs are ``(tail, head)`` or ``(tail, head, capacity)``.
    supply : mapping, array or frame, default=None
        What comes in at each node (negative: goes out), adding up to zero; one row per
        training sample where supplies differ. The columns of an array are the nodes in the
        order of the graph, or of their first arcs. None takes the ``demand`` of the nodes of a
        networkx graph (minus the supply) or, where there is none, what the outputs of
        training say. Where these differ from row to row, give the supplies of new rows at
        prediction: ``restrict={"supply": ...}``.
    capacity : str, default="capacity"
        Edge attribute that holds capacities. An arc without one carries at most the whole
        supply, or what it carried in training if that was more.
    prove : bool, default=False
        Whether gaps are closed, however long that takes.
    max_boxes : int, default=None
        Boxes that branch and bound looks at in each row that has a gap, before the gap that is
        left is reported in ``bounds``; 0 for none. None means 20,000 for up to 40 arcs, where
        it mostly takes milliseconds, and none for more.

    Attributes
    ----------
    labels_ : tuple of arcs, the coordinates in this order
    network_ : nodes, arcs and capacities
    supply_ : array of shape (n_nodes,), or (n, n_nodes) where rows differ

    References
    ----------
    .. [1] C. Y. Goh and P. Jaillet, "Structured prediction by conditional risk
       minimization", section 6.2.

    Examples
    --------
    Two ways from s to t, of which one carries at most 0.6:

    >>> arcs = [("s", "a"), ("a", "t", 0.6), ("s", "b"), ("b", "t")]
    >>> space = Flows(arcs, {"s": 1, "t": -1})  # all is given: there is nothing to fit
    >>> min_cost = space.argmin(np.array([[1.0, 1.0, 2.0, 2.0]]))
    >>> space.restore(min_cost.outputs.round(9))[0]
    {('s', 'a'): 0.6, ('a', 't'): 0.6, ('s', 'b'): 0.4, ('b', 't'): 0.4}
    """

    def __init__(
        self,
        graph: Any,
        supply: Any = None,
        *,
        capacity: str = "capacity",
        prove: bool = False,
        max_boxes: int | None = None,
    ) -> None:
        self.graph = graph
        self.supply = supply
        self.capacity = capacity
        self.prove = prove
        self.max_boxes = max_boxes

    # ------------------------------------------------------------- learning
    _learned: ClassVar[tuple[str, ...]] = (
        *ConstrainedSpace._learned,
        "network_",
        "supply_",
        "incidence_",
    )
    _plain_form = FlowFormat("arcs")

    def _names_alone(self) -> tuple[Any, ...] | None:
        network = read_network(self.graph, self.capacity)
        if self.supply is None:
            return None if network.demand is None else network.arcs
        return network.arcs if read_supply(self.supply, network).ndim == 1 else None

    def _open(self) -> None:
        self.network_ = read_network(self.graph, self.capacity)
        super()._open()

    def fit(self, Y: Any) -> Self:
        """Learn the form of the flows, and supplies that were left open."""
        self.network_ = read_network(self.graph, self.capacity)
        return super().fit(Y)

    def fit_costs(self, costs: Any) -> Self:
        """Learn the form of the flows from costs of the arcs, where the supply is given."""
        self.network_ = read_network(self.graph, self.capacity)
        if self._names_alone() is None:
            raise ValueError(
                "Flows: costs of arcs do not tell the supply of the nodes; give the same one for "
                "all rows, supply={node: amount}, and others at prediction by restrict."
            )
        return super().fit_costs(costs)

    def _given_labels(self) -> tuple[Any, ...] | None:
        return self.network_.arcs

    def _read(
        self, Y: Any, labels: tuple[Any, ...] | None
    ) -> tuple[np.ndarray, tuple[Any, ...], Any]:
        return read_flows(Y, labels, self.graph, used_by="Flows")

    def _learn(self, Z: np.ndarray) -> None:
        self.most_seen_ = Z.max(axis=0, initial=0.0)
        self.incidence_ = self.network_.incidence
        self.supply_ = self._learned_supply(Z)
        if self.supply_.ndim == 2 and len(self.supply_) != len(Z):
            raise ValueError(
                f"Flows: supply has {len(self.supply_)} rows for {len(Z)} training outputs."
            )
        self.constraints_ = self._system(self.supply_, of_training=self.supply_.ndim == 2)
        self._check_carried()
        self._check_inside(Z, training=True)

    def _learned_supply(self, Z: np.ndarray) -> Any:
        if self.supply is not None:
            return read_supply(self.supply, self.network_)
        if self.network_.demand is not None:
            demand = zip(self.network_.nodes, -self.network_.demand)
            return read_supply(dict(demand), self.network_)
        supplies = (self.incidence_ @ Z.T).T  # what training outputs say
        alike = np.ptp(supplies, axis=0).max() <= FEASIBLE * max(1.0, np.abs(supplies).max())
        return supplies.mean(axis=0) if alike else supplies

    def _system(self, supply: np.ndarray, of_training: bool = False) -> LinearSystem:
        through = np.maximum(np.atleast_2d(supply), 0.0).sum(axis=1, keepdims=True)
        capacity = self.network_.capacity
        most = np.where(np.isinf(capacity), np.maximum(self.most_seen_, through), capacity)
        bounds = Range(np.zeros((1, len(capacity))), most)
        constraints = for_all(read_constraints(self.incidence_, supply))
        return LinearSystem(constraints, bounds, of_training)

    def _check_carried(self) -> None:
        """Raise where the network cannot carry the (first) supply."""
        if self._cut(0) is not None:
            raise self._explained(InfeasibleError("", 0))

    def _cut(self, row: int) -> str | None:
        """Where the network is too narrow for the supply of a row."""
        system = self.constraints_.rows([row])
        return tight_cut(self.network_, system.constraints.b_eq, system.range.high[0])

    def _explained(self, error: InfeasibleError) -> InfeasibleError:
        cut = self._cut(error.row or 0)
        if cut is None:
            return super()._explained(error)
        row = error.row
        return InfeasibleError(f"Flows: no flow carries the supply of row {row}: {cut}.", row)

    def restrict(self, *, supply: Any) -> Self:
        """The same network with another supply.

        Parameters
        ----------
        supply : as in the constructor; one row per sample where supplies differ
        """
        self._ready()
        return self._within(self._system(read_supply(supply, self.network_)))

    def _named(self, constraints: Any, z: np.ndarray) -> str:
        off = self.incidence_ @ z - constraints.b_eq
        v = int(np.abs(off).argmax())
        return (
            f"{off[v] + constraints.b_eq[v]:.6g} more leaves the node {self.network_.nodes[v]!r} "
            f"than enters it, not {constraints.b_eq[v]:.6g}"
        )


Description.at(Flows, "skstruct.spaces.quantities.description:DescriptionOfFlows")
