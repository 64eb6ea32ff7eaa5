# SPDX-License-Identifier: BSD-3-Clause
"""A strict and fast reader of ARFF files, those of MULAN and CLUS included."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike

import numpy as np
from scipy import sparse

from skstruct.datasets.arff_header import ArffError, read_header
from skstruct.datasets.arff_rows import read_rows
from skstruct.datasets.table import Table
from skstruct.datasets.text_lines import text_lines
from skstruct.exceptions import DataFormatError
from skstruct.spaces.label_graph import LabelGraph

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


def read_arff(source) -> ArffTable:
    """Read an ARFF file.

    Dense and sparse rows; numeric, real, integer, nominal and string attributes; of CLUS also
    ``key`` attributes, and a ``hierarchical`` class in the last place, declared by paths
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
        return _read(source)
    try:
        return _read(text_lines(source))
    except DataFormatError as error:
        raise error.at(path=source) from None


def check_same_declarations(tables, name: str) -> None:
    """Refuse parts of one data set whose columns or labels differ or come in another order."""
    declared = {
        (table.names, table.values, table.hierarchy and table.hierarchy.names) for table in tables
    }
    if len(declared) > 1:
        raise ValueError(f"The files of {name!r} declare different attributes or labels.")


def _read(source) -> ArffTable:
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


def _without_mark(lines):
    """A byte order mark in front of the first line says nothing."""
    for number, line in lines:
        yield number, line.removeprefix("\ufeff") if number == 1 else line


def _dense_column(data, j):
    column = data[:, [j]]
    return (column.toarray() if sparse.issparse(column) else column)[:, 0]


def _meanings(numbers, seen) -> list:
    return [seen[k] for k in numbers.astype(np.int64)]


def _strings(data, at, numbers, seen):
    """The data with this column of strings as positions among those that were seen.

    A sparse row that omits a string has the empty one.
    """
    if (numbers == 0).any():
        return data, ("", *(value for value in seen[1:]))
    if sparse.issparse(data):
        stored = data.indices == at
        data.data[stored] -= 1
    else:
        data[:, at] -= 1
    return data, tuple(seen[1:])
