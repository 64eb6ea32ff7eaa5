# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import clone

from skstruct import ConditionalRiskMinimizer
from skstruct.learners import StructuredSVM
from skstruct.losses import F1, Hamming, HierarchicalLoss, ZeroOne
from skstruct.spaces import Uniform
from skstruct.spaces.ordinal.space import Ordinal
from skstruct.testing import check_loss, check_space


def rows(d):
    """1[z >= i] for z, i = 1..d."""
    return np.array([[int(z >= i) for i in range(1, d + 1)] for z in range(1, d + 1)], np.int8)


@given(st.integers(1, 7))
def test_levels(d):
    space = Ordinal(range(d))
    check_space(space, rows(d), n_costs=5, n_draws=500)
    for loss in (Hamming(), ZeroOne(), F1(), HierarchicalLoss()):
        check_loss(loss, space, rows(d))


def test_moments_by_their_formulas():
    d = 1000
    space = Ordinal(range(d))
    i = np.arange(1, d + 1)
    assert_array_equal(Uniform.of(space).mean_embedding(), (d - i + 1) / d)
    assert_array_equal(Uniform.of(space).second_moment(), (d - np.maximum.outer(i, i) + 1) / d)


@given(st.data())
def test_restricted(data):
    d = data.draw(st.integers(1, 6))
    level = st.one_of(st.none(), st.integers(0, d - 1))
    low, high = data.draw(level), data.draw(level)
    barred = data.draw(st.sets(st.integers(0, d - 1), max_size=2))
    allowed = [z for z in range(d) if (low or 0) <= z and z not in barred]
    allowed = [z for z in allowed if high is None or z <= high]
    space = Ordinal(range(d)).restrict(min_level=low, max_level=high, exclude=barred)
    assert space.size() == len(allowed)
    if allowed:
        check_space(space, rows(d)[allowed], n_costs=5, n_draws=500)


def test_constraints_of_each_row():
    space = Ordinal(["low", "medium", "high"]).restrict(
        min_level=["low", None, "high"], max_level=["low", "medium", None]
    )
    costs = np.tile([0.0, 1.0, -3.0], (3, 1))
    assert space.restore(space.argmin(costs).outputs).tolist() == ["low", "low", "high"]
    with pytest.raises(ValueError, match=r"max_level holds the label 'hgih'.*'high'"):
        space.restrict(max_level="hgih")


def test_hamming_is_how_many_levels_it_is_off():
    Z = rows(5)
    assert_array_equal(Hamming().pairwise(Z, Z), np.abs(np.subtract.outer(range(5), range(5))))


def test_levels_are_learned():
    assert Ordinal().fit([3, 1, 2, 3]).labels_ == (1, 2, 3)
    assert Ordinal().fit(np.array([2.5, 0.5])).labels_ == (0.5, 2.5)
    scale = pd.Categorical(["low", "high"], ["low", "medium", "high"], ordered=True)
    for Y in (scale, pd.Series(scale, index=[5, 7], name="risk")):
        space = Ordinal().fit(Y)
        assert space.labels_ == ("low", "medium", "high")
        back = space.restore(space.validate(Y), getattr(Y, "index", None))
        assert type(back) is type(Y)
        assert back.dtype == Y.dtype
        assert (back == Y).all()
    with pytest.raises(ValueError, match="no order of their own"):
        Ordinal().fit([1, "a"])


@pytest.mark.parametrize(
    ("levels", "Y"),
    [
        (None, np.array([1, 2, 1], np.int8)), (None, np.array([1.5, 2.5])),
        (["b", "a"], ["a", "b"]), ([1, 2], [2, 1]), (np.array([1, 2]), [[2], [1]]),
        (None, pd.Series([1, 2], dtype="Int64")), (None, [True, False]),
    ],
)  # fmt: skip
def test_types_come_back(levels, Y):
    Y = np.array(Y) if isinstance(Y, list) and isinstance(Y[0], list) else Y
    space = Ordinal(levels).fit(Y)
    back = space.restore(space.validate(Y))
    assert list(np.ravel(Y)) == list(back)
    assert getattr(Y, "dtype", back.dtype) == back.dtype


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([], "no rows"),
        ([1.0, np.nan], r"Y\[1\] is nan, not a level"),
        (np.zeros((2, 2)), "one level per sample.*LabelSets"),
        ([1, 7], r"Y\[1\] is the label 7"),
        ([1, {2}], r"Y\[1\] is the label \{2\}"),
    ],
)
def test_bad_levels(Y, message):
    with pytest.raises(ValueError, match=message):
        Ordinal([1.0, 2.0]).fit(Y)


