# SPDX-License-Identifier: BSD-3-Clause
"""What it costs to take one class for another."""

import copy
from collections.abc import Mapping
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from skstruct.losses.base import BaseLoss
from skstruct.losses.costs import class_names
from skstruct.losses.deciding import BilinearForm, Form
from skstruct.losses.levels import Levels
from skstruct.saving import savable

Table: TypeAlias = ArrayLike | Mapping[Any, Mapping[Any, float]]


@savable
class CostMatrix(BaseLoss):
    r"""The cost of every pair of classes, :math:`\ell(z, y) = C_{yz}`.

    As in a confusion matrix, rows are true classes and columns predicted ones. The class of least
    expected cost is predicted, :math:`\arg\min_z \sum_y p_y C_{yz}`, which need not be the most
    probable one.

    Parameters
    ----------
    costs : DataFrame, mapping or array of shape (n_classes, n_classes), default=None
        A DataFrame has the classes as index and as columns. A mapping has the true class outside,
        ``{"ash": {"elm": 5.0}}``; pairs that it leaves out cost one, or nothing where the class is
        right. An array is in the order of ``space.labels_``. None is the zero-one loss.
    candidates : classes, default=None
        What may be predicted; all when None.

    Examples
    --------
    >>> from skstruct.spaces import Classes
    >>> space = Classes(["ash", "elm", "oak"])
    >>> loss = CostMatrix({"ash": {"elm": 5.0}}).bind(space)
    >>> loss([1, 0, 2], [0, 1, 2])  # an ash taken for an elm, an elm for an ash, an oak
    array([5., 1., 0.])
    """

    embedding = "outputs"

    def __init__(self, costs: Table | None = None, candidates: Any = None) -> None:
        self.costs = costs
        self.candidates = candidates

    def bind(self, space: Any) -> Self:
        bound = copy.copy(self)
        bound.matrix_ = self._matrix(class_names(space, "CostMatrix"))
        return bound

    def _matrix(self, names: list[Any]) -> np.ndarray:
        """Costs [true, predicted], in the order of names."""
        costs: Any = self.costs
        if costs is None:
            costs = {}
        matrix: np.ndarray
        if hasattr(costs, "iloc"):
            _check_axes(costs, names)
            matrix = costs.loc[names, names].to_numpy(dtype=np.float64)
        elif hasattr(costs, "keys"):
            matrix = _from_mapping(costs, names)
        else:
            matrix = np.asarray(costs, dtype=np.float64)
        if matrix.shape != (len(names), len(names)):
            raise ValueError(
                f"CostMatrix: costs of {len(names)} classes have shape {(len(names),) * 2}, a row "
                f"per true class; got {matrix.shape}."
            )
        if not np.isfinite(matrix).all():
            y, z = np.argwhere(~np.isfinite(matrix))[0]
            raise ValueError(
                f"CostMatrix: the cost of {names[z]!r} where {names[y]!r} is true is "
                f"{matrix[y, z]}; costs are finite."
            )
        return matrix

    def matrix(self) -> np.ndarray:
        """Costs [true, predicted] of classes by number."""
        if hasattr(self, "matrix_"):
            return self.matrix_
        if self.costs is None or hasattr(self.costs, "keys"):
            raise ValueError("CostMatrix: call bind(space) first; classes have names.")
        return self._matrix(list(range(len(np.asarray(self.costs)))))

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        return self.matrix()[np.asarray(Y_true), np.asarray(Y_pred)]

    def pairwise(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        """Costs of all predictions against all truths; shape (n_pred, n_true)."""
        return self(np.asarray(Y_pred)[:, None], np.asarray(Y_true)[None, :])

    def range(self) -> tuple[float, float]:
        if not hasattr(self, "matrix_"):
            return -np.inf, np.inf
        return float(self.matrix_.min()), float(self.matrix_.max())

    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return g @ self.matrix()

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return np.zeros(len(g))


class _FormOfCostMatrix(Form):
    __slots__ = ()

    def numbers(self, width: int) -> BilinearForm | None:
        zero = np.zeros(width)
        return BilinearForm(self.loss.matrix().T, zero, zero, 0.0)


class _LevelsOfCostMatrix(Levels):
    __slots__ = ()

    def largest(self, space: Any) -> float | None:
        return self.loss.range()[1]


Form.at(CostMatrix, _FormOfCostMatrix)
Levels.at(CostMatrix, _LevelsOfCostMatrix)


def _check_axes(frame: Any, names: list[Any]) -> None:
    """Raise unless a DataFrame has each class once, as row and as column."""
    for axis, what in ((frame.index, "row"), (frame.columns, "column")):
        given = list(axis)
        if sorted(map(repr, given)) != sorted(map(repr, names)):
            odd = [name for name in names if given.count(name) != 1] or [
                name for name in given if name not in names
            ]
            raise ValueError(
                f"CostMatrix: the DataFrame has a {what} for each class; look at {odd[0]!r}."
            )


def _from_mapping(costs: Any, names: list[Any]) -> np.ndarray:
    number = {name: j for j, name in enumerate(names)}
    matrix = 1.0 - np.eye(len(names))
    for true, row in costs.items():
        if not hasattr(row, "items"):
            raise ValueError(
                f"CostMatrix: costs[{true!r}] maps predicted classes to costs; got {row!r:.80}."
            )
        for predicted, cost in row.items():
            for name in (true, predicted):
                if name not in number:
                    raise ValueError(
                        f"CostMatrix: {name!r} is none of {', '.join(map(repr, names[:5]))}."
                    )
            matrix[number[true], number[predicted]] = cost
    return matrix
