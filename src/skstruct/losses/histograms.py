# SPDX-License-Identifier: BSD-3-Clause
"""Losses of histograms: numbers of at least zero, compared entry by entry."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skstruct.losses.base import plain_weights
from skstruct.losses.separable import SeparableLoss
from skstruct.saving import savable
from skstruct.spaces import Coordinates
from skstruct.spaces.solvers.curves import chi_square
from skstruct.tolerances import OUTPUT_RANGE


class _HistogramLoss(SeparableLoss):
    """A sum over entries that are at least zero."""

    def __call__(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        return super().__call__(*self._both(Y_pred, Y_true))

    def pairwise(self, Y_pred: ArrayLike, Y_true: ArrayLike) -> np.ndarray:
        return super().pairwise(*self._both(Y_pred, Y_true))

    def _both(self, Y_pred: Any, Y_true: Any) -> tuple[np.ndarray, np.ndarray]:
        name = type(self).__name__
        return _amounts(Y_pred, "Y_pred", name), _amounts(Y_true, "Y_true", name)

    def _training(self, weights: Any, outputs: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return super()._training(weights, _amounts(outputs, "Y", type(self).__name__))


def _amounts(Y: Any, what: str, used_by: str) -> Any:
    """Numbers of at least zero, or an error that names the entry."""
    Y = np.asarray(Y, dtype=np.float64)
    rounding = OUTPUT_RANGE * max(1.0, np.abs(Y).max(initial=0.0))
    below = np.argwhere(~(Y + rounding >= 0))
    if len(below):
        index = ", ".join(str(i) for i in below[0])
        raise ValueError(
            f"{used_by} compares amounts of at least 0; {what}[{index}] is {Y[tuple(below[0])]:g}."
        )
    return np.maximum(Y, 0.0)


@savable
class SquaredHellinger(_HistogramLoss):
    r"""Squared Hellinger distance, :math:`\frac12 \sum_j c_j (\sqrt{z_j} - \sqrt{y_j})^2`.

    On the simplex, with weights that are all the same, it is :math:`1 - \langle \sqrt z,
    \sqrt y \rangle`: bilinear in :math:`\psi(z) = \sqrt z`, so that any smoother will do, and
    minimized in closed form for weights of training outputs of any sign: the squares of the
    positive part of the mean of :math:`\sqrt y`, scaled to the total.

    Parameters
    ----------
    weights : sequence or mapping from column to weight, default=None
        Weights :math:`c_j \ge 0` of the coordinates; one each when None.

    References
    ----------
    .. [1] C. Ciliberto, A. Rudi, L. Rosasco, "A consistent regularization approach for
       structured prediction", 2016; what is called Hellinger distance there is
       :class:`RootAbsolute`.

    Examples
    --------
    >>> SquaredHellinger()([[1.0, 0.0]], [[0.25, 0.75]])
    array([0.5])
    """

    def rho(self, t: Any, y: Any) -> np.ndarray:
        return 0.5 * (np.sqrt(t) - np.sqrt(y)) ** 2

    def slope(self, t: Any, y: Any) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return 0.5 * (1.0 - np.where(np.asarray(y) > 0, np.sqrt(y / np.asarray(t)), 0.0))

    def embedding_on(self, space: Any) -> str:
        offered = Coordinates.of(space).offered("roots")
        weights: Any = self.weights
        if hasattr(weights, "keys"):
            weights = [weights[name] for name in list(weights.keys())]
        alike = weights is None or np.ptp(np.asarray(weights, dtype=np.float64)) == 0
        return "roots" if offered and alike else "weights"

    def bind(self, space: Any) -> Self:
        bound = super().bind(space)
        bound.total_ = Coordinates.of(space).total
        return bound

    def cost(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        return -g * plain_weights(self, g.shape[1])

    def offset(self, g: np.ndarray, total: np.ndarray) -> np.ndarray:
        # (sum z + sum y) / 2 is the total of a histogram.
        amount = getattr(self, "total_", None)
        offsets: np.ndarray = (
            plain_weights(self, g.shape[1])[0] * (1.0 if amount is None else amount) * total[:, 0]
        )
        return offsets

    def curves(self, weights: Any, outputs: Any) -> Any:
        from skstruct.spaces.solvers.curves.roots import LinearRootCurves

        weights, outputs, scale = self._training(weights, outputs)
        linear = 0.5 * scale * weights.sum(axis=1)[:, None]
        roots = -scale * (weights @ np.sqrt(outputs))
        return LinearRootCurves(linear, roots, 0.5 * scale * (weights @ outputs))


@savable
class RootAbsolute(_HistogramLoss):
    r"""Absolute differences of roots, :math:`\sum_j c_j |\sqrt{z_j} - \sqrt{y_j}|`.

    Equation (22) of [1]_, there called Hellinger distance, which it is not: see
    :class:`SquaredHellinger`. It is not convex in z; on the simplex decisions come with a
    lower bound, entry by entry (on a box) they are exact.

    Parameters
    ----------
    weights : sequence or mapping from column to weight, default=None
        Weights :math:`c_j \ge 0` of the coordinates; one each when None.

    References
    ----------
    .. [1] C. Ciliberto, A. Rudi, L. Rosasco, "A consistent regularization approach for
       structured prediction", 2016, eq. (22).

    Examples
    --------
    >>> RootAbsolute()([[1.0, 0.0]], [[0.25, 0.75]]).round(3)
    array([1.366])
    """

    _convex = False

    def rho(self, t: Any, y: Any) -> np.ndarray:
        return np.abs(np.sqrt(t) - np.sqrt(y))

    def slope(self, t: Any, y: Any) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.where(np.asarray(t) < y, -0.5, 0.5) / np.sqrt(t)

    def curves(self, weights: Any, outputs: Any) -> Any:
        from skstruct.spaces.solvers.curves.roots import RootCurves

        return RootCurves(*self._training(weights, outputs))


@savable
class ChiSquare(_HistogramLoss):
    r"""Chi-square distance, :math:`\sum_j c_j (z_j - y_j)^2 / (z_j + y_j)`, with 0 / 0 = 0.

    Convex in z; its slope is within [-3, 1]. Where no weight of a training output is
    negative, the decision is the optimum up to rounding; for any signs it comes with a
    lower bound.

    Parameters
    ----------
    weights : sequence or mapping from column to weight, default=None
        Weights :math:`c_j \ge 0` of the coordinates; one each when None.

    References
    ----------
    .. [1] C. Ciliberto, A. Rudi, L. Rosasco, "A consistent regularization approach for
       structured prediction", 2016, which lists this loss.

    Examples
    --------
    >>> ChiSquare()([[0.5, 0.5]], [[0.0, 1.0]]).round(3)
    array([0.667])
    """

    def rho(self, t: Any, y: Any) -> np.ndarray:
        return chi_square.rho(t, y)

    def slope(self, t: Any, y: Any) -> np.ndarray:
        return chi_square.slope(t, y)

    def curves(self, weights: Any, outputs: Any) -> Any:
        return chi_square.ChiSquareCurves(*self._training(weights, outputs))
