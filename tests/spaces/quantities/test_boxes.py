# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstruct.exceptions import InfeasibleError
from skstruct.losses import Absolute, Cauchy, Fair, Huber, Squared
from skstruct.spaces import Box, Embeddings, Interval
from skstruct.testing import check_decisions

numbers = st.floats(-5, 5)


@given(st.lists(numbers, min_size=1, max_size=6), st.integers(0, 100))
@settings(max_examples=40, deadline=None)
def test_squared_on_an_interval(values, seed):
    y = np.array(values)[:, None]
    space = Interval(-5.0, 5.0).fit(y)
    check_decisions(Squared(), space, y, np.linspace(-5, 5, 401)[:, None], gap=1e-12, seed=seed)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=5), st.integers(0, 100))
@settings(max_examples=25, deadline=None)
def test_squared_with_weights_on_a_box(values, seed):
    y = np.array(values)
    space = Box([-5.0, -6.0], [5.0, 7.0], labels=["a", "b"]).fit(y)
    first, second = np.linspace(-5, 5, 41), np.linspace(-6, 7, 41)
    rivals = np.array(np.meshgrid(first, second)).reshape(2, -1).T
    check_decisions(Squared({"a": 2.0, "b": 0.5}), space, y, rivals, gap=1e-12, seed=seed)


def test_large_outputs_of_small_spread_lose_no_digits():
    y = 1e8 + np.array([[0.0], [1.0], [2.0]])
    space = Interval().fit(y)
    decided = check_decisions(Squared(), space, y, y[0] + np.linspace(0, 2, 201)[:, None])
    w = np.array([[0.2, 0.5, 0.3]])
    view = Embeddings.of(space).view("squares")
    mean = view.argmin(Squared().cost(w @ view.embed(y), np.ones((1, 1)))).outputs
    np.testing.assert_allclose(mean - 1e8, [[1.1]], atol=1e-7)
    assert (decided.values == decided.bounds).all()


def test_constraints_left_open_are_the_range_of_training_and_bind_no_truth():
    space = Box().fit([[0.0, 1.0], [2.0, 5.0]])
    np.testing.assert_array_equal([space.low_, space.high_], [[0, 1], [2, 5]])
    space.validate([[9.0, 9.0]])
    assert not space.contains([[9.0, 9.0]])[0]


def test_the_format_comes_back():
    series = pd.Series([1.0, 2.0], index=["p", "q"], name="height")
    space = Interval().fit(series)
    back = space.restore(np.array([[1.5]]), index=["r"])
    pd.testing.assert_series_equal(back, pd.Series([1.5], index=["r"], name="height"))
    frame = pd.DataFrame({"b": [1, 2], "a": [3, 4]})
    space = Box(labels=["a", "b"]).fit(frame)
    np.testing.assert_array_equal(space.validate(frame), [[3, 1], [4, 2]])
    pd.testing.assert_frame_equal(space.restore(space.validate(frame)), frame.astype(float))
    assert Interval().fit([1, 2]).restore(np.array([[1.0]])).shape == (1,)
    assert Interval().fit([[1], [2]]).restore(np.array([[1.0]])).shape == (1, 1)
    single = Interval().fit(np.array([1, 2], np.float32)).restore(np.array([[1.0]]))
    assert single.dtype == np.float32


def test_constraints_go_by_name():
    Y = pd.DataFrame({"b": [1.0, 2.0], "a": [3.0, 9.0]})
    space = Box(low=pd.Series({"a": -9, "b": -8}), high={"a": 10, "b": 20}).fit(Y)
    np.testing.assert_array_equal([space.low_, space.high_], [[-8, -9], [20, 10]])
    narrowed = space.restrict(low=pd.DataFrame({"a": [3.0, 4.0], "b": [1.0, 2.0]}))
    np.testing.assert_array_equal(narrowed.argmin(np.ones((2, 2))).outputs, [[1, 3], [2, 4]])


