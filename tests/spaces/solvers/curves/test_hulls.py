# SPDX-License-Identifier: BSD-3-Clause
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from skstruct.spaces.solvers.curves._numba import corner_indices


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
    whole = st.integers(-4, 4).map(float)
    points = np.sort(data.draw(hnp.arrays(np.float64, (4, m), elements=whole)), axis=-1)
    values = data.draw(hnp.arrays(np.float64, (4, m), elements=whole))
    chosen, size = corner_indices(points, values)
    for t, v, corners, n in zip(points, values, chosen, size):
        assert (corners[n:] == corners[n - 1]).all()
        x, y = t[corners[:n]], v[corners[:n]]
        assert (np.diff(np.diff(y) / np.diff(x)) > -1e-12).all()
        expected = [chord_minimum(t, v, k) for k in range(m)]
        np.testing.assert_allclose(np.interp(t, x, y), expected, atol=1e-12)
