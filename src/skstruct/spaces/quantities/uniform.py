# SPDX-License-Identifier: BSD-3-Clause
"""Uniform draws of rows of numbers."""

import numpy as np

from skstruct.spaces.uniform import Seed, Uniform


class UniformOfBoxes(Uniform):
    """Numbers between limits, independent of each other."""

    __slots__ = ()

    def sample(self, n: int, rng: Seed = None) -> np.ndarray:
        """Uniform points between the limits, which must be finite; shape (n, d)."""
        width = len(self.space.labels_)
        constraints = self._one_row()
        for side, word in ((constraints.low[0], "low"), (constraints.high[0], "high")):
            endless = np.flatnonzero(~np.isfinite(side))
            if len(endless):
                raise ValueError(
                    f"{type(self.space).__name__}: a uniform sample needs finite limits; {word} is "
                    f"infinite{self.space._column(endless[0])}. Give it, or restrict({word}=...)."
                )
        share = np.random.default_rng(rng).random((n, width))
        return np.clip(
            (1 - share) * constraints.low + share * constraints.high,
            constraints.low,
            constraints.high,
        )


class UniformOfSimplices(Uniform):
    """Histograms, all equally likely."""

    __slots__ = ()

    def sample(self, n: int, rng: Seed = None) -> np.ndarray:
        """Dirichlet(1, ..., 1) times the total; shape (n, d)."""
        shares = np.random.default_rng(rng).standard_exponential((n, len(self.space.labels_)))
        return shares * (self.space.total / shares.sum(axis=1, keepdims=True))


class UniformOfSpheres(Uniform):
    """Directions, all equally likely."""

    __slots__ = ()

    def sample(self, n: int, rng: Seed = None) -> np.ndarray:
        """Uniform directions; shape (n, d)."""
        points = np.random.default_rng(rng).standard_normal((n, len(self.space.labels_)))
        return points / np.linalg.norm(points, axis=1, keepdims=True)
