# SPDX-License-Identifier: BSD-3-Clause
"""Readers of sequences: small files by eye, bad files by their message, real ones by size."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skstruct.datasets.images import load_ocr_words
from skstruct.datasets.sequences import load_conll2000, load_enzymes
from skstruct.exceptions import MissingDataError

PIXELS = "\t".join(["0", "1"] * 64)
DARK = "\t".join(["1"] * 128)


@pytest.fixture
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("SKSTRUCT_DATA", str(tmp_path))
    for name in ("ocr_letters", "enzyme_ec", "conll2000"):
        (tmp_path / name).mkdir()
    return tmp_path


# Handwritten words


def write_letters(home, *lines):
    (home / "ocr_letters" / "letter.data").write_text("".join(f"{line}\n" for line in lines))


def test_small_words(home):
    write_letters(
        home,
        f"1\ta\t2\t1\t1\t3\t{PIXELS}",
        f"2\tt\t-1\t1\t2\t3\t{DARK}\t",  # the published file ends its lines by a tab
        f"3\ta\t-1\t2\t1\t0\t{DARK}",
    )
    data = load_ocr_words()
    assert data.words == ["at", "a"]
    assert_array_equal(data.folds, [3, 0])
    assert data.folds.dtype == np.int64
    assert_array_equal(data.images[0], [[0, 1] * 64, [1] * 128])
    assert_array_equal(data.images[1], [[1] * 128])
    assert_array_equal(data.padded(), [[0, 1] * 64 + [1] * 128, [1] * 128 + [0] * 128])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("2\tt\t-1\t1\t2\t0\t1\t0", "letter.data, line 2: expected 134 fields .* got 8"),
        (f"2\tT\t-1\t1\t2\t0\t{PIXELS}", "line 2, column 2: 'T' is not a letter of a to z"),
        (f"2\tt\tx\t1\t2\t0\t{PIXELS}", "line 2, column 3: 'x' is not a whole number"),
        (f"2\tt\t-1\t1\t2\t0\t{PIXELS[:-1]}7", "line 2, column 134: pixels are 0 or 1, got '7'"),
        (f"2\tt\t-1\t1\t2\t0\t{PIXELS[:-1]}nan", "line 2, column 134: pixels .* got 'nan'"),
        (f"2\tt\t3\t1\t2\t0\t{PIXELS}", "letter.data, line 2: the last word has no end"),
    ],
)
def test_bad_letter(home, line, message):
    write_letters(home, f"1\ta\t2\t1\t1\t0\t{PIXELS}", line)
    with pytest.raises(ValueError, match=message):
        load_ocr_words()


def test_no_letters(home):
    write_letters(home)
    with pytest.raises(ValueError, match=r"letter\.data: the file is empty"):
        load_ocr_words()


@pytest.mark.slow
def test_real_words(real_data):
    data = real_data(load_ocr_words)
    assert (len(data.words), len(set(data.words)), sum(map(len, data.words))) == (6877, 55, 52152)
    assert_array_equal(np.bincount(data.folds), [626, 704, 684, 698, 693, 651, 739, 717, 690, 675])
    assert [len(image) for image in data.images] == [len(word) for word in data.words]
    assert (min(map(len, data.words)), max(map(len, data.words))) == (3, 14)
    assert data.words[0] == "ommanding"
    vectors = data.padded()
    assert vectors.shape == (6877, 14 * 128)
    assert vectors.sum() == sum(image.sum() for image in data.images)


# Enzymes

HEADER = "Entry\tEC number\tSequence"


def write_enzymes(home, *lines, part="split10"):
    (home / "enzyme_ec" / f"{part}.csv").write_text("".join(f"{line}\n" for line in lines))


def test_small_enzymes(home):
    write_enzymes(home, HEADER, "P1\t1.2.3.4\tMEL", "P2\t1.2.3.4;2.1.1.n8\tMA")
    write_enzymes(home, HEADER, part="new")
    data = load_enzymes()
    assert (data.entries, data.sequences) == (["P1", "P2"], ["MEL", "MA"])
    assert data.numbers == [("1.2.3.4",), ("1.2.3.4", "2.1.1.n8")]
    with pytest.raises(ValueError, match="'P2' has 2 EC numbers"):
        data.paths  # noqa: B018
    alone = load_enzymes(single=True)
    assert (alone.entries, alone.paths) == (["P1"], [("1", "2", "3", "4")])
    assert load_enzymes("new").entries == []
    with pytest.raises(ValueError, match="part is one of 'split10', 'new', got 'old'"):
        load_enzymes("old")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("P2,1.2.3.4,MEL", "split10.csv, line 3: expected 3 fields separated by tabs, got 1"),
        ("P2\t1.2.3\tMEL", "split10.csv, line 3: '1.2.3' is not an EC number of four parts"),
        ("P2\t1.2.3.4;\tMEL", "split10.csv, line 3: '' is not an EC number"),
        ("P2\t1.2..4\tMEL", "split10.csv, line 3: '1.2..4' is not an EC number"),
        ("P2\t1.2.3.4\tMeL", "split10.csv, line 3: 'MeL' is not a sequence of capital"),
        ("P2\t1.2.3.4\t", "split10.csv, line 3: '' is not a sequence of capital"),
    ],
)
def test_bad_enzyme(home, line, message):
    write_enzymes(home, HEADER, "P1\t1.2.3.4\tMEL", line)
    with pytest.raises(ValueError, match=message):
        load_enzymes()


def test_bad_header(home):
    write_enzymes(home, "P1\t1.2.3.4\tMEL")
    with pytest.raises(ValueError, match=r"split10\.csv, line 1: expected the names"):
        load_enzymes()


@pytest.mark.slow
def test_real_enzymes(real_data):
    data, later = real_data(load_enzymes), real_data(load_enzymes, "new")
    assert (len(data.entries), len(later.entries)) == (7757, 392)
    assert len(set(data.entries)) == 7757
    nodes = [{tuple(number.split(".")[:depth]) for numbers in data.numbers for number in numbers}
             for depth in (1, 2, 3, 4)]  # fmt: skip
    assert [len(level) for level in nodes] == [7, 69, 229, 2702]
    assert min(map(len, data.sequences)) == 4
    alone = load_enzymes(single=True)
    assert (len(alone.paths), len(load_enzymes("new", single=True).paths)) == (7247, 334)
    assert {len(path) for path in alone.paths} == {4}


# Chunks of text


def write_sentences(home, train, test=". . O\n"):
    (home / "conll2000" / "train.txt").write_text(train)
    (home / "conll2000" / "test.txt").write_text(test)


def test_small_sentences(home):
    write_sentences(home, "He PRP B-NP\nran VBD B-VP\n\n\nNo DT B-NP\nwords NNS I-NP\n")
    data = load_conll2000()
    assert data.train == [[("He", "PRP"), ("ran", "VBD")], [("No", "DT"), ("words", "NNS")]]
    assert data.train_tags == [["B-NP", "B-VP"], ["B-NP", "I-NP"]]
    assert (data.test, data.test_tags) == ([[(".", ".")]], [["O"]])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ran VBD", "train.txt, line 2: expected 3 fields, got 2"),
        ("ran VBD VP", "train.txt, line 2: 'VP' is not a chunk tag"),
    ],
)
def test_bad_sentence(home, line, message):
    write_sentences(home, f"He PRP B-NP\n{line}\n")
    with pytest.raises(ValueError, match=message):
        load_conll2000()


def test_too_few_columns(home):
    write_sentences(home, "He PRP\nran VBD\n")
    with pytest.raises(ValueError, match=r"train\.txt: expected word, part of speech and tag"):
        load_conll2000()


@pytest.mark.slow
def test_real_sentences(real_data):
    data = real_data(load_conll2000)
    assert (len(data.train), len(data.test)) == (8936, 2012)
    assert (sum(map(len, data.train)), sum(map(len, data.test))) == (211727, 47377)
    assert list(map(len, data.train_tags)) == list(map(len, data.train))
    assert list(map(len, data.test_tags)) == list(map(len, data.test))
    tags = Counter(tag for sentence in data.train_tags for tag in sentence)
    assert len(tags) == 22
    assert tags["B-NP"] == 55081  # as counted by the task's own page
    assert len({speech for sentence in data.train for _, speech in sentence}) == 44


@pytest.mark.parametrize(
    ("load", "message"),
    [
        (load_ocr_words, r"ocr_letters/letter\.data.*Stanford"),
        (load_enzymes, r"enzyme_ec/split10\.csv.*CLEAN"),
        (load_conll2000, r"conll2000/train\.txt.*NLTK"),
    ],
)
def test_missing_file(home, load, message):
    with pytest.raises(MissingDataError, match=message):
        load()
