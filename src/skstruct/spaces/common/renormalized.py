# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities given that something allowed is chosen."""

import numpy as np

from skstruct.tolerances import SURE


def renormalized(probabilities: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Probabilities given that one of those allowed is chosen, which may have probability zero.

    Parameters
    ----------
    probabilities : array of shape (n, k), rows sum to one
    allowed : bool array of shape (1 or n, k)
    """
    kept = np.where(allowed, probabilities + SURE, 0.0)
    return kept / kept.sum(axis=1, keepdims=True)
