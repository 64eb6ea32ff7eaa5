# SPDX-License-Identifier: BSD-3-Clause
"""Sparse weights are the few largest of all, and left-out ones those of a fit without the rows."""

import numpy as np
import pytest

from skstruct.kernels import RBF
from skstruct.smoothing import CrossFitted, KernelRidge, LargestWeights, Neighbors
from skstruct.testing import check_smoother


def rows(n=14, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)), rng.normal(size=(n, 3)), rng.normal(size=(5, 2))


def by_hand(w, k):
    """The k largest entries of one row of weights, those that are positive, scaled to one."""
    kept = np.zeros_like(w)
    for i in sorted(range(len(w)), key=lambda i: (-w[i], i))[:k]:
        kept[i] = max(w[i], 0.0)
    return kept / kept.sum()


def ridge(alpha=0.05, **settings):
    return KernelRidge(RBF(0.7), alpha, **settings)


@pytest.mark.parametrize("k", [1, 3, 14])
@pytest.mark.parametrize("smoother", [ridge(), ridge(fit_intercept=False), Neighbors(4)])
def test_weights_are_the_largest_ones(smoother, k):
    X, T, X_new = rows()
    model = LargestWeights(smoother, k).fit(X, T)
    whole = smoother.fit(X, T).weights(X_new)
    whole = whole.toarray() if hasattr(whole, "toarray") else whole
    expected = np.array([by_hand(w, k) for w in whole])
    np.testing.assert_allclose(model.weights(X_new).toarray(), expected, atol=1e-12)
    np.testing.assert_allclose(model.predict(X_new), expected @ T, atol=1e-12)


def left_out(smoother, X, T, k, number, weight=None):
    """Predictions of fits without each group; k None is all weights."""
    found = np.empty_like(T)
    for own in np.unique(number):
        rest, here = np.flatnonzero(number != own), np.flatnonzero(number == own)
        part = None if weight is None else weight[rest]
        W = smoother.fit(X[rest], T[rest], part).weights(X[here])
        W = W.toarray() if hasattr(W, "toarray") else W
        W = W if k is None else np.array([by_hand(w, k) for w in W])
        found[here] = W @ T[rest]
    return found


@pytest.mark.parametrize("groups", [None, np.arange(14) // 3])
@pytest.mark.parametrize("k", [None, 2, 5])
@pytest.mark.parametrize("smoother", [ridge(), ridge(fit_intercept=False), Neighbors(4)])
def test_leaving_out_is_fitting_without(smoother, k, groups):
    X, T, _ = rows()
    model = LargestWeights(smoother, k).fit(X, T)
    number = np.arange(14) if groups is None else groups
    np.testing.assert_allclose(
        model.loo(groups), left_out(smoother, X, T, k, number), rtol=1e-7, atol=1e-9
    )


def test_weighted_rows_are_left_out_exactly():
    X, T, _ = rows()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 14)
    model = LargestWeights(ridge(), 3).fit(X, T, weight)
    expected = left_out(ridge(), X, T, 3, np.arange(14), weight)
    np.testing.assert_allclose(model.loo(), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("groups", [None, np.arange(14) // 2])
def test_number_and_penalty_have_the_least_left_out_error(groups):
    X, T, X_new = rows(seed=4)
    T = np.sin(X[:, :1] * 3) + 0.05 * T
    numbers, alphas = [None, 1, 2, 4, 8], [1.0, 0.1, 0.01]
    model = LargestWeights(ridge(alphas), numbers).fit(X, T, groups=groups)
    number = np.arange(14) if groups is None else groups
    errors = {
        (alpha, k): np.square(left_out(ridge(alpha), X, T, k, number) - T).sum()
        for alpha in alphas
        for k in numbers
    }
    assert (model.alpha_, model.n_weights_) == min(errors, key=errors.get)
    alone = LargestWeights(ridge(model.alpha_), model.n_weights_).fit(X, T)
    np.testing.assert_allclose(model.predict(X_new), alone.predict(X_new), atol=1e-9)


def test_auto_compares_all_weights_with_few():
    X, T, X_new = rows()
    model = LargestWeights(ridge("auto"), "auto").open(X, T)
    assert model.numbers_ == [None, 10, 5, 3, 2, 1]
    assert len(model.alphas_) > 4
    whole = LargestWeights(ridge(), None).fit(X, T)
    np.testing.assert_allclose(whole.predict(X_new), ridge().fit(X, T).predict(X_new), atol=1e-12)


def test_without_positive_weights_all_rows_count_alike():
    X, T, _ = rows()
    weight = np.arange(1.0, 15.0)
    model = LargestWeights(KernelRidge("linear", 1.0, fit_intercept=False), 2).fit(X, T, weight)
    np.testing.assert_allclose(model.weights([[0.0, 0.0]]).toarray()[0], weight / weight.sum())


def test_it_is_a_smoother():
    check_smoother(LargestWeights(ridge(), 3))
    check_smoother(LargestWeights(Neighbors(6, weighting="distance"), 2))


def test_what_cannot_be():
    X, T, _ = rows()
    for given in (0, 1.5, "all", [], True, [3, "auto"]):
        with pytest.raises(ValueError, match="n_weights"):
            LargestWeights(ridge(), given).fit(X, T)
    with pytest.raises(ValueError, match="weights times targets"):
        LargestWeights(CrossFitted(ridge()), 3).fit(X, T)
