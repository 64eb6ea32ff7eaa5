# SPDX-License-Identifier: BSD-3-Clause
"""One class out of several."""

import copy
import math
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np

from skstruct._arrays.checks import check_costs
from skstruct._arrays.imports import is_pandas
from skstruct._arrays.memory import check_square_fits
from skstruct._arrays.rows import unit_vectors
from skstruct.saving import savable
from skstruct.spaces.base import check_k, decoded_or_infeasible
from skstruct.spaces.common.covariances import Covariance, Exchangeable
from skstruct.spaces.common.formats import (
    about_gaps,
    check_distinct,
    check_writable,
    holding,
    in_order,
    is_missing,
    refuse_empty,
    sorted_names,
    unknown_label,
)
from skstruct.spaces.common.narrowing import one_or_more
from skstruct.spaces.constraints import check_feasible
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.coordinates import Coordinates
from skstruct.spaces.description import Description
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.given_whole import GivenWhole
from skstruct.spaces.inference import Inference
from skstruct.spaces.known import Known
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.sklearn_target import SklearnTarget
from skstruct.spaces.solvers.k_best import k_min_cost, min_cost
from skstruct.spaces.solving import Solving
from skstruct.spaces.targets import Targets


@savable
class Classes(GivenWhole):
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
    default_loss: Any = "zero_one"
    labels_: Any  # array of names
    series_: tuple[Any, ...] | None
    allowed_: np.ndarray | None = None  # those that may be predicted, (k,) or by row; None for all
    _learned: ClassVar[tuple[str, ...]] = ("labels_", "number_", "series_")
    _named_by: ClassVar = {"labels": "labels_"}

    def __init__(self, labels: Iterable[Any] | None = None) -> None:
        self.labels = labels

    def fit(self, Y: Any) -> Self:
        self._fit(Y)
        return self

    def fit_validate(self, Y: Any) -> np.ndarray:
        return self._numbers(self._fit(Y))

    def _fit(self, Y: Any) -> np.ndarray:
        """The labels that were read, once all is learned from them; shape (n,)."""
        values = self._column(Y)
        self._take(_distinct(values) if self.labels is None else self._given_names())
        self.series_ = (Y.name, Y.dtype) if is_pandas(Y, "Series") else None
        return values

    def _take(self, names: np.ndarray) -> None:
        self.__dict__.pop("_opened", None)
        self.labels_ = names
        self.number_ = {name: j for j, name in enumerate(names.tolist())}

    def _given_names(self) -> np.ndarray:
        check_distinct(self.labels, "Classes")
        return self._column(in_order(self.labels))

    def _is_given(self) -> bool:
        return self.labels is not None

    def _open(self) -> None:
        self._take(self._given_names())
        self.series_ = None

    def _column(self, Y: Any) -> np.ndarray:
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
        refuse_empty(values, "Classes")
        missing = is_missing(values)
        if missing.any():
            row = np.flatnonzero(missing)[0]
            raise ValueError(
                f"Classes: Y[{row}] is {values[row]}; None, NaN and infinity are not labels. "
                f"{about_gaps(np.flatnonzero(missing))}"
            )
        return values

    def validate(self, Y: Any) -> np.ndarray:
        """Class numbers of the labels in ``Y``; shape (n,)."""
        self._ready()
        return self._numbers(self._column(Y))

    def among(self, allowed: np.ndarray) -> Self:
        """The same classes, of which row i may be those of row i of a mask (n, k)."""
        narrowed = copy.copy(self)
        narrowed.allowed_ = allowed
        return narrowed

    def rows(self, index: Any) -> Self:
        allowed = self.allowed_
        if allowed is None or allowed.ndim == 1:
            return self
        return self.among(allowed[one_or_more(index)])

    def uniform_means(self, n: int) -> np.ndarray:
        allowed = np.ones(len(self.listed_), bool) if self.allowed_ is None else self.allowed_
        allowed = np.atleast_2d(allowed)
        means: np.ndarray = allowed / allowed.sum(axis=1, keepdims=True)
        if means.shape[1] < len(self.listed_):  # outputs that are known but never predicted
            means = np.pad(means, [(0, 0), (0, len(self.listed_) - means.shape[1])])
        return np.array(np.broadcast_to(means, (n, means.shape[1])))

    def _numbers(self, values: np.ndarray) -> np.ndarray:
        names = values.tolist()
        for i, name in enumerate(names):
            if name not in self.number_:
                raise ValueError(unknown_label(f"Y[{i}] is", name, self.number_, "Classes"))
        return np.array([self.number_[name] for name in names], dtype=np.int64)

    def restore(self, Z: np.ndarray, index: Any = None) -> Any:
        self._ready()
        labels = self.labels_[np.asarray(Z)]
        if self.series_ is None:
            return labels
        import pandas

        name, dtype = self.series_
        dtype = holding(self.labels_, dtype)
        return pandas.Series(labels, index=index, name=name, dtype=dtype)

    @property
    def listed_(self) -> np.ndarray:
        """All outputs in canonical form."""
        return np.arange(len(self.labels_))

    def embed(self, Z: np.ndarray) -> Any:
        return unit_vectors(Z, len(self.labels_))

    def all_outputs(self, most: int) -> np.ndarray:
        allowed = self.allowed_
        return self.enumerate() if allowed is None else self.enumerate()[allowed]

    def contains(self, Z: Any) -> np.ndarray:
        Z, allowed = np.asarray(Z), self.allowed_
        if allowed is None:
            return np.isin(Z, self.listed_)
        return ((Z[:, None] == self.listed_) & allowed).any(axis=1)

    def _allowed_costs(self, costs: np.ndarray) -> np.ndarray:
        self._ready()
        costs = check_costs(costs, len(self.labels_), used_by=type(self).__name__)
        allowed = self.allowed_
        return costs if allowed is None else np.where(allowed, costs, np.inf)

    def argmin(self, costs: np.ndarray) -> Decoded:
        best, values = min_cost(self._allowed_costs(costs))
        return decoded_or_infeasible(best, values, values, self)

    def kbest(self, costs: np.ndarray, k: int) -> Decoded:
        """The ``k`` minimum-cost classes of every row; fewer when there are fewer classes."""
        k = check_k(k, type(self).__name__)
        order, values = k_min_cost(self._allowed_costs(costs), k)
        check_feasible(np.isfinite(values).any(axis=1), self)
        return Decoded(order, values, values)

    def _predicted(self) -> np.ndarray:
        """Numbers of the classes that may be predicted."""
        listed, allowed = self.enumerate(), self.allowed_
        return listed if allowed is None else listed[allowed]

    def size(self) -> int:
        self._ready()
        return len(self.labels_)

    def log_size(self) -> float:
        return math.log(self.size())

    def mean_embedding(self) -> np.ndarray:
        return np.full(len(self.labels_), 1.0 / len(self.labels_))

    def second_moment(self) -> np.ndarray:
        check_square_fits(len(self.labels_), "The second moment", "covariance() needs no matrix.")
        return np.eye(len(self.labels_)) / len(self.labels_)

    def covariance(self) -> Covariance:
        """Covariance of psi, I / k - 11' / k^2, by its two eigenspaces."""
        return Exchangeable(0.0, 1.0 / len(self.labels_), len(self.labels_))

    def enumerate(self, limit: int | None = None) -> np.ndarray:
        return self.listed_

    def sample(self, n: int, rng: np.random.Generator | int | None) -> np.ndarray:
        return np.random.default_rng(rng).integers(len(self.labels_), size=n)


