# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skstruct.losses import Listed, Squared, pair
from skstruct.spaces.quantities.spheres import Sphere, sphere_quadratic

ANGLES = np.linspace(0, 2 * np.pi, 40001)
CIRCLE = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])


def directions(rng, n, d):
    points = rng.standard_normal((n, d))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def test_linear_costs_point_the_other_way():
    rng = np.random.default_rng(0)
    space = Sphere().fit(directions(rng, 5, 4))
    costs = np.vstack([rng.standard_normal((20, 4)), np.zeros((1, 4))])
    decoded = space.argmin(costs)
    assert space.contains(decoded.outputs).all()
    assert_allclose(decoded.values, -np.linalg.norm(costs, axis=1), atol=1e-12)
    assert_allclose(decoded.values, decoded.bounds, atol=1e-12)
    assert_array_equal(decoded.outputs[-1], [1, 0, 0, 0])  # all cost the same


exponents = st.integers(-12, 4)
entries = st.one_of(st.just(0.0), st.floats(-1, 1))


@given(st.lists(st.tuples(entries, entries, entries, entries, exponents), min_size=1, max_size=8))
def test_quadratic_on_the_circle_against_a_grid(rows):
    numbers = np.array(rows)
    a, b = numbers[:, :2], numbers[:, 2:4] * 10.0 ** numbers[:, 4:]
    points, values, bounds = sphere_quadratic(a, b)
    grid = (CIRCLE**2 @ a.T + CIRCLE @ b.T).min(axis=0)
    scale = 1 + np.abs(b).max(axis=1)
    assert_allclose(np.linalg.norm(points, axis=1), 1.0, atol=1e-12)
    assert_allclose((a * points**2 + b * points).sum(axis=1), values, atol=1e-9 * scale.max())
    assert (values <= grid + 1e-12 * scale).all()
    assert (values - bounds <= 1e-12 * scale).all()
    assert (bounds <= grid + 1e-12 * scale).all()


@pytest.mark.parametrize("d", [1, 3, 6])
def test_quadratic_is_certified_in_any_dimension(d):
    """The dual bound meets the value, also in the hard case and next to it."""
    rng = np.random.default_rng(d)
    a = rng.standard_normal((300, d)) * 10.0 ** rng.integers(-3, 4, (300, d))
    b = rng.standard_normal((300, d)) * 10.0 ** rng.integers(-12, 4, (300, d))
    lowest = a.argmin(axis=1)
    b[np.arange(100), lowest[:100]] = 0.0
    b[np.arange(100, 150), lowest[100:150]] *= 1e-200
    points, values, bounds = sphere_quadratic(a, b)
    scale = np.abs(a).max(axis=1) + np.abs(b).max(axis=1)
    assert_allclose(np.linalg.norm(points, axis=1), 1.0, atol=1e-12)
    assert (values - bounds <= 1e-14 * scale).all()
    others = directions(rng, 2000, d)
    assert (bounds <= (others**2 @ a.T + others @ b.T).min(axis=0) + 1e-14 * scale).all()


def test_hard_case_takes_the_first_coordinate_of_least_cost():
    points, values, _ = sphere_quadratic(np.array([[1.0, 0.0, 0.0]]), np.array([[-1.0, 0.0, 0.0]]))
    assert_allclose(points, [[0.5, np.sqrt(0.75), 0.0]])
    assert_allclose(values, [-0.25])


@pytest.mark.parametrize("weights", [None, [1.0, 4.0]])
def test_squared_loss_with_signed_weights(weights):
    rng = np.random.default_rng(1)
    Y = directions(rng, 12, 2)
    view, loss = pair(Squared(weights), Sphere().fit(Y), Y)
    W = rng.standard_normal((30, 12))
    g, total = W @ view.embed(Y), W.sum(axis=1, keepdims=True)
    decoded, offset = view.argmin(loss.cost(g, total)), loss.offset(g, total)
    grid = (W @ loss.pairwise(CIRCLE, Y).T).min(axis=1)
    risks = (W * loss.pairwise(decoded.outputs, Y)).sum(axis=1)
    assert_allclose(decoded.values + offset, risks, atol=1e-10)
    assert_allclose(risks, grid, atol=1e-6)
    assert (decoded.bounds + offset <= grid + 1e-10).all()


def test_frames_come_back():
    frame = pd.DataFrame([[1.0, 0.0], [0.0, -1.0]], columns=["east", "north"], index=[4, 7])
    space = Sphere(2).fit(frame)
    pd.testing.assert_frame_equal(space.restore(space.validate(frame), frame.index), frame)
    named = Sphere(labels=["east", "north"]).fit([[1.0, 0.0]])
    assert_array_equal(named.validate(frame[["north", "east"]]), frame.to_numpy())


def test_sample_is_uniform():
    """The mean of n directions is within five standard errors; right samplers fail below 3e-6."""
    space = Sphere().fit([[1.0, 0.0, 0.0]])
    drawn = space.sample(3000, 0)
    assert space.contains(drawn).all()
    assert (np.abs(drawn.mean(axis=0)) <= 5 / np.sqrt(3 * 3000)).all()
    assert_allclose((drawn**2).mean(axis=0), 1 / 3, atol=5 * np.sqrt(4 / 45 / 3000))


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([[1.0, 0.0], [3.0, 4.0]], r"length of Y\[1\] is 5: divide each row by its norm"),
        ([[0.0, 0.0]], r"length of Y\[0\] is 0: a vector of zeros has no direction"),
        ([[1.0, 0.0], [np.nan, 1.0]], r"Y\[1\], column 0, is nan"),
        ([[1.0, 0.0, 0.0]], "dimension 2 are expected; Y has 3 columns"),
    ],
)
def test_bad_directions(Y, message):
    with pytest.raises(ValueError, match=message):
        Sphere(2).fit(Y)


def test_other_losses_say_what_works():
    space = Sphere().fit([[1.0, 0.0]])
    with pytest.raises(ValueError, match=r"squared loss, kernel losses.*Listed"):
        space.minimize(None)
    view, loss = pair(Listed(Squared()), space, np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert_allclose(loss.matrix_, [[0, 2], [2, 0]], atol=1e-15)
    assert_array_equal(view.argmin(loss.cost(np.array([[0.2, 0.8]]), None)).outputs, [[0.0, 1.0]])
