# SPDX-License-Identifier: BSD-3-Clause
"""Small graphs of all kinds, and their simple paths found by a plain recursion."""

import itertools

import networkx as nx
import numpy as np
from hypothesis import strategies as st

KINDS = ("acyclic", "cyclic", "undirected")


@st.composite
def graphs(draw, kinds=KINDS, most=6):
    """Nodes 0, 1, ... and arcs in any order, always with a way from 0 to 1."""
    kind, n = draw(st.sampled_from(kinds)), draw(st.integers(2, most))
    # In an acyclic graph 1 is last, so that most nodes may be on a path.
    rank = {0: 0, 1: n, **{v: v for v in range(2, n)}}
    pairs = [(u, v) for u in range(n) for v in range(n) if u != v]
    if kind == "acyclic":
        pairs = [(u, v) for u, v in pairs if rank[u] < rank[v]]
    if kind == "undirected":
        pairs = [(u, v) for u, v in pairs if u < v]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=14))
    arcs = draw(st.permutations(list(dict.fromkeys([(0, 1), *chosen]))))
    return kind, list(range(n)), arcs


def as_graph(kind, nodes, arcs):
    """What the space is given: all nodes are there, whether they have arcs or not."""
    graph = nx.Graph() if kind == "undirected" else nx.DiGraph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(arcs)
    return graph


def paths_one_by_one(labels, directed, source, target):
    """All simple paths as tuples of nodes, by trying every continuation."""
    after = {}
    for u, v in labels:
        after.setdefault(u, []).append(v)
        if not directed:
            after.setdefault(v, []).append(u)

    def go(path):
        if path[-1] == target:
            yield tuple(path)
            return
        for v in after.get(path[-1], []):
            if v not in path:
                yield from go([*path, v])

    return list(go([source]))


def as_rows(paths, labels, directed):
    """0/1 rows of paths, a column per arc."""
    column = {arc: j for j, arc in enumerate(labels)}
    if not directed:
        column |= {(v, u): j for (u, v), j in column.items()}
    rows = np.zeros((len(paths), len(labels)), np.int8)
    for i, path in enumerate(paths):
        for arc in itertools.pairwise(path):
            rows[i, column[arc]] = 1
    return rows


def obeys(path, arcs, *, include=(), exclude=(), via=(), avoid=(), max_length=None):
    """Whether a path, with its arcs by name, meets constraints."""
    return (
        set(include) <= arcs
        and not set(exclude) & arcs
        and set(via) <= set(path)
        and not set(avoid) & set(path)
        and (max_length is None or len(path) - 1 <= max_length)
    )


def costs_of(seed, n, d, kind):
    """Costs of any sign, with many ties, or from zero on."""
    rng = np.random.default_rng(seed)
    if kind == "whole":
        return rng.integers(-2, 4, (n, d)).astype(float)
    if kind == "positive":
        return rng.integers(0, 4, (n, d)).astype(float)
    return rng.normal(size=(n, d))
