# SPDX-License-Identifier: BSD-3-Clause
"""Random numbers for compiled chains: xoshiro256++ of D. Blackman and S. Vigna (2019)."""

import numba as nb
import numpy as np

import skstruct._arrays.compiling  # noqa: F401 (tells who waits)


@nb.njit(cache=True, nogil=True, inline="always")
def _turned(word, by):
    return (word << np.uint64(by)) | (word >> np.uint64(64 - by))


@nb.njit(cache=True, nogil=True)
def word(streams, c):
    """The next 64 random bits of stream c."""
    a, b, p, q = streams[c, 0], streams[c, 1], streams[c, 2], streams[c, 3]
    drawn = _turned(a + q, 23) + a
    shifted = b << np.uint64(17)
    p ^= a
    q ^= b
    b ^= p
    a ^= q
    p ^= shifted
    streams[c, 0], streams[c, 1], streams[c, 2], streams[c, 3] = a, b, p, _turned(q, 45)
    return drawn


@nb.njit(cache=True, nogil=True)
def fraction(streams, c):
    """A number from 0 to below 1, of 53 random bits."""
    return float(word(streams, c) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@nb.njit(cache=True, nogil=True)
def below(streams, c, n):
    """A whole number from 0 to n - 1; the bias is at most n / 2**53."""
    return int(fraction(streams, c) * n)
