# SPDX-License-Identifier: BSD-3-Clause
"""Rows that are one of several outputs, or whatever obeys a dictionary, against enumeration."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import (
    Candidates,
    Classes,
    Hierarchy,
    Interval,
    Known,
    LabelSets,
    OneOf,
    PairwiseStates,
    Rankings,
    Sequences,
    SpanningTrees,
    Uniform,
)
from skstruct.spaces.partial import are_partial

MIXED = [
    (
        LabelSets(list("abc")),
        [{"a"}, OneOf([{"a", "b"}, {"c"}, {"c"}]), {"max_size": 1}, None, {"include": ["b"]},
         {"include": ["a"], "max_size": 2}, {"max_size": 1, "exclude": ["c"]}],
        [1, 2, 4, 8, 4, 3, 3],
    ),
    (
        Hierarchy([("r", "a"), ("r", "b")]),
        [{"r", "a"}, {"one_path": True}, OneOf([set(), {"r", "b"}]), {"exclude": ["a"]}],
        [1, 2, 2, 3],
    ),
    (
        Rankings(["a", "b", "c"]),
        [["b", "a", "c"], ["a"], {"before": [("c", "a")]}, {"positions": {"a": 1}}, None,
         {"before": [("c", "a"), ("c", "b")]}, OneOf([["a", "b", "c"], ["c", "b", "a"]])],
        [1, 2, 3, 2, 6, 2, 2],
    ),
    (
        Sequences("ab", length=(1, 2)),
        [["a", "b"], ["a", None], {"known": {0: "b"}}, {"length": 1}, None, OneOf([["a"], ["b"]])],
        [1, 2, 3, 2, 6, 2],
    ),
    (
        PairwiseStates([("u", "v")], ["x", "y", "z"], ["u", "v"]),
        [["x", "z"], {"known": {"u": "y"}}, OneOf([["y", "x"], ["x", "x"]])],
        [1, 3, 2],
    ),
    (
        SpanningTrees(["p", "q", "r"]),
        [[("p", "q"), ("q", "r")], {"include": [("p", "q")]}, None],
        [1, 2, 3],
    ),
]  # fmt: skip


def outputs_of(partial, i):
    row = partial.allowed.rows([i])
    return np.asarray(row.enumerate())


@pytest.mark.parametrize(("space", "Y", "sizes"), MIXED)
@settings(deadline=None, max_examples=5)
@given(seed=st.integers(0, 2**32 - 1))
def test_every_row_allows_what_it_says(space, Y, sizes, seed):
    partial = Known.of(space).read(Y)
    assert len(partial) == len(Y)
    assert not partial.by_parts
    assert partial.complete.tolist() == [size == 1 for size in sizes]
    assert partial.allowed.contains(partial.outputs)[partial.complete].all()
    lists = [outputs_of(partial, i) for i in range(len(Y))]
    assert [len(rows) for rows in lists] == sizes
    psi = [space.embed(rows) for rows in lists]
    psi = [p.toarray() if hasattr(p, "toarray") else np.asarray(p) for p in psi]
    costs = np.random.default_rng(seed).normal(size=(len(Y), psi[0].shape[1]))
    found = partial.allowed.argmin(costs)
    np.testing.assert_allclose(found.values, [(p @ c).min() for p, c in zip(psi, costs)])
    assert partial.allowed.contains(found.outputs).all()
    some = np.random.default_rng(seed).permutation(len(Y))[:3]
    again = partial.rows(some).allowed.argmin(costs[some])
    np.testing.assert_allclose(again.values, found.values[some])
    for i, p in enumerate(psi):
        if not partial.complete[i]:
            mean = Uniform.of(partial.allowed.rows([i])).mean_embedding()
            np.testing.assert_allclose(mean, p.mean(axis=0), atol=1e-12)


@pytest.mark.parametrize(("space", "Y", "sizes"), MIXED)
def test_candidates_are_recognized(space, Y, sizes):
    assert are_partial(Y)
    whole = [row for row, size in zip(Y, sizes) if size == 1]
    assert not are_partial(whole)


@pytest.mark.parametrize("Y", [
    [{"colour": 1}, {"colour": 2}], [{}, {"size": 3}], ["a", "b"], [1, 2], [[1, 2], [2, 1]],
    [{"a", "b"}, set()], [("a", "b"), ("b",)], np.eye(2), ["abc", "abb"],
])  # fmt: skip
def test_ordinary_outputs_are_not_misread(Y):
    assert not are_partial(Y)


def test_outputs_that_are_dictionaries_stay_what_they_are():
    kinds = [{"low": 1}, {"low": 2}]
    space = Candidates(kinds)
    partial = Known.of(space).read([kinds[0], OneOf(kinds), None])
    assert partial.complete.tolist() == [True, False, False]
    assert partial.allowed.argmin(np.array([[0.0, -1.0]] * 3)).outputs.tolist() == [0, 1, 1]


def test_one_of_is_a_set_of_classes():
    partial = Known.of(Classes()).read(["a", OneOf(["b", "c"]), {"b", "c"}, None])
    np.testing.assert_array_equal(partial.allowed.allowed_[1], partial.allowed.allowed_[2])


def test_numbers_have_limits_and_lists():
    space = Interval()
    partial = Known.of(space).read([1.0, {"low": 2.0}, {"low": 0.0, "high": 1.0}, None])
    assert partial.complete.tolist() == [True, False, False, False]
    np.testing.assert_allclose(partial.allowed.constraints_.low[1], 2.0)
    assert np.isinf(partial.allowed.constraints_.high[[1, 3]]).all()
    partial = Known.of(space).read([1.0, OneOf([2.0, 5.0])])
    assert partial.allowed.contains(np.array([[1.0], [5.0]])).all()
    assert not partial.allowed.contains(np.array([[1.0], [4.0]]))[1]


def test_a_series_stays_a_series():
    space = LabelSets()
    Known.of(space).read(pd.Series([{"a"}, OneOf([{"b"}, {"a", "c"}])], name="tags"))
    assert space.restore(np.eye(3, dtype=np.int8)).name == "tags"


@pytest.mark.parametrize(("space", "Y", "kind", "words"), [
    (LabelSets(), [{"a"}, {"colour": "red"}], ValueError, r"Y\[1\] is {'colour': 'red'}"),
    (LabelSets(), [{"a"}, {"include": ["a"], "max_size": 0}], InfeasibleError, r"Y\[1\]"),
    (LabelSets(["a"]), [{"a"}, OneOf([{"a"}, {"z"}])], ValueError, r"Y\[1\] holds the label 'z'"),
    (Rankings(), [["a", "b"], {"before": [("a", "z")]}], ValueError, r"Y\[1\].*'z'"),
    (Rankings(), [["a", "b", "c"], OneOf([["a"]])], ValueError, r"Y\[1\] = OneOf.*missing parts"),
    (Rankings(), [{"before": [("a", "b")]}], ValueError, "no row of Y is written out"),
    (Sequences(), ["ab", {"known": {0: "z"}}], ValueError, r"Y\[1\]"),
    (Interval(), [1.0, {"above": 2.0}], ValueError, r"Y\[1\] is {'above': 2.0}"),
])  # fmt: skip
def test_errors_name_the_row(space, Y, kind, words):
    with pytest.raises(kind, match=words):
        Known.of(space).read(Y)


def test_one_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one output"):
        OneOf([])
    with pytest.raises(ValueError, match="a list of outputs"):
        OneOf("abc")


def test_cells_and_candidates_are_not_mixed():
    with pytest.raises(ValueError, match="Give one or the other"):
        Known.of(LabelSets()).read([{"a"}, OneOf([{"b"}])], known=np.ones((2, 2), bool))
