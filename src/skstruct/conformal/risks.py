# SPDX-License-Identifier: BSD-3-Clause
"""Risks that thresholds control: those that fall as the threshold rises, and those that may not."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.conformal.structures import Claims, Moves, Structure


@dataclass(frozen=True)
class Risk:
    """A risk of predictions by threshold.

    Attributes
    ----------
    moves : "possible", "certain" or "both"
        What the threshold moves.
    text : str
        What the risk is, for promises.
    on_grid : callable or None
        None for a loss that falls as the threshold rises. Else (claims, grid, level) to an array
        (n, number of thresholds) of numbers from 0 to 1, with an expectation of at most the level
        where the risk is at most the level.
    bets : bool
        Whether these numbers hardly vary, so that tests by betting are the better ones.
    best : bool
        Whether any threshold may be the best one, so that all of the grid are tested at once;
        else they are tested from the strictest on.
    """

    moves: Moves
    text: str
    on_grid: Callable[[Claims, np.ndarray, float], np.ndarray] | None = None
    bets: bool = False
    best: bool = False

    def claims(self, structure: Structure, P: np.ndarray, Z: np.ndarray, weights: Any) -> Claims:
        """The parts that count, against the truth."""
        if self.moves == "possible":
            return structure.misses(P, Z, weights)
        return structure.claims(P, Z, weights, both=self.moves == "both")


def sums_above(scores: np.ndarray, parts: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """For rows and thresholds the sum of parts with a score above; shape (n, len(grid)).

    Every part is counted into the cell of the grid that its score is in, then cells are added
    up from above: as much work as there are parts and cells.
    """
    n, (m, cells) = len(scores), (scores.shape[1], len(grid) + 1)
    order = np.argsort(grid)
    cell = np.searchsorted(grid[order], scores, side="left")  # how many thresholds are below
    at = np.repeat(np.arange(n) * cells, m) + cell.ravel()
    counted = np.bincount(at, parts.ravel(), minlength=n * cells).reshape(n, cells)
    above = counted[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:]
    sums = np.empty_like(above)
    sums[:, order] = above
    return sums


def within_one(losses: np.ndarray) -> np.ndarray:
    """Numbers from 0 to 1, once rounding is clipped."""
    return losses.clip(0.0, 1.0)


def _share_false(claims: Claims, grid: np.ndarray, level: float) -> np.ndarray:
    """Of what is asserted, the share that is wrong; 0 where nothing is."""
    wrong = sums_above(claims.scores, claims.losses, grid)
    asserted = sums_above(claims.scores, claims.costs, grid)
    shares = np.divide(wrong, asserted, out=np.zeros_like(wrong), where=asserted > 0)
    return within_one(shares)


def excess_false(claims: Claims, grid: np.ndarray, level: float) -> np.ndarray:
    """wrong - level * asserted + level: of mean up to the level where E wrong / E asserted is."""
    wrong = sums_above(claims.scores, claims.losses, grid)
    asserted = sums_above(claims.scores, claims.costs, grid)
    return within_one(wrong + level * (1.0 - asserted))


def _one_minus_f1(claims: Claims, grid: np.ndarray, level: float) -> np.ndarray:
    """1 - F1 of what is asserted against what is true; 0 where both are empty."""
    right = sums_above(claims.scores, claims.costs - claims.losses, grid)
    asserted = sums_above(claims.scores, claims.costs, grid)
    true = claims.true[:, None]
    f1 = np.divide(2.0 * right, asserted + true, out=np.ones_like(right), where=asserted + true > 0)
    return within_one(1.0 - f1)


RISKS: dict[str, Risk] = {
    "missed": Risk("possible", "the share of true parts that are not among the possible ones"),
    "false_labels": Risk("certain", "the share of all parts that are held for certain wrongly"),
    "wrong": Risk("both", "the share of all parts that something wrong is asserted of"),
    "false": Risk("certain", "of the parts held for certain, the share that are not true",
                  _share_false),
    "precision": Risk("certain", "the expected number of parts held for certain wrongly, divided "
                      "by the expected number held for certain", excess_false, bets=True),
    "f1": Risk("certain", "one minus the F1 of what is held for certain", _one_minus_f1, best=True),
}  # fmt: skip
