# SPDX-License-Identifier: BSD-3-Clause
"""Smooth losses of quantities: minimized globally, with a certificate."""

from abc import abstractmethod
from typing import Any

import numpy as np

from skstruct.losses.separable import ScaledLoss, SeparableLoss
from skstruct.saving import savable


class _SmoothLoss(SeparableLoss):
    """A function of the residual r = z - y.

    Its second derivative depends on the size of r alone: it falls up to ``_valley`` and
    rises from there on (infinite where it only falls).
    """

    c: float = 1.0  # of those without a scale

    @property
    def _valley(self) -> float:
        return np.inf

    @abstractmethod
    def _bend(self, size: Any) -> Any:
        """rho'' at residuals of this size."""

    def curvature_range(self, low: Any, high: Any, y: Any) -> tuple[Any, Any]:
        """Least and largest rho''(t, y) over t in [low, high], elementwise."""
        nearest = np.maximum(np.maximum(low - y, y - high), 0.0)
        farthest = np.maximum(y - low, high - y)
        return self._range(nearest, farthest)

    def _range(self, nearest: Any, farthest: Any) -> tuple[Any, Any]:
        first, last = self._bend(nearest), self._bend(farthest)
        if np.isinf(self._valley):
            return last, first
        least = np.minimum(first, last)
        across = (nearest <= self._valley) & (farthest >= self._valley)
        return np.where(across, self._bend(self._valley), least), np.maximum(first, last)

    def _width(self) -> float:
        """Length on which rho'' changes: the scale, if there is one."""
        return self.c

    def _region(self, y: Any) -> tuple[float, float, float]:
        """Where the curves of outputs y bend: left, right, width."""
        return y.min(), y.max(), self._width()

    def curves(self, weights: Any, outputs: Any) -> Any:
        from skstruct.spaces.solvers.curves.global_search import SmoothCurves

        weights, outputs, scale = self._training(weights, outputs)
        return SmoothCurves(weights, outputs, self.rho, self.slope, self.curvature_range,
                            region=self._region, scale=scale, convex=self._convex)  # fmt: skip


@savable
class Cauchy(ScaledLoss, _SmoothLoss):
    r"""Cauchy (Lorentzian) loss, :math:`\rho(r) = (c^2 / 2) \ln(1 + (r / c)^2)`.

    Summed over coordinates with their weights; r = z - y. A far output hardly pulls, and
    the estimated risk has many local minima; the global one is found and proven. The
    slope is within [-c/2, c/2] (at :math:`|r| = c`), the second derivative within
    [-1/8, 1].

    Parameters
    ----------
    c : float, default=1.0
        Residuals beyond it count less and less.
    weights : sequence or mapping from column to weight, default=None
        Weights of the coordinates; one each when None.

    References
    ----------
    .. [1] P. W. Holland, R. E. Welsch, "Robust regression using iteratively reweighted
       least-squares", 1977.

    Examples
    --------
    >>> Cauchy(2.0)([[2.0]], [[0.0]]).round(4)
    array([1.3863])
    >>> curves = Cauchy().curves([[0.4, 0.3, 0.3]], [[0.0], [5.0], [5.5]])
    >>> points, values, bounds = curves.minimize(-10.0, 10.0)
    >>> points.round(3)
    array([[5.096]])
    """

    _convex = False

    @property
    def _valley(self) -> float:
        return float(np.sqrt(3.0)) * self.c

    def rho(self, t: Any, y: Any) -> np.ndarray:
        r = (t - y) / self.c
        return (0.5 * self.c * self.c) * np.log1p(r * r)

    def slope(self, t: Any, y: Any) -> np.ndarray:
        r = (t - y) / self.c
        return self.c * r / (1.0 + r * r)

    def _bend(self, size: Any) -> Any:
        u = (size / self.c) ** 2
        return (1.0 - u) / (1.0 + u) ** 2


@savable
class GemanMcClure(_SmoothLoss):
    r"""Geman-McClure loss, :math:`\rho(r) = (r^2 / 2) / (1 + r^2)`.

    Summed over coordinates with their weights; r = z - y. No residual costs more than
    1/2, so that outliers do not count at all. The slope is within
    :math:`\pm 3 \sqrt 3 / 16` (at :math:`|r| = 1 / \sqrt 3`), the second derivative within
    [-1/4, 1].

    Parameters
    ----------
    weights : sequence or mapping from column to weight, default=None
        Weights of the coordinates; one each when None.

    References
    ----------
    .. [1] S. Geman, D. McClure, "Bayesian image analysis: an application to single photon
       emission tomography", 1985.

    Examples
    --------
    >>> GemanMcClure()([[1.0], [1000.0]], [[0.0], [0.0]]).round(4)
    array([0.25, 0.5 ])
    """

    _convex = False
    _valley = 1.0

    def rho(self, t: Any, y: Any) -> np.ndarray:
        square = (t - y) ** 2
        return 0.5 * square / (1.0 + square)

    def slope(self, t: Any, y: Any) -> np.ndarray:
        r = t - y
        return r / (1.0 + r * r) ** 2

    def _bend(self, size: Any) -> Any:
        square = size * size
        grown = 1.0 + square
        return (1.0 - 3.0 * square) / (grown * grown * grown)  # a power takes five times longer

    def _width(self) -> float:
        return 0.6


