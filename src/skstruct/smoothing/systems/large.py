# SPDX-License-Identifier: BSD-3-Clause
"""Cholesky factorization of matrices that are too large for the routines of LAPACK."""

from __future__ import annotations

import numpy as np
from scipy.linalg import blas, lapack

# The threads of some builds of OpenBLAS crash in potrf on matrices of several gigabytes (seen with
# 33,000 rows); products of matrices do not.
LARGE = 16_000  # rows
STEP = 512


def factor_rows(K, step: int = STEP) -> int:
    """U with K = U'U, in place; ``K`` (n, n) has its rows together, and counts above the diagonal.

    Block after block of rows, each by one product with the rows above,

        U_j = (U_jj')^-1 (K_j - sum over i < j of U_ij' U_i).

    Returns the number of the row, counted from 1, at which K is not positive definite, or 0.
    """
    n = len(K)
    kind = "s" if K.dtype == np.float32 else "d"
    potrf, trsm = getattr(lapack, f"{kind}potrf"), getattr(blas, f"{kind}trsm")
    for start in range(0, n, step):
        stop = min(start + step, n)
        rows = K[start:stop, start:]
        if start:
            rows -= K[:start, start:stop].T @ K[:start, start:]
        corner, failed = potrf(np.asfortranarray(rows[:, : stop - start]), lower=0, clean=1)
        if failed:
            return start + failed
        rows[:, : stop - start] = corner
        if stop < n:  # rows of K are columns of what BLAS sees: (U_jj')^-1 from the right
            rest = np.ascontiguousarray(rows[:, stop - start :])
            rows[:, stop - start :] = trsm(1.0, corner, rest.T, side=1, lower=0, overwrite_b=1).T
    return 0
