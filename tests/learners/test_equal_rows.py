# SPDX-License-Identifier: BSD-3-Clause
"""Rows that are written twice: left out together, they choose as a row of weight two does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from skstruct import ConditionalRiskMinimizer, CountingRidge
from skstruct.kernels import RBF
from skstruct.learners import NeighborLabelRanker, OutputKernelRegressor
from skstruct.learners.leave_out import group_numbers, twins
from skstruct.model_selection import left_out_risk
from skstruct.smoothing import AdditiveKernelRidge, KernelRidge, NystroemRidge
from skstruct.spaces import Hierarchy, LabelSets


def label_rows(seed, n=40):
    """Noisy label sets, and how often each row is written."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    Y = (X @ rng.standard_normal((2, 4)) + rng.standard_normal((n, 4)) > 0).astype(int)
    return X, Y, rng.integers(1, 4, n)


def risks(model):
    return [trial["risk"] for trial in model.search_.trials]


LEARNERS = {
    "labels": lambda: ConditionalRiskMinimizer(
        LabelSets(range(4)), "hamming", smoother="kernel_ridge"
    ),
    "gamma": lambda: ConditionalRiskMinimizer(LabelSets(range(4)), "f1", kernel=RBF("auto")),
    "kernels": lambda: ConditionalRiskMinimizer(LabelSets(), kernel=["rbf", "linear"]),
    "label kernel": lambda: ConditionalRiskMinimizer(
        Hierarchy([], labels=range(4)),
        "hamming",
        smoother=AdditiveKernelRidge(np.eye(4) + 0.5, alpha="auto"),
    ),
    "no intercept": lambda: ConditionalRiskMinimizer(LabelSets(), fit_intercept=False),
    "output kernel": lambda: OutputKernelRegressor(output_kernel="hamming", space=LabelSets()),
    "dirac": lambda: OutputKernelRegressor(),
    "counting": lambda: CountingRidge(LabelSets(range(4)), contrast="space"),
}


def fitted(name, X, Y, weight=None):
    Y = [str(row) for row in Y] if name == "dirac" else Y
    return LEARNERS[name]().fit(X, Y, weight)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("seed", range(3))
def test_a_row_written_twice_chooses_as_a_row_of_weight_two(name, seed):
    X, Y, times = label_rows(seed)
    weighted = fitted(name, X, Y, times.astype(float))
    rows = np.repeat(np.arange(len(X)), times)
    np.random.default_rng(seed).shuffle(rows)
    written = fitted(name, X[rows], Y[rows])
    assert_allclose(risks(written), risks(weighted), atol=1e-9)
    assert_allclose(
        [trial.get("alpha") for trial in written.search_.trials],
        [trial.get("alpha") for trial in weighted.search_.trials],
        rtol=1e-9,
    )
    new = np.random.default_rng(9).standard_normal((30, 2))
    assert np.mean(np.asarray(written.predict(new)) != np.asarray(weighted.predict(new))) < 0.01


@pytest.mark.parametrize("name", LEARNERS)
def test_a_row_of_weight_zero_is_none(name):
    X, Y, _ = label_rows(0)
    weight = np.tile([0.0, 1.0, 1.0], 14)[:40]
    with_zeros, without = fitted(name, X, Y, weight), fitted(name, X[weight > 0], Y[weight > 0])
    if name != "output kernel":  # outputs of rows without weight stay among its candidates
        assert_allclose(risks(with_zeros), risks(without), atol=1e-9)
    best = [model.search_.best.get("alpha") for model in (with_zeros, without)]
    assert_allclose(*best, rtol=1e-9)


def test_copies_make_no_choice_too_bold():
    """Left out alone, a copy is predicted by its twin: following every row looks best."""
    X, Y, _ = label_rows(1, n=80)
    once = ConditionalRiskMinimizer(LabelSets(range(4)), "hamming", smoother="kernel_ridge").fit(
        X, Y
    )
    twice = ConditionalRiskMinimizer(LabelSets(range(4)), "hamming", smoother="kernel_ridge").fit(
        *[np.tile(Z, (2, 1)) for Z in (X, Y)]
    )
    alone = ConditionalRiskMinimizer(LabelSets(range(4)), "hamming", smoother="kernel_ridge")
    alone.fit(np.tile(X, (2, 1)), np.tile(Y, (2, 1)), groups=np.arange(160))
    assert_allclose(twice.alpha_, 2 * once.alpha_, rtol=1e-9)
    assert_allclose(min(risks(twice)), min(risks(once)))
    assert min(risks(alone)) < 0.6 * min(risks(once))  # groups that are given are taken
    assert alone.alpha_ < twice.alpha_


