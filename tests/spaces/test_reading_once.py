# SPDX-License-Identifier: BSD-3-Clause
"""``fit_validate`` reads once what ``fit`` and ``validate`` read twice, with the same result."""

import copy

import numpy as np
import pandas
import pytest
from numpy.testing import assert_array_equal

from skstruct.spaces import (
    Box,
    Classes,
    Hierarchy,
    Interval,
    LabelSets,
    Matchings,
    PairwiseStates,
    PartialOrders,
    Rankings,
    Sequences,
    Strings,
)
from skstruct.spaces.base import BaseSpace

SETS = [{"a", "b"}, {"a"}, set(), {"a", "c"}]
TREE = [("a", "b"), ("a", "c")]
CASES = {
    "classes": (Classes(), ["dog", "cat", "dog"]),
    "numbered classes": (Classes([3, 1, 2]), [1, 2, 1]),
    "series of classes": (Classes(), pandas.Series(["x", "y", "x"], name="z")),
    "label sets": (LabelSets(), SETS),
    "known label sets": (LabelSets("cbad"), SETS),
    "indicators": (LabelSets(), np.array([[1, 0], [0, 1]])),
    "hierarchy": (Hierarchy(TREE), SETS),
    "closed hierarchy": (Hierarchy(TREE, close=True), [{"b"}, {"c"}, set()]),
    "ranks": (Rankings(), np.array([[1, 2, 3], [3, 1, 2]])),
    "named orders": (Rankings(), [["b", "a", "c"], ["c", "a", "b"]]),
    "sequences": (Sequences(), [list("abc"), list("ba")]),
    "strings": (Strings(), ["abba", "baa"]),
    "interval": (Interval(), [0.5, 1.25, 3.0]),
    "box": (Box(), np.array([[0.5, 1.0], [2.0, 3.5]])),
    "matchings": (Matchings(), [[("a", "b"), ("c", "d")], [("a", "c"), ("b", "d")]]),
    "partial orders": (PartialOrders(), [{("a", "b")}, ["c", "a", "b"]]),
    "states": (PairwiseStates([(0, 1)]), np.array([[0, 2], [1, 1]])),
}


@pytest.mark.parametrize("case", CASES)
def test_as_fit_and_validate(case):
    space, Y = CASES[case]
    twice, once = copy.copy(space), copy.copy(space)
    expected, found = twice.fit(Y).validate(Y), once.fit_validate(Y)
    assert_array_equal(found, expected)
    assert found.dtype == expected.dtype
    assert vars(once).keys() == vars(twice).keys()
    assert_array_equal(np.asarray(once.validate(Y)), expected)


def test_what_a_child_changes_is_kept():
    """Another ``fit`` or ``validate`` is not passed over by the reading of the parent."""

    class Lower(LabelSets):
        def validate(self, Y):
            return 1 - super().validate(Y)

    class Noted(Hierarchy):
        def fit(self, Y):
            self.noted_ = len(Y)
            return super().fit(Y)

    class Own(BaseSpace):
        def validate(self, Y):
            return np.asarray(Y)

    assert_array_equal(Lower("ab").fit_validate([{"a"}]), [[0, 1]])
    space = Noted(TREE)
    assert space.fit_validate(SETS).shape == (4, 3)
    assert space.noted_ == 4
    assert_array_equal(Own().fit_validate([1, 2]), [1, 2])
