# SPDX-License-Identifier: BSD-3-Clause
"""Where to draw the nodes of a network: along its arcs from left to right."""

from __future__ import annotations

import numpy as np

SWEEPS = 8  # passes that put nodes beside their neighbours


def network_layout(network) -> np.ndarray:
    """Places of nodes, about one unit apart; shape (n_nodes, 2).

    A network without a cycle is drawn in columns: a node is one column behind the last node
    with an arc into it, and within its column near the mean height of its neighbours. Any
    other is drawn as if its arcs were springs.
    """
    import networkx as nx

    n = len(network.nodes)
    arcs = list(zip(network.tails.tolist(), network.heads.tolist()))
    graph = nx.DiGraph(arcs)
    graph.add_nodes_from(range(n))
    if not nx.is_directed_acyclic_graph(graph):
        places = nx.kamada_kawai_layout(nx.Graph(arcs)) if n > 2 else nx.circular_layout(graph)
        at = np.array([places[node] for node in range(n)], dtype=float)
        return (at - at.min(axis=0)) * np.sqrt(n) * 0.6
    columns = [sorted(column) for column in nx.topological_generations(graph)]
    beside = [sorted(set(graph.pred[node]) | set(graph.succ[node])) for node in range(n)]
    height = np.zeros(n)
    _spread(columns, height)
    for sweep in range(SWEEPS):
        for column in columns if sweep % 2 == 0 else columns[::-1]:
            wish = {v: np.mean(height[beside[v]]) if beside[v] else height[v] for v in column}
            column.sort(key=lambda v: (wish[v], v))
        _spread(columns, height)
    across = np.empty(n)
    for place, column in enumerate(columns):
        across[column] = place
    return np.column_stack([1.25 * across, -height])


def _spread(columns, height) -> None:
    """Nodes of a column one below the other, around the same middle."""
    for column in columns:
        height[column] = np.arange(len(column)) - (len(column) - 1) / 2
