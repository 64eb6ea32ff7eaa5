# SPDX-License-Identifier: BSD-3-Clause
"""Which training examples speak for and against an output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class Explanation:
    """Weights of the training examples in the estimated risk of each row.

    The estimated risk of an output z is the sum of w_i loss(z, y_i): an example of
    positive weight pulls the prediction towards its own output, one of negative weight
    pushes it away.
    """

    weights: Any  # shape: (n_samples, n_train)
    losses: Any  # shape: (n_samples, n_train); of the prediction against each example

    def supporters(self, k: int = 5) -> np.ndarray:
        """Training rows of the largest positive weights; (n_samples, k), -1 beyond the last."""
        return self._top(self._dense(), k)

    def opponents(self, k: int = 5) -> np.ndarray:
        """Training rows of the most negative weights; (n_samples, k), -1 beyond the last."""
        return self._top(-self._dense(), k)

    def _dense(self):
        return self.weights.toarray() if sparse.issparse(self.weights) else self.weights

    @staticmethod
    def _top(scores, k):
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return np.where(np.take_along_axis(scores, order, axis=1) > 0, order, -1)
