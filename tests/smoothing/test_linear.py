# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge

from skstruct import ConditionalRiskMinimizer
from skstruct.smoothing import KernelRidge, LinearRidge, LinearSmoother, Penalties, linear
from skstruct.smoothing.systems.normal_equations import COLUMNS_AT_ONCE
from skstruct.spaces import LabelSets
from skstruct.testing import check_smoother


def case(seed, n=40, p=60, q=3):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, p), density=0.1, rng=rng, format="csr")
    return X, rng.standard_normal((n, q)) + rng.standard_normal(q), rng.random(n) + 0.1


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6), st.sampled_from([0.01, 1.0, 30.0]), st.booleans(), st.booleans(),
    st.booleans(),
)  # fmt: skip
def test_is_the_ridge_regression_of_scikit_learn(seed, alpha, intercept, dense, weighted):
    X, T, weight = case(seed)
    X, weight = X.toarray() if dense else X, weight if weighted else None
    model = LinearRidge(alpha, fit_intercept=intercept, tol=1e-10).fit(X, T, weight)
    reference = Ridge(alpha, fit_intercept=intercept, solver="cholesky")
    reference.fit(X.toarray() if sparse.issparse(X) else X, T, weight)
    np.testing.assert_allclose(model.coef_, reference.coef_, atol=1e-7)
    np.testing.assert_allclose(model.intercept_, reference.intercept_, atol=1e-7)


def test_whole_weights_are_repetitions():
    X, T, _ = case(0)
    times = np.arange(len(T)) % 4
    weighted = LinearRidge(tol=1e-10).fit(X, T, times).predict(X)
    repeated = LinearRidge(tol=1e-10).fit(X[np.repeat(np.arange(len(T)), times)],
                                          np.repeat(T, times, axis=0))  # fmt: skip
    np.testing.assert_allclose(weighted, repeated.predict(X), atol=1e-8)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_targets_do_not_know_of_each_other(n_jobs):
    X, T, _ = case(1, q=2 * COLUMNS_AT_ONCE + 5)
    T[:, 1], T[:, -1] = 0.0, 1.0  # solved before the first step
    together = LinearRidge(tol=1e-10, n_jobs=n_jobs).fit(X, T).predict(X)
    for j in (0, 1, COLUMNS_AT_ONCE, T.shape[1] - 1):
        alone = LinearRidge(tol=1e-10).fit(X, T[:, j]).predict(X)
        assert alone.shape == (X.shape[0],)
        np.testing.assert_allclose(together[:, j], alone, atol=1e-7)
    np.testing.assert_allclose(together[:, -1], 1.0, atol=1e-12)


@pytest.mark.parametrize(
    "weight", [None, [1.0], [0.0, 2.0, 0.0]], ids=["one", "weight", "of three"]
)
@pytest.mark.parametrize("smoother", [LinearRidge("auto"), LinearRidge([1.0, 2.0]), "auto"])
def test_one_row_that_counts_is_what_is_predicted(smoother, weight):
    rows = 1 if weight is None else len(weight)
    X, Y = np.eye(3)[:rows], np.array([[1, 0], [0, 1], [1, 1]])[:rows]
    model = ConditionalRiskMinimizer(LabelSets(range(2)), smoother=smoother).fit(X, Y, weight)
    np.testing.assert_array_equal(
        model.predict(np.eye(3)), np.tile(Y[np.argmax(weight or [1])], (3, 1))
    )


def test_nothing_is_left_out_of_one_row():
    with pytest.raises(ValueError, match="All rows are in one group"):
        next(LinearRidge(1.0).fit(np.ones((1, 2)), np.ones((1, 3))).loo_path([1.0]))


def test_single_precision_is_close():
    X, T, _ = case(2, n=300)
    single = LinearRidge(dtype=np.float32).fit(X, T)
    assert single.coef_.dtype == single.predict(X).dtype == np.float32
    np.testing.assert_allclose(single.predict(X), LinearRidge().fit(X, T).predict(X), atol=1e-3)


def test_a_looser_tolerance_ends_earlier_and_too_few_steps_are_reported():
    X, T, _ = case(3)
    assert LinearRidge(0.1, tol=0.1).fit(X, T).n_iter_ < LinearRidge(0.1).fit(X, T).n_iter_
    with pytest.warns(ConvergenceWarning, match="after 2 steps"):
        assert LinearRidge(0.1, max_iter=2).fit(X, T).n_iter_ == 2


@pytest.mark.parametrize("alpha", [0.0, -1.0, np.nan])
def test_penalties_that_are_none(alpha):
    with pytest.raises(ValueError, match="alpha must be positive"):
        LinearRidge(alpha).fit([[0.0], [1.0]], [0.0, 1.0])


def test_weights_that_are_all_zero():
    with pytest.raises(ValueError, match="ample weights"):
        LinearRidge().fit([[0.0], [1.0]], [0.0, 1.0], [0.0, 0.0])


def test_decides_as_kernel_ridge_regression_with_a_linear_kernel():
    X, T, _ = case(4, n=60, p=20)
    Y = (T > 0.5).astype(int)
    smoothers = LinearRidge(0.5, tol=1e-10), KernelRidge("linear", 0.5)
    first, second = (ConditionalRiskMinimizer(smoother=s).fit(X, Y).predict(X) for s in smoothers)
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e8])
def test_columns_far_from_zero_keep_their_digits(offset):
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((50, 4)), rng.standard_normal((50, 2))
    X[:, 0] += offset
    weight = rng.integers(1, 4, 50).astype(float)
    ours = LinearRidge(1.0, tol=1e-10).fit(X, T, weight).predict(X)
    np.testing.assert_allclose(ours, Ridge(1.0).fit(X, T, weight).predict(X), atol=1e-6)


