# SPDX-License-Identifier: BSD-3-Clause
"""Losses of rankings that add up over pairs of items (Kendall, differences of ratings), or over
items (footrule, Spearman, any cost of positions).
"""

import copy
import math
import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from skstruct._arrays.by_name import are_named
from skstruct.losses.base import BaseLoss, Weights, label_weights, matched_rankings
from skstruct.losses.deciding import BilinearForm, Form
from skstruct.losses.grid_forms import GridForm
from skstruct.losses.levels import Levels
from skstruct.losses.partial_orders import PartialKendall, check_cost_of_pair, most_ordered
from skstruct.saving import savable
from skstruct.spaces import Entries
from skstruct.spaces.rankings.partial import expected_ranks, is_total, position_shares
from skstruct.spaces.solvers.linear_ordering import pair_blocks, pair_numbers, pair_signs


@savable
class Kendall(BaseLoss):
    r"""Number of pairs of items in the wrong order.

    .. math:: \ell(z, y) = \sum_{p < q} \tfrac12 (1 - \psi_{pq}(z) \psi_{pq}(y))

    with :math:`\psi_{pq}` +1 where p comes before q, -1 after, and 0 where a partial
    ranking leaves the pair open: it then costs one half, whichever way it is predicted
    [1]_. Minimized as a linear ordering problem: exactly up to 20 items, with a
    certificate above.

    On :class:`~skstruct.spaces.PartialOrders` predictions may leave pairs open as well. A pair
    costs 1 where both order it differently, ``abstain`` where only the truth orders it, ``invent``
    where only the prediction does. Where all truths are total, a pair is then ordered if the more
    probable order has a probability above 1 - ``abstain``, and transitivity permits.

    Parameters
    ----------
    normalize : bool, default=False
        Divide by the number of pairs that y orders: the loss is then
        :math:`(1 - \tau) / 2`, and one half where y orders none.
    abstain : float, default=0.5
        What it costs to leave a pair open that the truth orders; for partial orders only.
    invent : float, default=None
        What it costs to order a pair that the truth leaves open, 0 where an open pair says
        nothing. As much as ``abstain`` when None; but 0, with a warning, where no pair is ordered
        by half of the truths of training: no pair would ever be predicted. For partial orders only.

    References
    ----------
    .. [1] R. Fagin, R. Kumar, M. Mahdian, D. Sivakumar, E. Vee, "Comparing partial
       rankings", SIAM J. Discrete Math. 20(3), 2006: the distance with penalty 1/2.

    Examples
    --------
    >>> Kendall()([[1, 2, 3]], [[2, 1, 3]]), Kendall(normalize=True)([[1, 2, 3]], [[2, 1, 3]])
    (array([1.]), array([0.33333333]))
    >>> Kendall()([[1, 2, 3]], [[1.5, 1.5, 3]])
    array([0.5])
    """

    embedding = "pairs"

    def __init__(
        self, normalize: bool = False, *, abstain: float = 0.5, invent: float | None = None
    ) -> None:
        self.normalize = normalize
        self.abstain = abstain
        self.invent = invent

    def embedding_on(self, space: Any) -> str:
        if _orders_pairs(space):
            return PartialKendall.embedding
        return "pair shares" if self.normalize else "pairs"

    def observe(self, space: Any, outputs: np.ndarray) -> Self:
        if not _orders_pairs(space) or self.invent is not None or not len(outputs):
            return self
        most = most_ordered(outputs)
        if not 0.0 < most < 0.5:
            return self
        warnings.warn(
            f"Kendall: no pair of items is ordered by more than {most:.0%} of the partial orders. "
            "Pairs that they leave open are taken for pairs of which nothing is known (invent=0); "
            f"where these are known to be open, give Kendall(invent={self.abstain!r}).",
            stacklevel=3,
        )
        seen = copy.copy(self)
        seen.invent = 0.0
        return seen

    def bind(self, space: Any) -> Any:
        if not _orders_pairs(space):
            self._check_total()
            return self
        if self.normalize:
            raise ValueError(
                "Kendall: normalize is for rankings; a partial order may order no pair at all."
            )
        invent = self.abstain if self.invent is None else self.invent
        abstain = check_cost_of_pair(self.abstain, "abstain")
        return PartialKendall(abstain, check_cost_of_pair(invent, "invent")).bind(space)

    def _check_total(self) -> None:
        """Refuse costs of open pairs where predictions have none."""
        if self.abstain != 0.5 or self.invent is not None:
            raise ValueError(
                "Kendall: abstain and invent are for PartialOrders, after bind(space); rankings "
                "order every pair."
            )

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        self._check_total()
        Y_pred, Y_true = matched_rankings(Y_pred, Y_true)
        losses = np.empty(len(Y_true))
        for rows in pair_blocks(*Y_true.shape):
            true = pair_signs(Y_true[rows])
            agreement = (pair_signs(Y_pred[rows]) * true).sum(axis=1)
            if self.normalize:
                ordered = np.abs(true).sum(axis=1)
                losses[rows] = (1 - agreement / np.where(ordered > 0, ordered, 1)) / 2
            else:
                losses[rows] = (true.shape[1] - agreement) / 2
        return losses

    def range(self) -> tuple[float, float]:
        return 0.0, 1.0 if self.normalize else np.inf

    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        cost = -g / 2
        if self.normalize:
            cost[:, -1] = 0.0
        return cost

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return total[:, 0] * (0.5 if self.normalize else g.shape[1] / 2)


