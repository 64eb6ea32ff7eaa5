"""Smoothers of targets with gaps, against refits and definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import LinearRegression

from skstruct.kernels import RBF
from skstruct.smoothing import Forest, Gaps, KernelRidge, NadarayaWatson, Neighbors, Scaled, Stacked
from skstruct.smoothing.base import column_means
from skstruct.smoothing.gaps import ByPattern, MaskedAverage
from skstruct.smoothing.logistic import LabelLogistic
from skstruct.smoothing.masked_ridge import MaskedRidge
from skstruct.smoothing.penalties import fit_and_leave_out, squared_error
from skstruct.smoothing.stack_weights import mean_without


def with_gaps(seed, n=24, q=3, share=0.4):
    rng = np.random.default_rng(seed)
    X, T = rng.normal(size=(n, 2)), rng.normal(size=(n, q))
    T[rng.random(T.shape) < share] = np.nan
    T[:4] = rng.normal(size=(4, q))
    return X, T, rng


@given(seed=st.integers(0, 10**6))
@settings(max_examples=15)
def test_patterns_are_refits_target_by_target(seed):
    X, T, rng = with_gaps(seed)
    at = rng.normal(size=(4, 2))
    found = ByPattern(LinearRegression()).fit(X, T).predict(at)
    for j, t in enumerate(T.T):
        known = ~np.isnan(t)
        expected = LinearRegression().fit(X[known], t[known]).predict(at)
        assert found[:, j] == pytest.approx(expected)


@given(seed=st.integers(0, 10**6), n_groups=st.sampled_from([6, 12, 24]))
@settings(max_examples=15)
def test_left_out_rows_of_a_linear_part_are_those_of_refits_known_or_not(seed, n_groups):
    X, T, rng = with_gaps(seed)
    T[np.isnan(T[:, 0])] = np.nan  # one pattern
    T[~np.isnan(T[:, 0])] = rng.normal(size=((~np.isnan(T[:, 0])).sum(), T.shape[1]))
    groups = rng.integers(n_groups, size=len(X))
    groups[:2] = [0, 1]
    left = ByPattern(KernelRidge(RBF(0.5), 0.3)).fit(X, T).loo(groups)
    known = ~np.isnan(T[:, 0])
    for g in set(groups):
        others = known & (groups != g)
        if others.sum() > 1:
            expected = KernelRidge(RBF(0.5), 0.3).fit(X[others], T[others]).predict(X[groups == g])
            assert left[groups == g] == pytest.approx(expected, abs=1e-7)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=15)
def test_averages_are_over_the_rows_that_know_a_target(seed):
    X, T, rng = with_gaps(seed)
    at = rng.normal(size=(4, 2))
    model = MaskedAverage(NadarayaWatson(RBF(0.5))).fit(X, T)
    weights = NadarayaWatson(RBF(0.5)).fit(X, np.zeros(len(X))).weights(at)
    known = ~np.isnan(T)
    expected = (weights @ np.where(known, T, 0.0)) / (weights @ known)
    assert model.predict(at) == pytest.approx(expected)
    # A local average of the rows that know a target is one fitted to these alone.
    rows = known[:, 0]
    alone = NadarayaWatson(RBF(0.5)).fit(X[rows], T[rows, 0]).predict(at)
    assert model.predict(at)[:, 0] == pytest.approx(alone)


def test_rows_without_a_neighbour_that_knows_get_the_mean():
    T = np.array([[1.0, np.nan], [2.0, np.nan], [3.0, 5.0], [4.0, 7.0]])
    model = MaskedAverage(Neighbors(1)).fit([[0.0], [1.0], [2.0], [3.0]], T)
    assert model.predict([[0.1]]).tolist() == [[1.0, 6.0]]


@pytest.mark.parametrize(
    ("smoother", "kind"),
    [
        (KernelRidge(), MaskedRidge),
        (Forest(10), MaskedAverage),
        (LinearRegression(), ByPattern),
        (LabelLogistic(), ByPattern),
        (MaskedRidge(), MaskedRidge),
    ],
)
def test_a_smoother_says_what_it_becomes(smoother, kind):
    assert isinstance(Gaps.of(smoother).taking(), kind)
    inside = Gaps.of(Scaled(smoother)).taking()
    assert isinstance(inside, Scaled)
    assert Gaps.of(inside).taken


def test_means_and_errors_leave_gaps_out():
    T = np.array([[1.0, np.nan], [3.0, 4.0], [np.nan, 8.0]])
    assert column_means(T, np.ones(3)).tolist() == [2.0, 6.0]
    without = mean_without(T, np.ones(3))
    assert without.tolist() == [[3.0, 6.0], [1.0, 8.0], [2.0, 4.0]]
    assert squared_error(np.zeros((3, 2)), T) == pytest.approx((1 + 9 + 16 + 64) / 3)


def test_a_stack_of_targets_with_gaps():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (150, 1))
    T = np.hstack([np.sin(X), np.abs(X)]) + 0.1 * rng.normal(size=(150, 2))
    T[rng.random(T.shape) < 0.4] = np.nan
    smoothers = KernelRidge("rbf", "auto"), Forest(20, random_state=0)
    parts = [Gaps.of(part).taking() for part in smoothers]
    stack = Stacked(parts).fit(X, T)
    assert stack.errors_[-1] <= stack.errors_.min() + 1e-12
    at = np.array([[1.0], [-2.0]])
    assert stack.predict(at) == pytest.approx(np.hstack([np.sin(at), np.abs(at)]), abs=0.25)


@pytest.mark.parametrize("smoother", [KernelRidge(alpha=0.5), Forest(10, random_state=0)])
def test_what_stands_under_a_gap_cannot_matter(smoother):
    """Targets are NaN there: nothing else can stand under them, and none becomes a mean."""
    X, T, _ = with_gaps(7)
    model = Gaps.of(smoother).taking().fit(X, T)
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model.loo()).all()


@pytest.mark.parametrize("smoother", [Scaled(MaskedRidge()), ByPattern(KernelRidge(alpha="auto"))])
def test_copies_of_rows_are_left_out_together_where_a_penalty_is_chosen(smoother):
    """Three copies of every row tell what the rows tell, with three times the penalty."""
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(60, 2))
    targets = (inputs + rng.normal(size=(60, 2)) > 0).astype(float)
    targets[rng.random(targets.shape) < 0.4] = np.nan
    x = rng.normal(size=(20, 2))
    once = fit_and_leave_out(clone(smoother), inputs, targets, groups=np.arange(60))[0]
    X, T, groups = np.tile(inputs, (3, 1)), np.tile(targets, (3, 1)), np.tile(np.arange(60), 3)
    copied = fit_and_leave_out(clone(smoother), X, T, groups=groups)[0]
    assert_allclose(copied.predict(x), once.predict(x), atol=1e-4)
