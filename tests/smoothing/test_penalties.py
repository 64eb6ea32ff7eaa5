# SPDX-License-Identifier: BSD-3-Clause
"""Penalties chosen on few rows, rows left out by number, and few combinations of many targets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone

from skstruct.kernels import RBF
from skstruct.smoothing import (
    Forest,
    KernelRidge,
    LeavingOut,
    NystroemRidge,
    Penalties,
    Scaled,
    Stacked,
)
from skstruct.smoothing.kernel_ridge import PenaltiesOfKernelRidge
from skstruct.smoothing.penalties import PenaltyPath, fit_and_leave_out
from skstruct.smoothing.projections import FEW, few_targets
from skstruct.streaming import ArraySource
from skstruct.streaming.blocks import Block

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3)) * [1.0, 8.0, 0.3]
T = np.column_stack([np.sin(X[:, 0]), X[:, 1] / 8, X[:, 0] > 0]) + 0.2 * RNG.standard_normal(
    (60, 3)
)
SMOOTHERS = {
    "exact": KernelRidge(RBF(0.3), 0.4, solver="cholesky"),
    "spectral": KernelRidge(RBF(0.3), 0.4, solver="spectral"),
    "scaled": Scaled(KernelRidge(RBF(0.3), 0.4)),
    "landmarks": NystroemRidge(RBF(0.3), 0.4, n_landmarks=20, random_state=0),
    "forest": Forest(30, random_state=0),
    "stack": Stacked([KernelRidge(RBF(0.3), 0.4), Forest(20, random_state=0)]),
}


@pytest.mark.parametrize("name", SMOOTHERS)
@given(seed=st.integers(0, 10**6), grouped=st.booleans(), k=st.integers(1, 30))
@settings(max_examples=5, deadline=None)
def test_some_rows_are_left_out_as_all_are(name, seed, grouped, k):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 25, 60) if grouped else None
    rows = rng.permutation(60)[:k]
    if grouped:
        rows = np.flatnonzero(np.isin(groups, groups[rows]))
    fitted = clone(SMOOTHERS[name]).fit(X, T)
    left = LeavingOut.of(fitted).means(groups, rows)
    assert_allclose(left, fitted.loo(groups)[rows], atol=1e-9)


def test_penalties_of_many_rows_are_compared_on_some(monkeypatch):
    monkeypatch.setattr(PenaltiesOfKernelRidge, "most_rows", 50)
    rows = np.arange(0, 60, 2)
    ridge = Scaled(KernelRidge(RBF(0.3), "auto"))
    smoother, left = fit_and_leave_out(clone(ridge), X, T, rows=rows)
    path = PenaltyPath(clone(ridge), X[rows], T[rows])
    errors = {a: np.square(m - T[rows]).sum(axis=1).mean() for a, m in path.means()}
    alpha = Penalties.of(smoother).given
    assert alpha == min(errors, key=errors.get)
    refitted = Scaled(KernelRidge(RBF(0.3), alpha)).fit(X, T)
    assert_allclose(smoother.predict(X), refitted.predict(X), atol=1e-9)
    assert_allclose(left, refitted.loo()[rows], atol=1e-9)
    drawn, _ = fit_and_leave_out(clone(ridge), X, T)  # rows of its own choice
    assert Penalties.of(drawn).given > 0


def test_many_targets_choose_as_they_would(monkeypatch):
    many = T @ RNG.standard_normal((3, 400)) + 0.1 * RNG.standard_normal((60, 400))
    assert few_targets(T) is T
    few = few_targets(many)
    assert few.shape == (60, FEW)
    distance = np.square(many[:, None] - many[None]).sum(axis=2)
    kept = np.square(few[:, None] - few[None]).sum(axis=2)
    assert abs(kept.sum() / distance.sum() - 1) < 0.5  # forty draws of mean one: four sigma are .9
    smoother, left = fit_and_leave_out(KernelRidge(RBF(0.3), "auto"), X, many)
    assert_allclose(left, KernelRidge(RBF(0.3), smoother.alpha).fit(X, many).loo(), atol=1e-8)
    forest = Forest(20, random_state=0).fit(X, many)
    assert forest.estimators_[0].tree_.value.shape[1] == FEW
    assert_allclose(forest.weights(X) @ many, forest.predict(X), atol=1e-9)
    monkeypatch.setattr("skstruct.smoothing.forest.MOST_MEANS", 10)
    thin = Forest(20, random_state=0).fit(X, many)
    assert thin.leaf_means_ is None
    assert_allclose(thin.predict(X), forest.predict(X), atol=1e-9)
    assert_allclose(thin.loo(), forest.loo(), atol=1e-9)


@given(seed=st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_no_tree_that_speaks_for_a_group_has_seen_it(seed):
    """With other targets in one group, its own left-out means stay what they were."""
    rng = np.random.default_rng(seed)
    groups = np.sort(rng.integers(0, 8, 60))  # large: rows drawn one by one would meet them all
    forest = Forest(40, random_state=0).fit(X, T, groups=groups)
    assert forest._free(groups).any(axis=1).all()
    drawn = forest.draws_ > 0
    for group in np.unique(groups):
        inside = drawn[groups == group]
        assert (inside == inside[:1]).all()  # a group is drawn as a whole
    order = rng.permutation(60)
    again = Forest(40, random_state=0).fit(X[order], T[order], groups=groups[order])
    assert_allclose(again.predict(X), forest.predict(X), atol=1e-12)


def test_rows_of_no_weight_are_in_no_sample():
    weight = np.r_[np.zeros(10), np.ones(50)]
    forest = Forest(20, random_state=0).fit(X, T, weight, groups=np.arange(60) // 2)
    assert not forest.draws_[:10].any()
    assert forest.draws_[10:].any(axis=1).all()


def read(block):
    return block.X, block.y, block.weight


def test_scaled_inputs_of_a_source():
    ridge = Scaled(NystroemRidge(RBF(0.3), 0.4, n_landmarks=20, random_state=0))
    source = ArraySource(X, T, None)
    there = clone(ridge).fit_source(source, read, sample=Block(X, T, None))
    here = clone(ridge).fit(X, T)
    assert_allclose(there.predict(X), here.predict(X), atol=1e-9)
    assert_allclose(there.centre_, X.mean(axis=0))
