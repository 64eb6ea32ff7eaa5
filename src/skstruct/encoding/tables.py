# SPDX-License-Identifier: BSD-3-Clause
"""Tables of numbers and of names, whatever they were read from."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Self

import numpy as np
from scipy import sparse

from skstruct.exceptions import DataFormatError
from skstruct.saving import require, savable


@savable
@dataclass(frozen=True)
class Table:
    """Rows of numbers and of nominal values.

    Attributes
    ----------
    names : tuple of str
        Names of the columns.
    values : tuple
        For each column its nominal values, or None if it is numeric.
    data : float64 array or csr_array of shape (n_rows, n_columns)
        Numbers, and positions in ``values``; NaN where missing.

    Examples
    --------
    >>> data = np.array([[21.5, 2.0], [np.nan, 0.0]])
    >>> table = Table(("warmth", "sky"), (None, ("sunny", "rainy", "cloudy")), data)
    >>> X, names = table.one_hot()
    >>> names
    ('warmth', 'sky=sunny', 'sky=rainy', 'sky=cloudy')
    >>> X
    array([[21.5,  0. ,  0. ,  1. ],
           [ nan,  1. ,  0. ,  0. ]])
    """

    names: tuple[str, ...]
    values: tuple[tuple[str, ...] | None, ...]
    data: Any

    def _check_saved(self) -> None:
        n_columns = self.data.shape[1] if getattr(self.data, "ndim", 0) == 2 else -1
        fits = n_columns == len(self.names) == len(self.values)
        require(fits and self.data.dtype == np.float64, "a table of several widths")

    def __len__(self) -> int:
        return self.data.shape[0]

    def take(self, columns: Sequence[int]) -> Self:
        """The same table with these columns only, given by position."""
        names = tuple(self.names[j] for j in columns)
        values = tuple(self.values[j] for j in columns)
        return replace(self, names=names, values=values, data=self.data[:, columns])

    def rows(self, rows: Any) -> Self:
        """The same table with these rows only."""
        return replace(self, data=self.data[rows])

    def one_hot(self) -> tuple[Any, tuple[Any, ...]]:
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
                names += [f"{self.names[first]}={value}" for value in self.values[first] or ()]
        if not blocks:
            return self.data, tuple(names)
        if sparse.issparse(self.data):
            return sparse.hstack(blocks, format="csr"), tuple(names)
        return np.hstack(blocks), tuple(names)

    def _known(self, block: Any, columns: list[int]) -> Any:
        """Narrow columns with 0 for a missing nominal value."""
        nominal = np.array([self.values[j] is not None for j in columns])
        if not sparse.issparse(block):
            return np.where(np.isnan(block) & nominal, 0.0, block)
        block = block.copy()
        block.data[np.isnan(block.data) & nominal[block.indices]] = 0.0
        block.eliminate_zeros()
        return block


def _indicators(column: Any, n_values: int) -> Any:
    if sparse.issparse(column):
        return sparse.csr_array(_indicators(column.toarray(), n_values))
    return (column == np.arange(n_values)).astype(np.float64)


def check_columns(wanted: tuple[Any, ...], there: set[Any]) -> None:
    """Raise where columns that a model reads are not there."""
    missing = [name for name in wanted if name not in there]
    if missing:
        raise missing_columns(wanted, missing)


def missing_columns(wanted: tuple[Any, ...], missing: list[str]) -> DataFormatError:
    """The error of data that lack columns which a model reads."""
    named = ", ".join(map(repr, missing[:10])) + (", ..." if len(missing) > 10 else "")
    error = DataFormatError(
        f"the model reads {len(wanted)} columns, and {len(missing)} of them are not in these "
        f"data: {named}"
    )
    error.field = str(missing[0])
    return error
