# SPDX-License-Identifier: BSD-3-Clause
r"""Decimal numbers, rows of ARFF files and rows of LIBSVM files, compiled.

A number is :math:`w\,10^q` with w below :math:`2^{64}`. If w and the power are exact doubles,
one multiplication or division rounds as it should [1]_. Otherwise w is multiplied by the first
128 bits of :math:`5^q`, cut off: the truth lies less than two units of the last place above the
product, and unless that leaves the rounding open, which is rare, it is settled [2]_.

References
----------
.. [1] W. D. Clinger, "How to read floating point numbers accurately", 1990.
.. [2] D. Lemire, "Number parsing at a gigabyte per second", 2021.
"""

import math

import numpy as np

from skstruct._arrays import compiling as nb

_LOWEST, _HIGHEST = -342, 308


def _powers_of_five():
    """The first 128 bits of 5^q as two words, and the binary exponent of the last of them."""
    high, low, exponents = [], [], []
    for q in range(_LOWEST, _HIGHEST + 1):
        power = 5 ** abs(q)
        n_bits = power.bit_length()
        if q < 0:
            bits, exponent = (1 << (n_bits + 127)) // power, -(n_bits + 127)
        else:
            bits = power << 128 >> n_bits
            exponent = n_bits - 128
        high.append(bits >> 64)
        low.append(bits & (2**64 - 1))
        exponents.append(exponent)
    return np.array(high, np.uint64), np.array(low, np.uint64), np.array(exponents, np.int64)


_FIVES_HIGH, _FIVES_LOW, _FIVES_EXPONENT = _powers_of_five()
_TENS = 10.0 ** np.arange(23)
_HALF_WORD, _LOW_BITS = np.uint64(32), np.uint64(0xFFFFFFFF)
_ZERO, _ONE, _TWO, _TEN = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(10)
_TOP, _ALMOST_ALL = np.uint64(1 << 63), np.uint64(2**64 - 2)
_SIGNED_EXACT = 1 << 53
_EXACT = np.uint64(_SIGNED_EXACT)


@nb.njit(cache=True, nogil=True)
def _product(a, b):
    """High and low word of a product of two words."""
    a_high, a_low = a >> _HALF_WORD, a & _LOW_BITS
    b_high, b_low = b >> _HALF_WORD, b & _LOW_BITS
    low = a_low * b_low
    middle = a_high * b_low + (low >> _HALF_WORD)
    other = a_low * b_high + (middle & _LOW_BITS)
    high = a_high * b_high + (middle >> _HALF_WORD) + (other >> _HALF_WORD)
    return high, (other << _HALF_WORD) | (low & _LOW_BITS)


@nb.njit(cache=True, nogil=True)
def scaled(w, q):
    """Whether w 10^q is settled, and its value."""
    if w == _ZERO:
        return True, 0.0
    if w <= _EXACT and -22 <= q <= 22:
        return True, np.float64(w) * _TENS[q] if q >= 0 else np.float64(w) / _TENS[-q]
    if q < _LOWEST or q > _HIGHEST:
        return False, 0.0
    shift = 0
    while w < _TOP:
        w = w << _ONE
        shift += 1
    high, middle = _product(w, _FIVES_HIGH[q - _LOWEST])
    below, _ = _product(w, _FIVES_LOW[q - _LOWEST])
    middle = middle + below
    if middle < below:
        high = high + _ONE
    n_dropped = np.uint64(11) if high >= _TOP else np.uint64(10)
    rest, half = high & ((_ONE << n_dropped) - _ONE), _ONE << (n_dropped - _ONE)
    if middle >= _ALMOST_ALL or (rest == half and middle < _TWO):
        return False, 0.0  # the bits that were cut off may decide
    mantissa = high >> n_dropped
    if rest >= half:
        mantissa = mantissa + _ONE
    exponent = 128 + _FIVES_EXPONENT[q - _LOWEST] + q - shift + np.int64(n_dropped)
    if exponent < -1074 or exponent > 970:
        return False, 0.0  # too small for 53 bits, or perhaps too large
    return True, math.ldexp(np.float64(mantissa), exponent)


