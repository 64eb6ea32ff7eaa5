# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of which only some parts are known: what was given, and what it leaves open."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.by_name import by_position
from skstruct._arrays.foreign import in_memory
from skstruct._arrays.imports import is_pandas
from skstruct.saving import savable
from skstruct.spaces.common.choices import OneOf
from skstruct.spaces.common.formats import is_missing_name

# Arguments of ``restrict``: a row that has only such keys says what an output obeys.
SETS = ("include", "exclude", "min_size", "max_size", "exclusive", "one_path")
ORDERS = ("positions", "before", "top", "length", "known", "forbidden", "low", "high", "supply")
ARGUMENTS = frozenset((*SETS, *ORDERS))


@savable
@dataclass(frozen=True, eq=False)
class PartialOutputs:
    """What is known of n outputs.

    Attributes
    ----------
    outputs : array of n outputs in canonical form
        A placeholder, the same whatever stood there, where a part is not known.
    known : bool array of shape (n, d)
        Which of the d columns of the outputs are known, with what follows from others; one column
        where an output is a single name.
    observed : bool array of shape (n, d)
        Which of them were given, whatever their values: what follows from values is left out.
    allowed : space, default=None
        The space, narrowed row by row to the outputs that agree with what is known; None where a
        space cannot be narrowed to these.
    by_parts : bool, default=True
        Whether an output is allowed if it agrees with the parts that are known. Not so for sets of
        candidates, and numbers between two limits.
    """

    outputs: np.ndarray
    known: np.ndarray
    observed: np.ndarray
    allowed: Any = None
    by_parts: bool = True

    def __len__(self) -> int:
        return len(self.outputs)

    @property
    def complete(self) -> np.ndarray:
        """Which outputs are known entirely; shape (n,)."""
        return np.asarray(self.known.all(axis=1))

    def rows(self, index: Any) -> "PartialOutputs":
        """The same of some rows, by their numbers."""
        allowed = None if self.allowed is None else self.allowed.rows(index)
        return PartialOutputs(
            self.outputs[index], self.known[index], self.observed[index], allowed, self.by_parts
        )


def are_partial(Y: Any) -> bool:
    """Whether outputs leave something open: missing cells, restrictions, intervals, candidates.

    >>> are_partial([[0, 1]]), are_partial([[0, np.nan]]), are_partial([{"a"}, None])
    (False, True, True)
    >>> from skstruct.spaces import OneOf
    >>> are_partial([["a", "b"], OneOf([["b", "a"]])]), are_partial([{"before": [("a", "b")]}])
    (True, True)
    """
    if Y is None or sparse.issparse(Y):
        return False
    if isinstance(Y, np.ma.MaskedArray):
        return bool(np.ma.getmaskarray(Y).any())
    if is_pandas(Y, "DataFrame") or is_pandas(Y, "Series"):
        if bool(np.any(Y.isna().to_numpy())):
            return True
        Y = Y.to_numpy()
    if hasattr(Y, "dtype") and isinstance(Y.dtype, np.dtype) and Y.dtype != object:
        return Y.dtype.kind == "f" and bool(np.isnan(Y).any())
    if isinstance(Y, (str, bytes)) or not hasattr(Y, "__iter__"):
        return False
    return any(map(_leaves_open, Y))


def are_choices(Y: Any) -> bool:
    """Whether some rows are ``OneOf`` several outputs, or dictionaries of what they obey."""
    if not hasattr(Y, "__iter__") or (isinstance(Y, np.ndarray) and Y.dtype != object):
        return False
    return any(isinstance(row, (OneOf, Mapping)) and _leaves_open(row) for row in Y)