@savable
class Fair(ScaledLoss, _SmoothLoss):
    r"""Fair's loss, :math:`\rho(r) = c^2 (|r| / c - \ln(1 + |r| / c))`.

    Summed over coordinates with their weights; r = z - y. Between squared and absolute
    error, with a second derivative everywhere, in [0, 1]; the slope is within [-c, c].

    Parameters
    ----------
    c : float, default=1.0
        Where it turns from squared to absolute.
    weights : sequence or mapping from column to weight, default=None
        Weights of the coordinates; one each when None.

    References
    ----------
    .. [1] R. C. Fair, "On the robust estimation of econometric models", 1974.

    Examples
    --------
    >>> Fair()([[1.0]], [[0.0]]).round(4)
    array([0.3069])
    """

    def rho(self, t: Any, y: Any) -> np.ndarray:
        size = np.abs(t - y) / self.c
        small = size * size * (0.5 - size * (1 / 3 - 0.25 * size))  # where the terms cancel
        return self.c * self.c * np.where(size < 1e-4, small, size - np.log1p(size))

    def slope(self, t: Any, y: Any) -> np.ndarray:
        r = t - y
        return r / (1.0 + np.abs(r) / self.c)

    def _bend(self, size: Any) -> Any:
        return 1.0 / (1.0 + size / self.c) ** 2


@savable
class L2L1(_SmoothLoss):
    r"""L2-L1 (pseudo-Huber) loss, :math:`\rho(r) = 2 (\sqrt{1 + r^2 / 2} - 1)`.

    Summed over coordinates with their weights; r = z - y. Squared error near zero,
    absolute error far away. The slope is within :math:`\pm \sqrt 2`, the second derivative
    within [0, 1].

    Parameters
    ----------
    weights : sequence or mapping from column to weight, default=None
        Weights of the coordinates; one each when None.

    References
    ----------
    .. [1] Z. Zhang, "Parameter estimation techniques: a tutorial with application to conic
       fitting", 1997, Table 1.

    Examples
    --------
    >>> L2L1()([[4.0]], [[0.0]])
    array([4.])
    """

    def rho(self, t: Any, y: Any) -> np.ndarray:
        # 2 (sqrt(1 + u) - 1) = 2 u / (sqrt(1 + u) + 1), which keeps the digits of small u.
        u = 0.5 * (t - y) ** 2
        return 2.0 * u / (np.sqrt(1.0 + u) + 1.0)

    def slope(self, t: Any, y: Any) -> np.ndarray:
        r = t - y
        return r / np.sqrt(1.0 + 0.5 * r * r)

    def _bend(self, size: Any) -> Any:
        grown = 1.0 + 0.5 * size * size
        return 1.0 / (grown * np.sqrt(grown))


@savable
class Logistic(_SmoothLoss):
    r"""Logistic loss of a score, :math:`\sum_j c_j \ln(1 + \exp(-z_j y_j))`.

    z is a score, y a label -1 or +1, or any other number. The slope in z is within
    :math:`[-|y|, |y|]`, the second derivative within :math:`[0, y^2 / 4]`. With conditional
    probability p of +1, the best score is the log-odds ln(p / (1 - p)).

    Parameters
    ----------
    weights : sequence or mapping from column to weight, default=None
        Weights of the coordinates; one each when None.

    References
    ----------
    .. [1] J. Friedman, T. Hastie, R. Tibshirani, "Additive logistic regression", 2000.

    Examples
    --------
    >>> Logistic()([[0.0], [2.0]], [[1.0], [-1.0]]).round(4)
    array([0.6931, 2.1269])
    """

    def rho(self, t: Any, y: Any) -> np.ndarray:
        return np.logaddexp(0.0, -t * y)

    def slope(self, t: Any, y: Any) -> np.ndarray:
        return -y * _sigmoid(-t * y)

    def curvature_range(self, low: Any, high: Any, y: Any) -> tuple[Any, Any]:
        nearest = np.maximum(np.maximum(low, -high), 0.0)  # from t = 0, where the bend is largest
        farthest = np.maximum(-low, high)
        square = np.square(y)
        first, last = (square * _logistic_bend(size * np.abs(y)) for size in (nearest, farthest))
        return last, first

    def _region(self, y: Any) -> tuple[float, float, float]:
        largest = np.abs(y).max(initial=0.0)
        width = 1.0 / largest if largest > 0 else 0.0
        return -8.0 * width, 8.0 * width, width


def _sigmoid(m: np.ndarray) -> Any:
    from scipy.special import expit

    return expit(m)


def _logistic_bend(m: Any) -> Any:
    e = np.exp(-m)  # m >= 0
    return e / (1.0 + e) ** 2
