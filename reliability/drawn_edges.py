# SPDX-License-Identifier: BSD-3-Clause
"""Cycles, paths, trees, matchings, assignments and graphs, drawn beside their oracles."""

import itertools
from functools import partial

import networkx
import numpy as np
import oracle_edges as oracle
from drawn import LETTERS, Drawn, in_and_out, together
from drawn_sets import none, sizes

from skstruct import spaces


def undirected(edges):
    return frozenset(frozenset(edge) for edge in edges)


def directed(edges):
    return frozenset(edges)


def edge_space(name, space, Z, edges, names, narrow, key=undirected):
    labels = [(names[u], names[v]) for u, v in edges]
    outputs = [[labels[j] for j in np.flatnonzero(z)] for z in Z]
    space = space.fit(outputs)
    return Drawn(name, space, outputs, Z, key, narrow(labels), {"Z": Z, "names": labels})


def cycles(rng):
    is_directed = rng.random() < 0.6
    n = int(rng.integers(3, 6 if is_directed else 7))
    names, listed = list(LETTERS[:n]), oracle.cycles(n, is_directed)
    edges = oracle.pairs(n, is_directed)
    arcs = [oracle.arcs_of_cycle(cycle, is_directed) for cycle in listed]
    Z = oracle.indicators(arcs, edges)
    signs = is_directed and rng.random() < 0.5
    embedding = ("signed pairs" if signs else "indicators") if is_directed else None
    space = spaces.Cycles(names, is_directed, embedding).fit([[names[u] for u in listed[0]]])
    N = np.array([[float(u in cycle) for u in range(n)] for cycle in listed])
    labels = [(names[u], names[v]) for u, v in edges]
    nodes = in_and_out(N, names, 0.25)
    arcs_in = in_and_out(Z, labels, 0.1, ("include_edges", "exclude_edges"))
    outputs = [[names[u] for u in cycle] for cycle in listed]
    narrow = together(nodes, arcs_in, sizes(N))

    def key(cycle):
        number = [names.index(node) for node in cycle]
        return frozenset(oracle.arcs_of_cycle(number, is_directed))

    psi = oracle.signed(Z, n) if signs else Z
    return Drawn("Cycles", space, outputs, psi, key, narrow, {"Z": Z, "names": labels})


def shortest_paths(rng):
    n = int(rng.integers(3, 7))
    names, kind = list(LETTERS[:n]), rng.choice(["acyclic", "any", "edges"])
    pool = oracle.pairs(n, kind == "any")
    columns = [arc for arc in pool if rng.random() < 0.6]
    arcs = [*columns, *((v, u) for u, v in columns)] if kind == "edges" else columns
    listed = oracle.simple_paths(arcs, 0, n - 1)
    if not listed:
        return shortest_paths(rng)
    labels = [(names[u], names[v]) for u, v in columns]
    number = {arc: j % len(columns) for j, arc in enumerate(arcs)}
    Z = np.zeros((len(listed), len(columns)))
    for row, path in enumerate(listed):
        Z[row, [number[arc] for arc in itertools.pairwise(path)]] = 1
    graph = networkx.Graph(labels) if kind == "edges" else labels
    if kind == "edges":
        order = [tuple(sorted(edge)) for edge in graph.edges]
        Z, labels = Z[:, [labels.index(edge) for edge in order]], order
    space = spaces.ShortestPaths(graph, names[0], names[-1])
    N = np.array([[float(u in path) for u in range(n)] for path in listed])

    def length(rng, n_rows):
        most = rng.integers(1, n, n_rows if rng.random() < 0.5 else 1)
        met = Z.sum(axis=1) <= most[:, None]
        return {"max_length": most if len(most) > 1 else int(most[0])}, met

    narrow = together(
        in_and_out(Z, labels, 0.15), in_and_out(N, names, 0.15, ("via", "avoid")), length
    )
    outputs = [[names[u] for u in path] for path in listed]
    facts = {"Z": Z, "names": labels}
    return Drawn("ShortestPaths", space.fit(outputs), outputs, Z, tuple, narrow, facts)


