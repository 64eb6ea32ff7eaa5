# SPDX-License-Identifier: BSD-3-Clause
"""How many labels are in the wrong state."""

from __future__ import annotations

import copy

import numpy as np

from skstruct.losses.base import BaseLoss


class StateHamming(BaseLoss):
    r"""Weighted number of labels in the wrong state, :math:`\sum_i c_i 1[z_i \ne y_i]`.

    Every label has just one state, so that it is
    :math:`\sum_i c_i (1 - \sum_a 1[z_i = a] 1[y_i = a])`, linear in the indicators of states.
    ``loss="hamming"`` on :class:`~skstruct.spaces.PairwiseStates` is this one.

    Parameters
    ----------
    weights : array of shape (n_labels,)
        :math:`c_i \ge 0`.

    Examples
    --------
    >>> StateHamming(np.array([1.0, 0.5]))([[2, 0], [1, 1]], [[2, 1], [0, 0]])
    array([0.5, 1.5])
    """

    embedding = "node states"

    def __init__(self, weights):
        self.weights = weights

    def bind(self, space):
        bound = copy.copy(self)
        bound.n_states_ = len(space.states_)
        return bound

    def __call__(self, Y_pred, Y_true):
        return (np.asarray(Y_pred) != np.asarray(Y_true)) @ self.weights

    def range(self):
        return 0.0, float(np.sum(self.weights))

    def cost(self, g, total):
        return (total - g) * np.repeat(self.weights, self.n_states_)

    def offset(self, g, total):
        return np.zeros(len(g))
