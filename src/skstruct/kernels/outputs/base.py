# SPDX-License-Identifier: BSD-3-Clause
"""What a kernel between outputs promises, and how it is named."""

from __future__ import annotations

import copy
from abc import abstractmethod
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from skstruct.spaces.base import Decoded

Array = Any
ROWS = 64  # of a block whose diagonal is all that is looked at


class OutputKernel(BaseEstimator):
    r"""A positive semidefinite kernel k(y, y') between outputs in the user's own form.

    The loss that goes with it is half a squared distance between features [1]_,

    .. math:: L_K(y, y') = \tfrac12 (k(y, y) + k(y', y')) - k(y, y').

    A child brings ``__call__(A, B=None)``, the matrix (n_a, n_b), and perhaps ``fit``, which
    learns sizes left open, and ``diagonal``. Kernels are added and multiplied by ``+`` and
    ``*``, with each other and with positive numbers.

    Some kernels are bilinear in the embedding psi of a space. These say so by
    ``embedding_on(space)``, and after ``bind(space)`` give for every row of weights b

    .. math:: k(z, z) - 2 \sum_i b_i k(z, y_i) = \langle \mathrm{cost}, \psi(z) \rangle
        + \mathrm{offset}, \quad g = \sum_i b_i \psi(y_i),\ \mathrm{total} = \sum_i b_i

    so that the nearest output in feature space is an argmin of the space. Where there is a
    space, ``bind`` comes before ``fit``: some kernels read outputs as the space does.

    References
    ----------
    .. [1] S. Giguère, F. Laviolette, M. Marchand, K. Sylla, "Risk bounds and learning
       algorithms for the regression approach to structured output prediction", 2013.
    """

    all_or_nothing = False  # whether its loss is either 0 or the largest one

    def fit(self, Y) -> Self:
        """Learn what is left open from outputs in the user's form."""
        return self

    def admit(self, Y) -> None:
        """After ``fit``, make room for outputs that may be predicted but were not seen."""

    @abstractmethod
    def __call__(self, A, B=None) -> np.ndarray:
        """k(a, b) for all pairs, shape (n_a, n_b); B=None stands for A."""

    def diagonal(self, A) -> np.ndarray:
        """k(a, a), shape (n,)."""
        return self.paired(A, A)

    def paired(self, A, B) -> np.ndarray:
        """k(a_i, b_i) row by row, shape (n,)."""
        n = _number_of(A)
        if n != _number_of(B):
            raise ValueError(
                f"{type(self).__name__}: {n} outputs cannot be compared with {_number_of(B)} "
                "row by row."
            )
        blocks = [np.arange(start, min(start + ROWS, n)) for start in range(0, n, ROWS)]
        values = [self(_safe_indexing(A, at), _safe_indexing(B, at)).diagonal() for at in blocks]
        return np.concatenate(values) if values else self(A, B).diagonal()

    def loss(self, A, B) -> np.ndarray:
        """L_K(a_i, b_i) row by row, shape (n,)."""
        return (self.diagonal(A) + self.diagonal(B)) / 2 - self.paired(A, B)

    def largest_loss(self) -> float | None:
        """A number that no loss exceeds, as small as is known; None where none is known."""
        return None

    # ------------------------------------------------------------- on a space
    def embedding_on(self, space) -> str | None:
        """Name of the embedding of ``space`` in which k is bilinear; None if there is none."""
        return None

    def bind(self, space) -> Self:
        """A copy that knows the sizes of a space."""
        return copy.copy(self)

    def cost(self, g: Array, total: Array) -> np.ndarray:
        """Costs of the coordinates of psi, shape (n, d), for g (n, d) and total (n, 1)."""
        raise ValueError(
            f"{type(self).__name__} is no linear cost in an embedding; list the candidates."
        )

    def offset(self, g: Array, total: Array) -> np.ndarray:
        """What is to be added to the costs to get the squared distance, shape (n,)."""
        return np.zeros(len(g))

    def nearest(self, space, g: Array, total: Array) -> Decoded:
        """The outputs z of least k(z, z) - 2 sum_i b_i k(z, y_i), after ``bind(space)``."""
        decoded, offset = space.argmin(self.cost(g, total)), self.offset(g, total)
        return Decoded(decoded.outputs, decoded.values + offset, decoded.bounds + offset)

    # ------------------------------------------------------------- combined
    def __add__(self, other):
        from skstruct.kernels.outputs.combined import added

        return added(self, resolve_output_kernel(other)) if _is_kernel(other) else NotImplemented

    def __radd__(self, other):
        from skstruct.kernels.outputs.combined import added

        if isinstance(other, Real) and other == 0:  # where sum([...]) begins
            return self
        return added(resolve_output_kernel(other), self) if _is_kernel(other) else NotImplemented

    def __mul__(self, other):
        from skstruct.kernels.outputs.combined import multiplied, scaled

        if isinstance(other, Real):
            return scaled(self, other)
        if not _is_kernel(other):
            return NotImplemented
        return multiplied(self, resolve_output_kernel(other))

    __rmul__ = __mul__