def test_levels_must_be_different():
    with pytest.raises(ValueError, match="'a' is listed twice"):
        Ordinal(["a", "b", "a"]).size()
    with pytest.raises(ValueError, match="no levels"):
        Ordinal([]).size()


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hamming", "zero_one", "f1"])
@pytest.mark.parametrize("learner", [ConditionalRiskMinimizer, StructuredSVM])
def test_learners(learner, loss):
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3 + 1
    X = np.eye(3)[y - 1] + 0.05 * rng.standard_normal((30, 3))
    model = learner(space=Ordinal(), loss=loss).fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    assert model.predict(X, restrict={"max_level": 2}).max() == 2
    assert clone(model).fit(X, y).predict(X).dtype == y.dtype


def best(space, Y, number):
    """The answer where a level of this number is the one of least cost."""
    space = space.fit(Y)
    costs = np.where(np.arange(len(space.labels_)) <= number, -1.0, 1.0)
    return space.restore(space.argmin(costs[None]).outputs)


@pytest.mark.parametrize(
    ("levels", "Y", "number", "expected"),
    [
        ([0, 0.5, 1], np.array([0, 1, 1]), 1, 0.5),
        (range(300), np.array([0, 1], np.int8), 200, 200),
        ([0, 1, 2], np.array([True, False]), 2, 2),
        (["low", "mid", "high"], np.array(["low", "high"]), 1, "mid"),
    ],
)
@pytest.mark.parametrize("wrap", [np.array, pd.Series, lambda Y: pd.Series(Y, dtype="category")])
def test_levels_that_the_type_of_training_outputs_does_not_hold(levels, Y, number, expected, wrap):
    answer = best(Ordinal(levels), wrap(Y), number)
    assert list(answer) == [expected]
    seen = best(Ordinal(levels), wrap(Y), 0)  # as do those that it holds
    assert list(seen) == [levels[0]]


def test_types_that_hold_all_levels_come_back():
    for Y in (np.array([0, 1, 2], np.int8), pd.Series([0, 1, 2], dtype="Int64")):
        assert best(Ordinal(), Y, 1).dtype == Y.dtype
    categories = pd.CategoricalDtype(["low", "high"], ordered=True)
    for wrap in (pd.Series, pd.Categorical):
        answer = best(Ordinal(["low", "mid", "high"]), wrap(["low", "high"], dtype=categories), 1)
        assert list(answer) == ["mid"]
        assert answer.dtype.ordered
        assert list(answer.dtype.categories) == ["low", "mid", "high"]


def test_frames():
    frame = pd.DataFrame({"y": [2, 1, 2]})
    space = Ordinal().fit(frame)
    assert space.labels_ == (1, 2)
    assert space.restore(space.validate(frame)).tolist() == [2, 1, 2]
    with pytest.raises(ValueError, match=r"one level per sample; Y has shape \(3, 2\)"):
        Ordinal().fit(frame.assign(z=3))


def test_levels_that_are_excluded():
    space = Ordinal([1, 2, 3])
    for exclude in ([1, 2], (1, 2), {1, 2}, np.array([1, 2]), pd.Series([1, 2])):
        assert space.restore(space.restrict(exclude=exclude).enumerate()).tolist() == [3]
    by_row = space.restrict(exclude=[[3], [2, 3]], min_level=[2, None])
    assert by_row.restore(by_row.argmin(np.zeros((2, 3))).outputs).tolist() == [2, 1]
    for exclude, message in ([None], "the label None"), (2, "got 2"), ("a", "got the text 'a'"):
        with pytest.raises(ValueError, match=message):
            space.restrict(exclude=exclude)


@pytest.mark.parametrize("bad", [{1}, [[1], [2]], [4]])
def test_bounds_that_are_no_levels(bad):
    with pytest.raises(ValueError, match=r"min_level holds the label .* not one of the 3 known"):
        Ordinal([1, 2, 3]).restrict(min_level=bad)


def test_what_cannot_be_levels():
    with pytest.raises(ValueError, match="levels are a list from the lowest up; got 5"):
        Ordinal(5).size()
    with pytest.raises(ValueError, match="NaN equals nothing"):
        Ordinal([1.0, float("nan")]).size()
    with pytest.raises(ValueError, match="max_level is a level, or one per row; got none"):
        Ordinal([1, 2]).restrict(max_level=[])


@pytest.mark.slow
def test_many_levels_need_no_square(monkeypatch):
    monkeypatch.setattr(Ordinal, "above_", property(lambda self: pytest.fail("d x d numbers")))
    d, space = 10**5, Ordinal(range(10**5)).fit([0, 7])
    costs = np.random.default_rng(0).normal(size=(2, d))
    found = space.argmin(costs)
    assert_array_equal(space.restore(found.outputs), costs.cumsum(axis=1).argmin(axis=1))
    assert space.contains(found.outputs).all()
    assert Uniform.of(space.restrict(min_level=d - 2)).mean_embedding()[-3:].tolist() == [
        1.0,
        1.0,
        0.5,
    ]
