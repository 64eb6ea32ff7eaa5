# SPDX-License-Identifier: BSD-3-Clause
"""Weights of rows, checked alike for every version of scikit-learn."""

from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from skstruct._arrays.foreign import on_host


def check_sample_weight(sample_weight: Any, X: Any, dtype: Any = None) -> np.ndarray:
    """Weights as an array, ones if None; negative ones, and none but zeros, are refused.

    Examples
    --------
    >>> check_sample_weight(None, [[0], [1]])
    array([1., 1.])
    >>> check_sample_weight([0, 0], [[0], [1]])
    Traceback (most recent call last):
        ...
    ValueError: Sample weights must contain at least one non-zero number.
    """
    weight: np.ndarray = _check_sample_weight(
        on_host(sample_weight), X, dtype=dtype, ensure_non_negative=True
    )
    if not weight.any():  # scikit-learn does not ask for this before 1.9
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weight
