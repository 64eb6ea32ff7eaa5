# SPDX-License-Identifier: BSD-3-Clause
"""What spaces of quantities share: outputs that are rows of numbers, in the user's own format."""

import copy
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from skstruct._arrays.checks import check_costs
from skstruct._arrays.imports import is_pandas
from skstruct.saving import require, savable
from skstruct.spaces.common.formats import about_gaps, check_distinct, match_columns
from skstruct.spaces.common.narrowing import one_or_more
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.coordinates import Coordinates, CoordinatesOfQuantities
from skstruct.spaces.description import Description
from skstruct.spaces.embeddings import Embeddings
from skstruct.spaces.given_whole import GivenWhole
from skstruct.spaces.known import Known
from skstruct.spaces.marginals import Marginals
from skstruct.spaces.sklearn_target import SklearnTarget
from skstruct.spaces.solving import Solving, SolvingOfQuantities
from skstruct.spaces.targets import Targets


@savable
@dataclass(frozen=True)
class QuantityFormat:
    """How quantities were written: what ``write`` gives back."""

    kind: str = "array"  # "array" (n, d), "vector" (n,), "frame" or "series"
    dtype: Any = np.float64
    columns: Any = None  # of a frame, in the user's order
    name: Any = None  # of a series

    def write(self, Z: np.ndarray, labels: tuple[Any, ...], index: Any = None) -> Any:
        """Canonical rows (n, d) in this format."""
        Z = np.asarray(Z).astype(self.dtype, copy=False)
        if self.kind == "array":
            return Z
        if self.kind == "vector":
            return Z[:, 0]
        import pandas

        if self.kind == "series":
            return pandas.Series(Z[:, 0], index=index, name=self.name)
        frame = pandas.DataFrame(Z, index=index, columns=list(labels))[list(self.columns)]
        frame.columns = self.columns
        return frame


def read_quantities(
    Y: Any, labels: tuple[Any, ...] | None, *, used_by: str
) -> tuple[np.ndarray, tuple[Any, ...], QuantityFormat]:
    """Finite numbers (n, d), the names of their columns, and the format they came in.

    Parameters
    ----------
    Y : numbers, one or several per row: array, list, series or frame
    labels : names of the columns, or None to take them from Y
    """
    if is_pandas(Y, "DataFrame"):
        if labels is None:
            labels = tuple(Y.columns)
        labels, ordered = match_columns(Y, labels, used_by)
        format = QuantityFormat("frame", _floating(ordered.to_numpy().dtype), Y.columns)
        return _finite(ordered.to_numpy(), labels, used_by), labels, format
    if sparse.issparse(Y):
        Y = Y.toarray()
    is_series = is_pandas(Y, "Series")
    values = _numbers(Y, used_by)
    format = QuantityFormat("array", _floating(values.dtype))
    if values.ndim == 1:
        kind = "series" if is_series else "vector"
        format = QuantityFormat(kind, format.dtype, name=Y.name if is_series else None)
        values = values[:, None]
    if values.ndim != 2 or values.shape[1] == 0:
        raise ValueError(
            f"{used_by} expects a row of numbers for each sample; Y has shape {values.shape}."
        )
    if labels is None:
        labels = tuple(range(values.shape[1]))
    if values.shape[1] != len(labels):
        raise ValueError(
            f"{used_by} expects {len(labels)} numbers in each row of Y; got shape {values.shape}."
        )
    return _finite(values, labels, used_by), tuple(labels), format


def _numbers(Y: Any, used_by: str) -> np.ndarray:
    try:
        values = np.asarray(Y)
    except ValueError:
        raise ValueError(f"{used_by}: the rows of Y differ in length.") from None
    if values.dtype.kind in "USO":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError):
            at, value = next((i, v) for i, v in np.ndenumerate(values) if not _is_number(v))
            position = ", ".join(map(str, at))
            raise ValueError(f"{used_by} expects numbers; Y[{position}] is {value!r}.") from None
    if values.dtype.kind in "mM":
        raise ValueError(f"{used_by} expects numbers; Y holds {values.dtype}: say in which unit.")
    if values.dtype.kind == "c":
        raise ValueError(f"{used_by}: Complex data not supported.")
    if len(np.atleast_1d(values)) == 0:
        raise ValueError(f"{used_by}: Y has no rows.")
    return np.atleast_1d(values)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return value is None  # becomes NaN
    return True


