# SPDX-License-Identifier: BSD-3-Clause
"""Sets of edges that close no circle."""

from __future__ import annotations

import numpy as np


class Pieces:
    """Connected pieces of a graph that grows edge by edge.

    >>> pieces = Pieces(3)
    >>> pieces.join(0, 1), pieces.join(1, 2), pieces.join(0, 2)
    (True, True, False)
    """

    def __init__(self, n_nodes, edges=()):
        self.piece = np.arange(n_nodes)
        for i, j in edges:
            self.join(i, j)

    def join(self, i, j) -> bool:
        """Add an edge; False when it closes a circle."""
        here, there = self.piece[i], self.piece[j]
        self.piece[self.piece == there] = here
        return bool(here != there)

    def apart(self, edges) -> np.ndarray:
        """Which edges (E, 2) would close no circle."""
        return self.piece[edges[:, 0]] != self.piece[edges[:, 1]]


def n_nodes(edges) -> int:
    """How many nodes edges (E, 2) are among: one more than the largest number."""
    return int(edges.max()) + 1 if len(edges) else 0


def spanning_forest(edges, *weights) -> np.ndarray:
    """Edges of a maximum spanning forest, by Kruskal's algorithm.

    Parameters
    ----------
    edges : int array of shape (E, 2)
    *weights : arrays of shape (E,)
        Earlier ones count first, later ones break their ties; then the order of the edges
        does. Weights of any sign are taken: the forest spans all that the edges join.

    Returns
    -------
    mask : bool array of shape (E,)

    Examples
    --------
    >>> triangle = np.array([[0, 1], [0, 2], [1, 2]])
    >>> spanning_forest(triangle, np.array([0.0, 2.0, 0.0]))
    array([ True,  True, False])
    >>> spanning_forest(triangle, np.array([0.0, 2.0, 0.0]), np.array([1.0, 1.0, 3.0]))
    array([False,  True,  True])
    """
    edges = np.asarray(edges).reshape(-1, 2)
    pieces, mask = Pieces(n_nodes(edges)), np.zeros(len(edges), dtype=bool)
    order = np.lexsort([-np.asarray(weight, dtype=np.float64) for weight in reversed(weights)])
    for e in order if weights else range(len(edges)):
        mask[e] = pieces.join(*edges[e])
    return mask
