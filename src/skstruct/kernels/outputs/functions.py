# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between outputs that come as functions, or as objects that give matrices."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from sklearn.base import clone

from skstruct.kernels.outputs.base import OutputKernel
from skstruct.kernels.outputs.forms import hashable, listed

TRIED = 32  # distinct outputs whose pairs are asked for both ways round


class FunctionKernel(OutputKernel):
    """A function k(y, y') of two outputs that returns a number.

    It is asked once for each pair of distinct outputs, and for the pairs of the first 32 both
    ways round. That it is positive semidefinite is for its author to know.

    Parameters
    ----------
    function : callable (y, y') -> float

    Examples
    --------
    >>> FunctionKernel(lambda y, z: len(set(y) & set(z)))(["abc", "cd"], ["dc", "dc", "x"])
    array([[1., 1., 0.],
           [2., 2., 0.]])
    """

    def __init__(self, function):
        self.function = function

    def __call__(self, A, B=None) -> np.ndarray:
        rows, distinct = _distinct(A)
        if B is None:
            return self._square(distinct)[np.ix_(rows, rows)]
        columns, others = _distinct(B)
        table = np.array([[self._value(a, b) for b in others] for a in distinct])
        return table[np.ix_(rows, columns)]

    def _square(self, outputs: list) -> np.ndarray:
        K = np.diag([self._value(y, y) for y in outputs])
        for i, j in combinations(range(len(outputs)), 2):
            K[i, j] = K[j, i] = self._value(outputs[i], outputs[j])
            if j < TRIED:
                back = self._value(outputs[j], outputs[i])
                if not np.isclose(back, K[i, j], rtol=1e-8, atol=1e-12):
                    raise ValueError(
                        f"The kernel between outputs is not symmetric: of {outputs[i]!r} and "
                        f"{outputs[j]!r} it is {K[i, j]:.6g}, the other way round {back:.6g}."
                    )
        return K

    def diagonal(self, A) -> np.ndarray:
        rows, distinct = _distinct(A)
        return np.array([self._value(y, y) for y in distinct])[rows]

    def paired(self, A, B) -> np.ndarray:
        A, B = listed(A, "A kernel between outputs"), listed(B, "A kernel between outputs")
        if len(A) != len(B):
            raise ValueError(f"{len(A)} outputs cannot be compared with {len(B)} row by row.")
        return np.array([self._value(a, b) for a, b in zip(A, B)])

    def _value(self, a, b) -> float:
        value = self.function(a, b)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = np.nan
        if not np.isfinite(number):
            raise ValueError(
                "A kernel between outputs is a finite number for any two of them; of "
                f"{a!r} and {b!r} it is {value!r}."
            )
        return number


def _distinct(Y) -> tuple[np.ndarray, list]:
    """Numbers of the outputs, and the distinct ones in order of appearance.

    Outputs that cannot be hashed are all taken for different.
    """
    number: dict = {}
    rows: list[int] = []
    outputs: list = []
    for i, y in enumerate(listed(Y, "A kernel between outputs")):
        try:
            key = hashable(y, "A kernel between outputs")
        except ValueError:
            key = ("not hashable", i)
        rows.append(number.setdefault(key, len(number)))
        if len(number) > len(outputs):
            outputs.append(y)
    return np.array(rows, dtype=np.int64), outputs


class MatrixKernel(OutputKernel):
    """A kernel object that gives matrices, kernel(A, B), such as a string kernel.

    A :class:`~skstruct.kernels.SpectrumKernel` that is not normalized is the inner product of
    n-gram counts, in which ``Strings`` of the same n embeds its outputs: the nearest string
    is then searched for by the space.

    Parameters
    ----------
    kernel : object, called with two lists of outputs
        Its methods ``fit`` and ``diagonal`` are used if it has them.

    Examples
    --------
    >>> from skstruct.kernels import EdgeKernel
    >>> MatrixKernel(EdgeKernel()).loss([[1, 2, 3]], [[3, 2, 1]])
    array([3.])
    """

    def __init__(self, kernel):
        self.kernel = kernel

    def fit(self, Y):
        self.kernel_ = clone(self.kernel, safe=False)
        if hasattr(self.kernel_, "fit"):
            self.kernel_.fit(Y)
        return self

    def __call__(self, A, B=None) -> np.ndarray:
        kernel = getattr(self, "kernel_", self.kernel)
        K = np.asarray(kernel(A, A if B is None else B), dtype=np.float64)
        if K.ndim != 2 or not np.isfinite(K).all():
            raise ValueError(
                f"{type(kernel).__name__} gave an array of shape {K.shape} for outputs; a finite "
                "matrix was expected."
            )
        return K

    def diagonal(self, A) -> np.ndarray:
        kernel = getattr(self, "kernel_", self.kernel)
        if hasattr(kernel, "diagonal"):
            return np.asarray(kernel.diagonal(A), dtype=np.float64)
        return super().diagonal(A)

    def largest_loss(self) -> float | None:
        from skstruct.kernels.strings.ngram_kernel import NGramKernel

        # Features of strings are counts, none below zero: (1 + 1) / 2 - 0 is the worst.
        normalized = isinstance(self.kernel, NGramKernel) and self.kernel.normalize
        return 1.0 if normalized else None

    def embedding_on(self, space) -> str | None:
        from skstruct.kernels.strings.spectrum import SpectrumKernel

        counted = isinstance(self.kernel, SpectrumKernel) and not self.kernel.normalize
        if counted and space.embedding == "ngrams" and space.n == self.kernel.n:
            return "ngrams"
        return None

    def cost(self, g, total):
        raise ValueError(
            "Squared counts of n-grams are no linear cost; use nearest(space, g, total)."
        )

    def nearest(self, space, g, total):
        return space.nearest(g)
