# SPDX-License-Identifier: BSD-3-Clause
"""Whether rows are those that a model was fitted to."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skstruct._arrays.equal_rows import copied_rows
from skstruct.learners.inputs import read_inputs


def are_training_rows(model, X, y) -> bool:
    """Whether a model was fitted to these rows, in this order; an error where to some of them.

    Outputs are compared, and inputs where the model keeps them.
    """
    if X is None or y is None:
        return True  # the bounds say what they need
    truth, known = np.asarray(model.space_.validate(y)), np.asarray(model.outputs_)
    rows = getattr(model.smoother_, "X_fit_", None)
    given = None if rows is None else read_inputs(model, X, reset=False)
    if getattr(given, "shape", None) is None or hasattr(given, "tokens"):
        given = None
    if np.array_equal(truth, known, equal_nan=known.dtype.kind == "f") and (
        given is None or _same(given, rows)
    ):
        return True
    if given is not None and truth.shape[1:] == known.shape[1:]:
        _check_unseen(given, truth, rows, known)
    return False


def refuse_training_rows(trained: bool) -> None:
    """An error where a bound from held-out rows was asked for, and these are not."""
    if trained:
        raise ValueError(
            'bound="held_out": these are the rows of training; give rows that had no part in it.'
        )


def held_out_options(options) -> dict:
    """What a bound from held-out rows may be given."""
    unknown = set(options) - {"loss_bound"}
    if unknown:
        raise ValueError(
            f"certify: {', '.join(sorted(unknown))} belong to bounds from training rows; these "
            "rows are others, and take loss_bound only."
        )
    return {"loss_bound": options.get("loss_bound"), "used_by": "certify"}


def _same(A, B) -> bool:
    if A.shape != B.shape:
        return False
    return not (A != B).nnz if sparse.issparse(A) and sparse.issparse(B) else bool((A == B).all())


def _check_unseen(X, y, rows, outputs) -> None:
    """Refuse rows of training among others; where inputs are discrete, that cannot be told."""
    both = sparse.vstack([rows, X]) if sparse.issparse(X) else np.vstack([rows, X])
    number = copied_rows(both, np.concatenate([outputs, y]))
    if number is None:
        return
    seen = np.flatnonzero(np.isin(number[len(outputs) :], number[: len(outputs)]))
    if len(seen):
        raise ValueError(
            f"certify: row {seen[0]} of X and y is a row of training ({len(seen)} such rows). Give "
            "rows that had no part in training, or all rows of training and no others."
        )
