# SPDX-License-Identifier: BSD-3-Clause
"""Rows of a table that a learner looks up by number."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone

from skstruct.encoding import TableEncoder
from skstruct.encoding.tables import Table
from skstruct.fitted import Fitted


class RowLearner(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Reads row numbers of a table; means and values come from the rows of training only.

    Parameters
    ----------
    table : Table
    learner : learner of this library
    scale : as in TableEncoder
    """

    def __init__(self, table: Table, learner: Any, scale: str = "standard") -> None:
        self.table = table
        self.learner = learner
        self.scale = scale

    def fit(self, X: Any, y: Any) -> Self:
        rows = self._rows(X)
        self.encoder_ = TableEncoder(self.scale).fit(rows)
        self.learner_ = clone(self.learner).fit(self.encoder_.transform(rows), y)
        return self

    def _rows(self, X: Any) -> Table:
        return self.table.rows(np.ravel(X))

    def predict(self, X: Any, *, loss: Any = None, restrict: dict[str, Any] | None = None) -> Any:
        options = {"loss": loss, "restrict": restrict}
        given = {key: value for key, value in options.items() if value is not None}
        return self.learner_.predict(self.encoder_.transform(self._rows(X)), **given)


Fitted.at(RowLearner, lambda model: Fitted.of(model.learner_))
