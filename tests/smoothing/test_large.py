# SPDX-License-Identifier: BSD-3-Clause
"""Factors of large matrices, by blocks of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct import config_context
from skstruct.smoothing import KernelRidge
from skstruct.smoothing.systems import MixedSystem
from skstruct.smoothing.systems import direct as cholesky
from skstruct.smoothing.systems.direct import factor_rows


@given(st.integers(1, 30), st.integers(1, 12), st.integers(0, 2**31 - 1))
def test_a_factor(n, step, seed):
    A = np.random.default_rng(seed).standard_normal((n, n + 2))
    K = A @ A.T + np.eye(n)
    upper = np.triu(K)
    assert factor_rows(upper, step) == 0
    np.testing.assert_allclose(np.triu(upper).T, np.linalg.cholesky(K), atol=1e-9)


@pytest.mark.parametrize("bad", range(6))
def test_the_row_that_is_not_definite(bad):
    K = np.eye(6)
    K[bad, bad] = -1.0
    assert factor_rows(K, 2) == bad + 1


def test_large_systems_are_factored_so(monkeypatch):
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((40, 2)), rng.standard_normal((40, 3))
    plain = KernelRidge(alpha=0.1).fit(X, T)
    monkeypatch.setattr(cholesky, "LARGE", 10)
    large = KernelRidge(alpha=0.1).fit(X, T)
    np.testing.assert_allclose(large.predict(X), plain.predict(X), atol=1e-10)
    np.testing.assert_allclose(large.loo(), plain.loo(), atol=1e-10)
    with config_context(precision="mixed"):
        mixed = KernelRidge(alpha=0.1).fit(X, T)
    assert isinstance(mixed.system_, MixedSystem)
    np.testing.assert_allclose(mixed.predict(X), plain.predict(X), atol=1e-8)
