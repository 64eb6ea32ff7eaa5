# SPDX-License-Identifier: BSD-3-Clause
"""The kernel matrix of training rows, by blocks that are computed where they are wanted."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.tolerances import GRAM_SYMMETRY

REPAIR = "skstruct.kernels.RepairedKernel makes a positive semidefinite one of its matrix"
LONGEST = 128  # rows of a block: enough for a fast product


class GramBlocks:
    """Blocks K[rows, columns] of the kernel matrix K of the rows ``X``, in double precision.

    Parameters
    ----------
    kernel : InputKernel
        Fitted.
    X : array or CSR array of shape (n, p)
        The rows, or K itself, which is not copied, for a precomputed kernel.

    Examples
    --------
    >>> from skstruct.kernels import Linear
    >>> X = np.array([[1.0, 0.0], [1.0, 2.0]])
    >>> part = np.empty((1, 2))
    >>> GramBlocks(Linear().fit(X), X).into(part, slice(1, 2), slice(0, 2))
    >>> part
    array([[1., 5.]])
    """

    shortest = 64  # rows of a block, in a small matrix

    def __init__(self, kernel: Any, X: Any) -> None:
        self.kernel, self.X, self.n = kernel, X, X.shape[0]
        self.precomputed = kernel.name == "precomputed"
        if self.precomputed:
            check_symmetric(X)
        self.gaussian = kernel.centre_ is not None
        if self.gaussian:
            self.X = X - kernel.centre_
            self._squares = kernel.gamma_ * np.einsum("ij,ij->i", self.X, self.X)

    def steps(self, n: int | None = None) -> Iterator[slice]:
        """Slices that cover n rows; of a large matrix, a block is at most a 24th."""
        n = self.n if n is None else n
        step = max(self.shortest, min(LONGEST, self.n // 24))
        for start in range(0, n, step):
            yield slice(start, min(start + step, n))

    def into(self, out: np.ndarray, rows: slice, columns: slice) -> None:
        """Write K[rows, columns] to ``out``."""
        if self.gaussian:
            self._gaussian_into(out, rows, columns)
        elif self.precomputed:
            part = self.X[rows, columns]
            out[...] = part.toarray() if sparse.issparse(part) else part
        else:
            part = self.kernel(self.X[rows], self.X[columns])
            if part.shape != out.shape:
                raise ValueError(
                    f"The kernel of {len(out)} rows has shape {part.shape}; {out.shape} expected."
                )
            out[...] = part
            if self.kernel.name == "rbf":  # of sparse rows: distances of a row to itself round
                out[_diagonal(rows, columns)] = 1.0
        if not np.isfinite(out.sum()):
            raise ValueError(
                "The kernel has values that are not finite; scale the inputs or check the kernel."
            )

    def _gaussian_into(self, out: np.ndarray, rows: slice, columns: slice) -> None:
        """exp(2 c <a, b> - c |a|^2 - c |b|^2): one product, then everything in place."""
        np.matmul(2.0 * self.kernel.gamma_ * self.X[rows], self.X[columns].T, out=out)
        out -= self._squares[rows, None]
        out -= self._squares[columns]
        np.minimum(out, 0.0, out=out)
        out[_diagonal(rows, columns)] = 0.0
        np.exp(out, out=out)

    def scaled_into(
        self,
        out: np.ndarray,
        rows: slice,
        columns: slice,
        root: np.ndarray | None,
        sums: np.ndarray,
    ) -> None:
        """Write the block of D K D to ``out``, and add to ``sums`` what it adds to K D^2 1.

        Parameters
        ----------
        out : array of float64 or float32
        root : array of shape (n,), or None
            Diagonal of D; None for the identity.
        sums : array of shape (n,)
        """
        part = out if out.dtype == np.float64 else np.empty(out.shape)
        self.into(part, rows, columns)
        add_product(sums, part, rows, columns, np.ones(self.n) if root is None else root**2)
        if root is not None:
            part *= root[rows, None]
            part *= root[columns]
        if part is not out:
            with np.errstate(over="ignore"):  # infinite: the factorization will say so
                out[...] = part

    def half(
        self, root: np.ndarray | None = None, dtype: Any = np.float64
    ) -> tuple[np.ndarray, np.ndarray]:
        """D K D (n, n) on and above the diagonal, and K D^2 1 (n,)."""
        K, sums = np.zeros((self.n, self.n), dtype=dtype), np.zeros(self.n)
        for rows in self.steps():
            columns = slice(rows.start, self.n)
            self.scaled_into(K[rows, columns], rows, columns, root, sums)
        return K, sums

    def product(self, P: np.ndarray) -> np.ndarray:
        """K P for P of shape (n, q), each value of the kernel computed once and not kept."""
        out = np.zeros(P.shape)
        for rows in self.steps():
            columns = slice(rows.start, self.n)
            part = np.empty((rows.stop - rows.start, self.n - rows.start))
            self.into(part, rows, columns)
            add_product(out, part, rows, columns, P)
        return out


def add_product(
    out: np.ndarray, part: np.ndarray, rows: slice, columns: slice, P: np.ndarray
) -> None:
    """Add to ``out`` what a block of K and its mirror image add to K P.

    ``columns`` either contains ``rows`` or has nothing in common with it.
    """
    out[rows] += part @ P[columns]
    for apart in (slice(columns.start, rows.start), slice(rows.stop, columns.stop)):
        if apart.start < apart.stop:
            inside = slice(apart.start - columns.start, apart.stop - columns.start)
            out[apart] += part[:, inside].T @ P[rows]


def _diagonal(rows: slice, columns: slice) -> tuple[np.ndarray, np.ndarray]:
    """Where a block meets the diagonal of the matrix."""
    both = np.arange(max(rows.start, columns.start), min(rows.stop, columns.stop))
    return both - rows.start, both - columns.start


def mirror(K: np.ndarray) -> np.ndarray:
    """Copy what is above the diagonal to below it, by blocks; returns ``K``."""
    n = len(K)
    for start in range(0, n, LONGEST):
        stop = min(start + LONGEST, n)
        square = K[start:stop, start:stop]
        below = np.tril_indices(stop - start, -1)
        square[below] = square.T[below]
        K[stop:, start:stop] = K[start:stop, stop:].T
    return K


def check_symmetric(K: Any) -> None:
    """Raise ``ValueError`` unless a matrix, dense or sparse, is square and symmetric."""
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(
            f"A precomputed kernel between training rows is square; got shape {K.shape}."
        )
    scale = max(np.abs(K.diagonal()).max(initial=0.0), np.finfo(float).tiny)
    for i, j in _largest_gaps(K):
        if abs(K[i, j] - K[j, i]) > GRAM_SYMMETRY * scale:
            raise ValueError(
                f"The precomputed kernel is not symmetric: K[{i}, {j}] is {K[i, j]:.6g} and "
                f"K[{j}, {i}] is {K[j, i]:.6g}."
            )


def _largest_gaps(K: Any) -> Iterator[tuple[int, int]]:
    """Where a matrix is least symmetric, row by row; below the diagonal."""
    if sparse.issparse(K):
        gaps = sparse.tril(K - K.T, -1).tocoo()
        if gaps.nnz:
            worst = int(np.abs(gaps.data).argmax())
            yield int(gaps.row[worst]), int(gaps.col[worst])
        return
    for i in range(1, len(K)):  # row by row: no second matrix
        yield i, int(np.abs(K[i, :i] - K[:i, i]).argmax())
