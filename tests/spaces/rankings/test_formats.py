# SPDX-License-Identifier: BSD-3-Clause
"""Rankings in the user's own format, and what is no ranking."""

import numpy as np
import pandas as pd
import pytest

from skstruct.spaces import Rankings


def test_ordered_lists_come_back():
    space = Rankings().fit([["tea", "milk", "rum"], ["rum", "tea"]])
    Z = space.validate([["tea", "milk", "rum"], ["rum", "tea"], ["milk", {"rum", "tea"}]])
    np.testing.assert_array_equal(Z, [[2, 3, 1], [3, 1, 2], [1, 2.5, 2.5]])
    assert space.restore(Z[:2]).tolist() == [["tea", "milk", "rum"], ["rum", "tea", "milk"]]
    top = space.restrict(top=1)
    assert top.restore(top.sample(1, 0))[0] in (["tea"], ["milk"], ["rum"])
    tuples = Rankings().fit([("b", "a")])
    assert tuples.restore([[2.0, 1.0]])[0] == ("b", "a")


@pytest.mark.parametrize("d", [3, 5, 6])
def test_a_top_is_written_and_read_back(d):
    for top in range(1, d):
        for format in (None, [[*range(1, d + 1)]], [[f"i{j}" for j in range(d)]]):
            space = Rankings(range(d) if format is None else None)
            space = space if format is None else space.fit(format)
            narrowed = space.restrict(top=top)
            Z = narrowed.enumerate()
            np.testing.assert_array_equal(narrowed.validate(narrowed.restore(Z)), Z)


def test_unlisted_items_may_be_unknown():
    last = Rankings("abc").validate([["b"]])
    unknown = Rankings("abc", unlisted="unknown").validate([["b"]])
    np.testing.assert_array_equal(last, [[2.5, 1, 2.5]])
    np.testing.assert_array_equal(unknown, [[np.nan, 1, np.nan]])


def test_frames_come_back():
    Y = pd.DataFrame({"b": [1, 2], "a": [2, 1]}, index=["x", "y"])
    space = Rankings().fit(Y)
    pd.testing.assert_frame_equal(space.restore(space.validate(Y), Y.index), Y)
    pd.testing.assert_frame_equal(space.restore(space.validate(Y[["a", "b"]]), Y.index), Y)
    series = pd.Series([["a", "b"], ["b", "a"]], index=["x", "y"], name="order")
    space = Rankings().fit(series)
    pd.testing.assert_series_equal(space.restore(space.validate(series), series.index), series)


def test_ratings_are_larger_for_the_better():
    R = np.array([[5.0, np.nan, 3.0], [1.0, 4.0, 4.0]])
    space = Rankings(scores=True).fit(R)
    Z = space.validate(R)
    np.testing.assert_array_equal(Z, 4 - R)
    np.testing.assert_array_equal(space.restore([[1.0, 3.0, 2.0]]), [[3.0, 1.0, 2.0]])
    assert space.restore([[1.0, 3.0, 2.0]]).dtype == np.float64


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([[1, 2, 4]], r"ranks from 1 \(best\) to 3.*Y\[0, 2\] is 4.*scores=True"),
        ([[1, 2, 3], [0, 1, 2]], r"Y\[1, 0\] is 0"),
        ([[1, 2, -1]], r"Y\[0, 2\] is -1"),
        ([[1, np.inf, 2]], r"Y\[0, 1\] is inf"),
        ([[np.nan, np.nan], [1, 2]], "row 0 of Y ranks no item"),
        ([["a", "b"], []], "row 1 of Y ranks no item"),
        ([["a", "b", "a"]], r"Y\[0\] lists 'a' twice"),
        ([["a", {"b", "a"}]], r"Y\[0\] lists 'a' twice"),
        ([{"a", "b"}], r"list of names with the best first.*Y\[0\]"),
        (["ab"], r"Y\[0\] is 'ab'"),
        ([["a", {}]], "hashable"),
        ([], "no rows"),
        (np.zeros((2, 0)), "no items"),
        (np.ones((2, 3), bool), r"Y\[0, 0\]"),
    ],
)
def test_bad_outputs(Y, message):
    with pytest.raises(ValueError, match=message):
        Rankings().fit(Y)


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([["a", "x"]], r"Y\[0\] holds the label 'x'"),
        ([[1, 2]], r"shape \(n_samples, 3\)"),
        (pd.DataFrame({"a": [1], "x": [2]}), r"missing: \['b', 'c'\], unknown: \['x'\]"),
    ],
)
def test_outputs_that_do_not_fit_the_items(Y, message):
    with pytest.raises(ValueError, match=message):
        Rankings("abc").validate(Y)


