# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsRegressor

from skstruct.smoothing.local_averages import Neighbors
from skstruct.testing.smoothers import check_smoother

WEIGHTINGS = ["uniform", "distance"]


def slow_weights(x, X, sample_weight, k, weighting, allowed):
    """Take rows from the nearest on until their weights add up to k."""
    distances = np.sqrt(((X - x) ** 2).sum(axis=1))
    taken, missing = np.zeros(len(X)), float(k)
    for i in np.argsort(distances, kind="stable"):
        if allowed[i]:
            taken[i] = min(sample_weight[i], missing)
            missing -= taken[i]
    if weighting == "distance":
        exact = (distances == 0) & (taken > 0)
        taken = taken * exact if exact.any() else taken / np.where(distances > 0, distances, 1)
    return taken / taken.sum()


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, p, k = draw(st.integers(2, 25)), draw(st.integers(1, 4)), draw(st.integers(1, 30))
    kind = draw(st.sampled_from(["none", "whole", "any"]))
    weight = {"none": np.ones(n), "whole": rng.integers(0, 4, n) * 1.0, "any": rng.random(n)}[kind]
    weight[:2] += 1.0
    groups = rng.integers(0, draw(st.integers(1, n)), n)
    groups[:2] = 0, 1
    return rng.standard_normal((n, p)), weight, groups, k, draw(st.sampled_from(WEIGHTINGS))


