# SPDX-License-Identifier: BSD-3-Clause
"""Tours of a hidden policy against all tours listed, and bits that are their own labels."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from skstruct.datasets.tours import make_identity_labels, make_policy_tours
from skstruct.spaces import Cycles


@given(st.integers(3, 6), st.integers(1, 4), st.integers(0, 1000))
@settings(max_examples=30, deadline=None)
def test_no_tour_is_rewarded_more(n_places, n_features, seed):
    data = make_policy_tours(5, n_places, n_features, random_state=seed)
    assert data.X.shape == (5, n_features)
    assert (data.X >= 0).all()
    assert (data.X <= 1).all()
    assert (np.abs(data.rewards) <= 1).all()
    for x, tour in zip(data.X, Cycles(n_places).tours(data.Y)):
        A = np.zeros((n_places, n_places))
        A[np.triu_indices(n_places, 1)] = x @ data.rewards
        A -= A.T
        # Every directed cycle, from each of its nodes on.
        rewards = {
            order: sum(A[u, v] for u, v in zip(order, (*order[1:], order[0])))
            for n in range(3, n_places + 1)
            for order in permutations(range(n_places), n)
        }
        order = tuple(int(v) for v in tour if v >= 0)
        assert rewards[order] == pytest.approx(max(rewards.values()), abs=1e-9)


def test_the_policy_can_be_given():
    train = make_policy_tours(5, 5, 2, random_state=0)
    test = make_policy_tours(7, 5, rewards=train.rewards, random_state=0)
    assert test.X.shape == (7, 2)
    assert test.rewards is not None
    assert_array_equal(test.policies, test.X @ train.rewards)
    with pytest.raises(ValueError, match=r"shape \(n_features, 15\) for 6 places; got \(2, 10\)"):
        make_policy_tours(7, 6, rewards=train.rewards)


def test_bits():
    X, Y = make_identity_labels(2000, 3, random_state=0)
    assert_array_equal(X, Y)
    assert (X.dtype, Y.dtype) == (np.float64, np.int8)
    # A mean of 6,000 fair bits is off by 0.05 with a probability below 1e-14.
    assert abs(X.mean() - 0.5) < 0.05
    assert_array_equal(make_identity_labels(2000, 3, random_state=0)[0], X)