def spanning_trees(rng):
    n = int(rng.integers(2, 6))
    names, edges = list(LETTERS[:n]), oracle.pairs(n)
    graph = None
    if rng.random() < 0.5:
        edges = [edge for edge in edges if rng.random() < 0.8]
        graph = [(names[u], names[v]) for u, v in edges]
    Z = oracle.edge_sets(edges, partial(oracle.is_tree, n=n)) if edges else np.zeros((0, 0))
    if not len(Z):
        return spanning_trees(rng)
    space = spaces.SpanningTrees(names, graph)
    return edge_space(
        "SpanningTrees", space, Z, edges, names, lambda labels: in_and_out(Z, labels, 0.2)
    )


def matchings(rng):
    two_sides, perfect = rng.random() < 0.5, rng.random() < 0.4
    n = int(rng.integers(2, 6))
    names, edges, sides = list(LETTERS[:n]), oracle.pairs(n), {}
    if two_sides:
        left = int(rng.integers(1, n))
        edges = [(u, v) for u in range(left) for v in range(left, n)]
        sides = {"nodes": names[:left], "other": names[left:]}
    graph = None
    if rng.random() < 0.5:
        edges = [edge for edge in edges if rng.random() < 0.8]
        graph = [(names[u], names[v]) for u, v in edges]
    if not edges:
        return matchings(rng)
    Z = oracle.edge_sets(edges, partial(oracle.is_matching, n=n, perfect=perfect))
    if not len(Z):
        return matchings(rng)
    space = spaces.Matchings(**(sides or {"nodes": names}), perfect=perfect, graph=graph)
    return edge_space(
        "Matchings", space, Z, edges, names, lambda labels: in_and_out(Z, labels, 0.2)
    )


PROPERTIES = {
    None: lambda chosen, n: True,
    "acyclic": oracle.is_forest,
    "connected": oracle.is_connected,
    "spanning tree": oracle.is_tree,
    "matching": oracle.is_matching,
    "clique": oracle.is_clique,
    "bipartite": oracle.is_bipartite,
    "planar": lambda chosen, n: n < 5 or len(chosen) < 10,  # all but the whole of five nodes
}


def graphs(rng):
    is_directed = rng.random() < 0.3
    names = list(PROPERTIES)
    which = names[rng.integers(2 if is_directed else len(names))]
    n = int(rng.integers(2, 4 if is_directed else 6))
    has = oracle.is_acyclic_digraph if is_directed and which == "acyclic" else PROPERTIES[which]
    edges, nodes = oracle.pairs(n, is_directed), list(LETTERS[:n])
    Z = oracle.edge_sets(edges, partial(has, n=n))
    counted = sizes(Z) if which is None or (which == "acyclic" and not is_directed) else none
    space = spaces.Graphs(nodes, is_directed, which)
    key = directed if is_directed else undirected
    return edge_space(
        f"Graphs, {which}", space, Z, edges, nodes,
        lambda labels: together(in_and_out(Z, labels, 0.2), counted), key,
    )  # fmt: skip


def assignments(rng):
    a, t = (int(number) for number in rng.integers(1, 5, 2))
    agents, tasks = list(LETTERS[:a]), [f"t{j}" for j in range(t)]
    listed = oracle.assignments(a, t)
    columns = [(i, j) for i in range(a) for j in range(t)]
    Z = oracle.indicators(listed, columns)
    labels = [(agents[i], tasks[j]) for i, j in columns]
    outputs = [{agents[i]: tasks[j] for i, j in one} for one in listed]
    space = spaces.Assignments(agents, tasks).fit(outputs)
    narrow = in_and_out(Z, labels, 0.2)

    def key(one):
        """Of a dictionary, or of a row with a task or None for each agent."""
        pairs = one.items() if hasattr(one, "items") else zip(agents, one)
        return frozenset((agent, task) for agent, task in pairs if task is not None)

    facts = {"Z": Z, "names": labels}
    return Drawn("Assignments", space, outputs, Z, key, narrow, facts)


FAMILIES = [
    cycles, shortest_paths, spanning_trees, matchings, graphs, assignments,
]  # fmt: skip
