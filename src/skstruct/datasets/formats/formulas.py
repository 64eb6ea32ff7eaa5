# SPDX-License-Identifier: BSD-3-Clause
"""Cells that a spreadsheet would run: an apostrophe before them says that they are text."""

from __future__ import annotations

import re

import numpy as np

from skstruct.datasets.formats.columns import Codes, TextColumn, as_numbers

_RUNS = re.compile(r"'*[=+\-@\t\r]")  # with apostrophes of its own, so that one can be taken off


def harmless(text: str) -> str:
    """A cell of a CSV file that no spreadsheet takes for a formula; numbers stay as they are.

    Examples
    --------
    >>> harmless("=1+1"), harmless("-1.5"), harmless("a-b")
    ("'=1+1", '-1.5', 'a-b')
    """
    if _RUNS.match(text) is None or (text[0] in "+-" and as_numbers([text]) is not None):
        return text
    return "'" + text


def as_meant(text: str) -> str:
    """What :func:`harmless` was given.

    Examples
    --------
    >>> as_meant("'=1+1"), as_meant("'tis"), as_meant(harmless("'=1"))
    ('=1+1', "'tis", "'=1")
    """
    return text[1:] if text[:1] == "'" and _RUNS.match(text) else text


def column_as_meant(column: TextColumn) -> TextColumn:
    """A column of texts without the apostrophes of :func:`harmless`."""
    if not any(text[:1] == "'" for text in column.texts):
        return column
    known = Codes()
    codes = np.array([known[as_meant(text)] for text in column.texts], dtype=np.int64)
    return TextColumn(column.name, codes[column.codes], tuple(known))
