# SPDX-License-Identifier: BSD-3-Clause
"""Which values a loss can take, where that is known."""

from __future__ import annotations

import numpy as np

from skstruct.losses.f_measures import FBeta
from skstruct.losses.hamming import Hamming
from skstruct.losses.hierarchical import HierarchicalLoss
from skstruct.losses.sequences import SequenceHamming
from skstruct.losses.zero_one import ZeroOne


def loss_levels(problem) -> tuple[float, np.ndarray]:
    """Every loss is a multiple of the first number, and zero or at least the second.

    Zero says nothing. The second has an entry per example. A relaxation mixes outputs, and
    so their losses.
    """
    nothing, loss = np.zeros(len(problem.outputs)), problem.loss
    if problem.relaxed:
        return 0.0, nothing
    if isinstance(loss, ZeroOne):
        return 1.0, nothing + 1.0
    if isinstance(loss, SequenceHamming):
        return (0.0 if loss.bigrams else 1.0), nothing + 1.0
    if isinstance(loss, FBeta):
        return 0.0, _least_f_loss(loss, problem.outputs.sum(axis=1, dtype=np.float64))
    if isinstance(loss, (Hamming, HierarchicalLoss)):
        weights = np.array(loss.weights_)
        if isinstance(loss, HierarchicalLoss) and loss.dag == "average":
            weights /= np.maximum(loss.graph_.n_parents, 1)
        weights = weights[weights > 0]
        least = weights.min(initial=np.inf)
        if not np.isfinite(least):  # nothing costs anything
            return 0.0, nothing
        alike = bool((weights == least).all())
        return (float(least) if alike else 0.0), nothing + least
    return 0.0, nothing


def _least_f_loss(loss, size):
    """Of the truth with one label more, or one less; shape (n,)."""
    square = loss._square()
    more = 1.0 / ((1.0 + square) * size + 1.0)
    less = square / np.maximum((1.0 + square) * size - 1.0, square)
    return np.where(size > 0, np.minimum(more, less), 1.0)
