# SPDX-License-Identifier: BSD-3-Clause
"""Laws of 0/1 labels with scores of pairs, where the pairs are a forest."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.pairwise.forests import rooted
from skstruct.decoding.pairwise.graphs import per_graph
from skstruct.summing.base import Law


class LabelForestLaw(Law):
    r"""Laws of sets of labels by sums and products from the leaves to the roots.

    .. math:: p(y) \propto \exp\Bigl(\sum_i u_i y_i + \sum_{ij \in E} w_{ij} y_i y_j\Bigr)

    With :math:`t_v` the logarithm of the odds of v by all that is below it, v adds
    :math:`\ln(1 + e^{t_v})` to ln Z and :math:`\ln(1 + e^{t_v + w}) - \ln(1 + e^{t_v})` to the
    odds of its parent: O(n) for each row.

    Parameters
    ----------
    nodes : array of shape (rows, n)
    pairs : array of shape (rows, E)
    edges : int array of shape (E, 2)
        A forest.

    Examples
    --------
    >>> law = LabelForestLaw(np.zeros((1, 2)), np.log([[3.0]]), np.array([[0, 1]]))
    >>> np.exp(law.log_partition).round(12), law.marginals().round(3)
    (array([6.]), array([[0.667, 0.667, 0.5  ]]))
    """

    def __init__(self, nodes, pairs, edges):
        from skstruct.summing._compiled_label_forests import sum_labels

        nodes, pairs = np.array(nodes, np.float64), np.array(pairs, np.float64)  # rows in order
        self.forest, self.n_edges = _hung(nodes.shape[1], edges), len(edges)
        # Chances of labels given that their parent is out, and that it is in.
        self.given = np.empty((*nodes.shape, 2))
        self.log_partition = sum_labels(nodes, pairs, *self.forest, self.given)

    def marginals(self):
        """Chances of labels (n) and of pairs of labels (E) in every row."""
        from skstruct.summing._compiled_label_forests import spread_labels

        return spread_labels(*self.forest, self.given, self.n_edges)

    def sample(self, n, rng):
        from skstruct.summing._compiled_label_forests import draw_labels

        order, parent, _ = self.forest
        return draw_labels(order, parent, self.given, n, rng)


@per_graph
def _hung(n, edges):
    return rooted(n, edges)
