# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from skstruct.losses.histograms import ChiSquare, RootAbsolute, SquaredHellinger
from skstruct.spaces import Box, Embeddings, Interval, Simplex
from skstruct.testing import check_decisions

LOSSES = [SquaredHellinger(), RootAbsolute(), ChiSquare()]
amounts = st.floats(0, 1e3, width=32)


def by_hand(loss, z, y, c):
    """Entry by entry, from the definitions."""
    total = 0.0
    for p, q, weight in zip(z, y, c):
        if isinstance(loss, SquaredHellinger):
            total += weight * (p**0.5 - q**0.5) ** 2 / 2
        elif isinstance(loss, RootAbsolute):
            total += weight * abs(p**0.5 - q**0.5)
        elif p + q > 0:
            total += weight * (p - q) ** 2 / (p + q)
    return total


@pytest.mark.slow
@pytest.mark.parametrize("kind", [SquaredHellinger, RootAbsolute, ChiSquare])
@given(st.data())
def test_losses_against_their_definition(kind, data):
    d = data.draw(st.integers(1, 4))
    Z, Y = (data.draw(hnp.arrays(np.float64, (3, d), elements=amounts)) for _ in range(2))
    c = data.draw(hnp.arrays(np.float64, d, elements=st.floats(0, 5)))
    for loss, weights in ((kind(), np.ones(d)), (kind(weights=c), c)):
        expected = [[by_hand(loss, z, y, weights) for y in Y] for z in Z]
        np.testing.assert_allclose(loss.pairwise(Z, Y), expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(loss(Z, Y), np.diagonal(expected), rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(loss(Y, Y), 0.0)


def test_root_absolute_is_not_the_hellinger_distance():
    """Other numbers, though both are called by that name."""
    y, z = np.array([[0.2, 0.3, 0.5]]), np.array([[0.3, 0.3, 0.4]])
    assert RootAbsolute()(z, y)[0] > 10 * SquaredHellinger()(z, y)[0]
    np.testing.assert_allclose(SquaredHellinger()(z, y), 1 - np.sqrt(z * y).sum())


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_slopes_are_derivatives(loss):
    t, y = np.meshgrid([0.1, 0.7, 3.0], [0.0, 0.2, 2.0])
    numeric = (loss.rho(t + 1e-7, y) - loss.rho(t - 1e-7, y)) / 2e-7
    np.testing.assert_allclose(loss.slope(t, y), numeric, atol=1e-5)


def test_slopes_at_zero():
    np.testing.assert_array_equal(ChiSquare().slope(0.0, np.array([0.0, 1.0])), [1.0, -3.0])
    slopes = SquaredHellinger().slope(0.0, np.array([0.0, 1.0]))
    np.testing.assert_array_equal(slopes, [0.5, -np.inf])


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@given(st.data())
@settings(max_examples=15, deadline=None)
def test_intervals_and_boxes_are_exact(loss, data):
    y = data.draw(hnp.arrays(np.float64, (4, 1), elements=st.floats(0, 4, width=16)))
    seed = data.draw(st.integers(0, 100))
    rivals = np.linspace(0, 2, 501)[:, None] ** 2
    check_decisions(loss, Interval(0.0, 4.0).fit(y), y, rivals, gap=1e-8, seed=seed)
    two = np.hstack([y, y[::-1]])
    space = Box([0.0, 1.0], [4.0, 5.0]).fit(np.maximum(two, [0.0, 1.0]))
    rivals = np.array(np.meshgrid(np.linspace(0, 4, 31), np.linspace(1, 5, 31))).reshape(2, -1).T
    check_decisions(type(loss)(weights=[0.5, 2.0]), space, two, rivals, gap=1e-8, seed=seed)


def test_hellinger_is_bilinear_in_roots_on_the_simplex_only():
    y = np.array([[0.5, 0.5], [0.1, 0.9]])
    assert SquaredHellinger().embedding_on(Simplex().fit(y)) == "roots"
    assert SquaredHellinger(weights={0: 2, 1: 2}).embedding_on(Simplex().fit(y)) == "roots"
    assert SquaredHellinger(weights=[1, 2]).embedding_on(Simplex().fit(y)) == "weights"
    assert SquaredHellinger().embedding_on(Box().fit(y)) == "weights"


def test_hellinger_closed_form():
    """One output of positive weight is predicted itself; of negative weight, a far vertex."""
    y = np.array([[0.36, 0.64, 0.0]])
    space = Embeddings.of(Simplex().fit(y)).view("roots")
    loss = SquaredHellinger().bind(space)
    psi = space.embed(y)
    decided = space.argmin(loss.cost(psi, np.ones((1, 1))))
    np.testing.assert_allclose(decided.outputs, y)
    np.testing.assert_allclose(decided.values + loss.offset(psi, np.ones((1, 1))), 0, atol=1e-15)
    decided = space.argmin(loss.cost(-psi, -np.ones((1, 1))))
    np.testing.assert_array_equal(decided.outputs, [[0, 0, 1]])


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_clear_errors(loss):
    name = type(loss).__name__
    with pytest.raises(ValueError, match=rf"{name} compares amounts .* Y_true\[1, 0\] is -2"):
        loss([[1.0], [1.0]], [[1.0], [-2.0]])
    with pytest.raises(ValueError, match=r"Y_pred\[0, 1\] is -1"):
        loss.pairwise([[1.0, -1.0]], [[1.0, 1.0]])
    with pytest.raises(ValueError, match=r"Y\[0, 0\] is -3"):
        loss.curves([[1.0]], [[-3.0]])
    with pytest.raises(ValueError, match="shapes"):
        loss([[1.0, 2.0]], [[1.0]])
    with pytest.raises(ValueError, match="begins at -1"):
        loss.curves([[1.0]], [[3.0]]).minimize(-1.0, 2.0)
    assert loss([[-1e-12]], [[0.0]])[0] == 0.0
