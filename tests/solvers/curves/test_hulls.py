# SPDX-License-Identifier: BSD-3-Clause
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from skstruct.solvers.curves.hulls import hull_heights, lower_hulls


def chord_minimum(points, values, k):
    """The lowest chord (or sample) over point k, straight from the definition."""
    best = values[points == points[k]].min()
    for i, j in product(range(len(points)), repeat=2):
        if points[i] < points[k] < points[j]:
            share = (points[k] - points[i]) / (points[j] - points[i])
            best = min(best, values[i] + share * (values[j] - values[i]))
    return best


@given(st.data())
def test_against_all_chords(data):
    m = data.draw(st.integers(1, 7))
    own_points = data.draw(st.booleans())
    shape = (2, 2, m) if own_points else (2, m)
    whole = st.integers(-4, 4).map(float)
    points = np.sort(data.draw(hnp.arrays(np.float64, shape, elements=whole)), axis=-1)
    values = data.draw(hnp.arrays(np.float64, (2, 2, m), elements=whole))
    heights, slopes = hull_heights(points, values), lower_hulls(points, values)
    assert (np.diff(slopes, axis=2) >= -1e-12).all()
    everywhere = np.broadcast_to(points, values.shape)
    for b, j in product(range(2), range(2)):
        t, v = everywhere[b, j], values[b, j]
        expected = [chord_minimum(t, v, k) for k in range(m)]
        np.testing.assert_allclose(heights[b, j], expected, atol=1e-12)
        climb = expected[0] + np.append(0.0, np.cumsum(slopes[b, j] * np.diff(t)))
        np.testing.assert_allclose(climb, expected, atol=1e-12)


def test_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match="points"):
        lower_hulls(np.zeros((2, 3)), np.zeros((1, 3, 3)))
    with pytest.raises(ValueError, match="3 rows, values 2"):
        lower_hulls(np.zeros((3, 1, 4)), np.zeros((2, 1, 4)))
