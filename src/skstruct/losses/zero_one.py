# SPDX-License-Identifier: BSD-3-Clause
"""Right or wrong, nothing between."""

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from skstruct.losses.base import BaseLoss, BilinearForm, same_width
from skstruct.saving import savable


@savable
class ZeroOne(BaseLoss):
    r"""One unless the prediction is exactly right.

    :math:`\ell(z, y) = 1 - \langle e_y, e_z \rangle` over a list of outputs.

    On classes this is the misclassification rate. On label sets and hierarchies it is
    minimized over a list of outputs: the distinct outputs of training, or ``candidates``.

    Parameters
    ----------
    candidates : outputs in the user's format, default=None
        What may be predicted; None is whatever occurred in training.

    Examples
    --------
    >>> ZeroOne()([[0, 1], [1, 1]], [[0, 1], [1, 0]])
    array([0., 1.])
    """

    embedding = "outputs"
    all_or_nothing = True

    def __init__(self, candidates: Any = None) -> None:
        self.candidates = candidates

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        Y_pred, Y_true = same_width(Y_pred, Y_true)
        differ = Y_pred != Y_true
        losses: np.ndarray = differ.reshape(len(differ), -1).any(axis=1).astype(np.float64)
        return losses

    def range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return -g

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return total[:, 0]

    def bilinear_form(self, width: int) -> BilinearForm | None:
        zero = np.zeros(width)
        return BilinearForm(-sparse.eye_array(width), zero, zero, 1.0)

    def levels(self, outputs: np.ndarray) -> tuple[float, np.ndarray]:
        return 1.0, np.ones(len(outputs))

    def largest_loss(self, space: Any) -> float | None:
        return 1.0

    @property
    def prefers_most_probable(self) -> bool:
        return self.candidates is None


@savable
class Listed(BaseLoss):
    r"""Any loss over a finite list of outputs: :math:`\ell(z, y) = e_z' L e_y`.

    Wraps a loss of this package, which then needs no embedding of its own, or any
    callable of two outputs in the user's format.

    Parameters
    ----------
    loss : loss, or callable (predicted, true) -> float
    candidates : outputs in the user's format, default=None
        What may be predicted; None is whatever occurred in training.

    Examples
    --------
    >>> from skstruct.losses import F1
    >>> Listed(F1())([[1, 1]], [[1, 0]]).round(3)
    array([0.333])
    """

    embedding = "outputs"

    def __init__(self, loss: Any, candidates: Any = None) -> None:
        self.loss = loss
        self.candidates = candidates

    def bind(self, space: Any) -> Self:
        if not callable(self.loss):
            raise ValueError(
                f"Listed takes a loss or a function of two outputs; got {self.loss!r}."
            )
        bound = copy.copy(self)
        bound.space_ = space
        if isinstance(self.loss, BaseLoss):
            bound.loss = self.loss.bind(space)
            bound.matrix_ = bound.loss.pairwise(space.listed_, space.listed_)
        else:
            objects = _each(space.restore(space.listed_))
            bound.matrix_ = np.array([[self._number(z, y) for y in objects] for z in objects])
        return bound

    def _number(self, z: Any, y: Any) -> float:
        """What the user's callable says of two outputs, if it is a finite number."""
        value = self.loss(z, y)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = np.nan
        if not np.isfinite(number):
            raise ValueError(f"The loss of {z!r} against {y!r} is {value!r}, not a finite number.")
        return number

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        if isinstance(self.loss, BaseLoss):
            losses: np.ndarray = self.loss(Y_pred, Y_true)
            return losses
        if not hasattr(self, "space_"):
            raise ValueError("Listed: call bind(space) first; a callable needs the user's outputs.")
        predicted, true = (_each(self.space_.restore(Y)) for Y in (Y_pred, Y_true))
        return np.array([self._number(z, y) for z, y in zip(predicted, true)])

    def range(self) -> tuple[float, float]:
        if hasattr(self, "matrix_"):
            return float(self.matrix_.min()), float(self.matrix_.max())
        return self.loss.range() if isinstance(self.loss, BaseLoss) else (-np.inf, np.inf)

    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        costs: np.ndarray = g @ self.matrix_.T
        return costs

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return np.zeros(len(g))

    def bilinear_form(self, width: int) -> BilinearForm | None:
        zero = np.zeros(width)
        return BilinearForm(self.matrix_, zero, zero, 0.0)

    def largest_loss(self, space: Any) -> float | None:
        """The inner loss's own bound, or the largest entry of the table of candidates."""
        inner = self.loss.largest_loss(space) if isinstance(self.loss, BaseLoss) else None
        if inner is not None:
            return inner
        return float(self.matrix_.max()) if hasattr(self, "matrix_") else None


def _each(outputs: np.ndarray) -> list[Any]:
    """Outputs one by one; those of a frame are its rows."""
    if hasattr(outputs, "iloc") and outputs.ndim == 2:
        return [outputs.iloc[i] for i in range(len(outputs))]
    return list(outputs)
