# SPDX-License-Identifier: BSD-3-Clause
"""Rows of CSV files without quotes, compiled: whatever is not plain is left to Python."""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct.datasets.formats._numba import read_decimal, read_number, word_of

_PRIME = np.uint64(0x100000001B3)
_SEED = np.uint64(0xCBF29CE484222325)
_FOLD = np.uint64(32)


@nb.njit(cache=True, nogil=True, inline="always")
def _is_space(c):
    return c == 32 or (9 <= c <= 13 and c != 10)


@nb.njit(cache=True, nogil=True)
def _odd_number(text, start, end, missing):
    """Whether a cell that is no run of digits is missing or a number, and its value."""
    while start < end and _is_space(text[start]):
        start += 1
    while start < end and _is_space(text[end - 1]):
        end -= 1
    if end - start <= 8:
        word = word_of(text, start, end)
        for other in missing:
            if word == other:
                return True, np.nan
    return read_number(text, start, end)


@nb.njit(cache=True, nogil=True)
def read_csv_rows(text, separator, slots, missing, values, starts, ends, odd):
    """Fill the columns of rows that end in LF; how many odd cells there are, or -1.

    Parameters
    ----------
    slots : array of shape (width,)
        The row of ``values`` of a column of numbers; ``-1 - k`` of the column of texts whose
        cells begin at ``starts[k]`` and end at ``ends[k]``.
    missing : array of words
        Up to eight bytes that say that there is no value.
    odd : array of shape (n_most, 4)
        Column, row, start and end of cells that no rule here settles.

    -1 is for a quote, a NUL, an empty line, a wrong number of cells, and too many odd ones.
    """
    at, n_odd, width = 0, 0, len(slots)
    for i in range(values.shape[1]):
        if text[at] == 10:
            return -1
        for j in range(width):
            start, slot = at, slots[j]
            stop = 10 if j == width - 1 else separator
            if slot < 0:
                c = text[at]
                while c != separator and c != 10:
                    if c == 34 or c == 0:
                        return -1
                    at += 1
                    c = text[at]
                starts[-1 - slot, i], ends[-1 - slot, i] = start, at
            else:
                # A run of digits with a point at most is read on the way to the end of the cell.
                w, n_seen, point, simple = np.int64(0), 0, -1, True
                if text[at] == 45:  # "-"
                    at += 1
                while True:
                    c = text[at]
                    if 48 <= c <= 57:
                        w = 10 * w + (np.int64(c) - 48)
                        n_seen += 1
                    elif c == separator or c == 10:
                        break
                    elif c == 46 and point < 0:  # "."
                        point = n_seen
                    elif c == 34 or c == 0:
                        return -1
                    else:
                        simple = False
                    at += 1
                value = 0.0
                if simple:
                    simple, value = read_decimal(w, n_seen, point)
                if simple:
                    values[slot, i] = -value if text[start] == 45 else value
                else:
                    settled, values[slot, i] = _odd_number(text, start, at, missing)
                    if not settled:
                        if n_odd == len(odd):
                            return -1
                        odd[n_odd, 0], odd[n_odd, 1] = j, i
                        odd[n_odd, 2], odd[n_odd, 3] = start, at
                        n_odd += 1
            if text[at] != stop:
                return -1
            at += 1
    return n_odd


@nb.njit(cache=True, nogil=True)
def number_texts(text, starts, ends, table, codes, first):
    """Number the texts of a column by appearance; how many there are.

    ``table`` is of -1, twice as long as the column at least, and its length a power of two.
    ``first[code]`` becomes the row where a text comes first.
    """
    n_texts, mask = 0, np.uint64(len(table) - 1)
    for i in range(len(starts)):
        start, length = starts[i], ends[i] - starts[i]
        mixed = _SEED
        for at in range(start, ends[i]):
            mixed = (mixed ^ np.uint64(text[at])) * _PRIME
        place = (mixed ^ (mixed >> _FOLD)) & mask
        while True:
            code = table[np.int64(place)]
            if code < 0:
                table[np.int64(place)], first[n_texts], codes[i] = n_texts, i, n_texts
                n_texts += 1
                break
            other = starts[first[code]]
            if ends[first[code]] - other == length:
                same = 0
                while same < length and text[other + same] == text[start + same]:
                    same += 1
                if same == length:
                    codes[i] = code
                    break
            place = (place + np.uint64(1)) & mask
    return n_texts