# ------------------------------------------------------------------ a linear smoother
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_keeps_what_a_linear_smoother_promises(dense, intercept):
    X, T, _ = case(4, n=25)
    model = LinearRidge(0.3, fit_intercept=intercept, tol=1e-12)
    assert isinstance(model, LinearSmoother)
    check_smoother(model, X.toarray() if dense else X, T)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.booleans())
def test_weights_and_left_out_means_are_those_of_the_kernel(seed, intercept, dense, weighted):
    X, T, weight = case(seed, n=20, p=30)
    X, weight = X.toarray() + 5.0 if dense else X, weight if weighted else None
    groups = np.random.default_rng(seed).integers(0, 6, size=20)
    pair = (
        LinearRidge(0.7, fit_intercept=intercept, tol=1e-12),
        KernelRidge("linear", 0.7, fit_intercept=intercept, solver="spectral"),
    )
    ours, reference = (model.fit(X, T, weight) for model in pair)
    close = {"atol": 1e-6, "rtol": 1e-6}
    np.testing.assert_allclose(ours.weights(X), reference.weights(X), **close)
    np.testing.assert_allclose(ours.loo(), reference.loo(), **close)
    np.testing.assert_allclose(ours.loo(groups), reference.loo(groups), **close)
    for changed in (lambda m: m.with_targets(T[:, ::-1]), lambda m: m.with_alpha(2.0)):
        np.testing.assert_allclose(changed(ours).predict(X), changed(reference).predict(X), **close)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("few", [False, True])
def test_a_path_is_that_of_models_without_the_rows(few, grouped, monkeypatch):
    monkeypatch.setattr(linear, "FEWEST", 10**6 if few else 5)
    monkeypatch.setattr(linear, "LOOSE", 1e-12)
    monkeypatch.setattr(linear, "PATH_DTYPE", np.float64)
    X, T, weight = case(5, n=100)
    groups = np.arange(100) // 2 if grouped else None
    model = LinearRidge(np.inf, tol=1e-12).fit(X, T, weight)
    np.testing.assert_allclose(model.predict(X[:2]), np.tile(weight @ T / weight.sum(), (2, 1)))
    judged = model.left_out_rows_
    assert (judged is None) == few
    judged = np.arange(100) if few else judged
    assert len(judged) == (100 if few else 20)
    folds = model._folds(groups)
    assert len(folds) == (5 if few else 1)
    np.testing.assert_array_equal(np.sort(np.concatenate([here for _, here in folds])),
                                  np.arange(len(judged)))  # fmt: skip
    for alpha, left in zip([10.0, 0.1], model.loo_path([10.0, 0.1], groups)):
        for rows, here in folds:
            assert not np.isin(rows, judged[here]).any()
            if grouped:
                assert not np.isin(groups[rows], groups[judged[here]]).any()
            alone = LinearRidge(alpha, tol=1e-12).fit(X[rows], T[rows], weight[rows])
            np.testing.assert_allclose(left[here], alone.predict(X[judged[here]]), atol=1e-7)


def test_few_groups_are_left_out_in_turn(monkeypatch):
    monkeypatch.setattr(linear, "FEWEST", 5)
    X, T, weight = case(6, n=100)
    groups = np.arange(100) // 34
    folds = LinearRidge().fit(X, T, weight)._folds(groups)
    assert len(folds) == 3
    for rows, here in folds:
        judged = LinearRidge().fit(X, T, weight).left_out_rows_[here]
        assert set(groups[rows]).isdisjoint(groups[judged])


def test_penalties_worth_trying():
    X, T, weight = case(7)
    dense = X.toarray() - np.average(X.toarray(), axis=0, weights=weight)
    values = np.linalg.eigvalsh((weight[:, None] * dense).T @ dense)
    top, bound = Penalties.of(LinearRidge().fit(X, T, weight)).bounds()
    assert top == pytest.approx(min(10.0 * values[-1], values.sum()), rel=0.01)
    assert bound == pytest.approx(0.5e-7 * values.sum())
    system = KernelRidge("linear", solver="spectral").fit(X, T, weight)
    np.testing.assert_allclose(Penalties.of(system).bounds(), (values.sum(), 0.0), atol=1e-9)
    flat = LinearRidge().fit(np.ones((3, 2)), np.arange(3.0))
    assert Penalties.of(flat).bounds() == (0.0, 0.0)


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("dense", [False, True])
def test_a_path_is_found_in_single_precision_whatever_the_scale(size, dense, monkeypatch):
    monkeypatch.setattr(linear, "FEWEST", 5)
    X, T, weight = case(8, n=100)
    X = (X.toarray() + 3.0 if dense else X) * size
    model = LinearRidge(np.inf, tol=1e-10).fit(X, T, weight)
    [(rows, here)] = model._folds(None)
    for alpha, left in zip([3.0, 0.3], model.loo_path(np.array([3.0, 0.3]) * size**2)):
        alone = LinearRidge(alpha * size**2, tol=1e-10).fit(X[rows], T[rows], weight[rows])
        expected = alone.predict(X[model.left_out_rows_[here]])
        assert np.abs(left[here] - expected).max() < 0.05 * np.abs(expected).max()