def test_bad_parameters():
    with pytest.raises(ValueError, match="embedding is one of"):
        Rankings("ab", "graphs").fit([[1, 2]])
    with pytest.raises(ValueError, match="listed twice"):
        Rankings("aba").fit([[1, 2, 3]])
    with pytest.raises(ValueError, match="no items"):
        Rankings([]).fit([[1]])
    with pytest.raises(ValueError, match="unlisted is"):
        Rankings("ab", unlisted="first").fit([["a"]])
    with pytest.raises(ValueError, match="holds numbers"):
        Rankings("ab", scores=True).fit([["a", "b"]])
    with pytest.warns(UserWarning, match="'c' is ranked in no row"):
        Rankings("abc").fit([[1, 2, np.nan]])


def test_small_types_do_not_wrap():
    d = 300
    for dtype in (np.int8, np.uint8, np.float16):
        space = Rankings(scores=True).fit(np.arange(d).astype(dtype)[None] % 100)
        written = space.restore(np.arange(1.0, d + 1)[None])
        np.testing.assert_array_equal(written, np.arange(d, 0, -1)[None])


def test_numbers_stay_names_once_they_were():
    space = Rankings().fit([[30, 10], [20, 10, 30]])
    assert space.items_ == (10, 20, 30)
    np.testing.assert_array_equal(space.validate([[20, 10, 30]]), [[2, 1, 3]])
    again = space.validate(space.restore([[2.0, 1.0, 3.0]]))
    np.testing.assert_array_equal(again, [[2, 1, 3]])


def test_none_is_an_item_that_was_not_ranked():
    Z = Rankings().fit([[1, 2, None], [2, 1, 3]]).validate([[1, 2, None]])
    np.testing.assert_array_equal(Z, [[1, 2, np.nan]])
    with pytest.raises(ValueError, match=r"Y\[0, 1\] is 7"):
        Rankings().fit(np.array([[1, 7]], dtype=object))


def test_ratings_that_rounding_would_tie():
    with pytest.raises(ValueError, match="row 1 of Y differ by less than rounding"):
        Rankings(scores=True).fit([[1.0, 2.0], [1e-17, 1e-18]])


def test_an_empty_series():
    with pytest.raises(ValueError, match="no rows"):
        Rankings("ab").fit(pd.Series([], dtype=object))


def test_nullable_frames_and_masked_arrays():
    frame = pd.DataFrame([[1, 2, 3], [3, 1, 2]], columns=list("abc"), dtype="Int64")
    space = Rankings().fit(frame)
    pd.testing.assert_frame_equal(space.restore(space.validate(frame), frame.index), frame)
    masked = np.ma.array([[1, 2, 3], [1, 1, 2]], mask=[[0, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(Rankings().fit(masked).validate(masked)[1], [1, np.nan, 2])


def test_frames_that_hold_no_ranks():
    for frame, message in (
        (pd.DataFrame({"a": [1, "x"], "b": [2, 1]}), "row 1, column 'a' of Y is 'x'"),
        (pd.DataFrame({"a": [1, True], "b": [2, 1]}, dtype=object), "is True"),
        (pd.DataFrame({"a": [], "b": []}), "no rows"),
    ):
        with pytest.raises(ValueError, match=message):
            Rankings().fit(frame)


def test_one_type_for_all_columns():
    frame = pd.DataFrame([np.arange(1, 301) % 100 + 1]).astype("int8")
    space = Rankings(scores=True).fit(frame)
    assert len(set(space.restore(np.arange(1.0, 301)[None]).dtypes)) == 1
