# SPDX-License-Identifier: BSD-3-Clause
"""Draws by rejection are exact."""

from unittest import mock

import numpy as np
import pytest

from skstruct.exceptions import SamplingError
from skstruct.sampling import rejection_sample
from skstruct.spaces import BaseSpace, Hierarchy, LabelSets, Rankings, SpanningTrees, Uniform
from skstruct.testing.spaces import assert_drawn_from

SPACES = [
    LabelSets(range(3)),
    Hierarchy([(0, 1), (0, 2), (2, 3)]),
    Rankings(range(4), "pairs"),
    SpanningTrees(range(4)),
]


class NoSampler(BaseSpace):
    """A space that knows nothing."""


@pytest.mark.parametrize("space", SPACES, ids=lambda space: type(space).__name__)
def test_draws_have_the_probabilities_of_the_distribution(space):
    outputs = space.enumerate()
    psi = np.asarray(space.embed(outputs), dtype=float)
    scores = np.random.default_rng(0).normal(size=(2, psi.shape[1]))
    drawn = rejection_sample(space, scores, 3000, rng=1)
    assert drawn.shape[:2] == (2, 3000)
    for row in range(2):
        probabilities = np.exp(psi @ scores[row])
        assert_drawn_from(drawn[row], outputs, probabilities / probabilities.sum())


def test_any_upper_bound_will_do():
    space, scores = LabelSets(range(2)), [1.0, -1.0]
    drawn = rejection_sample(space, scores, 3000, rng=0, bound=2.5)
    probabilities = np.exp(space.enumerate() @ scores)
    assert_drawn_from(drawn, space.enumerate(), probabilities / probabilities.sum())


def test_a_bound_that_is_none_is_noticed():
    with pytest.raises(ValueError, match="below the score"):
        rejection_sample(LabelSets(range(2)), [1.0, 1.0], 10, rng=0, bound=0.0)


def test_too_many_trials():
    with pytest.raises(SamplingError, match="coupling_from_the_past or Metropolis"):
        rejection_sample(LabelSets(range(40)), np.full(40, 5.0), 10, rng=0, max_trials=10_000)


@pytest.mark.parametrize("n", [0, -1, 1.5, True])
def test_how_many(n):
    with pytest.raises(ValueError, match="n is a whole number from 1"):
        rejection_sample(LabelSets("ab"), [0.0, 0.0], n)


def test_no_sampler():
    with pytest.raises(ValueError, match=r"cannot be sampled.*sample\(n, rng\)"):
        rejection_sample(NoSampler(), [0.0])


def test_an_interrupt_keeps_what_was_drawn():
    space = LabelSets(range(12))
    facet, calls = type(Uniform.of(space)), []
    sample = facet.sample

    def sample_twice(self, n, rng):
        calls.append(n)
        if len(calls) > 2:
            raise KeyboardInterrupt
        return sample(self, n, rng)

    with (
        mock.patch.object(facet, "sample", sample_twice),
        pytest.warns(UserWarning, match="Interrupted after"),
    ):
        drawn = rejection_sample(space, np.ones(12), 100_000, rng=0)
    assert 0 < len(drawn) < 100_000
    assert space.contains(drawn).all()


def test_an_interrupt_keeps_what_all_rows_have():
    space, calls = LabelSets(range(12)), []
    facet = type(Uniform.of(space))
    sample = facet.sample

    def some(self, n, rng):
        calls.append(n)
        if len(calls) > 5:
            raise KeyboardInterrupt
        return sample(self, n, rng)

    with (
        mock.patch.object(facet, "sample", some),
        pytest.warns(UserWarning, match="Interrupted after"),
    ):
        drawn = rejection_sample(space, np.ones((2, 12)), 100_000, rng=0)
    assert len(drawn) == 2
    assert 0 < drawn.shape[1] < 100_000


def test_constraints_of_rows():
    space = LabelSets("abc").restrict(include=[["a"], ["b"]])
    drawn = rejection_sample(space, np.zeros((2, 3)), 50, rng=0)
    assert drawn[0, :, 0].all()
    assert drawn[1, :, 1].all()
    assert not drawn[0, :, 1].all()


def test_bounds():
    for bound in (np.nan, np.inf, [1.0, 2.0]):
        with pytest.raises(ValueError, match="bound is finite"):
            rejection_sample(LabelSets("ab"), [0.0, 0.0], bound=bound)
