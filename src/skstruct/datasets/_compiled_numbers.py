# SPDX-License-Identifier: BSD-3-Clause
r"""Decimal numbers in text, compiled, rounded exactly as ``float`` does.

A number is :math:`w\,10^q` with w below :math:`2^{64}`. If w and the power are exact doubles, one
multiplication or division rounds as it should [1]_. Otherwise w is multiplied by the first
128 bits of :math:`5^q`, cut off: the truth lies less than two units of the last place above
the product, and unless that leaves the rounding open, which is rare, it is settled [2]_.

References
----------
.. [1] W. D. Clinger, "How to read floating point numbers accurately", 1990.
.. [2] D. Lemire, "Number parsing at a gigabyte per second", 2021.
"""

from __future__ import annotations

import math

import numba as nb
import numpy as np

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
