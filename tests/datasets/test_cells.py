# SPDX-License-Identifier: BSD-3-Clause
"""Outputs as text: by eye, and back again whatever the names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct.datasets.formats.cells import ranked_items, ranks_of, read_cell, write_cell
from skstruct.exceptions import DataFormatError

# Names that hold every mark of the texts, line ends and spaces at their ends.
NAMES = st.text(st.sampled_from("ab;>=\\ \n\t,\"'é"), min_size=1, max_size=6)
DISTINCT = st.lists(NAMES, unique=True, max_size=5)


@pytest.mark.parametrize(
    ("task", "output", "text"),
    [
        ("classes", "a;b", "a;b"),
        ("labels", (), ""),
        ("labels", ("b", "a"), "b;a"),
        ("labels", ("x;y", "\\"), r"x\;y;\\"),
        ("hierarchy", ("1/1/2",), "1/1/2"),
        ("labels", (" a ", " "), "\\ a\\ ;\\ "),
        ("ranking", (("a",), ("b", "c>")), r"a>b=c\>"),
        ("sequence", ("B-NP", "I NP"), r"B-NP I\ NP"),
        ("regression", (0.1,), "0.1"),
        ("histogram", (0.25, 0.75), "0.25 0.75"),
    ],
)
def test_by_eye(task, output, text):
    assert write_cell(task, output) == text
    assert read_cell(task, text) == output


def test_a_ranking_without_ties_may_be_plain():
    assert write_cell("ranking", ("b", "a")) == "b>a"
    assert read_cell("ranking", " b > a ") == (("b",), ("a",))


def test_spaces_around_labels_say_nothing():
    assert read_cell("labels", " a ;b ") == ("a", "b")
    assert read_cell("sequence", "a  b ") == ("a", "b")


@given(DISTINCT)
def test_label_sets_come_back(names):
    for task in ("labels", "hierarchy"):
        assert read_cell(task, write_cell(task, tuple(names))) == tuple(names)


@given(st.lists(NAMES, max_size=5))
def test_sequences_come_back(names):
    assert read_cell("sequence", write_cell("sequence", names)) == tuple(names)


@given(DISTINCT, st.data())
def test_rankings_come_back(names, data):
    ranks = data.draw(st.lists(st.integers(0, 3), min_size=len(names), max_size=len(names)))
    groups = ranked_items(ranks, names)
    assert read_cell("ranking", write_cell("ranking", groups)) == groups
    dense = {rank: position for position, rank in enumerate(sorted(set(ranks) - {0}), 1)}
    assert ranks_of(groups, names) == [dense.get(rank, 0) for rank in ranks]


@given(st.lists(st.floats(allow_nan=False), max_size=4))
def test_numbers_come_back(numbers):
    assert read_cell("regression", write_cell("regression", numbers)) == tuple(numbers)


@pytest.mark.parametrize(
    ("task", "text", "message"),
    [
        ("labels", "a;;b", "a name is missing"),
        ("labels", "a;", "a name is missing"),
        ("labels", "a;b;a", "the label 'a' comes twice"),
        ("labels", "a\\b", "a backslash in .* stands before 'b'"),
        ("labels", "a\\", "a backslash in .* stands before ''"),
        ("ranking", "a>b=a", "the item 'a' comes twice"),
        ("ranking", ">b", "a name is missing"),
        ("sequence", "a\\b", "a backslash"),
        ("regression", "1_0", "'1_0' is not a number"),
    ],
)
def test_bad_text(task, text, message):
    with pytest.raises(DataFormatError, match=message):
        read_cell(task, text)


@pytest.mark.parametrize(
    ("task", "output", "message"),
    [
        ("labels", ("a", "a"), "comes twice"),
        ("labels", ("",), "not empty"),
        ("ranking", ("a", ("b", "a")), "comes twice"),
        ("sequence", ("a", 3), "a text"),
    ],
)
def test_bad_output(task, output, message):
    with pytest.raises(ValueError, match=message):
        write_cell(task, output)


@given(st.text(max_size=30), st.sampled_from(["labels", "ranking", "sequence", "regression"]))
def test_any_text_is_read_or_refused(text, task):
    try:
        output = read_cell(task, text)
    except DataFormatError:
        return
    again = write_cell(task, output)
    assert write_cell(task, read_cell(task, again)) == again
