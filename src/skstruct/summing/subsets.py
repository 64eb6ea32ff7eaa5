# SPDX-License-Identifier: BSD-3-Clause
"""Laws of label sets in which every label is a coin by itself."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.special import expit

from skstruct.summing.base import Law

MANY = 1000  # numbers up to 2 whose product is a number


class SubsetsLaw(Law):
    r"""All subsets of d labels: each is in with chance :math:`1 / (1 + e^{-u_j})`.

    :math:`\ln Z = \sum_j \ln(1 + e^{u_j})`; labels that must be in add :math:`u_j` instead,
    those that may not be in add nothing.

    Parameters
    ----------
    scores : array u of shape (n, d)
    low, high : bool arrays of shape (1 or n, d)
        Labels that must be in and that may be in. A row in which a label must and may not be
        in has ln Z = -inf.

    Examples
    --------
    >>> law = SubsetsLaw(np.log([[3.0, 1.0]]), np.zeros((1, 2), bool), np.ones((1, 2), bool))
    >>> np.exp(law.log_partition).round(12), law.marginals()
    (array([8.]), array([[0.75, 0.5 ]]))
    """

    def __init__(self, scores, low, high):
        self.scores, self.low, self.high = scores, low, high
        if low.any() or not high.all():
            without, having = np.where(low, -np.inf, 0.0), np.where(high, scores, -np.inf)
            self.log_partition = np.logaddexp(without, having).sum(axis=1)
        else:
            self.log_partition = np.maximum(scores, 0.0).sum(axis=1) + self._log_both()

    @cached_property
    def _small(self) -> np.ndarray:
        """exp(-|u|), which both sums and chances are made of; shape (n, d)."""
        return np.exp(-np.abs(self.scores))

    def _log_both(self) -> np.ndarray:
        """Sums of ln(1 + exp(-|u|)): one logarithm for up to a thousand labels."""
        both = self._small + 1.0
        parts = [both[:, start : start + MANY] for start in range(0, both.shape[1], MANY)]
        return sum((np.log(part.prod(axis=1)) for part in parts), np.zeros(len(both)))

    def marginals(self):
        if not self.low.any() and self.high.all():
            return np.where(self.scores > 0.0, 1.0, self._small) / (1.0 + self._small)
        return np.where(self.low, 1.0, np.where(self.high, expit(self.scores), 0.0))

    def sample(self, n, rng):
        chances = self.marginals()[:, None, :]
        outputs = np.empty((len(chances), n, chances.shape[2]), np.int8)
        for row, chance in enumerate(chances):  # one row of coins at a time in memory
            outputs[row] = rng.random(outputs.shape[1:]) < chance
        return outputs
