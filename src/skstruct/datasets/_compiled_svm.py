# SPDX-License-Identifier: BSD-3-Clause
"""Rows ``index:value index:value`` of LIBSVM files, compiled."""

from __future__ import annotations

import math

import numba as nb
import numpy as np

from skstruct.datasets._compiled_numbers import read_decimal, read_number


@nb.njit(cache=True, nogil=True)
def read_svm_rows(text, indices, values, last, fine):
    """Fill indices, counted from 1, and values of rows that end in LF.

    ``last[i]`` becomes the number of pairs up to row i. ``fine`` says of every row whether all
    is plain: pairs separated by spaces, rising indices, finite values. Others have no pairs.
    """
    at, k = 0, 0
    for i in range(len(fine)):
        begin, before, sound = k, 0, True
        while True:
            while text[at] == 32:
                at += 1
            if text[at] == 10:
                break
            index, n_digits = 0, 0
            while 48 <= text[at] <= 57 and n_digits < 9:
                index, n_digits, at = 10 * index + np.int64(text[at]) - 48, n_digits + 1, at + 1
            if text[at] != 58 or index <= before:  # ":"
                sound = False
                break
            at += 1
            # A run of digits with a point at most is read on the way to the end of the value.
            start, w, n_seen, point, simple = at, np.int64(0), 0, -1, True
            while text[at] != 32 and text[at] != 10:
                c = text[at]
                if 48 <= c <= 57:
                    w = 10 * w + (np.int64(c) - 48)
                    n_seen += 1
                elif c == 46 and point < 0:  # "."
                    point = n_seen
                else:
                    simple = False
                at += 1
            value = 0.0
            if simple:
                simple, value = read_decimal(w, n_seen, point)
            if not simple:
                sound, value = read_number(text, start, at)
                if not sound or not math.isfinite(value):
                    sound = False
                    break
            indices[k], values[k] = index, value
            before, k = index, k + 1
        if not sound:
            k = begin
        fine[i], last[i] = sound, k
        while text[at] != 10:
            at += 1
        at += 1
    return k