def _is_kernel(other) -> bool:
    return callable(other) and hasattr(other, "get_params")


def _number_of(Y) -> int:
    shape = getattr(Y, "shape", None)
    return shape[0] if shape else len(Y)


def resolve_output_kernel(kernel, **parameters) -> OutputKernel:
    """The kernel between outputs that is meant by a name, an object or a function.

    Parameters
    ----------
    kernel : str, OutputKernel, other kernel object, or callable
        A name: ``"dirac"``, ``"hamming"``, ``"path"``; ``"linear"``, ``"rbf"``,
        ``"polynomial"`` of rows of numbers; ``"precomputed"``, where a square matrix stands
        for the outputs. A kernel object with parameters, such as
        :class:`~skstruct.kernels.SpectrumKernel`, gives matrices: kernel(A, B). A plain
        function gives the number k(y, y') of two outputs.
    **parameters
        Of the kernel that is named, such as ``gamma``.

    Examples
    --------
    >>> resolve_output_kernel("rbf", gamma=0.5)([[0.0], [2.0]]).round(3)
    array([[1.   , 0.135],
           [0.135, 1.   ]])
    >>> resolve_output_kernel(lambda y, z: float(len(y) * len(z)))(["a", "bcd"])
    array([[1., 3.],
           [3., 9.]])
    """
    if isinstance(kernel, str):
        return _by_name(kernel)(**parameters)
    if parameters:
        raise ValueError(f"Parameters {sorted(parameters)} go with the name of a kernel only.")
    if isinstance(kernel, OutputKernel):
        return kernel
    from skstruct.kernels.outputs.functions import FunctionKernel, MatrixKernel

    if isinstance(kernel, type) or not callable(kernel):
        raise ValueError(
            f"A kernel between outputs is a name, a kernel object or a function; got {kernel!r}."
        )
    return MatrixKernel(kernel) if hasattr(kernel, "get_params") else FunctionKernel(kernel)


def _by_name(name: str):
    from skstruct.kernels.outputs.dirac import Dirac
    from skstruct.kernels.outputs.hamming import HammingKernel
    from skstruct.kernels.outputs.paths import PathKernel
    from skstruct.kernels.outputs.precomputed import PrecomputedKernel
    from skstruct.kernels.outputs.rows import LinearKernel
    from skstruct.kernels.outputs.scaled import GaussianKernel, PolynomialKernel

    kernels = {
        "dirac": Dirac,
        "hamming": HammingKernel,
        "path": PathKernel,
        "linear": LinearKernel,
        "rbf": GaussianKernel,
        "polynomial": PolynomialKernel,
        "precomputed": PrecomputedKernel,
    }
    if name not in kernels:
        raise ValueError(
            f"Unknown kernel between outputs {name!r}; known are {', '.join(kernels)}."
        )
    return kernels[name]
