# SPDX-License-Identifier: BSD-3-Clause
"""Other ways to decode cycles, trees and matchings: lists, networkx and SciPy row by row."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import networkx as nx
import numpy as np
from networkx.algorithms.approximation import greedy_tsp, simulated_annealing_tsp
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import minimum_spanning_tree

PLACES_BY_PRIZE = 2.0  # prizes up to this over sqrt(N) pay for about two thirds of the places


def prized_distances(n, N, rng):
    """Distances of places in a square less half the prizes at both ends; shape (n, d)."""
    u, v = np.triu_indices(N, 1)
    costs = np.empty((n, len(u)))
    for row in costs:
        at, prize = rng.random((N, 2)), rng.random(N) * PLACES_BY_PRIZE / np.sqrt(N)
        row[:] = np.linalg.norm(at[u] - at[v], axis=1) - (prize[u] + prize[v]) / 2
    return costs


def distances(n, N, rng):
    """Distances of places in a square; shape (n, d)."""
    u, v = np.triu_indices(N, 1)
    at = rng.random((n, N, 2))
    return np.linalg.norm(at[:, u] - at[:, v], axis=2)


def least_of_list(psi, costs):
    """The least cost among all outputs, whose embeddings are listed."""
    return (costs @ psi.T).min(axis=1)


def graph_of(cost, ends):
    """A networkx graph whose edges have these costs."""
    graph = nx.Graph()
    graph.add_weighted_edges_from(zip(*ends.T.tolist(), cost.tolist()))
    return graph


# ---------------------------------------------------------------------- cycles
def whole_tours(costs, ends, by):
    """Lengths of tours through all places; ``by`` gives a closed list of places."""
    lengths = []
    for cost in costs:
        graph = graph_of(cost, ends)
        tour = by(graph)
        lengths.append(sum(graph[u][v]["weight"] for u, v in pairwise(tour)))
    return np.array(lengths)


TOUR_PEERS = {
    "networkx greedy_tsp": partial(whole_tours, by=greedy_tsp),
    "networkx simulated annealing": partial(
        whole_tours, by=partial(simulated_annealing_tsp, init_cycle="greedy", seed=0)
    ),
}


# ---------------------------------------------------------------------- trees
def trees_by_networkx(costs, ends):
    sizes = (nx.minimum_spanning_tree(graph_of(cost, ends)).size("weight") for cost in costs)
    return np.array(list(sizes))


def trees_by_scipy(costs, ends):
    """Dense matrices, in which zero is no edge: costs are raised above it."""
    N, values = ends.max() + 1, []
    for cost in costs:
        raised = cost - cost.min() + 1.0
        matrix = np.zeros((N, N))
        matrix[ends[:, 0], ends[:, 1]] = raised
        tree = minimum_spanning_tree(matrix)
        values.append(tree.sum() - (N - 1) * (1.0 - cost.min()))
    return np.array(values)


# ---------------------------------------------------------------------- matchings
def matchings_by_networkx(costs, ends):
    values = []
    for cost in costs:
        graph = graph_of(-cost, ends)
        values.append(-sum(graph[u][v]["weight"] for u, v in nx.max_weight_matching(graph)))
    return np.array(values)


def pairings_by_scipy(costs, shape):
    """Matchings of two groups of nodes, not all of which need a partner."""
    values = []
    for cost in costs:
        gains = np.minimum(cost.reshape(shape), 0.0)  # a pair that costs is left out
        values.append(gains[linear_sum_assignment(gains)].sum())
    return np.array(values)
