# SPDX-License-Identifier: BSD-3-Clause
"""How alpha, radius and ties are settled between kernels, and what is scored."""

from itertools import product

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score

from output_kernel_cases import WORDS, inputs
from skstruct import OutputKernelRegressor, config_context
from skstruct.kernels import RBF, Dirac, HammingKernel
from skstruct.model_selection import left_out_risk, loss_scorer
from skstruct.smoothing import SampleCompression
from skstruct.spaces import Candidates, Sequences


def test_alpha_is_chosen_as_by_refitting_without_each_row():
    X, alphas = inputs(len(WORDS)), [10.0, 1.0, 0.1, 0.01]
    kernel = HammingKernel(length=5)
    model = OutputKernelRegressor(
        space=Candidates(sorted(set(WORDS))), kernel=RBF(0.5), output_kernel=kernel, alpha=alphas
    )
    model.fit(X, WORDS)
    for trial in model.search_.trials:
        losses = []
        for i in range(len(X)):
            rest = np.arange(len(X)) != i
            one = clone(model).set_params(alpha=trial["alpha"])
            one.fit(X[rest], [w for j, w in enumerate(WORDS) if j != i])
            losses.append(kernel.loss(one.predict(X[[i]]), [WORDS[i]])[0])
        assert_allclose(trial["risk"], np.mean(losses))
    assert len(model.search_.trials) == 4
    assert model.alpha_ == model.search_.best["alpha"]


def test_a_radius_is_chosen_among_several():
    X = inputs(30)
    y = np.where(X[:, 0] > 0, "right", "left")
    model = OutputKernelRegressor(method="sample_compression").fit(X, y)
    assert len(model.search_.trials) == 20
    assert model.radius_ == model.search_.best["radius"]
    assert model.score(X, y) > -0.2
    three = OutputKernelRegressor(
        kernel=RBF("auto"), method=SampleCompression(radius=[0.1, 1.0, 3.0])
    )
    assert len(three.fit(X, y).search_.trials) == 21
    groups = np.repeat(np.arange(6), 5)
    assert three.fit(X, y, groups=groups).radius_ in (0.1, 1.0, 3.0)


def test_one_row_is_learned():
    assert OutputKernelRegressor().fit([[1.0]], ["a"]).predict([[2.0]]).tolist() == ["a"]
    model = OutputKernelRegressor(method="sample_compression").fit([[1.0]], ["a"])
    assert model.predict([[2.0]]).tolist() == ["a"]


def test_longer_outputs_than_in_training_are_scored():
    X = inputs(12)
    y = ["cat", "cot", "dog"] * 3 + ["dog", "cat", "catalogue"]
    model = OutputKernelRegressor(output_kernel="hamming", alpha=1.0).fit(X[:11], y[:11])
    predicted = model.predict(X[11:])[0]
    assert -model.score(X[11:], y[11:]) == sum(a != b for a, b in zip(predicted, "cat")) + 6
    assert np.isfinite(cross_val_score(model, X, y, cv=4)).all()
    long = OutputKernelRegressor(
        space=Candidates(["cccccc", "ccc"]), output_kernel="hamming", alpha=1.0
    )
    assert set(long.fit(X, y).predict(X)) <= {"cccccc", "ccc"}


def test_a_radius_is_chosen_where_weights_take_the_place_of_means():
    """More candidates than rows, and spaces larger than their list of outputs."""
    X, y = inputs(6), ["ab", "ba", "bb"] * 2
    pairs = [a + b for a in "abc" for b in "abc"]
    many = OutputKernelRegressor(
        space=Candidates(pairs), output_kernel="hamming", method="sample_compression", cv=3
    ).fit(X, y)
    fixed = clone(many).set_params(method=SampleCompression(radius=many.radius_)).fit(X, y)
    assert_allclose(many.decode(X).values, fixed.decode(X).values, atol=1e-8)
    small = OutputKernelRegressor(
        space=Candidates(pairs[:5]), output_kernel="hamming", method="sample_compression", cv=3
    ).fit(X, y)
    assert len(small.search_.trials) == len(many.search_.trials) == 20
    whole = OutputKernelRegressor(method="sample_compression", space=Sequences(), cv=3).fit(X, y)
    assert set(whole.predict(X)) <= set(y)


