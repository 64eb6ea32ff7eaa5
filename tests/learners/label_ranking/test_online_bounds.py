# SPDX-License-Identifier: BSD-3-Clause
"""Mistake bounds: never broken, by random or adversarial rows, and reached where they can be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from skstruct.learners import LabelRankingSVM, OnlineLabelRanker
from skstruct.spaces import Rankings
from strategies import total_orders

WAYS = ("pairs", "better-items", "worse-items", "whole")
METHODS = ("perceptron", "primal-dual", "passive-aggressive", "multiplicative")
ROUNDING = 1e-5


def inputs(rng, n, p, kind):
    if kind == "signs":
        return rng.choice([-1.0, 1.0], size=(n, p))
    if kind == "axes":
        return np.eye(p)[rng.integers(p, size=n)]
    return rng.standard_normal((n, p)) * rng.uniform(0.2, 3.0)


def against(scores, rng, kind):
    """A ranking of the items by one who knows their scores and wants mistakes."""
    d = len(scores)
    if kind == "reverse":
        return 1.0 + np.argsort(np.argsort(scores, kind="stable"), kind="stable")
    if kind == "last is first":
        return np.where(np.arange(d) == scores.argmin(), 1.0, 2.0)
    if kind == "first is last":
        return np.where(np.arange(d) == scores.argmax(), 2.0, 1.0)
    return 1.0 + rng.permutation(d)


def comparators(rng, X, model, seen, radius):
    """Weights to be compared with: none, some, and about the best there are."""
    d = seen.shape[1]
    best = LabelRankingSVM(
        Rankings(range(d)), alpha=(model.alpha_ or 0.5) / len(X), fit_intercept=False,
        decomposition=model.decomposition, margin=model.margin, tol=1e-3, random_state=0,
    ).fit(X, seen)  # fmt: skip
    found = [np.zeros((d, X.shape[1])), rng.standard_normal((d, X.shape[1])), best.coef_]
    return [U * min(1.0, radius / max(np.abs(U).sum(), 1e-300)) for U in found]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # ties among all items, comparators not quite the best
@pytest.mark.parametrize("method", METHODS)
@given(
    way=st.sampled_from(WAYS),
    margin=st.sampled_from(["unit", "feedback"]),
    d=st.integers(2, 5),
    p=st.integers(1, 4),
    alpha=st.sampled_from([1e-3, 0.05, 0.5, 2.0, 20.0]),
    kind=st.sampled_from(["normal", "signs", "axes"]),
    adversary=st.sampled_from(["reverse", "last is first", "first is last", "random"]),
    radius=st.sampled_from([1.0, 4.0, 50.0]),
    seed=st.integers(0, 10**6),
)
def test_bounds_are_never_broken(method, way, margin, d, p, alpha, kind, adversary, radius, seed):
    rng = np.random.default_rng(seed)
    X = inputs(rng, int(rng.integers(1, 25)), p, kind)
    model = OnlineLabelRanker(
        Rankings(range(d)), method=method, decomposition=way, margin=margin, alpha=alpha,
        radius=radius, average=False, fit_intercept=False,
    )  # fmt: skip
    scores, seen = np.zeros(d), []
    for t, x in enumerate(X):
        seen.append(against(scores, rng, adversary))
        model.partial_fit(x[None], seen[-1][None])
        if t + 1 < len(X):
            scores = model.decision_function(X[t + 1 : t + 2])[0]
    for U in comparators(rng, X, model, np.array(seen), radius):
        bound = model.mistake_bound(X, np.array(seen), U)
        assert model.n_mistakes_ <= bound.mistakes * (1 + ROUNDING)
        assert model.cumulative_loss_ <= bound.loss * (1 + ROUNDING)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("way", WAYS)
def test_bounds_say_something(method, way):
    """Rows that one of the features ranks: few mistakes are promised, and fewer are made."""
    rng = np.random.default_rng(0)
    X = rng.choice([-1.0, 1.0], size=(3000, 8))
    Z = np.where(X[:, :1] > 0, [1, 2], [2, 1])
    U = np.zeros((2, 8))
    U[:, 0] = 0.5, -0.5
    model = OnlineLabelRanker(
        method=method, decomposition=way, alpha=0.05, radius=1.5, fit_intercept=False
    ).partial_fit(X, Z)
    bound = model.mistake_bound(X, Z, U)
    assert 0 < model.n_mistakes_ <= bound.mistakes < 40
    assert model.cumulative_loss_ <= bound.loss < 40


@pytest.mark.parametrize("way", ["pairs", "worse-items"])
@pytest.mark.parametrize("method", ["perceptron", "primal-dual", "passive-aggressive"])
@pytest.mark.parametrize("d", [2, 3, 6])
def test_bounds_are_reached(method, way, d):
    """A new feature each row, and one item before d - 1 others: all pairs are ties, thus wrong."""
    X, Z = np.eye(7), np.tile(np.where(np.arange(d) == 2 % d, 1.0, 2.0), (7, 1))
    model = OnlineLabelRanker(
        Rankings(range(d)), method=method, decomposition=way, alpha=1e-3, fit_intercept=False
    ).partial_fit(X, Z)
    # The least weights with margins of one: 1 - 1/d and -1/d for every feature.
    U = np.tile((Z[0] == 1) - 1 / d, (7, 1)).T
    bound = model.mistake_bound(X, Z, U)
    assert model.cumulative_loss_ == 7
    assert_allclose(bound.loss, 7.0)
    assert model.n_mistakes_ == 7


@pytest.mark.parametrize("method", METHODS)
def test_mistakes_of_passes(method):
    rng = np.random.default_rng(1)
    X, Z = rng.standard_normal((20, 3)), total_orders(3)[rng.integers(6, size=20)]
    model = OnlineLabelRanker(method=method, alpha=0.5, max_iter=4, random_state=0).fit(X, Z)
    U, b = 0.3 * rng.standard_normal((3, 3)), 0.1 * rng.standard_normal(3)
    four = model.mistake_bound(X, Z, U, b, n_passes=4)
    written = model.mistake_bound(np.tile(X, (4, 1)), np.tile(Z, (4, 1)), U, b)
    assert_allclose(four, written)
    assert model.n_mistakes_ <= four.mistakes
    assert model.cumulative_loss_ <= four.loss
    thin = model.mistake_bound(sparse.csr_array(X), Z, U, b, n_passes=4)
    assert_allclose(thin, four)
    constant = np.hstack([X, np.ones((20, 1))])
    plain = OnlineLabelRanker(method=method, alpha=0.5, fit_intercept=False).fit(constant, Z)
    assert_allclose(plain.mistake_bound(constant, Z, np.column_stack([U, b])),
                    model.mistake_bound(X, Z, U, b))  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_nothing_to_order_is_no_mistake(method):
    model = OnlineLabelRanker(Rankings(range(2)), method=method, alpha=1.0)
    model.partial_fit([[1.0], [2.0]], [[1, 2], [2, 1]])
    assert model.mistake_bound([[1.0]], [[1.5, 1.5]], np.zeros((2, 1))) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"coef": np.zeros((1, 2))}, r"coef has shape \(2, 2\), items by features; got \(1, 2\)"),
        ({"coef": np.full((2, 2), 9.0)}, "sum to the radius 3 at most; got 36"),
        ({"coef": np.zeros((2, 2)), "intercept": [1.0, 0.0]}, "has no intercepts"),
    ],
)
def test_bad_rivals(arguments, message):
    model = OnlineLabelRanker(method="multiplicative", radius=3.0, fit_intercept=False)
    model.fit([[1.0, 0.0], [0.0, 1.0]], [[1, 2], [2, 1]])
    with pytest.raises(ValueError, match=message):
        model.mistake_bound([[1.0, 0.0]], [[1, 2]], **arguments)
