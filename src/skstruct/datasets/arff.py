# SPDX-License-Identifier: BSD-3-Clause
"""A small, strict and fast reader of ARFF files, those of MULAN and CLUS included."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from os import PathLike
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.datasets.arff_header import ArffError, read_header
from skstruct.datasets.arff_rows import read_dense, read_sparse
from skstruct.datasets.home import open_text
from skstruct.spaces.label_graph import LabelGraph

__all__ = ["ArffError", "ArffTable", "read_arff"]


@dataclass(frozen=True)
class ArffTable:
    """Contents of an ARFF file.

    Attributes
    ----------
    names : tuple of str
        Names of the columns of ``data``: the numeric and the nominal attributes.
    values : tuple
        For each column its nominal values, or None if it is numeric.
    data : array or csr_array of shape (n_rows, n_columns)
        Numbers, and positions in ``values``; NaN where missing.
    hierarchy : LabelGraph or None
        Labels and arcs of the hierarchical class attribute of CLUS.
    classes : list of tuples of str, or None
        Labels of every row as the file gives them, ancestors not added.
    """

    names: tuple[str, ...]
    values: tuple[tuple[str, ...] | None, ...]
    data: Any
    hierarchy: LabelGraph | None = None
    classes: list[tuple[str, ...]] | None = None

    def take(self, columns) -> ArffTable:
        """The same table with these columns only, given by position."""
        names = tuple(self.names[j] for j in columns)
        values = tuple(self.values[j] for j in columns)
        return replace(self, names=names, values=values, data=self.data[:, columns])

    def one_hot(self):
        """Data with one column per nominal value, and their names.

        A two-valued attribute becomes one column, 1 for its second value. A missing
        nominal value gives zeros, a missing number stays NaN.
        """
        n_wide = [0 if values is None or len(values) < 3 else len(values) for values in self.values]
        blocks, names = [], []
        for first, group in groupby(range(len(n_wide)), key=lambda j: j if n_wide[j] else -1):
            columns = list(group)
            block = self.data[:, columns[0] : columns[-1] + 1]
            if first < 0:
                blocks.append(self._known(block, columns))
                names += [self.names[j] for j in columns]
            else:
                blocks.append(_indicators(block, n_wide[first]))
                names += [f"{self.names[first]}={value}" for value in self.values[first]]
        stack = sparse.hstack if sparse.issparse(self.data) else np.hstack
        kind = {"format": "csr"} if sparse.issparse(self.data) else {}
        return (stack(blocks, **kind) if blocks else self.data), tuple(names)

    def _known(self, block, columns):
        """Narrow columns with 0 for a missing nominal value."""
        nominal = np.array([self.values[j] is not None for j in columns])
        if not sparse.issparse(block):
            return np.where(np.isnan(block) & nominal, 0.0, block)
        block = block.copy()
        block.data[np.isnan(block.data) & nominal[block.indices]] = 0.0
        block.eliminate_zeros()
        return block


def _indicators(column, n_values):
    if sparse.issparse(column):
        return sparse.csr_array(_indicators(column.toarray(), n_values))
    return (column == np.arange(n_values)).astype(np.float64)


def read_arff(source) -> ArffTable:
    """Read an ARFF file.

    Dense and sparse rows; numeric, real, integer and nominal attributes; of CLUS also
    ``key`` attributes, which are skipped, and a ``hierarchical`` class in the last place,
    declared by paths ``a/b/c`` or by arcs ``parent/child`` below ``root``. Anything else
    is an error.

    Parameters
    ----------
    source : path, or text file or other iterable of lines
        A path ending in .xz or .gz is unpacked.

    Raises
    ------
    ArffError
        A ValueError that tells line and column.

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
    with open_text(source) as file:
        try:
            return _read(file)
        except ArffError as error:
            error.add_note(f"The file is {source}.")
            raise


def check_same_declarations(tables, name: str) -> None:
    """Refuse parts of one data set whose columns or labels differ or come in another order."""
    declared = {
        (table.names, table.values, table.hierarchy and table.hierarchy.names) for table in tables
    }
    if len(declared) > 1:
        raise ValueError(f"The files of {name!r} declare different attributes or labels.")


def _read(source) -> ArffTable:
    stripped = ((number, line.strip()) for number, line in enumerate(source, 1))
    lines = ((number, line) for number, line in stripped if line and line[0] != "%")
    attributes = read_header(lines)
    rows = list(lines)
    numbers, texts = [number for number, _ in rows], [line for _, line in rows]
    read = read_sparse if texts and texts[0].startswith("{") else read_dense
    data, classes = read(numbers, texts, attributes)
    columns = [attribute for attribute in attributes if attribute.kind in ("numeric", "nominal")]
    return ArffTable(
        names=tuple(attribute.name for attribute in columns),
        values=tuple(attribute.values for attribute in columns),
        data=data,
        hierarchy=attributes[-1].hierarchy,
        classes=classes,
    )
