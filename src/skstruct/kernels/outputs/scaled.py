# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between rows of numbers that go by the scale of these numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError

from skstruct.kernels.inputs import gaussian
from skstruct.kernels.outputs.rows import RowKernel, inner_products


class ScaledRowKernel(RowKernel):
    """What kernels with a gamma share: how it is given, or learned."""

    gamma: Any

    def fit(self, Y):
        self.gamma_ = _checked_gamma(self)
        if self.gamma_ is None:
            self.gamma_ = 1.0 / _spread(self.rows(Y))
        return self

    @property
    def _width(self) -> float:
        gamma = getattr(self, "gamma_", _checked_gamma(self))
        if gamma is None:
            raise NotFittedError(f"{type(self).__name__} learns gamma: call fit, or give it.")
        return gamma


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

    def __init__(self, gamma=None):
        self.gamma = gamma

    def _matrix(self, a, b):
        if sparse.issparse(a):
            return gaussian(a, b, self._width)
        # Distances do not see a common shift, but their rounding errors do.
        centre = a.mean(axis=0)
        shifted = a - centre
        return gaussian(shifted, shifted if b is a else b - centre, self._width)

    def diagonal(self, A) -> np.ndarray:
        return np.ones(self.rows(A).shape[0])

    def largest_loss(self) -> float:
        return 1.0


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

    def __init__(self, gamma=None, degree=3, coef0=1):
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def _matrix(self, a, b):
        if not (self.coef0 >= 0 and self.degree >= 1 and self.degree == int(self.degree)):
            raise ValueError(
                "PolynomialKernel has a whole degree from 1 on and coef0 >= 0; got degree "
                f"{self.degree!r} and coef0 {self.coef0!r}."
            )
        return (self._width * inner_products(a, b) + self.coef0) ** int(self.degree)


def _checked_gamma(kernel) -> float | None:
    gamma = kernel.gamma
    if gamma is not None and not (np.isfinite(gamma) and gamma > 0):
        raise ValueError(f"{type(kernel).__name__}: gamma must be positive; got {gamma!r}.")
    return gamma


def _spread(rows) -> float:
    """Mean squared distance of rows from their mean; 1 where all are the same."""
    if sparse.issparse(rows):
        mean = np.asarray(rows.mean(axis=0)).ravel()
        spread = rows.multiply(rows).sum() / rows.shape[0] - mean @ mean
    else:
        mean = rows.mean(axis=0)
        spread = ((rows - mean) ** 2).sum() / len(rows)
    return float(spread) if spread > max(1e-28 * (mean @ mean), 1e-300) else 1.0
