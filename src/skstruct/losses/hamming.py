# SPDX-License-Identifier: BSD-3-Clause
"""How many labels, symbols of a sequence or states of labels differ."""

import copy
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from skstruct.losses.base import (
    BaseLoss,
    BilinearForm,
    Weights,
    label_weights,
    same_width,
    weight_levels,
)
from skstruct.saving import savable


@savable
class SequenceHamming(BaseLoss):
    r"""Wrong symbols, and wrong pairs of neighbours if they matter.

    .. math:: \ell(z, y) = \sum_t 1[z_t \ne y_t] + w\, \Bigl(\tfrac12 |B(z)| + \tfrac12 |B(y)|
              - |B(z) \cap B(y)|\Bigr)

    with :math:`B(z)` the set of placed bigrams :math:`(t, z_t, z_{t+1})`. For sequences of one
    length the second term is the number of positions where the bigrams differ. The shorter of two
    sequences is padded at its end: every symbol that has no counterpart is wrong.

    The first term alone is decided position by position, both together by the Viterbi
    recursion. ``loss="hamming"`` on :class:`~skstruct.spaces.Sequences` is this one without
    bigrams.

    Parameters
    ----------
    bigrams : float, default=0.0
        w, what a wrong bigram costs in wrong symbols. Predictions then prefer bigrams that
        are likely together over symbols that are likely one by one.

    Examples
    --------
    >>> import numpy as np
    >>> SequenceHamming()([[2, 0, 1]], [[2, 1, -1]])  # -1 is no symbol
    array([2.])
    >>> SequenceHamming(bigrams=1.0)([[2, 0, 1]], [[2, 0, 3]])
    array([2.])
    """

    embedding = "positions"
    by_position = True

    def __init__(self, bigrams: float = 0.0) -> None:
        self.bigrams = bigrams

    def _check(self) -> None:
        if not isinstance(self.bigrams, Real) or not 0 <= self.bigrams < np.inf:
            raise ValueError(
                f"SequenceHamming: bigrams is a number of at least 0; got {self.bigrams!r}."
            )

    def embedding_on(self, space: Any) -> str:
        self._check()
        if not hasattr(space, "symbols_"):
            raise ValueError(
                f"SequenceHamming compares sequences of symbols; {type(space).__name__} has none."
            )
        return "bigrams" if self.bigrams else "positions"

    def bind(self, space: Any) -> Self:
        bound = copy.copy(self)
        bound.n_symbols_, bound.length_ = len(space.symbols_), space.length_
        return bound

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        P, Y = same_width(Y_pred, Y_true)
        wrong: np.ndarray = (P != Y).sum(axis=1).astype(np.float64)
        if self.bigrams:
            in_P, in_Y = (P[:, 1:] >= 0), (Y[:, 1:] >= 0)
            common = in_P & in_Y & (P[:, 1:] == Y[:, 1:]) & (P[:, :-1] == Y[:, :-1])
            lengths = in_P.sum(axis=1) + in_Y.sum(axis=1)
            wrong += self.bigrams * (0.5 * lengths - common.sum(axis=1))
        return wrong

    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        n, flat = len(g), self.length_ * self.n_symbols_
        at = g[:, :flat].reshape(n, self.length_, self.n_symbols_)
        # A symbol is wrong where another was, a pad where any was.
        symbols = total[:, :, None] - at - at.sum(axis=2, keepdims=True)
        return np.hstack([symbols.reshape(n, flat), self.bigrams * (0.5 * total - g[:, flat:])])

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        flat = self.length_ * self.n_symbols_
        offsets: np.ndarray = g[:, :flat].sum(axis=1) + 0.5 * self.bigrams * g[:, flat:].sum(axis=1)
        return offsets

    def levels(self, outputs: np.ndarray) -> tuple[float, np.ndarray]:
        return (0.0 if self.bigrams else 1.0), np.ones(len(outputs))

    def largest_loss(self, space: Any) -> float | None:
        return float(self.length_ + self.bigrams * max(self.length_ - 1, 0))


@savable
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

    def __init__(self, weights: np.ndarray) -> None:
        self.weights = weights

    def bind(self, space: Any) -> Self:
        bound = copy.copy(self)
        bound.n_states_ = len(space.states_)
        return bound

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        losses: np.ndarray = (np.asarray(Y_pred) != np.asarray(Y_true)) @ self.weights
        return losses

    def range(self) -> tuple[float, float]:
        return 0.0, float(np.sum(self.weights))

    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        costs: np.ndarray = (total - g) * np.repeat(self.weights, self.n_states_)
        return costs

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return np.zeros(len(g))


@savable
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
    by_position = True

    def __init__(self, weights: Weights | None = None, normalize: bool = False) -> None:
        self.weights = weights
        self.normalize = normalize

    def embedding_on(self, space: Any) -> str:
        if hasattr(space, "symbols_"):
            return SequenceHamming.embedding
        return StateHamming.embedding if hasattr(space, "states_") else self.embedding

    def bind(self, space: Any) -> Any:
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

    def _of_sequences(self) -> SequenceHamming:
        if self.weights is not None or self.normalize:
            raise ValueError("Hamming: on sequences every position counts one; give Hamming().")
        return SequenceHamming()

    def _weights(self, d: int) -> Any:
        if hasattr(self, "weights_"):
            return self.weights_
        weights = np.ones(d) if self.weights is None else np.asarray(self.weights, dtype=float)
        return weights / weights.sum() if self.normalize else weights

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        differ = np.asarray(Y_pred) != np.asarray(Y_true)
        losses: np.ndarray = differ @ self._weights(differ.shape[1])
        return losses

    def range(self) -> tuple[float, float]:
        if self.normalize:
            return 0.0, 1.0
        return 0.0, float(self.weights_.sum()) if hasattr(self, "weights_") else np.inf

    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        costs: np.ndarray = (total - 2.0 * g) * self._weights(g.shape[1])
        return costs

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        offsets: np.ndarray = g @ self._weights(g.shape[1])
        return offsets

    def bilinear_form(self, width: int) -> BilinearForm | None:
        weights = self._weights(width)
        return BilinearForm(sparse.diags_array(-2.0 * weights), weights, weights, 0.0)

    def levels(self, outputs: np.ndarray) -> tuple[float, np.ndarray]:
        return weight_levels(np.array(self.weights_), outputs)

    def largest_loss(self, space: Any) -> float | None:
        return float(self._weights(len(space.labels_)).sum())
