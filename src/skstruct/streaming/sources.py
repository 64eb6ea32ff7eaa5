# SPDX-License-Identifier: BSD-3-Clause
"""Which source reads what a caller gave."""

import os
import sys
from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from skstruct.streaming.blocks import Source


def is_source(X: Any) -> bool:
    """Whether ``X`` is to be read in blocks rather than held whole.

    So it is with a source, an iterator, generator or data loader, a function that gives one, the
    path of a Parquet file or folder, a pyarrow table or dataset, and a memory-mapped array.

    >>> is_source(iter([])), is_source("rows.parquet"), is_source([[1.0, 2.0]])
    (True, True, False)
    """
    known = (Source, np.memmap, str, os.PathLike)
    return isinstance(X, known) or is_arrow(X) or _is_iterator(X)


def as_source(X: Any, y: Any = None, sample_weight: Any = None) -> Source:
    """A source of the rows that a caller gave.

    Parameters
    ----------
    X : whatever :func:`is_source` knows, or arrays
    y : outputs, default=None
        Of a path, table or dataset: the name of the column that holds them, or a list of names.
    sample_weight : array of shape (n,), default=None
        Of a path, table or dataset: the name of the column.

    Examples
    --------
    >>> as_source([[0.5], [1.5]], ["a", "b"]).n_rows
    2
    """
    if isinstance(X, (str, os.PathLike)) or is_arrow(X):
        from skstruct.streaming.parquet import ParquetSource

        return ParquetSource(X, outputs=_names(y, "y"), weight=_names(sample_weight, "weight"))
    if not isinstance(X, Source) and not _is_iterator(X):
        from skstruct.streaming.arrays import ArraySource

        return ArraySource(X, y, sample_weight)
    if y is not None or sample_weight is not None:
        raise ValueError(
            "y and sample_weight come with the blocks of a source: (X, y) or (X, y, weight)."
        )
    if isinstance(X, Source):
        return X
    from skstruct.streaming.iterators import IteratorSource

    return IteratorSource(X)


def is_arrow(X: Any) -> bool:
    """Whether ``X`` is a table or a dataset of pyarrow, without importing it."""
    arrow, dataset = sys.modules.get("pyarrow"), sys.modules.get("pyarrow.dataset")
    return (arrow is not None and isinstance(X, arrow.Table)) or (
        dataset is not None and isinstance(X, dataset.Dataset)
    )


def _is_iterator(X: Any) -> bool:
    """Also a data loader: it can be iterated over, but has no rows to point at."""
    if isinstance(X, (Mapping, Set)) or hasattr(X, "shape"):
        return False
    iterable = hasattr(X, "__iter__") and not hasattr(X, "__getitem__")
    return callable(X) or hasattr(X, "__next__") or iterable


def _names(columns: Any, name: str) -> Any:
    listed = isinstance(columns, (list, tuple)) and all(isinstance(c, str) for c in columns)
    if columns is None or isinstance(columns, str) or (listed and name == "y"):
        return columns
    raise ValueError(
        f"With a file, {name} is the name of its column"
        f"{' or a list of names' if name == 'y' else ''}; got {type(columns).__name__}."
    )
