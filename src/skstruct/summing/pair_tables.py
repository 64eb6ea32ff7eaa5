# SPDX-License-Identifier: BSD-3-Clause
"""Laws of label sets with scores of pairs, by a table of all subsets."""

from __future__ import annotations

import numpy as np

from skstruct.summing.base import Law

MOST_LABELS = 20


class PairTableLaw(Law):
    r"""Laws :math:`p(z) \propto \exp(\sum_i u_i z_i + \sum_e w_e z_i z_j)` over all subsets.

    The table has :math:`2^d` numbers, is made with one addition and one exponential for each, and
    gives all marginals with two more additions: for graphs of few labels and many pairs.

    Parameters
    ----------
    scores : array of shape (n, d + E)
        Of the labels, then of the edges.
    edges : int array of shape (E, 2), pairs i < j
    n_labels : int

    Examples
    --------
    >>> law = PairTableLaw(np.log([[2.0, 1.0, 3.0]]), np.array([[0, 1]]), 2)
    >>> np.exp(law.log_partition).round(12)  # 1 + 2 + 1 + 6
    array([10.])
    >>> law.marginals().round(12)
    array([[0.8, 0.7, 0.6]])
    """

    def __init__(self, scores, edges, n_labels: int):
        from skstruct.summing._compiled_pair_tables import sum_pair_tables

        n = len(scores)
        self.edges = edges
        self.single = np.ascontiguousarray(scores[:, :n_labels])
        self.pair = np.zeros((n, n_labels, n_labels))
        self.pair[:, edges[:, 0], edges[:, 1]] = scores[:, n_labels:]
        self.log_partition = np.empty(n)
        self.of_labels, self.of_pairs = np.empty((n, n_labels)), np.zeros_like(self.pair)
        sum_pair_tables(self.single, self.pair, self.log_partition, self.of_labels, self.of_pairs)

    def marginals(self):
        i, j = self.edges.T
        return np.hstack([self.of_labels, self.of_pairs[:, i, j]])

    def sample(self, n, rng):
        from skstruct.summing._compiled_pair_tables import draw_pair_tables

        drawn = np.empty((len(self.single), n, self.single.shape[1]), np.int8)
        draw_pair_tables(self.single, self.pair, rng.random(drawn.shape[:2]), drawn)
        return drawn
