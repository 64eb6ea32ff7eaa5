# SPDX-License-Identifier: BSD-3-Clause
"""(K + shift I) A = B by a factor in single precision, refined to double."""

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.linalg import LinAlgError
from sklearn.exceptions import ConvergenceWarning

from skstruct.kernels.grams import GramBlocks
from skstruct.saving import savable
from skstruct.smoothing.planning import check_fits, plan
from skstruct.smoothing.systems.direct import (
    CholeskySystem,
    PackedCholeskySystem,
    unit_columns,
    weighted,
)
from skstruct.tolerances import SYSTEM_RESIDUAL

MOST_STEPS = 25
RESIDUAL_FLOOR = 4 * np.finfo(np.float64).eps


@savable
class MixedSystem(CholeskySystem):
    r"""As :class:`CholeskySystem`, with half of its memory and, for few columns, faster.

    M = D K D + c I is factored in single precision, and that factor preconditions conjugate
    gradients in double precision, for which the values of K are computed anew, block by block,
    in each step. They end when :math:`\|B - M A\| \le 10^{-12} \|B\|` for every column, or where
    double precision ends, :math:`4 \epsilon \|M\| \|A\|`.

    If M is not positive definite in single precision, or the steps come to nothing, it warns and
    factors in double precision after all.

    Leaving rows out takes one refined solution for each row, exact as well, and at some twenty
    times the cost: a factor in double precision, packed, takes no more memory.

    Parameters
    ----------
    packed : bool, default=False
        Whether the factor is kept as in :class:`PackedCholeskySystem`: half of the memory again.

    Attributes
    ----------
    n_steps_ : int
        Passes over the kernel that the last solution took; 0 in double precision.
    double_ : CholeskySystem or None
        What was factored in double precision after all.

    Examples
    --------
    >>> from skstruct.kernels import RBF
    >>> X, B = np.linspace(0, 6, 30)[:, None], np.ones((30, 1))
    >>> kernel = RBF(gamma=1.0).fit(X)
    >>> system = MixedSystem().fit_rows(kernel, X, np.ones(30), 0.01)
    >>> residual = B - (kernel(X, X) + 0.01 * np.eye(30)) @ system.solve(B)
    >>> bool(np.linalg.norm(residual) < 1e-11)
    True
    """

    def __init__(self, packed: bool = False) -> None:
        self.packed = packed

    def fit(self, K: np.ndarray, shift: float, border: np.ndarray | None = None) -> Any:
        """Not possible: a matrix in double precision is what this system does without."""
        raise ValueError('precision="mixed" takes rows and a kernel; use "double" for a matrix.')

    def fit_rows(  # type: ignore[override]  # both precisions are settled
        self, kernel: Any, X: Any, root: np.ndarray, shift: float, border: np.ndarray | None = None
    ) -> Self:
        """Factor D K D + shift I; ``X`` and ``kernel`` are kept."""
        if kernel.name == "precomputed":
            raise ValueError(
                'precision="mixed" computes a kernel anew, and this one is precomputed: use '
                'precision="double", with solver="packed" to save memory.'
            )
        self._settle(shift, border)
        self.kernel_, self.X_, self.root_ = kernel, X, root
        self.double_, self.n_steps_ = None, 0
        self.coarse_, self.column_mean_ = self._fit_coarse()
        self.size_ = self._lower_norm()
        if self.coarse_ is None:
            self._give_up("K + alpha I is not positive definite in single precision")
        return self

    def _fit_coarse(self) -> tuple[Any, np.ndarray]:
        """A factor in single precision, None if there is none, and the column means."""
        coarse = self._exact_kind()
        rows = (self.kernel_, self.X_, self.root_, self.shift_)
        try:
            return coarse.fit_rows(*rows, dtype=np.float32), coarse.column_mean_
        except LinAlgError:
            return None, coarse.column_mean_

    def _exact_kind(self) -> Any:
        return PackedCholeskySystem() if self.packed else CholeskySystem()

    def _lower_norm(self) -> float:
        """A lower bound of the norm of M: |M u| / |u| for the roots u."""
        through = self.root_ * self.column_mean_ * (self.root_ @ self.root_)
        return float(
            np.linalg.norm(through + self.shift_ * self.root_) / np.linalg.norm(self.root_)
        )

    def _give_up(self, why: str) -> None:
        """Double precision after all."""
        warnings.warn(
            f'precision="mixed": {why} for alpha = {self.shift_:.3g}; factored in double '
            "precision instead, which takes twice the memory.",
            ConvergenceWarning,
            stacklevel=4,
        )
        self.coarse_ = None
        n, p = self.X_.shape
        check_fits(plan(n, p, 1, solver="packed" if self.packed else "cholesky"))
        self.double_ = self._exact_kind().fit_rows(self.kernel_, self.X_, self.root_, self.shift_)

    @property
    def _n(self) -> int:
        return len(self.root_)

    # ------------------------------------------------------------------ refining
    def _plain(self, B: np.ndarray) -> Any:
        """M^-1 B; shape (n, q)."""
        if self.double_ is None:
            A, self.n_steps_ = self._refined(B)
            if A is not None:
                return A
            self._give_up(f"refining did not reach a residual of {SYSTEM_RESIDUAL:g}")
        self.n_steps_ = 0
        assert self.double_ is not None
        return self.double_._plain(B)

    def _refined(self, B: np.ndarray) -> tuple[np.ndarray | None, int]:
        """Conjugate gradients for all columns at once; (None, steps) if they come to nothing."""
        product = self._product()
        target = SYSTEM_RESIDUAL * np.linalg.norm(B, axis=0)
        A, R = np.zeros(B.shape, order="F"), B.copy(order="F")
        P: Any = None
        MP: Any = None
        length: Any = None
        slope: Any = None
        for step in range(MOST_STEPS):
            allowed = np.maximum(target, RESIDUAL_FLOOR * self.size_ * np.linalg.norm(A, axis=0))
            active = np.linalg.norm(R, axis=0) > allowed
            if not active.any():
                R = B - product(A)  # what the recursion says is not yet what is
                active = np.linalg.norm(R, axis=0) > 2.0 * allowed
                if not active.any():
                    return A, step + 1
                P = None
            Z = self._preconditioned(R)
            if P is None:
                P = Z
            else:  # Z changes with rounding, so that Z' (R - last R) stands for Z' R
                P = Z - length * _dots(Z, MP) / _nonzero(slope) * P
            slope, MP = np.where(active, _dots(Z, R), 0.0), product(P)
            curvature = np.where(active, _dots(P, MP), 1.0)
            if not (np.isfinite(slope) & (slope >= 0) & (curvature > 0)).all():
                break
            length = slope / curvature
            A += length * P
            R -= length * MP
        return None, step

    def _product(self) -> Callable[..., Any]:
        """P -> (D K D + shift I) P."""
        blocks, root = GramBlocks(self.kernel_, self.X_), weighted(self.root_)

        def product(P: np.ndarray) -> Any:
            if root is None:
                return blocks.product(P) + self.shift_ * P
            scale = root[:, None]
            return scale * blocks.product(scale * P) + self.shift_ * P

        return product

    def _preconditioned(self, R: np.ndarray) -> Any:
        """M^-1 R by the factor; each column is scaled, so that single precision holds it."""
        size = _nonzero(np.abs(R).max(axis=0, initial=0.0))
        scaled = np.asfortranarray(R / size, dtype=np.float32)
        return self.coarse_._plain(scaled).astype(np.float64) * size

    # ------------------------------------------------------------------ leaving out
    _columns_at_once = 1024  # each pass over the kernel should serve many

    def residual_block(self, rows: np.ndarray) -> Any:
        """Block of shift * inverse for some rows; shape (len(rows), len(rows))."""
        return self.shift_ * self.solve(unit_columns(self._n, rows))[rows]


def _dots(A: np.ndarray, B: np.ndarray) -> Any:
    """Inner products of columns; shape (q,)."""
    return np.einsum("ij,ij->j", A, B)


def _nonzero(values: np.ndarray) -> np.ndarray:
    """The values, with one in place of zero: what is divided by it is zero too."""
    return np.where(values == 0, 1.0, values)
