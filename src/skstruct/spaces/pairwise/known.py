# SPDX-License-Identifier: BSD-3-Clause
"""Label sets known in part, under an embedding of labels and pairs of labels."""

import numpy as np

from skstruct.spaces.indicator_sets.known import KnownOfSets


class KnownOfPairs(KnownOfSets):
    """Labels, and products of pairs of them."""

    __slots__ = ()

    def targets(self, known: np.ndarray) -> np.ndarray | None:
        """A pair is known where both labels are."""
        first, second = self.space.edges_.T
        return np.hstack([known, known[:, first] & known[:, second]])
