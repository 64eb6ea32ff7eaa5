# SPDX-License-Identifier: BSD-3-Clause
"""Decisions from the scores of a counting learner."""

from __future__ import annotations

import copy

import numpy as np

from skstruct._arrays.equal_rows import equal_rows
from skstruct.learners.problem import RiskProblem
from skstruct.losses import pair


class CountingProblem(RiskProblem):
    """Outputs of the largest score; under a loss, those of least risk by mean embeddings.

    Parameters
    ----------
    space : fitted space
    loss : loss
        What predictions are judged by.
    outputs : array (M, ...)
        Correct outputs of training in canonical form.
    row : int array (M,)
        The example of each, sorted.
    mean, covariance
        Moments of the space that is counted.
    """

    n_features = 0  # numbers that a row is turned into before it is scored: kernel values too

    def __init__(self, space, loss, outputs, row, mean, covariance):
        self.scored = self.space = space
        self.outputs, self.row = outputs, row
        self.mean, self.covariance = mean, covariance
        self.width = len(mean)
        _, self.loss = pair(loss, space, outputs)
        self.by_loss = False

    def judged_by(self, loss):
        """The same scores, turned into means of psi and decided under a loss."""
        judged = copy.copy(self)
        judged.space, judged.loss = pair(loss, self.scored, self.outputs)
        if judged.space.embedding != self.scored.embedding:
            raise ValueError(
                f"{type(loss).__name__} is bilinear in {judged.space.embedding}; CountingRidge "
                f"estimates means of {self.scored.embedding} only. Predict without a loss, give "
                "the constructor the loss to score by, or use ConditionalRiskMinimizer."
            )
        judged.by_loss = True
        return judged

    # ------------------------------------------------------------------ training
    @property
    def first_outputs(self) -> np.ndarray:
        """One correct output of every example."""
        return self.outputs[np.flatnonzero(np.diff(self.row, prepend=-1))]

    def number_of_outputs(self) -> np.ndarray:
        """A number for each example, the same for those with the same correct outputs."""
        starts = np.searchsorted(self.row, np.arange(self.row[-1] + 2))
        number = equal_rows(self.outputs, starts=starts)
        return np.arange(len(starts) - 1) if number is None else number

    def losses_of(self, decided, rows) -> np.ndarray:
        """Losses against the nearest correct outputs of some training rows."""
        starts = np.searchsorted(self.row, rows)
        counts = np.searchsorted(self.row, rows, side="right") - starts
        at = np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        return nearest_losses(self.loss, decided, self.outputs[at], counts)

    # ------------------------------------------------------------------ predicting
    def smooth(self, smoother, X):
        return smoother.predict(X, with_total=self.by_loss)

    def means(self, scores) -> tuple[np.ndarray, np.ndarray]:
        """Sum of weighted embeddings (n, d) and total weight (n, 1) from scores (n, d + 1)."""
        total = scores[:, -1:].clip(min=0.0)  # no weight at all: the scores alone decide
        return self.covariance.apply(scores[:, :-1]) + total * self.mean, total

    def costs(self, means):
        if not self.by_loss:
            return np.ascontiguousarray(-means), np.zeros(len(means))
        g, total = self.means(means)
        return np.ascontiguousarray(self.loss.cost(g, total)), self.loss.offset(g, total)

    def bytes_per_row(self) -> int:
        return 8 * (6 * self.width + 3 * self.n_features)


def nearest_losses(loss, decided, truths, counts) -> np.ndarray:
    """Loss of each decision against the nearest of its ``counts`` correct outputs."""
    each = loss(np.repeat(decided, counts, axis=0), truths)
    return np.minimum.reduceat(each, np.cumsum(counts) - counts)
