"""Ridge regression of targets with gaps, against refits to the rows that know each target."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstruct.kernels import RBF
from skstruct.smoothing import KernelRidge, Scaled
from skstruct.smoothing.masked_ridge import MaskedRidge


def with_gaps(seed, n=30, q=4, share=0.5):
    rng = np.random.default_rng(seed)
    X, T = rng.normal(size=(n, 2)), rng.normal(size=(n, q))
    T[rng.random(T.shape) < share] = np.nan
    T[:3] = rng.normal(size=(3, q))  # every target is known somewhere
    return X, T, rng.normal(size=(5, 2)), rng


def refit(X, t, weight, alpha, at, fit_intercept):
    """Plain kernel ridge regression of one target on the rows that know it."""
    known = ~np.isnan(t)
    model = KernelRidge(RBF(0.5), alpha, fit_intercept=fit_intercept)
    return model.fit(X[known], t[known], weight[known]).predict(at)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    share=st.sampled_from([0.1, 0.5, 0.8]),
    alpha=st.sampled_from([0.01, 0.3, 10.0]),
    fit_intercept=st.booleans(),
    method=st.sampled_from(["patterns", "fixed_point"]),
    weighted=st.booleans(),
)
def test_each_target_is_that_of_a_refit(seed, share, alpha, fit_intercept, method, weighted):
    X, T, at, rng = with_gaps(seed, share=share)
    weight = rng.uniform(0.2, 2.0, len(X)) if weighted else np.ones(len(X))
    model = MaskedRidge(RBF(0.5), alpha, fit_intercept=fit_intercept, method=method, tol=1e-11)
    found = model.fit(X, T, weight).predict(at)
    for j, t in enumerate(T.T):
        expected = refit(X, t, weight, alpha, at, fit_intercept)
        assert found[:, j] == pytest.approx(expected, abs=1e-6)


@given(seed=st.integers(0, 10**6), alpha=st.sampled_from([0.05, 1.0]))
@settings(max_examples=15)
def test_left_out_means_are_those_of_refits_without_the_fold(seed, alpha):
    X, T, _, rng = with_gaps(seed)
    groups = rng.integers(12, size=len(X))
    model = MaskedRidge(RBF(0.5), alpha).fit(X, T)
    left, folds = model.loo(groups), model._folds(np.arange(len(X)), groups)
    assert all(len(set(folds[groups == g])) == 1 for g in set(groups))
    for k in range(folds.max() + 1):
        others = folds != k
        for j in range(T.shape[1]):
            t = np.where(others, T[:, j], np.nan)
            if (~np.isnan(t)).sum() > 1:
                expected = refit(X, t, np.ones(len(X)), alpha, X[~others], True)
                assert left[~others, j] == pytest.approx(expected, abs=2e-3)


def test_convergence_is_shown_and_warned_of():
    X, T, _, _ = with_gaps(0, n=60, share=0.5)
    model = MaskedRidge(RBF(0.5), 0.1, method="fixed_point").fit(X, T)
    assert model.residuals_[-1] <= model.tol < model.residuals_[0]
    with pytest.warns(UserWarning, match="after 2 iterations the relative residual"):
        MaskedRidge(RBF(5.0), 1e-6, method="fixed_point", max_iter=2).fit(X, T)


def test_the_fixed_point_is_that_of_filling_by_own_means():
    """Filled with its own means, an ordinary regression of all rows gives these means again."""
    X, T, at, _ = with_gaps(3)
    model = MaskedRidge(RBF(0.5), 0.3, tol=1e-12, method="fixed_point").fit(X, T)
    filled = np.where(np.isnan(T), model.predict(X), T)
    assert KernelRidge(RBF(0.5), 0.3).fit(X, filled).predict(at) == pytest.approx(
        model.predict(at), abs=1e-7
    )


def test_other_targets_and_penalties_are_those_of_new_fits():
    X, T, at, rng = with_gaps(1)
    other = np.where(rng.random(T.shape) < 0.3, np.nan, rng.normal(size=T.shape))
    model = MaskedRidge(RBF(0.5), 0.3).fit(X, T)
    fresh = MaskedRidge(RBF(0.5), 0.3).fit(X, other)
    assert model.with_targets(other).predict(at) == pytest.approx(fresh.predict(at), abs=1e-6)
    fresh = MaskedRidge(RBF(0.5), 2.0).fit(X, T)
    assert model.with_alpha(2.0).predict(at) == pytest.approx(fresh.predict(at), abs=1e-6)


def test_a_penalty_is_chosen_by_left_out_known_targets():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (120, 1))
    T = np.hstack([np.sin(X), np.cos(X)]) + 0.1 * rng.normal(size=(120, 2))
    T[rng.random(T.shape) < 0.5] = np.nan
    model = MaskedRidge("rbf").fit(X, T)
    at = np.linspace(-2.5, 2.5, 30)[:, None]
    assert model.predict(at) == pytest.approx(np.hstack([np.sin(at), np.cos(at)]), abs=0.2)


@pytest.mark.parametrize("kernel", ["linear", "laplacian"])
def test_landmarks_stand_for_the_kernel(kernel):
    X, T, at, _ = with_gaps(2, n=80)
    exact = MaskedRidge(kernel, 0.5).fit(X, T).predict(at)
    few = MaskedRidge(kernel, 0.5, n_landmarks=60, random_state=0).fit(X, T)
    assert few.predict(at) == pytest.approx(exact, abs=0.2)


def test_sparse_inputs_single_targets_and_scales():
    from scipy import sparse

    X, T, at, _ = with_gaps(4)
    dense = MaskedRidge("linear", 0.5).fit(X, T[:, 0])
    assert dense.predict(at).shape == (5,)
    thin = MaskedRidge("linear", 0.5).fit(sparse.csr_array(X), T[:, 0])
    assert thin.predict(sparse.csr_array(at)) == pytest.approx(dense.predict(at), abs=1e-6)
    scaled = Scaled(MaskedRidge(RBF(0.5), 0.5)).fit(X * [1.0, 1000.0], T)
    assert np.isfinite(scaled.predict(at)).all()


def test_a_precomputed_kernel_and_unknown_methods_are_refused():
    X, T, _, _ = with_gaps(5)
    with pytest.raises(ValueError, match="precomputed kernel has no features"):
        MaskedRidge("precomputed", 1.0).fit(X @ X.T, T)
    with pytest.raises(ValueError, match="method is"):
        MaskedRidge(method="guess").fit(X, T)
