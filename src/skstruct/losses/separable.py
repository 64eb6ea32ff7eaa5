# SPDX-License-Identifier: BSD-3-Clause
"""Losses of quantities that add up over coordinates."""

from __future__ import annotations

import copy
from abc import abstractmethod

import numpy as np

from skstruct._arrays.blocks import row_blocks
from skstruct.losses.base import (
    BaseLoss,
    label_weights,
    matched_quantities,
    plain_weights,
    quantity_rows,
)


class SeparableLoss(BaseLoss):
    r"""loss(z, y) = sum_j c_j rho(z_j, y_j), for outputs that are rows of numbers.

    Such a loss needs no finite embedding: the estimated risk of a row is
    :math:`\sum_j F_j(z_j)` with :math:`F_j(t) = c_j \sum_i w_i \rho(t, y_{ij})`, a curve
    per coordinate, which a space minimizes for weights of any sign.

    A child brings ``rho(t, y)``, ``slope(t, y)`` (its derivative in t), both elementwise
    with broadcasting, ``curves(weights, outputs)``, and perhaps ``_check_parameters()``.

    Parameters
    ----------
    weights : sequence or mapping from column to weight, default=None
        Weights :math:`c_j \ge 0` of the coordinates; one each when None.
    """

    embedding = "weights"
    convex = True  # whether rho is convex in the prediction

    def __init__(self, *, weights=None):
        self.weights = weights

    @abstractmethod
    def rho(self, t, y):
        """The loss of predicting t where y is true, elementwise."""

    @abstractmethod
    def slope(self, t, y):
        """The derivative of rho in t, from the right where there are two."""

    @abstractmethod
    def curves(self, weights, outputs):
        """The estimated risk as curves (see ``decoding.curves``), one per row and coordinate."""

    def _check_parameters(self):
        """Raise where a parameter has no meaning."""

    def bind(self, space):
        self._check_parameters()
        bound = copy.copy(self)
        if hasattr(space, "labels_"):
            bound.weights_ = label_weights(self.weights, space, type(self).__name__)
        return bound

    def minimize(self, weights, outputs, space):
        """The point of ``space`` of least estimated risk for every row of weights."""
        return space.minimize(self.curves(weights, outputs))

    def search(self, weights, outputs, space):
        """As :meth:`minimize`, without proofs that take long: for a search over parameters."""
        return getattr(space, "search", space.minimize)(self.curves(weights, outputs))

    def __call__(self, Y_pred, Y_true):
        self._check_parameters()
        Y_pred, Y_true = matched_quantities(Y_pred, Y_true)
        return self.rho(Y_pred, Y_true) @ plain_weights(self, Y_pred.shape[1])

    def pairwise(self, Y_pred, Y_true):
        """Losses of all predictions against all truths; shape (n_pred, n_true)."""
        self._check_parameters()
        Y_pred, Y_true = quantity_rows(Y_pred, Y_true)
        losses = np.zeros((len(Y_pred), len(Y_true)))
        weights = plain_weights(self, Y_true.shape[1])
        for part in row_blocks(len(Y_pred), 32 * max(1, Y_true.size), "64MB"):
            losses[part] = self.rho(Y_pred[part, None], Y_true[None]) @ weights
        return losses

    def _training(self, weights, outputs):
        """Dense weights (n_rows, n), outputs (n, d) and the weights of the coordinates."""
        self._check_parameters()
        (outputs,) = quantity_rows(outputs)
        weights = weights.toarray() if hasattr(weights, "toarray") else np.asarray(weights, float)
        return weights, outputs, plain_weights(self, outputs.shape[1])


def check_positive(loss, name):
    """Raise where a parameter of a loss is not a positive number."""
    value = getattr(loss, name)
    if not (np.isscalar(value) and np.isreal(value) and 0 < value < np.inf):
        raise ValueError(f"{type(loss).__name__}: {name} is a positive number; got {value!r}.")
