# SPDX-License-Identifier: BSD-3-Clause
"""Preferences cut into subgraphs, and the logarithmic loss of these."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skstruct.learners.reductions import PreferenceReduction, Preferences


@dataclass(frozen=True)
class SubgraphReduction(PreferenceReduction):
    """Preferences of a row, cut into subgraphs: single pairs, or pairs of one better item."""

    decomposition: str = "pairs"

    def apply(self, X, Z):
        found = super().apply(X, Z)
        order = np.lexsort((found.worse, found.better, found.rows))
        rows, better, worse = found.rows[order], found.better[order], found.worse[order]
        fresh = np.ones(len(rows), bool)
        if self.decomposition == "items":
            fresh[1:] = (rows[1:] != rows[:-1]) | (better[1:] != better[:-1])
        begins = np.flatnonzero(fresh)
        return Subgraphs(X, rows, better, worse, found.n_items, begins, fresh.cumsum() - 1)


@dataclass(frozen=True)
class Subgraphs(Preferences):
    """Preferences with the subgraph of each: the loss that boosting lowers."""

    begins: np.ndarray  # first preference of every subgraph
    owner: np.ndarray  # subgraph of every preference
    row_weight: np.ndarray | None = None  # shape (n,), ones when None

    @cached_property
    def weights(self) -> np.ndarray:
        """w_i / (W S_i ln 2) for every subgraph, W = sum of w_i: the logarithm is to base two."""
        of_row = self.rows[self.begins]
        n_subgraphs = np.bincount(of_row, minlength=self.X.shape[0])
        w = np.ones(len(n_subgraphs)) if self.row_weight is None else self.row_weight
        total = w[n_subgraphs > 0].sum()
        return w[of_row] / (max(total, np.finfo(float).tiny) * n_subgraphs[of_row] * np.log(2.0))

    def _sum(self, values, join=np.add):
        """Sums over the preferences of every subgraph."""
        return values if len(self.begins) == len(values) else join.reduceat(values, self.begins)

    def evaluate(self, scores):
        """The loss, and what share of its subgraph's slope each preference has."""
        gaps = -self.margins(scores)
        top = np.maximum(0.0, self._sum(gaps, np.maximum))  # no exponential overflows
        powers = np.exp(gaps - top[self.owner])
        sums = np.exp(-top) + self._sum(powers)
        return float(self.weights @ (top + np.log(sums))), powers / sums[self.owner]

    def gradient(self, shares) -> np.ndarray:
        """Of the loss with respect to scores; shape (n, d)."""
        parts, shape = self.weights[self.owner] * shares, (self.X.shape[0], self.n_items)
        better, worse = (np.bincount(at, parts, math.prod(shape)) for at in self.places)
        return (worse - better).reshape(shape)

    def derivatives(self, shares, direction):
        """First and second derivative of the loss along ``direction`` (n, d)."""
        slopes = -self.margins(direction)
        mean, square = self._sum(shares * slopes), self._sum(shares * slopes**2)
        return float(self.weights @ mean), float(self.weights @ (square - mean**2))