def _distinct(values: np.ndarray) -> np.ndarray:
    """Sorted distinct labels; labels of several types in an order that is always the same."""
    try:
        distinct = np.unique(values)
        if distinct.dtype.kind in "OU":
            check_writable(distinct.tolist())
        return distinct
    except TypeError:
        names = sorted_names(set(values.tolist()))
        distinct = np.empty(len(names), dtype=object)
        distinct[:] = names
        return distinct


Solving.at(Classes, "skstruct.spaces.classes.solving:SolvingOfClasses")
Coordinates.at(Classes, "skstruct.spaces.classes.coordinates:CoordinatesOfClasses")
Known.at(Classes, "skstruct.spaces.classes.known:KnownOfClasses")
Description.at(Classes, "skstruct.spaces.classes.description:DescriptionOfClasses")
Marginals.at(Classes, "skstruct.spaces.classes.marginals:MarginalsOfClasses")
SklearnTarget.at(Classes, "skstruct.spaces.sklearn_target:OneClass")
Embeddings.at(Classes, "skstruct.spaces.classes.coordinates:EmbeddingsOfClasses")
Targets.at(Classes, "skstruct.spaces.classes.targets:TargetsOfClasses")
Inference.at(Classes, "skstruct.spaces.classes.inference:InferenceOfClasses")
