# SPDX-License-Identifier: BSD-3-Clause
"""Structured ridge regression against its objective, summed over all outputs one by one."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import RBFSampler
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline

from skstruct import CountingRidge
from skstruct.kernels import RBF
from skstruct.learners.counting_ridge import search as left_out
from skstruct.learners.counting_ridge.closed_form import CholeskyForm, ClosedForms, SpectralForm
from skstruct.learners.counting_ridge.objective import CountingExamples, NewtonCG, newton_cg
from skstruct.learners.counting_ridge.score_functions import FeatureGram, GramMatrix
from skstruct.learners.counting_ridge.search import leave_groups_out, leave_one_out
from skstruct.spaces import Classes, Hierarchy, LabelSets, Rankings, Uniform

SPACES = [
    LabelSets(range(3)),
    LabelSets(range(4), min_size=2, max_size=2),
    Classes(["x", "y", "z"]),
    Hierarchy([(0, 1), (0, 2), (2, 3)]),
    Rankings(range(3), "pairs"),
    Rankings(range(3), "positions"),
]


@st.composite
def problems(draw, spaces=SPACES, several=True):
    """Outputs of a space, one or several for each of a few rows, with weights."""
    space = draw(st.sampled_from(spaces))
    space = space.fit(np.array(["x", "y", "z"])) if isinstance(space, Classes) else space
    listed = space.enumerate()
    m = draw(st.integers(2, 5))
    most = min(3, len(listed)) if several else 1
    counts = [draw(st.integers(1, most)) for _ in range(m)]
    chosen = [
        draw(st.lists(st.integers(0, len(listed) - 1), min_size=n, max_size=n, unique=True))
        for n in counts
    ]
    weight = np.array([draw(st.sampled_from([0.5, 1.0, 2.0])) for _ in range(m)])
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    return space, listed, chosen, weight, rng


def examples_of(space, listed, chosen, weight):
    row = np.repeat(np.arange(len(chosen)), [len(c) for c in chosen])
    psi = _dense(space.embed(listed[np.concatenate(chosen)]))
    mean, covariance = Uniform.of(space).mean_embedding(), Uniform.of(space).covariance()
    return CountingExamples.of(psi, mean, row, weight, covariance, space.size())


def _dense(psi):
    return psi.toarray() if hasattr(psi, "toarray") else np.asarray(psi, dtype=float)


def summed(space, listed, chosen, weight, f):
    """The losses from their definition: pairs of a correct output and any other one."""
    psi, total = _dense(space.embed(listed)), 0.0
    for correct, w, scores in zip(chosen, weight, f):
        values = psi @ scores
        for y in correct:
            others = [z for z in range(len(listed)) if z not in correct]
            gaps = 1.0 - values[y] + values[others]
            total += w * 0.5 * ((gaps**2).sum() - len(others)) / len(listed)
    return total


def gram_of(rng, examples):
    X = rng.standard_normal((len(examples.counts), 3))
    return GramMatrix.of(rbf_kernel(X, gamma=0.3) + 0.5, examples.root), X


# ------------------------------------------------------------------ the objective
@settings(max_examples=60, deadline=None)
@given(problems())
def test_the_objective_is_the_sum_over_all_pairs_of_outputs(problem):
    *parts, rng = problem
    examples = examples_of(*parts)
    f = rng.standard_normal((len(examples.counts), examples.U.shape[1]))
    found = examples.value(f * examples.root[:, None], square_norm=3.0, lam=0.7)
    assert_allclose(found, 0.7 * 3.0 + summed(*parts, f), rtol=1e-9, atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(problems())
def test_gradient_and_hessian_products_are_those_of_finite_differences(problem):
    *parts, rng = problem
    examples = examples_of(*parts)
    gram, _ = gram_of(rng, examples)
    lam, shape = 0.3, (len(examples.counts), examples.U.shape[1])

    def value(a):
        scores = gram.times(a.reshape(shape))
        return examples.value(scores, np.vdot(a, scores), lam)

    def gradient(A):
        scores = gram.times(A)
        return gram.times(2 * lam * A + examples.curvature(scores) + examples.slope())

    A, V = rng.standard_normal(shape), rng.standard_normal(shape)
    numeric = approx_fprime(A.ravel(), value, 1e-6).reshape(shape)
    assert_allclose(gradient(A), numeric, atol=1e-4 * (1 + np.abs(numeric).max()))
    product = gram.times(2 * lam * V + examples.curvature(gram.times(V)))
    assert_allclose(product, (gradient(A + V) - gradient(A - V)) / 2, atol=1e-9)


# ------------------------------------------------------------------ solutions
@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(problems(), st.sampled_from([0.01, 0.3, 5.0]))
def test_the_closed_form_has_no_gradient_and_is_what_newton_finds(problem, lam):
    *parts, rng = problem
    examples = examples_of(*parts)
    gram, _ = gram_of(rng, examples)
    B, _ = newton_cg(examples, gram, lam, tol=1e-13, max_iter=2000)
    for solution in (
        SpectralForm(examples, gram.factor(), lam),
        CholeskyForm(examples, gram, lam),
        ClosedForms(examples, gram).at(lam),
    ):
        A = solution.coefficients
        left = 2 * lam * A + examples.curvature(gram.times(A)) + examples.slope()
        assert_allclose(left, 0.0 * left, atol=1e-8)
        assert_allclose(A, B, atol=1e-8)
        value = examples.value(gram.times(A), np.vdot(A, gram.times(A)), lam)
        assert_allclose(solution.objective, value, atol=1e-8)


@pytest.mark.parametrize("space", SPACES, ids=lambda space: type(space).__name__)
def test_conjugate_gradients_find_what_the_direct_solution_is(space, monkeypatch):
    rng = np.random.default_rng(0)
    space = space.fit(np.array(["x", "y", "z"])) if isinstance(space, Classes) else space
    listed = space.enumerate()
    chosen = [[int(rng.integers(len(listed)))] for _ in range(30)]
    examples = examples_of(space, listed, chosen, np.ones(30))
    gram, _ = gram_of(rng, examples)
    solutions = []
    for direct in (True, False):
        monkeypatch.setattr(SpectralForm, "is_direct", direct)
        solutions.append(SpectralForm(examples, gram.factor(), 0.1))
    found, expected = solutions
    assert_allclose(found.coefficients, expected.coefficients, atol=1e-8)
    for direct in (True, False):
        monkeypatch.setattr(CholeskyForm, "is_direct", direct)
        other = CholeskyForm(examples, gram, 0.1)
        assert_allclose(found.coefficients, other.coefficients, atol=1e-8)
        assert_allclose(found.total, other.total, atol=1e-8)
    assert_allclose(found.total, expected.total, atol=1e-8)


@pytest.mark.parametrize("lam", [1e-6, 1e6, 1e10])
def test_extreme_penalties_keep_their_digits(lam):
    rng = np.random.default_rng(0)
    space = Rankings(range(4), "pairs")
    listed = space.enumerate()
    chosen = [[int(rng.integers(len(listed)))] for _ in range(20)]
    examples = examples_of(space, listed, chosen, np.ones(20))
    gram, _ = gram_of(rng, examples)
    spectral = SpectralForm(examples, gram.factor(), lam).coefficients
    assert_allclose(CholeskyForm(examples, gram, lam).coefficients * lam, spectral * lam, rtol=1e-7)


def test_features_give_what_their_kernel_gives():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((40, 3)), rng.integers(0, 2, (40, 4))
    linear = CountingRidge(kernel="linear", alpha=0.5).fit(X, Y)
    kernel = CountingRidge(kernel=lambda A, B: A @ B.T, alpha=0.5).fit(X, Y)
    newton = CountingRidge(kernel="linear", alpha=0.5, solver=NewtonCG(tol=1e-12)).fit(X, Y)
    assert linear.coef_.shape == (4, 4)
    for other in (kernel, newton):
        assert_allclose(linear.decision_function(X), other.decision_function(X), atol=1e-8)
        assert_allclose(linear.objective_, other.objective_, rtol=1e-10)
    wide = rng.standard_normal((5, 9))
    full = GramMatrix.of(wide @ wide.T, np.ones(5)).factor()
    thin = FeatureGram.of(wide, np.ones(5)).factor()
    assert_allclose((full.Q * full.k) @ full.Q.T, (thin.Q * thin.k) @ thin.Q.T, atol=1e-12)


@pytest.mark.parametrize("features", ["nystroem", "fourier"])
def test_features_stand_for_the_kernel(features):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((60, 2)), rng.integers(0, 2, (60, 3))
    exact = CountingRidge(alpha=0.5, kernel=RBF(0.2)).fit(X, Y).decision_function(X)
    if features == "nystroem":
        model = CountingRidge(alpha=0.5, kernel=RBF(0.2), n_landmarks=60, random_state=0)
        tolerance = 1e-6
    else:
        fourier = RBFSampler(gamma=0.2, n_components=4000, random_state=0)
        model = make_pipeline(fourier, CountingRidge(alpha=0.5, kernel="linear"))
        tolerance = 0.1
    assert_allclose(model.fit(X, Y).decision_function(X), exact, atol=tolerance)


def test_conjugate_gradients_stop_where_they_are_told_to():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((40, 3)), rng.integers(0, 2, (40, 4))
    named = CountingRidge(alpha=0.01, solver="newton-cg").fit(X, Y)
    given = CountingRidge(alpha=0.01, solver=NewtonCG()).fit(X, Y)
    assert named.n_iter_ == given.n_iter_
    assert_array_equal(named.coef_, given.coef_)
    rough = CountingRidge(alpha=0.01, solver=NewtonCG(tol=0.1)).fit(X, Y)
    assert rough.n_iter_ < given.n_iter_
    closed = CountingRidge(alpha=0.01).fit(X, Y).objective_
    assert closed <= given.objective_ < rough.objective_
    with pytest.warns(ConvergenceWarning, match="stopped after 2 iterations"):
        CountingRidge(alpha=0.01, solver=NewtonCG(max_iter=2)).fit(X, Y)
    through = clone(CountingRidge(solver=NewtonCG())).set_params(solver__tol=0.5)
    assert through.get_params()["solver__tol"] == 0.5


# ------------------------------------------------------------------ leaving out
@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(problems())
def test_left_out_scores_are_those_of_models_fitted_without(problem):
    *parts, rng = problem
    examples = examples_of(*parts)
    if not examples.is_convex:
        return
    gram, X = gram_of(rng, examples)
    solution = SpectralForm(examples, gram.factor(), 0.2)
    left = leave_one_out(solution)
    with mock.patch.object(left_out, "BLOCK", 2 * sum(examples.U.shape) * examples.U.shape[1]):
        assert_allclose(leave_one_out(solution), left, atol=1e-9)  # two rows at a time
    for i in range(len(examples.counts)):
        others = np.flatnonzero(np.arange(len(examples.counts)) != i)
        part = examples.subset(others)
        A, _ = newton_cg(part, gram.subset(others), 0.2, tol=1e-13, max_iter=2000)
        across = (rbf_kernel(X[[i]], X[others], gamma=0.3) + 0.5) * part.root
        assert_allclose(left[i], (across @ A)[0], atol=1e-7)


def test_left_out_groups_are_fitted_without():
    rng = np.random.default_rng(0)
    space = LabelSets(range(3))
    listed = space.enumerate()
    chosen, weight = [[int(rng.integers(8))] for _ in range(12)], rng.random(12) + 0.5
    examples = examples_of(space, listed, chosen, weight)
    gram, X = gram_of(rng, examples)
    groups = np.arange(12) % 3
    for number, rows, scores in leave_groups_out(examples, gram, groups, [0.1, 1.0]):
        others = np.flatnonzero(groups != groups[rows[0]])
        A, _ = newton_cg(
            examples.subset(others), gram.subset(others), [0.1, 1.0][number], tol=1e-13,
            max_iter=2000,
        )  # fmt: skip
        across = (rbf_kernel(X[rows], X[others], gamma=0.3) + 0.5) * examples.root[others]
        assert_allclose(scores, across @ A, atol=1e-8)


@pytest.mark.slow
def test_alpha_is_chosen_by_the_loss_on_left_out_rows():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((50, 2))
    Y = ((X @ rng.standard_normal((2, 4)) + 0.5 * rng.standard_normal((50, 4))) > 0).astype(int)
    model = CountingRidge(kernel=RBF(0.5)).fit(X, Y)
    risks = {}
    for trial in model.search_.trials[::4]:
        wrong = 0
        for i in range(50):
            kept = np.arange(50) != i
            one = CountingRidge(alpha=trial["alpha"], kernel=RBF(0.5)).fit(X[kept], Y[kept])
            wrong += (one.predict(X[[i]]) != Y[i]).sum()
        risks[trial["alpha"]] = wrong / 50
        assert_allclose(trial["risk"], risks[trial["alpha"]], atol=1e-12)
    assert model.search_.best["risk"] == min(trial["risk"] for trial in model.search_.trials)
    assert model.alpha_ == model.search_.best["alpha"]
