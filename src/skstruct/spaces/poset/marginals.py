# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities that an element, or one below it, is the one."""

from typing import Any, ClassVar

import numpy as np

from skstruct.spaces.common.renormalized import renormalized
from skstruct.spaces.marginals import Marginals


class MarginalsOfElements(Marginals):
    """Elements, each marked by itself and all below it."""

    __slots__ = ()
    losses: ClassVar[dict[str, str]] = {"labels": "hamming"}

    def condition(self, means: np.ndarray) -> np.ndarray:
        """Elements are as probable as means say that they are marked, and nothing below them."""
        chosen = np.linalg.solve(self.space.above_.T.astype(np.float64), means.T).T
        given = renormalized(np.maximum(chosen, 0.0), self.space.constraints_.allowed)
        return self.marked(given)

    def marked(self, probabilities: np.ndarray) -> Any:
        """Means of psi, given the probabilities of the elements; (n, d)."""
        return probabilities @ self.space.dag_.ancestors
