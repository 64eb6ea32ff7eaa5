# SPDX-License-Identifier: BSD-3-Clause
"""Label sets and single names in the user's own format: arrays, frames, series, rows of names."""

import difflib
import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from skstruct import saving
from skstruct._arrays.imports import is_pandas
from skstruct._arrays.methods import warn_caller
from skstruct.saving import savable

# Modules and classes of names that model files hold by type and text, beside plain ones.
STORED = {("datetime", "date"), ("datetime", "datetime"), ("decimal", "Decimal")}
STORED |= {("fractions", "Fraction"), ("uuid", "UUID"), ("pandas", "Timestamp")}


@savable
@dataclass(frozen=True)
class LabelSetFormat:
    """How label sets were written: what ``write`` gives back."""

    kind: str = "array"  # "array", "frame", "sparse", "names" or "series"
    dtype: Any = np.int64
    container: Any = set  # of a row of names
    columns: Any = None  # of a frame, in the user's order
    name: Any = None  # of a series

    def write(self, Z: np.ndarray, labels: tuple[Any, ...], index: Any = None) -> Any:
        """Indicator rows in this format."""
        if self.kind == "array":
            return Z.astype(self.dtype)
        if self.kind == "sparse":
            return sparse.csr_array(Z.astype(self.dtype))
        if self.kind == "frame":
            import pandas

            frame = pandas.DataFrame(Z, index=index, columns=list(labels))[list(self.columns)]
            frame.columns = self.columns
            return frame.astype(self.dtype)
        rows = np.empty(len(Z), dtype=object)
        for i, row in enumerate(Z):
            rows[i] = self.container(labels[j] for j in np.flatnonzero(row))
        if self.kind == "series":
            import pandas

            return pandas.Series(rows, index=index, name=self.name)
        return rows


def read_label_sets(
    Y: Any, labels: tuple[Any, ...] | None, *, used_by: str
) -> tuple[np.ndarray, tuple[Any, ...], LabelSetFormat]:
    """The indicator array (int8) of ``Y``, its labels, and the format it came in.

    Parameters
    ----------
    Y : indicator array, DataFrame, sparse array, or rows of label names
        A list of equally long rows of 0 and 1 is read as an indicator array; a table of texts, such
        as paths with a column per level, as rows of names, of which empty ones are none.
    labels : tuple or None
        Known labels; None learns them from ``Y``.
    """
    Y = of_one_column(Y)
    if is_pandas(Y, "DataFrame"):
        format = LabelSetFormat("frame", _common_dtype(Y), columns=Y.columns)
        labels, Y = match_columns(Y, labels, used_by)
        return _check_indicator(Y.to_numpy(), labels, used_by), labels, format
    if sparse.issparse(Y):
        Z = _check_indicator(Y.toarray(), labels, used_by)
        return Z, _numbered(labels, Z), LabelSetFormat("sparse", Y.dtype)
    if is_pandas(Y, "Series"):
        Z, labels, format = _read_names(list(Y), labels, "series", used_by)
        return Z, labels, replace(format, name=Y.name)
    if isinstance(Y, np.ndarray) and Y.ndim == 2 and _holds_names(Y):
        filled = [[name for name in row if name] for row in Y.tolist()]
        return _read_names(filled, labels, "names", used_by)
    if isinstance(Y, np.ndarray) and Y.ndim == 2:
        Z = _check_indicator(Y, labels, used_by)
        return Z, _numbered(labels, Z), LabelSetFormat("array", Y.dtype)
    if isinstance(Y, np.ndarray) and Y.ndim != 1:
        raise ValueError(f"{used_by} expects Y with one row per sample; got shape {Y.shape}.")
    if not isinstance(Y, Iterable):
        raise ValueError(f"{used_by} expects rows of label names; got {Y!r}.")
    rows = list(Y)
    if _looks_like_indicator(rows):
        return read_label_sets(np.array(rows), labels, used_by=used_by)
    return _read_names(rows, labels, "names", used_by)


