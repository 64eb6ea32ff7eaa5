# SPDX-License-Identifier: BSD-3-Clause
"""Oracles of edge sets: cycles, paths, trees, matchings and graphs with a property, all listed."""

from itertools import combinations, permutations

import numpy as np
from oracle_sets import binary_vectors


def pairs(n, directed=False):
    """Pairs of nodes row by row: u < v, or all u != v."""
    return [(u, v) for u in range(n) for v in range(n) if (u != v if directed else u < v)]


def indicators(edge_sets, edges):
    """0/1 rows over the columns ``edges``."""
    column = {edge: number for number, edge in enumerate(edges)}
    Z = np.zeros((len(edge_sets), len(edges)))
    for row, chosen in enumerate(edge_sets):
        for edge in chosen:
            Z[row, column[edge]] = 1
    return Z


# Cycles


def cycles(n, directed):
    """All simple cycles of at least three of n nodes, each from its first node on."""
    found = []
    for size in range(3, n + 1):
        for nodes in combinations(range(n), size):
            for rest in permutations(nodes[1:]):
                if directed or rest[0] < rest[-1]:
                    found.append((nodes[0], *rest))
    return found


def arcs_of_cycle(cycle, directed):
    arcs = list(zip(cycle, (*cycle[1:], cycle[0])))
    return arcs if directed else [tuple(sorted(arc)) for arc in arcs]


def signed(Z, n):
    """Of indicators of arcs, +1 from u to v and -1 from v to u for u < v."""
    column = {arc: number for number, arc in enumerate(pairs(n, True))}
    return np.column_stack([Z[:, column[u, v]] - Z[:, column[v, u]] for u, v in pairs(n)])


# Paths


def simple_paths(arcs, source, target):
    """All simple paths along arcs, as tuples of nodes."""
    found, open_paths = [], [(source,)]
    while open_paths:
        path = open_paths.pop()
        if path[-1] == target:
            found.append(path)
            continue
        open_paths += [(*path, v) for u, v in arcs if u == path[-1] and v not in path]
    return found


# Sets of edges that have a property, by trying all


def edge_sets(edges, has_property):
    """0/1 rows over ``edges`` of all sets that have a property."""
    Z = binary_vectors(len(edges))
    kept = [has_property([edges[j] for j in np.flatnonzero(z)]) for z in Z]
    return Z[np.array(kept, dtype=bool)]


def pieces(chosen, n):
    """The number of each node's piece, and whether some edge closes a cycle."""
    number, cycle = list(range(n)), False
    for u, v in chosen:
        cycle |= number[u] == number[v]
        number = [number[u] if other == number[v] else other for other in number]
    return number, cycle


def is_forest(chosen, n):
    return not pieces(chosen, n)[1]


def is_connected(chosen, n):
    return len(set(pieces(chosen, n)[0])) == 1


def is_tree(chosen, n):
    return is_forest(chosen, n) and is_connected(chosen, n)


def is_matching(chosen, n, perfect=False):
    ends = [node for edge in chosen for node in edge]
    return len(set(ends)) == len(ends) and (not perfect or len(ends) == n)


def is_bipartite(chosen, n):
    sides = (binary_vectors(n) if n else np.zeros((1, 0))).astype(int)
    return any(all(side[u] != side[v] for u, v in chosen) for side in sides)


def is_clique(chosen, n):
    """All edges between some nodes."""
    nodes = {node for edge in chosen for node in edge}
    return len(chosen) == len(nodes) * (len(nodes) - 1) // 2


def is_acyclic_digraph(chosen, n):
    left = list(chosen)
    for _ in range(n):
        sinks = {v for _, v in left} - {u for u, _ in left}
        left = [(u, v) for u, v in left if v not in sinks]
    return not left


# Assignments


def assignments(n_agents, n_tasks):
    """All ways to pair the whole smaller side, as sets of pairs (agent, task)."""
    if n_agents <= n_tasks:
        orders = permutations(range(n_tasks), n_agents)
        return [list(enumerate(order)) for order in orders]
    orders = permutations(range(n_agents), n_tasks)
    return [[(agent, task) for task, agent in enumerate(order)] for order in orders]
