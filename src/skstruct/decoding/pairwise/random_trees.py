# SPDX-License-Identifier: BSD-3-Clause
"""Trees drawn at random."""

from __future__ import annotations

import numpy as np


def random_tree_edges(n: int, rng=None) -> np.ndarray:
    """Draw a tree over n nodes, all of the n ** (n - 2) equally likely; shape (n - 1, 2).

    A walk that goes to any node at every step enters each node first by an edge of the
    tree (Aldous and Broder).

    Parameters
    ----------
    n : int
    rng : int or numpy.random.Generator, default=None

    Examples
    --------
    >>> random_tree_edges(4, 0).tolist()
    [[0, 3], [1, 2], [2, 3]]
    """
    rng = np.random.default_rng(rng)
    edges, at, left = [], 0, set(range(1, n))
    while left:
        to = int(rng.integers(n))
        if to in left:
            left.remove(to)
            edges.append((min(at, to), max(at, to)))
        at = to
    return np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
