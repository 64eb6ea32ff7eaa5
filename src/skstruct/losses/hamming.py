# SPDX-License-Identifier: BSD-3-Clause
"""What labels cost that are missed or wrongly predicted, and labels in a wrong state."""

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from skstruct.losses.base import (
    BaseLoss,
    Weights,
    label_weights,
    plain_weights,
)
from skstruct.losses.costs import (
    ClassWeight,
    Costs,
    balanced_labels,
    is_balanced,
    is_one,
    named_costs,
    needs_names,
    without_outputs,
)
from skstruct.losses.deciding import BilinearForm, Form
from skstruct.losses.levels import Levels, Tokens, weight_levels
from skstruct.losses.sequence_hamming import SequenceHamming
from skstruct.saving import savable
from skstruct.spaces import Coordinates, Entries, whole_of


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
        return (np.asarray(Y_pred) != np.asarray(Y_true)) @ self.weights

    def range(self) -> tuple[float, float]:
        return 0.0, float(np.sum(self.weights))

    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return (total - g) * np.repeat(self.weights, self.n_states_)

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return np.zeros(len(g))


@savable
class Hamming(BaseLoss):
    r"""What labels cost that are missed, and labels that are predicted though they are not there.

    .. math:: \ell(z, y) = \sum_j c_j \bigl(m_j\, 1[y_j = 1, z_j = 0]
              + a_j\, 1[y_j = 0, z_j = 1]\bigr)

    With the usual costs of one it is the weighted number of labels that differ. On indicators it
    is :math:`\langle c (a - (m + a) y), z \rangle + \langle c m, y \rangle`. Label j, if nothing
    ties it to others, is predicted where its probability exceeds :math:`a_j / (m_j + a_j)`.

    On sequences it is :class:`SequenceHamming`, with costs of symbols; on labels of several states
    the number of labels in the wrong one.

    Parameters
    ----------
    weights : sequence or mapping from label to weight, default=None
        Weights :math:`c_j \ge 0` of the labels, factors of both costs; one each when None.
    normalize : bool, default=False
        Whether to divide by the largest loss, :math:`\sum_j c_j \max(m_j, a_j)`: with the usual
        costs, the share of labels that differ. No prediction depends on it.
    miss : float, sequence or mapping from label to cost, default=1.0
        :math:`m_j \ge 0`, what a label costs that is true and not predicted. Labels that a mapping
        leaves out cost one.
    alarm : float, sequence or mapping from label to cost, default=1.0
        :math:`a_j \ge 0`, what a label costs that is predicted and not true.
    class_weight : "balanced", sequence or mapping from label to weight, default=None
        Numbers are factors of ``miss``. "balanced" takes each label by itself for two classes and
        multiplies ``miss`` by :math:`1 / (2 p_j)`, ``alarm`` by :math:`1 / (2 - 2 p_j)`, where
        :math:`p_j` is its share of the training rows: scikit-learn's n / (K n_k) with K = 2.
        Labels that all rows have, or none, keep their costs.

    Notes
    -----
    With "balanced" and no other costs, a label is predicted where it is more probable than on
    average. The mean factor over the training rows is one, and whoever predicts a label without
    looking at the inputs, always, never or by a coin, pays 1/2 for it on average, as a coin does
    under the usual loss. The shares are those of the training rows of the learner, each counted
    once whatever its ``sample_weight``.

    Examples
    --------
    >>> Hamming()([[1, 0, 1]], [[0, 0, 1]])
    array([1.])
    >>> Hamming(weights=[0.5, 1, 1])([[1, 0, 1]], [[0, 0, 1]])
    array([0.5])
    >>> Hamming(miss=5)([[1, 0, 1], [0, 0, 0]], [[0, 0, 1], [0, 0, 1]])
    array([1., 5.])
    """

    embedding = "indicators"
    miss_: Any = 1.0  # factors of weights_, which files of earlier versions have alone
    alarm_: Any = 1.0

    def __init__(
        self,
        weights: Weights | None = None,
        normalize: bool = False,
        *,
        miss: Costs = 1.0,
        alarm: Costs = 1.0,
        class_weight: ClassWeight = None,
    ) -> None:
        self.weights = weights
        self.normalize = normalize
        self.miss = miss
        self.alarm = alarm
        self.class_weight = class_weight

    def embedding_on(self, space: Any) -> str:
        entries = Entries.of(space).kind
        others = {"symbols": SequenceHamming.embedding, "states": StateHamming.embedding}
        return others.get(entries, self.embedding)

    def observe(self, space: Any, outputs: np.ndarray) -> Any:
        entries = Entries.of(space).kind
        if entries == "symbols":
            return self._of_sequences().observe(space, outputs)
        if not is_balanced(self.class_weight, "Hamming") or entries == "states":
            return self
        seen = copy.copy(self)
        seen.balanced_ = balanced_labels(outputs)
        return seen

    def bind(self, space: Any) -> Any:
        entries = Entries.of(space).kind
        if entries == "symbols":
            return self._of_sequences().bind(space)
        if entries == "states":
            return self._of_states(space)
        bound = copy.copy(self)
        weights = label_weights(self.weights, space, "Hamming")
        bound.miss_, bound.alarm_ = _named_costs(self, list(Coordinates.of(space).names()))
        bound.weights_ = _divided(self, weights, bound.miss_, bound.alarm_)
        return bound

    def _of_sequences(self) -> SequenceHamming:
        if self.weights is not None or self.normalize:
            raise ValueError(
                "Hamming: on sequences every position counts one; give Hamming(), or costs of "
                "symbols by miss and alarm."
            )
        return SequenceHamming(miss=self.miss, alarm=self.alarm, class_weight=self.class_weight)

    def _of_states(self, space: Any) -> StateHamming:
        if not (self.class_weight is None and is_one(self.miss) and is_one(self.alarm)):
            raise ValueError(
                f"Hamming: a label of {type(whole_of(space)).__name__} is in one of several "
                "states, so that a wrong one is a miss and a false alarm at once; give weights of "
                "labels."
            )
        weights, one = label_weights(self.weights, space, "Hamming"), np.ones(len(space.labels_))
        return StateHamming(_divided(self, weights, one, one)).bind(space)

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        Z, Y = np.asarray(Y_pred), np.asarray(Y_true)
        miss, alarm = label_costs(self, Y.shape[1])
        if np.array_equal(miss, alarm):
            return (Z != Y) @ miss
        losses = ((Y != 0) & (Z == 0)) @ miss + ((Y == 0) & (Z != 0)) @ alarm
        return losses

    def range(self) -> tuple[float, float]:
        if self.normalize:
            return 0.0, 1.0
        return 0.0, largest_hamming(self, len(self.weights_)) if hasattr(
            self, "weights_"
        ) else np.inf

    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        miss, alarm = label_costs(self, g.shape[1])
        return total * alarm - (miss + alarm) * g

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return g @ label_costs(self, g.shape[1])[0]


