# SPDX-License-Identifier: BSD-3-Clause
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import LinAlgError
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge as Reference
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from skstruct import ConditionalRiskMinimizer
from skstruct.kernels import RBF, Polynomial, resolve_kernel
from skstruct.smoothing import AdditiveKernelRidge, KernelRidge
from skstruct.smoothing.systems import CholeskySystem, SpectralSystem
from skstruct.testing import check_smoother, check_system

RNG = np.random.default_rng(0)
X, T, X_NEW = (
    RNG.standard_normal((25, 3)),
    RNG.standard_normal((25, 4)),
    RNG.standard_normal((7, 3)),
)
GROUPS = np.arange(25) % 6


@pytest.mark.parametrize("system", [CholeskySystem(), SpectralSystem()])
def test_systems(system):
    check_system(system)


@pytest.mark.parametrize("solver", ["cholesky", "spectral"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_smoother(solver, fit_intercept):
    model = KernelRidge(RBF(0.2), alpha=0.3, fit_intercept=fit_intercept, solver=solver)
    check_smoother(model, X, T)


@pytest.mark.parametrize("solver", ["cholesky", "spectral"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_leaving_out_with_weights_is_refitting(solver, fit_intercept):
    weight = RNG.random(25) + 0.1
    model = KernelRidge(RBF(0.2), alpha=0.3, fit_intercept=fit_intercept, solver=solver)
    model.fit(X, T, weight)
    for groups in (None, GROUPS):
        left = model.loo(groups)
        for g in range(6 if groups is not None else 25):
            out = (g == GROUPS) if groups is not None else np.arange(25) == g
            refitted = clone(model).fit(X[~out], T[~out], weight[~out])
            np.testing.assert_allclose(left[out], refitted.predict(X[out]), atol=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_integer_weights_are_repetitions(fit_intercept):
    weight = RNG.integers(0, 4, 25)
    model = KernelRidge(RBF(0.2), alpha=0.3, fit_intercept=fit_intercept)
    weighted = clone(model).fit(X, T, weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(T, weight, axis=0))
    np.testing.assert_allclose(weighted.predict(X_NEW), repeated.predict(X_NEW), atol=1e-8)
    absent = weight == 0
    np.testing.assert_allclose(weighted.loo()[absent], weighted.predict(X[absent]), atol=1e-8)


def test_path_is_one_fit_per_alpha():
    alphas = [1e-3, 0.1, 10.0]
    model = KernelRidge(RBF(0.2), alpha=1.0, solver="spectral").fit(X, T)
    for groups in (None, GROUPS):
        for alpha, left in zip(alphas, model.loo_path(alphas, groups)):
            single = KernelRidge(RBF(0.2), alpha=alpha).fit(X, T)
            np.testing.assert_allclose(left, single.loo(groups), atol=1e-7)
            np.testing.assert_allclose(
                model.with_alpha(alpha).predict(X_NEW), single.predict(X_NEW), atol=1e-7
            )
    with pytest.raises(ValueError, match='needs solver="spectral"'):
        KernelRidge(RBF(0.2)).fit(X, T).with_alpha(2.0)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "laplacian", "sigmoid", "cosine"])
def test_against_scikit_learn(kernel):
    ours = KernelRidge(resolve_kernel(kernel, gamma=0.1), 0.7, fit_intercept=False).fit(X, T)
    theirs = Reference(alpha=0.7, kernel=kernel, gamma=0.1).fit(X, T)
    np.testing.assert_allclose(ours.predict(X_NEW), theirs.predict(X_NEW), atol=1e-8)


def test_callable_and_precomputed_kernels():
    named = KernelRidge(Polynomial(2, gamma=0.5, coef0=1), 0.7).fit(X, T)
    function = KernelRidge(lambda A, B: polynomial_kernel(A, B, degree=2, gamma=0.5), 0.7).fit(X, T)
    K = polynomial_kernel(X, degree=2, gamma=0.5)
    kept = K.copy()
    matrix = KernelRidge("precomputed", 0.7).fit(K, T)
    np.testing.assert_array_equal(K, kept)  # the user's array is not ours to overwrite
    expected = named.predict(X_NEW)
    np.testing.assert_allclose(function.predict(X_NEW), expected, atol=1e-9)
    K_new = polynomial_kernel(X_NEW, X, degree=2, gamma=0.5)
    np.testing.assert_allclose(matrix.predict(K_new), expected, atol=1e-9)
    np.testing.assert_allclose(matrix.weights(K_new), named.weights(X_NEW), atol=1e-9)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_sparse_inputs(kernel):
    A = sparse.random_array((30, 8), density=0.3, rng=np.random.default_rng(0)).tocsr()
    T = np.random.default_rng(1).standard_normal((30, 2))
    dense, thin = KernelRidge(kernel).fit(A.toarray(), T), KernelRidge(kernel).fit(A, T)
    np.testing.assert_allclose(thin.predict(A), dense.predict(A.toarray()), atol=1e-9)


def test_weights_sum_to_one_with_intercept():
    model = KernelRidge(alpha=0.1).fit(X, T)
    np.testing.assert_allclose(model.weights(X_NEW).sum(axis=1), 1.0)
    assert (model.weights(X_NEW) < 0).any()


def test_a_shift_of_all_inputs_does_not_matter():
    """Squared distances lose all digits at an offset of 1e6 unless inputs are centred first."""
    narrow = 1e-3 * X
    model = KernelRidge(alpha=0.1).fit(narrow + 1e6, T)
    near = KernelRidge(alpha=0.1).fit(narrow, T)
    np.testing.assert_allclose(model.predict(narrow + 1e6), near.predict(narrow), atol=1e-4)


def test_constant_and_duplicate_rows():
    constant = KernelRidge(alpha=0.5).fit(np.ones((5, 2)), np.arange(5.0))
    np.testing.assert_allclose(constant.predict(np.ones((2, 2))), 2.0)
    twice = KernelRidge(alpha=1e-10).fit(np.vstack([X, X]), np.vstack([T, -T]))
    np.testing.assert_allclose(twice.predict(X), 0.0, atol=1e-4)


def test_one_row():
    assert KernelRidge().fit([[1.0, 2.0]], [3.0]).predict([[5.0, 6.0]]).tolist() == [3.0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"alpha": 0.0}, "alpha must be positive; got 0.0"),
        ({"alpha": -1.0}, "alpha must be positive"),
        ({"alpha": np.nan}, "alpha must be positive"),
        ({"kernel": RBF(-2.0)}, "gamma must be positive; got -2.0"),
        ({"kernel": "gauss"}, "Unknown kernel 'gauss'"),
        ({"kernel": 3}, "a name, a kernel object or a callable; got 3"),
        (
            {"kernel": RBF("auto")},
            "chosen by a learner; here gamma is one number or None; got 'auto'",
        ),
        ({"solver": "lu"}, 'solver is "auto"'),
    ],
)
def test_bad_parameters(changes, message):
    with pytest.raises(ValueError, match=message):
        KernelRidge(**changes).fit(X, T)