def _orders_pairs(space: Any) -> bool:
    return Entries.of(space).kind == "ordered pairs"


class _LevelsOfKendall(Levels):
    __slots__ = ()

    def largest(self, space: Any) -> float | None:
        d = len(space.labels_)
        return 1.0 if self.loss.normalize else d * (d - 1) / 2


Levels.at(Kendall, _LevelsOfKendall)


@savable
class RankLoss(BaseLoss):
    r"""What the pairs in the wrong order are worth, by the difference of their ratings.

    .. math:: \ell(z, r) = \sum_{i, j:\, r_i > r_j} (r_i - r_j)\, 1[z \text{ puts } j
              \text{ above } i]

    over pairs that were both rated [1]_. This is the positive part of the paper's
    differences: the paper's own loss may be negative, and has the same minimizer. Ratings
    are given with ``Rankings(scores=True)``, NaN where there is none; of ranks the
    differences of ranks count. With complete ratings it is minimized by a sort; ratings
    with gaps lead to linear ordering.

    Parameters
    ----------
    normalize : bool, default=False
        Divide by the sum of all differences: 0 is perfect, 1 the reverse order.

    References
    ----------
    .. [1] C. Ciliberto, A. Rudi, L. Rosasco, "A consistent regularization approach for
       structured prediction", 2016, equation (21), after J. Duchi, L. Mackey, M. Jordan,
       "On the consistency of ranking algorithms", 2010.

    Examples
    --------
    Ranks and minus ratings are both smaller for the better item:

    >>> RankLoss()([[1, 2, 3]], [[-5, -1, -4]])
    array([3.])
    """

    embedding = "rating differences"

    def __init__(self, normalize: bool = False) -> None:
        self.normalize = normalize

    def embedding_on(self, space: Any) -> str:
        return "rating shares" if self.normalize else "rating differences"

    def bind(self, space: Any) -> Self:
        bound = copy.copy(self)
        bound.complete_ = space.embedding.startswith("complete")
        return bound

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        Y_pred, Y_true = matched_rankings(Y_pred, Y_true)
        losses = np.empty(len(Y_true))
        p, q = pair_numbers(Y_true.shape[1])
        for rows in pair_blocks(*Y_true.shape):
            worth = np.nan_to_num(Y_true[rows][:, q] - Y_true[rows][:, p])
            size = np.abs(worth).sum(axis=1)
            wrong = (size - (worth * pair_signs(Y_pred[rows])).sum(axis=1)) / 2
            losses[rows] = wrong / np.where(size > 0, size, 1.0) if self.normalize else wrong
        return losses

    def range(self) -> tuple[float, float]:
        return 0.0, 1.0 if self.normalize else np.inf

    # Complete ratings: sum over pairs of (y_q - y_p) psi_pq(z) = sum_q y_q (2 z_q - d - 1).
    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        cost = -g if self.complete_ else -g / 2
        cost[:, -1] = 0.0
        return cost

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        offset = g[:, -1] / 2
        return offset + g[:, :-1].sum(axis=1) * g.shape[1] / 2 if self.complete_ else offset


class _LevelsOfRankLoss(Levels):
    __slots__ = ()

    def largest(self, space: Any) -> float | None:
        return 1.0 if self.loss.normalize else None


Levels.at(RankLoss, _LevelsOfRankLoss)


# Losses of rankings that add up over items: footrule, Spearman, any cost of positions.


