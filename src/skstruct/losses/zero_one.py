# SPDX-License-Identifier: BSD-3-Clause
"""Right or wrong, nothing between."""

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from skstruct.losses.base import BaseLoss, same_width
from skstruct.losses.completions import Ends, differing_ends
from skstruct.losses.costs import (
    ClassWeight,
    balanced_weights,
    class_names,
    is_balanced,
    named_costs,
    needs_names,
    without_outputs,
)
from skstruct.losses.deciding import BilinearForm, Deciding, Form
from skstruct.losses.levels import Levels
from skstruct.losses.observed import PartlyKnown
from skstruct.saving import savable


@savable
class ZeroOne(BaseLoss):
    r"""One unless the prediction is exactly right.

    :math:`\ell(z, y) = 1 - \langle e_y, e_z \rangle` over a list of outputs.

    On classes this is the misclassification rate, or what a mistake costs by the true class,
    :math:`w_y 1[z \ne y]`. On label sets and hierarchies it is minimized over a list of outputs:
    the distinct outputs of training, or ``candidates``.

    Parameters
    ----------
    candidates : outputs in the user's format, default=None
        What may be predicted; None is whatever occurred in training.
    class_weight : "balanced", sequence or mapping from class to weight, default=None
        :math:`w_y \ge 0`, for spaces of classes. "balanced" is :math:`n / (K n_y)` of a class that
        :math:`n_y` of the n training rows have, with K classes in all, as in scikit-learn. Classes
        that a mapping leaves out weigh one.

    Notes
    -----
    These are costs of decisions, not weights of rows: the estimate of the probabilities stays as it
    is, and another ``class_weight`` at prediction needs no new fit. A smoother that averages
    (:class:`~skstruct.smoothing.NadarayaWatson`) decides as if rows of class k were there
    :math:`w_k` times. To have a fit pay attention by class, give
    ``sample_weight=compute_sample_weight("balanced", y)`` of scikit-learn to ``fit``.

    Examples
    --------
    >>> ZeroOne()([[0, 1], [1, 1]], [[0, 1], [1, 0]])
    array([0., 1.])
    >>> ZeroOne(class_weight=[1.0, 5.0])([0, 0], [0, 1])
    array([0., 5.])
    """

    embedding = "outputs"
    class_weight_: np.ndarray | None = None  # shape (n_classes,), unless all weigh one

    def __init__(self, candidates: Any = None, *, class_weight: ClassWeight = None) -> None:
        self.candidates = candidates
        self.class_weight = class_weight

    def observe(self, space: Any, outputs: np.ndarray) -> Self:
        if not is_balanced(self.class_weight, "ZeroOne"):
            return self
        n_classes = len(class_names(space, "ZeroOne(class_weight=...)"))
        seen = copy.copy(self)
        seen.class_weight_ = balanced_weights(np.bincount(outputs, minlength=n_classes))
        return seen

    def bind(self, space: Any) -> Self:
        if self.class_weight is None:
            return self
        names = class_names(space, "ZeroOne(class_weight=...)")
        if is_balanced(self.class_weight, "ZeroOne"):
            if self.class_weight_ is None:
                raise without_outputs("ZeroOne")
            return self
        bound = copy.copy(self)
        bound.class_weight_ = named_costs(self.class_weight, names, "class_weight", "ZeroOne")
        return bound

    def _weights_of(self, Y_true: np.ndarray) -> Any:
        """What a mistake costs where these classes are true."""
        if self.class_weight is None:
            return 1.0
        weights = self.class_weight_
        if weights is None:
            if isinstance(self.class_weight, str) or needs_names(self.class_weight):
                raise ValueError("ZeroOne: call bind(space) first; weights are by name.")
            weights = np.asarray(self.class_weight, dtype=np.float64)
        return weights[Y_true]

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        Y_pred, Y_true = same_width(Y_pred, Y_true)
        differ = Y_pred != Y_true
        wrong = differ.reshape(len(differ), -1).any(axis=1).astype(np.float64)
        return wrong * self._weights_of(Y_true)

    def range(self) -> tuple[float, float]:
        if self.class_weight is None:
            return 0.0, 1.0
        weights = self.class_weight_
        return 0.0, np.inf if weights is None else float(weights.max(initial=0.0))

    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return -g if self.class_weight_ is None else -g * self.class_weight_

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return total[:, 0] if self.class_weight_ is None else g @ self.class_weight_


