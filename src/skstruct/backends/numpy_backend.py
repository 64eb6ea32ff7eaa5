# SPDX-License-Identifier: BSD-3-Clause
"""numpy and LAPACK."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import blas, eigh, lapack

from skstruct._arrays.memory import available_memory

DOUBLE = np.float64


def _name(function: str, A: np.ndarray) -> str:
    """The routine of a precision."""
    return ("s" if A.dtype == np.float32 else "d") + function


class NumpyBackend:
    """Computes where the arrays are. See :class:`~skstruct.backends.Backend`."""

    name, device = "numpy", None

    def asarray(self, A: np.ndarray, dtype: Any = None) -> np.ndarray:
        return np.ascontiguousarray(A, dtype=dtype)

    def to_host(self, A: np.ndarray) -> np.ndarray:
        return np.asarray(A)

    def zeros(self, shape: tuple[Any, ...], dtype: Any = DOUBLE) -> np.ndarray:
        return np.zeros(shape, dtype=dtype, order="F")

    def exp(self, A: np.ndarray) -> np.ndarray:
        exponentials: np.ndarray = np.exp(A, out=A)
        return exponentials

    def multiply(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        product: np.ndarray = A @ B
        return product

    def add_product(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        gemm = getattr(blas, _name("gemm", C))
        total: np.ndarray = gemm(1.0, A.T, B.T, beta=1.0, c=C, trans_b=1, overwrite_c=1)
        return total

    def add_square(self, G: np.ndarray, Z: np.ndarray) -> np.ndarray:
        syrk = getattr(blas, _name("syrk", G))
        total: np.ndarray = syrk(1.0, Z.T, beta=1.0, c=G, trans=0, lower=1, overwrite_c=1)
        return total

    def cholesky(self, A: np.ndarray) -> tuple[np.ndarray, int]:
        potrf = getattr(lapack, _name("potrf", A))
        factor, info = potrf(A, lower=1, overwrite_a=1, clean=0)
        return factor, info

    def solve_lower(self, L: np.ndarray, B: np.ndarray, transposed: bool = False) -> np.ndarray:
        trsm = getattr(blas, _name("trsm", L))
        solution: np.ndarray = trsm(
            1.0, L, B, side=0, lower=1, trans_a=int(transposed), overwrite_b=1
        )
        return solution

    def whiten(self, L: np.ndarray, K: np.ndarray) -> np.ndarray:
        trsm = getattr(blas, _name("trsm", L))
        whitened: np.ndarray = trsm(1.0, L, K.T, side=0, lower=1, overwrite_b=1).T
        return whitened

    def whitener(self, L: np.ndarray) -> Callable[..., Any]:
        return partial(self.whiten, L)

    def add_diagonal(self, A: np.ndarray, value: float) -> np.ndarray:
        A.flat[:: len(A) + 1] += value
        return A

    def copied(self, A: np.ndarray) -> np.ndarray:
        return A.copy(order="F")

    def eigh(self, A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, vectors = eigh(A, lower=True, check_finite=False, driver="evr")
        return values, vectors

    def free_memory(self) -> int | None:
        return available_memory()
