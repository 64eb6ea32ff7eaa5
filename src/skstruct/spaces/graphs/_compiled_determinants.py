# SPDX-License-Identifier: BSD-3-Clause
"""Determinants in the field of a prime."""

from __future__ import annotations

import numba as nb


@nb.njit(cache=True, nogil=True)
def inverse_modulo(a, p):
    """The number that makes 1 with a, by Fermat: a^(p - 2)."""
    power, exponent, inverse = a, p - 2, 1
    while exponent > 0:
        if exponent & 1:
            inverse = inverse * power % p
        power = power * power % p
        exponent >>= 1
    return inverse


@nb.njit(cache=True, nogil=True)
def determinant_modulo(matrix, p):
    """Determinant modulo a prime p < 2^31 of a matrix with entries 0..p - 1, which is spent."""
    n, answer = len(matrix), 1
    for k in range(n):
        row = k
        while row < n and matrix[row, k] == 0:
            row += 1
        if row == n:
            return 0
        if row != k:
            answer = p - answer
            for j in range(k, n):
                matrix[k, j], matrix[row, j] = matrix[row, j], matrix[k, j]
        answer = answer * matrix[k, k] % p
        inverse = inverse_modulo(matrix[k, k], p)
        for i in range(k + 1, n):
            if matrix[i, k] != 0:
                factor = p - matrix[i, k] * inverse % p
                for j in range(k + 1, n):
                    matrix[i, j] = (matrix[i, j] + factor * matrix[k, j]) % p
    return answer
