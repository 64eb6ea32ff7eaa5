# SPDX-License-Identifier: BSD-3-Clause
"""Sums, products and multiples of kernels between outputs."""

from __future__ import annotations

import copy
import math

import numpy as np

from skstruct.kernels.outputs.base import OutputKernel, resolve_output_kernel


class SumKernel(OutputKernel):
    r"""Kernels added with weights, :math:`\sum_j c_j k_j(y, y')`; also ``k + l`` and ``2.0 * k``.

    Its features are those of all kernels side by side, each times :math:`\sqrt{c_j}`, and its
    loss is the same sum of their losses. On a space it is bilinear where all kernels are, in
    the same embedding.

    Parameters
    ----------
    kernels : list of kernels between outputs, or their names
    weights : list of numbers :math:`c_j \ge 0`, default=None
        One each when None.

    Examples
    --------
    >>> from skstruct.kernels import Dirac, HammingKernel
    >>> kernel = HammingKernel(length=3) + 0.5 * Dirac()
    >>> kernel(["abc", "ab"])
    array([[3.5, 2. ],
           [2. , 3.5]])
    """

    def __init__(self, kernels, weights=None):
        self.kernels = kernels
        self.weights = weights

    def fit(self, Y):
        self.kernels_ = [kernel.fit(Y) for kernel in _copies(self.kernels, "SumKernel")]
        self._weights()
        return self

    def _weights(self) -> np.ndarray:
        n = len(self.kernels)
        weights = np.ones(n) if self.weights is None else np.asarray(self.weights, np.float64)
        if weights.shape != (n,) or not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise ValueError(
                f"SumKernel: weights are {n} finite numbers, none below zero, one per kernel; got "
                f"{self.weights!r}."
            )
        return weights

    def _sum(self, method: str, *args):
        values = [getattr(kernel, method)(*args) for kernel in _parts(self, "SumKernel")]
        return sum(weight * value for weight, value in zip(self._weights(), values))

    def __call__(self, A, B=None) -> np.ndarray:
        return self._sum("__call__", A, B)

    def diagonal(self, A) -> np.ndarray:
        return self._sum("diagonal", A)

    def paired(self, A, B) -> np.ndarray:
        return self._sum("paired", A, B)

    def loss(self, A, B) -> np.ndarray:
        return self._sum("loss", A, B)

    def admit(self, Y) -> None:
        for kernel in _parts(self, "SumKernel"):
            kernel.admit(Y)

    def largest_loss(self) -> float | None:
        largest = [kernel.largest_loss() for kernel in _parts(self, "SumKernel")]
        if None in largest:
            return None
        return float(self._weights() @ np.array(largest, dtype=np.float64))

    # ------------------------------------------------------------- on a space
    def embedding_on(self, space) -> str | None:
        names = {kernel.embedding_on(space) for kernel in _parts(self, "SumKernel")}
        if len(names) > 1 or "ngrams" in names:  # squares of counts are no linear cost
            return None
        return names.pop()

    def bind(self, space):
        bound = copy.copy(self)
        bound.kernels = [kernel.bind(space) for kernel in _parts(self, "SumKernel")]
        bound.kernels_ = bound.kernels  # and fit after this fits copies of the bound ones
        return bound

    def cost(self, g, total):
        return self._sum("cost", g, total)

    def offset(self, g, total):
        return self._sum("offset", g, total)


class ProductKernel(OutputKernel):
    r"""Kernels multiplied, :math:`\prod_j k_j(y, y')`; also ``k * l``.

    Its features are all products of one feature of each kernel, so that it is positive
    semidefinite where they are.

    Parameters
    ----------
    kernels : list of kernels between outputs, or their names

    Examples
    --------
    >>> from skstruct.kernels import Dirac, HammingKernel
    >>> (HammingKernel(length=3) * HammingKernel(length=3))(["abc"], ["abd", "xyz"])
    array([[4., 0.]])
    """

    def __init__(self, kernels):
        self.kernels = kernels

    def fit(self, Y):
        self.kernels_ = [kernel.fit(Y) for kernel in _copies(self.kernels, "ProductKernel")]
        return self

    def _product(self, method: str, *args):
        return math.prod(getattr(part, method)(*args) for part in _parts(self, "ProductKernel"))

    def __call__(self, A, B=None) -> np.ndarray:
        return self._product("__call__", A, B)

    def diagonal(self, A) -> np.ndarray:
        return self._product("diagonal", A)

    def paired(self, A, B) -> np.ndarray:
        return self._product("paired", A, B)

    def admit(self, Y) -> None:
        for kernel in _parts(self, "ProductKernel"):
            kernel.admit(Y)

    def bind(self, space):
        bound = copy.copy(self)
        bound.kernels = [kernel.bind(space) for kernel in _parts(self, "ProductKernel")]
        bound.kernels_ = bound.kernels  # and fit after this fits copies of the bound ones
        return bound


def _copies(kernels, used_by: str) -> list[OutputKernel]:
    """Kernels that may be fitted without changing those of the user."""
    if isinstance(kernels, (str, OutputKernel)) or len(kernels) == 0:
        raise ValueError(f"{used_by} expects a list of at least one kernel; got {kernels!r}.")
    return [copy.copy(resolve_output_kernel(kernel)) for kernel in kernels]


def _parts(kernel, used_by: str) -> list[OutputKernel]:
    """The kernels as they were fitted, or as they are."""
    return getattr(kernel, "kernels_", None) or _copies(kernel.kernels, used_by)


def added(first: OutputKernel, second: OutputKernel) -> SumKernel:
    """The sum of two kernels; of sums, one sum of all their terms."""
    kernels: list = []
    weights: list[float] = []
    for kernel in (first, second):
        terms = kernel.kernels if isinstance(kernel, SumKernel) else [kernel]
        kernels += list(terms)
        weights += kernel._weights().tolist() if isinstance(kernel, SumKernel) else [1.0]
    return SumKernel(kernels, weights)


def multiplied(first: OutputKernel, second: OutputKernel) -> ProductKernel:
    """The product of two kernels; of products, one product of all their factors."""
    kernels: list = []
    for kernel in (first, second):
        kernels += kernel.kernels if isinstance(kernel, ProductKernel) else [kernel]
    return ProductKernel(kernels)


def scaled(kernel: OutputKernel, factor) -> SumKernel:
    """A multiple of a kernel."""
    if not (np.isfinite(factor) and factor >= 0):
        raise ValueError(f"A kernel is multiplied by finite numbers >= 0; got {factor!r}.")
    if isinstance(kernel, SumKernel):
        return SumKernel(kernel.kernels, (float(factor) * kernel._weights()).tolist())
    return SumKernel([kernel], [float(factor)])
