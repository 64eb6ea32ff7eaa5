# SPDX-License-Identifier: BSD-3-Clause
"""Losses of quantities made of straight lines and parabolas: minimized exactly."""

from abc import abstractmethod
from typing import Any

import numpy as np

from skstruct.losses.base import Weights, is_real
from skstruct.losses.separable import ScaledLoss, SeparableLoss
from skstruct.saving import savable


class PiecewiseLoss(SeparableLoss):
    """A loss that brings its knots: where slope and second derivative of rho(., y) jump."""

    @abstractmethod
    def knots(self, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions, jumps of the slope, jumps of the second derivative; k of each per y."""

    def curves(self, weights: Any, outputs: Any) -> Any:
        from skstruct.spaces.solvers.curves.piecewise import PiecewiseCurves

        weights, outputs, scale = self._training(weights, outputs)
        return PiecewiseCurves(weights, outputs, self.rho, self.slope, self.knots, scale=scale,
                               convex=self._convex)  # fmt: skip


@savable
class Absolute(PiecewiseLoss):
    r"""Absolute error, :math:`\sum_j c_j |z_j - y_j|`.

    Predicts conditional medians. The slope is within [-1, 1]; between outputs the loss is
    straight. A weighted median minimizes the estimated risk only where no weight is
    negative; here the best of all outputs and end points does, whatever the signs [1]_.

    Parameters
    ----------
    weights : sequence or mapping from column to weight, default=None
        Weights of the coordinates; one each when None.

    References
    ----------
    .. [1] C. Ciliberto, A. Rudi, L. Rosasco, "A consistent regularization approach for
       structured prediction", 2016, which lists this loss.

    Examples
    --------
    >>> Absolute()([[1.0, 2.0]], [[3.0, 2.5]])
    array([2.5])
    >>> curves = Absolute().curves([[0.2, 0.5, 0.3]], [[1.0], [2.0], [9.0]])
    >>> points, values, bounds = curves.minimize(0.0, 10.0)
    >>> points, values.round(3)
    (array([[2.]]), array([[2.3]]))
    """

    def rho(self, t: Any, y: Any) -> np.ndarray:
        return np.abs(t - y)

    def slope(self, t: Any, y: Any) -> np.ndarray:
        return np.where(t < y, -1.0, 1.0)

    def knots(self, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return y[None], np.full((1, *y.shape), 2.0), np.zeros((1, *y.shape))


@savable
class Pinball(PiecewiseLoss):
    r"""Quantile loss, :math:`\sum_j c_j [(\tau - 1/2) r_j + |r_j| / 2]` with r = y - z.

    Predicts conditional quantiles of level :math:`\tau`: predicting too little costs
    :math:`\tau` per unit, too much :math:`1 - \tau`. The slope in z is within
    :math:`[-\tau, 1 - \tau]`. At :math:`\tau = 1/2` it is half the absolute error.

    Parameters
    ----------
    tau : float, default=0.5
        Level of the quantile, between 0 and 1.
    weights : sequence or mapping from column to weight, default=None
        Weights of the coordinates; one each when None.

    References
    ----------
    .. [1] R. Koenker, G. Bassett, "Regression quantiles", 1978.

    Examples
    --------
    >>> Pinball(0.75)([[1.0], [3.0]], [[2.0], [2.0]])
    array([0.75, 0.25])
    """

    def __init__(self, tau: float = 0.5, *, weights: Weights | None = None) -> None:
        self.tau = tau
        self.weights = weights

    def _check_parameters(self) -> None:
        if not (is_real(self.tau) and 0 < self.tau < 1):
            raise ValueError(
                f"Pinball: tau is the level of a quantile, between 0 and 1; got {self.tau!r}."
            )

    def rho(self, t: Any, y: Any) -> np.ndarray:
        r = y - t
        return (self.tau - 0.5) * r + 0.5 * np.abs(r)

    def slope(self, t: Any, y: Any) -> np.ndarray:
        return np.where(t < y, -self.tau, 1.0 - self.tau)

    def knots(self, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return y[None], np.ones((1, *y.shape)), np.zeros((1, *y.shape))


@savable
class EpsilonInsensitive(PiecewiseLoss):
    r"""Absolute error beyond a tube, :math:`\sum_j c_j \max(0, |z_j - y_j| - \epsilon)`.

    Errors up to :math:`\epsilon` are free. The slope is within [-1, 1]; the loss is straight
    between the knots :math:`y \pm \epsilon`.

    Parameters
    ----------
    eps : float, default=0.1
        Half the width of the tube, at least 0.
    weights : sequence or mapping from column to weight, default=None
        Weights of the coordinates; one each when None.

    References
    ----------
    .. [1] V. Vapnik, "The Nature of Statistical Learning Theory", 1995.

    Examples
    --------
    >>> EpsilonInsensitive(0.5)([[1.0], [2.25]], [[2.0], [2.0]])
    array([0.5, 0. ])
    """

    def __init__(self, eps: float = 0.1, *, weights: Weights | None = None) -> None:
        self.eps = eps
        self.weights = weights

    def _check_parameters(self) -> None:
        if not (is_real(self.eps) and 0 <= self.eps < np.inf):
            raise ValueError(
                f"EpsilonInsensitive: eps is a number of at least 0; got {self.eps!r}."
            )

    def rho(self, t: Any, y: Any) -> np.ndarray:
        return np.maximum(np.abs(t - y) - self.eps, 0.0)

    def slope(self, t: Any, y: Any) -> np.ndarray:
        return 1.0 * (t >= y + self.eps) - (t < y - self.eps)

    def knots(self, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        position = np.stack([y - self.eps, y + self.eps])
        return position, np.ones(position.shape), np.zeros(position.shape)


@savable
class Huber(ScaledLoss, PiecewiseLoss):
    r"""Squared error for small, absolute error for large residuals.

    .. math:: \rho(r) = r^2 / 2 \text{ if } |r| \le c, \text{ otherwise } c (|r| - c / 2)

    summed over coordinates with their weights; r = z - y. The slope is within [-c, c], the
    second derivative within [0, 1]. Knots are :math:`y \pm c`.

    Parameters
    ----------
    c : float, default=1.0
        Where the parabola becomes a line, in units of the outputs.
    weights : sequence or mapping from column to weight, default=None
        Weights of the coordinates; one each when None.

    References
    ----------
    .. [1] P. J. Huber, "Robust estimation of a location parameter", 1964.

    Examples
    --------
    >>> Huber(2.0)([[1.0], [5.0]], [[0.0], [0.0]])
    array([0.5, 8. ])
    """

    def rho(self, t: Any, y: Any) -> np.ndarray:
        r = np.abs(t - y)
        near = np.minimum(r, self.c)
        return near * (r - 0.5 * near)

    def slope(self, t: Any, y: Any) -> np.ndarray:
        return np.clip(t - y, -self.c, self.c)

    def knots(self, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        position = np.stack([y - self.c, y + self.c])
        jump = np.stack([np.ones_like(y), -np.ones_like(y)])
        # Where c is below the spacing of numbers near y, the slope jumps by what is missing.
        missing = 2.0 * self.c - (position[1] - position[0])
        return position, np.stack([np.zeros_like(y), missing]), jump


@savable
class Hinge(PiecewiseLoss):
    r"""Hinge loss of a score, :math:`\sum_j c_j \max(0, 1 - z_j y_j)`.

    z is a score, y a label -1 or +1, or any other number (at 0 the loss is always one).
    The slope is within :math:`[-|y|, |y|]`; the knot is 1 / y.

    Parameters
    ----------
    weights : sequence or mapping from column to weight, default=None
        Weights of the coordinates; one each when None.

    References
    ----------
    .. [1] C. Cortes, V. Vapnik, "Support-vector networks", 1995.

    Examples
    --------
    >>> Hinge()([[0.5], [2.0], [2.0]], [[1.0], [1.0], [-1.0]])
    array([0.5, 0. , 3. ])
    """

    def rho(self, t: Any, y: Any) -> np.ndarray:
        return np.maximum(1.0 - t * y, 0.0)

    def slope(self, t: Any, y: Any) -> np.ndarray:
        # Positive y: falling up to 1 / y. Negative y: rising from 1 / y on.
        return np.where((t < _inverse(y)) == (np.asarray(y) > 0), -1.0, 0.0) * y

    def knots(self, y: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return _inverse(y)[None], np.abs(y)[None], np.zeros((1, *y.shape))


def _inverse(y: Any) -> np.ndarray:
    """1 / y, infinite where it has no finite value."""
    y = np.asarray(y, dtype=np.float64)
    with np.errstate(divide="ignore", over="ignore"):
        return np.where(y == 0, np.inf, 1.0 / y)
