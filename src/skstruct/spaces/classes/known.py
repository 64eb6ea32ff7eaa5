# SPDX-License-Identifier: BSD-3-Clause
"""Single names of which some are not known, or only to be one of several."""

from typing import Any

import numpy as np

from skstruct._arrays.imports import is_pandas
from skstruct.spaces.common.choices import OneOf
from skstruct.spaces.common.formats import is_missing_name, plain_name, unknown_label
from skstruct.spaces.known import Known
from skstruct.spaces.partial import PartialOutputs


class KnownOfClasses(Known):
    """Classes that are not known, or known to be one of several."""

    __slots__ = ()

    def read(self, Y: Any, known: Any = None) -> PartialOutputs:
        """What is known of classes; the space learns its names from all that are mentioned.

        Parameters
        ----------
        Y : names; None, NaN or NA where nothing is known; a set of names for one of these
        known : bool array of shape (n,), default=None
        """
        space, used_by = self.space, type(self.space).__name__
        values, format = _cells(Y)
        values = [set(value.outputs) if isinstance(value, OneOf) else value for value in values]
        seen = _checked(known, len(values), used_by)
        sets = [_candidates(value) if here else None for value, here in zip(values, seen)]
        for i, names in enumerate(sets):
            if names is not None and not names:
                raise ValueError(f"{used_by}: Y[{i}] is an empty set: no class is allowed.")
        names = [name for row in sets if row is not None for name in row]
        if not names and space.labels is not None:  # a block of rows may say nothing
            names = list(space.labels)
        if not names:
            raise ValueError(f"{used_by}: no row of Y says anything.")
        space.fit(format(names))
        allowed = np.ones((len(values), len(space.labels_)), bool)
        for i, row in enumerate(sets):
            if row is not None:
                allowed[i] = _marked(row, space, i, used_by)
        single = allowed.sum(axis=1) == 1
        several = np.array([row is not None for row in sets]) & ~single
        outputs = np.where(single, allowed.argmax(axis=1), 0)
        return PartialOutputs(
            outputs, single[:, None], single[:, None], space.among(allowed), not several.any()
        )

    def has_gaps(self, Y: Any) -> bool:
        """A set of names is one of these; a frozen set may be a name itself."""
        if super().has_gaps(Y):
            return True
        numbers = isinstance(Y, np.ndarray) and Y.dtype.kind != "O"
        return not numbers and any(isinstance(cell, set) for cell in Y)

    def targets(self, known: np.ndarray) -> np.ndarray | None:
        return np.repeat(known, len(self.space.labels_), axis=1)


def _cells(Y: Any) -> tuple[list[Any], Any]:
    """The cells of a column, and what makes a column of that kind of other names."""
    if is_pandas(Y, "Series"):
        import pandas

        def series(names: list[Any]) -> Any:
            held = Y.dtype if Y.dtype.kind != "f" else None
            return pandas.Series(names, name=Y.name, dtype=held)

        return [None if is_missing_name(v) else v for v in Y.tolist()], series
    if isinstance(Y, np.ma.MaskedArray):
        return Y.tolist(), list
    if isinstance(Y, np.ndarray):
        return np.ravel(Y).tolist(), lambda names: np.array(names, dtype=_type_of(Y))
    return list(Y), list


def _type_of(Y: np.ndarray) -> Any:
    return None if Y.dtype.kind in "fO" else Y.dtype


def _checked(known: Any, n: int, used_by: str) -> np.ndarray:
    if known is None:
        return np.ones(n, bool)
    mask = np.asarray(known)
    if mask.shape not in ((n,), (n, 1)) or mask.dtype != bool:
        raise ValueError(
            f"{used_by}: known is True or False for each of {n} rows; got {mask.dtype} of shape "
            f"{mask.shape}."
        )
    return mask.ravel()


def _candidates(value: Any) -> list[Any] | None:
    """The names that a cell allows; None for all."""
    if isinstance(value, (set, frozenset)):
        return list(map(plain_name, value))
    return None if is_missing_name(value) else [_whole(plain_name(value))]


def _whole(name: Any) -> Any:
    """A number that became a float beside a gap is whole again."""
    return int(name) if isinstance(name, float) and name.is_integer() else name


def _marked(names: list[Any], space: Any, row: int, used_by: str) -> np.ndarray:
    marked = np.zeros(len(space.labels_), bool)
    for name in names:
        if name not in space.number_:
            raise ValueError(unknown_label(f"Y[{row}] holds", name, space.number_, used_by))
        marked[space.number_[name]] = True
    return marked