def of_one_column(Y: Any) -> Any:
    """A frame of a single column of lists or sets as this column; anything else as it is."""
    if not is_pandas(Y, "DataFrame") or Y.shape[1] != 1 or Y.dtypes.iloc[0].kind != "O":
        return Y
    rows = (list, tuple, set, frozenset, np.ndarray)
    return Y.iloc[:, 0] if any(isinstance(cell, rows) for cell in Y.iloc[:, 0]) else Y


def _holds_names(Y: np.ndarray) -> bool:
    """Whether a table is one of texts."""
    if Y.dtype == object:
        return Y.size > 0 and all(isinstance(cell, str) for cell in Y.flat)
    return Y.dtype.kind in "UT"


def _looks_like_indicator(rows: list[Any]) -> bool:
    if not rows or not all(isinstance(row, (list, tuple, np.ndarray)) for row in rows):
        return False
    width = len(rows[0])
    numbers = (int, float, np.number, np.bool_)
    return width > 0 and all(
        len(row) == width and all(isinstance(v, numbers) and v in (0, 1) for v in row)
        for row in rows
    )


def _common_dtype(frame: Any) -> Any:
    dtypes = set(frame.dtypes)
    return dtypes.pop() if len(dtypes) == 1 else np.dtype(np.int64)


def _numbered(labels: tuple[Any, ...] | None, Z: np.ndarray) -> tuple[Any, ...]:
    return tuple(range(Z.shape[1])) if labels is None else labels


def match_columns(
    frame: Any, labels: tuple[Any, ...] | None, used_by: str
) -> tuple[tuple[Any, ...], Any]:
    """Labels, and the frame with its columns in their order; labels of None are learned."""
    columns = check_distinct(frame.columns, used_by)
    holes = np.argwhere(frame.isna().to_numpy())
    if len(holes):
        row, column = holes[0]
        raise ValueError(
            f"{used_by}: row {frame.index[row]!r}, column {columns[column]!r} of Y is missing. "
            f"{about_gaps(np.unique(holes[:, 0]))}"
        )
    if labels is None:
        return columns, frame
    unknown = [name for name in columns if name not in set(labels)]
    missing = [name for name in labels if name not in set(columns)]
    if unknown or missing or len(columns) != len(labels):
        raise ValueError(
            f"{used_by} expects one column per label; got "
            f"missing: {missing[:3]}, unknown: {unknown[:3]}, {len(columns)} columns."
        )
    return labels, frame[list(labels)]


def check_distinct(labels: Any, used_by: str) -> tuple[Any, ...]:
    """Labels as a tuple, if no two are the same."""
    if not isinstance(labels, Iterable):
        raise ValueError(f"{used_by}: labels are a sequence of names; got {labels!r}.")
    names = tuple(in_order(labels))
    try:
        repeated = len(set(names)) < len(names)
    except TypeError as error:
        raise ValueError(f"{used_by}: a label must be hashable ({error}).") from None
    if any(isinstance(name, float) and name != name for name in names):
        raise ValueError(f"{used_by}: NaN equals nothing, and cannot be a label.")
    for name in filter(is_missing_name, names):
        raise ValueError(f"{used_by}: {name!r} is a missing value, and cannot be a label.")
    check_writable(names)
    if repeated:
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise ValueError(f"{used_by}: the label {twice!r} is listed twice.")
    return names


def _check_indicator(Y: Any, labels: tuple[Any, ...] | None, used_by: str) -> np.ndarray:
    refuse_empty(Y, used_by)
    if Y.shape[1] == 0:
        raise ValueError(f"{used_by}: Y has no columns; got shape {Y.shape}.")
    if labels is not None and Y.shape[1] != len(labels):
        raise ValueError(
            f"{used_by} expects Y of shape (n_samples, {len(labels)}), one column per label; "
            f"got shape {Y.shape}."
        )
    if Y.dtype == object:  # where NA is neither equal nor not
        good = np.frompyfunc(lambda v: not is_missing_name(v) and v in (0, 1), 1, 1)(Y)
    else:
        good = (Y == 0) | (Y == 1)
    if not np.all(good):
        row, column = np.argwhere(~np.asarray(good, dtype=bool))[0]
        gaps = np.flatnonzero([any(map(is_missing_name, cells)) for cells in Y.tolist()])
        hint = about_gaps(gaps) if len(gaps) else "Use Classes for one label per sample."
        raise ValueError(
            f"{used_by} expects 0 or 1 for each label; Y[{row}, {column}] is "
            f"{plain_name(Y[row, column])!r}. {hint}"
        )
    return np.ascontiguousarray(Y, dtype=np.int8)


