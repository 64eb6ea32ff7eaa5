# SPDX-License-Identifier: BSD-3-Clause
"""The support vector machine against solvers that know nothing of it."""

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


def objective(W, X, Z, C):
    """1/2 |W|^2 + C sum_i 1/|E_i| sum of hinges, from the definition; W is (d, p)."""
    value = 0.5 * (W**2).sum()
    for x, z in zip(X, Z):
        d = range(len(z))
        pairs = [(p, q) for p in d for q in d if z[p] < z[q]]
        hinges = [max(0.0, 1.0 - (W[p] - W[q]) @ x) for p, q in pairs]
        value += C * np.mean(hinges) if pairs else 0.0
    return value


def by_slsqp(X, Z, C):
    """The least objective, over weights and slacks, by a general solver."""
    d, p = Z.shape[1], X.shape[1]
    rows, better, worse = ordered_pairs(Z)
    k, m = d * p, len(rows)
    prices = C / np.bincount(rows, minlength=len(Z))[rows]
    A = np.zeros((m, k + m))  # margin + slack >= 1
    for e, (i, a, b) in enumerate(zip(rows, better, worse)):
        A[e, :k] = np.kron(np.eye(d)[a] - np.eye(d)[b], X[i])
        A[e, k + e] = 1.0
    found = minimize(
        lambda v: 0.5 * v[:k] @ v[:k] + prices @ v[k:],
        np.concatenate([np.zeros(k), np.ones(m)]),
        jac=lambda v: np.concatenate([v[:k], prices]),
        bounds=[(None, None)] * k + [(0.0, None)] * m,
        constraints={"type": "ineq", "fun": lambda v: A @ v - 1, "jac": lambda v: A},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert found.success
    return found.fun


@pytest.mark.filterwarnings("ignore:Rankings")  # items that are ranked in no row
@given(partial_rankings(3, max_rows=5), st.sampled_from([0.1, 1.0, 20.0]), st.integers(0, 99))
def test_same_objective_as_a_general_solver(Z, C, seed):
    if not len(ordered_pairs(Z)[0]):
        return
    X = np.random.default_rng(seed).standard_normal((len(Z), 2))
    model = LabelRankingSVM(
        alpha=1 / (C * len(Z)), fit_intercept=False, tol=1e-7, max_iter=100_000, random_state=0
    )
    model.set_params(space=Rankings(range(3))).fit(X, Z)
    assert 0.0 <= model.duality_gap_ <= 1e-7 * model.objective_
    scaled = model.objective_ / model.alpha_  # with C for 1 / (alpha n)
    assert_allclose(scaled, objective(model.coef_, X, Z, C), rtol=1e-9)
    assert_allclose(scaled, by_slsqp(X, Z, C), rtol=1e-5, atol=1e-8)


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
    for kernel in ("linear", Polynomial(coef0=0)):
        model = LabelRankingSVM(alpha=1 / 3, kernel=kernel, fit_intercept=False, random_state=0)
        model.fit(X, Z)
        assert model.duality_gap_ <= 1e-3 * model.objective_
        assert model.objective_ > 2 / 3  # the hinges of two rows are one whatever the weights are
