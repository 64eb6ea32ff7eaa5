# SPDX-License-Identifier: BSD-3-Clause
"""The town with a river, and its travel times."""

import networkx
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skstruct.datasets import make_travel_times
from skstruct.datasets.roads import BRIDGES, RIVER, expected_times
from skstruct.spaces import ShortestPaths


def test_roads_are_the_columns_and_lead_everywhere():
    data = make_travel_times(20, random_state=0)
    assert list(data.times.columns) == list(data.graph.edges)
    assert networkx.is_strongly_connected(data.graph)
    across = {v for u, v in data.graph.edges if u[0] < RIVER <= v[0]}
    assert {row for _, row in across} == set(BRIDGES)
    assert (data.times.to_numpy() > 0).all()
    assert list(ShortestPaths(data.graph, (0, 0), (1, 1)).labels_) == list(data.graph.edges)


def test_times_have_their_mean():
    """Of 3,000 rows, the mean ratio of 180 roads is one, up to five standard errors."""
    data = make_travel_times(3000, noise=0.2, random_state=1)
    ratio = data.times.to_numpy() / expected_times(data.graph, data.X)
    assert abs(ratio.mean() - 1) < 5 * ratio.std() / np.sqrt(ratio.size)


def test_the_same_seed_gives_the_same_rows():
    one, two = (make_travel_times(5, random_state=3) for _ in range(2))
    assert_array_equal(one.times, two.times)
    with pytest.raises(ValueError, match="n_samples is a whole number from 1; got 0"):
        make_travel_times(0)
