# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of numbers and of objects, as an encoder reads them."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data


def checked_array(encoder: Any, X: Any, *, reset: bool) -> Any:
    """An array of floats or of objects, or a CSR of floats, of the width that is known."""
    if not sparse.issparse(X):
        X = as_objects(X)
    X = validate_data(
        encoder, X, accept_sparse="csr", dtype=None, ensure_all_finite=False, reset=reset
    )
    if X.dtype == object:
        floats = as_floats(X)
        return X if floats is None else floats
    return X.astype(np.float64, copy=False)


def as_objects(X: Any) -> np.ndarray:
    """An array that makes no texts of numbers.

    >>> as_objects([["a", 1.5]])
    array([['a', 1.5]], dtype=object)
    """
    array = np.asarray(X)
    if array.dtype.kind in "mM":  # dates, and durations
        return array.astype(f"{array.dtype.kind}8[us]").astype(object)
    return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array


def as_floats(X: np.ndarray) -> np.ndarray | None:
    """An array of objects as floats, where all are numbers or texts of numbers; else None."""
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError):
        return None
