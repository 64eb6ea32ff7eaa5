# SPDX-License-Identifier: BSD-3-Clause
"""What stocking too much or too little costs, and any cost of errors made of straight lines."""

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skstruct.losses.base import Weights, names_labels
from skstruct.losses.costs import Costs, named_costs, needs_names
from skstruct.losses.piecewise import PiecewiseLoss
from skstruct.saving import savable


@savable
class Newsvendor(PiecewiseLoss):
    r"""What is missing and what is left over, :math:`\sum_j u_j (y_j - z_j)_+ + o_j (z_j - y_j)_+`.

    A quantity z is ordered before the demand y is known. Of a single one, the best is the
    quantile of the demand of level :math:`u / (u + o)`, as far as limits allow; with a shared
    capacity (:class:`~skstruct.spaces.Polytope`) what is scarce goes where it is missed most.
    :class:`Pinball` is the same with :math:`u = \tau, o = 1 - \tau`, for all coordinates alike.

    Parameters
    ----------
    underage : float, sequence, or mapping from column to float, default=1.0
        :math:`u_j \ge 0`, what a unit costs that is missing: mostly price less cost. Columns that a
        mapping leaves out cost one.
    overage : float, sequence, or mapping from column to float, default=1.0
        :math:`o_j \ge 0`, what a unit costs that is left over.

    References
    ----------
    .. [1] K. J. Arrow, T. Harris, J. Marschak, "Optimal inventory policy", Econometrica 19, 1951.
    .. [2] D. Bertsimas, N. Kallus, "From predictive to prescriptive analytics", Management Science
       66, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> Newsvendor(3.0, 1.0)([[8.0], [12.0]], [[10.0], [10.0]])
    array([6., 2.])

    Bread that is missed costs three times what is left over, and the oven holds so much.

    >>> from skstruct import ConditionalRiskMinimizer
    >>> from skstruct.smoothing import Neighbors
    >>> from skstruct.spaces import Box, Polytope
    >>> X, Y = np.zeros((4, 1)), np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0], [4.0, 8.0]])
    >>> loss = Newsvendor([3.0, 1.0], 1.0)
    >>> model = ConditionalRiskMinimizer(Box(0, 9), loss, smoother=Neighbors(4)).fit(X, Y)
    >>> model.predict([[0.0]])
    array([[3., 6.]])
    >>> oven = Polytope(A_ub=[[1, 1]], b_ub=[14], bounds=(0, 9))
    >>> model = ConditionalRiskMinimizer(oven, loss, smoother=Neighbors(4)).fit(X, Y)
    >>> model.predict([[0.0]], restrict={"b_ub": [7.5]}).round(6)
    array([[3. , 4.5]])
    """

    weights: Weights | None = None

    def __init__(self, underage: Costs = 1.0, overage: Costs = 1.0) -> None:
        self.underage = underage
        self.overage = overage

    def bind(self, space: Any) -> Self:
        bound = super().bind(space)
        if names_labels(space):
            name = type(self).__name__
            bound.underage_ = named_costs(self.underage, space.labels_, "underage", name)
            bound.overage_ = named_costs(self.overage, space.labels_, "overage", name)
        return bound

    def _check_parameters(self) -> None:
        for name in ("underage", "overage"):
            costs = getattr(self, name)
            if not needs_names(costs):
                named_costs(costs, range(np.size(costs)), name, "Newsvendor")

    def _prices(self, column: int | None) -> tuple[Any, Any]:
        """Both costs of a unit: of all coordinates, along the last axis, or of one."""
        found = []
        for name in ("underage", "overage"):
            costs = getattr(self, f"{name}_", getattr(self, name))
            if needs_names(costs):
                raise ValueError("Newsvendor: call bind(space) first; costs are by name.")
            costs = np.asarray(costs, dtype=np.float64)
            found.append(costs[column] if column is not None and costs.ndim else costs)
        return found[0], found[1]

    def rho(self, t: Any, y: Any, column: int | None = None) -> np.ndarray:
        under, over = self._prices(column)
        return np.maximum(under * (y - t), over * (t - y))

    def slope(self, t: Any, y: Any, column: int | None = None) -> np.ndarray:
        under, over = self._prices(column)
        return np.where(t < y, -under, over)

    def knots(self, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        under, over = self._prices(None)
        jump = np.broadcast_to(under + over, y.shape)
        return y[None], jump[None], np.zeros((1, *y.shape))

    def curves(self, weights: Any, outputs: Any) -> Any:
        found = super().curves(weights, outputs)
        found.of_column = _of_column
        return found


def _of_column(function: Any, j: int) -> Any:
    return partial(function, column=j)


@savable
class PiecewiseLinear(PiecewiseLoss):
    r"""A cost of errors made of straight lines, :math:`\sum_j c_j \rho(z_j - y_j)`.

    :math:`\rho` is continuous, has the slope :math:`s_k` between the breaks :math:`b_k` and
    :math:`b_{k+1}`, and is 0 where it is least: steps of a tariff, a tolerance, a fine beyond a
    limit. It need not be convex. The best of all knots :math:`y_i + b_k` and end points is exact on
    intervals and boxes, whatever the signs of the weights.

    Parameters
    ----------
    slopes : sequence of k + 1 numbers
        Left of the first break, between each two, and right of the last one. The first is at most
        zero and the last at least, so that there is a least cost.
    breaks : sequence of k numbers
        Errors :math:`z - y` at which the slope changes, increasing.
    weights : sequence or mapping from column to weight, default=None
        Weights of the coordinates; one each when None.

    References
    ----------
    .. [1] R. Koenker, "Quantile Regression", 2005, of which one break at zero is a multiple.

    Examples
    --------
    Free up to one unit off, then 1 a unit too much and 2 a unit too little, and never more than 4.

    >>> loss = PiecewiseLinear([0.0, -2.0, 0.0, 1.0, 0.0], [-3.0, -1.0, 1.0, 5.0])
    >>> loss([[0.0], [-2.0], [-9.0], [4.0], [9.0]], [[0.0]] * 5)
    array([0., 2., 4., 3., 4.])
    """

    def __init__(
        self, slopes: ArrayLike, breaks: ArrayLike, *, weights: Weights | None = None
    ) -> None:
        self.slopes = slopes
        self.breaks = breaks
        self.weights = weights

    def _parts(self) -> tuple[np.ndarray, np.ndarray]:
        """Slopes (k + 1,) and breaks (k,)."""
        try:
            slopes, breaks = (np.asarray(a, dtype=np.float64) for a in (self.slopes, self.breaks))
        except (TypeError, ValueError):
            raise ValueError(
                "PiecewiseLinear: slopes and breaks are made of numbers; got "
                f"{self.slopes!r:.60} and {self.breaks!r:.60}."
            ) from None
        return slopes, breaks

    def _check_parameters(self) -> None:
        slopes, breaks = self._parts()
        if breaks.ndim != 1 or not len(breaks) or slopes.shape != (len(breaks) + 1,):
            raise ValueError(
                "PiecewiseLinear: there is one slope more than breaks, of which there is one at "
                f"least; got shapes {slopes.shape} and {breaks.shape}."
            )
        if not (np.isfinite(slopes).all() and np.isfinite(breaks).all()):
            raise ValueError("PiecewiseLinear: slopes and breaks are finite.")
        if (np.diff(breaks) <= 0).any():
            k = int(np.flatnonzero(np.diff(breaks) <= 0)[0])
            raise ValueError(
                f"PiecewiseLinear: breaks increase; got {breaks[k]:g} and {breaks[k + 1]:g}."
            )
        if slopes[0] > 0 or slopes[-1] < 0:
            raise ValueError(
                "PiecewiseLinear: the first slope is at most 0 and the last at least, so that "
                f"there is a least cost; got {slopes[0]:g} and {slopes[-1]:g}."
            )

    @property
    def _convex(self) -> bool:  # type: ignore[override]
        return bool((np.diff(self._parts()[0]) >= 0).all())

    def _at_breaks(self, slopes: np.ndarray, breaks: np.ndarray) -> np.ndarray:
        """Costs at the breaks; the least is zero."""
        steps = np.concatenate([[0.0], np.cumsum(slopes[1:-1] * np.diff(breaks))])
        return steps - steps.min()

    def rho(self, t: Any, y: Any) -> np.ndarray:
        slopes, breaks = self._parts()
        error = np.asarray(t - y, dtype=np.float64)
        piece = np.searchsorted(breaks, error, side="right")
        nearest = np.maximum(piece - 1, 0)
        heights = self._at_breaks(slopes, breaks)
        losses: np.ndarray = heights[nearest] + slopes[piece] * (error - breaks[nearest])
        losses = np.maximum(losses, 0.0)
        return losses

    def slope(self, t: Any, y: Any) -> np.ndarray:
        slopes, breaks = self._parts()
        return slopes[np.searchsorted(breaks, np.asarray(t - y), side="right")]

    def knots(self, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        slopes, breaks = self._parts()
        shape = (len(breaks), *(1 for _ in y.shape))
        position = y[None] + breaks.reshape(shape)
        jump = np.broadcast_to(np.diff(slopes).reshape(shape), position.shape)
        return position, jump, np.zeros(position.shape)
