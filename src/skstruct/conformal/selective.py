# SPDX-License-Identifier: BSD-3-Clause
"""Which rows, or which parts, may be kept: tests of the risk of what is kept."""

import math
from dataclasses import dataclass

import numpy as np

from skstruct.conformal.p_values import (
    bet_on_thresholds,
    binomial_p_values,
    hoeffding_bentkus,
    laxest,
    split_rows,
)
from skstruct.conformal.risks import excess_false
from skstruct.conformal.structures import Claims

MOST = 50  # thresholds


@dataclass(frozen=True)
class RowsTest:
    """Which rows may be kept: scores of doubt (n,), losses (n,) from 0 to 1, and the level."""

    scores: np.ndarray
    losses: np.ndarray
    level: float
    exact: bool = False
    nothing: float = -math.inf

    def threshold(self, numbers: np.ndarray, delta: float) -> float:
        """The laxest threshold that passed, among rows of these numbers."""
        rest, scout = split_rows(numbers)
        grid = np.append(_quantiles(self.scores[scout]), np.inf)
        if not self.exact:  # rows that are not kept neither win nor lose a bet
            kept = self.scores[numbers][:, None] <= grid
            losses = np.where(kept, self.losses[numbers][:, None], self.level)
            return bet_on_thresholds(losses, grid, self.level, delta, self.nothing)
        counts, sums = self._kept(scout, grid)
        # As if the rows that are tested were like these; one more row is right at the level.
        guess = (sums + self.level) / (counts + 1.0)
        expected = np.ceil(counts * len(rest) / max(len(scout), 1)).astype(np.int64)
        likely = hoeffding_bentkus(guess, expected, self.level)
        counts, sums = self._kept(rest, grid)
        p_values = binomial_p_values(sums, counts, self.level)
        return laxest(grid, likely, p_values, delta, self.nothing)

    def _kept(self, rows: np.ndarray, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How many rows are kept at each threshold, and the sum of their losses."""
        kept = self.scores[rows][:, None] <= grid
        return kept.sum(axis=0), self.losses[rows] @ kept

    def kept_share(self, thresholds: np.ndarray) -> float:
        return float(np.mean(self.scores <= thresholds))


@dataclass(frozen=True)
class PartsTest:
    """Which parts may be kept: what is asserted of them, and the level."""

    claims: Claims
    level: float
    nothing: float = math.inf

    def threshold(self, numbers: np.ndarray, delta: float) -> float:
        """The laxest threshold that passed, among rows of these numbers."""
        _, scout = split_rows(numbers)
        scores = self.claims.scores[scout]
        grid = -np.append(_quantiles(-scores[scores > -np.inf]), np.inf)
        losses = excess_false(self.claims.rows(numbers), grid, self.level)
        return bet_on_thresholds(losses, grid, self.level, delta, self.nothing)

    def kept_share(self, thresholds: np.ndarray) -> float:
        return float(np.mean(self.claims.scores > thresholds[:, None]))


def _quantiles(scores: np.ndarray) -> np.ndarray:
    """Distinct scores that rise, not more than fifty."""
    distinct = np.unique(scores)
    if len(distinct) <= MOST:
        return distinct
    return np.unique(np.quantile(scores, np.linspace(0, 1, MOST), method="lower"))