def test_constraints_far_away_cost_no_digits():
    rng = np.random.default_rng(0)
    y, W = rng.standard_normal((50, 1)), rng.dirichlet(np.ones(50), 3)
    for loss in (Absolute(), Huber(), Cauchy(), Fair()):
        near = loss.minimize(W, y, Interval(-100, 100).fit(y))
        for limit in (1e6, 1e9):
            far = loss.minimize(W, y, Interval(-limit, limit).fit(y))
            np.testing.assert_allclose(far.outputs, near.outputs, atol=1e-6)
            assert (far.bounds <= near.values + 1e-12).all()
            assert (far.values - far.bounds <= 1e-14 * limit + 1e-9).all()


def test_restrict_row_by_row():
    space = Interval(0.0, 10.0).fit([1.0, 9.0])
    narrowed = space.restrict(low=[3.0, 5.0], high=8.0)
    np.testing.assert_array_equal(narrowed.argmin([[1.0], [-1.0]]).outputs, [[3.0], [8.0]])
    np.testing.assert_array_equal(narrowed.rows([1]).argmin([[1.0]]).outputs, [[5.0]])
    with pytest.raises(ValueError, match="for 2 rows; got 1"):
        narrowed.argmin([[1.0]])
    with pytest.raises(InfeasibleError, match="row 1"):
        space.restrict(low=[3.0, 9.0], high=8.0)
    wide = Box(0.0, 10.0).fit([[1.0, 2.0]]).restrict(high=[5.0, 7.0])
    np.testing.assert_array_equal(wide.argmin([[-1.0, -1.0]]).outputs, [[5.0, 7.0]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Interval().fit([1.0, np.nan]), r"Y\[1\] is nan"),
        (lambda: Box().fit([[1.0, 2.0], [np.inf, 1.0]]), r"Y\[1\], column 0, is inf"),
        (lambda: Interval(0, 1).fit([0.5, 1.5]), r"Y\[1\] is 1.5, above 1"),
        (lambda: Box(0, 1).fit([[0.5, -2.0]]), r"Y\[0\] is -2 in column 1, below 0"),
        (lambda: Interval(2, 1).fit([1.0]), "low is 2 and high 1"),
        (lambda: Interval(np.nan).fit([1.0]), "low is NaN"),
        (lambda: Box([0, 1, 2]).fit([[1.0, 2.0]]), "low is a number or 2 of them"),
        (lambda: Interval().fit([[1.0, 2.0]]), "Use Box for several"),
        (lambda: Interval().fit(["a"]), "expects numbers"),
        (lambda: Interval().fit(np.array(["2020-01-01"], "datetime64[D]")), "in which unit"),
        (lambda: Interval("a", 1).fit([1.0]), "low is made of numbers; got 'a'"),
        (lambda: Interval().fit([1.0, 2.0]).restrict(low=[0, np.nan]), r"low\[1\] is NaN"),
        (lambda: Box({"a": 1}, labels=["a", "b"]).fit([[1.0, 2.0]]), "no entry for 'b'"),
        (lambda: Interval().fit([]), "no rows"),
        (lambda: Box().fit([[1.0], [1.0, 2.0]]), "differ in length"),
        (lambda: Box().fit([[1.0, 2.0]]).validate([[1.0]]), "expects 2 numbers"),
        (lambda: Interval(-np.inf, np.inf).fit([1.0]).argmin([[1.0]]), "needs finite limits"),
        (lambda: Interval().fit([1.0, 2.0]).restrict(low=[[1, 2]]), "a row of 1 for"),
        (lambda: Interval().fit([1.0]).argmin([[np.nan]]), r"costs\[0, 0\] is nan"),
    ],
)  # fmt: skip
def test_clear_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_an_infinite_interval_serves_the_squared_loss_while_weights_sum_to_more_than_zero():
    space = Embeddings.of(Interval(-np.inf, np.inf).fit([1.0, 3.0])).view("squares")
    np.testing.assert_allclose(space.argmin([[-2.0, 1.0]]).outputs, [[3.0]])
    with pytest.raises(ValueError, match="row 0"):
        space.argmin([[-2.0, -1.0]])
