# SPDX-License-Identifier: BSD-3-Clause
"""Intervals for quantities, within the range of their space."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.conformal.sets.base import SetRule
from skstruct.fitted import Fitted
from skstruct.spaces import Description

LEAST_SHARE = 0.01  # of the variance of training outputs, that a risk is taken for at least


@dataclass(frozen=True)
class Intervals:
    """Lower and upper ends of intervals, or of boxes, in the user's format."""

    lower: Any
    upper: Any


class IntervalRule(SetRule):
    r"""Scores of numbers, the largest over the coordinates of an output.

    ``"absolute"``: :math:`|y - \hat y(x)|`. ``"normalized"``: that divided by the square root of
    ``predict_risk``, which is a standard deviation under the squared loss, and a tenth of that of
    all training outputs at least. ``"interval"``: how far
    y is outside of ``predict_interval``, negative inside [1]_.

    References
    ----------
    .. [1] Y. Romano, E. Patterson and E. J. Candès, "Conformalized quantile regression", 2019.
    """

    scores_known = ("absolute", "normalized", "interval")

    def read(self, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Two ends and a scale, each of shape (n, d) or (n, 1): intervals are ends -+ t scale."""
        if self.score == "interval":
            lower, upper = (_columns(end) for end in self.learner.predict_interval(X))
            crossed = np.flatnonzero((lower > upper).any(axis=1))
            if len(crossed):
                raise ValueError(
                    f"predict_interval: row {crossed[0]} has a lower end above the upper one."
                )
            return lower, upper, np.ones((len(lower), 1))
        centre = _columns(self.space.validate(self.learner.predict(X)))
        if self.score == "absolute":
            return centre, centre, np.ones((len(centre), 1))
        risk = np.asarray(self.learner.predict_risk(X), dtype=np.float64)
        # Any positive function of x will do; rows of hardly any estimated risk get a small one.
        known = Fitted.of(self.learner).outputs
        spread = 0.0 if known is None else float(np.var(known, dtype=np.float64))
        least = max(LEAST_SHARE * spread, np.finfo(float).tiny)
        scale = np.sqrt(np.maximum(risk, least))
        return centre, centre, scale[:, None]

    def scores(self, known: Any, Z: Any) -> np.ndarray:
        lower, upper, scale = known
        beyond = np.maximum(lower - _columns(Z), _columns(Z) - upper).max(axis=1, keepdims=True)
        with np.errstate(over="ignore"):  # infinitely strange, where no risk at all was expected
            return np.asarray((beyond / scale)[:, 0])

    def _ends(self, known: Any, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        lower, upper, scale = known
        reach = thresholds[:, None] * scale
        # A range that was learned from training rows may be left by new ones.
        given = Description.of(self.space).given_range
        low, high = np.transpose([given(j) for j in range(lower.shape[1])])
        ends = np.maximum(lower - reach, low), np.minimum(upper + reach, high)
        # An interval that would end before it begins holds nothing: both ends are NaN.
        empty = (ends[0] > ends[1]).any(axis=1, keepdims=True)
        return np.where(empty, np.nan, ends[0]), np.where(empty, np.nan, ends[1])

    def sets(self, known: Any, thresholds: np.ndarray, most: int, index: Any) -> Intervals:
        lower, upper = self._ends(known, thresholds)
        return Intervals(self.space.restore(lower, index), self.space.restore(upper, index))

    def counts(self, known: Any, thresholds: np.ndarray, most: int) -> np.ndarray:
        raise ValueError("PredictionSets.count: intervals hold more numbers than can be counted.")


def _columns(numbers: Any) -> np.ndarray:
    """Numbers as an array (n, d)."""
    columns = np.asarray(numbers, dtype=np.float64)
    return columns.reshape(len(columns), -1)
