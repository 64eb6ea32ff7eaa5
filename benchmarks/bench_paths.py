# SPDX-License-Identifier: BSD-3-Clause
"""Decisions of shortest paths, beside networkx, SciPy and a linear program row by row."""

from __future__ import annotations

import sys
from functools import partial

import networkx as nx
import numpy as np
from harness import Table, at_least, compare, median, ratio
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse import csgraph

from skstruct.spaces import ShortestPaths

QUICK = "--quick" in sys.argv
BUDGET = 0.5 if QUICK else 6.0  # seconds for the rounds of a case
ROWS = 2_000 if QUICK else 20_000


def ends_of(space):
    """Tails and heads of all arcs, by number, and the numbers of source and target."""
    number = {node: v for v, node in enumerate(space.nodes_)}
    ends = np.array([[number[u], number[v]] for u, v in space.labels_])
    return ends[:, 0], ends[:, 1], number[space.source], number[space.target]


def by_networkx(costs, space):
    """One graph, whose weights are set anew for every row."""
    tails, heads, source, target = ends_of(space)
    graph, values = nx.DiGraph(), []
    for row in costs.tolist():
        graph.add_weighted_edges_from(zip(tails.tolist(), heads.tolist(), row))
        values.append(nx.shortest_path_length(graph, source, target, "weight"))
    return np.array(values)


def by_scipy(costs, space):
    """Dijkstra of scipy.sparse.csgraph on one matrix, whose entries are set for every row."""
    tails, heads, source, target = ends_of(space)
    n = len(space.nodes_)
    order = np.lexsort((heads, tails))
    first = np.searchsorted(tails[order], np.arange(n + 1))
    graph = sparse.csr_matrix((np.ones(len(order)), heads[order], first), shape=(n, n))
    values = np.empty(len(costs))
    for i, row in enumerate(costs):
        graph.data[:] = row[order]
        distance = csgraph.dijkstra(graph, indices=source, return_predecessors=True)[0]
        values[i] = distance[target]
    return values


def by_highs(costs, space):
    """A linear program of flows for every row."""
    tails, heads, source, target = ends_of(space)
    d, n = len(tails), len(space.nodes_)
    at = np.tile(np.arange(d), 2)
    signs = np.repeat([1.0, -1.0], d)
    A = sparse.csr_array((signs, (np.concatenate([tails, heads]), at)), shape=(n, d))
    b = np.zeros(n)
    b[source], b[target] = 1.0, -1.0
    return np.array([linprog(row, A_eq=A, b_eq=b, method="highs").fun for row in costs])


def by_numpy(costs, space):
    """Dynamic programming node by node, all rows at once; arcs lead to nodes that come later."""
    tails, heads, source, target = ends_of(space)
    distance = np.full((len(space.nodes_), len(costs)), np.inf)
    distance[source] = 0.0
    last = np.zeros(distance.shape, np.int64)
    for arc in np.argsort(heads, kind="stable").tolist():
        there = distance[tails[arc]] + costs[:, arc]
        better = there < distance[heads[arc]]
        distance[heads[arc]][better] = there[better]
        last[heads[arc]][better] = arc
    rows, at = np.arange(len(costs)), np.full(len(costs), target)
    outputs = np.zeros(costs.shape, np.int8)
    while len(rows):
        arc = last[at, rows]
        outputs[rows, arc] = 1
        at = tails[arc]
        rows, at = rows[at != source], at[at != source]
    return (outputs * costs).sum(axis=1)


PEERS = {"networkx, row by row": by_networkx, "scipy csgraph.dijkstra, row by row": by_scipy,
         "HiGHS linprog, row by row": by_highs}  # fmt: skip


def race(table, case, space, costs, few=40, peers=PEERS):
    """Our decisions and those of others in turn, once their values agree."""
    calls, rows = {"ours": partial(space.argmin, costs)}, {"ours": len(costs)}
    for name, peer in peers.items():
        some = costs[:few] if "row by row" in name else costs
        np.testing.assert_allclose(peer(some, space), space.argmin(some).values, atol=1e-6)
        calls[name], rows[name] = partial(peer, some, space), len(some)
    times = compare(calls, rows, rounds=3 if QUICK else 5, budget=BUDGET)
    seconds = median(times, "ours")
    table.add(f"{case}: argmin, {1 / seconds:,.0f} a second", seconds)
    for name in peers:
        table.add(f"{case}: {name}", median(times, name), ratio(times, name, "ours"), at_least(1))


def cyclic_graph(n, degree, seed):
    """Arcs from each node to some others, and a ring, so that all can be reached."""
    rng = np.random.default_rng(seed)
    arcs = {(v, (v + 1) % n): None for v in range(n)}
    while len(arcs) < n * degree:
        u, v = rng.integers(n, size=2).tolist()
        if u != v:
            arcs[u, v] = None
    return list(arcs)


def bench_decisions():
    table = Table("Paths of least cost, CPU time per row", "peer / ShortestPaths.argmin")
    rng = np.random.default_rng(0)
    for size, n in ((5, ROWS), (30, ROWS // 20)):
        space = ShortestPaths.grid(size, size)
        costs = rng.uniform(0.1, 1.0, (n, len(space.labels_)))
        peers = {"dynamic programming in NumPy": by_numpy, **PEERS}
        race(table, f"grid {size} x {size}", space, costs, peers=peers)
    space = ShortestPaths(cyclic_graph(500, 5, 0), 0, 250)
    costs = rng.uniform(0.1, 1.0, (ROWS // 20, len(space.labels_)))
    race(table, "500 nodes, 2,500 arcs", space, costs)
    nodes = rng.normal(size=(ROWS // 40, 500))  # c_uv + p_u - p_v: some costs below zero
    u, v = np.array(space.labels_).T
    shifted = costs[: len(nodes)] + 0.2 * (nodes[:, u] - nodes[:, v])
    peers = {name: PEERS[name] for name in PEERS if "HiGHS" in name}
    race(table, "500 nodes, some arcs below zero", space, shifted, 10, peers)


def bench_constraints():
    table = Table("The same with constraints, per row", "time / argmin without any")
    rng = np.random.default_rng(0)
    space = ShortestPaths.grid(30, 30)
    costs = rng.uniform(0.1, 1.0, (ROWS // 20, len(space.labels_)))
    closed = rng.random(costs.shape) < 0.02
    calls = {
        "none": space.argmin,
        "arcs closed by row": space.restrict(exclude=closed).argmin,
        "via the middle": space.restrict(via=[(15, 15)]).argmin,
        "k best, k = 5": partial(space.kbest, k=5),
    }
    times = compare(
        {name: partial(call, costs) for name, call in calls.items()},
        dict.fromkeys(calls, len(costs)), rounds=3, budget=BUDGET,
    )  # fmt: skip
    for name in calls:
        table.add(f"grid 30 x 30: {name}", median(times, name), ratio(times, name, "none"))


if __name__ == "__main__":
    bench_decisions()
    bench_constraints()
