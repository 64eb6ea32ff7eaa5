# SPDX-License-Identifier: BSD-3-Clause
"""Structured ridge regression from blocks of rows is that from arrays."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstruct import CountingRidge
from skstruct.kernels import RBF
from skstruct.learners import Checkpoint, NewtonCG
from skstruct.learners.counting_ridge import normal_equations, streams
from skstruct.spaces import Cycles, LabelSets, Rankings
from skstruct.streaming import ArraySource


def data(space, n=60, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    if space == "rankings":
        return (
            Rankings(list("abcd")),
            X,
            np.argsort(np.argsort(X @ rng.standard_normal((p, 4)))) + 1,
        )
    if space == "cycles":
        tours = [["a", *np.array(list("bcd"))[rng.permutation(3)]] for _ in range(n)]
        return Cycles(list("abcd")), X, tours
    return LabelSets(list("abcde")), X, (X @ rng.standard_normal((p, 5)) > 0.3).astype(int)


@settings(max_examples=12, deadline=None)
@given(
    space=st.sampled_from(["rankings", "cycles", "labels"]),
    alpha=st.sampled_from([0.01, 1.0, 50.0]),
    landmarks=st.sampled_from([None, 8]),
    weighted=st.booleans(),
    intercept=st.booleans(),
    one_pass=st.booleans(),
)
def test_the_solution_is_that_of_arrays(space, alpha, landmarks, weighted, intercept, one_pass):
    space, X, y = data(space)
    weight = np.linspace(0.0, 2.0, len(X)) if weighted else None
    kernel = "linear" if landmarks is None else RBF(0.5)
    shared = {"kernel": kernel, "alpha": alpha, "n_landmarks": landmarks, "random_state": 0}
    models = [CountingRidge(space, fit_intercept=intercept, **shared) for _ in range(2)]
    with mock.patch.object(streams, "MOST_EQUATIONS", 600 if one_pass else 0):
        streamed = models[0].fit(ArraySource(X, y, weight))
    whole = models[1].fit(X, y, weight)
    scale = np.abs(whole.coef_).max()
    np.testing.assert_allclose(streamed.coef_, whole.coef_, atol=1e-8 * scale)
    np.testing.assert_allclose(
        streamed.function_.total_, whole.function_.total_,
        atol=1e-8 * np.abs(whole.function_.total_).max(),
    )  # fmt: skip
    assert streamed.objective_ == pytest.approx(whole.objective_, rel=1e-9)
    assert streamed.n_iter_ == 1 if one_pass else 1 < streamed.n_iter_ < 60


def test_a_penalty_is_that_of_the_sample():
    space, X, y = data("labels")
    whole = CountingRidge(space, kernel="linear").fit(X, y)
    streamed = CountingRidge(space, kernel="linear").fit(ArraySource(X, y))
    assert streamed.alpha_ == whole.alpha_
    assert streamed.search_.best == whole.search_.best
    np.testing.assert_array_equal(streamed.predict(X), whole.predict(X))


@pytest.mark.parametrize("one_pass", [False, True])
def test_blocks_are_as_small_as_one_likes(one_pass, monkeypatch):
    space, X, y = data("labels")
    shared = {"kernel": "linear", "alpha": 0.1}
    monkeypatch.setattr(streams, "MOST_EQUATIONS", 600 if one_pass else 0)
    monkeypatch.setattr(normal_equations, "BLOCK", 45)  # two rows
    whole = CountingRidge(space, **shared).fit(ArraySource(X, y))
    monkeypatch.setattr(streams, "AT_ONCE", 20)

    def blocks_of(n):
        def blocks():
            for i in range(0, 60, n):
                yield X[i : i + n], y[i : i + n]

        return blocks

    for rows in (ArraySource(X, y), *map(blocks_of, (1, 7, 60))):
        found = CountingRidge(space, **shared).fit(rows)
        np.testing.assert_allclose(found.coef_, whole.coef_, atol=1e-9)


def test_a_source_is_read_once_where_weights_are_few():
    """Once for the sample, that is, and once for all sums."""
    space, X, y = data("labels")
    n_read = []

    def blocks():
        n_read.append(1)
        yield X, y

    model = CountingRidge(space, kernel="linear", alpha=0.1).fit(blocks)
    once = len(n_read)
    n_read.clear()
    steps = CountingRidge(space, kernel="linear", alpha=0.1, solver=NewtonCG(tol=1e-9))
    steps.fit(blocks)
    assert once <= 2 < steps.n_iter_ < len(n_read)
    np.testing.assert_allclose(steps.coef_, model.coef_, atol=1e-6)


class StoppedError(Exception):
    pass


def test_a_fit_that_is_stopped_goes_on(tmp_path, monkeypatch):
    space, X, y = data("rankings")
    shared = {"kernel": "linear", "alpha": 0.1}
    monkeypatch.setattr(streams, "MOST_EQUATIONS", 0)  # one pass has nothing to go on from
    whole = CountingRidge(space, **shared).fit(ArraySource(X, y))
    curvature, n_passes = streams.StreamedSolution._bent, []

    def stopping(self, V):
        n_passes.append(1)
        if len(n_passes) == 3:
            raise StoppedError
        return curvature(self, V)

    monkeypatch.setattr(streams.StreamedSolution, "_bent", stopping)
    path = Checkpoint(tmp_path / "fit", every=0)
    with pytest.raises(StoppedError):
        CountingRidge(space, **shared).fit(ArraySource(X, y), checkpoint=path)
    found = CountingRidge(space, **shared).fit(ArraySource(X, y), checkpoint=path)
    np.testing.assert_array_equal(found.coef_, whole.coef_)
    assert len(n_passes) == whole.n_iter_ + 1
    assert not (tmp_path / "fit").exists()


def test_what_cannot_be_streamed_is_said():
    space, X, y = data("labels")
    with pytest.raises(ValueError, match="by features: give n_landmarks"):
        CountingRidge(space).fit(ArraySource(X, y))
    with pytest.raises(ValueError, match="an iterator can be read once"):
        CountingRidge(space, kernel="linear").fit(iter([(X, y)]))
    with pytest.raises(ValueError, match="one output each, and no groups"):
        CountingRidge(space, kernel="linear").fit(ArraySource(X, y), groups=np.arange(60))
    with pytest.raises(ValueError, match="at least one non-zero"):
        CountingRidge(space, kernel="linear", alpha=1.0).fit(ArraySource(X, y, np.zeros(60)))
    wrong = X.copy()
    wrong[41, 1] = np.nan
    model = CountingRidge(space, kernel="linear", alpha=1.0)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(ArraySource(wrong, y))


def test_few_steps_are_warned_of():
    space, X, y = data("labels")
    solver = NewtonCG(max_iter=1)
    with pytest.warns(UserWarning, match="stopped after 1 passes"):
        CountingRidge(space, kernel="linear", alpha=0.01, solver=solver).fit(ArraySource(X, y))