def test_bad_matrices():
    K = rbf_kernel(X)
    K[3, 1] += 0.5
    with pytest.raises(ValueError, match=r"not symmetric: K\[3, 1\]"):
        KernelRidge("precomputed").fit(K, T)
    with pytest.raises(ValueError, match="square"):
        KernelRidge("precomputed").fit(np.ones((25, 24)), T)
    indefinite = -np.eye(25)
    for solver in ("cholesky", "spectral"):
        with pytest.raises(LinAlgError, match="Use a larger alpha"):
            KernelRidge("precomputed", 0.5, solver=solver).fit(indefinite, T).predict(indefinite)
    with pytest.raises(ValueError, match="at least one non-zero"):
        KernelRidge().fit(X, T, np.zeros(25))
    with pytest.raises(ValueError, match="groups has shape"):
        KernelRidge().fit(X, T).loo(np.zeros(3))


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e150])
def test_any_scale_of_inputs(scale):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small = KernelRidge(alpha=0.1).fit(scale * X, T).predict(scale * X_NEW)
    np.testing.assert_allclose(small, KernelRidge(alpha=0.1).fit(X, T).predict(X_NEW), atol=1e-6)


# ------------------------------------------------------------------ the additive model
ROOT = RNG.standard_normal((4, 3))
S = ROOT @ ROOT.T  # rank three: one direction of labels is pure mean


def test_additive_model_is_the_joint_kernel():
    model = AdditiveKernelRidge(S, alpha=0.3, fit_intercept=False, kernel=RBF(0.2)).fit(X, T)
    K = rbf_kernel(X, gamma=0.2)
    coef = np.linalg.solve(np.kron(K, S) + 0.3 * np.eye(100), T.ravel()).reshape(25, 4)
    np.testing.assert_allclose(
        model.predict(X_NEW), rbf_kernel(X_NEW, X, gamma=0.2) @ coef @ S, atol=1e-9
    )


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_additive_leave_out_is_refitting(fit_intercept):
    model = AdditiveKernelRidge(S, alpha=0.3, fit_intercept=fit_intercept, kernel=RBF(0.2)).fit(
        X, T
    )
    for g, left in ((np.arange(25), model.loo()), (GROUPS, model.loo(GROUPS))):
        for k in np.unique(g):
            refitted = clone(model).fit(X[g != k], T[g != k])
            np.testing.assert_allclose(left[g == k], refitted.predict(X[g == k]), atol=1e-8)


def test_identity_label_kernel_changes_nothing():
    joint = AdditiveKernelRidge(np.eye(4), alpha=0.3).fit(X, T)
    plain = KernelRidge(alpha=0.3).fit(X, T)
    np.testing.assert_allclose(joint.predict(X_NEW), plain.predict(X_NEW), atol=1e-9)


def test_bad_label_kernels():
    star = np.array([[1, 1, 1], [1, 1, 0], [1, 0, 1]])  # A + I of a root with two children
    with pytest.raises(ValueError, match=r"lowest eigenvalue is -0\.4"):
        AdditiveKernelRidge(star).fit(X, T[:, :3])
    with pytest.raises(ValueError, match="not symmetric"):
        AdditiveKernelRidge([[1.0, 0.5], [0.0, 1.0]]).fit(X, T)
    with pytest.raises(ValueError, match=r"for 3 targets; got targets of shape \(25, 4\)"):
        AdditiveKernelRidge(np.eye(3)).fit(X, T)


@pytest.mark.parametrize("alpha", ["auto", [0.01, 1.0]])
def test_a_penalty_that_is_searched_needs_no_solver(alpha):
    """Alone of its kind, rows that are copies, and any others."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, 3)), rng.integers(0, 2, (30, 2))
    for rows in (range(30), [0, 0, 1, 1], [0, 0, 0], [0]):
        rows = list(rows)
        found = [
            ConditionalRiskMinimizer(smoother=KernelRidge(alpha=alpha, solver=solver))
            .fit(X[rows], Y[rows])
            for solver in ("auto", "spectral")
        ]  # fmt: skip
        assert found[0].alpha_ == found[1].alpha_
        np.testing.assert_array_equal(found[0].predict(X), found[1].predict(X))
