# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between rows of numbers, and between the embeddings of a space."""

from __future__ import annotations

import copy
from abc import abstractmethod

import numpy as np
from scipy import sparse

from skstruct.kernels.outputs.base import OutputKernel
from skstruct.spaces.quantities.forms import read_quantities

BINARY = ("outputs", "indicators", "positions", "bigrams")  # embeddings psi(z) of 0 and 1
QUANTITIES = ("coordinates", "squares")


class RowKernel(OutputKernel):
    r"""What kernels of rows of numbers share.

    Outputs are an array or frame of finite numbers, shape (n,) or (n, d). After
    ``bind(space)``, which then comes before ``fit``, they are all that the space reads, and
    the rows are the numbers themselves in spaces of quantities, :math:`\psi(y)` in others.
    """

    def bind(self, space):
        bound = copy.copy(self)
        bound.space_ = space
        return bound

    def rows(self, Y):
        """Outputs as rows of numbers: a dense or sparse array (n, d)."""
        space = getattr(self, "space_", None)
        if space is None:
            return read_quantities(Y, None, used_by=type(self).__name__)[0]
        Z = space.validate(Y)
        return Z if space.embedding in QUANTITIES else space.embed(Z)

    def __call__(self, A, B=None) -> np.ndarray:
        a = self.rows(A)
        b = a if B is None else self.rows(B)
        if a.shape[1] != b.shape[1]:
            raise ValueError(
                f"{type(self).__name__}: rows of A have {a.shape[1]} numbers, those of B "
                f"{b.shape[1]}."
            )
        return self._matrix(a, b)

    @abstractmethod
    def _matrix(self, a, b) -> np.ndarray:
        """k of all pairs of rows."""


class LinearKernel(RowKernel):
    r"""Inner products, :math:`k(y, y') = \langle y, y' \rangle`.

    Its loss is half the squared distance. On a space it is the inner product of embeddings,

    - of 0 and 1 (label sets, classes, sequences, rankings by position), where
      :math:`k(z, z) = \sum_j \psi_j(z)` and the cost is :math:`1 - 2 g`;
    - of quantities, with :math:`\psi(z) = (z - m, (z - m)^2)` and :math:`h = g_1 + B m` the
      weighted sum of outputs: the cost is :math:`[\,2 m - 2 h \mid 1\,]` and the offset
      :math:`|m|^2 - 2 \langle m, h \rangle`.

    Examples
    --------
    >>> LinearKernel()([[1.0, 2.0]], [[3.0, 4.0], [0.0, 1.0]])
    array([[11.,  2.]])
    """

    def _matrix(self, a, b):
        return inner_products(a, b)

    def embedding_on(self, space) -> str | None:
        if space.embedding in QUANTITIES and hasattr(space, "minimize"):
            return "squares"
        return space.embedding if space.embedding in BINARY else None

    def _of_quantities(self) -> bool:
        return self.space_.embedding in QUANTITIES

    def _weighted_sum(self, g, total):
        """h = sum_i b_i y_i, shape (n, d)."""
        return g[:, : g.shape[1] // 2] + np.reshape(total, (-1, 1)) * self.space_.mean_

    def cost(self, g, total):
        g = np.asarray(g)
        if not self._of_quantities():
            return 1.0 - 2.0 * g
        h = self._weighted_sum(g, total)
        return np.hstack([2.0 * (self.space_.mean_ - h), np.ones_like(h)])

    def offset(self, g, total):
        g = np.asarray(g)
        if not self._of_quantities():
            return np.zeros(len(g))
        mean = self.space_.mean_
        return mean @ mean - 2.0 * self._weighted_sum(g, total) @ mean


def inner_products(a, b) -> np.ndarray:
    """Of all pairs of rows, dense; of dense or sparse arrays."""
    K = a @ b.T
    return K.toarray() if sparse.issparse(K) else np.asarray(K, dtype=np.float64)
