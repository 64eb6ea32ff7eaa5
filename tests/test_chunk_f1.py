# SPDX-License-Identifier: BSD-3-Clause
"""The chunks that the script for text chunking counts, and what it forbids."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[1] / "papers" / "chunking.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("chunking", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Cases of the rules of conlleval: a chunk ends before B, before O, and where the kind changes;
# it begins at B, and at I behind anything but a tag of its kind.
CASES = [
    ("O O", []),
    ("B-NP", [(0, 1, "NP")]),
    ("B-NP I-NP O B-VP", [(0, 2, "NP"), (3, 4, "VP")]),
    ("B-NP B-NP I-NP", [(0, 1, "NP"), (1, 3, "NP")]),
    ("I-NP I-NP O I-NP", [(0, 2, "NP"), (3, 4, "NP")]),
    ("B-NP I-VP I-VP", [(0, 1, "NP"), (1, 3, "VP")]),
    ("B-NP I-VP I-NP", [(0, 1, "NP"), (1, 2, "VP"), (2, 3, "NP")]),
    ("", []),
]


@pytest.mark.parametrize(("tags", "expected"), CASES)
def test_chunks(script, tags, expected):
    assert sorted(script.chunks(tags.split())) == expected


def test_f1_counts_chunks_of_the_same_place_and_kind(script):
    true = [["B-NP", "I-NP", "B-VP", "O"], ["B-PP", "B-NP"]]
    predicted = [["B-NP", "I-NP", "B-PP", "B-ADVP"], ["B-PP", "I-PP"]]
    # 4 true, 4 predicted, of which only the first noun phrase is right.
    assert script.chunk_f1(true, predicted) == (0.25, 0.25, 0.25)
    assert script.chunk_f1(true, true) == (1.0, 1.0, 1.0)
    longer = [["B-NP", "I-NP", "B-VP", "B-VP"], ["B-PP", "B-NP"]]
    assert script.chunk_f1(true, longer) == (0.8, 1.0, pytest.approx(8 / 9))


def test_forbidden_bigrams_are_those_not_seen_and_those_that_make_no_chunk(script):
    Y = [["B-NP", "I-NP", "O"], ["O", "B-NP", "I-VP"]]
    pairs = set(script.forbidden(Y))
    allowed = {("B-NP", "I-NP"), ("I-NP", "O"), ("O", "B-NP")}  # B-NP I-VP was seen, and is wrong
    tags = ["B-NP", "I-NP", "I-VP", "O"]
    assert pairs == {(a, b) for a in tags for b in tags} - allowed | {
        (None, "I-NP"), (None, "I-VP"),
    }  # fmt: skip
