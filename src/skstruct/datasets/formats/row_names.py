# SPDX-License-Identifier: BSD-3-Clause
"""Which column of a file that is read in blocks names the rows."""

from __future__ import annotations

from skstruct.datasets.formats.targets import choose_row_names

_ROWS = 10_000  # read at once
_DIGITS = 18  # of numbers that are compared


def find_row_names(source, targets, options) -> str | None:
    """The column that names the rows, or None, as for a file that is read as a whole.

    A first column called ``row`` does so if no value comes twice, which takes a look at all of
    them. Whole numbers that increase are seen to differ without being remembered.

    Parameters
    ----------
    source : CsvBlocks or ParquetBlocks
    targets : names of the columns of outputs
    options : ReadOptions
    """
    name = choose_row_names(source.names, targets, options)
    if name is None or options.id_column is not None:
        return name
    if not name.strip().lower().startswith("row"):
        return name
    return name if _increase(source, name) or _all_differ(source, name) else None


def _texts(source, name):
    for _, (column,) in source.blocks(_ROWS, {name: True}):
        yield from column.cells()


def _increase(source, name) -> bool:
    """Whether a column holds whole numbers, plainly written, each above the one before."""
    last = -1
    for text in _texts(source, name):
        plain = len(text) <= _DIGITS and text.isascii() and text.isdecimal()
        if not plain or int(text) <= last:
            return False
        last = int(text)
    return True


def _all_differ(source, name) -> bool:
    seen: set[str] = set()
    for text in _texts(source, name):
        if text in seen:
            return False
        seen.add(text)
    return True
