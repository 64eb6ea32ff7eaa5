# SPDX-License-Identifier: BSD-3-Clause
"""Spanning trees of a graph under the uniform distribution: how many, and which edges they have.

With L the Laplacian of the graph without its row and column of node 0, and b_e the signed
incidence vector of edge e, the number of trees is det L (Kirchhoff), and

    P(e and f in T) = K_ee K_ff - K_ef^2,    K_ef = b_e' L^-1 b_f,    P(e in T) = K_ee,

the transfer currents of Burton and Pemantle. Several edges may join the same nodes.
"""

import math
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.csgraph import connected_components

from skstruct.exceptions import InfeasibleError
from skstruct.spaces.constraints import of_one_row


def contract(
    n_nodes: int, edges: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[int, np.ndarray, np.ndarray]:
    """The graph in which known edges are shrunk to a node and forbidden ones are gone.

    Parameters
    ----------
    low, high : bool arrays of shape (d,)
        Edges that must and that may be in a tree.

    Returns
    -------
    n_parts : int
        Nodes of the smaller graph; 0 where known edges close a circle or contradict.
    ends : int array of shape (m, 2)
        The parts that its edges join.
    columns : int array of shape (m,)
        Which edges these are.
    """
    n_parts, part = components(n_nodes, edges[low])
    ends = part[edges]
    columns = np.flatnonzero(high & ~low & (ends[:, 0] != ends[:, 1]))
    if (low & ~high).any() or n_parts != n_nodes - low.sum():
        n_parts = 0
    return n_parts, ends[columns], columns


def contracted(space: Any) -> tuple[int, np.ndarray, np.ndarray]:
    """What the constraints of a space leave open, the same in all rows."""
    limits = of_one_row(space.constraints_)
    return contract(len(space.nodes_), space.edges_, limits.low[0], limits.high[0])


def open_graph(space: Any) -> tuple[int, np.ndarray, np.ndarray]:
    """As :func:`contracted`, of which there is at least one tree."""
    n_parts, ends, columns = contracted(space)
    if n_parts == 0 or components(n_parts, ends)[0] > 1:
        raise InfeasibleError("SpanningTrees: no output meets the constraints.")
    return n_parts, ends, columns


def components(n_nodes: int, edges: np.ndarray) -> tuple[int, np.ndarray]:
    """How many components a graph has, and which one each node is in."""
    ones = np.ones(len(edges))
    graph = sparse.csr_array((ones, (edges[:, 0], edges[:, 1])), shape=(n_nodes, n_nodes))
    n_parts, part = connected_components(graph, directed=False)
    return int(n_parts), part.astype(np.int64)


def reduced_laplacian(n_nodes: int, edges: np.ndarray) -> np.ndarray:
    """Degrees minus numbers of edges, without node 0; int64 of shape (n_nodes - 1, n_nodes - 1)."""
    laplacian = np.zeros((n_nodes, n_nodes), np.int64)
    u, v = edges.T
    for i, j, sign in ((u, u, 1), (v, v, 1), (u, v, -1), (v, u, -1)):
        np.add.at(laplacian, (i, j), sign)
    return laplacian[1:, 1:]


def count_trees(n_nodes: int, edges: np.ndarray) -> int:
    """Exact number of spanning trees, by the matrix-tree theorem.

    >>> square = np.array([[0, 1], [1, 2], [2, 3], [0, 3]])
    >>> count_trees(4, square), count_trees(4, square[:2])
    (4, 0)
    """
    return determinant(reduced_laplacian(n_nodes, edges))


def determinant(matrix: np.ndarray) -> int:
    """Exact determinant of a positive semidefinite matrix of integers.

    Modulo primes, put together until it is known modulo more than the product of the
    diagonal, which no determinant of such a matrix exceeds (Hadamard).
    """
    from skstruct.spaces.spanning_trees._numba import determinant_modulo

    bound = math.prod(np.diagonal(matrix).tolist())
    answer, modulus, prime = 0, 1, 2**31 - 1
    while modulus <= bound:
        rest = int(determinant_modulo(matrix % prime, prime))
        answer += modulus * ((rest - answer) * pow(modulus, -1, prime) % prime)
        modulus *= prime
        prime = _prime_below(prime)
    return answer


def _prime_below(odd: int) -> int:
    """The greatest prime below an odd number."""
    while True:
        odd -= 2
        if all(odd % q for q in range(3, math.isqrt(odd) + 1, 2)):
            return odd


def log_count_trees(n_nodes: int, edges: np.ndarray) -> float:
    """Natural logarithm of the number of spanning trees, in double precision."""
    if components(n_nodes, edges)[0] > 1:
        return -math.inf
    return float(np.linalg.slogdet(reduced_laplacian(n_nodes, edges).astype(np.float64))[1])


def edge_probabilities(n_nodes: int, edges: np.ndarray) -> np.ndarray:
    """P(e in T) of a connected graph, its effective resistances; shape (d,).

    >>> edge_probabilities(3, np.array([[0, 1], [0, 2], [1, 2]]))
    array([0.66666667, 0.66666667, 0.66666667])
    """
    potentials = _potentials(n_nodes, edges)
    u, v = edges.T
    return potentials[u, u] + potentials[v, v] - 2 * potentials[u, v]


def transfer_currents(n_nodes: int, edges: np.ndarray) -> np.ndarray:
    """K of a connected graph; shape (d, d)."""
    potentials = _potentials(n_nodes, edges)
    u, v = edges.T
    drops = potentials[u] - potentials[v]  # shape: (d, n_nodes)
    return drops[:, u] - drops[:, v]


def _potentials(n_nodes: int, edges: np.ndarray) -> np.ndarray:
    """L^-1, with zeros for node 0."""
    potentials = np.zeros((n_nodes, n_nodes))
    if n_nodes == 1:
        return potentials
    laplacian = reduced_laplacian(n_nodes, edges).astype(np.float64)
    potentials[1:, 1:] = cho_solve(cho_factor(laplacian), np.eye(n_nodes - 1))
    return potentials