def _floating(dtype: Any) -> Any:
    return dtype if dtype == np.float32 else np.dtype(np.float64)


def _finite(values: np.ndarray, labels: tuple[Any, ...], used_by: str) -> np.ndarray:
    try:
        values = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{used_by} expects numbers in all columns of Y.") from None
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        row, column = bad[0]
        gaps = np.flatnonzero(np.isnan(values).any(axis=1))
        hint = about_gaps(gaps) if len(gaps) else ""
        where = f"Y[{row}]" if len(labels) == 1 else f"Y[{row}], column {labels[column]!r},"
        raise ValueError(
            f"{used_by}: {where} is {values[row, column]}; NaN and infinity are not quantities. "
            f"{hint}".rstrip()
        )
    return values


class QuantitySpace(GivenWhole):
    """Rows of numbers (n, d) within some set.

    Embeddings, with m the mean of the outputs seen in ``fit`` (so that large outputs of
    small spread lose no digits):

    - ``"coordinates"``: psi(z) = z, costs (n, d);
    - ``"squares"``: psi(z) = (z - m, (z - m)^2), costs (n, 2d) = [b | a], for the squared loss.

    A child brings ``_linear(costs)`` and ``_quadratic(a, b)``, which minimize <c, z> and
    sum_j a_j z_j^2 + b_j z_j for signs of any kind, ``minimize(curves)`` for any other sum
    over coordinates, ``contains``, and perhaps ``_check_inside`` and ``_learn``. Each
    returns Decoded with values and valid bounds.
    """

    embedding = "coordinates"
    default_loss = "squared"
    labels: Any = None
    _learned: ClassVar[tuple[str, ...]] = ("labels_", "format_", "mean_")
    variance_: Any = None  # of outputs that were learned from, if there were any
    constraints_: Any = None  # limits that may differ from row to row, with ``n_rows`` and ``rows``

    # ------------------------------------------------------------- the user's format
    def fit(self, Y: Any) -> Self:
        """Learn names, form and scale of the outputs."""
        self._fit(Y)
        return self

    def fit_validate(self, Y: Any) -> np.ndarray:
        Z = self._fit(Y)
        self._check_inside(Z)
        return Z

    def _fit(self, Y: Any) -> np.ndarray:
        self.__dict__.pop("_opened", None)
        Z, self.labels_, self.format_ = self._read(Y, self._given_labels())
        check_distinct(self.labels_, type(self).__name__)
        self.mean_, self.variance_ = Z.mean(axis=0), Z.var(axis=0)
        self._learn(Z)
        return Z

    def fit_costs(self, costs: Any) -> Self:
        """Names of the columns, where labels are open; decisions come in frames where costs do."""
        zeros = np.zeros((1, costs.shape[1]))
        if is_pandas(costs, "DataFrame"):
            zeros = type(costs)(zeros, columns=costs.columns)
        self.__dict__.pop("_opened", None)
        Z, self.labels_, self.format_ = self._read(zeros, self._names_alone())
        check_distinct(self.labels_, type(self).__name__)
        self.mean_, self.variance_ = Z[0], Z[0].copy()
        self._learn(Z[:0])
        return self

    def _read(
        self, Y: Any, labels: tuple[Any, ...] | None
    ) -> tuple[np.ndarray, tuple[Any, ...], Any]:
        """Outputs (n, d), the names of their coordinates, and their form."""
        return read_quantities(Y, labels, used_by=type(self).__name__)

    def _given_labels(self) -> tuple[Any, ...] | None:
        """Names of the coordinates, or None where the outputs of ``fit`` give them."""
        return None if self.labels is None else check_distinct(self.labels, type(self).__name__)

    def _keep_names(self) -> None:
        if self._given_labels() is None:
            self.labels = self.labels_

    def _learn(self, Z: np.ndarray) -> None:
        """What else is left open in the constructor; no rows where nothing is."""

    def _names_alone(self) -> tuple[Any, ...] | None:
        """Names of the coordinates where no outputs are needed to tell; else None."""
        return self._given_labels()

    def _is_given(self) -> bool:
        return self._names_alone() is not None

    def _open(self) -> None:
        self.labels_ = check_distinct(self._names_alone(), type(self).__name__)
        self.format_, self.mean_ = self._plain_form, np.zeros(len(self.labels_))
        self._learn(np.zeros((0, len(self.labels_))))

    _plain_form: Any = QuantityFormat()  # of outputs, where none were seen

    def validate(self, Y: Any) -> np.ndarray:
        """Outputs in canonical form: a float array of shape (n, d)."""
        self._ready()
        Z, _, _ = self._read(Y, self.labels_)
        self._check_inside(Z)
        return Z

    def _check_inside(self, Z: np.ndarray) -> None:
        """Raise where an output is outside the space."""

    def restore(self, Z: np.ndarray, index: Any = None) -> Any:
        """Canonical outputs in the format that was seen in ``fit``."""
        self._ready()
        return self.format_.write(Z, self.labels_, index)

    # ------------------------------------------------------------- model files
    def _check_saved(self) -> None:
        super()._check_saved()
        if "labels_" not in vars(self):  # not hasattr, which would open one that was not fitted
            return
        d = len(self.labels_)
        for name in ("mean_", "variance_", "low_", "high_"):
            part = getattr(self, name, None)
            fits = part is None or (isinstance(part, np.ndarray) and part.shape == (d,))
            require(fits, "a space of numbers of a wrong width")
        if self.constraints_ is not None:
            require(self.constraints_.n_columns == d, "limits that do not fit their space")

    # ------------------------------------------------------------- limits row by row
    def rows(self, index: Any) -> Self:
        self._ready()
        if self.constraints_ is None or self.constraints_.n_rows is None:
            return self
        return self._within(self.constraints_.rows(one_or_more(index)))

    def _within(self, constraints: Any) -> Self:
        """The same space within other limits."""
        other = copy.copy(self)
        other.constraints_ = constraints
        return other

    # ------------------------------------------------------------- embeddings
    def embed(self, Z: np.ndarray) -> np.ndarray:
        Z = np.asarray(Z, dtype=np.float64)
        if self.embedding == "coordinates":
            return Z
        centred = Z - self.mean_
        return np.hstack([centred, centred**2])

    # ------------------------------------------------------------- decoding
    def argmin(self, costs: Any) -> Decoded:
        self._ready()
        name, d = type(self).__name__, len(self.labels_)
        if self.embedding == "coordinates":
            return self._linear(check_costs(costs, d, used_by=name))
        costs = check_costs(costs, 2 * d, used_by=name)
        b, a = costs[:, :d], costs[:, d:]
        decoded = self._quadratic(a, b - 2 * a * self.mean_)
        centred = decoded.outputs - self.mean_
        values = (a * centred**2 + b * centred).sum(axis=1)
        # The gap is what is left of the certificate; shifting by the mean has no part in it.
        return Decoded(decoded.outputs, values, values - (decoded.values - decoded.bounds))

    def nearest(self, points: np.ndarray) -> np.ndarray:
        """The outputs that are nearest to points (n, d) of any numbers."""
        return self._quadratic(np.ones_like(points), -2.0 * points).outputs

    @abstractmethod
    def _linear(self, costs: np.ndarray) -> Decoded:
        """Minimize <c, z> over the set."""

    @abstractmethod
    def _quadratic(self, a: np.ndarray, b: np.ndarray) -> Decoded:
        """Minimize sum_j a_j z_j^2 + b_j z_j over the set; a and b (n, d), of any sign."""

    @abstractmethod
    def minimize(self, curves: Any) -> Decoded:
        """Minimize a sum over coordinates, given as curves (see ``decoding.curves``)."""


Solving.at(QuantitySpace, SolvingOfQuantities)
Coordinates.at(QuantitySpace, CoordinatesOfQuantities)
Targets.at(QuantitySpace, "skstruct.spaces.quantities.targets:TargetsOfQuantities")
Known.at(QuantitySpace, "skstruct.spaces.quantities.known:KnownOfQuantities")
Description.at(QuantitySpace, "skstruct.spaces.quantities.description:DescriptionOfQuantities")
Marginals.at(QuantitySpace, "skstruct.spaces.quantities.marginals:MeansOfQuantities")
SklearnTarget.at(QuantitySpace, "skstruct.spaces.sklearn_target:Quantities")
Embeddings.at(QuantitySpace, "skstruct.spaces.quantities.coordinates:EmbeddingsOfQuantities")
