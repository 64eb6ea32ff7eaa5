# SPDX-License-Identifier: BSD-3-Clause
"""Whether two data sets are the same, and whether one that is written reads back as it was."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from memory_files import put
from scipy import sparse

from skstruct.datasets.dataset import Dataset, Table
from skstruct.exceptions import DataFormatError


def must_agree(one: Any, other: Any, what: str) -> None:
    """Two outcomes of one file, data sets or refusals; of two refusals only that both are."""
    refused = [isinstance(found, DataFormatError) for found in (one, other)]
    problem = None
    if any(refused):
        problem = None if all(refused) else f"{one!r:.150} against {other!r:.150}"
    else:
        problem = difference(one, other)
    if problem:
        raise AssertionError(f"{what}: {problem}"[:400])


def difference(one: Dataset, other: Dataset, parts=("task", "labels", "edges", "index")) -> Any:
    """In what two data sets differ; None if in nothing."""
    for part in parts:
        if getattr(one, part) != getattr(other, part):
            return f"{part}: {getattr(one, part)} against {getattr(other, part)}"
    if not _same_inputs(one.inputs, other.inputs):
        return "inputs"
    y, z = one.outputs, other.outputs
    if isinstance(y, np.ndarray) and isinstance(z, np.ndarray):
        same = y.shape == z.shape and np.array_equal(y, z, equal_nan=y.dtype.kind == "f")
    else:
        same = type(y) is type(z) and _in_order(one, y) == _in_order(other, z)
    return None if same else "outputs"


def _in_order(data: Dataset, outputs: Any) -> Any:
    """Labels of a set in one order."""
    if data.task != "labels" or outputs is None:
        return outputs
    return [sorted(row) if isinstance(row, tuple) else row for row in outputs]


def _same_inputs(a: Any, b: Any) -> bool:
    if isinstance(a, Table):
        values = [tuple(names or None for names in table.values) for table in (a, b)]
        if (a.names, values[0], a.data.shape) != (b.names, values[1], b.data.shape):
            return False  # a column of which nothing is known is of names or of numbers
        if sparse.issparse(a.data) and sparse.issparse(b.data):
            cells = [(m.indptr, m.indices, m.data) for m in (a.data.tocsr(), b.data.tocsr())]
            return all(np.array_equal(x, y, equal_nan=True) for x, y in zip(*cells))
        x, y = (m.toarray() if sparse.issparse(m) else m for m in (a.data, b.data))
        return np.array_equal(x, y, equal_nan=True)
    if len(a) and isinstance(a[0], np.ndarray):
        return len(a) == len(b) and all(np.array_equal(x, y) for x, y in zip(a, b))
    return list(a) == list(b)


class Bytes(io.BytesIO):
    """A file of bytes as writers of text and of Parquet expect it."""

    def __init__(self) -> None:
        super().__init__()
        self.text = io.StringIO(newline="")

    @property
    def buffer(self) -> io.BytesIO:
        return self

    def write(self, piece):  # type: ignore[override]
        return self.text.write(piece) if isinstance(piece, str) else super().write(piece)

    def all(self) -> bytes:
        return self.text.getvalue().encode() or self.getvalue()


def written(write: Any, data: Dataset, path: Path) -> bool:
    """Put the data set, written, where the file was; False if it is refused."""
    file = Bytes()
    try:
        write(data, file)
    except DataFormatError:
        return False  # such as missing values to LIBSVM
    put(path, file.all())
    return True
