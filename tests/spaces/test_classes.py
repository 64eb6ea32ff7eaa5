# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from skstruct.spaces import Candidates, Classes, Known, OneOf
from skstruct.testing import check_space


@pytest.mark.parametrize(
    "labels", [["b", "a", "c"], [3, 1], [True, False], [2.5, 0.5], [("a", 1), "x"]]
)
def test_classes(labels):
    if ("a", 1) in labels:
        column = np.empty(2, dtype=object)
        column[:] = labels
        labels = column
    check_space(Classes().fit(labels), np.arange(len(labels)))


def test_own_types_and_order_come_back():
    space = Classes(labels=["low", "high"]).fit(["high", "low"])
    assert space.validate(["high", "low"]).tolist() == [1, 0]
    series = pd.Series(["x", "y"], index=[7, 8], name="kind")
    space = Classes().fit(series)
    pd.testing.assert_series_equal(space.restore(space.validate(series), series.index), series)


@pytest.mark.parametrize("dtype", ["category", "Int64", "string"])
def test_series_keep_their_type(dtype):
    series = pd.Series(["1", "2", "1"] if dtype != "Int64" else [1, 2, 1]).astype(dtype)
    space = Classes().fit(series)
    pd.testing.assert_series_equal(space.restore(space.validate(series), series.index), series)


def test_mixed_types_stay_what_they_are():
    space = Classes().fit([1, "a", 1])
    assert space.restore(space.validate(["a", 1])).tolist() == ["a", 1]


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([], "no rows"),
        ([None, 1], r"Y\[0\] is None"),
        (np.zeros((2, 2)), "LabelSets"),
        ([1.0, np.nan], r"Y\[1\] is nan"),
    ],
)
def test_bad_classes(Y, message):
    with pytest.raises(ValueError, match=message):
        Classes().fit(Y)


def test_unfitted_spaces_say_so():
    with pytest.raises(NotFittedError):
        Classes().argmin(np.zeros((1, 1)))
    assert Candidates(["a"]).argmin(np.zeros((1, 1))).outputs == [0]  # nothing was left open


def test_unknown_class():
    with pytest.raises(ValueError, match=r"Y\[1\] is the label 'dgo'.*'dog'"):
        Classes().fit(["cat", "dog"]).validate(["cat", "dgo"])


def test_candidates_of_any_kind():
    outputs = [{"a": 1}, np.array([1, 2]), "text", ("t", 3), frozenset({1})]
    space = Candidates(outputs).fit([outputs[1], outputs[0]])
    check_space(space, np.arange(5), n_draws=2000)
    assert space.validate([np.array([1, 2]), {"a": 1}]).tolist() == [1, 0]
    with pytest.raises(ValueError, match=r"Y\[0\] is 'other'"):
        space.validate(["other"])
    with pytest.raises(ValueError, match="empty"):
        Candidates([]).fit([1])


def test_training_outputs_beyond_the_candidates_are_never_predicted():
    space = Candidates(["a", "b"]).fit(["a", "z"])
    assert space.embed(space.validate(["z"])).tolist() == [[0, 0, 1]]
    assert space.argmin(np.array([[0.0, 1.0, -9.0]])).outputs.tolist() == [0]
    assert space.size() == 2


def test_labels_that_the_type_of_training_outputs_does_not_hold():
    for labels, Y in (
        (["a", "b", "c"], pd.Series(["a", "b"], dtype="category")),
        ([0, 1, 0.5], pd.Series([0, 1])),
        ([0, 1, 300], pd.Series([0, 1], dtype=np.int8)),
        ([0, 1, 0.5], pd.Series([0, 1], dtype="Int64")),
        ([0, 1, "x"], pd.Series([0, 1])),
    ):
        space = Classes(labels).fit(Y)
        assert space.restore(np.array([2, 0])).tolist() == [labels[2], labels[0]]


def test_what_is_no_class():
    assert Classes().fit(["a", "b"]).contains([0, 0.5, 1, 2, -1]).tolist() == [1, 0, 1, 0, 0]
    with pytest.raises(NotFittedError):
        Classes().size()
    assert Classes(["a"]).size() == 1


def test_costs_of_candidates_have_one_column_for_all_that_is_known():
    space = Candidates(["a", "b"]).fit(["a", "c"])
    assert space.argmin(np.array([[1.0, 0.5, 0.0]])).outputs.tolist() == [1]
    for shape in ((1, 2), (1, 4), (3,)):
        with pytest.raises(ValueError, match=r"expects costs of shape \(n_samples, 3\)"):
            space.argmin(np.zeros(shape))


def test_candidates_that_hold_arrays():
    def output(*numbers):
        return {"kind": [1, (np.array(numbers),)]}

    space = Candidates([output(1, 2), output(3)]).fit([output(3)])
    assert space.n_known_ == 2
    assert space.validate([output(3), output(1, 2)]).tolist() == [1, 0]
    with pytest.raises(ValueError, match="neither a candidate"):
        space.validate([output(1)])


def test_a_few_among_very_many_classes():
    """A table of all classes by all would take 300 GB."""
    for space in (Classes(range(200_000)), Candidates(range(200_000))):
        psi = space.fit([0, 7]).embed(np.array([7, 199_999]))
        assert psi.shape == (2, 200_000)
        assert psi.sum() == psi[0, 7] + psi[1, 199_999] == 2.0


def test_narrowed_classes_contain_candidates_alone():
    space = Classes(list("abcd"))
    allowed = Known.of(space).read(["a", OneOf(["b", "c"]), "d"]).allowed
    inside = [allowed.contains(np.full(3, k)).tolist() for k in range(4)]
    assert inside == [[True, False, False], [False, True, False], [False, True, False],
                      [False, False, True]]  # fmt: skip
