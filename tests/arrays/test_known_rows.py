# SPDX-License-Identifier: BSD-3-Clause
"""Rows for a fitted model are checked as scikit-learn checks them, with the same errors."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from skstruct._arrays.rows import known_rows

ROWS = {
    "plain": np.arange(6.0).reshape(3, 2),
    "turned": np.arange(6.0).reshape(2, 3).T,
    "narrow": np.ones((3, 2), np.float32),
    "whole": np.ones((3, 2), np.int64),
    "list": [[1.0, 2.0]],
    "sparse": sparse.csr_array(np.eye(2)),
    "nan": np.array([[1.0, np.nan]]),
    "infinite": np.array([[1.0, np.inf], [1.0, -np.inf]]),
    "large": np.full((3, 2), 1e308),
    "wide": np.ones((3, 5)),
    "flat": np.ones(2),
    "none": np.empty((0, 2)),
    "texts": np.array([["a", "b"]]),
}


class Fitted(BaseEstimator):
    def __init__(self, names=False):
        self.n_features_in_ = 2
        if names:
            self.feature_names_in_ = np.array(["a", "b"], dtype=object)


def outcome(call, *arguments, **options):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = call(*arguments, **options)
            found = found.toarray() if sparse.issparse(found) else found
            result = (found.dtype, found.flags.c_contiguous, found.tolist())
        except ValueError as error:
            result = str(error)
    return repr((result, [str(warning.message) for warning in told]))


@pytest.mark.parametrize("finite", [True, "allow-nan"])
@pytest.mark.parametrize("names", [False, True])
@pytest.mark.parametrize("rows", ROWS)
def test_as_scikit_learn_checks_them(rows, names, finite):
    options = {"accept_sparse": "csr", "dtype": np.float64, "ensure_all_finite": finite}
    model, X = Fitted(names), ROWS[rows]
    expected = outcome(validate_data, model, X, reset=False, **options)
    assert outcome(known_rows, model, X, **options) == expected
