# SPDX-License-Identifier: BSD-3-Clause
"""One class out of several."""

from __future__ import annotations

import math

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct._arrays.optional import is_pandas
from skstruct.spaces.base import BaseSpace, Decoded
from skstruct.spaces.forms import unknown_label


class Classes(BaseSpace):
    r"""One of k classes, :math:`\psi(z) = e_z`: ordinary multi-class classification.

    Any loss matrix is bilinear here. Canonical outputs are class numbers.

    Parameters
    ----------
    labels : sequence, default=None
        Names of the classes; the sorted distinct values of ``Y`` when None.

    Examples
    --------
    >>> import numpy as np
    >>> space = Classes().fit(["cat", "dog", "cat"])
    >>> space.restore(space.argmin(np.array([[0.4, 0.1]])).outputs)
    array(['dog'], dtype='<U3')
    >>> space.kbest(np.array([[0.4, 0.1]]), 2).values
    array([[0.1, 0.4]])
    """

    embedding = "outputs"
    default_loss = "zero_one"

    def __init__(self, labels=None):
        self.labels = labels

    def fit(self, Y):
        values = self._column(Y)
        names = values if self.labels is None else self._column(self.labels)
        try:
            unique = np.unique(names)
        except TypeError:
            unique = np.array(
                sorted(set(names), key=lambda name: (type(name).__name__, repr(name))), dtype=object
            )
        self.labels_ = unique if self.labels is None else names
        self.series_ = Y.name if is_pandas(Y, "Series") else False
        self.number_ = {name: j for j, name in enumerate(self.labels_.tolist())}
        return self

    def _column(self, Y):
        values = np.asarray(Y)
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != 1:
            raise ValueError(
                f"Classes expects one label per sample; Y has shape {values.shape}. "
                "Use LabelSets for several labels per sample."
            )
        if len(values) == 0:
            raise ValueError("Classes: Y has no rows.")
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            row = np.flatnonzero(~np.isfinite(values))[0]
            raise ValueError(
                f"Classes: Y[{row}] is {values[row]}; NaN and infinity are not labels."
            )
        return values

    def validate(self, Y):
        """Class numbers of the labels in ``Y``; shape (n,)."""
        names = self._column(Y).tolist()
        for i, name in enumerate(names):
            if name not in self.number_:
                raise ValueError(unknown_label(f"Y[{i}] is", name, self.number_, "Classes"))
        return np.array([self.number_[name] for name in names], dtype=np.int64)

    def restore(self, Z, index=None):
        labels = self.labels_[np.asarray(Z)]
        if self.series_ is False:
            return labels
        import pandas

        return pandas.Series(labels, index=index, name=self.series_)

    @property
    def listed_(self) -> np.ndarray:
        """All outputs in canonical form."""
        return np.arange(len(self.labels_))

    def embed(self, Z):
        return np.eye(len(self.labels_))[np.asarray(Z)]

    def contains(self, Z):
        Z = np.asarray(Z)
        return (Z >= 0) & (len(self.labels_) > Z)

    def argmin(self, costs):
        costs = check_costs(costs, len(self.labels_), used_by="Classes")
        best = costs.argmin(axis=1)
        values = costs[np.arange(len(costs)), best]
        return Decoded(best, values, values)

    def kbest(self, costs, k):
        """The ``k`` cheapest classes of every row; fewer when there are fewer classes."""
        costs = check_costs(costs, len(self.labels_), used_by="Classes")
        order = np.argsort(costs, axis=1, kind="stable")[:, :k]
        values = np.take_along_axis(costs, order, axis=1)
        return Decoded(order, values, values)

    def size(self):
        return len(self.labels_)

    def log_size(self):
        return math.log(len(self.labels_))

    def mean_embedding(self):
        return np.full(len(self.labels_), 1.0 / len(self.labels_))

    def second_moment(self):
        return np.eye(len(self.labels_)) / len(self.labels_)

    def enumerate(self, limit=None):
        return self.listed_

    def sample(self, n, rng):
        return np.random.default_rng(rng).integers(len(self.labels_), size=n)
