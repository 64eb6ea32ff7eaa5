# SPDX-License-Identifier: BSD-3-Clause
"""The core of a loss; what else may be asked of one are facets (deciding, observed, levels)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from skstruct._arrays.by_name import are_named, by_position
from skstruct.spaces import Coordinates

Array = Any
Weights: TypeAlias = ArrayLike | Mapping[Any, float]  # by position, or by name


class BilinearLoss(Protocol):
    """loss(z, y) = <V psi(y) + u, psi(z)> + <v, psi(y)> + constant."""

    embedding: str  # the psi that a space must offer

    def __call__(self, Y_pred: Array, Y_true: Array) -> Array: ...  # shape: (n,)
    def pairwise(self, Y_pred: Array, Y_true: Array) -> Array: ...  # shape: (n_pred, n_true)
    def embedding_on(self, space: Any) -> str: ...  # where it depends on the space
    def observe(self, space: Any, outputs: Array) -> BilinearLoss: ...  # frequencies of training
    def bind(self, space: Any) -> BilinearLoss: ...  # reads names and arcs off a space
    def range(self) -> tuple[float, float]: ...  # the least and the largest loss there may be
    def cost(self, g: Array, total: Array) -> Array: ...  # V g + total u, shape: (n, d)
    def offset(self, g: Array, total: Array) -> Array: ...  # <v, g> + constant total, shape: (n,)


class BaseLoss(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What all losses share.

    A loss works on outputs in canonical form. ``g`` is an estimate of E[psi(Y) | x] and
    ``total`` the smoother's sum of weights, so that for weights w_i(x)

        sum_i w_i loss(z, y_i) = <cost(g, total), psi(z)> + offset(g, total).

    A loss without a finite embedding has ``minimize(weights, outputs, space)`` in place of these
    two. All else that is asked of losses are facets with defaults: see :class:`Deciding`,
    :class:`Form`, :class:`Effort`, :class:`Observed`, :class:`PartlyKnown`, :class:`Levels` and
    :class:`Tokens`.
    """

    embedding = "indicators"

    def embedding_on(self, space: Any) -> str:
        """The embedding in which this loss is bilinear over ``space``."""
        return self.embedding

    def observe(self, space: Any, outputs: np.ndarray) -> Self:
        """This loss with what it reads off the outputs of training; most need nothing of them.

        Comes before :meth:`bind`; costs that follow from how often a class occurs are found here.

        Parameters
        ----------
        outputs : array
            Outputs of training in canonical form; a sample of them where rows are read in blocks.
        """
        return self

    def bind(self, space: Any) -> Self:
        """This loss for the outputs of one space; most losses need nothing of it."""
        return self

    def range(self) -> tuple[float, float]:
        """Numbers between which every loss lies, as close as is known: estimates may not.

        A loss that can be negative says so here: estimated risks are shown within it.
        """
        return 0.0, np.inf

    def pairwise(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        """Losses of all predictions against all truths; shape (n_pred, n_true)."""
        Y_pred, Y_true = same_width(Y_pred, Y_true)
        columns = [self(Y_pred, np.broadcast_to(y, Y_pred.shape)) for y in Y_true]
        return np.column_stack(columns) if columns else np.zeros((len(Y_pred), 0))


def same_width(A: ArrayLike, B: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Outputs as arrays of one width: sequences are padded with -1 at their end.

    Those are numbers of symbols; costs, which decisions are compared with, stay as they are.
    """
    A, B = np.asarray(A), np.asarray(B)
    if A.ndim != 2 or B.ndim != 2 or A.shape[1] == B.shape[1] or "f" in A.dtype.kind + B.dtype.kind:
        return A, B
    width = max(A.shape[1], B.shape[1])
    A, B = (np.pad(Z, [(0, 0), (0, width - Z.shape[1])], constant_values=-1) for Z in (A, B))
    return A, B


def matched_rankings(Y_pred: ArrayLike, Y_true: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Both as floats of shape (n, d)."""
    Y_pred, Y_true = np.asarray(Y_pred, dtype=np.float64), np.asarray(Y_true, dtype=np.float64)
    if Y_pred.ndim != 2 or Y_pred.shape != Y_true.shape:
        raise ValueError(
            f"Rankings of the same items are compared, row by row; got shapes {Y_pred.shape} and "
            f"{Y_true.shape}."
        )
    return Y_pred, Y_true


def quantity_rows(*outputs: ArrayLike) -> list[np.ndarray]:
    """Outputs as floats of shape (n, d), all of one width; single numbers may come as (n,)."""
    rows = [np.asarray(Y, dtype=np.float64) for Y in outputs]
    rows = [Y[:, None] if Y.ndim == 1 else Y for Y in rows]
    if any(Y.ndim != 2 or Y.shape[1] != rows[0].shape[1] for Y in rows):
        shapes = " and ".join(str(Y.shape) for Y in rows)
        raise ValueError(f"Outputs are rows of as many numbers each; got shapes {shapes}.")
    return rows


def matched_quantities(Y_pred: ArrayLike, Y_true: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Both as floats of shape (n, d); one number per row may come as (n,)."""
    Y_pred, Y_true = quantity_rows(Y_pred, Y_true)
    if Y_pred.shape != Y_true.shape:
        raise ValueError(
            "Predictions and truths are compared row by row, number by number; got shapes "
            f"{Y_pred.shape} and {Y_true.shape}."
        )
    return Y_pred, Y_true


def plain_weights(loss: Any, d: int) -> np.ndarray:
    """Weights of d coordinates of a loss with ``weights``, bound to a space or not."""
    if hasattr(loss, "weights_"):
        return loss.weights_
    name = type(loss).__name__
    if are_named(loss.weights):
        raise ValueError(f"{name}: call bind(space) first; weights are by name.")
    if loss.weights is None:
        return np.ones(d)
    return checked_weights(loss.weights, tuple(range(d)), name)


def names_labels(space: Any) -> bool:
    """Whether a space has names for its coordinates, which weights may be given by."""
    return hasattr(space, "labels_")


def label_weights(weights: Any, space: Any, used_by: str) -> np.ndarray:
    """Weights of the labels of a space as an array: from None, a sequence or a mapping."""
    names = Coordinates.of(space).names()
    if weights is None:
        return np.ones(len(names))
    weights = by_position(weights, names, what="weights", used_by=used_by)
    return checked_weights(weights, names, used_by)


def checked_weights(weights: ArrayLike, labels: Sequence[Any], used_by: str) -> np.ndarray:
    """One finite weight of at least zero for each label."""
    d = len(labels)
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (d,):
        raise ValueError(
            f"{used_by} expects {d} weights, one per label; got shape {weights.shape}."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0]
        raise ValueError(f"{used_by}: the weight of label {labels[bad]!r} is {weights[bad]}.")
    return weights


def check_positive(loss: BaseLoss, name: str) -> None:
    """Raise where a parameter of a loss is not a positive number."""
    value = loss.get_params(deep=False)[name]
    if not (is_real(value) and 0 < value < np.inf):
        raise ValueError(f"{type(loss).__name__}: {name} is a positive number; got {value!r}.")


def is_real(value: Any) -> bool:
    """Whether it is a single real number, so that it can be compared with others."""
    return bool(np.isscalar(value) and np.isreal(value))
