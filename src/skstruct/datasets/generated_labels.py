# SPDX-License-Identifier: BSD-3-Clause
"""Generated label sets: in random hierarchies, and dependent along the edges of a tree."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.spaces.solvers.pairwise.forests import best_on_forest, is_forest, random_tree_edges


def make_hierarchical(
    n_samples: int = 200,
    n_features: int = 10,
    n_labels: int = 15,
    *,
    noise: float = 0.5,
    random_state: Any = None,
) -> tuple[np.ndarray, np.ndarray, list[tuple[Any, ...]]]:
    r"""Draw label sets closed in a random forest that depend linearly on the inputs.

    A label is in when its parent is and :math:`\langle w_j, x \rangle + \varepsilon > -1/2`,
    where inputs are standard normal, :math:`w_j` has unit length and :math:`\varepsilon` is
    normal: about seven in ten of the samples that have the parent.

    Parameters
    ----------
    n_samples, n_features, n_labels : int
    noise : float, default=0.5
        Standard deviation of :math:`\varepsilon`; 0 makes the labels a function of the inputs.
    random_state : int or numpy.random.Generator, default=None

    Returns
    -------
    X : array of shape (n_samples, n_features)
    Y : int8 array of shape (n_samples, n_labels)
    edges : list of (parent, child) pairs of column numbers

    Examples
    --------
    >>> from skstruct.spaces import Hierarchy
    >>> X, Y, edges = make_hierarchical(n_samples=50, n_labels=8, random_state=0)
    >>> X.shape, Y.shape
    ((50, 10), (50, 8))
    >>> bool(Hierarchy(edges, labels=range(8)).contains(Y).all())
    True
    """
    rng = np.random.default_rng(random_state)
    parents = random_forest_parents(n_labels, rng)
    X = rng.standard_normal((n_samples, n_features))
    W = rng.standard_normal((n_features, n_labels))
    W /= np.linalg.norm(W, axis=0)
    Y = (X @ W + noise * rng.standard_normal((n_samples, n_labels)) > -0.5).astype(np.int8)
    edges = [(int(parent), child) for child, parent in enumerate(parents) if parent >= 0]
    for parent, child in edges:  # parents come before their children
        Y[:, child] &= Y[:, parent]
    return X, Y, edges


def random_forest_parents(d: int, rng: Any = None) -> np.ndarray:
    """Draw a forest: the parent of every node, -1 for roots; parents come before children.

    Node v hangs below one of the nodes before it, or is a root, all equally likely: about
    log(d) roots, and a depth of the order of log(d).

    Parameters
    ----------
    d : int
    rng : int or numpy.random.Generator, default=None

    Examples
    --------
    >>> random_forest_parents(6, 0)
    array([-1,  0,  0,  1,  0,  0])
    """
    return np.random.default_rng(rng).integers(-1, np.arange(d))


def random_dag_arcs(d: int, rng: Any = None, extra: float = 0.5) -> np.ndarray:
    """Draw an acyclic graph: (parent, child) rows, parent < child, none of them twice.

    Parameters
    ----------
    d : int
    rng : int or numpy.random.Generator, default=None
    extra : float, default=0.5
        Number of arcs drawn on top of a random forest, as a share of ``d``.

    Examples
    --------
    >>> arcs = random_dag_arcs(100, 0)
    >>> bool((arcs[:, 0] < arcs[:, 1]).all())
    True
    """
    rng = np.random.default_rng(rng)
    parents = random_forest_parents(d, rng)
    children = np.flatnonzero(parents >= 0)
    forest = np.column_stack([parents[children], children])
    high = rng.integers(1, max(d, 2), size=round(extra * d) if d > 1 else 0)
    drawn = np.column_stack([rng.integers(0, high), high])
    return np.unique(np.concatenate([forest, drawn]), axis=0)


# Label sets that depend on inputs, and on each other along the edges of a tree.


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

    def best(self, X: Any, extra: Any = 0.0) -> np.ndarray:
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
    tree: Any = None,
    noise: float = 0.0,
    random_state: Any = None,
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
        edges = (
            random_tree_edges(n_labels, rng)
            if tree is None
            else _check_tree_arguments(tree, n_labels)
        )
        W = rng.standard_normal((n_labels, n_features))
        tree = LabelTree(edges, W, rng.standard_normal(len(edges)))
    n_labels, n_features = tree.node_weights.shape
    X = rng.standard_normal((n_samples, n_features))
    extra = noise * rng.standard_normal((n_samples, n_labels)) if noise else 0.0
    return LabelTreeData(X, tree.best(X, extra), tree)


def _check_tree_arguments(tree: Any, n_labels: int) -> Any:
    """Edges of a forest, sorted, the lower label of each first."""
    edges = np.asarray(list(tree.edges) if hasattr(tree, "nodes") else list(tree))
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
