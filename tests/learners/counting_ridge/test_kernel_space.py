# SPDX-License-Identifier: BSD-3-Clause
"""Structured ridge regression under kernels between outputs, against sums over all outputs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.stats import chi2, norm
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from skstruct import CountingRidge
from skstruct.kernels import RBF, EdgeKernel, KernelSpace, resolve_output_kernel
from skstruct.kernels.outputs.moments import SampledMoments, objective_errors
from skstruct.learners.counting_ridge.objective import CountingExamples, NewtonCG
from skstruct.persistence import load_model, save_model
from skstruct.spaces import (
    Box,
    Candidates,
    Cycles,
    LabelSets,
    Rankings,
    Sequences,
    SolverSpace,
    Uniform,
)
from skstruct.spaces.common.covariances import DenseCovariance

ALARM = 1e-3  # how often a right estimate would fail a test of chance below


def overlap(y, z):
    return len(set(y) & set(z)) + 0.5 * (len(y) == len(z))


def some_rankings(rng, n, d=3):
    return np.array([rng.permutation(d) + 1 for _ in range(n)])


CASES = {
    "sets, gaussian": (LabelSets(list("abc")), "rbf", lambda rng, n: rng.integers(0, 2, (n, 3))),
    "sets, polynomial": (
        LabelSets(list("abc")),
        resolve_output_kernel("polynomial", gamma=0.5, degree=2),
        lambda rng, n: rng.integers(0, 2, (n, 3)),
    ),
    "words, own": (
        Candidates(["cat", "cart", "dog", "dig", "a"]),
        overlap,
        lambda rng, n: rng.choice(["cat", "cart", "dog"], n).tolist(),
    ),
    "rankings, pairs": (Rankings(list("abc")), EdgeKernel(), some_rankings),
    "words, symbols": (
        Sequences("ab", (1, 3)),
        "hamming",
        lambda rng, n: ["".join(rng.choice(list("ab"), rng.integers(1, 4))) for _ in range(n)],
    ),
}


def printed_minimum(K_x, K_y, correct, weight, lam):
    """The least value of the sum over all pairs, and the scores there, over all m |Y| dual
    coefficients: h = sum of alpha_iz k(x_i, .) k(z, .), with no feature of any output.
    """
    m, n_outputs = len(K_x), len(K_y)

    def value_and_gradient(a):
        alpha = a.reshape(m, n_outputs)
        H = K_x @ alpha @ K_y
        value, slope = lam * np.vdot(alpha, H), np.zeros_like(H)
        for i, ys in enumerate(correct):
            others = np.setdiff1d(np.arange(n_outputs), ys)
            for y in ys:
                gap = 1.0 - H[i, y] + H[i, others]
                value += weight[i] * 0.5 * (gap**2 - 1.0).sum() / n_outputs
                slope[i, others] += weight[i] * gap / n_outputs
                slope[i, y] -= weight[i] * gap.sum() / n_outputs
        return value, (2 * lam * H + K_x @ slope @ K_y).ravel()

    found = minimize(
        value_and_gradient, np.zeros(m * n_outputs), jac=True, method="L-BFGS-B",
        options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-16, "gtol": 1e-11, "maxcor": 40},
    )  # fmt: skip
    return found.fun, K_x @ found.x.reshape(m, n_outputs) @ K_y


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("several", [False, True])
def test_the_minimum_is_that_of_the_sum_over_all_pairs_of_outputs(case, several):
    space, kernel, make = CASES[case]
    rng = np.random.default_rng(0)
    X, weight, lam = rng.standard_normal((6, 2)), np.linspace(0.5, 2.0, 6), 0.2
    y = make(rng, 6)
    if several:
        y = [list(make(rng, 1 + i % 2)) for i in range(6)]
    model = CountingRidge(KernelSpace(space, kernel), kernel=RBF(0.4), alpha=lam)
    model.fit(X, y, weight, several_outputs=several)
    fitted = model.space_
    assert fitted.exact_
    assert model.moments_error_ is None
    listed = fitted.enumerate()
    K_y = fitted.kernel_(fitted.restore(listed))
    assert_allclose(fitted.embed(listed) @ fitted.embed(listed).T, K_y, atol=1e-10)
    numbers = {key.tobytes(): i for i, key in enumerate(np.asarray(listed))}
    correct = [[] for _ in range(6)]
    for z, row in zip(model.outputs_, model.problem_.row):
        correct[row].append(numbers[np.asarray(z).tobytes()])
    K_x = rbf_kernel(X, gamma=0.4) + 1.0  # the intercept is a feature like others
    value, H = printed_minimum(K_x, K_y, correct, weight, lam)
    assert model.objective_ == pytest.approx(value, rel=1e-7)
    found = model.decision_function(X) @ fitted.embed(listed).T
    centred = H - H.mean(axis=1, keepdims=True)  # a constant changes no difference
    assert_allclose(found - found.mean(axis=1, keepdims=True), centred, atol=2e-5)
    predicted = fitted.validate(model.predict(X))
    for z, row in zip(predicted, H):
        assert row[numbers[np.asarray(z).tobytes()]] >= row.max() - 1e-4


def test_a_linear_kernel_is_the_embedding_itself():
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((20, 3)), rng.integers(0, 2, (20, 4))
    plain = CountingRidge(LabelSets(range(4)), kernel=RBF(0.3), alpha=0.1).fit(X, Y)
    for solver in ("closed-form", NewtonCG(tol=1e-12)):
        space = KernelSpace(LabelSets(range(4)), "linear")
        same = CountingRidge(space, kernel=RBF(0.3), alpha=0.1, solver=solver).fit(X, Y)
        assert same.objective_ == pytest.approx(plain.objective_, rel=1e-9)
        listed = plain.space_.enumerate()
        values = [one.decision_function(X) @ one.space_.embed(listed).T for one in (same, plain)]
        assert_allclose(*values, atol=1e-7)
        assert_array_equal(same.predict(X), plain.predict(X))


# ------------------------------------------------------------------ draws
@pytest.mark.slow
def test_moments_from_draws_are_unbiased_and_as_far_off_as_they_say():
    """200 estimates: their errors, in standard errors, have mean 0 and square 1."""
    space = KernelSpace(Cycles(list("abcde")), "rbf").fit([list("abcde"), list("acbde")])
    psi = space.embed(space.enumerate())
    exact_mean, exact_second = psi.mean(axis=0), psi.T @ psi / len(psi)
    rng = np.random.default_rng(0)
    a, B = rng.standard_normal(len(exact_mean)), rng.standard_normal(exact_second.shape)
    off = []
    for seed in range(200):
        drawn = space.sample(300, np.random.default_rng(seed))
        moments = SampledMoments(space.embed(drawn))
        of_a, of_B = moments.psi @ a, np.einsum("sd,de,se->s", moments.psi, B, moments.psi)
        off.append(
            (
                (moments.mean - exact_mean) @ a / (of_a.std(ddof=1) / 300**0.5),
                np.vdot(moments.second - exact_second, B) / (of_B.std(ddof=1) / 300**0.5),
                (moments.mean - exact_mean)[0] / moments.errors.mean[0],
                (moments.second - exact_second)[0, 1] / moments.errors.second_moment[0, 1],
                ((moments.mean - exact_mean) ** 2).sum() / moments.errors.mean_norm**2 - 1,
                ((moments.second - exact_second) ** 2).sum()
                / moments.errors.second_moment_norm**2 - 1,
            )
        )  # fmt: skip
    off = np.array(off)
    assert (np.abs(off.mean(axis=0)) < norm.isf(ALARM / 2) * off.std(axis=0) / 200**0.5).all()
    squares = (off[:, :4] ** 2).sum(axis=0)
    assert (chi2.ppf(ALARM / 2, 200) < squares).all()
    assert (squares < chi2.isf(ALARM / 2, 200)).all()


@pytest.mark.slow
def test_the_basis_does_not_know_the_draws_of_moments():
    """Under the Dirac kernel the coordinates are those of the basis: each has the mean 1 / |Y|.

    Draws that were both basis and moments would meet the basis too often.
    """
    off = []
    for seed in range(150):
        space = KernelSpace(LabelSets(range(6)), "dirac", n_listed=0, n_samples=100, n_landmarks=8,
                            random_state=seed)  # fmt: skip
        space.fit(np.eye(6, dtype=int)[:2])
        b = len(space.basis_)
        assert space.moments_.psi.shape == (100, b)
        share = (np.abs(space.moments_.psi).sum(axis=1) > 0.5).mean()
        off.append((share - b / 64) / np.sqrt(b / 64 * (1 - b / 64) / 100))
    assert abs(np.mean(off)) < norm.isf(ALARM / 2) / 150**0.5


@pytest.mark.slow
@pytest.mark.parametrize("several", [False, True])
def test_the_objective_from_draws_is_unbiased_at_given_scores(several):
    space = KernelSpace(LabelSets(list("abcd")), "rbf").fit(np.eye(4, dtype=int))
    rng = np.random.default_rng(3)
    row = np.array([0, 0, 1, 2, 2, 2]) if several else np.arange(6)
    m = row[-1] + 1
    outputs = space.enumerate()[rng.choice(16, 6, replace=False)]
    psi, weight = space.embed(outputs), np.linspace(0.5, 1.5, m)
    f = rng.standard_normal((m, psi.shape[1]))

    def value(mean, second):
        covariance = DenseCovariance(second - np.outer(mean, mean))
        examples = CountingExamples.of(psi, mean, row, weight, covariance, 16)
        scaled = f * examples.root[:, None]
        return examples.value(scaled, 0.0, 1.0), examples, scaled

    truth = value(Uniform.of(space).mean_embedding(), Uniform.of(space).second_moment())[0]
    off = []
    for seed in range(200):
        moments = SampledMoments(space.embed(space.sample(200, np.random.default_rng(seed))))
        found, examples, scaled = value(moments.mean, moments.second)
        off.append((found - truth) / objective_errors(moments, examples, scaled).objective)
    off = np.array(off)
    assert abs(off.mean()) < norm.isf(ALARM / 2) / 200**0.5
    assert chi2.ppf(ALARM / 2, 200) < (off**2).sum() < chi2.isf(ALARM / 2, 200)


def test_with_more_draws_the_minimum_is_that_of_all_outputs():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((15, 2)), rng.integers(0, 2, (15, 4))
    exact = CountingRidge(KernelSpace(LabelSets(range(4))), kernel=RBF(0.5), alpha=0.3).fit(X, Y)
    errors = []
    for n in (100, 10_000):
        space = KernelSpace(LabelSets(range(4)), n_listed=0, n_samples=n, random_state=1)
        model = CountingRidge(space, kernel=RBF(0.5), alpha=0.3).fit(X, Y)
        assert not model.space_.exact_
        assert len(model.space_.basis_) == 16
        errors.append(model.moments_error_)
        assert abs(model.objective_ - exact.objective_) < 4 * model.moments_error_.objective
    assert errors[0].n_samples == 100
    for name in ("mean_norm", "second_moment_norm", "objective"):
        ratio = getattr(errors[0], name) / getattr(errors[1], name)
        assert 7 < ratio < 14  # ten, and what the draws differ by
    again = CountingRidge(space, kernel=RBF(0.5), alpha=0.3).fit(X, Y)
    assert_array_equal(again.coef_, model.coef_)  # the seed is a parameter


# ------------------------------------------------------------------ decisions
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("n_listed", [0, 1000])
def test_decisions_are_the_best_of_what_is_said(case, n_listed):
    space, kernel, make = CASES[case]
    rng = np.random.default_rng(2)
    fitted = KernelSpace(space, kernel, n_listed=n_listed, n_samples=50, n_landmarks=4)
    fitted.fit(make(rng, 9))
    costs = rng.standard_normal((7, fitted.turn_.shape[1]))
    whole = fitted.exact_ or fitted.bilinear_
    assert fitted.guarantee.kind == ("exact" if whole else "bound only")
    among = fitted.enumerate() if whole else fitted.listed_
    values = costs @ fitted.embed(among).T
    best = fitted.argmin(costs)
    assert_allclose(best.values, values.min(axis=1), atol=1e-9)
    at = np.einsum("nd,nd->n", costs, fitted.embed(best.outputs))
    assert_allclose(at, best.values, atol=1e-9)
    assert_array_equal(np.isfinite(best.bounds), np.full(7, whole))
    assert (best.bounds <= best.values + 1e-12).all()
    three = fitted.kbest(costs, 3)
    assert_allclose(three.values, np.sort(values, axis=1)[:, :3], atol=1e-9)


def test_constraints_are_those_of_the_space():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((12, 2)), rng.integers(0, 2, (12, 4))
    for n_listed, kernel in ((0, "rbf"), (0, "linear"), (100, "rbf")):
        space = KernelSpace(LabelSets(range(4)), kernel, n_listed=n_listed, n_samples=200)
        model = CountingRidge(space, kernel=RBF(0.5), alpha=0.1).fit(X, Y)
        assert (model.predict(X, restrict={"max_size": 1}).sum(axis=1) <= 1).all()
    narrow = KernelSpace(LabelSets(range(4), max_size=2), "rbf").fit(Y[Y.sum(axis=1) <= 2])
    assert narrow.size() == len(narrow.listed_) == 11


def test_a_space_without_number_is_drawn_from():
    rng = np.random.default_rng(0)
    X = rng.random((40, 1))
    y = np.column_stack([X[:, 0], 1 - X[:, 0]])
    space = KernelSpace(Box([0, 0], [1, 1]), "rbf", n_samples=1000)
    model = CountingRidge(space, "squared", kernel=RBF(5.0), alpha=0.01).fit(X, y)
    assert space.fit(y).size() == np.inf
    assert -model.score(X, y) < 0.02  # both coordinates, of variance 1/6 together
    assert model.moments_error_.objective > 0


def test_what_cannot_be_done_is_said():
    Y = np.eye(3, dtype=int)
    with pytest.raises(ValueError, match="n_samples is a whole number from 2; got 1"):
        KernelSpace(LabelSets(), n_samples=1).fit(Y)
    with pytest.raises(ValueError, match="not positive semidefinite"):
        KernelSpace(LabelSets(), lambda y, z: -float(set(y) == set(z))).fit([["a"], ["b"]])
    solver = SolverSpace(lambda costs: (costs < 0).astype(int), labels=range(3), binary=True)
    with pytest.raises(ValueError, match="cannot draw any: raise n_listed"):
        KernelSpace(solver, "linear").fit(Y)
    model = CountingRidge(KernelSpace(LabelSets()), alpha=1.0).fit(np.eye(3), Y)
    with pytest.raises(ValueError, match="means of kernel features only"):
        model.predict(np.eye(3), loss="hamming")


def test_models_are_saved_and_the_given_space_stays_as_it_is(tmp_path):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((12, 2)), rng.integers(0, 2, (12, 3))
    given = LabelSets()
    space = KernelSpace(given, n_listed=0, n_samples=50)
    model = CountingRidge(space, alpha=0.1).fit(X, Y)
    assert not hasattr(given, "labels_")
    assert space.space is given
    assert clone(model).get_params()["space__n_samples"] == 50
    save_model(model, tmp_path / "model.skstruct")
    loaded = load_model(tmp_path / "model.skstruct")
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.moments_error_.objective == model.moments_error_.objective
    assert repr(loaded.moments_error_).startswith("MomentErrors(n_samples=50, mean_norm=")


def test_a_kernel_that_tells_nothing_is_refused():
    space = KernelSpace(LabelSets(["a", "b"]), lambda y, z: 0.0)
    with pytest.raises(ValueError, match="is zero for all of them"):
        CountingRidge(space).fit([[0.0], [1.0]], [["a"], ["b"]])
