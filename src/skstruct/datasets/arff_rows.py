# SPDX-License-Identifier: BSD-3-Clause
"""Rows of an ARFF file, dense or sparse, read column by column."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skstruct.datasets.arff_header import ArffError, Attribute, split_cells, unquote


def read_dense(numbers, lines, attributes):
    """Data, shape (n_rows, n_columns), and the class labels of every row or None."""
    rows = [split_cells(line, number) for number, line in zip(numbers, lines)]
    for number, row in zip(numbers, rows):
        if len(row) != len(attributes):
            raise ArffError(f"{len(row)} values for {len(attributes)} attributes.", number)
    # Column by column, because the text of a whole column becomes numbers in one call.
    columns = zip(*rows) if rows else [()] * len(attributes)
    data, classes = [], None
    for position, (attribute, cells) in enumerate(zip(attributes, columns)):
        if attribute.kind == "hierarchical":
            classes = _column(attribute, position, cells, numbers)
        elif attribute.kind != "key":
            data.append(_column(attribute, position, cells, numbers))
    return np.column_stack(data) if data else np.empty((len(lines), 0)), classes


def read_sparse(numbers, lines, attributes):
    """As :func:`read_dense`, with a CSR array: what a row omits is 0 or the first value."""
    columns, classes = [], None
    by_position = _sparse_columns(numbers, lines, len(attributes))
    for position, (attribute, (rows, cells)) in enumerate(zip(attributes, by_position)):
        if attribute.kind == "key":
            continue
        values = _column(attribute, position, cells, [numbers[i] for i in rows])
        if attribute.kind == "hierarchical":
            classes = values
            missing = set(range(len(lines))) - set(rows)
            if missing:
                raise ArffError(f"no value for {attribute.name!r}.", numbers[min(missing)])
        else:
            columns.append((rows, values))
    ends = np.cumsum([0, *(len(rows) for rows, _ in columns)])
    rows = np.array([i for rows, _ in columns for i in rows], dtype=np.int64)
    values = np.concatenate([[], *(values for _, values in columns)])
    data = sparse.csc_array((values, rows, ends), shape=(len(lines), len(columns))).tocsr()
    data.eliminate_zeros()
    return data, classes


def _sparse_columns(numbers, lines, n_attributes):
    """For every attribute the rows that give a value, and their cells."""
    columns = [([], []) for _ in range(n_attributes)]
    for row, (number, line) in enumerate(zip(numbers, lines)):
        if not (line.startswith("{") and line.endswith("}")):
            raise ArffError(f"expected a row {{position value, ...}}, got {line[:40]!r}.", number)
        last = -1
        for pair in split_cells(line[1:-1], number) if line[1:-1].strip() else ():
            position, cell = [*pair.split(None, 1), "", ""][:2]
            if not (position.isdecimal() and cell):
                raise ArffError(f"expected 'position value', got {pair!r}.", number)
            if not last < int(position) < n_attributes:
                raise ArffError(
                    f"positions rise and end at {n_attributes - 1}; got {position} after {last}.",
                    number,
                )
            last = int(position)
            columns[last][0].append(row)
            columns[last][1].append(cell)
    return columns


def _column(attribute: Attribute, position, cells, numbers):
    """Values of a column: an array of numbers or codes, or a list of tuples of labels."""
    if attribute.kind == "numeric" and "_" not in "".join(cells):  # float reads 1_0 as 10
        try:
            return np.array(cells, dtype=np.float64)
        except ValueError:
            pass  # missing values, or an error to be located
    read = _READERS[attribute.kind](attribute)
    known = {}
    for cell in dict.fromkeys(cells):
        try:
            known[cell] = read(cell)
        except ValueError as error:
            problem = f"{error} (attribute {attribute.name!r})."
            raise ArffError(problem, numbers[cells.index(cell)], position + 1) from None
    values = [known[cell] for cell in cells]
    return values if attribute.kind == "hierarchical" else np.array(values, dtype=np.float64)


def _number_reader(attribute):
    def read(cell):
        text = cell.strip()
        if text == "?":
            return np.nan
        try:
            return float(text.replace("_", "?"))
        except ValueError:
            raise ValueError(f"{text!r} is not a number") from None

    return read


def _code_reader(attribute):
    codes = {value: code for code, value in enumerate(attribute.values)}

    def read(cell):
        if cell.strip() == "?":
            return np.nan
        value = unquote(cell)
        if value not in codes:
            raise ValueError(f"{value!r} is none of {', '.join(attribute.values[:10])}")
        return codes[value]

    return read


def _label_reader(attribute):
    number = attribute.hierarchy.number

    def read(cell):
        labels = tuple(unquote(cell).split("@"))
        for label in labels:
            if label not in number:
                raise ValueError(f"the label {label!r} is not in the declared hierarchy")
        return labels

    return read


_READERS = {"numeric": _number_reader, "nominal": _code_reader, "hierarchical": _label_reader}
