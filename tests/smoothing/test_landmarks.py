# SPDX-License-Identifier: BSD-3-Clause
"""Pivots against their distribution, written down for every pair; residuals against dense
algebra.
"""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2
from sklearn.metrics.pairwise import laplacian_kernel, linear_kernel, rbf_kernel

from skstruct.backends import backend_for
from skstruct.kernels import RBF
from skstruct.smoothing.nystroem import landmarks
from skstruct.smoothing.nystroem.landmarks import (
    choose_landmarks,
    most_landmarks,
    rows_to_choose_from,
)

NUMPY = backend_for(None)


def chosen(kernel, X, n_landmarks, seed=0, **options):
    return choose_landmarks(kernel, X, n_landmarks, seed, NUMPY, **options)


def gaussian(A, B):
    return rbf_kernel(A, B, gamma=0.5)


def left_diagonal(K, rows):
    """Diagonal of K - K_nS K_SS^-1 K_Sn, by dense algebra."""
    rows = list(rows)
    return np.diagonal(K - K[:, rows] @ np.linalg.solve(K[np.ix_(rows, rows)], K[rows]))


def distribution_of_pairs(K):
    """p(i) p(j | i) of plain randomly pivoted Cholesky, for every ordered pair; sums to one."""
    first = np.diagonal(K) / np.trace(K)
    distribution = {}
    for i, j in permutations(range(len(K)), 2):
        left = K.diagonal() - K[:, i] ** 2 / K[i, i]
        distribution[i, j] = first[i] * left[j] / left.sum()
    return distribution


@pytest.mark.parametrize(("n", "proposed"), [(4, 2), (5, 128)])
def test_the_distribution_of_two_pivots_is_that_of_one_after_another(n, proposed, monkeypatch):
    """Chi-square over all ordered pairs: a right distribution fails with probability 1e-6."""
    monkeypatch.setattr(landmarks, "PROPOSED", proposed)
    rows = np.random.default_rng(n).standard_normal((n, 2))
    rows[1] = rows[0] + 0.2  # two close ones
    scale = np.linspace(0.7, 1.6, n)
    K = scale[:, None] * gaussian(rows, rows) * scale
    X = np.arange(n)[:, None]

    def kernel(A, B):
        return K[A[:, 0]][:, B[:, 0]]

    distribution = distribution_of_pairs(K)
    assert sum(distribution.values()) == pytest.approx(1.0)
    stream, n_draws = np.random.RandomState(0), 6000
    drawn = [tuple(chosen(kernel, X, 2, stream).rows) for _ in range(n_draws)]
    counts = np.array([drawn.count(pair) for pair in distribution])
    expected = n_draws * np.array(list(distribution.values()))
    assert counts.sum() == n_draws

    def distance(expected):
        return ((counts - expected) ** 2 / expected).sum()

    limit = chi2.isf(1e-6, len(distribution) - 1)
    assert distance(expected) < limit
    # Proposals that are all kept, and rows drawn evenly, have other distributions: the test sees
    # that.
    p = np.diagonal(K) / np.trace(K)
    careless = np.array([p[i] * p[j] / (1.0 - p[i]) for i, j in distribution])
    assert distance(n_draws * careless) > limit
    assert distance(np.full(len(distribution), n_draws / len(distribution))) > limit


@given(st.integers(2, 40), st.integers(1, 4), st.integers(1, 40), st.integers(0, 10**6))
def test_the_residual_is_what_dense_algebra_leaves(n, p, m, seed):
    X = np.random.default_rng(seed).standard_normal((n, p))
    K, found = laplacian_kernel(X), chosen(laplacian_kernel, X, min(m, n), seed)
    assert len(np.unique(found.rows)) == len(found.rows) == min(m, n)
    left = left_diagonal(K, found.rows).sum() / n
    assert found.residual == pytest.approx(left, rel=1e-6, abs=1e-10)


def test_one_after_another_or_many_at_once_leave_as_much(monkeypatch):
    X = np.random.default_rng(1).standard_normal((120, 2))
    at_once = np.mean([chosen(gaussian, X, 12, seed).residual for seed in range(60)])
    monkeypatch.setattr(landmarks, "PROPOSED", 1)
    one_by_one = np.mean([chosen(gaussian, X, 12, seed).residual for seed in range(60)])
    assert at_once == pytest.approx(one_by_one, rel=0.1)


