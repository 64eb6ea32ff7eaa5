# SPDX-License-Identifier: BSD-3-Clause
"""Means of quantities."""

from typing import ClassVar

import numpy as np

from skstruct.spaces.marginals import Marginals


class MeansOfQuantities(Marginals):
    """Numbers, in place of probabilities: their means, where all outputs are."""

    __slots__ = ()
    losses: ClassVar[dict[str, str]] = {"means": "squared"}

    def parts(self) -> tuple[str, ...]:
        return tuple(self.losses) if self.space.embedding in ("coordinates", "squares") else ()

    def coherent(self, means: np.ndarray) -> np.ndarray:
        """The nearest quantities of the set."""
        d = len(self.space.labels_)
        centre = 0.0 if self.space.embedding == "coordinates" else self.space.mean_
        return self.space.nearest(means[:, :d] + centre)


class NoMeansOfQuantities(MeansOfQuantities):
    """Sets with no means of their own: of a sphere they are inside, where no output is."""

    __slots__ = ()
    losses: ClassVar[dict[str, str]] = {}
