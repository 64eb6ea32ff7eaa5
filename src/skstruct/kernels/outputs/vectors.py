# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between rows of numbers, and between the embeddings of a space."""

import copy
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError

from skstruct.kernels.inputs import gaussian
from skstruct.kernels.outputs.base import OutputKernel, named
from skstruct.saving import savable
from skstruct.spaces import Solving
from skstruct.spaces.quantities.base import read_quantities

BINARY = ("outputs", "indicators", "positions", "bigrams")  # embeddings psi(z) of 0 and 1
QUANTITIES = ("coordinates", "squares")


class RowKernel(OutputKernel):
    r"""What kernels of rows of numbers share.

    Outputs are an array or frame of finite numbers, shape (n,) or (n, d). After
    ``bind(space)``, which then comes before ``fit``, they are all that the space reads, and
    the rows are the numbers themselves in spaces of quantities, :math:`\psi(y)` in others.
    """

    def bind(self, space: Any) -> Any:
        bound = copy.copy(self)
        bound.space_ = space
        return bound

    def rows(self, Y: Any) -> Any:
        """Outputs as rows of numbers: a dense or sparse array (n, d)."""
        space = getattr(self, "space_", None)
        if space is None:
            return read_quantities(Y, None, used_by=type(self).__name__)[0]
        Z = space.validate(Y)
        return Z if space.embedding in QUANTITIES else space.embed(Z)

    def __call__(self, A: Any, B: Any = None) -> np.ndarray:
        a = self.rows(A)
        b = a if B is None else self.rows(B)
        if a.shape[1] != b.shape[1]:
            raise ValueError(
                f"{type(self).__name__}: rows of A have {a.shape[1]} numbers, those of B "
                f"{b.shape[1]}."
            )
        return self._matrix(a, b)

    @abstractmethod
    def _matrix(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """k of all pairs of rows."""


@named("linear")
@savable
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

    def _matrix(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return inner_products(a, b)

    def embedding_on(self, space: Any) -> str | None:
        if space.embedding in QUANTITIES and Solving.of(space).takes_curves:
            return "squares"
        return space.embedding if space.embedding in BINARY else None

    def _of_quantities(self) -> bool:
        return self.space_.embedding in QUANTITIES

    def _weighted_sum(self, g: np.ndarray, total: np.ndarray) -> Any:
        """h = sum_i b_i y_i, shape (n, d)."""
        return g[:, : g.shape[1] // 2] + np.reshape(total, (-1, 1)) * self.space_.mean_

    def cost(self, g: np.ndarray, total: Any) -> np.ndarray:
        g = np.asarray(g)
        if not self._of_quantities():
            return 1.0 - 2.0 * g
        h = self._weighted_sum(g, total)
        return np.hstack([2.0 * (self.space_.mean_ - h), np.ones_like(h)])

    def offset(self, g: np.ndarray, total: np.ndarray) -> Any:
        g = np.asarray(g)
        if not self._of_quantities():
            return np.zeros(len(g))
        mean = self.space_.mean_
        return mean @ mean - 2.0 * self._weighted_sum(g, total) @ mean


def inner_products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of all pairs of rows, dense; of dense or sparse arrays."""
    K = a @ b.T
    return K.toarray() if sparse.issparse(K) else np.asarray(K, dtype=np.float64)


class ScaledRowKernel(RowKernel):
    """What kernels with a gamma share: how it is given, or learned."""

    gamma: Any

    def fit(self, Y: Any) -> Self:
        self.gamma_ = _checked_gamma(self)
        if self.gamma_ is None:
            self.gamma_ = 1.0 / _spread(self.rows(Y))
        return self

    @property
    def _width(self) -> Any:
        gamma = getattr(self, "gamma_", _checked_gamma(self))
        if gamma is None:
            raise NotFittedError(f"{type(self).__name__} learns gamma: call fit, or give it.")
        return gamma


@named("rbf")
@savable
class GaussianKernel(ScaledRowKernel):
    r"""Gaussian kernel, :math:`k(y, y') = e^{-\gamma |y - y'|^2}`.

    Parameters
    ----------
    gamma : float, default=None
        None is one over the mean squared distance of the outputs seen in ``fit`` from their
        mean; 1 where all are the same.

    Examples
    --------
    >>> GaussianKernel().fit([0.0, 2.0]).gamma_
    1.0
    """

    def __init__(self, gamma: float | None = None) -> None:
        self.gamma = gamma

    def _matrix(self, a: np.ndarray, b: np.ndarray) -> Any:
        if sparse.issparse(a):
            return gaussian(a, b, self._width)
        # Distances do not see a common shift, but their rounding errors do.
        centre = a.mean(axis=0)
        shifted = a - centre
        return gaussian(shifted, shifted if b is a else b - centre, self._width)

    def diagonal(self, A: Any) -> np.ndarray:
        return np.ones(self.rows(A).shape[0])

    def largest_loss(self) -> float:
        return 1.0


@named("polynomial")
@savable
class PolynomialKernel(ScaledRowKernel):
    r"""Polynomial kernel, :math:`k(y, y') = (\gamma \langle y, y' \rangle + c)^p`.

    Parameters
    ----------
    gamma : float, default=None
        As in :class:`GaussianKernel`.
    degree : int, default=3
        p, from 1 on.
    coef0 : float, default=1
        c, not below zero.

    Examples
    --------
    >>> PolynomialKernel(gamma=1.0, degree=2)([[1.0, 2.0]], [[1.0, 1.0]])
    array([[16.]])
    """

    def __init__(self, gamma: float | None = None, degree: int = 3, coef0: float = 1) -> None:
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def _matrix(self, a: np.ndarray, b: np.ndarray) -> Any:
        if not (self.coef0 >= 0 and self.degree >= 1 and self.degree == int(self.degree)):
            raise ValueError(
                "PolynomialKernel has a whole degree from 1 on and coef0 >= 0; got degree "
                f"{self.degree!r} and coef0 {self.coef0!r}."
            )
        return (self._width * inner_products(a, b) + self.coef0) ** int(self.degree)


def _checked_gamma(kernel: Any) -> Any:
    gamma = kernel.gamma
    if gamma is not None and not (np.isfinite(gamma) and gamma > 0):
        raise ValueError(f"{type(kernel).__name__}: gamma must be positive; got {gamma!r}.")
    return gamma


def _spread(rows: Any) -> float:
    """Mean squared distance of rows from their mean; 1 where all are the same."""
    if sparse.issparse(rows):
        mean = np.asarray(rows.mean(axis=0)).ravel()
        spread = rows.multiply(rows).sum() / rows.shape[0] - mean @ mean
    else:
        mean = rows.mean(axis=0)
        spread = ((rows - mean) ** 2).sum() / len(rows)
    return float(spread) if spread > max(1e-28 * (mean @ mean), 1e-300) else 1.0
