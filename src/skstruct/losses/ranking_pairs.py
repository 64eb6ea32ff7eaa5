# SPDX-License-Identifier: BSD-3-Clause
"""Losses of rankings that add up over pairs of items: Kendall, and differences of ratings."""

from __future__ import annotations

import copy

import numpy as np

from skstruct.decoding.linear_ordering import pair_blocks, pair_numbers, pair_signs
from skstruct.losses.base import BaseLoss, matched_rankings


class Kendall(BaseLoss):
    r"""Number of pairs of items in the wrong order.

    .. math:: \ell(z, y) = \sum_{p < q} \tfrac12 (1 - \psi_{pq}(z) \psi_{pq}(y))

    with :math:`\psi_{pq}` +1 where p comes before q, -1 after, and 0 where a partial
    ranking leaves the pair open: it then costs one half, whichever way it is predicted
    [1]_. Minimized as a linear ordering problem: exactly up to 20 items, with a
    certificate above.

    Parameters
    ----------
    normalize : bool, default=False
        Divide by the number of pairs that y orders: the loss is then
        :math:`(1 - \tau) / 2`, and one half where y orders none.

    References
    ----------
    .. [1] R. Fagin, R. Kumar, M. Mahdian, D. Sivakumar, E. Vee, "Comparing partial
       rankings", SIAM J. Discrete Math. 20(3), 2006: the distance with penalty 1/2.

    Examples
    --------
    >>> Kendall()([[1, 2, 3]], [[2, 1, 3]]), Kendall(normalize=True)([[1, 2, 3]], [[2, 1, 3]])
    (array([1.]), array([0.33333333]))
    >>> Kendall()([[1, 2, 3]], [[1.5, 1.5, 3]])
    array([0.5])
    """

    embedding = "pairs"

    def __init__(self, normalize=False):
        self.normalize = normalize

    def embedding_on(self, space):
        return "pair shares" if self.normalize else "pairs"

    def __call__(self, Y_pred, Y_true):
        Y_pred, Y_true = matched_rankings(Y_pred, Y_true)
        losses = np.empty(len(Y_true))
        for rows in pair_blocks(*Y_true.shape):
            true = pair_signs(Y_true[rows])
            agreement = (pair_signs(Y_pred[rows]) * true).sum(axis=1)
            if self.normalize:
                ordered = np.abs(true).sum(axis=1)
                losses[rows] = (1 - agreement / np.where(ordered > 0, ordered, 1)) / 2
            else:
                losses[rows] = (true.shape[1] - agreement) / 2
        return losses

    def range(self):
        return 0.0, 1.0 if self.normalize else np.inf

    def cost(self, g, total):
        cost = -g / 2
        if self.normalize:
            cost[:, -1] = 0.0
        return cost

    def offset(self, g, total):
        return total[:, 0] * (0.5 if self.normalize else g.shape[1] / 2)


class RankLoss(BaseLoss):
    r"""What the pairs in the wrong order are worth, by the difference of their ratings.

    .. math:: \ell(z, r) = \sum_{i, j:\, r_i > r_j} (r_i - r_j)\, 1[z \text{ puts } j
              \text{ above } i]

    over pairs that were both rated [1]_. This is the positive part of the paper's
    differences: the paper's own loss may be negative, and has the same minimizer. Ratings
    are given with ``Rankings(scores=True)``, NaN where there is none; of ranks the
    differences of ranks count. With complete ratings it is minimized by a sort; ratings
    with gaps lead to linear ordering.

    Parameters
    ----------
    normalize : bool, default=False
        Divide by the sum of all differences: 0 is perfect, 1 the reverse order.

    References
    ----------
    .. [1] C. Ciliberto, A. Rudi, L. Rosasco, "A consistent regularization approach for
       structured prediction", 2016, equation (21), after J. Duchi, L. Mackey, M. Jordan,
       "On the consistency of ranking algorithms", 2010.

    Examples
    --------
    Ranks and minus ratings are both smaller for the better item:

    >>> RankLoss()([[1, 2, 3]], [[-5, -1, -4]])
    array([3.])
    """

    embedding = "rating differences"

    def __init__(self, normalize=False):
        self.normalize = normalize

    def embedding_on(self, space):
        return "rating shares" if self.normalize else "rating differences"

    def bind(self, space):
        bound = copy.copy(self)
        bound.complete_ = space.embedding.startswith("complete")
        return bound

    def __call__(self, Y_pred, Y_true):
        Y_pred, Y_true = matched_rankings(Y_pred, Y_true)
        losses = np.empty(len(Y_true))
        p, q = pair_numbers(Y_true.shape[1])
        for rows in pair_blocks(*Y_true.shape):
            worth = np.nan_to_num(Y_true[rows][:, q] - Y_true[rows][:, p])
            size = np.abs(worth).sum(axis=1)
            wrong = (size - (worth * pair_signs(Y_pred[rows])).sum(axis=1)) / 2
            losses[rows] = wrong / np.where(size > 0, size, 1.0) if self.normalize else wrong
        return losses

    def range(self):
        return 0.0, 1.0 if self.normalize else np.inf

    # Complete ratings: sum over pairs of (y_q - y_p) psi_pq(z) = sum_q y_q (2 z_q - d - 1).
    def cost(self, g, total):
        cost = -g if self.complete_ else -g / 2
        cost[:, -1] = 0.0
        return cost

    def offset(self, g, total):
        offset = g[:, -1] / 2
        return offset + g[:, :-1].sum(axis=1) * g.shape[1] / 2 if self.complete_ else offset
