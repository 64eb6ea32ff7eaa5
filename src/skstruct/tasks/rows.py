# SPDX-License-Identifier: BSD-3-Clause
"""A learner that is trained on rows of a table, encoded by these rows alone."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, clone

from skstruct.tasks.table_encoder import TableEncoder


class RowLearner(BaseEstimator):
    """Reads row numbers of a table; means and values come from the rows of training only.

    Parameters
    ----------
    table : Table
    learner : learner of this library
    scale : as in TableEncoder
    """

    def __init__(self, table, learner, scale="standard"):
        self.table = table
        self.learner = learner
        self.scale = scale

    def fit(self, X, y):
        rows = self._rows(X)
        self.encoder_ = TableEncoder(self.scale).fit(rows)
        self.learner_ = clone(self.learner).fit(self.encoder_.transform(rows), y)
        return self

    def _rows(self, X):
        return self.table.rows(np.ravel(X))

    def predict(self, X, *, loss=None, restrict=None):
        options = {"loss": loss, "restrict": restrict}
        given = {key: value for key, value in options.items() if value is not None}
        return self.learner_.predict(self.encoder_.transform(self._rows(X)), **given)

    def __getattr__(self, name):
        if name in ("space_", "loss_", "outputs_") and "learner_" in self.__dict__:
            return getattr(self.learner_, name)
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
