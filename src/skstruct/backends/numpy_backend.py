# SPDX-License-Identifier: BSD-3-Clause
"""numpy and LAPACK."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import blas, eigh, lapack

from skstruct._arrays.memory import available_memory

DOUBLE = np.float64
POWERS = 20  # steps towards the largest and the smallest eigenvalue
STEP, STEP_IF_WIDE, WIDE = 2048, 512, 8192  # rows that are summed at a time; features


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
        return np.exp(A, out=A)

    def multiply(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return A @ B

    def add_product(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        gemm = getattr(blas, _name("gemm", C))
        return gemm(1.0, A.T, B.T, beta=1.0, c=C, trans_b=1, overwrite_c=1)

    def rows_at_a_time(self, width: int) -> int | None:
        return STEP if width <= WIDE else STEP_IF_WIDE

    def add_square(self, G: np.ndarray, Z: np.ndarray) -> np.ndarray:
        syrk = getattr(blas, _name("syrk", G))
        return syrk(1.0, Z.T, beta=1.0, c=G, trans=0, lower=1, overwrite_c=1)

    def cholesky(self, A: np.ndarray) -> tuple[np.ndarray, int]:
        potrf = getattr(lapack, _name("potrf", A))
        factor, info = potrf(A, lower=1, overwrite_a=1, clean=0)
        return factor, info

    def solve_lower(self, L: np.ndarray, B: np.ndarray, transposed: bool = False) -> np.ndarray:
        trsm = getattr(blas, _name("trsm", L))
        return trsm(1.0, L, B, side=0, lower=1, trans_a=int(transposed), overwrite_b=1)

    def whiten(self, L: np.ndarray, K: np.ndarray) -> np.ndarray:
        trsm = getattr(blas, _name("trsm", L))
        return trsm(1.0, L, K.T, side=0, lower=1, overwrite_b=1).T

    def whitener(self, L: np.ndarray) -> Callable[..., Any]:
        return partial(self.whiten, L)

    def whiten_square(self, L: np.ndarray, G: np.ndarray) -> np.ndarray:
        sygst = getattr(lapack, _name("sygst", L))
        return sygst(np.asfortranarray(G), L, itype=1, lower=1)[0]

    def condition(self, L: np.ndarray) -> float:
        trmm = getattr(blas, _name("trmm", L))
        v = np.random.default_rng(0).standard_normal((len(L), 1)).astype(L.dtype)
        largest, smallest = np.asfortranarray(v), np.asfortranarray(v)
        for _ in range(POWERS):
            largest = trmm(1.0, L, largest, side=0, lower=1, trans_a=1)
            largest = trmm(1.0, L, largest, side=0, lower=1)
            smallest = self.solve_lower(L, self.solve_lower(L, smallest), transposed=True)
            lengths = np.linalg.norm(largest), np.linalg.norm(smallest)
            largest, smallest = largest / lengths[0], smallest / lengths[1]
        return float(lengths[0] * lengths[1])

    def add_diagonal(self, A: np.ndarray, value: float) -> np.ndarray:
        A.flat[:: len(A) + 1] += value
        return A

    def copied(self, A: np.ndarray) -> np.ndarray:
        return A.copy(order="F")

    def eigh(self, A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values, vectors = eigh(A, lower=True, check_finite=False, driver="evr")
        return values, vectors

    def uploads(self) -> None:
        return None

    def free_memory(self) -> int | None:
        return available_memory()
