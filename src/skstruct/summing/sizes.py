# SPDX-License-Identifier: BSD-3-Clause
"""Laws of label sets in which what a label scores depends on the size of its set."""

from __future__ import annotations

import numpy as np

from skstruct.summing.base import Law
from skstruct.summing.choices import ChoiceLaw
from skstruct.summing.sized import SizedLaw


class SizesLaw(Law):
    r"""A size is drawn, then a set of that size: :math:`\psi(z) = (z_j 1[|z| = s])_{j, s}`.

    One :class:`.sized.SizedLaw` for every size, mixed by their sums :math:`Z_s`: O(d^3) for
    every row. Entry ``j * d + s - 1`` stands for label j in a set of s labels, the last one for
    the empty set.

    Parameters
    ----------
    scores : array of shape (n, d * d + 1)
    low, high, steps, smallest, largest
        As for :class:`.sized.SizedLaw`.

    Examples
    --------
    >>> steps = np.arange(2), np.arange(1, 3), np.arange(1, 3)
    >>> scores = np.log([[1.0, 2.0, 1.0, 2.0, 3.0]])  # of two labels: 1 alone, 2 together
    >>> law = SizesLaw(scores, np.zeros((1, 2), bool), np.ones((1, 2), bool), steps, 0, 2)
    >>> np.exp(law.log_partition).round(12)  # 3 + 1 + 1 + 2 * 2
    array([9.])
    >>> (9 * law.marginals()).round(12)
    array([[1., 4., 1., 4., 3.]])
    """

    def __init__(self, scores, low, high, steps, smallest: int, largest: int):
        n, self.d = len(scores), low.shape[1]
        d = self.d
        cube = scores[:, :-1].reshape(n, d, d)
        self.sizes = range(max(smallest, 1), min(largest, d) + 1)
        self.laws = [
            SizedLaw(np.ascontiguousarray(cube[:, :, s - 1]), low, high, steps, s, s)
            for s in self.sizes
        ]
        empty = np.where(low.any(axis=1) | (smallest > 0) | (largest < 0), -np.inf, scores[:, -1])
        sums = np.column_stack([*(law.log_partition for law in self.laws), empty])
        self.size_law = ChoiceLaw(sums)  # the last choice is the empty set
        self.log_partition = self.size_law.log_partition

    def marginals(self):
        chances, d = self.size_law.probabilities, self.d
        marginals = np.zeros((len(chances), d, d))
        for at, (s, law) in enumerate(zip(self.sizes, self.laws)):
            marginals[:, :, s - 1] = chances[:, at, None] * law.marginals()
        return np.hstack([marginals.reshape(len(chances), d * d), chances[:, -1:]])

    def sample(self, n, rng):
        drawn = self.size_law.sample(n, rng)
        outputs = np.zeros((*drawn.shape, self.d), np.int8)
        for at, law in enumerate(self.laws):
            wanted = drawn == at
            sets = law.sample(int(wanted.sum(axis=1).max(initial=0)), rng)
            row, draw = np.nonzero(wanted)
            outputs[row, draw] = sets[row, wanted.cumsum(axis=1)[row, draw] - 1]
        return outputs