def _leaves_open(row: Any) -> bool:
    if isinstance(row, (str, bytes, int)):
        return False
    if isinstance(row, Mapping):  # of other keys, it may be an output itself
        return len(row) > 0 and ARGUMENTS.issuperset(row)
    if isinstance(row, OneOf):
        return True
    if isinstance(row, np.ndarray) and row.dtype != object:
        return row.dtype.kind == "f" and bool(np.isnan(row).any())
    if isinstance(row, (list, tuple, np.ndarray)):
        return any(cell is None or _is_gap(cell) for cell in row)
    return _is_gap(row)


def _is_gap(cell: Any) -> bool:
    if isinstance(cell, (str, bytes, int, set, frozenset)):
        return False
    return is_missing_name(cell)


def split_table(
    Y: Any, known: Any, fill: Any, used_by: str, names: Callable[[int], Any]
) -> tuple[Any, np.ndarray]:
    """A table with ``fill`` where cells are not known, in its own format, and which are known.

    Parameters
    ----------
    Y : array, masked array, frame or rows, of shape (n, d) or (n,)
    known : bool array of the shape of Y, or None
        Cells that are known; missing ones never are. Columns of a frame are found by name.
    names : callable
        Names of so many columns of Y, where Y is no frame.

    Returns
    -------
    filled : of the format of Y, without missing cells
    known : bool array of shape (n, d)
    """
    if is_pandas(Y, "DataFrame") or is_pandas(Y, "Series"):
        seen = ~Y.isna().to_numpy() & known_cells(known, Y.shape, used_by, lambda _: Y.columns)
        return _filled_frame(Y, seen, fill), seen.reshape(len(Y), -1)
    values: Any = Y
    if not isinstance(Y, np.ndarray):
        values = np.array([list(row) if hasattr(row, "__iter__") else row for row in Y], object)
    gaps = np.ma.getmaskarray(values)
    values = np.array(np.ma.getdata(values))
    if values.dtype.kind == "f":
        gaps = gaps | np.isnan(values)
    elif values.dtype == object:
        gaps = gaps | np.frompyfunc(_is_gap, 1, 1)(values).astype(bool)
    seen = ~gaps & known_cells(known, values.shape, used_by, names)
    values[~seen] = fill
    if values.dtype == object:  # numbers again, once there are no gaps
        values = np.array(values.tolist())
    return values, seen.reshape(len(values), -1)


def known_cells(
    known: Any, shape: tuple[int, ...], used_by: str, names: Callable[[int], Any]
) -> Any:
    """Which cells of a table are known, as a bool array of its shape; True for all.

    A frame has its columns in any order: they are found by the names of those of the table.
    """
    if known is None:
        return True
    known = in_memory(known)
    if is_pandas(known, "DataFrame"):  # a Series has a cell for each row
        known = by_position(known, list(names(shape[-1])), what="known", used_by=used_by)
    mask = np.asarray(known)
    if mask.shape != shape or mask.dtype.kind not in "bui" or not np.isin(mask, (0, 1)).all():
        raise ValueError(
            f"{used_by}: known is True or False for each cell of Y, of shape {shape}; got "
            f"{mask.dtype} of shape {mask.shape}."
        )
    return mask.astype(bool)


def _filled_frame(Y: Any, seen: np.ndarray, fill: Any) -> Any:
    """A frame or series with a value in place of what is not known."""
    types = set(Y.dtypes) if hasattr(Y, "columns") else {Y.dtype}
    if {str(kind) for kind in types} == {"boolean"}:
        fill = bool(fill)
    filled = Y.where(seen, fill)
    return filled.infer_objects() if hasattr(filled, "infer_objects") else filled


def check_some_known(known: np.ndarray, names: Any, used_by: str) -> None:
    """Raise where no row knows a part: nothing could be learned of it."""
    lost = np.flatnonzero(~known.any(axis=0))
    if len(lost):
        name = names[lost[0]] if len(names) == known.shape[1] else int(lost[0])
        raise ValueError(
            f"{used_by}: {name!r} is not known in any row of Y ({len(lost)} such columns); leave "
            "it out, or give rows in which it is known."
        )
