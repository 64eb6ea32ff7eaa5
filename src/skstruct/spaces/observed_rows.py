# SPDX-License-Identifier: BSD-3-Clause
"""What is observed where a cost is any function of it: rows of numbers, no outputs."""

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from skstruct._arrays.by_name import by_position
from skstruct._arrays.imports import is_pandas
from skstruct.saving import savable
from skstruct.spaces.base import BaseSpace
from skstruct.spaces.description import Description
from skstruct.spaces.known import Known
from skstruct.spaces.sklearn_target import SklearnTarget
from skstruct.spaces.solving import Solving, SolvingOfNumbers
from skstruct.spaces.targets import Targets


@savable
class ObservedRows(BaseSpace):
    """A plain table of numbers, such as demands or prices: (n, k), or (n,) for one column.

    Decisions are from another space; nothing is decided here.

    Parameters
    ----------
    columns : sequence, default=None
        Names of the columns, by which frames are read. Without them a frame of several columns is
        refused: it would be read by position.

    Examples
    --------
    >>> ObservedRows().validate([3.0, 4.0])
    array([[3.],
           [4.]])
    """

    embedding = "observations"
    labels_ = ()
    columns: Any = None  # of models saved before there were names

    def __init__(self, columns: Any = None) -> None:
        self.columns = columns

    def fit_validate(self, Y: Any) -> np.ndarray:
        return self.validate(Y)

    def validate(self, Y: Any) -> np.ndarray:
        """Finite numbers; float array of shape (n, k)."""
        if is_pandas(Y, "Series") or (is_pandas(Y, "DataFrame") and Y.shape[1] == 1):
            Y = Y.to_numpy()
        Y = by_position(Y, self.columns, what="y", used_by="Scenarios(columns=)")
        table = Y.toarray() if sparse.issparse(Y) else np.asarray(Y)
        try:
            rows = np.array(table, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"y holds rows of numbers; got {table.dtype}.") from None
        rows = rows[:, None] if rows.ndim == 1 else rows
        if rows.ndim != 2:
            raise ValueError(f"y holds a row of numbers for each sample; got shape {rows.shape}.")
        bad = np.argwhere(~np.isfinite(rows))
        if len(bad):
            row, column = bad[0]
            raise ValueError(
                f"y[{row}], column {column}, is {rows[row, column]}; observations are finite "
                "numbers."
            )
        return rows

    def embed(self, Z: np.ndarray) -> np.ndarray:
        return np.asarray(Z, dtype=np.float64)

    def contains(self, Z: np.ndarray) -> np.ndarray:
        return np.isfinite(self.embed(Z)).all(axis=1)

    def restore(self, Z: np.ndarray, index: Any = None) -> Any:
        if index is None:
            return np.asarray(Z)
        import pandas

        return pandas.DataFrame(np.asarray(Z), index=index)

    def rows(self, index: Any) -> Self:
        return self

    def argmin(self, costs: np.ndarray) -> Any:
        raise NotImplementedError("ObservedRows are observed; decisions are those of a space.")


Solving.at(ObservedRows, SolvingOfNumbers)


class TargetsOfObservations(Targets):
    """Numbers for which no output is right by itself."""

    __slots__ = ()

    def outputs_of(self, observed: np.ndarray) -> np.ndarray:
        raise NotImplementedError("What is right for an observation, only a solver knows.")


Targets.at(ObservedRows, TargetsOfObservations)


class KnownOfObservations(Known):
    """Observations are known as a whole: a cost is a function of all numbers."""

    __slots__ = ()

    def has_gaps(self, Y: Any) -> bool:
        return False

    def read(self, Y: Any, known: Any = None) -> Any:
        raise ValueError("Observations have to be known as a whole: leave other rows out.")


Known.at(ObservedRows, KnownOfObservations)


class DescriptionOfRows(Description):
    """Numbers that were observed."""

    __slots__ = ()
    part_words: ClassVar[tuple[str, str]] = ("number", "numbers")


Description.at(ObservedRows, DescriptionOfRows)
SklearnTarget.at(ObservedRows, "skstruct.spaces.sklearn_target:Quantities")
