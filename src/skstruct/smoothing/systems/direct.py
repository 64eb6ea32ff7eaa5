# SPDX-License-Identifier: BSD-3-Clause
"""(K + shift I) A = B by a Cholesky factorization, of the matrix or of half of it, or for many
shifts from one eigendecomposition.
"""

import warnings
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.linalg import LinAlgError, blas, eigh, lapack
from sklearn.base import BaseEstimator

from skstruct._arrays.memory import row_blocks
from skstruct.kernels.grams import REPAIR, GramBlocks, mirror
from skstruct.saving import savable
from skstruct.smoothing.systems.triangles import InverseColumns
from skstruct.tolerances import EIGENVALUE_NOISE, GRAM_DEFINITENESS, GRAM_EIGENVALUE_ZERO

# The threads of some builds of OpenBLAS crash in potrf on matrices of several gigabytes (seen with
# 33,000 rows); products of matrices do not.
LARGE = 16_000  # rows
STEP = 512


def factor_rows(K: np.ndarray, step: int = STEP) -> Any:
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


# (K + shift I) A = B by one Cholesky factorization, in place.


@savable
class CholeskySystem(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""Solves :math:`(K + c I) A = B`, or the bordered system of a model with intercept.

    With a border u the solution is the upper block of

    .. math:: \begin{pmatrix} K + cI & u \\ u' & 0 \end{pmatrix}^{-1}
              \begin{pmatrix} B \\ 0 \end{pmatrix}
              = M^{-1} B - M^{-1} u \frac{u' M^{-1} B}{u' M^{-1} u}, \quad M = K + cI.

    The factor lies where K was: memory for one matrix, not two.

    Attributes
    ----------
    column_mean_ : array of shape (n,)
        Weighted means of the columns of the kernel matrix, when fitted to rows.
    """

    def fit(self, K: np.ndarray, shift: float, border: np.ndarray | None = None) -> Self:
        """Factor; ``K`` (n, n), symmetric, is overwritten."""
        self._settle(shift, border)
        self._factor(K)
        return self

    def fit_rows(
        self,
        kernel: Any,
        X: Any,
        root: np.ndarray,
        shift: float,
        border: np.ndarray | None = None,
        *,
        dtype: Any = np.float64,
    ) -> Self:
        """Factor D K D + shift I, with K the kernel matrix of the rows ``X`` and D of ``root``.

        Parameters
        ----------
        kernel : InputKernel
            Fitted.
        root : array of shape (n,)
            Roots of the weights of rows.
        dtype : float64 or float32
            Precision of the factor; values of the kernel are rounded to it once.
        """
        self._settle(shift, border)
        K, sums = self._build(GramBlocks(kernel, X), weighted(root), dtype)
        self.column_mean_ = sums / (root @ root)
        self._factor(K)
        return self

    def _settle(self, shift: float, border: np.ndarray | None) -> None:
        self.shift_, self.border_ = float(shift), border
        for name in ("_lifted", "_inverse"):
            self.__dict__.pop(name, None)

    # ------------------------------------------------------------------ one way to keep a matrix
    def _build(
        self, blocks: GramBlocks, root: np.ndarray | None, dtype: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        return blocks.half(root, dtype)

    def _factor(self, K: np.ndarray) -> None:
        with np.errstate(over="ignore"):
            K.flat[:: len(K) + 1] += K.dtype.type(self.shift_)
        if len(K) > LARGE:
            self.factor_, info = K.T, factor_rows(K)
        else:  # K is symmetric, so its transpose is the Fortran-ordered matrix LAPACK wants.
            self.factor_, info = routine("potrf", K)(K.T, lower=1, overwrite_a=1, clean=0)
        check_definite(info, self.shift_)

    @property
    def _n(self) -> int:
        return len(self.factor_)

    def _plain(self, B: np.ndarray) -> Any:
        """M^-1 B in place: ``B`` (n, q) has its columns together, and the type of the factor."""
        return routine("potrs", self.factor_)(self.factor_, B, lower=1, overwrite_b=1)[0]

    # ------------------------------------------------------------------ what follows
    @cached_property
    def _lifted(self) -> Any:
        """M^-1 u."""
        border = np.asarray(self.border_)
        return self._plain(border[:, None].copy(order="F"))[:, 0]

    def solve(self, B: np.ndarray) -> Any:
        """A of shape (n, q)."""
        if self.border_ is None:
            return self._plain(_columns(B))
        if "_lifted" in self.__dict__:
            A = self._plain(_columns(B))
        else:  # one pass over the factor for both
            A = np.empty((len(B), B.shape[1] + 1), order="F")
            A[:, :-1], A[:, -1] = B, self.border_
            A = self._plain(A)
            A, self._lifted = A[:, :-1], A[:, -1].copy()
        if A.shape[1]:
            share = (self.border_ @ A) / (self.border_ @ self._lifted)
            A = blas.dger(-1.0, self._lifted, share, a=A, overwrite_a=1)
        return A

    @cached_property
    def _inverse(self) -> InverseColumns:
        return InverseColumns(self.factor_)

    def _half_columns(self, rows: np.ndarray) -> Any:
        """Columns of L^-1 with M = L L', from their first row that is not zero."""
        return self._inverse.of(rows)[1]

    def residual_block(self, rows: np.ndarray) -> Any:
        """Block of shift * inverse for some rows; shape (len(rows), len(rows))."""
        half = self._half_columns(rows)
        block = half.T @ half
        if self.border_ is not None:
            lifted = self._lifted[rows]
            block -= np.outer(lifted, lifted) / (self.border_ @ self._lifted)
        return self.shift_ * block

    _columns_at_once = 256

    def residual_shares(self) -> np.ndarray:
        """Diagonal of shift * inverse; shape (n,)."""
        n, step = self._n, self._columns_at_once
        parts = [
            self.residual_block(np.arange(start, min(start + step, n))).diagonal()
            for start in range(0, n, step)
        ]
        return np.concatenate(parts)

    def leverages(self) -> np.ndarray:
        """How much each row decides its own fit: one minus its residual share; (n,)."""
        return 1.0 - self.residual_shares()


def routine(name: str, A: np.ndarray) -> Any:
    """The LAPACK routine for the precision of an array."""
    return getattr(lapack, ("s" if A.dtype == np.float32 else "d") + name)


def check_definite(info: int, shift: float) -> None:
    """Raise ``LinAlgError`` if a factorization stopped at a row."""
    if info != 0:
        raise LinAlgError(
            f"K + alpha I is not positive definite at row {info - 1} for alpha = {shift:.3g}: "
            f"the kernel is singular or indefinite. Use a larger alpha; {REPAIR}."
        )


def weighted(root: np.ndarray) -> np.ndarray | None:
    """Roots of weights, or None where all are one and nothing needs scaling."""
    return None if (root == 1.0).all() else root


def _columns(B: np.ndarray) -> np.ndarray:
    """A copy with columns together, which LAPACK may overwrite."""
    return np.array(B, dtype=np.float64, order="F")


def unit_columns(n: int, rows: np.ndarray) -> np.ndarray:
    """Columns of the identity for some rows; shape (n, len(rows)), columns together."""
    unit = np.zeros((n, len(rows)), order="F")
    unit[rows, np.arange(len(rows))] = 1.0
    return unit


# (K + shift I) A = B by a Cholesky factorization of half the matrix.


MOST_ROWS = 23_000  # 2 GiB: larger ones crashed the threads of OpenBLAS (seen with 36,691 rows)


@savable
class PackedCholeskySystem(CholeskySystem):
    r"""As :class:`CholeskySystem`, with only half of the matrix in memory.

    The n (n + 1) / 2 numbers on and below the diagonal lie in a rectangle, "rectangular full
    packed" [1]_, in which LAPACK factors about as fast as in the square. With
    :math:`m = \lceil n / 2 \rceil`, and e = 1 for even and 0 for odd n, row c of the rectangle,
    of shape (m, n + e), is

    .. math:: K_{i, m}, \dots, K_{i, i}, \; K_{c, c}, \dots, K_{c, n-1},
              \quad i = m + c + e - 1.

    At most 23,000 rows: with more, some builds of LAPACK crash.

    References
    ----------
    .. [1] F. G. Gustavson, J. Waśniewski, J. J. Dongarra, J. Langou, "Rectangular full packed
       format for Cholesky's algorithm", ACM Trans. Math. Software 37(2), 2010.

    Examples
    --------
    >>> K = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    >>> PackedCholeskySystem().fit(K, 1.0).solve(np.ones((3, 1))).ravel().round(4)
    array([0.2857, 0.1429, 0.2857])
    """

    def fit(self, K: np.ndarray, shift: float, border: np.ndarray | None = None) -> Self:
        """Factor; ``K`` (n, n), symmetric, stays as it is."""
        self._settle(shift, border)
        packed, _ = self._build(GramBlocks(_Given(), K), None, np.float64)
        self._factor(packed)
        return self

    def _build(
        self, blocks: GramBlocks, root: np.ndarray | None, dtype: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """The rectangle of D K D, and K D^2 1."""
        n = blocks.n
        if n > MOST_ROWS:
            raise ValueError(
                f'solver="packed" takes at most {MOST_ROWS:,} rows, for which LAPACK is safe; got '
                f'{n:,}. Use solver="cholesky" with enough memory, or solver="nystroem".'
            )
        m, even = (n + 1) // 2, 1 - n % 2
        packed, sums = np.empty((m, n + even), dtype=dtype), np.zeros(n)
        for part in blocks.steps(m):
            # The right part, whose corner below the diagonal belongs to the left part.
            out = packed[part, part.start + even :]
            blocks.scaled_into(out, part, slice(part.start, n), root, sums)
            corner = packed[part, part.start + even : part.stop + even]
            kept = corner.copy()
            first = max(part.start, 1 - even)  # odd n: row 0 has no left part
            rows = slice(m + first + even - 1, m + part.stop + even - 1)
            if rows.start < rows.stop:
                out = packed[first : part.stop, : part.stop + even - 1]
                blocks.scaled_into(out, rows, slice(m, rows.stop), root, sums)
            right = np.triu_indices(len(kept))
            corner[right] = kept[right]
        return packed, sums

    def _factor(self, K: np.ndarray) -> None:
        m, width = K.shape
        n, even = _order(K.shape)
        right, left = np.arange(m), np.arange(1 - even, m)
        with np.errstate(over="ignore"):
            K[right, right + even] += K.dtype.type(self.shift_)
            K[left, left + even - 1] += K.dtype.type(self.shift_)
        flat, info = routine("pftrf", K)(n, K.reshape(-1), uplo="L", overwrite_a=1)
        check_definite(info, self.shift_)
        self.factor_ = flat.reshape(m, width)

    @property
    def _n(self) -> int:
        return _order(self.factor_.shape)[0]

    def _plain(self, B: np.ndarray) -> Any:
        flat = self.factor_.reshape(-1)
        return routine("pftrs", flat)(self._n, flat, B, uplo="L", overwrite_b=1)[0]

    def _half_columns(self, rows: np.ndarray) -> Any:
        flat = self.factor_.reshape(-1)
        unit = unit_columns(self._n, rows)
        return routine("tfsm", flat)(1.0, flat, unit, uplo="L", overwrite_b=1)


def _order(shape: tuple[int, ...]) -> tuple[int, int]:
    """n, and whether it is even, of a rectangle of this shape."""
    m, width = shape
    even = int(width == 2 * m + 1)
    return width - even, even


class _Given:
    """Stands for a kernel whose matrix is there already."""

    name, centre_ = "precomputed", None


@savable
class SpectralSystem(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    r"""Solves :math:`(K + c I) A = B` for any c by :math:`K = Q \mathrm{diag}(k) Q'`.

    With a border u (see :class:`CholeskySystem`) the solution lives in the complement of
    u, so K is projected there and u's direction dropped: no cancellation for small c.
    A shift may differ per column of B; an infinite one leaves nothing but the mean.

    One decomposition costs many Cholesky factorizations, and pays once several shifts are
    tried.
    """

    def fit(
        self, K: np.ndarray, shift: float | None = None, border: np.ndarray | None = None
    ) -> Self:
        """Decompose; ``K`` (n, n), symmetric, is overwritten."""
        self.shift_ = shift
        noise = EIGENVALUE_NOISE * len(K) * np.abs(K.diagonal()).max(initial=0.0)
        if border is not None:
            _deflate(K, border / np.linalg.norm(border))
        values, vectors = eigh(K.T, overwrite_a=True, check_finite=False, driver="evr")
        if border is not None:
            values, vectors = values[:-1], vectors[:, :-1]  # the border's own direction is last
        # Rounding leaves the zero eigenvalues of a singular kernel slightly off zero.
        rounding = np.maximum(
            noise, np.where(values < 0, GRAM_EIGENVALUE_ZERO * np.abs(values).max(initial=0.0), 0.0)
        )
        self.values_ = np.where(np.abs(values) <= rounding, 0.0, values)
        self.lowest_ = float(self.values_.min(initial=0.0))
        self.vectors_ = vectors
        return self

    def fit_rows(
        self,
        kernel: Any,
        X: Any,
        root: np.ndarray,
        shift: float | None = None,
        border: np.ndarray | None = None,
    ) -> "SpectralSystem":
        """Decompose D K D, with K the kernel matrix of the rows ``X`` and D of ``root``."""
        K, sums = GramBlocks(kernel, X).half(weighted(root))
        self.column_mean_ = sums / (root @ root)
        self.fit(mirror(K), shift, border)
        self._warn_of_sign(kernel)
        return self

    def _warn_of_sign(self, kernel: Any) -> None:
        """Of kernels of the user's own; that of others may be indefinite is said where they are."""
        highest = float(np.abs(self.values_).max(initial=0.0))
        own = kernel.name in ("precomputed", "function")
        if own and self.lowest_ < -GRAM_DEFINITENESS * highest:
            warnings.warn(
                f"The kernel is not positive semidefinite: it has the eigenvalue "
                f"{self.lowest_:.3g} (the largest size is {highest:.3g}). Only penalties beyond it "
                f"are tried; {REPAIR}.",
                stacklevel=2,
            )

    def _shares(self, shift: Any) -> Any:
        """c / (k + c) for one shift (m,) or one per column (m, q)."""
        shift = np.asarray(self.shift_ if shift is None else shift, dtype=np.float64)
        if (self.lowest_ + shift <= 0).any():
            raise LinAlgError(
                f"K + alpha I is not positive definite for alpha = {shift.min():.3g}: the kernel "
                f"has the eigenvalue {self.lowest_:.3g}. Use a larger alpha; {REPAIR}."
            )
        values = self.values_[:, None] if shift.ndim else self.values_
        return 1.0 / (1.0 + values / shift)

    def rotate(self, B: np.ndarray) -> Any:
        """Q' B: what every shift starts from; (m, q)."""
        return self.vectors_.T @ B

    def residuals(self, rotated: np.ndarray, shift: Any = None) -> Any:
        """shift * A, which is B minus its fit (minus the mean with a border); (n, q)."""
        share = self._shares(shift)
        return self.vectors_ @ (rotated * (share if share.ndim == 2 else share[:, None]))

    def solve(self, B: np.ndarray, shift: np.ndarray | None = None) -> Any:
        """A of shape (n, q)."""
        shift = np.asarray(self.shift_ if shift is None else shift, dtype=np.float64)
        return self.residuals(self.rotate(B), shift) / shift

    def residual_block(self, rows: np.ndarray, shift: float | None = None) -> Any:
        """Block of shift * inverse for some rows; shape (len(rows), len(rows))."""
        part = self.vectors_[rows]
        return (part * self._shares(shift)) @ part.T

    def residual_shares(self, shift: float | None = None) -> np.ndarray:
        """Diagonal of shift * inverse; shape (n,), or (n, q) for a shift per column."""
        share = self._shares(shift)
        diagonal = np.empty((len(self.vectors_), *share.shape[1:]))
        for rows in row_blocks(len(self.vectors_), 8 * len(self.vectors_), "50MB"):
            diagonal[rows] = self.vectors_[rows] ** 2 @ share
        return diagonal

    def leverages(self, shift: Any = None) -> np.ndarray:
        """How much each row decides its own fit: one minus its residual share."""
        return 1.0 - self.residual_shares(shift)


def _deflate(K: np.ndarray, u: np.ndarray) -> None:
    """K <- P K P + t u u' with P = I - u u' and t above all eigenvalues, in place."""
    Ku = K @ u
    top = 2.0 * max(np.abs(row).sum() for row in K)  # eigenvalues are below the row sums
    top = top if top > 0 else 1.0
    # P K P = K - u (Ku)' - (Ku) u' + (u'Ku) u u'
    left = Ku - 0.5 * (u @ Ku + top) * u
    for rows in row_blocks(len(K), 8 * len(K), "2MB"):
        K[rows] -= np.outer(u[rows], left) + np.outer(left[rows], u)
