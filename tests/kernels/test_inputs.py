# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from skstruct import ConditionalRiskMinimizer
from skstruct.kernels import resolve_kernel
from skstruct.kernels.inputs import manhattan
from skstruct.learners.leave_out import kernel_grid

X = np.random.default_rng(0).standard_normal((150, 3)) * [1.0, 2.0, 0.5]


def test_a_sum_weighs_its_terms_alike():
    kernel = resolve_kernel("linear + rbf+laplacian").fit(X)
    gamma = 1 / X.var(axis=0).sum()
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


def test_sparse_rows_have_the_laplacian_kernel_of_dense_ones():
    rng = np.random.default_rng(0)
    for n, m, p, filled in ((7, 5, 4, 0.5), (40, 30, 60, 0.1), (3, 3, 9, 1.0), (2, 4, 5, 0.0)):
        A, B = (sparse.random_array((rows, p), density=filled, rng=rng) for rows in (n, m))
        A, B = (2 * matrix.tocsr() - (matrix.tocsr() > 0.5) for matrix in (A, B))  # both signs
        dense = np.abs(A.toarray()[:, None] - B.toarray()).sum(axis=2)
        np.testing.assert_allclose(manhattan(A, B), dense, atol=1e-13)
        kernel = resolve_kernel("laplacian", gamma=0.7).fit(A)
        np.testing.assert_allclose(kernel(A, B), np.exp(-0.7 * dense), atol=1e-13)
        np.testing.assert_allclose(kernel(A, B), laplacian_kernel(A, B, gamma=0.7), atol=1e-13)
        # Exactly, whatever the order of the sums:
        assert np.array_equal(manhattan(A, B), manhattan(B, A).T)
        assert np.all(manhattan(A, A).diagonal() == 0)


@pytest.mark.parametrize(
    ("name", "form"),
    [("rbf", np.array), ("rbf", sparse.csr_matrix), ("laplacian", np.array)],
)
def test_rows_too_far_for_a_product_are_far_and_equal_to_themselves(name, form):
    kernel = resolve_kernel(name, gamma=0.5).fit(form(X))
    huge = np.array([[1e308, 0, 0], [-1e308, 0, 0], [1e200, -1e200, 1.0], [0, 0, 1e160], X[3]])
    expected = np.eye(5)
    np.testing.assert_array_equal(kernel(form(huge), form(huge.copy())).round(12), expected)
    found = kernel(form(huge), form(X))  # RuntimeWarnings are errors
    np.testing.assert_array_equal(found[:4], 0.0)
    np.testing.assert_allclose(found[4], kernel(form(X), form(X))[3], atol=1e-12)


def test_sparse_distances_take_entries_that_are_given_twice_or_out_of_order():
    twice = sparse.csr_array(([1.0, 2.0, 4.0], [2, 0, 2], [0, 3]), shape=(1, 3))
    other = sparse.csr_array(np.array([[1.0, 1.0, 0.0]]))
    for A, B in ((twice, other), (other, twice), (twice.tocoo(), other.tocsc())):
        assert manhattan(A, B).tolist() == [[7.0]]
    assert twice.data.tolist() == [1.0, 2.0, 4.0]  # the given matrix is as it was
