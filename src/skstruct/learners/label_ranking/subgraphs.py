# SPDX-License-Identifier: BSD-3-Clause
"""Preference graphs cut into subgraphs, each of them right or wrong as a whole."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skstruct.learners.label_ranking.reductions import PreferenceReduction, Preferences
from skstruct.saving import savable

DECOMPOSITIONS = ("pairs", "better-items", "worse-items", "whole")
FORMER = {"items": "better-items"}  # what else they are called
MARGINS = ("unit", "feedback")


def check_decomposition(name: Any) -> str:
    """How preference graphs are cut, by its first name.

    >>> check_decomposition("items")
    'better-items'
    """
    found = FORMER.get(name, name) if isinstance(name, str) else name
    if found not in DECOMPOSITIONS:
        known = ", ".join(f'"{known}"' for known in DECOMPOSITIONS)
        raise ValueError(f"decomposition is one of {known}; got {name!r}.")
    return str(found)


def check_margin(name: Any) -> None:
    """Raise unless margins are all one, or differences of what y says."""
    if name not in MARGINS:
        raise ValueError(f'margin is "unit" or "feedback"; got {name!r}.')


@savable
@dataclass(frozen=True)
class SubgraphReduction(PreferenceReduction):
    """Preferences of a row, cut into subgraphs.

    "pairs" cuts into single pairs. "better-items" and "worse-items" cut into stars: all pairs with
    the same better item, or with the same worse one. "whole" does not cut.

    Parameters
    ----------
    margin : "unit" or "feedback"
        By how much scores of the two items of a pair are to differ: by one, or by as much as their
        numbers in y do.
    """

    decomposition: str = "pairs"
    margin: str = "unit"

    def apply(self, X: Any, Z: np.ndarray) -> Any:
        found, way = super().apply(X, Z), check_decomposition(self.decomposition)
        rows, better, worse = found.rows, found.better, found.worse
        fresh = np.ones(len(rows), bool)
        if way != "pairs":
            # All pairs of a row have the same center where the graph stays whole.
            center = {"better-items": better, "worse-items": worse, "whole": rows}[way]
            order = np.lexsort((worse, better, center, rows))
            rows, better, worse, center = (a[order] for a in (rows, better, worse, center))
            fresh[1:] = (rows[1:] != rows[:-1]) | (center[1:] != center[:-1])
        margin = np.ones(len(rows))
        if self.margin == "feedback":
            margin = Z[rows, worse] - Z[rows, better]  # smaller is better
        begins = np.flatnonzero(fresh)
        return Subgraphs(X, rows, better, worse, found.n_items, begins, fresh.cumsum() - 1, margin)


@dataclass(frozen=True)
class Subgraphs(Preferences):
    """Preferences with the subgraph of each, and the loss that boosting lowers."""

    begins: np.ndarray  # first preference of every subgraph
    owner: np.ndarray  # subgraph of every preference
    margin: np.ndarray  # by how much the scores of every preference are to differ
    row_weight: np.ndarray | None = None  # shape (n,), ones when None

    @property
    def first_subgraphs(self) -> np.ndarray:
        """The subgraphs of row i are those from ``[i]`` to ``[i + 1]``; shape (n + 1,)."""
        return np.searchsorted(self.rows[self.begins], np.arange(self.X.shape[0] + 1))

    @property
    def ends(self) -> np.ndarray:
        """The pairs of subgraph s are those from ``[s]`` to ``[s + 1]``."""
        return np.append(self.begins, len(self.rows))

    def hinges(self, scores: np.ndarray) -> np.ndarray:
        """The largest of every subgraph, from scores (n, d): margins that are missing."""
        missing = np.maximum(0.0, self.margin - self.margins(scores))
        return self._sum(missing, np.maximum)

    @cached_property
    def weights(self) -> Any:
        """w_i / (W S_i ln 2) for every subgraph, W = sum of w_i: the logarithm is to base two."""
        of_row = self.rows[self.begins]
        n_subgraphs = np.bincount(of_row, minlength=self.X.shape[0])
        w = np.ones(len(n_subgraphs)) if self.row_weight is None else self.row_weight
        total = w[n_subgraphs > 0].sum()
        return w[of_row] / (max(total, np.finfo(float).tiny) * n_subgraphs[of_row] * np.log(2.0))

    def _sum(self, values: np.ndarray, join: np.ufunc = np.add) -> np.ndarray:
        """Sums over the preferences of every subgraph."""
        return values if len(self.begins) == len(values) else join.reduceat(values, self.begins)

    def evaluate(self, scores: np.ndarray) -> tuple[float, np.ndarray]:
        """The loss, and what share of its subgraph's slope each preference has."""
        gaps = -self.margins(scores)
        top = np.maximum(0.0, self._sum(gaps, np.maximum))  # no exponential overflows
        powers = np.exp(gaps - top[self.owner])
        sums = np.exp(-top) + self._sum(powers)
        return float(self.weights @ (top + np.log(sums))), powers / sums[self.owner]

    def gradient(self, shares: np.ndarray) -> np.ndarray:
        """Of the loss with respect to scores; shape (n, d)."""
        parts, shape = self.weights[self.owner] * shares, (self.X.shape[0], self.n_items)
        better, worse = (np.bincount(at, parts, math.prod(shape)) for at in self.indices)
        return (worse - better).reshape(shape)

    def derivatives(self, shares: np.ndarray, direction: np.ndarray) -> tuple[float, float]:
        """First and second derivative of the loss along ``direction`` (n, d)."""
        slopes = -self.margins(direction)
        mean, square = self._sum(shares * slopes), self._sum(shares * slopes**2)
        return float(self.weights @ mean), float(self.weights @ (square - mean**2))
