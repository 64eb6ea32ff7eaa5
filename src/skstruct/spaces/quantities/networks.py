# SPDX-License-Identifier: BSD-3-Clause
"""Networks of arcs with capacities, and what goes in and out at their nodes."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from skstruct._arrays.by_name import are_named, by_position
from skstruct._arrays.foreign import in_memory
from skstruct.saving import savable
from skstruct.spaces.common.formats import check_numbered, in_columns, is_missing_name
from skstruct.tolerances import FEASIBLE


@savable
@dataclass(frozen=True, eq=False)
class Network:
    """Nodes, arcs between them and the most that each arc carries."""

    nodes: tuple[Any, ...]
    arcs: tuple[Any, ...]  # (tail, head), or (tail, head, key) where arcs are parallel
    tails: np.ndarray  # node numbers, shape (d,)
    heads: np.ndarray
    capacity: np.ndarray  # shape (d,); infinite where there is none
    demand: np.ndarray | None = None  # of the nodes, where the graph names it
    number: dict[Any, Any] = field(default_factory=dict, repr=False)  # of each node

    @property
    def incidence(self) -> sparse.csr_array:
        """What leaves each node less what enters it, per unit of each arc; (n_nodes, d)."""
        d = len(self.arcs)
        ones = np.ones(d)
        positions = np.concatenate([self.tails, self.heads]), np.tile(np.arange(d), 2)
        shape = (len(self.nodes), d)
        return sparse.csr_array((np.concatenate([ones, -ones]), positions), shape=shape)

    @property
    def components(self) -> np.ndarray:
        """Number of the connected part that each node is in; shape (n_nodes,)."""
        n = len(self.nodes)
        links = sparse.csr_array((np.ones(len(self.arcs)), (self.tails, self.heads)), shape=(n, n))
        return connected_components(links, directed=False)[1]


def read_network(graph: Any, capacity: str = "capacity") -> Network:
    """A network from a networkx digraph, or from arcs (tail, head[, capacity]).

    Parameters
    ----------
    graph : networkx.DiGraph, networkx.MultiDiGraph or sequence of arcs
    capacity : str
        The edge attribute that holds capacities; arcs without it have none.
    """
    if hasattr(graph, "is_directed"):
        nodes, arcs, capacities, demand = _from_networkx(graph, capacity)
    else:
        nodes, arcs, capacities, demand = _from_list(graph)
    if not arcs:
        raise ValueError("Flows: the graph has no arcs.")
    number = {node: i for i, node in enumerate(nodes)}
    ends = np.array([[number[arc[0]], number[arc[1]]] for arc in arcs])
    most = _numbers(capacities, arcs)
    return Network(tuple(nodes), tuple(arcs), ends[:, 0], ends[:, 1], most, demand, number)


def _from_networkx(
    graph: Any, capacity: str
) -> tuple[list[Any], list[tuple[Any, ...]], list[float], np.ndarray | None]:
    if not graph.is_directed():
        raise ValueError(
            "Flows go along arcs: give a directed graph, such as graph.to_directed(), in which "
            "every edge is two arcs."
        )
    keyed = {"keys": True} if graph.is_multigraph() else {}
    listed = list(graph.edges(data=capacity, default=np.inf, **keyed))
    nodes = in_columns(graph.nodes)
    demand = dict(graph.nodes(data="demand"))
    known = any(value is not None for value in demand.values())
    wanted = np.array([demand[node] or 0.0 for node in nodes], dtype=float) if known else None
    return nodes, [arc[:-1] for arc in listed], [arc[-1] for arc in listed], wanted


def _from_list(arcs: Any) -> tuple[list[Any], list[tuple[Any, ...]], list[Any], None]:
    nodes, listed, capacities = {}, [], []
    arcs = arcs.tolist() if isinstance(arcs, np.ndarray) else arcs
    if not isinstance(arcs, Iterable):
        raise ValueError(f"Flows: the graph is a networkx.DiGraph or a list of arcs; got {arcs!r}.")
    for i, arc in enumerate(arcs):
        if isinstance(arc, str) or not hasattr(arc, "__len__") or len(arc) not in (2, 3):
            raise ValueError(
                f"Flows: an arc is (tail, head) or (tail, head, capacity); arc {i} is {arc!r}."
            )
        if any(map(is_missing_name, arc[:2])):
            raise ValueError(f"Flows: arc {i} is {arc!r}; a missing value cannot be a node.")
        nodes.update(dict.fromkeys(arc[:2]))
        listed.append(tuple(arc[:2]))
        capacities.append(arc[2] if len(arc) == 3 else np.inf)
    twice = len(listed) != len(set(listed))
    if twice:  # parallel arcs are told apart as networkx does
        seen: dict[Any, Any] = {}
        for i, arc in enumerate(listed):
            seen[arc] = seen.get(arc, -1) + 1
            listed[i] = (*arc, seen[arc])
    return in_columns(nodes), listed, capacities, None


def _numbers(capacities: list[Any], arcs: list[Any]) -> np.ndarray:
    try:
        most = np.array([np.inf if c is None else c for c in capacities], dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("Flows: capacities are numbers, one per arc.") from None
    bad = np.flatnonzero(np.isnan(most) | (most < 0))
    if len(bad):
        raise ValueError(f"Flows: the capacity of arc {arcs[bad[0]]!r} is {most[bad[0]]}.")
    return most


def read_supply(supply: Any, network: Network) -> np.ndarray:
    """What comes in at each node (goes out where negative): (n_nodes,), or one row per sample."""
    n = len(network.nodes)
    if isinstance(supply, (list, tuple)) and supply and hasattr(supply[0], "keys"):
        return np.stack([read_supply(row, network) for row in supply])
    supply = in_memory(supply)
    if not are_named(supply):
        check_numbered(network.nodes, "supply", "give {node: amount}, or a DataFrame", "Flows")
    supply = by_position(supply, network.nodes, what="supply", used_by="Flows", default=0.0)
    values = np.asarray(supply, dtype=np.float64)
    if values.ndim not in (1, 2) or values.shape[-1] != n:
        raise ValueError(
            f"Flows: supply is a number for each of {n} nodes, or a row of them for each sample; "
            f"got shape {values.shape}."
        )
    _check_balance(np.atleast_2d(values), network)
    return values


def _check_balance(supply: np.ndarray, network: Network) -> None:
    bad = np.argwhere(~np.isfinite(supply))
    if len(bad):
        row, v = bad[0]
        raise ValueError(
            f"Flows: the supply of {network.nodes[v]!r} is {supply[row, v]} in row {row}."
        )
    part = network.components
    totals = np.zeros((len(supply), part.max() + 1))
    np.add.at(totals.T, part, supply.T)
    off = np.abs(totals) > FEASIBLE * np.maximum(1.0, np.abs(supply).max(axis=1, keepdims=True))
    if off.any():
        row, which = np.argwhere(off)[0]
        where = (
            ""
            if totals.shape[1] == 1
            else f" in the part of the graph with {_some(network, part == which)}"
        )
        raise ValueError(
            f"Flows: the supplies of row {row} add up to {totals[row, which]:.6g}{where}, not to "
            "zero: what comes in must go out."
        )


def _some(network: Network, inside: np.ndarray, most: int = 4) -> str:
    """The names of a few nodes."""
    names = [repr(network.nodes[v]) for v in np.flatnonzero(inside)]
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def tight_cut(network: Network, supply: np.ndarray, capacity: np.ndarray) -> str | None:
    """A set of nodes that must send out more than its arcs carry, in words; None if none is found.

    The largest share of the supply that can be carried is a linear program; where it is
    below one, the nodes of high dual variable make up such a set (max flow, min cut).
    """
    from skstruct.spaces.solvers.linear_constraints import read_constraints

    d = len(network.arcs)
    A = sparse.hstack([network.incidence, sparse.csr_array(-supply[:, None])], format="csr")
    program = read_constraints(A, np.zeros(len(supply)))
    most = np.append(np.minimum(capacity, np.abs(supply).sum()), 1.0)
    cost = np.append(np.zeros(d), -1.0)[None]
    point = program.minimize_linear(cost, np.zeros(d + 1), most)[0][0]
    flow, room = point[:d], FEASIBLE * max(1.0, np.abs(supply).sum())
    if point[d] >= 1 - FEASIBLE:
        return None
    # Nodes that still reach more, in the graph of what is left, from those with unsent supply.
    left = (1 - point[d]) * supply
    reached = left > room
    forward, backward = capacity - flow > room, flow > room
    for _ in range(len(supply)):
        more = reached.copy()
        more[network.heads[forward & reached[network.tails]]] = True
        more[network.tails[backward & reached[network.heads]]] = True
        if (more == reached).all():
            break
        reached = more
    out = reached[network.tails] & ~reached[network.heads]
    return (
        f"the nodes {_some(network, reached)} must send out {supply[reached].sum():.6g}, and the "
        f"arcs that leave them carry at most {capacity[out].sum():.6g}"
    )
