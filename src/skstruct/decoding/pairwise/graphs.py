# SPDX-License-Identifier: BSD-3-Clause
"""The ends of the edges of a graph, by node."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np


class Neighbors(NamedTuple):
    """Every edge twice, once at each end; the ends at one node stand together."""

    start: np.ndarray  # shape (n + 1,): node i owns the ends start[i]:start[i + 1]
    other: np.ndarray  # shape (2 E,): the node at the other end
    edge: np.ndarray  # shape (2 E,): which edge
    mate: np.ndarray  # shape (2 E,): where the other end of this edge stands


def neighbors(n: int, edges: np.ndarray) -> Neighbors:
    """Who is joined to whom.

    >>> neighbors(3, np.array([[0, 1], [0, 2]])).other
    array([1, 2, 0, 0])
    """
    return _neighbors(n, edges.tobytes())


@lru_cache(maxsize=64)  # learners decode a few rows at a time, thousands of times
def _neighbors(n, edges):
    edges = np.frombuffer(edges, dtype=np.int64).reshape(-1, 2)
    here, there = edges.T.ravel(), edges[:, ::-1].T.ravel()
    by_node = np.lexsort((there, here))
    place = np.empty(len(here), np.int64)
    place[by_node] = np.arange(len(here))
    across = np.roll(np.arange(len(here)), len(edges))  # the two ends stood E places apart
    start = np.searchsorted(here[by_node], np.arange(n + 1))
    return Neighbors(start, there[by_node], by_node % max(len(edges), 1), place[across[by_node]])
