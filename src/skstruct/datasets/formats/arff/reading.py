# SPDX-License-Identifier: BSD-3-Clause
"""A strict and fast reader of ARFF files, those of MULAN and CLUS included.

Files of a few rows are read in Python alone, which is sooner done than loading a compiler.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.rows import narrow_indices
from skstruct.datasets.dataset import Table
from skstruct.datasets.files import text_lines
from skstruct.datasets.formats.arff.attributes import (
    SPACE,
    ArffError,
    Attribute,
    Column,
    lookup_tables,
    read_header,
    split_cells,
)
from skstruct.exceptions import DataFormatError
from skstruct.spaces.common.label_graph import LabelGraph

BLOCK_CHARACTERS = 1 << 19
COMPILED_FROM = 1 << 18  # characters of a block
_PAIR = re.compile(rf"([0-9]{{1,9}})[{SPACE}]+(.+)", re.DOTALL)
_WEIGHT = re.compile(rf"\}}[{SPACE}]*,[{SPACE}]*\{{[^{{}},]*\}}$")


def read_rows(lines: Any, attributes: list[Attribute]) -> tuple[Any, list[Column]]:
    """All cells as numbers, and what the numbers of undeclared kinds stand for.

    Parameters
    ----------
    lines : iterator of (number, line)
    attributes : list of Attribute

    Returns
    -------
    data : float64 array or csr_array of shape (n_rows, n_attributes)
    columns : list of Column
    """
    columns = [Column(attribute) for attribute in attributes]
    parts: list[Any] = []
    tables = is_sparse = None
    for numbers, rows in _blocks(lines):
        if is_sparse is None:
            is_sparse = rows[0].startswith("{")
        if tables is None and sum(map(len, rows)) >= COMPILED_FROM:
            tables = lookup_tables(columns)
        read = _sparse_block if is_sparse else _dense_block
        parts.append(read(numbers, rows, columns, tables))
    if not is_sparse:
        return np.vstack([np.empty((0, len(columns))), *parts]), columns
    return narrow_indices(sparse.vstack(parts, format="csr")), columns


def _blocks(lines: Any) -> Iterator[tuple[list[int], list[str]]]:
    """Numbers and texts of rows, without comments and empty lines."""
    numbers: list[int] = []
    rows: list[str] = []
    size = 0
    for number, line in lines:
        line = line.strip(SPACE)
        if not line or line[0] == "%":
            continue
        if "\n" in line:
            raise ArffError("a line end within a line", line=number)
        numbers.append(number)
        rows.append(line)
        size += len(line) + 1
        if size >= BLOCK_CHARACTERS:
            yield numbers, rows
            numbers, rows, size = [], [], 0
    if rows:
        yield numbers, rows


def _dense_block(
    numbers: list[int],
    rows: list[str],
    columns: list[Column],
    tables: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None,
) -> np.ndarray:
    n, p = len(rows), len(columns)
    odd = next((i for i, row in enumerate(rows) if row[0] == "{"), None)
    if odd is not None:  # whose cells could be taken for texts
        problem = f"a sparse row among others, or a value that needs quotes: {rows[odd][:40]!r}"
        raise ArffError(problem, line=numbers[odd])
    values, fine = np.empty((n, p)), np.zeros(n, dtype=bool)
    if tables is not None:
        _compiled_dense(numbers, rows, columns, tables, values, fine)
    for i in np.flatnonzero(~fine):
        cells = split_cells(rows[i], numbers[i])
        if len(cells) != p:
            raise _wrong_count(cells, p, numbers[i])
        values[i] = [_read_cell(columns[j], cell, numbers[i], j) for j, cell in enumerate(cells)]
    return values


def _compiled_dense(
    numbers: list[int],
    rows: list[str],
    columns: list[Column],
    tables: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    values: np.ndarray,
    fine: np.ndarray,
) -> None:
    from skstruct.datasets.formats._numba import read_dense_rows

    text = _as_bytes(rows)
    starts, ends = np.empty((2, *values.shape), dtype=np.int32)
    odd = np.zeros(values.shape, dtype=bool)
    view = np.frombuffer(text, dtype=np.uint8)
    read_dense_rows(view, len(columns), *tables, values, starts, ends, odd, fine)
    i, j = np.nonzero(odd & fine[:, None])
    values[i, j] = _odd_cells(text, numbers, columns, i, j, starts[i, j], ends[i, j])


def _odd_cells(
    text: bytes,
    numbers: list[int],
    columns: list[Column],
    i: np.ndarray,
    j: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
) -> list[float]:
    """Values of the cells that the compiled reader left."""
    values = []
    for row, column, start, end in zip(i.tolist(), j.tolist(), starts.tolist(), ends.tolist()):
        cell = text[start:end].decode()
        known = columns[column].known.get(cell)
        if known is None:
            known = _read_cell(columns[column], cell, numbers[row], column)
        values.append(known)
    return values


def _wrong_count(cells: list[str], n_attributes: int, number: int) -> ArffError:
    weight = cells[-1].strip(SPACE)
    if len(cells) == n_attributes + 1 and weight[:1] == "{" and weight[-1:] == "}":
        return ArffError(f"weights of rows are not read; remove {weight[:40]!r}", line=number)
    column = min(len(cells), n_attributes) + (len(cells) > n_attributes)
    problem = f"{len(cells)} values for {n_attributes} attributes"
    return ArffError(problem, line=number, column=column)


def _sparse_block(
    numbers: list[int],
    rows: list[str],
    columns: list[Column],
    tables: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None,
) -> Any:
    n, p = len(rows), len(columns)
    fine = np.zeros(n, dtype=bool)
    i_cells, j_cells, cells = np.empty(0, int), np.empty(0, int), np.empty(0)
    if tables is not None:
        i_cells, j_cells, cells = _compiled_sparse(numbers, rows, columns, tables, fine)
    more: list[tuple[int, int, float]] = []
    for i in np.flatnonzero(~fine).tolist():
        pairs = _pairs(rows[i], numbers[i], p)
        more += [(i, j, _read_cell(columns[j], cell, numbers[i], j)) for j, cell in pairs]
    if more:
        i_more, j_more, values = map(np.array, zip(*more))
        i_cells, j_cells = np.append(i_cells, i_more), np.append(j_cells, j_more)
        cells = np.append(cells, values)
    data = sparse.coo_array((cells, (i_cells, j_cells)), shape=(n, p)).tocsr()
    for j, column in enumerate(columns):
        if column.attribute.kind == "hierarchical":
            absent = np.flatnonzero(data[:, [j]].toarray()[:, 0] == 0)
            if len(absent):
                raise ArffError(f"no value for {column.attribute.name!r}", line=numbers[absent[0]])
    return data


def _compiled_sparse(
    numbers: list[int],
    rows: list[str],
    columns: list[Column],
    tables: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    fine: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    from skstruct.datasets.formats._numba import read_sparse_rows

    text = _as_bytes(rows)
    size = text.count(b",") + len(rows)  # no row has more cells than commas and one
    i_cells, j_cells, starts, ends = np.empty((4, size), dtype=np.int64)
    cells, odd = np.empty(size), np.zeros(size, dtype=bool)
    view = np.frombuffer(text, dtype=np.uint8)
    k = read_sparse_rows(view, *tables, i_cells, j_cells, cells, starts, ends, odd, fine)
    at = np.flatnonzero(odd[:k])
    cells[at] = _odd_cells(text, numbers, columns, i_cells[at], j_cells[at], starts[at], ends[at])
    return i_cells[:k], j_cells[:k], cells[:k]


def _pairs(line: str, number: int, n_attributes: int) -> Iterator[tuple[int, str]]:
    """Positions and cells of a sparse row."""
    if not (line.startswith("{") and line.endswith("}")):
        raise ArffError(f"expected a row {{position value, ...}}, got {line[:40]!r}", line=number)
    if _WEIGHT.search(line):
        raise ArffError("weights of rows are not read; remove the last braces", line=number)
    last = -1
    inside = line[1:-1].strip(SPACE)
    for column, pair in enumerate(split_cells(inside, number) if inside else (), 1):
        found = _PAIR.fullmatch(pair.strip(SPACE))
        if found is None:
            problem = f"expected 'position value', got {pair[:40]!r}"
            raise ArffError(problem, line=number, column=column)
        if not last < int(found[1]) < n_attributes:
            problem = f"positions rise and end at {n_attributes - 1}; got {found[1]} after {last}"
            raise ArffError(problem, line=number, column=column)
        last = int(found[1])
        yield last, found[2]


def _read_cell(column: Column, cell: str, number: int, position: int) -> float:
    try:
        return column.read(cell)
    except ValueError as error:
        problem = f"{error} (attribute {column.attribute.name[:60]!r})"
        raise ArffError(problem, line=number, column=int(position) + 1) from None


def _as_bytes(rows: list[str]) -> bytes:
    return ("\n".join(rows) + "\n").encode()


# A strict and fast reader of ARFF files, those of MULAN and CLUS included.


__all__ = ["ArffError", "ArffTable", "read_arff"]


@dataclass(frozen=True)
class ArffTable(Table):
    """Contents of an ARFF file.

    Attributes
    ----------
    names : tuple of str
        Names of the columns of ``data``: the numeric, nominal and string attributes.
    values : tuple
        For each column its nominal values, or None if it is numeric. Of a string attribute,
        the strings that were seen.
    data : array or csr_array of shape (n_rows, n_columns)
        Numbers, and positions in ``values``; NaN where missing.
    hierarchy : LabelGraph or None
        Labels and arcs of the hierarchical class attribute of CLUS.
    classes : list of tuples of str, or None
        Labels of every row as the file gives them, ancestors not added.
    keys : dict from names to tuples of str
        Key attributes of CLUS, which name the rows.
    strings : tuple of str
        Names of the string attributes.
    relation : str
        Name of the whole.
    comments : tuple of str
        Lines of the header that begin by ``%``.
    remarks : tuple of str
        What was changed on reading.
    """

    hierarchy: LabelGraph | None = None
    classes: list[tuple[str, ...]] | None = None
    keys: dict[str, tuple[str, ...]] | None = None
    strings: tuple[str, ...] = ()
    relation: str = ""
    comments: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def read_arff(source: Any) -> ArffTable:
    """Read an ARFF file.

    Dense and sparse rows; numeric, real, integer, nominal and string attributes; of CLUS also
    ``key`` attributes, and a ``hierarchical`` class as the last attribute, declared by paths
    ``a/b/c`` or by arcs ``parent/child`` below ``root``, with ``?`` for no label at all.
    Anything else is an error.

    Parameters
    ----------
    source : path, or text file or other iterable of lines
        A path ending in .xz or .gz is unpacked.

    Raises
    ------
    ArffError, DataFormatError
        ValueErrors that tell line and column.

    Examples
    --------
    >>> text = '''@relation weather
    ... @attribute temperature numeric
    ... @attribute outlook {sunny,rainy,cloudy}
    ... @attribute windy {no,yes}
    ... @data
    ... 21.5,cloudy,yes
    ... ?,sunny,no'''
    >>> table = read_arff(text.splitlines())
    >>> table.data
    array([[21.5,  2. ,  1. ],
           [ nan,  0. ,  0. ]])
    >>> X, names = table.one_hot()
    >>> names
    ('temperature', 'outlook=sunny', 'outlook=rainy', 'outlook=cloudy', 'windy')
    >>> X
    array([[21.5,  0. ,  0. ,  1. ,  1. ],
           [ nan,  1. ,  0. ,  0. ,  0. ]])
    """
    if not isinstance(source, (str, PathLike)):
        return _read_table(source)
    try:
        return _read_table(text_lines(source))
    except DataFormatError as error:
        raise error.at(path=source) from None


def check_same_declarations(tables: list[ArffTable], name: str) -> None:
    """Refuse parts of one data set whose columns or labels differ or come in another order."""
    declared = {
        (table.names, table.values, table.hierarchy and table.hierarchy.names) for table in tables
    }
    if len(declared) > 1:
        raise ValueError(f"The files of {name!r} declare different attributes or labels.")


def _read_table(source: Any) -> ArffTable:
    lines = enumerate(source, 1)
    comments: list[str] = []
    remarks: list[str] = []
    relation, attributes = read_header(_without_mark(lines), comments, remarks)
    data, columns = read_rows(lines, attributes)
    kinds = [attribute.kind for attribute in attributes]
    kept = [j for j, kind in enumerate(kinds) if kind in ("numeric", "nominal", "string")]
    parts = {j: _dense_column(data, j) for j, kind in enumerate(kinds) if kind not in _DECLARED}
    values = {j: attributes[j].values for j in kept}
    data = data if len(kept) == len(columns) else data[:, kept]
    for at, j in enumerate(kept):
        if kinds[j] == "string":
            data, values[j] = _strings(data, at, parts[j], columns[j].seen)
    if sparse.issparse(data):
        data.eliminate_zeros()
    is_last = kinds[-1] == "hierarchical"
    return ArffTable(
        names=tuple(attributes[j].name for j in kept),
        values=tuple(values[j] for j in kept),
        data=data,
        hierarchy=attributes[-1].hierarchy,
        classes=_meanings(parts[len(kinds) - 1], columns[-1].seen) if is_last else None,
        keys={
            attributes[j].name: tuple(_meanings(parts[j], ["", *columns[j].seen[1:]]))
            for j, kind in enumerate(kinds)
            if kind == "key"
        },
        strings=tuple(attribute.name for attribute in attributes if attribute.kind == "string"),
        relation=relation,
        comments=tuple(comments),
        remarks=tuple(remarks),
    )


_DECLARED = ("numeric", "nominal")


def _without_mark(lines: Any) -> Iterator[tuple[int, str]]:
    """A byte order mark in front of the first line says nothing."""
    for number, line in lines:
        yield number, line.removeprefix("\ufeff") if number == 1 else line


def _dense_column(data: Any, j: int) -> Any:
    column = data[:, [j]]
    return (column.toarray() if sparse.issparse(column) else column)[:, 0]


def _meanings(numbers: np.ndarray, seen: list[Any]) -> list[Any]:
    return [seen[k] for k in numbers.astype(np.int64)]


def _strings(
    data: Any, at: int, numbers: np.ndarray, seen: list[str | None]
) -> tuple[Any, tuple[Any, ...]]:
    """The data with this column of strings as positions among those that were seen, by row.

    A sparse row that omits a string has the empty one, which is the first then.
    """
    codes, rows = np.unique(numbers[~np.isnan(numbers)].astype(np.int64), return_index=True)
    codes = codes[np.argsort(np.where(codes == 0, -1, rows))]
    place = np.zeros(len(seen))
    place[codes] = np.arange(len(codes))
    stored = data.indices == at if sparse.issparse(data) else (slice(None), at)
    cells = data.data if sparse.issparse(data) else data
    known = ~np.isnan(cells[stored])
    cells[stored] = np.where(
        known, place[np.where(known, cells[stored], 0).astype(np.int64)], np.nan
    )
    return data, tuple("" if code == 0 else seen[code] for code in codes.tolist())
