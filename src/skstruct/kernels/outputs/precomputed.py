# SPDX-License-Identifier: BSD-3-Clause
"""A matrix of kernel values in the place of outputs, and whether it can be one."""

from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from skstruct.kernels.grams import REPAIR
from skstruct.kernels.inputs import check_gram
from skstruct.kernels.outputs.base import OutputKernel, named
from skstruct.saving import savable
from skstruct.tolerances import GRAM_DEFINITENESS

LARGEST_BLOCK = 1000  # rows: a second's work for the eigenvalues, and an error shows in fewer


def check_definite(
    K: np.ndarray, used_by: str = "The kernel between outputs", block: int = LARGEST_BLOCK
) -> np.ndarray:
    """``K`` itself, if it is finite and no eigenvalue is below zero by more than rounding.

    Of a matrix with more than ``block`` rows only the leading block of so many is looked at: a
    negative eigenvalue of a block is one of the matrix, but what a block does not show
    may still be there. Eigenvalues down to -1e-8 of the largest count as zero.

    Parameters
    ----------
    K : symmetric array of shape (n, n)
    used_by : str
        What the error calls the matrix.
    block : int, default=1000
        Largest number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> check_definite(np.array([[1.0, 2.0], [2.0, 1.0]]))
    Traceback (most recent call last):
        ...
    ValueError: The kernel between outputs is not positive semidefinite: its lowest eigenvalue
    is -1 (the highest is 3). A distance is no kernel: exp(-distance) may be one. Adding 1 to
    the diagonal makes it semidefinite; skstruct.kernels.RepairedKernel makes a positive
    semidefinite one of its matrix.
    """
    finite = np.isfinite(K)
    if not finite.all():
        i, j = np.argwhere(~finite)[0]
        raise ValueError(f"{used_by} is not finite: the value of outputs {i} and {j} is {K[i, j]}.")
    if len(K) == 0:
        return K
    lowest, highest = np.linalg.eigvalsh(K[:block, :block])[[0, -1]]
    if lowest < -GRAM_DEFINITENESS * max(highest, -lowest):
        of = f" on the first {block} outputs" if len(K) > block else ""
        raise ValueError(
            f"{used_by} is not positive semidefinite{of}: its lowest eigenvalue is {lowest:.3g} "
            f"(the highest is {highest:.3g}). A distance is no kernel: exp(-distance) may be "
            f"one. Adding {-lowest:.3g} to the diagonal makes it semidefinite; {REPAIR}."
        )
    return K


@named("precomputed")
@savable
class PrecomputedKernel(OutputKernel):
    """A matrix of kernel values, in the place of the outputs themselves.

    ``fit`` takes the matrix (m, m), symmetric and positive semidefinite (of more than 1000
    rows the leading 1000 are checked). Outputs are then row numbers 0, ..., m - 1; the
    matrix itself stands for all of them.

    Examples
    --------
    >>> kernel = PrecomputedKernel().fit([[2.0, 1.0], [1.0, 1.0]])
    >>> kernel([1], [0, 1])
    array([[1., 1.]])
    >>> kernel.loss([0], [1])
    array([0.5])
    """

    def fit(self, Y: Any) -> Self:
        try:
            matrix = check_gram(Y)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"With a precomputed kernel between outputs, y is that kernel's matrix: {error}"
            ) from None
        self.matrix_ = check_definite(matrix, "The precomputed kernel between outputs")
        return self

    def _numbers(self, Y: Any) -> np.ndarray:
        if not hasattr(self, "matrix_"):
            raise NotFittedError("A precomputed kernel between outputs is given to fit.")
        m, numbers = len(self.matrix_), np.asarray(Y)
        if numbers.shape == (m, m) and np.array_equal(numbers, self.matrix_):
            return np.arange(m)
        whole = numbers.ndim == 1 and numbers.size and numbers.dtype.kind in "iu"
        if not whole or numbers.min() < 0 or numbers.max() >= m:
            raise ValueError(
                "Outputs of a precomputed kernel are row numbers of the matrix given to fit, "
                f"from 0 to {m - 1}, or that matrix; got an array of shape {numbers.shape} and "
                f"type {numbers.dtype}."
            )
        return numbers

    def __call__(self, A: Any, B: Any = None) -> Any:
        a = self._numbers(A)
        return self.matrix_[np.ix_(a, a if B is None else self._numbers(B))]

    def diagonal(self, A: Any) -> Any:
        return self.matrix_.diagonal()[self._numbers(A)].copy()

    def paired(self, A: Any, B: Any) -> Any:
        a, b = self._numbers(A), self._numbers(B)
        if len(a) != len(b):
            raise ValueError(f"{len(a)} outputs cannot be compared with {len(b)} row by row.")
        return self.matrix_[a, b]

    def largest_loss(self) -> float:
        """Over the outputs of the matrix."""
        half = self.matrix_[self._numbers(self.matrix_)].diagonal() / 2
        return max(float((half - row).max() + own) for own, row in zip(half, self.matrix_))
