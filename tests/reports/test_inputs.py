# SPDX-License-Identifier: BSD-3-Clause
"""Inputs and searches of a report are those that the model saw."""

import re

import matplotlib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from skstruct import ConditionalRiskMinimizer, OutputKernelRegressor
from skstruct.kernels import SpectrumKernel
from skstruct.learners import CountingRidge, NeighborLabelRanker
from skstruct.reports import pictures, subject, write_report
from skstruct.reports.subject import read_subject, row_of, table_of
from skstruct.spaces import LabelSets, Sequences, Strings

matplotlib.use("Agg")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 4))
CLASSES = np.where(X[:, 0] > 0, "yes", "no")
RANKS = np.argsort(np.argsort(X, axis=1), axis=1) + 1


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Pictures are drawn, but not turned into files."""
    monkeypatch.setattr(pictures, "_saved", lambda figure, kind: b"<svg/>")


def report(path, model, inputs, outputs, **options):
    path = write_report(model, inputs, outputs, path / "r.html", **options)
    return path.read_text(encoding="utf-8")


def described(page):
    return re.search(r"<t[dh]>inputs</t[dh]>\s*<td>(.*?)</td>", page).group(1)


def test_series_of_texts_without_the_label_zero(tmp_path):
    texts = pd.Series([f"number{i} words" for i in range(30)])
    classes = pd.Series(["odd" if i % 2 else "even" for i in range(30)])
    train, test, y_train, y_test = train_test_split(texts, classes, random_state=0)
    assert 0 not in test.index
    model = make_pipeline(TfidfVectorizer(), ConditionalRiskMinimizer(alpha=0.1))
    page = report(tmp_path, model.fit(train, y_train), test, y_test, n_examples=8)
    shown = re.findall(r"Row (\d+)\b.*?(number\d+) words", page, re.DOTALL)
    assert len(shown) >= 6
    assert all(test.iloc[int(row) - 1] == f"{word} words" for row, word in shown)


@pytest.mark.parametrize("holder", [list, tuple, np.array, pd.Series])
def test_rows_are_found_by_place(holder):
    held = holder(["a", "b", "c"])
    if hasattr(held, "index") and hasattr(held, "iloc"):
        held.index = [2, 1, 0]
    assert [row_of(held, i) for i in range(3)] == ["a", "b", "c"]


def test_lists_of_rows_are_features(tmp_path):
    model = ConditionalRiskMinimizer(alpha=0.1).fit(X.tolist(), CLASSES)
    page = report(tmp_path, model, X.tolist(), CLASSES)
    assert described(page) == "4 features"
    same = report(tmp_path, model, X, CLASSES)
    facts = re.findall(r"feature \d = .*? σ\)", page)
    assert facts == re.findall(r"feature \d = .*? σ\)", same)
    assert facts


def test_lists_of_rows_are_features_where_outputs_are_sequences(tmp_path):
    words = ["xy"[: 1 + (x[0] > 0)] for x in X]
    model = ConditionalRiskMinimizer(Strings("xy", (0, 3)), alpha=1.0).fit(X.tolist(), words)
    assert described(report(tmp_path, model, X.tolist(), words)) == "4 features"


def test_dictionaries_are_features_by_name(tmp_path):
    rows = [{"heat": float(x[0]), "place": f"p{i}"} for i, x in enumerate(X)]
    model = make_pipeline(DictVectorizer(), ConditionalRiskMinimizer(alpha=0.1))
    page = report(tmp_path, model.fit(rows, CLASSES), rows, CLASSES, n_examples=12)
    assert described(page) == "features by name"
    shown = re.findall(r"Row (\d+)\b.*?heat = \S+, place = (p\d+)", page, re.DOTALL)
    assert shown
    assert all(f"p{int(row) - 1}" == place for row, place in shown)


def test_sequences_stay_sequences(tmp_path):
    tokens = [[("the", "D"), ("cat", "N")][: 1 + i % 2] for i in range(12)]
    tags = [("B", "I")[: 1 + i % 2] for i in range(12)]
    model = ConditionalRiskMinimizer(Sequences(), kernel="linear", alpha=1.0).fit(tokens, tags)
    assert described(report(tmp_path, model, tokens, tags)) == "sequences of 1 to 2 positions"


def test_symbols_of_a_string_kernel_are_no_features(tmp_path):
    symbols = [[int(value > 0) for value in x] for x in X]
    model = OutputKernelRegressor(kernel=SpectrumKernel(2)).fit(symbols, CLASSES)
    assert described(report(tmp_path, model, symbols, CLASSES)) == "sequences of 4 positions"


@pytest.mark.slow
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_inputs_of_any_form(form, kind, tmp_path):
    inputs = kind(np.where(np.abs(X) > 0.5, X, 0.0))
    model = ConditionalRiskMinimizer(alpha=0.1).fit(inputs, CLASSES)
    pages = [report(tmp_path, model, part, CLASSES) for part in (inputs, inputs.asformat(form))]
    first, second = ([*re.findall(r"feature \d = .*? σ\)", page)] for page in pages)
    assert first == second
    assert "supporters" in pages[1]


def test_tables_and_what_is_none():
    assert table_of([[1, 2], [3, 4]]).shape == (2, 2)
    for other in (["ab", "cd"], [["1", "2"], ["3", "4"]], [[1, 2], [3]], [{"a": 1}], [[[1], [2]]]):
        assert table_of(other) is other


def test_shares_of_nothing_are_dashes(tmp_path):
    """Nothing is predicted, and nothing is true: there is no precision and no recall."""
    never = np.zeros((12, 2), int)
    model = ConditionalRiskMinimizer(LabelSets("ab"), "hamming", alpha=1.0).fit(X, never)
    page = report(tmp_path, model, X, never)
    assert "precision –, recall –, F1 –, Hamming 0.0000" in page
    assert not re.search(r"\bnan\b", re.sub("<[^>]*>", " ", page))


def test_radii_that_were_searched(tmp_path):
    model = OutputKernelRegressor(method="sample_compression", cv=3).fit(X, CLASSES)
    page = report(tmp_path, model, X, CLASSES)
    assert "<h2>How the radius was chosen</h2>" in page
    assert "nothing was searched" not in page
    assert f"{len(model.search_.trials)} trials, the best first" in page


def test_numbers_of_neighbors_that_were_searched(tmp_path):
    page = report(tmp_path, NeighborLabelRanker(n_neighbors=[1, 3]).fit(X, RANKS), X, RANKS)
    assert "<h2>How the number of neighbors was chosen</h2>" in page
    assert "2 trials, the best first" in page


def test_rows_of_a_frame_stay_a_frame():
    frame = pd.DataFrame(X, columns=list("abcd"), index=range(100, 112))
    pd.testing.assert_frame_equal(row_of(frame, 3), frame.loc[[103]])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_with_names_and_gaps(library, tmp_path):
    made = pytest.importorskip(library)
    columns = {"size": [None, *X[1:, 0].tolist()], "sky": ["sun", "rain", "snow"] * 4}
    frame = made.table(columns) if library == "pyarrow" else made.DataFrame(columns)
    model = ConditionalRiskMinimizer(alpha=0.1).fit(frame, CLASSES)
    page = report(tmp_path, model, frame, CLASSES)
    said = "1 column of numbers, scaled, and 1 of names, one-hot; missing in 1: 5 features"
    assert described(page) == said
    assert "rain" in page


def test_gaps_are_no_unusual_numbers(tmp_path):
    gaps = X.copy()
    gaps[::2, 1] = np.nan
    model = ConditionalRiskMinimizer(alpha=0.1).fit(gaps, CLASSES)
    page = report(tmp_path, model, gaps, CLASSES, n_examples=12)
    assert "nan" not in page
    assert "feature 1 = " in page


def test_what_decides_nothing_has_no_report():
    pipeline = make_pipeline(ConditionalRiskMinimizer(alpha=1.0), DictVectorizer())
    with pytest.raises(ValueError, match="about a learner of skstruct; got DictVectorizer"):
        read_subject(pipeline[1:], [{}], ["a"])
    model = ConditionalRiskMinimizer(alpha=1.0).fit(X, CLASSES)
    for none in (X[:0], [], sparse.csr_array(X[:0])):
        with pytest.raises(ValueError, match="needs rows to judge predictions by; X has none"):
            read_subject(model, none, [])


def test_of_several_correct_outputs_the_nearest_counts():
    """By comparing each prediction with all that are correct."""
    sets = [{"a"}, {"b"}, {"a", "b"}, {"a", "b", "c"}]
    y = [[sets[i % 4], sets[(i + 1) % 4]] for i in range(len(X))]
    model = CountingRidge(LabelSets(labels="abc"), "hamming", alpha=1.0)
    model.fit(X, y, several_outputs=True)
    found = read_subject(model, X, y)
    losses = [
        min(len(set(z) ^ correct) for correct in both) for z, both in zip(model.predict(X), y)
    ]
    assert_allclose(found.losses, losses)
    assert all(chosen in both for chosen, both in zip(found.y, y))


def test_risks_that_are_not_finite_are_not_drawn(monkeypatch):
    model = ConditionalRiskMinimizer(alpha=1.0).fit(X, CLASSES)
    ones = np.ones(len(X))
    monkeypatch.setattr(subject, "risks_and_losses", lambda *rows: (ones * np.inf, ones))
    found = read_subject(model, X, CLASSES)
    assert found.risks is found.risk_losses is None
    assert found.why_no_risks == "Estimated risks are not finite."
