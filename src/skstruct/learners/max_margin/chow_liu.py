# SPDX-License-Identifier: BSD-3-Clause
"""Spanning forests, and the Chow-Liu tree, which explains how labels occur together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from skstruct._arrays.by_name import by_position
from skstruct._arrays.foreign import in_memory
from skstruct._arrays.imports import is_pandas
from skstruct.spaces.common.formats import check_distinct
from skstruct.tolerances import ZERO_PROBABILITY

if TYPE_CHECKING:
    import networkx


class Pieces:
    """Connected pieces of a graph that grows edge by edge.

    >>> pieces = Pieces(3)
    >>> pieces.join(0, 1), pieces.join(1, 2), pieces.join(0, 2)
    (True, True, False)
    """

    def __init__(self, n_nodes: int, edges: Any = ()) -> None:
        self.piece = np.arange(n_nodes)
        for i, j in edges:
            self.join(i, j)

    def join(self, i: int, j: int) -> bool:
        """Add an edge; False when it closes a circle."""
        here, there = self.piece[i], self.piece[j]
        self.piece[self.piece == there] = here
        return bool(here != there)

    def apart(self, edges: np.ndarray) -> Any:
        """Which edges (E, 2) would close no circle."""
        return self.piece[edges[:, 0]] != self.piece[edges[:, 1]]


def n_nodes(edges: np.ndarray) -> int:
    """How many nodes edges (E, 2) are among: one more than the largest number."""
    return int(edges.max()) + 1 if len(edges) else 0


def spanning_forest(edges: np.ndarray, *weights: Any) -> np.ndarray:
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


# The tree that explains how labels occur together, whatever the inputs.


def mutual_information(Y: Any, edges: np.ndarray, share: np.ndarray | None = None) -> np.ndarray:
    r"""Of each pair of labels, in nats: :math:`\sum_{ab} p_{ab} \log (p_{ab} / p_a p_b)`.

    Parameters
    ----------
    Y : 0/1 array of shape (n, d)
    edges : int array of shape (E, 2)
    share : array of shape (n,), default=None
        Weights of the rows, of sum one; equal when None.
    """
    Y = np.asarray(Y, dtype=np.float64)
    share = np.full(len(Y), 1.0 / len(Y)) if share is None else np.asarray(share)
    i, j = edges.T
    both, p = (Y[:, i] * share[:, None] * Y[:, j]).sum(axis=0), share @ Y
    information = np.zeros(len(edges))
    for joint, a, b in (
        (both, p[i], p[j]),
        (p[i] - both, p[i], 1.0 - p[j]),
        (p[j] - both, 1.0 - p[i], p[j]),
        (1.0 - p[i] - p[j] + both, 1.0 - p[i], 1.0 - p[j]),
    ):
        at = joint > ZERO_PROBABILITY  # 0 log 0 is 0
        information[at] += joint[at] * np.log(joint[at] / (a[at] * b[at]))
    return np.maximum(information, 0.0)


def chow_liu(Y: Any, edges: np.ndarray, share: np.ndarray | None = None) -> np.ndarray:
    """Mask (E,) of a maximum spanning forest of the mutual information."""
    return spanning_forest(edges, mutual_information(Y, edges, share))


def chow_liu_tree(Y: Any, labels: Any = None) -> networkx.Graph:
    r"""The tree of largest mutual information between its neighbours.

    Of all distributions of the labels that factor along a tree, the likeliest factors along
    this one [1]_. Edges have the attribute "information".

    Parameters
    ----------
    Y : 0/1 array of shape (n, d)
    labels : sequence of names, default=None
        Those of the columns when None, or their numbers.

    References
    ----------
    .. [1] C. K. Chow, C. N. Liu, "Approximating discrete probability distributions with
       dependence trees", IEEE Transactions on Information Theory 14, 1968.

    Examples
    --------
    >>> Y = [[1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 1, 1]]
    >>> sorted(chow_liu_tree(Y, ["sun", "sea", "rain"]).edges)
    [('sun', 'rain'), ('sun', 'sea')]
    """
    import networkx

    Y = in_memory(Y)
    if is_pandas(Y, "DataFrame"):
        labels = list(Y.columns) if labels is None else list(labels)
        Y = by_position(Y, labels, what="Y", used_by="chow_liu_tree")
    Y = np.asarray(Y)
    if Y.ndim != 2 or not len(Y) or not np.isin(Y, (0, 1)).all():
        raise ValueError("chow_liu_tree reads a 0/1 array with a column per label, and some rows.")
    names = check_distinct(range(Y.shape[1]) if labels is None else labels, "chow_liu_tree")
    if len(names) != Y.shape[1]:
        raise ValueError(f"There is a label for each of {Y.shape[1]} columns; got {len(names)}.")
    edges = np.array(np.triu_indices(len(names), 1)).T
    information = mutual_information(Y, edges)
    graph = networkx.Graph()
    graph.add_nodes_from(names)
    for e in np.flatnonzero(spanning_forest(edges, information)):
        i, j = edges[e]
        graph.add_edge(names[i], names[j], information=float(information[e]))
    return graph