def _read_names(
    rows: list[Any], labels: tuple[Any, ...] | None, kind: str, used_by: str
) -> tuple[np.ndarray, tuple[Any, ...], LabelSetFormat]:
    refuse_empty(rows, used_by)
    for i, row in enumerate(rows):
        if isinstance(row, (str, bytes)) or not isinstance(row, Iterable):
            gaps = [j for j, other in enumerate(rows) if is_missing_name(other)]
            hint = about_gaps(gaps) if i in gaps else "Use Classes for one label per sample."
            raise ValueError(
                f"{used_by} expects a set or list of label names in each row; "
                f"Y[{i}] is {row!r}. {hint}"
            )
    try:
        names = {name for row in rows for name in row}
    except TypeError as error:
        raise ValueError(f"{used_by}: a label must be hashable ({error}).") from None
    refuse_missing(rows, names, used_by, "a label")
    if labels is None:
        labels = sorted_names(names)
    number = {name: j for j, name in enumerate(labels)}
    Z = np.zeros((len(rows), len(labels)), np.int8)
    for i, row in enumerate(rows):
        for name in row:
            if name not in number:
                raise ValueError(unknown_label(f"Y[{i}] holds", name, labels, used_by))
            Z[i, number[name]] = 1
    if not labels:
        raise ValueError(f"{used_by}: no label occurs in Y.")
    container = type(rows[0]) if type(rows[0]) in (set, frozenset, list, tuple) else set
    return Z, labels, LabelSetFormat(kind, container=container)


def refuse_empty(rows: Any, used_by: str) -> None:
    """Raise where there is no output at all."""
    if len(rows) == 0:
        raise ValueError(f"{used_by}: Y has no rows.")


def in_order(names: Any) -> Any:
    """Names in the order given; those of a set sorted, as it has another in every process."""
    return sorted_names(names) if isinstance(names, (set, frozenset)) else names


def is_missing_name(name: Any) -> bool:
    """Whether this is None, NaN or pandas' NA, which stand for a name that is not known.

    >>> is_missing_name(None), is_missing_name(float("nan")), is_missing_name("nan")
    (True, True, False)
    """
    if name is None or isinstance(name, (str, int)):
        return name is None
    if isinstance(name, float):  # compared with itself, NaN makes some processors warn
        return math.isnan(name)
    try:
        same = name == name  # NaN is the one thing not equal to itself; NA says neither
    except Exception:  # an object that is not compared in this way is there
        return False
    return type(same).__name__ == "NAType" or (isinstance(same, (bool, np.bool_)) and not same)


def about_gaps(rows: Any) -> str:
    """What to do where outputs have to be known as a whole, and some values of rows are missing.

    >>> about_gaps([0, 2, 3, 5])[:55]
    'Values are missing in 4 rows of Y (0, 2, 3, ...): leave'
    """
    listed = ", ".join([*(str(int(row)) for row in rows[:3]), *(["..."] if len(rows) > 3 else [])])
    few = "1 row" if len(rows) == 1 else f"{len(rows):,} rows"
    return (
        f"Values are missing in {few} of Y ({listed}): leave these out here. Where outputs may be "
        "known in part, fit of ConditionalRiskMinimizer, ExponentialFamily and StructuredSVM "
        "learns from such rows, too."
    )


