# SPDX-License-Identifier: BSD-3-Clause
"""How many labels differ."""

from __future__ import annotations

import copy

import numpy as np

from skstruct.losses.base import BaseLoss, label_weights
from skstruct.losses.sequences import SequenceHamming
from skstruct.losses.states import StateHamming


class Hamming(BaseLoss):
    r"""Weighted number of labels that differ, :math:`\sum_j c_j 1[z_j \ne y_j]`.

    On indicators it is :math:`\langle c (1 - 2y), z \rangle + \langle c, y \rangle`. On
    sequences it is the number of positions that differ, :class:`SequenceHamming`; on labels of
    several states, the number of labels in the wrong one.

    Parameters
    ----------
    weights : sequence or mapping from label to weight, default=None
        Weights :math:`c_j \ge 0` of the labels; one each when None.
    normalize : bool, default=False
        Whether to divide by the sum of the weights: the share of labels that differ.

    Examples
    --------
    >>> Hamming()([[1, 0, 1]], [[0, 0, 1]])
    array([1.])
    >>> Hamming(weights=[0.5, 1, 1])([[1, 0, 1]], [[0, 0, 1]])
    array([0.5])
    """

    embedding = "indicators"

    def __init__(self, weights=None, normalize=False):
        self.weights = weights
        self.normalize = normalize

    def embedding_on(self, space):
        if hasattr(space, "symbols_"):
            return SequenceHamming.embedding
        return StateHamming.embedding if hasattr(space, "states_") else self.embedding

    def bind(self, space):
        if hasattr(space, "symbols_"):
            return self._of_sequences().bind(space)
        bound = copy.copy(self)
        weights = label_weights(self.weights, space, "Hamming")
        if self.normalize and weights.sum() <= 0:
            raise ValueError("Hamming: all weights are zero, nothing to normalize by.")
        bound.weights_ = weights / weights.sum() if self.normalize else weights
        if hasattr(space, "states_"):
            return StateHamming(bound.weights_).bind(space)
        return bound

    def _of_sequences(self):
        if self.weights is not None or self.normalize:
            raise ValueError("Hamming: on sequences every position counts one; give Hamming().")
        return SequenceHamming()

    def _weights(self, d):
        if hasattr(self, "weights_"):
            return self.weights_
        weights = np.ones(d) if self.weights is None else np.asarray(self.weights, dtype=float)
        return weights / weights.sum() if self.normalize else weights

    def __call__(self, Y_pred, Y_true):
        differ = np.asarray(Y_pred) != np.asarray(Y_true)
        return differ @ self._weights(differ.shape[1])

    def range(self):
        if self.normalize:
            return 0.0, 1.0
        return 0.0, float(self.weights_.sum()) if hasattr(self, "weights_") else np.inf

    def cost(self, g, total):
        return (total - 2.0 * g) * self._weights(g.shape[1])

    def offset(self, g, total):
        return g @ self._weights(g.shape[1])
