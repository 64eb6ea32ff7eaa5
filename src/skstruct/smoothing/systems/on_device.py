# SPDX-License-Identifier: BSD-3-Clause
"""(K + shift I) A = B on a device of torch: one matrix there, and nothing else of that size."""

from functools import cached_property
from typing import Any, Self

import numpy as np
import torch
from scipy.linalg import LinAlgError
from sklearn.base import BaseEstimator

from skstruct.backends import backend_for
from skstruct.backends.torch_backend import BlockTriangle
from skstruct.kernels.grams import REPAIR
from skstruct.kernels.on_device import device_kernel, device_rows
from skstruct.smoothing.systems.direct import CholeskySystem

BLOCKS = 16  # of rows: their diagonal blocks, a 32nd of the matrix, are computed twice
SPARE = 1.05  # what the factorization itself works in comes on top of the matrix


class DeviceSystem(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""Solves :math:`(D K D + c I) A = B` on a device, or the bordered system.

    The lower half of :math:`D K D` is written straight to where it is factored. Everything else
    is as in :class:`CholeskySystem`.

    Parameters
    ----------
    device : str or torch.device
        ``"cuda"``, ``"cuda:1"``, or ``"cpu"``.
    dtype : "float64" or "float32", default="float64"

    Attributes
    ----------
    column_mean_ : array of shape (n,)
        Weighted mean of each column of K.

    Examples
    --------
    >>> from skstruct.kernels import Linear
    >>> X = np.array([[0.0], [1.0]])
    >>> kernel = Linear().fit(X)
    >>> system = DeviceSystem("cpu").fit_rows(kernel, X, np.ones(2), 1.0)
    >>> system.solve(np.array([[3.0], [4.0]]))
    array([[3.],
           [2.]])
    >>> system.leverages()
    array([0. , 0.5])
    """

    def __init__(self, device: str = "cuda", dtype: str = "float64") -> None:
        self.device = device
        self.dtype = dtype

    def fit_rows(
        self, kernel: Any, X: Any, root: np.ndarray, shift: float, border: np.ndarray | None = None
    ) -> "DeviceSystem":
        """Factor D K D + shift I for the rows ``X``.

        Parameters
        ----------
        kernel : fitted InputKernel
        X : array or tensor of shape (n, p)
        root : array of shape (n,)
            Square roots of the weights of the rows, the diagonal of D.
        shift : float
        border : array of shape (n,), default=None
        """
        self.backend_ = backend_for(self.device, X)
        self.shift_, self.border_ = float(shift), border
        function = device_kernel(kernel, self.backend_)
        rows = device_rows(X, self.backend_)
        self._check_memory(function, *rows.shape)
        half, sums = half_gram(function, rows, self._tensor(root))
        weight = np.asarray(root, dtype=np.float64) ** 2
        self.column_mean_ = self.backend_.to_host(sums).astype(np.float64) / weight.sum()
        if not np.isfinite(self.column_mean_).all():
            raise ValueError(
                "The kernel has values that are not finite; scale the inputs or check the kernel."
            )
        return self._factor(half)

    def fit(self, K: np.ndarray, shift: float, border: np.ndarray | None = None) -> "DeviceSystem":
        """Factor a matrix (n, n) that is there already."""
        self.backend_ = backend_for(self.device, K)
        self.shift_, self.border_ = float(shift), border
        return self._factor(torch.clone(self.backend_.asarray(K, self.dtype)).T)

    def _factor(self, half: Any) -> Self:
        self.backend_.add_diagonal(half, self.shift_)
        self.factor_, failed = self.backend_.cholesky(half)
        if failed:
            del self.factor_
            raise LinAlgError(
                f"K + alpha I is not positive definite at row {failed - 1} for "
                f"alpha = {self.shift_:.3g}: the kernel is singular or indefinite. "
                f"Use a larger alpha; {REPAIR}."
            )
        for name in ("_lifted", "_triangle"):
            self.__dict__.pop(name, None)
        return self

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {k: v for k, v in state.items() if k not in ("_lifted", "_triangle")}

    def on_host(self) -> Any:
        """The same with arrays of numpy, for a file that another machine may read."""
        system = CholeskySystem()
        system.shift_, system.border_ = self.shift_, self.border_
        system.column_mean_ = getattr(self, "column_mean_", None)
        system.factor_ = np.asfortranarray(self.backend_.to_host(self.factor_), dtype=np.float64)
        return system

    def _tensor(self, values: np.ndarray) -> Any:
        return self.backend_.asarray(values, self.dtype)

    def _check_memory(self, function: Any, n: int, p: int) -> None:
        free = self.backend_.free_memory()
        size = np.dtype(self.dtype).itemsize
        needed = SPARE * size * n * n + 4 * size * n * (p + 2)
        if function.holds_a_copy:
            needed += 2 * size * n * n / BLOCKS
        if free is not None and needed > free:
            raise MemoryError(
                f"The kernel matrix of {n:,} rows takes {needed / 1e9:,.1f} GB; "
                f"{free / 1e9:,.1f} GB are free on {self.backend_.device}. Use dtype='float32', "
                "fewer rows, or NystroemRidge, whose memory does not grow with the rows."
            )

    # ------------------------------------------------------------------ solving
    @cached_property
    def _lifted(self) -> Any:
        """M^-1 u, on the device."""
        return self._plain(self._tensor(np.asarray(self.border_))[:, None])[:, 0]

    def _plain(self, B: Any) -> Any:
        half = self.backend_.solve_lower(self.factor_, B)
        return self.backend_.solve_lower(self.factor_, half, transposed=True)

    def solve(self, B: np.ndarray) -> np.ndarray:
        """A of shape (n, q), on the host."""
        n, q = B.shape
        A = self.backend_.zeros((n, q if self.border_ is None else q + 1), self.dtype)
        A[:, :q] = self._tensor(B)
        if self.border_ is None:
            A = self._plain(A)
        else:  # one pass over the factor for both
            border = A[:, q] = self._tensor(self.border_)
            A = self._plain(A)
            A, self._lifted = A[:, :q], A[:, q].clone()
            A.addr_(self._lifted, (border @ A) / (border @ self._lifted), alpha=-1.0)
        return self.backend_.to_host(A.contiguous()).astype(np.float64, copy=False)

    @property
    def _place(self) -> Any:
        return self.backend_.device

    # ------------------------------------------------------------------ leaving out
    @cached_property
    def _triangle(self) -> BlockTriangle:
        return BlockTriangle(self.factor_)

    def residual_block(self, rows: np.ndarray) -> np.ndarray:
        """Block of shift * inverse for some rows; shape (len(rows), len(rows))."""
        there = torch.as_tensor(np.asarray(rows), device=self._place)
        unit = self.factor_.new_zeros((len(rows), len(self.factor_)))
        unit[torch.arange(len(rows), device=self._place), there] = 1.0
        step = self._triangle.blocks[0].stop
        half = self._triangle.whiten(unit, first=int(np.min(rows)) // step)
        block = half @ half.T
        if self.border_ is not None:
            lifted = self._lifted[rows]
            block -= torch.outer(lifted, lifted) / (self._tensor(self.border_) @ self._lifted)
        return self.shift_ * self.backend_.to_host(block).astype(np.float64)

    def residual_shares(self) -> np.ndarray:
        """Diagonal of shift * inverse; shape (n,)."""
        parts = []
        for j, block in enumerate(self._triangle.blocks):
            columns = self._triangle.inverse_rows(j)[:, block.start :]
            parts.append(torch.linalg.vector_norm(columns, dim=1).square_())
        shares = torch.cat(parts)
        if self.border_ is not None:
            shares -= self._lifted**2 / (self._tensor(self.border_) @ self._lifted)
        return self.shift_ * self.backend_.to_host(shares).astype(np.float64)

    def leverages(self) -> np.ndarray:
        """How much each row decides its own fit: one minus its residual share; (n,)."""
        return 1.0 - self.residual_shares()


def half_gram(function: Any, X: Any, root: Any) -> tuple[Any, Any]:
    """D K D on and below its diagonal, columns together (n, n), and K D^2 1 (n,).

    Both are in the precision of ``root``, the diagonal of D (n,). Blocks of rows on and above the
    diagonal, written to rows of a matrix, are those columns.
    """
    n = len(X)
    K = torch.empty((n, n), dtype=root.dtype, device=root.device)
    left, right = (side(X).to(root.dtype) for side in (function.left, function.right))
    weight = root**2
    plain, sums = bool((root == 1.0).all()), torch.zeros_like(root)
    step = max(1, -(-n // BLOCKS))
    for start in range(0, n, step):
        rows, stop = slice(start, start + step), min(start + step, n)
        block = function.block(left[rows], right[start:], out=K[rows, start:])
        if function.unit:
            block.diagonal().fill_(1.0)
        sums[rows] += block @ weight[start:]
        sums[stop:] += block[:, stop - start :].T @ weight[rows]
        if not plain:
            block.mul_(root[start:]).mul_(root[rows, None])
    return K.T, sums
