# SPDX-License-Identifier: BSD-3-Clause
"""Tables of all label sets with pairs, against elimination and against the list."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skstruct.spaces import PairwiseLabels
from skstruct.spaces.solvers.pairwise.elimination import LabelDistribution
from skstruct.spaces.solvers.pairwise.inference import PairTableDistribution, label_distribution
from skstruct.testing import check_distribution


@given(st.integers(1, 7), st.integers(0, 1000), st.sampled_from([0.5, 30.0, 1e4]))
@settings(max_examples=40, deadline=None)
def test_tables_and_elimination_agree(n, seed, scale):
    rng = np.random.default_rng(seed)
    pairs = [(i, j) for j in range(n) for i in range(j)]
    edges = np.array([e for e in pairs if rng.random() < 0.7], np.int64).reshape(-1, 2)
    scores = scale * rng.normal(size=(4, n + len(edges)))
    table = PairTableDistribution(scores, edges, n)
    other = LabelDistribution(scores[:, :n], scores[:, n:], edges)
    assert_allclose(table.log_partition, other.log_partition, rtol=1e-10, atol=1e-10)
    assert_allclose(table.marginals(), other.marginals(), atol=1e-10)


@pytest.mark.parametrize("known", [{}, {"include": ["b"]}, {"exclude": ["a", "d"]}])
def test_all_pairs_against_the_list(known):
    space = PairwiseLabels("full", list("abcde")).restrict(**known)
    scores = np.random.default_rng(0).normal(size=(3, 15))
    distribution = label_distribution(scores[:, :5], scores[:, 5:], space.edges_)
    assert isinstance(distribution, PairTableDistribution)
    check_distribution(space, scores)


def test_sharp_scores_are_drawn_right():
    distribution = PairTableDistribution(np.array([[1e5, -1e5, 3e5]]), np.array([[0, 1]]), 2)
    assert (distribution.sample(50, np.random.default_rng(0)) == 1).all()