@savable
class PositionLoss(BaseLoss):
    r"""Any cost of an item that is k-th where it should be l-th.

    .. math:: \ell(z, y) = \sum_j c_j\, V_{z(j), y(j)}

    A partial ranking stands for all total orders that agree with it, all equally likely:
    the loss is the mean over them. An assignment of items to positions minimizes it
    exactly, whatever V and the signs of the weights.

    Parameters
    ----------
    matrix : array of shape (d, d) or callable
        ``matrix[k - 1, l - 1]``, predicted position first; a callable gets k and l as
        arrays from 1.
    item_weights : sequence or mapping, default=None
        Weight of each item; ones when None.

    Examples
    --------
    What a rank among the first two is worth, to items that belong there:

    >>> hits = PositionLoss(lambda k, l: 1.0 * ((k > 2) & (l <= 2)))
    >>> hits([[1, 3, 2, 4]], [[1, 2, 3, 4]])
    array([1.])
    """

    embedding = "positions"

    def __init__(
        self,
        matrix: ArrayLike | Callable[..., ArrayLike],
        *,
        item_weights: Weights | None = None,
    ) -> None:
        self.matrix = matrix
        self.item_weights = item_weights

    def costs_of_positions(self, d: int) -> np.ndarray:
        """The cost of each position [predicted, true]; shape (d, d)."""
        rank = np.arange(1, d + 1)
        given = self.matrix
        matrix = given(rank[:, None], rank[None, :]) if callable(given) else given
        matrix = np.asarray(matrix, dtype=np.float64)
        if matrix.shape != (d, d) or not np.isfinite(matrix).all():
            raise ValueError(
                f"{type(self).__name__} expects a finite cost for each of {d} x {d} positions; got "
                f"shape {matrix.shape}."
            )
        return matrix

    def bind(self, space: Any) -> Self:
        bound = copy.copy(self)
        bound.weights_ = label_weights(self.item_weights, space, type(self).__name__)
        return bound

    def weights_of_items(self, d: int) -> Any:
        """The weight of each item; shape (d,)."""
        if hasattr(self, "weights_"):
            return self.weights_
        if are_named(self.item_weights):
            raise ValueError(f"{type(self).__name__}: call bind(space) first; weights are by name.")
        weights = np.ones(d) if self.item_weights is None else np.asarray(self.item_weights, float)
        if weights.shape != (d,):
            raise ValueError(
                f"{type(self).__name__} expects {d} weights, one per item; got shape "
                f"{weights.shape}."
            )
        return weights

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        Y_pred, Y_true = matched_rankings(Y_pred, Y_true)
        matrix, weights = (
            self.costs_of_positions(Y_pred.shape[1]),
            self.weights_of_items(Y_pred.shape[1]),
        )
        if is_total(Y_pred).all() and is_total(Y_true).all():
            return matrix[Y_pred.astype(int) - 1, Y_true.astype(int) - 1] @ weights
        predicted, true = position_shares(Y_pred), position_shares(Y_true)
        losses = ((predicted @ matrix) * true).sum(axis=2) @ weights
        return losses

    def range(self) -> tuple[float, float]:
        """Of rankings under which every item could be at its highest or its lowest cost,
        position.
        """
        if not hasattr(self, "weights_"):
            return -np.inf, np.inf
        matrix, weight = self.costs_of_positions(len(self.weights_)), self.weights_.sum()
        return float(weight * matrix.min()), float(weight * matrix.max())

    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        d = math.isqrt(g.shape[1])
        by_item = (
            g.reshape(len(g), d, d) @ self.costs_of_positions(d).T
        )  # [row, item, predicted position]
        return (by_item * self.weights_of_items(d)[:, None]).reshape(len(g), d * d)

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return np.zeros(len(g))


class _FormOfPositionLoss(Form):
    __slots__ = ()

    def numbers(self, width: int) -> BilinearForm | None:
        d, zero = math.isqrt(width), np.zeros(width)
        grid = GridForm(self.loss.costs_of_positions(d), self.loss.weights_of_items(d))
        return BilinearForm(grid, zero, zero, 0.0)


class _LevelsOfPositionLoss(Levels):
    __slots__ = ()

    def largest(self, space: Any) -> float | None:
        """Items of equal weight at the most expensive positions, all different; else at its own."""
        d = len(space.labels_)
        matrix, weights = self.loss.costs_of_positions(d), self.loss.weights_of_items(d)
        if not (weights == weights[0]).all():
            return float(weights.sum() * matrix.max())
        from scipy.optimize import linear_sum_assignment

        rows, columns = linear_sum_assignment(matrix, maximize=True)
        return float(weights[0] * matrix[rows, columns].sum())


