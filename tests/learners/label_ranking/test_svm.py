# SPDX-License-Identifier: BSD-3-Clause
"""The support vector machine against solvers that know nothing of it."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC

from skstruct.kernels import RBF, Polynomial
from skstruct.learners import LabelRankingSVM
from skstruct.learners.label_ranking.reductions import KeslerReduction, ordered_pairs
from skstruct.spaces import Rankings
from strategies import partial_rankings, total_orders

WAYS = ("pairs", "better-items", "worse-items", "whole")


def subgraphs(z, way, margin):
    """Lists of (better, worse, margin) of one row, from the definition."""
    items = range(len(z))
    edges = [(p, q, z[q] - z[p] if margin == "feedback" else 1.0)
             for p in items for q in items if z[p] < z[q]]  # fmt: skip
    center = {
        "pairs": lambda e: e[:2],
        "better-items": lambda e: e[0],
        "worse-items": lambda e: e[1],
        "whole": lambda e: 0,
    }[way]
    return [[e for e in edges if center(e) == c] for c in sorted({center(e) for e in edges})]


def objective(W, X, Z, C, way="pairs", margin="unit"):
    """1/2 |W|^2 + C sum_i mean over subgraphs of the largest hinge; W is (d, p)."""
    value = 0.5 * (W**2).sum()
    for x, z in zip(X, Z):
        graphs = subgraphs(z, way, margin)
        hinges = [max(max(0.0, g - (W[p] - W[q]) @ x) for p, q, g in graph) for graph in graphs]
        value += C * np.mean(hinges) if graphs else 0.0
    return value


def by_slsqp(X, Z, C, way="pairs", margin="unit"):
    """The least objective, over weights and a slack for every subgraph, by a general solver."""
    d, p = Z.shape[1], X.shape[1]
    k, rows, wanted, prices = d * p, [], [], []
    for x, z in zip(X, Z):
        graphs = subgraphs(z, way, margin)
        for graph in graphs:
            rows += [(np.kron(np.eye(d)[a] - np.eye(d)[b], x), len(prices)) for a, b, _ in graph]
            wanted += [g for _, _, g in graph]
            prices.append(C / len(graphs))
    m, prices = len(prices), np.array(prices)
    A = np.zeros((len(rows), k + m))  # margin + slack >= what is wanted
    for e, (features, slack) in enumerate(rows):
        A[e, :k], A[e, k + slack] = features, 1.0
    found = minimize(
        lambda v: 0.5 * v[:k] @ v[:k] + prices @ v[k:],
        np.concatenate([np.zeros(k), np.full(m, max(wanted))]),
        jac=lambda v: np.concatenate([v[:k], prices]),
        bounds=[(None, None)] * k + [(0.0, None)] * m,
        constraints={"type": "ineq", "fun": lambda v: A @ v - wanted, "jac": lambda v: A},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert found.success
    return found.fun


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Rankings")  # items that are ranked in no row
@given(
    partial_rankings(3, max_rows=5),
    st.sampled_from([0.1, 1.0, 20.0]),
    st.sampled_from(WAYS),
    st.sampled_from(["unit", "feedback"]),
    st.integers(0, 99),
)
def test_same_objective_as_a_general_solver(Z, C, way, margin, seed):
    if not len(ordered_pairs(Z)[0]):
        return
    X = np.random.default_rng(seed).standard_normal((len(Z), 2))
    model = LabelRankingSVM(
        alpha=1 / (C * len(Z)), fit_intercept=False, tol=1e-7, max_iter=100_000, random_state=0,
        decomposition=way, margin=margin,
    )  # fmt: skip
    model.set_params(space=Rankings(range(3))).fit(X, Z)
    Z = model.outputs_  # ties have their mean rank
    assert 0.0 <= model.duality_gap_ <= 1e-7 * model.objective_
    scaled = model.objective_ / model.alpha_  # with C for 1 / (alpha n)
    assert_allclose(scaled, objective(model.coef_, X, Z, C, way, margin), rtol=1e-9)
    assert_allclose(scaled, by_slsqp(X, Z, C, way, margin), rtol=1e-5, atol=1e-8)


RATINGS = st.one_of(st.just(np.nan), st.floats(-3, 3).map(lambda value: round(value, 1)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Rankings")
@given(
    st.lists(st.lists(RATINGS, min_size=3, max_size=3), min_size=1, max_size=4),
    st.sampled_from(WAYS),
    st.integers(0, 99),
)
def test_ratings_are_margins(ratings, way, seed):
    """Real numbers of either sign, some of them missing: gamma_p - gamma_q is asked for."""
    ratings = np.array(ratings)
    ratings = ratings[~np.isnan(ratings).all(axis=1)]
    if not len(ratings) or not len(ordered_pairs(-ratings)[0]):
        return
    X = np.random.default_rng(seed).standard_normal((len(ratings), 2))
    model = LabelRankingSVM(
        Rankings(range(3), scores=True), alpha=0.3 / len(X), margin="feedback", decomposition=way,
        fit_intercept=False, tol=1e-7, max_iter=100_000, random_state=0,
    ).fit(X, ratings)  # fmt: skip
    found = model.objective_ / model.alpha_
    assert_allclose(found, by_slsqp(X, -ratings, 1 / 0.3, way, "feedback"), rtol=1e-5, atol=1e-8)


def test_feedback_of_another_scale_makes_scores_of_another_scale():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((30, 2))
    ratings = X @ rng.standard_normal((2, 3)) + rng.standard_normal((30, 3))
    common = {"tol": 1e-8, "max_iter": 10**5, "random_state": 0, "margin": "feedback"}
    one, ten = (
        LabelRankingSVM(Rankings(scores=True), alpha=alpha, **common).fit(X, scale * ratings)
        for scale, alpha in ((1.0, 0.1), (10.0, 0.01))
    )
    assert_allclose(ten.decision_function(X), 10 * one.decision_function(X), rtol=1e-3, atol=1e-3)
    # Where ratings are differences of scores, these are found, and no hinge is left.
    truth = rng.standard_normal((2, 3))
    exact = LabelRankingSVM(Rankings(scores=True), alpha=1e-6, fit_intercept=False, **common)
    W = exact.fit(X, X @ truth).coef_.T
    assert_allclose(W - W.mean(axis=1, keepdims=True),
                    truth - truth.mean(axis=1, keepdims=True), atol=1e-2)  # fmt: skip


def test_relevant_items_are_ratings_of_one():
    """Of zeros and ones all margins are one: the machine of Elisseeff and Weston."""
    rng = np.random.default_rng(6)
    X, relevant = rng.standard_normal((30, 3)), (rng.random((30, 4)) < 0.5).astype(float)
    common = {"alpha": 0.05, "tol": 1e-7, "max_iter": 10**5, "random_state": 0}
    one, feedback = (
        LabelRankingSVM(Rankings(scores=True), margin=margin, **common).fit(X, relevant)
        for margin in ("unit", "feedback")
    )
    assert_allclose(feedback.coef_, one.coef_)


def test_wider_margins_than_ratings_cost_nothing():
    """Only pairs with gamma_p > gamma_q have a hinge: with both orders it would be |.|."""
    X, ratings = np.array([[1.0], [1.0], [3.0]]), [[2.0, 0.0], [5.0, 0.0], [0.0, 0.0]]
    model = LabelRankingSVM(
        Rankings(scores=True), margin="feedback", fit_intercept=False, alpha=1e-6, tol=1e-8,
        max_iter=10**5, random_state=0,
    ).fit(X, ratings)  # fmt: skip
    gaps = model.decision_function(X) @ [1.0, -1.0]
    assert_allclose(gaps, [5.0, 5.0, 15.0], atol=1e-4)
    both = sum(np.maximum(0.0, sign * ([2.0, 5.0, 0.0] - gaps)) for sign in (1, -1))
    assert_allclose(both, [3.0, 0.0, 15.0], atol=1e-4)
    assert model.objective_ < 1e-4


@pytest.mark.parametrize("way", WAYS)
def test_subgraphs_with_kernels(way):
    rng = np.random.default_rng(5)
    X, Z = rng.standard_normal((25, 3)), total_orders(4)[rng.integers(24, size=25)]
    common = {"alpha": 0.02, "tol": 1e-7, "max_iter": 10**5, "random_state": 0}
    linear, by_gram = (
        LabelRankingSVM(kernel=kernel, decomposition=way, margin="feedback", **common).fit(X, Z)
        for kernel in ("linear", lambda A, B: A @ B.T)
    )
    assert_allclose(by_gram.objective_, linear.objective_, rtol=1e-6)
    searched = LabelRankingSVM(decomposition=way, margin="feedback", random_state=0).fit(X, Z)
    assert len(searched.search_.trials) > 1


def test_same_objective_as_a_binary_machine():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    Z = total_orders(4)[rng.integers(24, size=60)]
    model = LabelRankingSVM(
        alpha=1 / 60, fit_intercept=False, tol=1e-6, max_iter=10_000, random_state=0
    )
    model.fit(X, Z)
    examples, classes = KeslerReduction(model.space_).apply(X, Z)
    binary = LinearSVC(loss="hinge", fit_intercept=False, tol=1e-8, max_iter=10**6, random_state=0)
    # Six pairs a row, each as an example and its mirror image: twelve share the weight.
    binary.fit(examples, classes, sample_weight=np.full(len(classes), 1 / 12))
    of_binary = objective(binary.coef_.reshape(4, 4), X, Z, 1.0)
    assert_allclose(model.objective_ / model.alpha_, of_binary, rtol=1e-4)
    assert_allclose(model.coef_, binary.coef_.reshape(4, 4), atol=1e-2)
    assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-9)  # only differences of scores count


def test_the_gap_is_a_bound():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 3))
    Z = total_orders(4)[rng.integers(24, size=40)]
    best = (
        LabelRankingSVM(alpha=0.005, tol=1e-8, max_iter=10**5, random_state=0).fit(X, Z).objective_
    )
    gaps = []
    for n_passes in (1, 2, 5, 20, 100):
        with pytest.warns(ConvergenceWarning, match=f"after {n_passes} passes with a duality gap"):
            rough = LabelRankingSVM(alpha=0.005, tol=0.0, max_iter=n_passes, random_state=0).fit(
                X, Z
            )
        assert rough.n_iter_ == n_passes
        assert rough.duality_gap_ >= rough.objective_ - best >= -1e-6
        gaps.append(rough.duality_gap_)
    assert gaps[-1] < 0.1 * gaps[0]


def test_intercepts_are_a_constant_feature():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((30, 2))
    Z = total_orders(3)[rng.integers(6, size=30)]
    common = {"alpha": 1 / 30, "tol": 1e-8, "max_iter": 10**5, "random_state": 0}
    model = LabelRankingSVM(**common).fit(X, Z)
    extended = np.hstack([X, np.ones((30, 1))])
    other = LabelRankingSVM(fit_intercept=False, **common).fit(extended, Z)
    assert_allclose(model.intercept_, other.coef_[:, 2])
    assert_allclose(model.decision_function(X), other.decision_function(extended))


def test_kernels_agree_with_features():
    rng = np.random.default_rng(3)
    X, X_new = rng.standard_normal((40, 3)), rng.standard_normal((10, 3))
    Z = total_orders(3)[rng.integers(6, size=40)]
    common = {"alpha": 1 / 120, "tol": 1e-7, "max_iter": 10**5, "random_state": 0}
    linear = LabelRankingSVM(**common).fit(X, Z)
    by_gram = LabelRankingSVM(kernel=lambda A, B: A @ B.T, **common).fit(X, Z)
    assert_allclose(by_gram.objective_, linear.objective_, rtol=1e-6)
    assert_allclose(by_gram.decision_function(X_new), linear.decision_function(X_new), atol=2e-3)
    rbf = LabelRankingSVM(kernel=RBF(0.5), **common).fit(X, Z)
    K, K_new = rbf_kernel(X, gamma=0.5), rbf_kernel(X_new, X, gamma=0.5)
    given = LabelRankingSVM(kernel="precomputed", **common).fit(K, Z)
    assert_allclose(given.decision_function(K_new), rbf.decision_function(X_new), atol=1e-8)
    # Exact features: K + 1 = L L', the constant being the intercept.
    L = np.linalg.cholesky(K + 1.0 + 1e-10 * np.eye(40))
    by_features = LabelRankingSVM(fit_intercept=False, **common).fit(L, Z)
    assert_allclose(by_features.objective_, rbf.objective_, rtol=1e-6)


def test_rows_of_zeros_do_no_harm():
    X = np.zeros((3, 2))
    X[0] = 1.0
    Z = [[1, 2, 3], [1, 2, 3], [3, 2, 1]]
    for kernel, way in product(("linear", Polynomial(coef0=0)), WAYS):
        model = LabelRankingSVM(
            alpha=1 / 3, kernel=kernel, decomposition=way, fit_intercept=False, random_state=0
        )
        model.fit(X, Z)
        assert model.duality_gap_ <= 1e-3 * model.objective_
        assert model.objective_ > 2 / 3  # the hinges of two rows are one whatever the weights are
