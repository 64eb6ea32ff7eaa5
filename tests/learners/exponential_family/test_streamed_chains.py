# SPDX-License-Identifier: BSD-3-Clause
"""Conditional random fields from blocks of sequences: as in memory, and after a crash."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skstruct import ExponentialFamily
from skstruct.learners import Checkpoint
from skstruct.learners.exponential_family import streams
from skstruct.spaces import Sequences


def sentences(n=60, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(rng.integers(1, 6), p)) for _ in range(n)]
    Y = [[("a", "b", "c")[k] for k in x[:, :3].argmax(axis=1)] for x in X]
    Y[-1] = ["d"] * len(Y[-1])  # a symbol that comes last
    return X, Y, rng.random(n) + 0.1


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(streams, "FIRST_SEQUENCES", 20)
    monkeypatch.setattr(streams, "BLOCK_SEQUENCES", 7)


def blocks(X, Y, weight=None, size=16):
    def made():
        for k in range(0, len(X), size):
            part = X[k : k + size], Y[k : k + size]
            yield part if weight is None else (*part, weight[k : k + size])

    return made


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_minimum_is_that_of_a_fit_in_memory(few, weighted, fit_intercept):
    X, Y, weight = sentences()
    weight = weight if weighted else None
    options = {"alpha": 0.01, "tol": 1e-6, "fit_intercept": fit_intercept}
    whole = ExponentialFamily(Sequences(), **options).fit(X, Y, weight)
    model = ExponentialFamily(Sequences(), **options).fit(blocks(X, Y, weight))
    assert model.space_.symbols_ == whole.space_.symbols_
    assert_allclose(model.objective_, whole.objective_, rtol=1e-8)
    assert_allclose(model.coef_, whole.coef_, atol=1e-3)
    for predicted, expected in zip(model.predict(X), whole.predict(X)):
        assert_array_equal(predicted, expected)


def test_the_penalty_of_the_first_ones_is_a_multiple_of_one_over_n(few):
    X, Y, _ = sentences()
    model = ExponentialFamily(Sequences()).fit(blocks(X, Y))
    first = ExponentialFamily(Sequences()).fit([*X[:20], X[-1]], [*Y[:20], Y[-1]])
    assert_allclose(model.alpha_ * 60, first.alpha_ * 21)


def test_after_a_crash_it_goes_on_to_the_same_bits(few, tmp_path, monkeypatch):
    X, Y, _ = sentences()
    model = ExponentialFamily(Sequences(), alpha=0.001, random_state=0)
    expected = model.fit(blocks(X, Y)).coef_
    path, n_calls = tmp_path / "chains.checkpoint", []
    value_and_gradient = streams.StreamedChains.value_and_gradient

    def failing(self, theta):
        n_calls.append(1)
        if len(n_calls) == 6:
            raise KeyboardInterrupt
        return value_and_gradient(self, theta)

    monkeypatch.setattr(streams.StreamedChains, "value_and_gradient", failing)
    with pytest.raises(KeyboardInterrupt):
        model.fit(blocks(X, Y), checkpoint=Checkpoint(path, every=0))
    assert path.exists()
    n_iter = len(n_calls)
    model.fit(blocks(X, Y), checkpoint=Checkpoint(path, every=0))
    assert_array_equal(model.coef_, expected)
    assert not path.exists()
    assert len(n_calls) > n_iter


def test_what_cannot_be_streamed():
    X, Y, _ = sentences(8)
    with pytest.raises(ValueError, match="once for every step"):
        ExponentialFamily(Sequences(), alpha=0.1).fit(iter([(X, Y)]))
    with pytest.raises(ValueError, match="row of features per position"):
        ExponentialFamily(alpha=0.1).fit(lambda: iter([(np.zeros((3, 2)), ["a", "b", "a"])]))
    with pytest.raises(ValueError, match="blocks of a source"):
        ExponentialFamily(Sequences(), alpha=0.1).fit(lambda: iter([(X,)]))