@nb.njit(cache=True, nogil=True)
def read_decimal(w, n_digits, point):
    """Whether these digits, with a point behind so many of them or -1, are settled; the value.

    ``w`` is their number as a signed one, which 19 digits make negative if it is too large.
    """
    if n_digits == 0 or n_digits > 19 or w < 0:
        return False, 0.0
    n_decimals = 0 if point < 0 else n_digits - point
    if w <= _SIGNED_EXACT:
        return True, np.float64(w) / _TENS[n_decimals]
    return scaled(np.uint64(w), -n_decimals)


@nb.njit(cache=True, nogil=True)
def read_number(text, start, end):
    """Whether these bytes are a decimal number that is settled here, and its value."""
    at = start
    negative = at < end and text[at] == 45  # "-"
    if at < end and (text[at] == 45 or text[at] == 43):  # "-" or "+"
        at += 1
    w, n_digits, n_seen, point = _ZERO, 0, 0, -1
    while at < end:
        c = text[at]
        if 48 <= c <= 57:
            n_seen += 1
            if n_digits or c != 48:
                n_digits += 1
                if n_digits > 19:
                    return False, 0.0
                w = w * _TEN + np.uint64(c - 48)
        elif c == 46 and point < 0:  # "."
            point = n_seen
        else:
            break
        at += 1
    if n_seen == 0:
        return False, 0.0
    q = 0 if point < 0 else point - n_seen
    if at < end:
        if text[at] != 101 and text[at] != 69:  # "e" or "E"
            return False, 0.0
        at += 1
        sign = -1 if at < end and text[at] == 45 else 1
        if at < end and (text[at] == 45 or text[at] == 43):
            at += 1
        if at == end or end - at > 4:
            return False, 0.0
        power = 0
        while at < end:
            if text[at] < 48 or text[at] > 57:
                return False, 0.0
            power = 10 * power + (np.int64(text[at]) - 48)
            at += 1
        q += sign * power
    settled, value = scaled(w, q)
    return settled, -value if negative else value


# Rows of ARFF files, compiled: whatever is not plain is left to the reader in Python.
#
# ``kinds`` says of a column 0: numeric, 1: nominal, 2: left to Python. Nominal values of up to
# eight bytes are words: the words of column j are ``words[first[j] : first[j + 1]]``, rising, and
# ``codes`` are their values.


_BYTE = np.uint64(8)


@nb.njit(cache=True, nogil=True, inline="always")
def _is_space(c):
    return c == 32 or c == 9 or c == 11 or c == 12  # line ends are gone


@nb.njit(cache=True, nogil=True, inline="always")
def word_of(text, start, end):
    """Up to eight bytes as one number."""
    word = np.uint64(0)
    for at in range(start, end):
        word = (word << _BYTE) | np.uint64(text[at])
    return word


@nb.njit(cache=True, nogil=True, inline="always")
def _index(text, at):
    """A number of up to nine digits, and what follows it."""
    index, end = 0, at + 9
    while at < end and 48 <= text[at] <= 57:
        index, at = 10 * index + np.int64(text[at]) - 48, at + 1
    return index, at


@nb.njit(cache=True, nogil=True, inline="always")
def _read_cell(text, start, end, j, kinds, first, words, codes):
    """Whether this cell of column j is plain, and its value."""
    if start < end and text[start] == 63 and end - start == 1:  # "?"
        return kinds[j] < 2, np.nan
    if kinds[j] == 0:
        return read_number(text, start, end)
    if kinds[j] == 2 or end - start > 8 or end == start:
        return False, 0.0
    word = word_of(text, start, end)
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
    positions without the space around them. ``fine`` says of every row whether it has no
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
    begin = at
    j, at = _index(text, at)
    if at == begin or not _is_space(text[at]):
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
            index, at = _index(text, at)
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
