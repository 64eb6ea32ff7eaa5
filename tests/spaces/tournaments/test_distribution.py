# SPDX-License-Identifier: BSD-3-Clause
"""Distributions and chains of tournaments against the list of all tournaments."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Embeddings, Inference, Tournaments
from skstruct.testing.spaces import check_distribution, check_proposals


@st.composite
def limited(draw):
    """Tournaments of up to three items within constraints, by signs or by states of pairs."""
    n, partial = draw(st.integers(2, 3)), draw(st.booleans())
    space = Tournaments(n, partial)
    wins = [(p, q) for p in range(n) for q in range(n) if p != q]
    if wins:
        include = draw(st.lists(st.sampled_from(wins), max_size=1))
        exclude = draw(st.lists(st.sampled_from(wins), max_size=3))
        space = space.restrict(include=include, exclude=exclude)
    return space, draw(st.booleans())


def viewed(space, by_states, scale, seed, n=2):
    outputs = space.enumerate()
    view = Embeddings.of(space).view("node states") if by_states else space
    width = view.embed(outputs).shape[1]
    return view, outputs, scale * np.random.default_rng(seed).standard_normal((n, width))


@given(limited(), st.sampled_from([0.0, 1.0, 1e6]), st.integers(0, 999))
def test_distributions_against_enumeration(case, scale, seed):
    """At most 80 chi-square tests of level 1e-6."""
    view, outputs, scores = viewed(*case, scale, seed)
    if not len(outputs):
        with pytest.raises(InfeasibleError):
            Inference.of(view).distribution(scores)
    else:
        check_distribution(view, scores, outputs=outputs, n_draws=1000)


@pytest.mark.slow
@given(limited(), st.sampled_from([0.0, 1.0]), st.integers(0, 999))
@settings(max_examples=25)
def test_chains_approach_the_distribution(case, scale, seed):
    view, outputs, scores = viewed(*case, scale, seed)
    assume(len(outputs) > 0)
    check_proposals(view, scores, outputs=outputs, n_chains=1000, beta=0.9)


def test_constraints_may_differ_from_row_to_row():
    space, scores = Tournaments(4), np.random.default_rng(0).standard_normal((2, 6))
    rows = space.restrict(include=[[(0, 1)], [(3, 2), (1, 0)]])
    distribution = Inference.of(rows).distribution(scores)
    assert Inference.of(rows).proposals() is None
    for i in range(2):
        alone = Inference.of(rows.rows([i])).distribution(scores[i])
        assert_allclose(distribution.log_partition[i], alone.log_partition[0])
        assert_allclose(distribution.marginals()[i], alone.marginals()[0])
    drawn = distribution.sample(20, np.random.default_rng(1))
    assert (drawn[0, :, 0] == 1).all()
    assert (drawn[1, :, [0, 5]] == -1).all()
    with pytest.raises(InfeasibleError, match="row 1"):
        Inference.of(rows.restrict(exclude=[[], [(3, 2)]])).distribution(scores)
    with pytest.raises(ValueError, match="rows"):
        Inference.of(rows).distribution(scores[:1])


def test_wins_are_logistic():
    scores = np.random.default_rng(0).standard_normal((3, 10))
    distribution = Inference.of(Tournaments(5, partial=False)).distribution(scores)
    assert_allclose(distribution.marginals(), np.tanh(scores), rtol=1e-12)
    assert_allclose(distribution.log_partition, np.log(2 * np.cosh(scores)).sum(axis=1), rtol=1e-12)
