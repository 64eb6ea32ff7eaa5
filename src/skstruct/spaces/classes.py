# SPDX-License-Identifier: BSD-3-Clause
"""One class out of several, and outputs that are one name per row in the user's own form."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct._arrays.imports import is_pandas
from skstruct._arrays.memory import check_square_fits
from skstruct._arrays.rows import unit_vectors
from skstruct.solvers.k_best import cheapest, k_cheapest
from skstruct.spaces.base import (
    BaseSpace,
    Decoded,
    GivenWhole,
    check_feasible,
    check_k,
    decoded_or_infeasible,
)
from skstruct.spaces.common.covariances import Exchangeable
from skstruct.spaces.common.formats import (
    check_distinct,
    in_order,
    is_missing_name,
    plain_name,
    sorted_names,
    unknown_label,
)


class Classes(GivenWhole, BaseSpace):
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
    _learned: ClassVar[tuple[str, ...]] = ("labels_", "number_", "series_")

    def __init__(self, labels=None):
        self.labels = labels

    def fit(self, Y):
        values = self._column(Y)
        self._take(_distinct(values) if self.labels is None else self._given_names())
        self.series_ = (Y.name, Y.dtype) if is_pandas(Y, "Series") else None
        return self

    def _take(self, names: np.ndarray):
        self.__dict__.pop("_opened", None)
        self.labels_ = names
        self.number_ = {name: j for j, name in enumerate(names.tolist())}

    def _given_names(self) -> np.ndarray:
        check_distinct(self.labels, "Classes")
        return self._column(in_order(self.labels))

    def _is_given(self):
        return self.labels is not None

    def _open(self):
        self._take(self._given_names())
        self.series_ = None

    def _column(self, Y):
        values = np.asarray(Y)
        if values.dtype.kind in "US" and not all(isinstance(name, str) for name in Y):
            values = np.array(list(Y), dtype=object)  # NumPy would have made text of numbers
        if values.ndim == 2 and values.shape[1] == 1:
            values = values[:, 0]
        if values.ndim != 1:
            raise ValueError(
                f"Classes expects one label per sample; Y has shape {values.shape}. "
                "Use LabelSets for several labels per sample."
            )
        if len(values) == 0:
            raise ValueError("Classes: Y has no rows.")
        missing = is_missing(values)
        if missing.any():
            row = np.flatnonzero(missing)[0]
            raise ValueError(
                f"Classes: Y[{row}] is {values[row]}; None, NaN and infinity are not labels."
            )
        return values

    def validate(self, Y):
        """Class numbers of the labels in ``Y``; shape (n,)."""
        self._ready()
        names = self._column(Y).tolist()
        for i, name in enumerate(names):
            if name not in self.number_:
                raise ValueError(unknown_label(f"Y[{i}] is", name, self.number_, "Classes"))
        return np.array([self.number_[name] for name in names], dtype=np.int64)

    def restore(self, Z, index=None):
        self._ready()
        labels = self.labels_[np.asarray(Z)]
        if self.series_ is None:
            return labels
        import pandas

        name, dtype = self.series_
        dtype = holding(self.labels_, dtype)
        return pandas.Series(labels, index=index, name=name, dtype=dtype)

    def with_embedding(self, name, outputs=None, candidates=None):
        if candidates is None or name != self.embedding:
            return super().with_embedding(name, outputs)
        narrowed = copy.copy(self)
        narrowed.allowed_ = np.isin(self.listed_, candidates)
        return narrowed

    @property
    def listed_(self) -> np.ndarray:
        """All outputs in canonical form."""
        return np.arange(len(self.labels_))

    def embed(self, Z):
        return unit_vectors(Z, len(self.labels_))

    def contains(self, Z):
        return np.isin(Z, self.listed_)

    def _allowed_costs(self, costs):
        self._ready()
        costs = check_costs(costs, len(self.labels_), used_by=type(self).__name__)
        allowed = getattr(self, "allowed_", None)
        return costs if allowed is None else np.where(allowed, costs, np.inf)

    def argmin(self, costs):
        best, values = cheapest(self._allowed_costs(costs))
        return decoded_or_infeasible(best, values, values, self)

    def kbest(self, costs, k):
        """The ``k`` cheapest classes of every row; fewer when there are fewer classes."""
        k = check_k(k, type(self).__name__)
        order, values = k_cheapest(self._allowed_costs(costs), k)
        check_feasible(np.isfinite(values).any(axis=1), self)
        return Decoded(order, values, values)

    def law(self, scores):
        """Laws of the classes: a softmax of the scores themselves, (n, k)."""
        from skstruct.solvers.distributions import ChoiceLaw

        self._ready()
        scores, predicted = self._checked_scores(scores, len(self.listed_)), self._predicted()
        values = np.full(scores.shape, -np.inf)
        values[:, predicted] = scores[:, predicted]
        law = ChoiceLaw(values)
        check_feasible(np.isfinite(law.log_partition), self)
        return law

    def moves(self):
        """Any class follows any other."""
        from skstruct.solvers.proposals import ChoiceMoves

        self._ready()
        return ChoiceMoves(self._predicted(), np.asarray)

    def _predicted(self) -> np.ndarray:
        """Numbers of the classes that may be predicted."""
        listed, allowed = self.enumerate(), getattr(self, "allowed_", None)
        return listed if allowed is None else listed[allowed]

    def size(self):
        self._ready()
        return len(self.labels_)

    def log_size(self):
        return math.log(self.size())

    def mean_embedding(self):
        return np.full(len(self.labels_), 1.0 / len(self.labels_))

    def second_moment(self):
        check_square_fits(len(self.labels_), "The second moment", "covariance() needs no matrix.")
        return np.eye(len(self.labels_)) / len(self.labels_)

    def covariance(self):
        """Covariance of psi, I / k - 11' / k^2, by its two eigenspaces."""
        return Exchangeable(0.0, 1.0 / len(self.labels_), len(self.labels_))

    def enumerate(self, limit=None):
        return self.listed_

    def sample(self, n, rng):
        return np.random.default_rng(rng).integers(len(self.labels_), size=n)