def refuse_missing(rows: list[Any], names: Any, used_by: str, what: str) -> None:
    """Raise, with its row, for a missing value among the names that rows hold."""
    if any(map(is_missing_name, names)):
        at, name = next((i, n) for i, row in enumerate(rows) for n in row if is_missing_name(n))
        raise ValueError(
            f"{used_by}: Y[{at}] holds {name!r}, a missing value, which cannot be {what}: leave "
            "it out."
        )


def are_numbers(names: Iterable[Any]) -> bool:
    """Whether all names are whole numbers, which could be taken for those of columns.

    Those that a table with gaps has as floats, too.
    """
    return all(_is_whole(name) for name in names)


def _is_whole(name: Any) -> bool:
    if isinstance(name, (float, np.floating)):
        return float(name).is_integer()
    return isinstance(name, (int, np.integer)) and not isinstance(name, bool)


def in_columns(names: Iterable[Any]) -> list[Any]:
    """Names that are 0 to d - 1 in this order: they number the columns of an array. Others as they
    are.

    >>> in_columns([2, 0, 1]), in_columns([7, 3])
    ([0, 1, 2], [7, 3])
    """
    names = list(names)
    numbered = are_numbers(names) and sorted(names) == list(range(len(names)))
    return sorted(names) if numbered else names


def number_columns(names: Collection[Any]) -> bool:
    """Whether whole numbers as names are those of columns; other numbers would be mistaken for
    them. Names that are none are fine.
    """
    return not are_numbers(names) or set(names) == set(range(len(names)))


def check_numbered(names: Collection[Any], what: str, remedy: str, used_by: str) -> None:
    """Raise where what comes without names would be matched with nodes that are numbers, in an
    order of appearance.

    >>> check_numbered([7, 3], "supply", "give {node: amount}", "Flows")
    Traceback (most recent call last):
    ValueError: Flows: supply has no names, and the nodes are numbers other than 0 to 1 (7, 3, in \
order of appearance): give {node: amount}.
    """
    if not number_columns(names):
        some = ", ".join(map(repr, list(names)[:4]))
        raise ValueError(
            f"{used_by}: {what} has no names, and the nodes are numbers other than 0 to "
            f"{len(names) - 1} ({some}, in order of appearance): {remedy}."
        )


def plain_name(name: Any) -> Any:
    """A scalar of NumPy as Python's own, so that it prints like one."""
    return name.item() if isinstance(name, np.generic) else name


def sorted_names(names: Iterable[Any]) -> tuple[Any, ...]:
    """Labels in order; those of several types in an order that is always the same."""
    names = list(names)
    check_writable(names)
    try:
        return tuple(sorted(names))
    except TypeError:
        return tuple(sorted(names, key=lambda name: (type(name).__name__, repr(name))))


def check_writable(names: Iterable[Any]) -> None:
    """Refuse texts that no file can hold, and warn of names that a model file will not.

    Better now than when a long fit is to be saved.
    """
    names = _within(names)
    kinds = set(map(type, names))
    if str in kinds:
        for name in names:
            if type(name) is str and not (name.isascii() or _is_text(name)):
                raise ValueError(
                    f"The name {name!r} has half of a character (a lone surrogate), which neither "
                    "files nor servers can write: read the text with its own encoding."
                )
    for kind in filter(_is_unknown, kinds):
        name = next(name for name in names if type(name) is kind)
        warn_caller(
            f"Names such as {name!r:.60} are of the class {kind.__qualname__}, which model files "
            "do not hold: save_model will refuse this model. Give texts or numbers as names, or "
            "keep the model with pickle."
        )


def _within(names: Iterable[Any]) -> list[Any]:
    """Names, and in place of each tuple, such as a node of a grid, what it holds."""
    names = list(names)
    nested = (tuple, frozenset)
    if not any(kind in nested for kind in set(map(type, names))):
        return names
    return [part for name in names for part in (_within(name) if type(name) in nested else [name])]


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_unknown(kind: type) -> bool:
    """Whether names of a class cannot be stored: classes of a user's own, such as Enum."""
    home = kind.__module__.partition(".")[0]
    stored = home in ("builtins", "numpy") or (home, kind.__name__) in STORED
    return not stored and saving.name_of(kind) is None


