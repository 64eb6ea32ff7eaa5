# SPDX-License-Identifier: BSD-3-Clause
"""A way of solving ridge systems against dense linear algebra."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from sklearn.base import clone


def check_system(system, *, n=50, shift=0.3, seed=0):
    """Solutions, leverages and inverse blocks agree with the textbook, with and without border.

    Parameters
    ----------
    system : unfitted ridge system

    Examples
    --------
    >>> from skstruct.smoothing.systems import CholeskySystem
    >>> check_system(CholeskySystem())
    """
    rng = np.random.default_rng(seed)
    X, B = rng.standard_normal((n, 4)), rng.standard_normal((n, 3))
    K = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2))
    for border in (None, np.ones(n), rng.random(n) + 0.1):
        inverse = _inverse(K + shift * np.eye(n), border)
        fitted = clone(system).fit(K.copy(), shift, border=border)
        assert_allclose(fitted.solve(B.copy()), inverse @ B, atol=1e-8)
        assert_allclose(fitted.leverages(), 1 - shift * np.diag(inverse), atol=1e-8)
        assert_allclose(fitted.residual_shares(), shift * np.diag(inverse), atol=1e-8)
        rows = rng.permutation(n)[:7]
        block = shift * inverse[np.ix_(rows, rows)]
        assert_allclose(fitted.residual_block(rows), block, atol=1e-8)


def _inverse(M, border):
    if border is None:
        return np.linalg.inv(M)
    n = len(M)
    bordered = np.zeros((n + 1, n + 1))
    bordered[:n, :n] = M
    bordered[n, :n] = bordered[:n, n] = border
    return np.linalg.inv(bordered)[:n, :n]
