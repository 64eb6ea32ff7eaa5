# SPDX-License-Identifier: BSD-3-Clause
"""How probable it is that one item comes before another, from scores of items."""

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from skstruct.learners.calibration import logistic_map
from skstruct.learners.inputs import row_weights
from skstruct.learners.marginals import named_marginals
from skstruct.spaces.solvers.linear_ordering import pair_signs
from skstruct.tolerances import SURE


class CalibratedPreferences:
    r"""Probabilities :math:`P(i \text{ before } j) = \sigma((s_i - s_j) / \tau)` of scores s.

    The temperature :math:`\tau` is that under which the pairs of rows kept apart are most likely:
    the model of Bradley and Terry [1]_, with scores that are known up to a factor.

    References
    ----------
    .. [1] R. A. Bradley and M. E. Terry, "Rank analysis of incomplete block designs: I. The method
       of paired comparisons", 1952.
    """

    temperature_: float

    def calibrate(self: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn how sure scores are, from rows that the ranker was not fitted to.

        Sets ``temperature_``, after which there is ``predict_marginals``.
        """
        X, _ = self._checked(X)
        check_consistent_length(X, y)
        ranks, weight = self.space_.validate(y), row_weights(sample_weight, X.shape[0])
        differences = _differences(self._scores(X))
        signs = pair_signs(ranks)
        known = signs != 0
        # Both orders of every pair, so that no order of the items is preferred: no shift.
        gaps = np.concatenate([differences[known], -differences[known]])
        happened = np.concatenate([signs[known], -signs[known]]) > 0
        each = np.tile(np.broadcast_to(weight[:, None], signs.shape)[known], 2)
        scale = max(float(np.abs(gaps).max(initial=0.0)), SURE)
        p, happened = expit(SPREAD * gaps / scale)[:, None], happened[:, None].astype(np.float64)
        found = logistic_map(p, happened, each)
        self.temperature_ = scale / (SPREAD * max(found.slope, SURE))
        return self

    def predict_marginals(self: Any, X: Any, *, parts: str | None = None, raw: bool = False) -> Any:
        """P(item i before item j), shape (n, d, d), once ``calibrate`` says how sure scores are.

        Parameters
        ----------
        parts : "pairs" or None
        raw : bool, default=False
            Differences of scores, in units of the temperature.
        """
        check_is_fitted(self)
        if parts not in (None, "pairs"):
            raise ValueError(f"predict_marginals: rankers tell of 'pairs'; got {parts!r}.")
        self._check_calibrated()
        X, index = self._checked(X)
        gaps = self._log_odds(X)
        return named_marginals(self, [gaps if raw else expit(gaps)], self.space_, "pairs", index)

    def _check_calibrated(self) -> None:
        if not hasattr(self, "temperature_"):
            raise ValueError(
                f"{type(self).__name__} has scores, which are no probabilities: call "
                "calibrate(X, y) with rows that it was not fitted to."
            )

    def _log_odds(self: Any, X: Any) -> np.ndarray:
        """Of item i before item j; shape (n, d, d)."""
        scores = self._scores(X) / self.temperature_
        return scores[:, :, None] - scores[:, None, :]


SPREAD = 6.0  # the largest difference of scores, as log odds, before it is scaled


def _differences(scores: np.ndarray) -> np.ndarray:
    """Of the items of all pairs p < q; shape (n, d (d - 1) / 2)."""
    first, second = np.triu_indices(scores.shape[1], 1)
    return scores[:, first] - scores[:, second]
