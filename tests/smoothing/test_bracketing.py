# SPDX-License-Identifier: BSD-3-Clause
"""Few penalties of a grid, columns of inverses, and samples that penalties are compared on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.linalg import cholesky
from sklearn.linear_model import LogisticRegression

from skstruct.kernels import RBF
from skstruct.smoothing import KernelRidge, NystroemRidge, Penalties, penalties
from skstruct.smoothing.bracketing import Bracketing, Trials
from skstruct.smoothing.logistic import LabelLogistic
from skstruct.smoothing.nystroem import system
from skstruct.smoothing.penalties import OnSample, PenaltyPath
from skstruct.smoothing.systems import CholeskySystem, triangles
from skstruct.smoothing.systems.triangles import InverseColumns

RNG = np.random.default_rng(0)
X = RNG.standard_normal((70, 3))
T = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] > 0]) + 0.3 * RNG.standard_normal((70, 2))


@given(
    size=st.integers(1, 40), valley=st.floats(-2, 42), steep=st.floats(0.1, 9), flat=st.booleans()
)
@settings(max_examples=200, deadline=None)
def test_one_valley_is_found_as_by_all_penalties(size, valley, steep, flat):
    grid = np.logspace(0, -7, size)
    places = np.arange(size)
    errors = np.where(places < valley, valley - places, steep * (places - valley))
    if flat:  # far away nothing changes any more, as near the mean; the valley is within reach
        errors = np.minimum(errors, 30.0 + 30.0 * steep)
    found, every = Bracketing(grid), Trials(grid)
    for tried in (found, every):
        for alpha in tried:
            tried.record(errors[np.searchsorted(-grid, -alpha)])
    assert found.best == every.best
    assert len(every.errors) == size
    assert len(found.errors) <= 6 + size // 3


def test_what_is_not_a_number_is_the_worst():
    search = Bracketing([3.0, 2.0, 1.0])
    for alpha in search:
        search.record(np.nan if alpha < 2.5 else 1.0)
    assert search.best == 3.0


@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), step=st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_columns_of_an_inverse(seed, n, step):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    M = A @ A.T + n * np.eye(n)
    L = np.asfortranarray(cholesky(M, lower=True) + np.triu(rng.standard_normal((n, n)), 1))
    rows = rng.permutation(n)[: rng.integers(1, n + 1)]
    before, triangles.STEP = triangles.STEP, step
    try:
        first, H = InverseColumns(L).of(rows)
        K = CholeskySystem().fit(np.asfortranarray(M - np.eye(n)), 1.0, np.ones(n))
        block = K.residual_block(rows)
    finally:
        triangles.STEP = before
    whole = np.linalg.inv(np.tril(L))[:, rows]
    assert not whole[:first].any()
    assert_allclose(H, whole[first:], atol=1e-12)
    inverse = np.linalg.inv(M)
    inverse -= np.outer(inverse.sum(axis=0), inverse.sum(axis=0)) / inverse.sum()
    assert_allclose(block, inverse[np.ix_(rows, rows)], atol=1e-12)


@pytest.mark.parametrize("groups", [None, np.arange(70) // 2, np.arange(70) % 3])
def test_landmarks_leave_rows_out_alike_by_factors_and_by_eigenvectors(groups, monkeypatch):
    ridge = NystroemRidge(RBF(0.4), 0.1, n_landmarks=25, random_state=0).fit(X, T)
    alphas, paths = [np.inf, 3.0, 0.1, 1e-3], []
    for dear in (0.0, np.inf):
        monkeypatch.setattr(system, "DECOMPOSITION", dear)
        paths.append(list(ridge.loo_path(alphas, groups)))
    for by_eigenvectors, by_factors in zip(*paths):
        assert_allclose(by_factors, by_eigenvectors, atol=1e-9)
    assert_allclose(Penalties.of(ridge).bounds()[0], ridge.system_.decomposed[0].sum())


@pytest.mark.parametrize("weighted", [False, True])
def test_a_sample_takes_the_part_of_all_rows(weighted, monkeypatch):
    monkeypatch.setattr(penalties, "SAMPLE", (20, 30))
    weight = RNG.uniform(0.5, 2.0, 70) if weighted else None
    ridge = KernelRidge(RBF(0.4), 1.0)
    sample = OnSample(ridge).fit(X, T, weight)
    rows = sample.left_out_rows_
    assert 15 <= len(rows) <= 35
    alone = KernelRidge(RBF(0.4), 0.2).fit(
        X[rows], T[rows], None if weight is None else weight[rows]
    )
    groups = np.arange(70) // 4
    assert_allclose(next(sample.loo_path([0.2], groups)), alone.loo(groups[rows]), atol=1e-9)
    other = sample.with_targets(T[:, ::-1])
    assert_allclose(next(other.loo_path([0.2])), alone.loo()[:, ::-1], atol=1e-9)
    whole = KernelRidge(RBF(0.4), 0.2).fit(X, T, weight)
    assert_allclose(sample.with_alpha(0.2).predict(X), whole.predict(X), atol=1e-9)
    assert Penalties.of(sample).bounds()[0] > 0


def test_penalties_that_are_given_are_all_tried():
    path = PenaltyPath(KernelRidge(RBF(0.4), "auto"), X, T)
    errors = {a: np.square(left - T).sum() for a, left in path.means([10.0, 0.03, 1.0])}
    assert path.best([10.0, 0.03, 1.0]) == min(errors, key=errors.get)
    by_all = {a: np.square(left - T).sum() for a, left in path.means()}
    assert path.best() == min(by_all, key=by_all.get)


@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_labels_together_are_as_one_by_one(as_sparse, weighted):
    labels = (T + 0.5 * RNG.standard_normal(T.shape) > 0.3).astype(int)
    weight = RNG.uniform(0.5, 2.0, 70) if weighted else None
    inputs = sparse.csr_array(X) if as_sparse else X
    together = LabelLogistic(0.5, tol=1e-7, max_iter=1000).fit(inputs, labels, weight)
    for j in range(2):
        alone = LogisticRegression(C=0.5, tol=1e-8, max_iter=1000).fit(X, labels[:, j], weight)
        chances = together.predict_proba(inputs)[:, j]
        assert_allclose(chances, alone.predict_proba(X)[:, 1], atol=1e-4)
        assert_allclose(together.predict(inputs)[:, j], alone.predict(X))
    classes = labels @ [1, 2]
    single = LabelLogistic().fit(inputs, classes, weight)
    alone = LogisticRegression().fit(X, classes, weight)
    assert_allclose(single.predict_proba(inputs), alone.predict_proba(X), atol=1e-3)
    assert (single.predict(inputs) == alone.predict(X)).all()
