# SPDX-License-Identifier: BSD-3-Clause
"""The squared distance."""

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skstruct.losses.base import (
    BaseLoss,
    Weights,
    label_weights,
    matched_quantities,
    names_labels,
    plain_weights,
    quantity_rows,
)
from skstruct.losses.completions import Ends, limited_ends
from skstruct.losses.observed import PartlyKnown
from skstruct.saving import savable
from skstruct.spaces import Known


@savable
class Squared(BaseLoss):
    r"""Squared distance, :math:`\sum_j c_j (z_j - y_j)^2`.

    With total weight A, :math:`\sum_i w_i \ell(z, y_i) = A |z|^2 - 2 \langle g, z \rangle +` const:
    the mean of the outputs, projected on the space where A > 0, and an extreme point where
    it is not [1]_. Bilinear in :math:`\psi(z) = (z, z^2)`, so any smoother will do.

    Parameters
    ----------
    weights : sequence or mapping from column to weight, default=None
        Weights :math:`c_j \ge 0` of the coordinates; one each when None.

    References
    ----------
    .. [1] C. Ciliberto, A. Rudi, L. Rosasco, "A consistent regularization approach for
       structured prediction", 2016, Example 1.

    Examples
    --------
    >>> Squared()([[1.0, 2.0]], [[0.0, 4.0]])
    array([5.])
    """

    embedding = "squares"

    def __init__(self, weights: Weights | None = None) -> None:
        self.weights = weights

    def bind(self, space: Any) -> Self:
        bound = copy.copy(self)
        if names_labels(space):
            bound.weights_ = label_weights(self.weights, space, "Squared")
        return bound

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        Y_pred, Y_true = matched_quantities(Y_pred, Y_true)
        return (Y_pred - Y_true) ** 2 @ plain_weights(self, Y_pred.shape[1])

    def pairwise(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        P, Q = quantity_rows(Y_pred, Y_true)
        scale = np.sqrt(plain_weights(self, P.shape[1]))
        P, Q = P * scale, Q * scale
        from sklearn.metrics.pairwise import euclidean_distances

        # A common shift changes no distance, and takes away what would cancel.
        shift = Q.mean(axis=0) if len(Q) else 0.0
        return euclidean_distances(P - shift, Q - shift, squared=True)

    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        d = g.shape[1] // 2
        weights = plain_weights(self, d)
        return np.hstack([-2.0 * g[:, :d] * weights, np.broadcast_to(total * weights, (len(g), d))])

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        d = g.shape[1] // 2
        return g[:, d:] @ plain_weights(self, d)


class _SquaredInPart(PartlyKnown):
    __slots__ = ()

    def ends(self, space: Any, Y_pred: np.ndarray, partial: Any) -> Ends | None:
        """By coordinates: exact where these do not depend on each other, and else bounds."""
        weights = plain_weights(self.loss, Y_pred.shape[1])
        limits = Known.of(space).limits(partial)
        return limited_ends(lambda t, y: (t - y) ** 2 * weights, Y_pred, *limits)


PartlyKnown.at(Squared, _SquaredInPart)
