# SPDX-License-Identifier: BSD-3-Clause
"""One row of inputs or outputs, however it was given."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skstruct._arrays.optional import is_pandas


def one_input(estimator, x):
    """One row that ``estimator`` takes without a word: with names if it was fitted with them."""
    if not hasattr(estimator, "predict_risk"):
        raise ValueError(
            f"The display draws predictions of a ConditionalRiskMinimizer, not of "
            f"{type(estimator).__name__}."
        )
    if np.ndim(x) == 2 and x.shape[0] != 1:
        raise ValueError(f"One row is drawn; got {x.shape[0]}.")
    if is_pandas(x, "DataFrame"):
        return x
    names = getattr(estimator, "feature_names_in_", None)
    if is_pandas(x, "Series") and names is not None and set(names) <= set(x.index):
        return x[list(names)].to_frame().T
    x = x.toarray() if sparse.issparse(x) else x
    X = np.asarray(x, dtype=np.float64).reshape(1, -1)
    if names is None or X.shape[1] != len(names):
        return X
    import pandas

    return pandas.DataFrame(X, columns=names)


def one_output(space, y):
    """One output in canonical form; a row of a frame is one, too."""
    if is_pandas(y, "DataFrame"):
        return space.validate(y)[0]
    if is_pandas(y, "Series"):
        return space.validate(y.to_frame().T)[0]
    return space.validate([y])[0]
