# SPDX-License-Identifier: BSD-3-Clause
"""Rows of ARFF files, compiled: whatever is not plain is left to the reader in Python.

``kinds`` says of a column 0: numeric, 1: nominal, 2: left to Python. Nominal values of up to
eight bytes are words: the words of column j are ``words[first[j] : first[j + 1]]``, rising, and
``codes`` are their values.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from skstruct.datasets._compiled_numbers import read_decimal, read_number

_BYTE = np.uint64(8)


@nb.njit(cache=True, nogil=True, inline="always")
def _is_space(c):
    return c == 32 or c == 9 or c == 11 or c == 12  # line ends are gone


@nb.njit(cache=True, nogil=True, inline="always")
def _read_cell(text, start, end, j, kinds, first, words, codes):
    """Whether this cell of column j is plain, and its value."""
    if start < end and text[start] == 63 and end - start == 1:  # "?"
        return kinds[j] < 2, np.nan
    if kinds[j] == 0:
        return read_number(text, start, end)
    if kinds[j] == 2 or end - start > 8 or end == start:
        return False, 0.0
    word = np.uint64(0)
    for at in range(start, end):
        word = (word << _BYTE) | np.uint64(text[at])
    low, high = first[j], first[j + 1]
    while low < high:
        middle = (low + high) // 2
        if words[middle] < word:
            low = middle + 1
        else:
            high = middle
    if low < first[j + 1] and words[low] == word:
        return True, codes[low]
    return False, 0.0


@nb.njit(cache=True, nogil=True)
def read_dense_rows(text, n_columns, kinds, first, words, codes, values, starts, ends, odd, fine):
    """Fill values, shape (n_rows, n_columns), of rows that end in LF.

    ``odd`` says which cells are left to Python; for those, ``starts`` and ``ends`` become their
    places without the space around them. ``fine`` says of every row whether it has no
    quotes and the right number of cells; of others nothing else is filled.
    """
    at = 0
    for i in range(len(fine)):
        j, sound, is_last = 0, True, False
        while not is_last:
            # A run of digits with a point at most is read on the way to the end of the cell.
            start, w, n_seen, point, simple = at, np.int64(0), 0, -1, j < n_columns
            if text[at] == 45:  # "-"
                at += 1
            while True:
                c = text[at]
                if 48 <= c <= 57:
                    w = 10 * w + (np.int64(c) - 48)
                    n_seen += 1
                elif c == 44 or c == 10:  # "," and LF
                    break
                elif c == 46 and point < 0:  # "."
                    point = n_seen
                else:
                    simple = False
                    sound &= c != 39 and c != 34 and c != 92  # no quotes, no backslash
                at += 1
            is_last = text[at] == 10
            value = 0.0
            if simple and kinds[j] == 0:
                simple, value = read_decimal(w, n_seen, point)
            if simple and kinds[j] == 0:
                values[i, j] = -value if text[start] == 45 else value
                odd[i, j] = False
            elif sound and j < n_columns:
                end = at
                while start < end and _is_space(text[start]):
                    start += 1
                while start < end and _is_space(text[end - 1]):
                    end -= 1
                plain, value = _read_cell(text, start, end, j, kinds, first, words, codes)
                starts[i, j], ends[i, j] = start, end
                values[i, j], odd[i, j] = value, not plain
            at += 1
            j += 1
        fine[i] = sound and j == n_columns


@nb.njit(cache=True, nogil=True)
def read_sparse_rows(
    text, kinds, first, words, codes, rows, columns, values, starts, ends, odd, fine
):
    """Fill rows, columns and values of the cells of rows ``{position value,...}`` that end in LF.

    The others as :func:`read_dense_rows`, of shape (n_cells,). Returns how many cells there are;
    rows that are not fine have none.
    """
    at, k = 0, 0
    for i in range(len(fine)):
        before = -1
        at, n_more = _next_pair(text, at, True)
        begin, sound = k, n_more >= 0
        while sound and n_more:
            j, start, end, at = _pair(text, at)
            sound = before < j < len(kinds) and start < end
            if not sound:
                break
            plain, value = _read_cell(text, start, end, j, kinds, first, words, codes)
            rows[k], columns[k], values[k], odd[k] = i, j, value, not plain
            starts[k], ends[k] = start, end
            before, k = j, k + 1
            at, n_more = _next_pair(text, at, False)
            sound = n_more >= 0
        if not sound:
            k = begin
        fine[i] = sound
        while text[at] != 10:
            at += 1
        at += 1
    return k


@nb.njit(cache=True, nogil=True)
def _next_pair(text, at, is_first):
    """Where the next pair begins, and 1; or 0 if the row ends here, or -1 if it is not sound."""
    if is_first:
        if text[at] != 123:  # "{"
            return at, -1
        at = _past_space(text, at + 1)
    if text[at] == 125:  # "}"
        at = _past_space(text, at + 1)
        return at, 0 if text[at] == 10 else -1
    if not is_first:
        if text[at] != 44:  # ","
            return at, -1
        at = _past_space(text, at + 1)
    return at, 1


@nb.njit(cache=True, nogil=True)
def _pair(text, at):
    """Position, start and end of the value, and what follows; the position -1 if not sound."""
    j, n_digits = 0, 0
    while 48 <= text[at] <= 57 and n_digits < 9:
        j, n_digits, at = 10 * j + np.int64(text[at]) - 48, n_digits + 1, at + 1
    if n_digits == 0 or not _is_space(text[at]):
        return -1, at, at, at
    start = _past_space(text, at)
    at = start
    while text[at] != 44 and text[at] != 125 and text[at] != 10:
        if text[at] == 39 or text[at] == 34 or text[at] == 92:  # quotes and the backslash
            return -1, at, at, at
        at += 1
    end = at
    while start < end and _is_space(text[end - 1]):
        end -= 1
    return j, start, end, at


@nb.njit(cache=True, nogil=True, inline="always")
def _past_space(text, at):
    while _is_space(text[at]):
        at += 1
    return at
