# SPDX-License-Identifier: BSD-3-Clause
"""numpy and LAPACK."""

from functools import partial

import numpy as np
from scipy.linalg import blas, eigh, lapack

from skstruct._arrays.memory import available_memory

DOUBLE = np.float64


def _name(function: str, A) -> str:
    """The routine of a precision."""
    return ("s" if A.dtype == np.float32 else "d") + function


class NumpyBackend:
    """Computes where the arrays are. See :class:`~skstruct.backends.Backend`."""

    name, device = "numpy", None

    def asarray(self, A, dtype=None):
        return np.ascontiguousarray(A, dtype=dtype)

    def to_host(self, A):
        return np.asarray(A)

    def zeros(self, shape, dtype=DOUBLE):
        return np.zeros(shape, dtype=dtype, order="F")

    def exp(self, A):
        return np.exp(A, out=A)

    def multiply(self, A, B):
        return A @ B

    def add_product(self, C, A, B):
        gemm = getattr(blas, _name("gemm", C))
        return gemm(1.0, A.T, B.T, beta=1.0, c=C, trans_b=1, overwrite_c=1)

    def add_square(self, G, Z):
        syrk = getattr(blas, _name("syrk", G))
        return syrk(1.0, Z.T, beta=1.0, c=G, trans=0, lower=1, overwrite_c=1)

    def cholesky(self, A):
        potrf = getattr(lapack, _name("potrf", A))
        return potrf(A, lower=1, overwrite_a=1, clean=0)

    def solve_lower(self, L, B, transposed=False):
        trsm = getattr(blas, _name("trsm", L))
        return trsm(1.0, L, B, side=0, lower=1, trans_a=int(transposed), overwrite_b=1)

    def whiten(self, L, K):
        trsm = getattr(blas, _name("trsm", L))
        return trsm(1.0, L, K.T, side=0, lower=1, overwrite_b=1).T

    def whitener(self, L):
        return partial(self.whiten, L)

    def add_diagonal(self, A, value):
        A.flat[:: len(A) + 1] += value
        return A

    def copied(self, A):
        return A.copy(order="F")

    def eigh(self, A):
        return eigh(A, lower=True, check_finite=False, driver="evr")

    def free_memory(self):
        return available_memory()
