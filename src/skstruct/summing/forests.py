# SPDX-License-Identifier: BSD-3-Clause
"""Laws of the closed sets of a forest."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.dag import Dag
from skstruct.summing.base import Law


class ForestLaw(Law):
    r"""Sets that hold the parents of their members, in a forest: exact in O(d) for every row.

    With :math:`Z(v) = 1 + e^{u_v} \prod_c Z(c)` over the children c of v, the sum is the
    product of :math:`Z` over the roots, and a label whose parent is in is a coin by itself:
    :math:`q_v = q_{\mathrm{parent}} (Z(v) - 1) / Z(v)`. Exclusive siblings share one factor,
    :math:`1 + \sum_v e^{u_v} \prod_c Z(c)`. All in logarithms.

    Parameters
    ----------
    scores : C-contiguous array u of shape (n, d)
    dag : Dag
        A forest.
    low, high : bool arrays of shape (1 or n, d)
        Labels that must and that may be in, closed: ancestors of the former are in it,
        descendants and rivals of what is barred are barred.
    groups : sequence of index arrays
        Disjoint sets of siblings of which at most one is in.

    Examples
    --------
    >>> path = Dag(2, [0], [1])  # sets: {}, {0}, {0, 1}
    >>> law = ForestLaw(np.zeros((1, 2)), path, np.zeros((1, 2), bool), np.ones((1, 2), bool))
    >>> np.exp(law.log_partition).round(12), law.marginals().round(6)
    (array([3.]), array([[0.666667, 0.333333]]))

    References
    ----------
    S. Vembu, "Learning to predict combinatorial structures" (2010), section 4.3, with the coin
    (Z - 1) / Z, under which the uniform sampler is exact.
    """

    def __init__(self, scores, dag: Dag, low, high, groups=()):
        from skstruct.summing._compiled_forests import coin_shares, shares_of

        self.tree = _positions(dag, groups)
        if self.tree[3].all() and not low.any() and high.all():
            self.shares, self.log_partition = coin_shares(scores, *self.tree[:2])
            return
        masks = np.ascontiguousarray(low), np.ascontiguousarray(high)
        self.shares, self.log_partition = shares_of(scores, *masks, *self.tree)

    def marginals(self):
        from skstruct.summing._compiled_forests import multiplied_down

        return multiplied_down(self.shares, *self.tree[:2])

    def sample(self, n, rng):
        from skstruct.summing._compiled_forests import drawn_sets

        return drawn_sets(self.shares, *self.tree, n, rng)


def _positions(dag: Dag, groups):
    """Nodes in preorder; positions of their parents and of the first of their group; loners."""
    d, order = dag.n_nodes, dag.preorder[0]
    place = np.empty(d + 1, np.int64)
    place[order], place[-1] = np.arange(d), d
    first, alone = np.arange(d), np.ones(d, bool)
    for members in groups:
        at = place[members]
        first[at], alone[at] = at.min(), len(at) == 1
    return order, place[dag.parent_of[order]], first, alone
