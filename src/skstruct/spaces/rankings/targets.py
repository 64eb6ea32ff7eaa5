# SPDX-License-Identifier: BSD-3-Clause
"""Targets of rankings: by how much one item is ahead of others, where ratings say that."""

from typing import Any

import numpy as np

from skstruct.spaces.rankings.space import EMBEDDINGS
from skstruct.spaces.targets import Targets


class TargetsOfRankings(Targets):
    """Rankings with ties and open ends, or ratings."""

    __slots__ = ()

    def targets(self, Y: Any) -> Any:
        """What training outputs are regressed as: by how much, where ratings say that."""
        scheme: Any = EMBEDDINGS[self.space.embedding]
        return scheme.targets(np.asarray(Y, dtype=np.float64))
