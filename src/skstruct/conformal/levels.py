# SPDX-License-Identifier: BSD-3-Clause
"""Thresholds from calibration rows: conformal quantiles and conformal risk control, on arrays.

One curve serves both. Calibration row i has a loss that falls as a threshold rises,

    L_i(t) = sum_j v_ij 1[s_ij > t],   0 <= L_i <= 1,

with a score s_ij and a loss v_ij for each of its parts. Coverage is the case of one part with the
loss 1: a row is outside of its set when its score is above the threshold.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skstruct.conformal.p_values import hoeffding_bentkus
from skstruct.saving import savable
from skstruct.tolerances import TIE


@savable
@dataclass(frozen=True)
class Curve:
    """Sums of the losses of calibration rows by threshold: a falling step function.

    Attributes
    ----------
    steps : array of shape (m,)
        Rising: the thresholds at which the sum falls.
    totals : array of shape (m + 1,)
        The weighted sum of losses below the first step, then at each of them; the last is 0.
    mass : float
        Sum of the weights of the rows.
    n_rows : int
    """

    steps: np.ndarray
    totals: np.ndarray
    mass: float
    n_rows: int

    def threshold(self, level: float, weight: Any = 1.0) -> Any:
        r"""The least threshold t at which a new row may be added with the largest loss, 1.

        .. math:: \frac{\sum_i w_i L_i(t) + w}{\sum_i w_i + w} \le \mathrm{level}.

        Minus infinity where any threshold will do, infinity where none does.

        Parameters
        ----------
        weight : float or array of shape (n,)
            Of new rows; all rows have the weight 1 unless their distribution is another one.
        """
        weight = np.asarray(weight, dtype=np.float64)
        all_weights = self.mass + weight
        room = level * all_weights - weight + TIE * all_weights
        first = np.searchsorted(-self.totals, -room, side="left")
        return self._candidates()[first][()]

    def sure_threshold(self, level: float, delta: float) -> float:
        """The least t such that at t and above, a mean loss beyond the level is rejected.

        The expected loss at t is then at most the level with probability 1 - delta over the
        calibration rows. Thresholds may be taken from the same rows, since L falls: were the
        expected loss at t above the level, the test would have failed at the point where the
        expected loss passes the level, which is one and the same point for all samples.
        """
        means = self.totals / max(self.n_rows, 1)
        passed = hoeffding_bentkus(means, self.n_rows, level) <= delta
        failed = np.flatnonzero(~passed)
        first = failed[-1] + 1 if len(failed) else 0
        return float(self._candidates()[first])

    def mean(self, threshold: float) -> float:
        """The weighted mean loss of the calibration rows at a threshold."""
        at = np.searchsorted(self.steps, threshold, side="right")
        return float(self.totals[at] / self.mass) if self.mass else 0.0

    def _candidates(self) -> np.ndarray:
        return np.concatenate([[-np.inf], self.steps, [np.inf]])


def risk_curve(scores: Any, losses: Any, weights: ArrayLike | None = None) -> Curve:
    """The curve of summed losses.

    Parameters
    ----------
    scores : array of shape (n,) or (n, m)
        Parts count at thresholds below their score; minus infinity for parts that never do.
    losses : array like scores
        At least 0, at most 1 in the sum of a row.
    weights : array of shape (n,), default=None
        Of the rows.

    Examples
    --------
    >>> curve = risk_curve([0.2, 0.5, 0.9], [1.0, 1.0, 1.0])
    >>> curve.totals.tolist(), float(curve.threshold(0.5))
    ([3.0, 2.0, 1.0, 0.0], 0.5)
    """
    scores = np.asarray(scores, dtype=np.float64)
    losses = np.broadcast_to(np.asarray(losses, dtype=np.float64), scores.shape)
    n = len(scores)
    weights = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    parts = losses * weights.reshape(-1, *[1] * (scores.ndim - 1))
    counted = (parts > 0) & (scores > -np.inf)
    steps, at = np.unique(scores[counted], return_inverse=True)
    falls = np.bincount(at.ravel(), parts[counted], minlength=len(steps))
    totals = np.append(falls[::-1].cumsum()[::-1], 0.0)
    return Curve(steps, totals, float(weights.sum()), n)


def conformal_quantile(
    scores: ArrayLike, level: float, weights: ArrayLike | None = None, weight: Any = 1.0
) -> Any:
    r"""The threshold that a new score exceeds with probability at most ``level``.

    Without weights the :math:`\lceil (1 - \mathrm{level})(n + 1) \rceil`-th smallest score [1]_;
    with weights, which are ratios of densities of new and calibration inputs, the least score t
    with :math:`\sum_{s_i > t} w_i + w \le \mathrm{level}\,(\sum_i w_i + w)` [2]_. Infinity where
    there are too few scores.

    Parameters
    ----------
    scores : array of shape (n,)
    level : float from 0 to 1
    weights : array of shape (n,), default=None
    weight : float or array of shape (m,), default=1.0
        Of the new rows.

    Returns
    -------
    threshold : float or array of shape (m,)

    References
    ----------
    .. [1] V. Vovk, A. Gammerman and G. Shafer, "Algorithmic learning in a random world", 2005.
    .. [2] R. J. Tibshirani, R. Foygel Barber, E. J. Candès and A. Ramdas, "Conformal prediction
       under covariate shift", 2019, Corollary 1.

    Examples
    --------
    >>> conformal_quantile([1.0, 2.0, 3.0, 4.0], 0.4)
    3.0
    >>> conformal_quantile([1.0, 2.0, 3.0, 4.0], 0.1)
    inf
    """
    scores = np.asarray(scores, dtype=np.float64)
    threshold = risk_curve(scores, np.ones(scores.shape), weights).threshold(level, weight)
    return threshold if np.ndim(threshold) else float(threshold)


def crc_threshold(
    scores: ArrayLike, losses: ArrayLike, level: float, weights: ArrayLike | None = None
) -> float:
    r"""The least threshold that conformal risk control allows.

    For losses that fall as the threshold t rises, are right-continuous and at most 1,
    :math:`\hat t = \inf\{t : (\sum_i L_i(t) + 1) / (n + 1) \le \mathrm{level}\}` has
    :math:`E\,L_{n+1}(\hat t) \le \mathrm{level}` for exchangeable rows [1]_.

    Parameters
    ----------
    scores, losses : arrays of shape (n, m)
        Loss of part j of row i, which counts at thresholds below its score.
    level : float from 0 to 1
    weights : array of shape (n,), default=None

    References
    ----------
    .. [1] A. N. Angelopoulos, S. Bates, A. Fisch, L. Lei and T. Schuster, "Conformal risk
       control", 2022, Theorem 1.

    Examples
    --------
    >>> crc_threshold([[0.9, 0.4], [0.8, 0.3], [0.2, 0.7]], [[0.5, 0.5]] * 3, 0.5)
    0.7
    """
    return float(risk_curve(scores, losses, weights).threshold(level))
