# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of the tables, compared with scikit-learn and with loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from skstruct.reports.errors import pair_mistakes, visits
from skstruct.reports.examples import chosen_rows
from skstruct.reports.label_errors import Counts, confusion
from skstruct.reports.outputs import in_words
from skstruct.reports.pages import Brief, Share, number
from skstruct.spaces import Cycles, Description, Hierarchy, LabelSets, Ordinal, Rankings, Sequences

SEEDS = st.integers(0, 1000)


@given(SEEDS, st.integers(1, 20), st.integers(1, 5))
def test_shares_of_label_sets(seed, n, d):
    rng = np.random.default_rng(seed)
    Z, Y = rng.integers(0, 2, (2, n, d))
    counts = Counts.of_sets(Z, Y)
    expected = precision_recall_fscore_support(
        Y, Z, labels=range(d), zero_division=np.nan, average=None
    )
    if d > 1:
        np.testing.assert_allclose(counts.precision, expected[0])
        np.testing.assert_allclose(counts.recall, expected[1])
        np.testing.assert_allclose(counts.f1, expected[2])
        np.testing.assert_array_equal(counts.support, expected[3])
    np.testing.assert_allclose(counts.hamming, (Z != Y).mean(axis=0))
    assert counts.total().hamming[0] == pytest.approx((Z != Y).mean())


@given(SEEDS, st.integers(1, 30), st.integers(2, 5))
def test_confusions(seed, n, k):
    y, z = np.random.default_rng(seed).integers(0, k, (2, n))
    table = confusion(y, z, k)
    np.testing.assert_array_equal(table, confusion_matrix(y, z, labels=range(k)))
    counts = Counts.of_table(table)
    for j in range(k):
        assert counts.found[j] == ((y == j) & (z == j)).sum()
        assert counts.missed[j] == ((y == j) & (z != j)).sum()
        assert counts.false[j] == ((y != j) & (z == j)).sum()


@given(SEEDS, st.integers(1, 6), st.integers(2, 4))
def test_pairs_in_the_wrong_order(seed, n, d):
    """With ties, and items that are not ranked."""
    rng = np.random.default_rng(seed)
    Z = rng.permuted(np.tile(np.arange(1.0, d + 1), (n, 1)), axis=1)
    Y = rng.integers(1, d + 1, (n, d)).astype(float)
    Y[rng.random((n, d)) < 0.2] = np.nan
    decided, wrong = pair_mistakes(Z, Y)
    for p in range(d):
        for q in range(d):
            rows = [i for i in range(n) if Y[i, p] < Y[i, q] or Y[i, p] > Y[i, q]]
            assert decided[p, q] == len(rows)
            bad = [i for i in rows if (Y[i, p] < Y[i, q]) != (Z[i, p] < Z[i, q])]
            assert wrong[p, q] == len(bad)


def test_places_of_tours():
    space = Cycles(list("abcd")).fit([list("abc")])
    found = visits(space, space.validate([list("acd"), list("abcd")]))
    assert found.tolist() == [[True, False, True, True], [True] * 4]


def test_outputs_in_words():
    def said(space, z, other=None):
        pieces = in_words(space, np.array(z), other)
        return pieces.between.join(piece.text for piece in pieces.pieces), pieces

    assert said(LabelSets("abc").fit([["a"]]), [1, 0, 1])[0] == "a, c"
    assert said(LabelSets("abc").fit([["a"]]), [0, 0, 0])[0] == "(none)"
    assert said(Rankings("abc").fit([list("abc")]), [2.0, 1.0, 2.0])[0] == "b > a = c"
    assert said(Rankings("abc").fit([list("abc")]), [2.0, 1.0, np.nan])[0] == "b > a"
    assert said(Sequences("ab").fit(["ab", "b"]), [1, 0, -1])[0] == "ba"
    assert said(Sequences(["in", "out"]).fit([["in", "out"]]), [0, 1])[0] == "in out"
    assert said(Ordinal(["low", "high"]).fit(["low"]), [1, 0])[0] == "low"
    _, pieces = said(LabelSets("abc").fit([["a"]]), [1, 0, 1], np.array([1, 1, 0]))
    assert [(piece.text, piece.mark) for piece in pieces.pieces] == [("a", "right"), ("c", "false")]
    long = in_words(LabelSets(range(50)).fit([{1}]), np.ones(50), most=3)
    assert [piece.text.strip() for piece in long.pieces] == ["0", "1", "2", "… and 47 more"]


def test_kinds():
    assert Description.of(Hierarchy([("a", "b")])).output_kind == "hierarchy"
    assert Description.of(LabelSets("ab").fit([["a"]])).output_kind == "labels"
    assert Description.of(Cycles(4)).output_kind == "tour"


@pytest.mark.parametrize(
    ("value", "text"),
    [(3, "3"), (1234567, "1 234 567"), (0.123456, "0.1235"), (-2.0, "−2"), (np.nan, "–"),
     (np.inf, "–"), (123456.7, "123 457"), (True, "True"), (Share(0.5), "0.500"), (0.0, "0"),
     (Share(np.nan), "–"), (Brief(0.12345), "0.123"), (np.int64(12), "12")],
)  # fmt: skip
def test_numbers(value, text):
    assert number(value) == text.replace(" ", "\N{THIN SPACE}")


@given(SEEDS, st.integers(1, 40), st.integers(0, 10))
def test_examples_begin_with_the_worst_and_end_with_the_best(seed, n, k):
    rng = np.random.default_rng(seed)
    losses = rng.integers(0, 4, n)
    rows = chosen_rows(losses, k, rng)
    assert len(set(rows.tolist())) == len(rows) == min(n, k)
    assert (np.diff(losses[rows]) <= 0).all()
    if k:
        assert losses[rows[0]] == losses.max()
    if k > 1 and n > 1:
        assert losses[rows[-1]] == losses.min()
