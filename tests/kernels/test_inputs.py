# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from skstruct import ConditionalRiskMinimizer
from skstruct.kernels import resolve_kernel
from skstruct.learners.leave_out import kernel_grid

X = np.random.default_rng(0).standard_normal((150, 3)) * [1.0, 2.0, 0.5]


def test_a_sum_weighs_its_terms_alike():
    kernel = resolve_kernel("linear + rbf+laplacian").fit(X)
    gamma = 1 / (3 * X.var())
    expected = X @ X.T / (X**2).sum(axis=1).mean() + rbf_kernel(X, gamma=gamma)
    expected = (expected + laplacian_kernel(X, gamma=gamma)) / 3
    np.testing.assert_allclose(kernel.gram(X), expected, atol=1e-12)
    np.testing.assert_allclose(kernel(X[:5], X), expected[:5], atol=1e-12)
    assert np.isclose(kernel.gamma_, gamma)


def test_sums_are_searched_over_widths_if_they_have_one():
    searched = resolve_kernel("rbf+laplacian", gamma="auto")
    assert len(kernel_grid(["linear", searched], X, None)) == 1 + 7
    assert len(kernel_grid(["linear", "rbf+laplacian"], X, None)) == 2
    assert len(kernel_grid(resolve_kernel("linear+cosine", gamma="auto"), X, None)) == 1
    y = (X[:, 0] > 0).astype(int)
    model = ConditionalRiskMinimizer(kernel=["linear", searched], alpha=[0.1, 1.0]).fit(X, y)
    assert model.kernel_ in ("linear", searched)
    assert len(model.search_.trials) == 2 * (1 + 7)
    widths = {trial["gamma"] for trial in model.search_.trials} - {None}
    assert widths == set(searched.widths(X))
    assert model.score(X, y) > -0.1


def test_bad_sums():
    for kernel, message in (("rbf+nonsense", "Unknown kernel 'nonsense'"), ("rbf+", "Unknown"),
                            ("rbf+precomputed", "cannot be added")):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            resolve_kernel(kernel).fit(X)
