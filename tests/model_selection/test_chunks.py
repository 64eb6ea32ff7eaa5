# SPDX-License-Identifier: BSD-3-Clause
"""Chunks, against a walk through the tags as ``conlleval`` does it, with any tags in any order."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from skstruct import ExponentialFamily, TokenFeatures
from skstruct.model_selection import (
    chunk_counts,
    chunk_f1_score,
    chunk_scorer,
    evaluate_tags,
    token_accuracy,
)
from skstruct.model_selection.chunk_measures import chunk_scheme, chunks, total
from skstruct.spaces import Sequences

QUICK = settings(deadline=None, max_examples=200)
TAGS = ["O", *(f"{prefix}-{kind}" for prefix in "BIES" for kind in ("NP", "VP"))]


def ends(before, now):
    """Whether a chunk ends between two tags, as the table of conlleval has it."""
    (p, kind), (q, other) = before, now
    if p in ("E", "S") or (p in ("B", "I") and q in ("B", "S", "O")):
        return True
    return p != "O" and kind != other


def begins(before, now):
    (p, kind), (q, other) = before, now
    if q in ("B", "S") or (p in ("E", "S", "O") and q in ("E", "I")):
        return True
    return q != "O" and kind != other


def split(tag):
    prefix, _, kind = tag.partition("-")
    return prefix, kind


def walk(predicted, truth):
    """Correct, predicted and true chunks by one pass over both columns, as conlleval counts."""
    correct = guessed = true = 0
    for row, tags in zip(predicted, truth):
        inside, old = False, (("O", ""), ("O", ""))
        for now in [*((split(t), split(g)) for t, g in zip(tags, row)), (("O", ""), ("O", ""))]:
            over = ends(old[0], now[0]), ends(old[1], now[1])
            if inside:
                if all(over) and old[0][1] == old[1][1]:
                    inside, correct = False, correct + 1
                elif over[0] != over[1] or now[0][1] != now[1][1]:
                    inside = False
            begun = begins(old[0], now[0]), begins(old[1], now[1])
            if all(begun) and now[0][1] == now[1][1]:
                inside = True
            true, guessed, old = true + begun[0], guessed + begun[1], now
    return correct, guessed, true


@st.composite
def corpora(draw):
    truth = draw(st.lists(st.lists(st.sampled_from(TAGS), max_size=7), min_size=1, max_size=4))
    other = [[draw(st.sampled_from([tag, *TAGS])) for tag in row] for row in truth]
    return other, truth


@QUICK
@given(corpora())
def test_counts_are_those_of_conlleval(pair):
    counts = total(chunk_counts(*pair))
    assert (counts.correct, counts.predicted, counts.true) == walk(*pair)
    both = counts.predicted + counts.true
    assert chunk_f1_score(*pair) == (2 * counts.correct / both if both else 0)


@QUICK
@given(corpora())
def test_letters_of_bilou_mean_the_same(pair):
    other = str.maketrans("ES", "LU")
    renamed = [[[tag[:1].translate(other) + tag[1:] for tag in row] for row in rows]
               for rows in pair]  # fmt: skip
    assert chunk_counts(*renamed) == chunk_counts(*pair)


def test_broken_sequences():
    assert chunks(["O", "I-NP", "I-NP", "I-VP"]) == [("NP", 1, 2), ("VP", 3, 3)]
    assert chunks(["B-NP", "B-NP", None, "I"]) == [("NP", 0, 0), ("NP", 1, 1), ("", 3, 3)]
    assert chunks(["NN", "B-NP"]) == [("NP", 1, 1)]


@pytest.mark.parametrize(
    ("rows", "scheme"),
    [
        (["I-NP I-NP O", "I-NP B-NP"], "IOB1"),
        (["I-NP O"], "IOB1"),
        (["B-NP I-NP O", "B-NP B-NP"], "IOB2"),
        (["B I O O B"], "IOB2"),
        (["B-NP E-NP O S-NP"], "IOBES"),
        (["B-NP L-NP O U-NP I-NP"], "BILOU"),
        (["B-NP L-NP E-NP"], None),
        (["NN VB"], None),
        (["O O"], None),
        (["E S"], None),
        (["B-NP X"], None),
        (["M-NP B-NP"], None),
    ],
)
def test_schemes(rows, scheme):
    rows = [row.split() for row in rows]
    assert chunk_scheme({tag for row in rows for tag in row}, rows) == scheme


def test_averages():
    truth = [["B-NP", "O", "B-VP"]] * 2
    guessed = [["B-NP", "O", "O"], ["B-NP", "B-XP", "B-VP"]]
    assert chunk_f1_score(guessed, truth, average=None) == {"NP": 1, "VP": 2 / 3, "XP": 0}
    assert chunk_f1_score(guessed, truth, average="macro") == pytest.approx(5 / 9)
    assert chunk_f1_score(guessed, truth) == 6 / 8
    assert chunk_f1_score([["O"]], [["O"]], average="macro") == 0
    with pytest.raises(ValueError, match="average is"):
        chunk_f1_score(guessed, truth, average="weighted")


def test_tokens():
    assert token_accuracy([["a", "b"], ["a"]], [["a", None], ["b"]]) == 0.5
    assert np.isnan(token_accuracy([], []))
    with pytest.raises(ValueError, match="sentence 1 has 1 tags, and 2 predicted"):
        token_accuracy([["a"], ["a", "b"]], [["a"], ["a"]])
    with pytest.raises(ValueError, match="got 1 and 2"):
        token_accuracy([["a"]], [["a"], ["a"]])


def test_intervals_are_those_of_drawn_sentences():
    """By redrawing the sentences in the same way, and counting all chunks of each draw anew."""
    rng = np.random.default_rng(0)
    truth = [rng.choice(["O", "B-NP", "I-NP", "B-VP"], size=4).tolist() for _ in range(12)]
    guessed = [[str(rng.choice(["O", tag])) for tag in row] for row in truth]
    found = evaluate_tags(guessed, truth, n_bootstrap=60, level=0.8, random_state=3)
    seed = np.random.RandomState(3).randint(2**31 - 1)
    draws = np.random.default_rng(seed).multinomial(12, np.full(12, 1 / 12), size=60)
    scores = []
    for counts in draws:
        rows = np.repeat(np.arange(12), counts)
        scores.append(chunk_f1_score([guessed[i] for i in rows], [truth[i] for i in rows]))
    f1 = next(m for m in found.measures if m.measure == "f1" and m.type is None)
    assert f1.value == pytest.approx(chunk_f1_score(guessed, truth))
    assert [f1.low, f1.high] == pytest.approx(np.quantile(scores, [0.1, 0.9]).tolist())
    by_type = {m.type: m.value for m in found.measures if m.measure == "f1" and m.type}
    assert by_type == pytest.approx(chunk_f1_score(guessed, truth, average=None))
    tokens = found.measures[0]
    assert tokens.measure == "token_accuracy"
    assert tokens.value == pytest.approx(token_accuracy(guessed, truth))


def test_sentences_that_are_not_known_do_not_count():
    truth = [["B-NP", None], ["B-NP", "O"]]
    found = evaluate_tags([["B-NP", "O"], ["O", "O"]], truth, n_bootstrap=20)
    assert (found.n_tokens, found.n_whole) == (3, 1)
    assert found.n_chunks[None] == (0, 1)
    assert found.measures[0].value == pytest.approx(2 / 3)


def test_a_scorer_of_chunks():
    X = [["the", "dog", "runs"], ["a", "cat", "sees", "the", "dog"], ["dogs", "run"]] * 4
    y = [["B-NP", "I-NP", "O"], ["B-NP", "I-NP", "O", "B-NP", "I-NP"], ["B-NP", "O"]] * 4
    model = make_pipeline(TokenFeatures(), ExponentialFamily(Sequences(), alpha=0.01))
    scores = cross_val_score(model, X, y, cv=2, scoring=chunk_scorer())
    assert scores.tolist() == [1.0, 1.0]
    model.fit(X, y)
    assert pickle.loads(pickle.dumps(chunk_scorer("recall", type="VP")))(model, X, y) == 0
    assert chunk_scorer("token_accuracy")(model, X, y) == 1
    with pytest.raises(ValueError, match="measure is one of"):
        chunk_scorer("f2")
    with pytest.raises(ValueError, match="leave type out"):
        chunk_scorer("token_accuracy", type="NP")