@pytest.mark.slow
@given(cases())
def test_weights_from_the_definition(case):
    X, weight, groups, k, weighting = case
    model = Neighbors(k, weighting).fit(X, np.arange(len(X)), weight)
    queries = np.vstack([X, X + 0.3])
    slow = [slow_weights(x, X, weight, k, weighting, np.full(len(X), True)) for x in queries]
    assert sparse.issparse(model.weights(queries))
    assert_allclose(model.weights(queries).toarray(), slow, atol=1e-12)
    for left_out in (None, groups):
        own = np.arange(len(X)) if left_out is None else left_out
        slow = [slow_weights(x, X, weight, k, weighting, own != g) for x, g in zip(X, own)]
        assert_allclose(model.left_out_weights(left_out).toarray(), slow, atol=1e-12)
        assert_allclose(model.loo(left_out), slow @ np.arange(len(X)), atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("weighting", WEIGHTINGS)
@pytest.mark.parametrize("k", [1, 4, 100])
def test_smoother(k, weighting):
    check_smoother(Neighbors(k, weighting))
    X = np.random.default_rng(1).poisson(2.0, (30, 40)) * 1.1 + np.arange(30)[:, None] / 97
    check_smoother(Neighbors(k, weighting), sparse.csr_array(X))
    check_smoother(Neighbors(k, weighting, metric="precomputed"), pairwise_distances(X))


@given(cases())
def test_whole_weights_are_repetitions(case):
    X, weight, _, k, weighting = case
    T, times = np.arange(len(X)), np.ceil(weight).astype(int)
    weighted = Neighbors(k, weighting).fit(X, T, times)
    repeated = Neighbors(k, weighting).fit(np.repeat(X, times, axis=0), np.repeat(T, times))
    assert_allclose(weighted.predict(X + 0.1), repeated.predict(X + 0.1))


@pytest.mark.slow
@given(cases())
def test_leaving_out_with_weights_is_refitting(case):
    X, weight, groups, k, weighting = case
    T = np.arange(len(X))
    left = Neighbors(k, weighting).fit(X, T, weight).loo(groups)
    for g in np.unique(groups):
        out = groups == g
        refitted = Neighbors(k, weighting).fit(X[~out], T[~out], weight[~out])
        assert_allclose(left[out], refitted.predict(X[out]))


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_predictions_of_scikit_learn(weighting):
    rng = np.random.default_rng(0)
    X, T = rng.standard_normal((60, 3)).round(1), rng.standard_normal((60, 2))
    X[10:20] = X[0]  # more exact matches than neighbors
    ours = Neighbors(5, weighting).fit(X, T)
    theirs = KNeighborsRegressor(5, weights=weighting).fit(X, T)
    queries = np.vstack([X, rng.standard_normal((20, 3))])
    assert_allclose(ours.predict(queries), theirs.predict(queries))


def test_equal_rows_are_at_distance_zero_whatever_the_batch():
    """Far from the origin the expansion of |a - b|^2 leaves 1e-5 instead."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 50)) + 100.0
    X[1] = X[2] = X[0]
    T = np.arange(40.0)
    for data in (X, sparse.csr_array(X)):
        model = Neighbors(6, "distance").fit(data, T)
        assert_allclose(model.predict(data)[:4], [1, 1, 1, 3], atol=1e-12)
        assert_allclose([model.predict(data[[i]])[0] for i in range(4)], [1, 1, 1, 3], atol=1e-12)
        assert_allclose(model.loo()[:3], [1.5, 1.0, 0.5], atol=1e-12)


def test_one_row_is_its_own_answer():
    model = Neighbors().fit([[1.0]], [[2.0, 3.0]])
    assert_allclose(model.predict([[5.0], [1.0]]), [[2, 3], [2, 3]])
    with pytest.raises(ValueError, match="leaves nothing"):
        model.loo()


def test_constant_rows_average():
    model = Neighbors(3, "distance").fit(np.ones((3, 2)), [0.0, 1.0, 5.0])
    assert_allclose(model.predict([[1.0, 1.0], [2.0, 2.0]]), [2, 2])
    assert_allclose(model.loo(), [3, 2.5, 0.5])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "at least 1; got 0"),
        ({"n_neighbors": 2.5}, "whole number"),
        ({"weighting": "near"}, "got 'near'"),
    ],
)
def test_wrong_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        Neighbors(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_wrong_arguments():
    model = Neighbors(2).fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    with pytest.raises(ValueError, match=r"groups has shape \(2,\).* 3 rows"):
        model.loo([0, 1])
    with pytest.raises(ValueError, match="leaves nothing"):
        model.left_out_weights([7, 7, 7])
    with pytest.raises(ValueError, match="3 rows; got 2 targets"):
        model.with_targets([0.0, 1.0])
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        clone(model).fit([[0.0], [1.0]], [0, 1], [1.0, -1.0])
    with pytest.raises(ValueError, match="zero"):
        clone(model).fit([[0.0], [1.0]], [0, 1], [0.0, 0.0])


def test_sparse_targets_are_read():
    X, T = np.arange(6.0)[:, None], np.eye(3)[[0, 0, 1, 1, 2, 2]]
    model = Neighbors(2).fit(X, sparse.csr_array(T))
    assert_allclose(model.predict(X), Neighbors(2).fit(X, T).predict(X))
    assert_allclose(model.with_targets(sparse.csr_array(2 * T)).predict(X), 2 * model.predict(X))


class SeesItself(Neighbors):
    def loo(self, groups=None):
        return self.predict(self.X_fit_)


class ForgetsGroups(Neighbors):
    def loo(self, groups=None):
        return super().loo()


class LooksAtTheBatch(Neighbors):
    def predict(self, X):
        return super().predict(X) + len(X)


class KeepsTargets(Neighbors):
    def with_targets(self, targets):
        return self


class ChangesNeighbors(Neighbors):
    def loo(self, groups=None):
        other = clone(self).set_params(n_neighbors=2).fit(self.X_fit_, self.targets_)
        return Neighbors.loo(other, groups)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (SeesItself, r"loo of rows \[0\] ignores them"),
        (ForgetsGroups, r"loo of rows .* ignores them"),
        (LooksAtTheBatch, "weights"),
        (KeepsTargets, "with_targets keeps the weights"),
        (ChangesNeighbors, "is fitting without them"),
    ],
)
def test_check_smoother_names_the_broken_promise(broken, message):
    with pytest.raises(AssertionError, match=message):
        check_smoother(broken(4))
