# SPDX-License-Identifier: BSD-3-Clause
"""Means over the outputs that each row allows."""

from collections.abc import Callable
from typing import Any

import numpy as np


class KnownParts:
    """Means of psi over outputs that are known in part."""

    constraints_: Any
    rows: Callable[[Any], Any]

    def uniform_means(self, n: int) -> np.ndarray:
        """Mean of psi over all outputs that each of n rows allows; shape (n, d).

        Of a sample of them, where these are many and cannot be counted.
        """
        from skstruct.spaces.common.uniform_means import mean_of_outputs

        if getattr(self.constraints_, "n_rows", None) is None:
            return np.repeat(mean_of_outputs(self)[None], n, axis=0)
        return np.array([mean_of_outputs(self.rows([i])) for i in range(n)])
