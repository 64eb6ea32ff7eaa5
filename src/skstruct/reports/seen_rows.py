# SPDX-License-Identifier: BSD-3-Clause
"""What the reader must know before all else: above all, that rows were rows of training."""

from typing import Any

import numpy as np
from scipy import sparse

from skstruct.inspection.drawing import written
from skstruct.learners.inputs import read_inputs
from skstruct.reports.subject import known_rows, len_of_rows, table_of
from skstruct.tasks.row_digests import Overlap, overlap, remembered, row_digests

SEEN = "rows of training"  # what an overlap says


def warnings_of(subject: Any) -> list[str]:
    """Remarks that were given, and one where rows were rows of training, unless it is there."""
    said = [written(remark, 300) for remark in subject.options.get("remarks", ())]
    if any(SEEN in remark for remark in said):
        return said
    found = training_overlap(subject)
    return said if found is None else [str(found), *said]


def training_overlap(subject: Any) -> Overlap | None:
    """How many rows of the report were rows of training, if more than are alike by chance; None
    where they were not, or nothing tells.

    Compared are ``X_train``, where it was given, and the inputs that a learner keeps.
    """
    given = subject.options.get("X_train")
    try:
        if given is not None:
            pair = _comparable(table_of(known_rows(given))), _comparable(subject.X)
        else:
            pair = _kept(subject)
        if pair[0] is None or pair[1] is None:
            return None
        found = overlap(remembered(row_digests(pair[0])), row_digests(pair[1]))
    except (TypeError, ValueError, AttributeError):  # inputs that have no digests
        return None
    return found if found.is_remarkable else None


def _kept(subject: Any) -> tuple[Any, Any]:
    """Inputs that the learner keeps from training, and those of the report as it reads them."""
    rows = subject.fitted.kept_inputs
    if rows is None or subject.fitted.tokens is not None:
        return None, None
    if len_of_rows(rows) == 0:
        return None, None
    return _comparable(rows), _comparable(read_inputs(subject.learner, subject.inner))


def _comparable(X: Any) -> Any:
    """Rows of numbers, or texts; None for what cannot be compared."""
    if sparse.issparse(X):
        return X
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if isinstance(X, (list, tuple)):
        return [[(part,) for part in row] if isinstance(row, str) else row for row in X]
    X = np.asarray(X)
    return X.astype(np.float64) if X.ndim == 2 else None
