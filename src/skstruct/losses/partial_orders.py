# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of items in the wrong order, where predictions and truths may leave pairs open."""

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from skstruct.losses.base import BaseLoss, is_real
from skstruct.losses.deciding import BilinearForm, Form
from skstruct.losses.levels import Levels
from skstruct.saving import savable
from skstruct.spaces.partial_orders.decoding import swapped_columns


def check_cost_of_pair(value: Any, name: str) -> float:
    """A finite number of at least zero."""
    if not (is_real(value) and not isinstance(value, bool) and 0 <= value < np.inf):
        raise ValueError(f"Kendall: {name} is a number of at least 0; got {value!r}.")
    return float(value)


def swapped_pairs(width: int) -> np.ndarray:
    """The column of b before a at that of a before b, for all ordered pairs row by row."""
    n_items = round((1 + (1 + 4 * width) ** 0.5) / 2)
    if n_items * (n_items - 1) != width:
        raise ValueError(
            f"Partial orders have a column for every ordered pair of items; got {width} columns."
        )
    return swapped_columns(n_items)


def most_ordered(outputs: np.ndarray) -> float:
    """Of the pair of items that most partial orders order: by what share of them."""
    there = np.asarray(outputs, dtype=bool).mean(axis=0)
    return float((there + there[swapped_pairs(len(there))]).max(initial=0.0))


@savable
class PartialKendall(BaseLoss):
    r"""Pairs in the wrong order, and less for pairs that are left open.

    Over all pairs of items: 1 where prediction and truth order it differently, ``abstain`` where
    only the truth orders it, ``invent`` where only the prediction does. On indicators of ordered
    pairs, with S swapping the two of a pair,

    .. math:: \ell(z, y) = a \, 1'y + i \, 1'z - (a + i) \, z'y + (1 - a - i) \, z'Sy.

    ``loss="kendall"`` on :class:`~skstruct.spaces.PartialOrders` is this one.

    Parameters
    ----------
    abstain, invent : float
        :math:`a \ge 0` and :math:`i \ge 0`.

    Examples
    --------
    Of a and b, with columns a before b, b before a:

    >>> loss = PartialKendall(0.25, 0.5)
    >>> loss([[1, 0], [1, 0], [0, 0], [1, 0]], [[1, 0], [0, 1], [0, 1], [0, 0]])
    array([0.  , 1.  , 0.25, 0.5 ])
    """

    embedding = "indicators"

    def __init__(self, abstain: float = 0.5, invent: float = 0.5) -> None:
        self.abstain = abstain
        self.invent = invent

    def bind(self, space: Any) -> Self:
        bound = copy.copy(self)
        bound.n_pairs_ = len(space.labels_) // 2
        return bound

    def prices(self) -> tuple[float, float]:
        """What it costs to leave a pair open, and to order one that is open."""
        return (
            check_cost_of_pair(self.abstain, "abstain"),
            check_cost_of_pair(self.invent, "invent"),
        )

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        abstain, invent = self.prices()
        Z, Y = np.asarray(Y_pred).astype(bool), np.asarray(Y_true).astype(bool)
        swapped = swapped_pairs(Y.shape[1])
        wrong = (Z & Y[:, swapped]).sum(axis=1)
        missed = (Y & ~Z & ~Z[:, swapped]).sum(axis=1)
        extra = (Z & ~Y & ~Y[:, swapped]).sum(axis=1)
        return wrong + abstain * missed + invent * extra

    def range(self) -> tuple[float, float]:
        if not hasattr(self, "n_pairs_"):
            return 0.0, np.inf
        return 0.0, self.n_pairs_ * max(1.0, *self.prices())

    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        abstain, invent = self.prices()
        both = abstain + invent
        return total * invent - both * g + (1 - both) * g[:, swapped_pairs(g.shape[1])]

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return self.prices()[0] * g.sum(axis=1)


class _FormOfPartialKendall(Form):
    __slots__ = ()

    def numbers(self, width: int) -> BilinearForm | None:
        abstain, invent = self.loss.prices()
        both, swapped = abstain + invent, swapped_pairs(width)
        swap = sparse.csr_array((np.ones(width), (np.arange(width), swapped)), (width, width))
        V = (1 - both) * swap - both * sparse.eye_array(width)
        return BilinearForm(V, np.full(width, invent), np.full(width, abstain), 0.0)


class _LevelsOfPartialKendall(Levels):
    __slots__ = ()

    def largest(self, space: Any) -> float | None:
        return (len(space.labels_) // 2) * max(1.0, *self.loss.prices())


Form.at(PartialKendall, _FormOfPartialKendall)
Levels.at(PartialKendall, _LevelsOfPartialKendall)
