# SPDX-License-Identifier: BSD-3-Clause
"""Losses of quantities that add up over coordinates."""

import copy
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skstruct._arrays.memory import row_blocks
from skstruct.losses.base import (
    BaseLoss,
    Weights,
    check_positive,
    label_weights,
    matched_quantities,
    names_labels,
    plain_weights,
    quantity_rows,
)
from skstruct.losses.completions import Ends, limited_ends
from skstruct.losses.deciding import Effort
from skstruct.losses.observed import PartlyKnown
from skstruct.spaces import Known, Solving


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
    _convex = True  # whether rho is convex in the prediction

    def __init__(self, *, weights: Weights | None = None) -> None:
        self.weights = weights

    @abstractmethod
    def rho(self, t: Any, y: Any) -> np.ndarray:
        """The loss of predicting t where y is true, elementwise."""

    @abstractmethod
    def slope(self, t: Any, y: Any) -> np.ndarray:
        """The derivative of rho in t, from the right where there are two."""

    @abstractmethod
    def curves(self, weights: Any, outputs: Any) -> Any:
        """The estimated risk as curves (see ``decoding.curves``), one per row and coordinate."""

    def _check_parameters(self) -> None:
        """Raise where a parameter has no meaning."""

    def bind(self, space: Any) -> Self:
        self._check_parameters()
        bound = copy.copy(self)
        if names_labels(space):
            bound.weights_ = label_weights(self.weights, space, type(self).__name__)
        return bound

    def minimize(self, weights: np.ndarray, outputs: np.ndarray, space: Any) -> Any:
        """The point of ``space`` of least estimated risk for every row of weights."""
        return space.minimize(self.curves(weights, outputs))

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        self._check_parameters()
        Y_pred, Y_true = matched_quantities(Y_pred, Y_true)
        return self.rho(Y_pred, Y_true) @ plain_weights(self, Y_pred.shape[1])

    def pairwise(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        """Losses of all predictions against all truths; shape (n_pred, n_true)."""
        self._check_parameters()
        Y_pred, Y_true = quantity_rows(Y_pred, Y_true)
        losses = np.zeros((len(Y_pred), len(Y_true)))
        weights = plain_weights(self, Y_true.shape[1])
        for part in row_blocks(len(Y_pred), 32 * max(1, Y_true.size), "64MB"):
            losses[part] = self.rho(Y_pred[part, None], Y_true[None]) @ weights
        return losses

    def _training(self, weights: Any, outputs: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Dense weights (n_rows, n), outputs (n, d) and the weights of the coordinates."""
        self._check_parameters()
        (outputs,) = quantity_rows(outputs)
        weights = weights.toarray() if hasattr(weights, "toarray") else np.asarray(weights, float)
        return weights, outputs, plain_weights(self, outputs.shape[1])


class _EffortOfSeparable(Effort):
    __slots__ = ()

    def decide(self, weights: np.ndarray, outputs: np.ndarray, space: Any) -> Any:
        return Solving.of(space).search(self.loss.curves(weights, outputs))


class _SeparableInPart(PartlyKnown):
    __slots__ = ()

    def ends(self, space: Any, Y_pred: np.ndarray, partial: Any) -> Ends | None:
        """By coordinates: exact where these do not depend on each other, and else bounds."""
        loss = self.loss
        weights = plain_weights(loss, Y_pred.shape[1])
        limits = Known.of(space).limits(partial)
        return limited_ends(lambda t, y: loss.rho(t, y) * weights, Y_pred, *limits)


Effort.at(SeparableLoss, _EffortOfSeparable)
PartlyKnown.at(SeparableLoss, _SeparableInPart)


class ScaledLoss(SeparableLoss):
    """One with a scale c > 0, in units of the outputs."""

    def __init__(self, c: float = 1.0, *, weights: Weights | None = None) -> None:
        self.c = c
        self.weights = weights

    def _check_parameters(self) -> None:
        check_positive(self, "c")