def _distinct(values):
    """Sorted distinct labels; labels of several types in an order that is always the same."""
    try:
        return np.unique(values)
    except TypeError:
        names = sorted_names(set(values.tolist()))
        distinct = np.empty(len(names), dtype=object)
        distinct[:] = names
        return distinct


def holding(names: np.ndarray, dtype):
    """The type of a column of outputs, if it holds all names that may be predicted.

    Categories are widened: in the order of the names, if they are ordered. None where names
    would become others, such as 0.5 among whole numbers.
    """
    if isinstance(dtype, np.dtype):
        try:
            return dtype if (names.astype(dtype) == names).all() else None
        except (TypeError, ValueError):
            return None
    import pandas

    if isinstance(dtype, pandas.CategoricalDtype):
        known = dtype.categories.tolist()
        missing = [name for name in names.tolist() if name not in set(known)]
        if not missing:
            return dtype
        return pandas.CategoricalDtype(
            names if dtype.ordered else [*known, *missing], dtype.ordered
        )
    try:
        same = pandas.Series(names, dtype=dtype).to_numpy(dtype=object) == names
    except (TypeError, ValueError):
        return None
    return dtype if np.all(same) else None


def is_missing(values) -> np.ndarray:
    """Where a column has NaN, infinity, None or NA instead of a label; shape (n,)."""
    if values.dtype.kind == "f":
        return ~np.isfinite(values)
    if values.dtype == object:
        return np.fromiter(map(is_missing_name, values), bool, len(values))
    return np.zeros(len(values), bool)


# Outputs that are one name per row, in the user's own form: lists, arrays, series.


@dataclass(frozen=True)
class SingleNameForm:
    """How names were written: what ``write`` gives back."""

    kind: str = "array"  # "array", "series" or "categorical"
    dtype: Any = None
    name: Any = None  # of a series

    def write(self, numbers: np.ndarray, labels: tuple, index=None):
        """The names of these numbers in this form."""
        known = name_array(labels)
        names, dtype = known[numbers], None if self.dtype is None else holding(known, self.dtype)
        if self.kind == "array":
            return names if dtype is None else names.astype(dtype)
        import pandas

        if self.kind == "categorical":
            return pandas.Categorical(names, dtype=dtype)
        return pandas.Series(names, index=index, name=self.name, dtype=dtype)


def read_single_names(Y, *, used_by: str, what: str) -> tuple[list, SingleNameForm]:
    """The names in ``Y`` one by one, as Python's own objects, and the form they came in."""
    form = SingleNameForm()
    if is_pandas(Y, "DataFrame"):
        if Y.shape[1] != 1:
            raise ValueError(_not_one(Y, used_by, what))
        Y = Y.iloc[:, 0]
    if is_pandas(Y, "Series"):
        form = SingleNameForm("series", Y.dtype, Y.name)
    elif is_pandas(Y, "Categorical"):
        form = SingleNameForm("categorical", Y.dtype)
    elif isinstance(Y, np.ndarray):
        if Y.ndim == 2 and Y.shape[1] == 1:
            Y = Y[:, 0]
        if Y.ndim != 1:
            raise ValueError(_not_one(Y, used_by, what))
        form = SingleNameForm("array", Y.dtype if Y.dtype.kind in "biuf" else None)
    plain = Y.tolist() if hasattr(Y, "tolist") else list(Y)
    names = list(map(plain_name, plain))
    if not names:
        raise ValueError(f"{used_by}: Y has no rows.")
    column = np.empty(len(names), dtype=object)
    for i, name in enumerate(names):  # NumPy would look into tuples
        column[i] = name
    missing = np.flatnonzero(is_missing(column))
    if len(missing):
        raise ValueError(f"{used_by}: Y[{missing[0]}] is {names[missing[0]]}, not a {what}.")
    return names, form


def _not_one(Y, used_by: str, what: str) -> str:
    return (
        f"{used_by} expects one {what} per sample; Y has shape {np.shape(Y)}. "
        "Use LabelSets for several labels per sample."
    )


def numbers_of(names: list, labels: tuple, used_by: str) -> np.ndarray:
    """Positions of the names in ``labels``; int64 of shape (n,)."""
    number = {name: j for j, name in enumerate(labels)}
    for i, name in enumerate(names):
        try:
            known = name in number
        except TypeError:  # what cannot be hashed is no label
            known = False
        if not known:
            raise ValueError(unknown_label(f"Y[{i}] is", name, labels, used_by))
    return np.array([number[name] for name in names], dtype=np.int64)


def name_array(names: tuple) -> np.ndarray:
    """Names as an array of numbers or of text, else of objects: tuples stay tuples."""
    for kinds in ((str,), (bool,), (int,), (int, float)):
        if all(type(name) in kinds for name in names):
            return np.array(names)
    array = np.empty(len(names), dtype=object)
    for j, name in enumerate(names):
        array[j] = name
    return array
