# SPDX-License-Identifier: BSD-3-Clause
"""Inputs that a smoother of the user's reads as they are: with gaps, categories or texts."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from skstruct._arrays.optional import is_pandas


def takes_raw_inputs(smoother) -> bool:
    """Whether what reads the inputs first says that it takes more than finite numbers.

    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from sklearn.linear_model import Ridge
    >>> takes_raw_inputs(RandomForestRegressor()), takes_raw_inputs(Ridge())
    (True, False)
    """
    if smoother is None:
        return False
    reader = _first_reader(smoother)
    if hasattr(reader, "transformers"):  # each of its columns has a reader of its own
        return True
    try:
        tags = get_tags(reader)
    except (AttributeError, TypeError):  # no estimator of scikit-learn
        return False
    inputs = tags.input_tags
    return tags.no_validation or inputs.allow_nan or inputs.categorical or inputs.string


def _first_reader(smoother):
    """The first step of a pipeline, and what others hand their inputs on to untouched."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor

    from skstruct.smoothing.classifiers import ClassifierMeans

    while True:
        if hasattr(smoother, "steps"):
            steps = [step for _, step in smoother.steps if step not in (None, "passthrough")]
            if not steps:
                return smoother
            smoother = steps[0]
        elif isinstance(smoother, (BaseSearchCV, MultiOutputClassifier, MultiOutputRegressor)):
            smoother = smoother.estimator
        elif isinstance(smoother, TransformedTargetRegressor) and smoother.regressor is not None:
            smoother = smoother.regressor
        elif isinstance(smoother, ClassifierMeans):
            smoother = smoother.classifier
        else:
            return smoother


def checked_raw(model, X, reset):
    """Inputs as they are, once names and number of features are those that the model knows.

    Frames stay frames; numbers may be missing, but not infinite; texts are an array of objects.
    """
    if is_pandas(X, "DataFrame"):
        if X.shape[0] == 0:
            raise ValueError("X has no rows.")
        validate_data(model, X, reset=reset, skip_check_array=True)
        return X
    if not sparse.issparse(X):
        X = _array(X)
        if X.ndim == 1 and len(X) and all(isinstance(text, str) for text in X):
            return X
    dtype = np.float64 if X.dtype.kind in "biuf" else None
    return validate_data(
        model, X, accept_sparse="csr", dtype=dtype, ensure_all_finite="allow-nan", reset=reset
    )


def _array(X) -> np.ndarray:
    """An array that makes no texts of numbers."""
    array = np.asarray(X)
    return np.asarray(X, dtype=object) if array.dtype.kind in "US" else array


def rows_of(X, rows: slice):
    """Some rows, by their numbers whatever their labels are."""
    return X.iloc[rows] if is_pandas(X, "DataFrame") else X[rows]
