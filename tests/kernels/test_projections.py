# SPDX-License-Identifier: BSD-3-Clause
"""Random projections of kernels: their distribution, and distances in repeated simulation."""

import math
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import binom, chi2, kstest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from skstruct import ConditionalRiskMinimizer, CountingRidge
from skstruct.kernels import RBF, KernelProjection, Laplacian, projection_dimension
from skstruct.spaces import LabelSets


def distances(gram):
    """Squared distances of all pairs, from inner products."""
    squares = gram.diagonal()
    first, second = np.triu_indices(len(gram), 1)
    return squares[first] + squares[second] - 2 * gram[first, second]


@pytest.mark.slow
def test_projected_squares_have_a_chi_square_distribution():
    """n |G v|^2 / |v|^2 is chi-square of n degrees: 400 projections, Kolmogorov at level 1e-6."""
    X = np.random.default_rng(0).normal(size=(12, 2))
    kernel = RBF(0.5).fit(X)
    true = distances(kernel.gram(X))
    found = np.array([
        distances(Z @ Z.T) for Z in (
            KernelProjection(RBF(0.5), 7, random_state=seed).fit_transform(X)
            for seed in range(400)
        )
    ])  # fmt: skip
    for pair in (0, 30, 65):
        assert kstest(7 * found[:, pair] / true[pair], chi2(7).cdf).pvalue > 1e-6
    # Inner products are right on average: off by 5 standard errors with probability 6e-7.
    ratio = found / true
    assert np.abs(ratio.mean(axis=0) - 1).max() <= 5 * math.sqrt(2 / 7 / 400) * 1.5


@pytest.mark.parametrize("eps", [0.5, 0.9])
@pytest.mark.parametrize(
    "kernel", [RBF(0.5), Laplacian(1.0), "linear"], ids=["rbf", "l1", "linear"]
)
def test_distances_are_kept_as_often_as_promised(kernel, eps):
    """Each of 60 projections may fail with probability delta = 0.2: as many failures as happen with
    probability 1e-6 or less are an error.
    """
    X = np.random.default_rng(1).normal(size=(20, 3))
    n = projection_dimension(20, eps, 0.2)
    failed = 0
    for seed in range(60):
        model = KernelProjection(kernel, "auto", eps=eps, delta=0.2, random_state=seed)
        Z = model.fit_transform(X)
        assert Z.shape == (20, n)
        ratio = distances(Z @ Z.T) / distances(model.kernel_.gram(X))
        failed += bool((np.abs(ratio - 1) > eps).any())
    assert failed <= binom.isf(1e-6, 60, 0.2)


def test_the_tail_of_one_pair_is_below_its_bound():
    """Pr(|chi2_n / n - 1| > eps) exactly, against 2 exp(-n (eps^2 / 4 - eps^3 / 6))."""
    for eps in (0.05, 0.2, 0.5, 0.9, 0.99):
        for n in (1, 5, 20, 100, 1000):
            tail = chi2.sf(n * (1 + eps), n) + chi2.cdf(n * (1 - eps), n)
            assert tail <= 2 * math.exp(-n * (eps**2 / 4 - eps**3 / 6))


def test_the_number_of_directions():
    n = projection_dimension(100, 0.3, 0.1)
    one_pair = 2 * math.exp(-n * (0.3**2 / 4 - 0.3**3 / 6))
    assert one_pair * 100 * 99 / 2 <= 0.1
    fewer = 2 * math.exp(-(n - 1) * (0.3**2 / 4 - 0.3**3 / 6))
    assert fewer * 100 * 99 / 2 > 0.1
    assert projection_dimension(1, 0.5) == projection_dimension(2, 0.5)


def test_new_rows_in_the_span_are_projected_alike():
    """With a linear kernel all rows are in the span: features are one linear map."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(10, 3)), rng.normal(size=(4, 3))
    model = KernelProjection("linear", 5, random_state=0).fit(X)
    W = np.linalg.lstsq(X, model.transform(X), rcond=None)[0]
    assert_allclose(model.transform(new), new @ W, atol=1e-8)
    assert_allclose(model.transform(sparse.csr_array(new)), new @ W, atol=1e-8)


def test_fewer_rows_span_less():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = KernelProjection(RBF(0.5), 4000, n_rows=30, random_state=0).fit(X)
    assert_array_equal(model.rows_, X)
    few = KernelProjection(RBF(0.5), 4000, n_rows=5, random_state=0).fit(X)
    assert few.rows_.shape == (5, 2)
    K = RBF(0.5).fit(X)(X, few.rows_)
    landmarks = K @ np.linalg.inv(RBF(0.5).fit(X)(few.rows_, few.rows_)) @ K.T
    Z = few.transform(X)
    # An inner product of 4,000 directions: standard error below sqrt(2 / 4000); 465 numbers.
    assert np.abs(Z @ Z.T - landmarks).max() <= 6 * math.sqrt(2 / 4000)


def test_margins_survive():
    """Two circles: no line parts them, but one does after the projection."""
    rng = np.random.default_rng(0)
    angle, radius = rng.uniform(0, 2 * np.pi, 200), np.repeat([1.0, 2.0], 100)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    y = np.repeat(["in", "out"], 100)
    linear = ConditionalRiskMinimizer(kernel="linear", alpha=0.01)
    model = make_pipeline(KernelProjection(RBF(1.0), 60, random_state=0), linear).fit(X, y)
    assert (model.predict(X) == y).mean() >= 0.98
    assert (clone(linear).fit(X, y).predict(X) == y).mean() <= 0.8


def test_counting_ridge_takes_these_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    Y = (X + 0.1 * rng.normal(size=X.shape) > 0).astype(int)
    model = make_pipeline(
        KernelProjection(RBF(0.3), 80, random_state=0),
        CountingRidge(LabelSets(range(3)), kernel="linear", alpha=0.1),
    ).fit(X, Y)
    assert (model.predict(X) == Y).mean() >= 0.9


def test_copied_by_pickle():
    X = np.random.default_rng(0).normal(size=(15, 2))
    model = KernelProjection(RBF(0.5), 6, random_state=0).fit(X)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.transform(X), model.transform(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components is a whole number from 1"),
        ({"n_components": "many"}, "n_components is a whole number from 1"),
        ({"n_rows": 0}, "n_rows is a whole number from 1"),
        ({"eps": 1.0}, "eps is above 0 and below 1"),
        ({"delta": 0.0}, "delta is above 0 and below 1"),
        ({"kernel": "precomputed"}, "computes kernel values itself"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        KernelProjection(**settings).fit(np.eye(3))


def test_no_rows():
    with pytest.raises(ValueError, match="n_rows is a whole number from 1"):
        projection_dimension(0, 0.5)