class _FormOfZeroOne(Form):
    __slots__ = ()

    def numbers(self, width: int) -> BilinearForm | None:
        zero, weights = np.zeros(width), self.loss.class_weight_
        if weights is None:
            return BilinearForm(-sparse.eye_array(width), zero, zero, 1.0)
        return BilinearForm(sparse.diags_array(-weights), zero, weights, 0.0)


class _ZeroOneInPart(PartlyKnown):
    __slots__ = ()

    def ends(self, space: Any, Y_pred: np.ndarray, partial: Any) -> Ends | None:
        """Whether a prediction may be right, and whether it may be wrong."""
        if self.loss.class_weight is not None or partial.outputs.ndim == 1:
            return super().ends(space, Y_pred, partial)
        agreeing = partial.allowed
        return None if agreeing is None else differing_ends(space, Y_pred, agreeing)


class _LevelsOfZeroOne(Levels):
    __slots__ = ()

    def largest(self, space: Any) -> float | None:
        return self.loss.range()[1]

    def steps(self, outputs: np.ndarray) -> tuple[float, np.ndarray]:
        """A row has one loss other than zero, that of its class."""
        weights = self.loss.class_weight_
        return (1.0, np.ones(len(outputs))) if weights is None else (0.0, weights[outputs])

    @property
    def all_or_nothing(self) -> bool:
        return self.loss.class_weight is None


class _DecidingByZeroOne(Deciding):
    __slots__ = ()

    @property
    def prefers_most_probable(self) -> bool:
        return self.loss.candidates is None and self.loss.class_weight is None


Form.at(ZeroOne, _FormOfZeroOne)
PartlyKnown.at(ZeroOne, _ZeroOneInPart)
Levels.at(ZeroOne, _LevelsOfZeroOne)
Deciding.at(ZeroOne, _DecidingByZeroOne)


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
    matrix_: Any = None  # losses of the list, each against each, once it is bound

    def __init__(self, loss: Any, candidates: Any = None) -> None:
        self.loss = loss
        self.candidates = candidates

    def observe(self, space: Any, outputs: np.ndarray) -> Self:
        if not isinstance(self.loss, BaseLoss):
            return self
        seen = copy.copy(self)
        seen.loss = self.loss.observe(space, outputs)
        return seen

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
            return self.loss(Y_pred, Y_true)
        if not hasattr(self, "space_"):
            raise ValueError("Listed: call bind(space) first; a callable needs the user's outputs.")
        predicted, true = (_each(self.space_.restore(Y)) for Y in (Y_pred, Y_true))
        return np.array([self._number(z, y) for z, y in zip(predicted, true)])

    def range(self) -> tuple[float, float]:
        if self.matrix_ is not None:
            return float(self.matrix_.min()), float(self.matrix_.max())
        return self.loss.range() if isinstance(self.loss, BaseLoss) else (-np.inf, np.inf)

    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return g @ self.matrix_.T

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return np.zeros(len(g))


class _FormOfListed(Form):
    __slots__ = ()

    def numbers(self, width: int) -> BilinearForm | None:
        zero = np.zeros(width)
        return BilinearForm(self.loss.matrix_, zero, zero, 0.0)


class _LevelsOfListed(Levels):
    __slots__ = ()

    def largest(self, space: Any) -> float | None:
        """The inner loss's own bound, or the largest entry of the table of candidates."""
        inner = Levels.of(self.loss.loss).largest(space)  # that of a callable is not known
        if inner is not None:
            return inner
        return None if self.loss.matrix_ is None else float(self.loss.matrix_.max())


Form.at(Listed, _FormOfListed)
Levels.at(Listed, _LevelsOfListed)


def _each(outputs: np.ndarray) -> list[Any]:
    """Outputs one by one; those of a frame are its rows."""
    if hasattr(outputs, "iloc") and outputs.ndim == 2:
        return [outputs.iloc[i] for i in range(len(outputs))]
    return list(outputs)
