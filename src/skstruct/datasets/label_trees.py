# SPDX-License-Identifier: BSD-3-Clause
"""Label sets that depend on inputs, and on each other along the edges of a tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skstruct.decoding.pairwise.forests import best_on_forest, is_forest
from skstruct.decoding.pairwise.random_trees import random_tree_edges


@dataclass(frozen=True, eq=False)
class LabelTree:
    r"""A model of label sets: every label sees the input, and its neighbours in a tree.

    .. math:: \mathrm{score}(y; x) = \sum_i y_i \langle W_i, x \rangle
              + \sum_{(i, j)} w_{ij}\, y_i y_j

    Attributes
    ----------
    edges : int array of shape (E, 2)
        Pairs of label numbers, the lower one first.
    node_weights : array of shape (n_labels, n_features)
        W, a row for each label.
    edge_weights : array of shape (E,)
        w: neighbours attract each other where it is positive, and repel where negative.
    """

    edges: np.ndarray
    node_weights: np.ndarray
    edge_weights: np.ndarray

    def best(self, X, extra=0.0) -> np.ndarray:
        """Label sets of largest score, int8 (n, n_labels); ``extra`` adds to scores of labels."""
        scores = np.asarray(X, dtype=np.float64) @ self.node_weights.T + extra
        return best_on_forest(-scores, -self.edge_weights[None], self.edges)[0]


@dataclass(frozen=True, eq=False)
class LabelTreeData:
    """Inputs, label sets, and the model that made them.

    Attributes
    ----------
    X : float64 array of shape (n_samples, n_features)
    Y : int8 array of shape (n_samples, n_labels)
    tree : LabelTree
    """

    X: np.ndarray
    Y: np.ndarray
    tree: LabelTree


def make_label_tree(
    n_samples: int,
    n_labels: int = 10,
    n_features: int = 4,
    *,
    tree=None,
    noise: float = 0.0,
    random_state=None,
) -> LabelTreeData:
    """Draw label sets that a tree of labels explains, and no label on its own does.

    Inputs and the weights of a :class:`LabelTree` are standard normal; an output is the label
    set of largest score [1]_. With 10 labels and 4 features, linear models that look at one
    label at a time get about two label sets in three right, however many examples they see.

    Parameters
    ----------
    n_samples : int
    n_labels, n_features : int
        Not used where a LabelTree is given, which has them.
    tree : LabelTree or pairs of label numbers, default=None
        The model itself, such as that of earlier data, to draw test data from; or only its
        edges, which may be any forest. Drawn from all trees alike when None.
    noise : float, default=0.0
        Standard deviation of normal noise in the score of every label.
    random_state : int or numpy.random.Generator, default=None

    Returns
    -------
    LabelTreeData

    References
    ----------
    .. [1] O. Meshi, E. Eban, G. Elidan, A. Globerson, "Learning max-margin tree predictors",
       2013, section 5, "Synthetic Data".

    Examples
    --------
    >>> train = make_label_tree(200, n_labels=5, random_state=0)
    >>> train.X.shape, train.Y.shape, train.tree.edges.tolist()
    ((200, 4), (200, 5), [[0, 4], [1, 2], [2, 3], [3, 4]])
    >>> test = make_label_tree(1000, tree=train.tree, random_state=1)
    >>> bool((train.tree.best(test.X) == test.Y).all())
    True
    """
    rng = np.random.default_rng(random_state)
    if not isinstance(tree, LabelTree):
        edges = random_tree_edges(n_labels, rng) if tree is None else _checked(tree, n_labels)
        W = rng.standard_normal((n_labels, n_features))
        tree = LabelTree(edges, W, rng.standard_normal(len(edges)))
    n_labels, n_features = tree.node_weights.shape
    X = rng.standard_normal((n_samples, n_features))
    extra = noise * rng.standard_normal((n_samples, n_labels)) if noise else 0.0
    return LabelTreeData(X, tree.best(X, extra), tree)


def _checked(edges, n_labels: int) -> np.ndarray:
    """Edges of a forest, sorted, the lower label of each first."""
    edges = np.asarray(list(edges.edges) if hasattr(edges, "nodes") else list(edges))
    pairs = edges.ndim == 2 and edges.shape[1] == 2 and edges.dtype.kind in "iu"
    if edges.size and not pairs:
        raise ValueError(f"make_label_tree: tree is a list of pairs of label numbers; got {edges}.")
    edges = np.sort(edges.astype(np.int64).reshape(-1, 2), axis=1)
    if edges.size and (edges.min() < 0 or edges.max() >= n_labels):
        raise ValueError(
            f"make_label_tree: labels are numbered 0 to {n_labels - 1}; the tree has "
            f"{edges.min()} to {edges.max()}."
        )
    if not is_forest(n_labels, edges):
        raise ValueError("make_label_tree: the edges of the tree close a circle.")
    return edges[np.lexsort(edges.T[::-1])]