def test_the_loss_of_a_sum_is_the_sum_of_losses():
    X = inputs(4)
    kernel = 2.0 * HammingKernel() + Dirac()
    model = OutputKernelRegressor(output_kernel=kernel, alpha=1.0).fit(
        X, ["cat", "cot", "cat", "cot"]
    )
    predicted = model.predict(X[:1])[0]
    wrong = sum(a != b for a, b in zip(predicted, "cat")) + 4
    assert model.score(X[:1], ["catalog"]) == -(2.0 * wrong + 1.0)


def test_equal_losses_are_told_apart_by_squared_error():
    X = np.repeat(np.eye(2) * 5.0, 6, axis=0)
    y = np.repeat(["left", "right"], 6)
    model = OutputKernelRegressor(alpha=np.logspace(-3, 3, 13)).fit(X, y)
    ties = [trial for trial in model.search_.trials if trial["risk"] == 0]
    assert len(ties) > 3
    assert model.search_.best["squared error"] == min(trial["squared error"] for trial in ties)
    for trial in ties:
        K = rbf_kernel(X, gamma=model.gamma_)
        total = 0.0
        for i in range(len(X)):
            rest = np.arange(len(X)) != i
            b = np.linalg.solve(K[np.ix_(rest, rest)] + trial["alpha"] * np.eye(11), K[rest, i])
            means = np.array([b[y[rest] == name].sum() for name in ("left", "right")])
            total += ((means - (np.array(["left", "right"]) == y[i])) ** 2).sum()
        assert_allclose(trial["squared error"], total / len(X))


def test_left_out_risks_of_any_loss():
    X = inputs(len(WORDS))
    model = OutputKernelRegressor(kernel=RBF(0.5), output_kernel="hamming", alpha=[10.0, 1.0, 0.1])
    model.fit(X, WORDS)
    assert_allclose(left_out_risk(model), model.search_.best["risk"])
    risks = left_out_risk(model, alphas=[trial["alpha"] for trial in model.search_.trials])
    assert_allclose(risks, [trial["risk"] for trial in model.search_.trials])
    assert 0.0 <= left_out_risk(model, loss="zero_one") <= 1.0
    wrong = np.mean(model.predict(X) != np.array(WORDS))
    assert_allclose(model.score(X, WORDS, loss="zero_one"), -wrong)
    judged = clone(model).set_params(loss="zero_one").fit(X, WORDS)
    assert_allclose(judged.score(X, WORDS), -np.mean(judged.predict(X) != np.array(WORDS)))


def test_ties_do_not_depend_on_how_candidates_are_compared():
    """More candidates than rows, little memory: the same alpha and radius."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((4, 2)) * 3, 10, axis=0) + 0.1 * rng.standard_normal((40, 2))
    y = np.repeat(["aa", "bb", "cc", "dd"], 10).tolist()
    pairs = ["".join(z) for z in product("abcdefg", repeat=2)]
    model = OutputKernelRegressor(output_kernel="hamming").fit(X, y)
    for space in (Candidates(pairs), Sequences("abcd", 2)):
        assert_allclose(clone(model).set_params(space=space).fit(X, y).alpha_, model.alpha_)
    bounded = clone(model).set_params(method="sample_compression", random_state=0).fit(X, y)
    listed = clone(bounded).set_params(space=Candidates(pairs)).fit(X, y)
    assert_allclose(listed.radius_, bounded.radius_)
    with config_context(memory=200):
        assert_allclose(clone(model).fit(X, y).alpha_, model.alpha_)
        assert_allclose(clone(bounded).fit(X, y).radius_, bounded.radius_)


def test_outputs_never_seen_are_wrong_under_zero_one():
    X, y = inputs(10), [f"w{i}" for i in range(10)]
    scores = cross_val_score(
        OutputKernelRegressor(loss="zero_one", output_kernel="hamming", alpha=1.0), X, y, cv=5
    )
    assert_array_equal(scores, -1.0)
    by_scorer = cross_val_score(
        OutputKernelRegressor(alpha=1.0), X, y, cv=5, scoring=loss_scorer("zero_one")
    )
    assert_array_equal(by_scorer, -1.0)