Form.at(PositionLoss, _FormOfPositionLoss)
Levels.at(PositionLoss, _LevelsOfPositionLoss)


class _Displacement(PositionLoss):
    """A power of how far an item is from its rank, ranks measured by their weights."""

    power: int

    def __init__(
        self,
        *,
        top: int | None = None,
        position_weights: ArrayLike | None = None,
        item_weights: Weights | None = None,
    ) -> None:
        self.top = top
        self.position_weights = position_weights
        self.item_weights = item_weights

    def costs_of_positions(self, d: int) -> Any:
        scale = self._scale(d)
        return np.abs(scale[:, None] - scale) ** self.power

    def _scale(self, d: int) -> np.ndarray:
        """Where each position lies on the line; 1..d when nothing is weighted."""
        name = type(self).__name__
        rank = np.arange(1.0, d + 1)
        if self.top is not None:
            if not isinstance(self.top, (int, np.integer)) or self.top < 1:
                raise ValueError(f"{name}: top is a whole number, at least 1; got {self.top!r}.")
            rank = np.minimum(rank, self.top + 1)
        if self.position_weights is None:
            return rank
        steps = np.asarray(self.position_weights, dtype=np.float64)
        if steps.shape != (d - 1,) or not (np.isfinite(steps) & (steps >= 0)).all():
            raise ValueError(
                f"{name}: position_weights are {d - 1} numbers of at least 0, the steps between "
                f"neighbouring positions; got shape {steps.shape}."
            )
        line = np.concatenate([[0.0], np.cumsum(steps)])
        return line if self.top is None else np.minimum(line, line[min(self.top, d - 1)])


@savable
class Footrule(_Displacement):
    r"""Spearman's footrule: how many ranks the items are off, in all.

    .. math:: \ell(z, y) = \sum_j |z(j) - y(j)|

    An assignment minimizes it exactly for weights of any sign.

    Parameters
    ----------
    top : int, default=None
        Positions beyond the first ``top`` are all alike.
    position_weights : array of shape (d - 1,), default=None
        Length of the step from each position to the next; ones when None. Decreasing
        steps make the first positions matter most.
    item_weights : sequence or mapping, default=None
        Weight of each item.

    Examples
    --------
    >>> Footrule()([[1, 2, 3]], [[3, 2, 1]]), Footrule(top=1)([[1, 2, 3]], [[1, 3, 2]])
    (array([4.]), array([0.]))
    """

    power = 1


@savable
class Spearman(_Displacement):
    r"""Sum of squared differences of ranks; minus Spearman's correlation up to scale.

    .. math:: \ell(z, y) = \sum_j (z(j) - y(j))^2

    It depends on y through its (mean) ranks only, and a sort minimizes it exactly for
    weights of any sign. With weights or ``top`` an assignment does.

    Parameters
    ----------
    top, position_weights, item_weights : as for :class:`Footrule`

    Examples
    --------
    >>> Spearman()([[1, 2, 3]], [[3, 2, 1]])
    array([8.])
    """

    power = 2

    def is_plain(self) -> bool:
        """Whether all positions and items count alike."""
        return self.top is None and self.position_weights is None and self.item_weights is None

    def embedding_on(self, space: Any) -> str:
        return "ranks" if self.is_plain() else "positions"

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        if not self.is_plain():
            return super().__call__(Y_pred, Y_true)
        predicted, true = (expected_ranks(Y) for Y in matched_rankings(Y_pred, Y_true))
        return 2 * _sum_of_squares(predicted.shape[1]) - 2 * (predicted * true).sum(axis=1)

    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return -2 * g if self.is_plain() else super().cost(g, total)

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        if not self.is_plain():
            return super().offset(g, total)
        return 2 * _sum_of_squares(g.shape[1]) * total[:, 0]


class _FormOfSpearman(_FormOfPositionLoss):
    __slots__ = ()

    def numbers(self, width: int) -> BilinearForm | None:
        if not self.loss.is_plain():
            return super().numbers(width)
        zero = np.zeros(width)
        constant = 2 * _sum_of_squares(width)
        return BilinearForm(-2.0 * sparse.eye_array(width), zero, zero, constant)


Form.at(Spearman, _FormOfSpearman)


def _sum_of_squares(d: int) -> float:
    """1 + 4 + ... + d², what the squared ranks of every total order add up to."""
    return d * (d + 1) * (2 * d + 1) / 6