def unknown_label(where: str, name: Any, labels: Any, used_by: str) -> str:
    """The message for a label that is not there, with the nearest one that is."""
    near = difflib.get_close_matches(str(name), [str(label) for label in labels], n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return (
        f"{used_by}: {where} the label {name!r}, which is not one of the {len(labels)} known.{hint}"
    )


def holding(names: np.ndarray, dtype: Any) -> Any:
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


def is_missing(values: np.ndarray) -> np.ndarray:
    """Where a column has NaN, infinity, None or NA instead of a label; shape (n,)."""
    if values.dtype.kind == "f":
        return ~np.isfinite(values)
    if values.dtype == object:
        return np.fromiter(map(is_missing_name, values), bool, len(values))
    return np.zeros(len(values), bool)


@savable
@dataclass(frozen=True)
class SingleNameFormat:
    """How names were written: what ``write`` gives back."""

    kind: str = "array"  # "array", "series" or "categorical"
    dtype: Any = None
    name: Any = None  # of a series

    def write(self, numbers: np.ndarray, labels: tuple[Any, ...], index: Any = None) -> Any:
        """The names of these numbers in this format."""
        known = name_array(labels)
        names, dtype = known[numbers], None if self.dtype is None else holding(known, self.dtype)
        if self.kind == "array":
            return names if dtype is None else names.astype(dtype)
        import pandas

        if self.kind == "categorical":
            return pandas.Categorical(names, dtype=dtype)
        return pandas.Series(names, index=index, name=self.name, dtype=dtype)


def read_single_names(Y: Any, *, used_by: str, what: str) -> tuple[list[Any], SingleNameFormat]:
    """The names in ``Y`` one by one, as Python's own objects, and the format they came in."""
    format = SingleNameFormat()
    if is_pandas(Y, "DataFrame"):
        if Y.shape[1] != 1:
            raise ValueError(_not_one(Y, used_by, what))
        Y = Y.iloc[:, 0]
    if is_pandas(Y, "Series"):
        format = SingleNameFormat("series", Y.dtype, Y.name)
    elif is_pandas(Y, "Categorical"):
        format = SingleNameFormat("categorical", Y.dtype)
    elif isinstance(Y, np.ndarray):
        if Y.ndim == 2 and Y.shape[1] == 1:
            Y = Y[:, 0]
        if Y.ndim != 1:
            raise ValueError(_not_one(Y, used_by, what))
        format = SingleNameFormat("array", Y.dtype if Y.dtype.kind in "biuf" else None)
    plain = Y.tolist() if hasattr(Y, "tolist") else list(Y)
    names = list(map(plain_name, plain))
    refuse_empty(names, used_by)
    column = np.empty(len(names), dtype=object)
    for i, name in enumerate(names):  # NumPy would look into tuples
        column[i] = name
    missing = np.flatnonzero(is_missing(column))
    if len(missing):
        raise ValueError(
            f"{used_by}: Y[{missing[0]}] is {names[missing[0]]}, not a {what}. "
            f"{about_gaps(missing)}"
        )
    return names, format


def _not_one(Y: Any, used_by: str, what: str) -> str:
    return (
        f"{used_by} expects one {what} per sample; Y has shape {np.shape(Y)}. "
        "Use LabelSets for several labels per sample."
    )


def numbers_of(names: list[Any], labels: tuple[Any, ...], used_by: str) -> np.ndarray:
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


def name_array(names: tuple[Any, ...]) -> np.ndarray:
    """Names as an array of numbers or of text, else of objects: tuples stay tuples."""
    for kinds in ((str,), (bool,), (int,), (int, float)):
        if all(type(name) in kinds for name in names):
            return np.array(names)
    array = np.empty(len(names), dtype=object)
    for j, name in enumerate(names):
        array[j] = name
    return array
