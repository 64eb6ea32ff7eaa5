# SPDX-License-Identifier: BSD-3-Clause
"""Kernels with their parameters: formulas, names, sums, widths that are searched, model files."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import pairwise
from sklearn.model_selection import GridSearchCV, KFold

from skstruct import ConditionalRiskMinimizer, CountingRidge
from skstruct.kernels import (
    RBF,
    AdditiveChiSquareKernel,
    CallableKernel,
    ChiSquareKernel,
    Cosine,
    KernelSum,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Sigmoid,
    resolve_kernel,
)
from skstruct.kernels.inputs import GAMMA_STEPS, KERNELS, default_gamma, follows_scale, kernel_name
from skstruct.learners.leave_out import kernel_grid
from skstruct.persistence import load_model, save_model
from skstruct.smoothing import AdditiveKernelRidge, KernelRidge, NystroemRidge
from skstruct.spaces import LabelSets

RNG = np.random.default_rng(0)
X, B = RNG.random((14, 3)) + 0.1, RNG.random((5, 3)) + 0.1
Y = (X @ RNG.standard_normal((3, 4)) + 0.2 * RNG.standard_normal((14, 4)) > 0.3).astype(int)


def dot(a, b):
    return sum(s * t for s, t in zip(a, b))


def histogram_distance(a, b):
    return sum((s - t) ** 2 / (s + t) for s, t in zip(a, b))


# A kernel, scikit-learn's function with the same parameters, and the formula.
KINDS = {
    "linear": (Linear(), {}, dot),
    "rbf": (
        RBF(0.7), {"gamma": 0.7},
        lambda a, b: np.exp(-0.7 * sum((s - t) ** 2 for s, t in zip(a, b))),
    ),
    "laplacian": (
        Laplacian(0.7), {"gamma": 0.7},
        lambda a, b: np.exp(-0.7 * sum(abs(s - t) for s, t in zip(a, b))),
    ),
    "polynomial": (
        Polynomial(2, gamma=0.5, coef0=3), {"degree": 2, "gamma": 0.5, "coef0": 3},
        lambda a, b: (0.5 * dot(a, b) + 3) ** 2,
    ),
    "sigmoid": (
        Sigmoid(0.5, coef0=-0.2), {"gamma": 0.5, "coef0": -0.2},
        lambda a, b: np.tanh(0.5 * dot(a, b) - 0.2),
    ),
    "cosine": (Cosine(), {}, lambda a, b: dot(a, b) / np.sqrt(dot(a, a) * dot(b, b))),
    "chi2": (
        ChiSquareKernel(0.7), {"gamma": 0.7},
        lambda a, b: np.exp(-0.7 * histogram_distance(a, b)),
    ),
    "additive_chi2": (AdditiveChiSquareKernel(), {}, lambda a, b: -histogram_distance(a, b)),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_values_are_those_of_the_formula_and_of_scikit_learn(name):
    kernel, parameters, formula = KINDS[name]
    fitted = clone(kernel).fit(X)
    slow = np.array([[formula(a, b) for b in X] for a in B])
    np.testing.assert_allclose(fitted(B, X), slow, atol=1e-12)
    np.testing.assert_allclose(fitted.gram(X), [[formula(a, b) for b in X] for a in X], atol=1e-12)
    theirs = pairwise.pairwise_kernels(B, X, metric=name, **parameters)
    np.testing.assert_allclose(fitted(B, X), theirs, atol=1e-12)
    if fitted.is_unit:
        np.testing.assert_allclose(np.diag(fitted.gram(X)), 1.0)


def test_every_name_stands_for_a_kernel():
    assert {kind.name for kind in KERNELS.values()} == {*KINDS, "precomputed"}
    for name, kind in KERNELS.items():
        assert repr(resolve_kernel(name)) == repr(kind())
        assert kernel_name(name) == kernel_name(kind()) == kind.name
    assert (kernel_name("rbf+linear"), kernel_name(np.dot)) == ("rbf+linear", None)
    assert type(resolve_kernel(np.dot)) is CallableKernel
    for wrong, said in (("gauss", "Unknown kernel 'gauss'; known are"), (3, "callable; got 3")):
        with pytest.raises(ValueError, match=said):
            resolve_kernel(wrong)
    with pytest.raises(TypeError, match=r"gamma, degree and coef0; got \['width'\]"):
        resolve_kernel("rbf", width=2.0)


def test_parameters_reach_each_term_that_has_them():
    given = RBF(1.0) + "polynomial" + Linear()
    found = resolve_kernel(given, gamma=0.3, degree=2)
    assert [repr(term) for term in found.kernels] == [
        "RBF(gamma=0.3)", "Polynomial(degree=2, gamma=0.3)", "Linear()",
    ]  # fmt: skip
    assert repr(given.kernels[0]) == "RBF(gamma=1.0)"  # it was copied
    assert repr(resolve_kernel("linear", gamma=0.3)) == "Linear()"


def default_width(name, X, weight=None):
    """Of distances, by the variance within features; of products, by that of all entries."""
    mean = np.average(X, axis=0, weights=weight)
    if name in ("poly", "sigmoid"):
        mean = mean.mean()
    return 1.0 / np.average((X - mean) ** 2, axis=0, weights=weight).sum()


@pytest.mark.parametrize("name", ["rbf", "laplacian", "poly", "sigmoid", "chi2"])
def test_the_default_width(name):
    kernel = resolve_kernel(name).fit(X)
    assert kernel.gamma is None
    assert kernel.follows_scale
    assert not kernel.with_gamma(2.0).follows_scale
    for weight in (None, np.arange(14.0)):
        found = resolve_kernel(name).fit(X, weight).gamma_
        assert found == (1.0 if name == "chi2" else pytest.approx(default_width(name, X, weight)))


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "rbf+laplacian"])
@pytest.mark.parametrize("shift", [0.0, 1e4, 1e8])
def test_a_common_shift_leaves_widths_of_distances_as_they_are(kernel, shift):
    """Neither a column that is constant nor one that is far from zero makes all rows alike."""
    moved = np.column_stack([X, np.full(14, shift)])
    moved[:, 1] += shift
    here, there = resolve_kernel(kernel).fit(X), resolve_kernel(kernel).fit(moved)
    assert there.gamma_ == pytest.approx(here.gamma_, rel=1e-6)
    np.testing.assert_allclose(there.gram(moved), here.gram(X), atol=1e-6)
    rows = sparse.csr_array(np.column_stack([X, np.full(14, min(shift, 1e4))]))
    assert resolve_kernel("rbf").fit(rows).gamma_ == pytest.approx(RBF().fit(X).gamma_, rel=1e-6)


@pytest.mark.parametrize("kernel", ["poly", "sigmoid"])
def test_columns_far_from_zero_are_told_where_products_see_it(kernel):
    with pytest.warns(UserWarning, match="Column 1 of X has the mean 1e.04 and the deviation 0:"):
        resolve_kernel(kernel).fit(np.insert(X, 1, 1e4, axis=1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        resolve_kernel(kernel).fit(X)
        resolve_kernel(kernel, gamma=0.1).fit(np.insert(X, 1, 1e4, axis=1))


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.nan, np.inf, "auto", "wide", [0.1, 1.0]])
def test_widths_that_no_single_fit_takes(gamma):
    with pytest.raises(ValueError, match="gamma"):
        RBF(gamma).fit(X)
    with pytest.raises(ValueError, match="gamma"):
        KernelRidge(RBF(gamma)).fit(X, Y)


# ---------------------------------------------------------------------- sums
def test_a_sum_is_the_mean_of_its_scaled_terms():
    terms = [RBF(0.5), Linear(), Polynomial(2, gamma=1.0)]
    total = terms[0] + terms[1] + terms[2]
    fitted = total.fit(X)
    slow = np.zeros((5, 14))
    for term in terms:
        scale = np.mean([clone(term).fit(X)(x[None], x[None])[0, 0] for x in X])
        slow += clone(term).fit(X)(B, X) / (3 * scale)
    np.testing.assert_allclose(fitted(B, X), slow, atol=1e-12)
    assert isinstance(total, KernelSum)
    assert len(total.kernels) == 3
    assert repr("rbf" + Linear()) == repr(resolve_kernel("rbf+linear"))
    assert (RBF() + Laplacian()).is_unit
    assert not total.is_unit


def test_widths_of_a_sum_go_together():
    kernel = RBF([0.1, 1.0]) + Laplacian([0.2, 2.0]) + Linear()
    assert kernel.widths(X) == [(0.1, 0.2, None), (1.0, 2.0, None)]
    assert repr(kernel.with_gamma((1.0, 2.0, None))) == repr(RBF(1.0) + Laplacian(2.0) + Linear())
    assert (RBF() + Linear()).widths(X) == [None]
    assert (RBF([0.3]) + Linear()).widths(X) == [(0.3, None)]
    with pytest.raises(ValueError, match=r"as many for each .*got \[2, 3\]"):
        (RBF([0.1, 1.0]) + Laplacian([0.1, 1.0, 2.0])).widths(X)


# ---------------------------------------------------------------------- searched by learners
def test_auto_is_seven_widths_around_the_default():
    scale = default_gamma(X)
    widths = [gamma for _, gamma in kernel_grid(RBF("auto"), X, None)]
    np.testing.assert_allclose(widths, [scale * 2.0**step for step in range(-3, 4)])
    assert len(GAMMA_STEPS) == len(widths)
    assert kernel_grid(ChiSquareKernel("auto"), X, None)[3][1] == 1.0


@pytest.mark.parametrize(
    "kernel",
    [RBF([0.2, 2.0]), RBF([0.2, 2.0]) + Laplacian([0.5, 1.5]), Laplacian("auto")],
    ids=repr,
)
def test_widths_are_searched_as_by_a_loop_over_them(kernel):
    shared = {"space": LabelSets(range(4)), "loss": "hamming", "alpha": [0.01, 1.0]}
    model = ConditionalRiskMinimizer(kernel=kernel, **shared).fit(X, Y)
    slow = []
    for gamma in kernel.widths(X):
        single = ConditionalRiskMinimizer(kernel=kernel.with_gamma(gamma), **shared).fit(X, Y)
        slow += [trial["risk"] for trial in single.search_.trials]
    np.testing.assert_allclose([trial["risk"] for trial in model.search_.trials], slow, atol=1e-9)
    assert model.kernel_ is kernel  # as it was given
    assert model.gamma_ == model.smoother_.kernel_.gamma_
    best = kernel.with_gamma(model.search_.best["gamma"])
    again = KernelRidge(best, model.alpha_).fit(X, model.problem_.targets())
    np.testing.assert_allclose(model.smoother_.predict(B), again.predict(B), atol=1e-8)


def test_the_width_of_a_smoother_is_searched_with_its_penalty():
    S, shared = np.eye(4) + 0.5, {"space": LabelSets(range(4)), "loss": "hamming"}
    model = ConditionalRiskMinimizer(
        smoother=AdditiveKernelRidge(S, kernel=RBF([0.2, 2.0]), alpha=[0.01, 1.0]), **shared
    ).fit(X, Y)
    slow = {}
    for gamma in (0.2, 2.0):
        for alpha in (1.0, 0.01):
            ridge = AdditiveKernelRidge(S, kernel=RBF(gamma), alpha=alpha)
            wrong = 0.0
            for i in range(14):
                out = np.arange(14) == i
                fitted = clone(ridge).fit(X[~out], Y[~out].astype(float))
                wrong += ((fitted.predict(X[out]) > 0.5) != Y[out]).sum()
            slow[gamma, alpha] = wrong / 14
    found = {(t["gamma"], t["alpha"]): t["risk"] for t in model.search_.trials}
    assert found == pytest.approx(slow)
    assert (model.gamma_, model.alpha_) == min(slow, key=lambda pair: (slow[pair], -pair[1]))


def test_names_and_objects_learn_alike():
    for make in (KernelRidge, lambda kernel: NystroemRidge(kernel, n_landmarks=6)):
        named, given = (make(kernel).fit(X, Y).predict(B) for kernel in ("rbf", RBF()))
        assert named.tobytes() == given.tobytes()
    for name, kernel in (("rbf", RBF()), ("linear", Linear()), ("poly", Polynomial())):
        models = [ConditionalRiskMinimizer(kernel=k, alpha=1.0).fit(X, Y) for k in (name, kernel)]
        assert models[0].decode(B).values.tobytes() == models[1].decode(B).values.tobytes()
        assert models[0].kernel_ == name
        assert models[1].kernel_ is kernel
        assert follows_scale(models[0]) == follows_scale(models[1]) == (name != "linear")
    K = RBF(0.5).fit(X)
    for precomputed in ("precomputed", Precomputed()):
        matrix = ConditionalRiskMinimizer(kernel=precomputed, alpha=1.0).fit(K.gram(X), Y)
        rows = ConditionalRiskMinimizer(kernel=RBF(0.5), alpha=1.0).fit(X, Y)
        np.testing.assert_allclose(matrix.decode(K(B, X)).values, rows.decode(B).values, atol=1e-9)


# ---------------------------------------------------------------------- parameters
@pytest.mark.parametrize("name", KINDS)
def test_parameters_are_read_set_and_cloned(name):
    kernel, parameters, _ = KINDS[name]
    assert kernel.get_params() == parameters
    assert clone(kernel).get_params() == parameters
    assert repr(type(kernel)().set_params(**parameters)) == repr(kernel)
    with pytest.raises(ValueError, match="Invalid parameter 'width'"):
        clone(kernel).set_params(width=1.0)
    fitted = clone(kernel).fit(X)
    assert clone(fitted).gamma_ is None  # what was settled is not cloned


@pytest.mark.parametrize("learner", [ConditionalRiskMinimizer, CountingRidge])
def test_a_grid_over_the_width_of_a_kernel(learner):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 2))
    Y = (np.sin(2 * X @ rng.standard_normal((2, 3))) > 0).astype(int)
    model = learner(LabelSets(range(3)), kernel=RBF(), alpha=0.1)
    assert model.get_params()["kernel__gamma"] is None
    gammas, folds = [0.01, 0.5, 5.0], KFold(4)
    search = GridSearchCV(model, {"kernel__gamma": gammas}, cv=folds).fit(X, Y)
    slow = []
    for gamma in gammas:
        single = learner(LabelSets(range(3)), kernel=RBF(gamma), alpha=0.1)
        slow.append(np.mean([
            single.fit(X[train], Y[train]).score(X[test], Y[test]) for train, test in folds.split(X)
        ]))  # fmt: skip
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], slow)
    assert search.best_params_["kernel__gamma"] == gammas[int(np.argmax(slow))]
    assert len(set(np.round(slow, 6))) > 1
    assert model.kernel.gamma is None


# ---------------------------------------------------------------------- model files
@pytest.mark.parametrize(
    "kernel",
    [*(kind[0] for kind in KINDS.values()), RBF("auto"), RBF() + Laplacian([0.5, 2.0]), "rbf+chi2"],
    ids=repr,
)
def test_models_are_saved_with_their_kernel(kernel, tmp_path):
    model = ConditionalRiskMinimizer(LabelSets(range(4)), kernel=kernel, alpha=[1.0, 40.0])
    model.fit(X, Y)
    save_model(model, tmp_path / "model.skstruct")
    loaded = load_model(tmp_path / "model.skstruct")
    assert repr(loaded.kernel) == repr(kernel)
    assert repr(loaded.kernel_) == repr(model.kernel_)
    assert repr(loaded.smoother_.kernel_) == repr(model.smoother_.kernel_)
    assert loaded.decode(B).values.tobytes() == model.decode(B).values.tobytes()
    again = loaded.fit(X, Y)
    assert again.decode(B).values.tobytes() == model.decode(B).values.tobytes()


@pytest.mark.parametrize("shapes", [(1, 40, 8), (3, 33, 7), (2, 9, 101)])
@pytest.mark.parametrize("name", ["linear", "polynomial", "sigmoid", "laplacian"])
def test_kernels_equal_those_of_scikit_learn_to_the_bit(name, shapes):
    n, m, p = shapes
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(n, p)), rng.normal(size=(m, p))
    for parameters in ({}, {"gamma": 0.3, "degree": 2, "coef0": 0.5}):
        kernel = resolve_kernel(name, **parameters).fit(B)
        own = kernel.get_params()
        settled = {**own, "gamma": kernel.gamma_} if kernel.has_gamma else own
        for X, Y in [(A, B), (B, B), (np.asfortranarray(A), B), (sparse.csr_array(A), B)]:
            if sparse.issparse(X) and name == "laplacian":
                continue  # by other sums: see test_inputs
            expected = pairwise.pairwise_kernels(X, Y, metric=name, **settled)
            np.testing.assert_array_equal(kernel(X, Y), expected)
