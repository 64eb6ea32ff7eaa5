# SPDX-License-Identifier: BSD-3-Clause
"""Laws of labels of which some are known."""

from __future__ import annotations

import math

import numpy as np

from skstruct.decoding.pairwise.forests import is_forest
from skstruct.decoding.pairwise.held import fold
from skstruct.summing.base import Law
from skstruct.summing.elimination import LabelLaw, elimination, n_entries, summable
from skstruct.summing.label_forests import LabelForestLaw
from skstruct.summing.pair_tables import MOST_LABELS, PairTableLaw

CHEAPER = 4  # entries of a table of all sets for one of elimination


def label_law(nodes, pairs, edges, low=None, high=None) -> Law | None:
    """The law of 0/1 labels on a graph; None where it is too wide for so many rows.

    Parameters
    ----------
    nodes : array of shape (rows, n)
    pairs : array of shape (rows, E)
    edges : int array of shape (E, 2)
    low, high : bool arrays of shape (rows or 1, n), default=None
        Labels that must and that may be in; none of them contradict each other.

    Examples
    --------
    >>> triangle = np.array([[0, 1], [0, 2], [1, 2]])
    >>> law = label_law(np.zeros((1, 3)), np.log([[2.0, 3.0, 1.0]]), triangle)
    >>> np.exp(law.log_partition).round(12)  # 1 + 1 + 1 + 1 + 2 + 3 + 1 + 6
    array([16.])
    """
    if low is None:
        return (
            _cheapest_law(nodes, pairs, edges)
            if summable(len(nodes), nodes.shape[1], edges)
            else None
        )
    free = (high & ~low).any(axis=0)
    kept = np.flatnonzero(free[edges].all(axis=1))
    if not summable(len(nodes), nodes.shape[1], edges[kept]):
        return None
    nodes, pairs, shift = fold(nodes, pairs, edges, low, high)
    pairs = np.broadcast_to(pairs, (len(nodes), len(edges)))[:, kept]
    law = _cheapest_law(nodes, pairs, edges[kept])
    return HeldLaw(law, edges, kept, np.broadcast_to(low, nodes.shape), high & ~low, shift)


def _cheapest_law(nodes, pairs, edges) -> Law:
    """By elimination; by a table of all sets, quicker entry by entry, where that is no larger."""
    n = nodes.shape[1]
    if is_forest(n, edges):
        return LabelForestLaw(nodes, pairs, edges)
    buckets = elimination(n, edges)
    if n <= MOST_LABELS and buckets is not None and 2**n <= CHEAPER * n_entries(buckets):
        return PairTableLaw(np.hstack([nodes, pairs]), edges, n)
    return LabelLaw(nodes, pairs, edges)


class HeldLaw(Law):
    """A law of labels in which known ones have nothing to say, and what they then are.

    Parameters
    ----------
    law : Law
        Of all labels, scores of known ones being zero.
    edges : int array of shape (E, 2)
    kept : int array
        The edges that the law has.
    low, free : bool arrays of shape (rows, n) and (rows or 1, n)
        Labels that are known to be in, and those that are not known.
    shift : array of shape (rows,)
        The score of the known labels among themselves.
    """

    def __init__(self, law: Law, edges, kept, low, free, shift):
        self.law, self.edges, self.kept = law, edges, kept
        self.low, self.free = low, np.broadcast_to(free, low.shape)
        # The law counts both values of a known label.
        self.log_partition = law.log_partition + shift - math.log(2.0) * (~self.free).sum(axis=1)

    def marginals(self):
        n, found = self.low.shape[1], self.law.marginals()
        labels = np.where(self.free, found[:, :n], self.low)
        i, j = self.edges.T
        pairs = labels[:, i] * labels[:, j]  # right where one of the two is known
        both = (self.free[:, i] & self.free[:, j])[:, self.kept]
        pairs[:, self.kept] = np.where(both, found[:, n:], pairs[:, self.kept])
        return np.hstack([labels, pairs])

    def sample(self, n, rng):
        drawn = self.law.sample(n, rng)
        return np.where(self.free[:, None], drawn, self.low[:, None]).astype(drawn.dtype)
