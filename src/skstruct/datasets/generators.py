# SPDX-License-Identifier: BSD-3-Clause
"""Random hierarchies, and outputs in them that depend on inputs."""

from __future__ import annotations

import numpy as np


def make_hierarchical(
    n_samples: int = 200,
    n_features: int = 10,
    n_labels: int = 15,
    *,
    noise: float = 0.5,
    random_state=None,
):
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


def random_forest_parents(d: int, rng=None) -> np.ndarray:
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


def random_dag_arcs(d: int, rng=None, extra: float = 0.5) -> np.ndarray:
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