def label_costs(hamming: Hamming, d: int) -> tuple[Any, Any]:
    """Weighted costs of a miss and of a false alarm, of d labels; bound to a space or not."""
    if hasattr(hamming, "weights_"):
        return hamming.weights_ * hamming.miss_, hamming.weights_ * hamming.alarm_
    if any(map(needs_names, (hamming.miss, hamming.alarm, hamming.class_weight))):
        raise ValueError("Hamming: call bind(space) first; costs are by name.")
    miss, alarm = _named_costs(hamming, list(range(d)))
    weights = _divided(hamming, plain_weights(hamming, d), miss, alarm)
    return weights * miss, weights * alarm


def largest_hamming(hamming: Hamming, d: int) -> float:
    """The loss of d labels that are all wrong in the way that costs more."""
    return float(np.maximum(*label_costs(hamming, d)).sum())


def _named_costs(hamming: Hamming, names: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Costs of a miss and of a false alarm of every label; shapes (d,)."""
    miss = named_costs(hamming.miss, names, "miss", "Hamming")
    alarm = named_costs(hamming.alarm, names, "alarm", "Hamming")
    if is_balanced(hamming.class_weight, "Hamming"):
        if not hasattr(hamming, "balanced_"):
            raise without_outputs("Hamming")
        inside, outside = hamming.balanced_
        return miss * inside, alarm * outside
    if hamming.class_weight is not None:
        miss = miss * named_costs(hamming.class_weight, names, "class_weight", "Hamming")
    return miss, alarm


def _divided(
    hamming: Hamming, weights: np.ndarray, miss: np.ndarray, alarm: np.ndarray
) -> np.ndarray:
    """The weights, so that the largest loss is one if that is asked for."""
    if not hamming.normalize:
        return weights
    largest = float(weights @ np.maximum(miss, alarm))
    if largest <= 0:
        raise ValueError("Hamming: all weights or costs are zero, nothing to normalize by.")
    return weights / largest


class _FormOfHamming(Form):
    __slots__ = ()

    def numbers(self, width: int) -> BilinearForm | None:
        miss, alarm = label_costs(self.loss, width)
        return BilinearForm(sparse.diags_array(-(miss + alarm)), alarm, miss, 0.0)


class _LevelsOfHamming(Levels):
    __slots__ = ()

    def steps(self, outputs: np.ndarray) -> tuple[float, np.ndarray]:
        """The least loss of a row is that of the one mistake that costs it least."""
        miss, alarm = label_costs(self.loss, outputs.shape[1])
        step, least = weight_levels(np.concatenate([miss, alarm]), outputs)
        if step or (miss == alarm).all():
            return step, least
        costs = np.where(outputs != 0, miss, alarm)
        least = np.where(costs > 0, costs, np.inf).min(axis=1, initial=np.inf)
        return 0.0, np.where(np.isfinite(least), least, 0.0)

    def largest(self, space: Any) -> float | None:
        return largest_hamming(self.loss, len(Coordinates.of(space).names()))


class _TokensOfHamming(Tokens):
    __slots__ = ()

    add_up = True  # once it is bound to sequences


Form.at(Hamming, _FormOfHamming)
Levels.at(Hamming, _LevelsOfHamming)
Tokens.at(Hamming, _TokensOfHamming)
