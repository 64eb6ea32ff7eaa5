# SPDX-License-Identifier: BSD-3-Clause
"""What is to be known of a column of inputs, from one block of its rows after the other."""

from __future__ import annotations

import numpy as np

from skstruct.datasets.formats.columns import (
    MANY_TEXTS,
    Codes,
    NumberColumn,
    TextColumn,
    check_finite,
    is_missing,
    numbers_among_names,
)
from skstruct.exceptions import DataFormatError

MOST_VALUES = 10_000  # names of a column, each of which is a feature


class NumberSummary:
    """Number, mean and squares of the numbers of a column, and whether all are 0 or 1.

    Blocks are merged by Chan, Golub and LeVeque's update: with counts :math:`n_a, n_b` and
    :math:`\\delta = m_b - m_a`, squares about the mean add up to
    :math:`S_a + S_b + \\delta^2 n_a n_b / (n_a + n_b)`.
    """

    def __init__(self, name):
        self.name, self.n, self.mean, self.squares, self.binary = name, 0, 0.0, 0.0, True

    def add(self, column: NumberColumn, fail) -> None:
        """Further rows; infinite ones are refused."""
        check_finite(column, fail)
        known = column.numbers[~np.isnan(column.numbers)]
        if not len(known):
            return
        mean = float(known.mean())
        squares = float(((known - mean) ** 2).sum())
        total, step = self.n + len(known), mean - self.mean
        self.squares += squares + step**2 * self.n * len(known) / total
        self.mean += step * len(known) / total
        self.n = total
        self.binary = self.binary and bool(((known == 0) | (known == 1)).all())

    values = None

    def moments(self, n_rows: int):
        """Mean, variance and whether all are 0 or 1, for the one feature."""
        return [(self.mean, self.squares / max(1, self.n), self.binary)]

    def remarks(self, n_rows: int, nominal, fail) -> tuple[str, ...]:
        return ()


class TextSummary:
    """The texts of a column in the order of appearance, and in how many rows each is."""

    def __init__(self, name):
        self.name, self.known, self.counts, self.first = name, Codes(), [], []
        self._n_rows = 0

    def add(self, column: TextColumn, fail) -> None:
        """Further rows; too many different texts are refused."""
        counts = np.bincount(column.codes, minlength=len(column.texts)).tolist()
        for code, text in enumerate(column.texts):
            number = self.known[text]
            if number == len(self.counts):
                self.counts.append(0)
                self.first.append(self._n_rows + int(np.argmax(column.codes == code)))
            self.counts[number] += counts[code]
        self._n_rows += len(column.codes)
        if len(self.known) > MOST_VALUES:
            raise DataFormatError(
                f"the column {self.name!r} has more than {MOST_VALUES:,} different texts, each of "
                "which would be a feature; if it names the rows, give it as id_column (id_column), "
                "else leave it out of the file"
            )

    @property
    def values(self) -> tuple[str, ...]:
        """The names in their order, as :class:`~skstruct.datasets.table.Table` has them."""
        return tuple(sorted(text for text in self.known if not is_missing(text)))

    def moments(self, n_rows: int):
        """Of every feature of the column: shares of rows, all of them 0 or 1."""
        values = self.values
        shares = [self.counts[self.known[text]] / max(1, n_rows) for text in values]
        if len(values) < 3:
            shares = [shares[1] if len(values) == 2 else 0.0]
        return [(share, 0.0, True) for share in shares]

    def remarks(self, n_rows: int, nominal, fail) -> tuple[str, ...]:
        """As :func:`~skstruct.datasets.formats.columns.as_table` makes them of all rows."""
        found = []
        if len(self.values) > max(MANY_TEXTS, n_rows // 2):
            found.append(
                f"The column {self.name!r} has {len(self.values)} different texts in {n_rows} "
                "rows; if it names the rows, give it as id_column."
            )
        if self.name not in nominal:
            texts = tuple(self.known)
            column = TextColumn(self.name, np.arange(len(texts)), texts)

            def fail_first(problem, row=None, column=None):
                return fail(problem, None if row is None else self.first[row], column)

            found += numbers_among_names(column, fail_first)
        return tuple(found)
