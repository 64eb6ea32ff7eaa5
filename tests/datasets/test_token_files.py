# SPDX-License-Identifier: BSD-3-Clause
"""Words and letters in files: by eye, bad ones by their message, round trips by chance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from skstruct.datasets.dataset import Dataset, Table
from skstruct.datasets.reading import read_data
from skstruct.datasets.writing import write_data
from skstruct.exceptions import DataFormatError

SENTENCES = "-DOCSTART- -X- O\n\nHe PRP B-NP\nran  VBD B-VP \n\n \nNo DT O\n"


def read(folder, text, name="t.conll", **options):
    path = folder / name
    path.write_bytes(text.encode())
    return read_data(path, **options)


@pytest.mark.parametrize("name", ["t.conll", "t.txt", "t"])
@pytest.mark.parametrize("mark", [" ", "\t"])
def test_sentences(tmp_path, name, mark):
    text = SENTENCES.replace("  ", " ").replace("VP \n", "VP\n").replace("\n \n", "\n\n")
    data = read(tmp_path, text.replace(" ", mark), name)
    assert (data.format, data.task) == ("conll", "sequence")
    assert data.inputs == [[("He", "PRP"), ("ran", "VBD")], [("No", "DT")]]
    assert data.outputs == [("B-NP", "B-VP"), ("O",)]
    assert data.labels == ("B-NP", "B-VP", "O")


def test_columns_are_chosen(tmp_path):
    data = read(tmp_path, SENTENCES, targets="2")
    assert data.inputs[0] == [("He", "B-NP"), ("ran", "B-VP")]
    assert data.outputs[0] == ("PRP", "VBD")
    data = read(tmp_path, "He\nran\n\nNo\n", targets=())
    assert (data.inputs, data.outputs) == ([[("He",), ("ran",)], [("No",)]], None)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a B\nb\n", {}, "line 2: expected 2 fields, got 1"),
        ("a\tB\nb\t\n", {}, "line 2, column 2: an empty field"),
        ("a\nb\n", {}, "there is no tag; for a file without tags give no targets"),
        ("a B\n", {"targets": "3"}, "the number of the column of tags, 1 to 2, got '3'"),
        ("a B\n", {"targets": ("1", "2")}, "the number of the column of tags"),
        ("\n\n", {}, "the file has no tokens"),
        ("", {}, "the file is empty"),
        ("a B\n", {"task": "ranking"}, "hold sequence, not 'ranking'"),
    ],
)
def test_bad_sentences(tmp_path, text, options, message):
    with pytest.raises(DataFormatError, match=message):
        read(tmp_path, text, **options)


# Fields of any characters but line ends, tabs, NUL, and spaces at their ends.
FIELDS = st.text(
    st.characters(exclude_characters="\0\r\n\t", exclude_categories=["Cs"]), min_size=1, max_size=5
).filter(lambda field: field == field.strip(" ") and not field.startswith("-DOCSTART-"))


@st.composite
def sentences(draw):
    width = draw(st.integers(1, 3))
    token = st.tuples(*[FIELDS] * width)
    inputs = draw(st.lists(st.lists(token, min_size=1, max_size=3), min_size=1, max_size=3))
    tags = [tuple(draw(FIELDS) for _ in sentence) for sentence in inputs]
    labels = tuple(sorted({tag for sentence in tags for tag in sentence}))
    return Dataset("d", "conll", "sequence", inputs, tags, labels)


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".conll", ".conll.gz", ".iob.xz"])
@given(data=sentences())
@settings(max_examples=100, deadline=None)
def test_sentences_come_back(tmp_path_factory, ending, data):
    path = tmp_path_factory.getbasetemp() / f"token_trip{ending}"
    write_data(data, path)
    found = read_data(path)
    assert (found.inputs, found.outputs, found.labels) == (data.inputs, data.outputs, data.labels)


def test_sentences_without_tags_come_back(tmp_path):
    data = Dataset("d", "conll", "sequence", [[("a", "b c")]])
    write_data(data, tmp_path / "d.conll")
    assert (tmp_path / "d.conll").read_text() == "a\tb c\n\n"
    assert read_data(tmp_path / "d.conll", targets=()).inputs == data.inputs


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ([[("a",), ("b", "c")]], None, "1 to 2 fields"),
        ([[("a",)]], [("A", "B")], "1 tokens and 2 tags"),
        ([[]], [()], "sequence 1 has no words"),
        ([np.zeros((2, 3))], [("A", "B")], "sequence 1 has no words"),
        ([[("a\tb",)]], [("A",)], "holds a tab"),
        ([[("",)]], [("A",)], "is empty"),
        ([[("-DOCSTART-",)]], [("A",)], "which is a mark and no token"),
        ([[("a b",)]], None, "need a second column"),
    ],
)
def test_what_cannot_be_written(tmp_path, inputs, outputs, message):
    data = Dataset("d", "conll", "sequence", inputs, outputs)
    with pytest.raises(DataFormatError, match=message):
        write_data(data, tmp_path / "d.conll")
    assert list(tmp_path.iterdir()) == []


# Letters and rankings


@given(st.lists(st.text("abcz", min_size=1, max_size=4), min_size=1, max_size=4), st.integers(0, 9))
@settings(max_examples=30, deadline=None)
def test_words_come_back(tmp_path_factory, words, seed):
    rng = np.random.default_rng(seed)
    images = [rng.integers(0, 2, (len(word), 128)).astype(float) for word in words]
    folds = rng.integers(0, 10, len(words))
    labels = tuple(sorted(set("".join(words))))
    data = Dataset("letter", "letters", "sequence", images, list(map(tuple, words)), labels,
                   folds=folds)  # fmt: skip
    path = tmp_path_factory.getbasetemp() / "letter.data.gz"
    write_data(data, path)
    found = read_data(path)
    assert (found.format, found.name) == ("letters", "letter")
    assert (found.outputs, found.labels) == (data.outputs, labels)
    assert_array_equal(found.folds, folds)
    for image, expected in zip(found.inputs, images):
        assert_array_equal(image, expected)


@given(st.integers(1, 4), st.integers(1, 5), st.integers(1, 6), st.data())
@settings(max_examples=60, deadline=None)
def test_rankings_come_back(tmp_path_factory, n_features, n_labels, n, data):
    finite = st.floats(allow_nan=False, allow_infinity=False)
    X = np.array([[data.draw(finite) for _ in range(n_features)] for _ in range(n)])
    Y = np.array([data.draw(st.permutations(range(1, n_labels + 1))) for _ in range(n)])
    names = tuple(f"x{j + 1}" for j in range(n_features))
    table = Table(names, (None,) * n_features, X)
    labels = tuple(f"L{k + 1}" for k in range(n_labels))
    path = tmp_path_factory.getbasetemp() / "ranking_trip.csv"
    write_data(Dataset("d", "label-ranking", "ranking", table, Y, labels), path)
    found = read_data(path)
    assert (found.format, found.inputs.names, found.labels) == ("label-ranking", names, labels)
    assert_array_equal(found.inputs.data, X)
    assert_array_equal(found.outputs, Y)


@pytest.mark.parametrize(
    ("X", "values", "Y", "message"),
    [
        ([[1.0]], (None,), [[1, 1]], "without ties"),
        ([[np.nan]], (None,), [[1, 2]], "features without a gap"),
        ([[0.0]], (("a",),), [[1, 2]], "'x' is nominal"),
    ],
)
def test_rankings_that_cannot_be_written(tmp_path, X, values, Y, message):
    data = Dataset("d", "csv", "ranking", Table(("x",), values, np.array(X)), np.array(Y))
    with pytest.raises(DataFormatError, match=message):
        write_data(data, tmp_path / "d.csv", format="label-ranking")