def test_duplicates_are_chosen_once():
    X = np.repeat(np.random.default_rng(0).standard_normal((6, 2)), 7, axis=0)
    found = chosen(gaussian, X, 42)
    assert sorted(found.rows // 7) == list(range(6))
    assert found.residual == 0.0


def test_rows_where_the_kernel_is_zero_are_never_chosen():
    X = np.random.default_rng(0).standard_normal((30, 3))
    X[::2] = 0.0
    found = chosen(linear_kernel, X, 30)
    assert len(found.rows) == 3
    assert (found.rows % 2 == 1).all()
    nothing = chosen(linear_kernel, np.zeros((5, 3)), 3)
    assert (len(nothing.rows), nothing.residual) == (0, 0.0)


@pytest.mark.parametrize("p", [1, 4])
def test_a_kernel_of_finite_rank_needs_no_more_rows_than_that(p):
    X = np.random.default_rng(p).standard_normal((200, p))
    for asked in (200, "auto"):
        found = chosen(linear_kernel, X, asked)
        assert len(found.rows) == p
        assert found.residual < 1e-12


def test_rows_of_very_different_sizes():
    """What is left is measured against each row's own size: small rows are not rounding."""
    X = np.diag(10.0 ** -np.arange(0, 12, 3.0)) + 0.0
    found = chosen(linear_kernel, X, 4)
    assert sorted(found.rows) == [0, 1]  # what the others add is below 1e-12 of the trace
    assert chosen(linear_kernel, np.sqrt(X), 4).residual <= 1e-12


def test_auto_stops_at_a_thousandth_and_at_most():
    X = np.random.default_rng(0).standard_normal((300, 2))
    found = chosen(gaussian, X, "auto")
    assert 10 < len(found.rows) < 200
    assert found.residual <= 1e-3
    assert left_diagonal(gaussian(X, X), found.rows[:-1]).sum() / 300 > 1e-3
    assert len(chosen(gaussian, X, "auto", most=7).rows) == 7


def test_clusters_are_explained_better_than_by_rows_drawn_evenly():
    rng = np.random.default_rng(0)
    centres = 6.0 * rng.standard_normal((25, 2))
    sizes = np.geomspace(100, 2, 25).astype(int)  # a few large clusters and many small ones
    X = np.repeat(centres, sizes, axis=0) + 0.1 * rng.standard_normal((sizes.sum(), 2))
    K = gaussian(X, X)
    ours, even = [], []
    for seed in range(20):
        ours.append(chosen(gaussian, X, 25, seed).residual)
        rows = np.random.default_rng(seed).choice(len(X), 25, replace=False)
        even.append(left_diagonal(K, rows).sum() / len(X))
    # Over 20 seeds the means are some 20 deviations apart.
    assert np.mean(ours) < 0.5 * np.mean(even)


def test_a_kernel_that_contradicts_itself_comes_to_an_end():
    """k(x, x) says that something is left, and the block of proposals that nothing is."""

    def liar(A, B):
        same = A.shape == B.shape and np.array_equal(A, B)
        return gaussian(A, B) * (0.0 if same and len(A) > 1 and len(np.unique(A)) < A.size else 1.0)

    X = np.random.default_rng(0).standard_normal((40, 1))
    assert len(chosen(liar, X, 5).rows) <= 5


def test_numbers_of_landmarks_and_rows():
    assert most_landmarks("auto", 10**6) == 2000
    assert most_landmarks("auto", 10**9) == 20_000
    assert most_landmarks("auto", None) == 2000
    assert most_landmarks("auto", 300) == 300
    assert most_landmarks(50, None) == most_landmarks(50, 80) == 50
    assert most_landmarks(50, 20) == 20
    assert rows_to_choose_from(50, None) == rows_to_choose_from(50, 10**6) == 10_000
    assert rows_to_choose_from(5000, 10**6) == 20_000
    assert rows_to_choose_from(5000, 300) == 300


def test_the_same_rows_by_torch():
    pytest.importorskip("torch")
    from skstruct.smoothing.nystroem.feature_maps import kernel_function

    X, cpu = np.random.default_rng(0).standard_normal((80, 3)), backend_for("cpu")
    kernel = RBF(0.5).fit(X)
    there = choose_landmarks(kernel_function(kernel, cpu), cpu.asarray(X), 20, 3, cpu)
    here = choose_landmarks(kernel_function(kernel, NUMPY), X, 20, 3, NUMPY)
    np.testing.assert_array_equal(there.rows, here.rows)
    assert there.residual == pytest.approx(here.residual, rel=1e-9)