def test_what_is_left_out_together():
    X, y = np.array([[0.0], [1.0], [0.0], [3.0]]), np.array([[1], [1], [1], [2]])
    assert group_numbers(None, y, None, X).tolist() == [0, 1, 0, 2]
    assert group_numbers(None, y, None) is None
    assert group_numbers(None, y[:2], None, X[:2]) is None
    assert group_numbers(None, y, [0, 0, 1, 1], X).tolist() == [0, 0, 1, 1]
    assert group_numbers(2, y, None, X).tolist() == [0, 0, 1, 1]
    assert twins(sparse.csr_array(X), y).tolist() == [0, 1, 0, 2]
    assert twins(np.zeros((3, 1)), np.zeros(3)) is None  # nothing would be left


@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("name", ["classes", "counting"])
def test_few_inputs_that_come_again_are_no_copies(name, noise):
    """Left out with all its equals, the common output of an input could never be predicted."""
    rng = np.random.default_rng(0)
    kind = rng.choice(3, 300, p=[0.6, 0.3, 0.1])
    y = np.where(rng.random(300) < noise, rng.integers(0, 3, 300), kind)
    model = (
        CountingRidge() if name == "counting" else ConditionalRiskMinimizer(smoother="kernel_ridge")
    )
    model.fit(np.eye(3)[kind], y)
    assert model.search_.best["risk"] < 0.1
    assert model.predict(np.eye(3)).tolist() == [0, 1, 2]


def test_rows_that_are_all_the_same():
    model = ConditionalRiskMinimizer(smoother="kernel_ridge").fit(np.zeros((6, 2)), ["a"] * 6)
    assert model.predict([[1.0, 1.0]]).tolist() == ["a"]
    assert CountingRidge().fit(np.zeros((6, 2)), ["a"] * 5 + ["b"]).predict([[0.0, 0.0]])[0] == "a"


def test_left_out_risk_is_that_of_the_search():
    X, Y, times = label_rows(2)
    X, Y = X.repeat(times, axis=0), Y.repeat(times, axis=0)
    model = ConditionalRiskMinimizer(LabelSets(range(4)), "hamming", smoother="kernel_ridge").fit(
        X, Y
    )
    assert_allclose(left_out_risk(model), model.search_.best["risk"])


def test_sequences_written_twice():
    rng = np.random.default_rng(0)
    X = [rng.standard_normal((length, 2)) for length in rng.integers(1, 4, 20)]
    y = [["ab"[int(x[0] + rng.standard_normal() > 0)] for x in rows] for rows in X]
    once = ConditionalRiskMinimizer(smoother="kernel_ridge").fit(X, y)
    twice = ConditionalRiskMinimizer(smoother="kernel_ridge").fit(X + X, y + y)
    assert_allclose(risks(twice), risks(once), atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_single_rows_among_groups_are_left_out_as_groups_are(seed, intercept):
    """Rows of their own go by the diagonal, the others by a block: as refitting does."""
    rng = np.random.default_rng(seed)
    X, T = rng.standard_normal((12, 2)), rng.standard_normal((12, 3))
    groups = rng.integers(0, 9, 12)
    groups[:2] = 0, 1
    model = KernelRidge(RBF(0.5), alpha=0.3, fit_intercept=intercept, solver="spectral").fit(X, T)
    left = model.loo(groups)
    for group in np.unique(groups):
        out = groups == group
        other = KernelRidge(RBF(0.5), alpha=0.3, fit_intercept=intercept).fit(X[~out], T[~out])
        assert_allclose(left[out], other.predict(X[out]), atol=1e-8)


def test_groups_of_a_sample_of_rows_are_left_out_exactly():
    """Landmarks judge alphas by some rows; twins of these among the other rows are left out too."""
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((60, 2)), rng.standard_normal((60, 2))
    groups = np.concatenate([np.arange(45), rng.integers(0, 45, 15)])
    model = NystroemRidge(RBF(0.5), alpha=0.5, n_landmarks=20, random_state=0).fit(X, T)
    whole = next(model.loo_path([0.5], groups))
    model.left_out_rows_ = np.sort(rng.permutation(60)[:25])
    assert_allclose(next(model.loo_path([0.5], groups)), whole[model.left_out_rows_], atol=1e-9)


def test_neighbors_are_not_twins():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    y = np.argsort(np.argsort(rng.standard_normal((40, 4)) + X[:, :1] * np.arange(4), axis=1)) + 1
    once = NeighborLabelRanker(n_neighbors=[1, 4, 16]).fit(X, y)
    twice = NeighborLabelRanker(n_neighbors=[2, 8, 32]).fit(np.tile(X, (2, 1)), np.tile(y, (2, 1)))
    assert_allclose(risks(twice), risks(once), atol=1e-9)
    assert twice.n_neighbors_ == 2 * once.n_neighbors_
