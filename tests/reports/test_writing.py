# SPDX-License-Identifier: BSD-3-Clause
import re
import warnings

import matplotlib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skstruct import (
    ConditionalRiskMinimizer,
    CountingRidge,
    ExponentialFamily,
    MaxMarginNetwork,
    MaxMarginTree,
    OutputKernelRegressor,
    StructuredPerceptron,
    StructuredSVM,
)
from skstruct.learners import LabelRankingSVM, NeighborLabelRanker
from skstruct.reports import pictures, write_report
from skstruct.spaces import (
    Box,
    Candidates,
    Cycles,
    Flows,
    Graphs,
    Hierarchy,
    Interval,
    LabelSets,
    Ordinal,
    PairwiseLabels,
    Rankings,
    Sequences,
    Simplex,
    Strings,
)

matplotlib.use("Agg")
RNG = np.random.default_rng(0)
N = 24
X = RNG.standard_normal((N, 3))
SETS = (X + 0.3 * RNG.standard_normal((N, 3)) > 0).astype(int)
NAMES = [{"abc"[j] for j in np.flatnonzero(row)} for row in SETS]
TOKENS = [RNG.standard_normal((2 + i % 3, 2)) for i in range(N)]
TAGS = [tuple("xy"[int(t[0] > 0)] for t in x) for x in TOKENS]
WORDS = [[("the", "D"), ("cat", "N")] if row[0] else [("a", "D"), ("dog", "N")] for row in SETS]
TREE = Hierarchy([("r", "a"), ("r", "b"), ("a", "c")], close=True)
ARCS = [("s", "a"), ("a", "t", 0.9), ("s", "t")]
SHARES = np.clip(np.abs(X[:, :1]) / 3, 0, 0.9)
RISK = ConditionalRiskMinimizer
EXAMPLES = "Examples, from the worst to the best"
PROBABILITIES = "Whether its probabilities are right"

CASES = {
    "classes": (RISK(), X, ["no yes"[3 * int(s) :][:3].strip() for s in SETS[:, 0]]),
    "labels": (RISK(LabelSets("abc")), X, NAMES),
    "hierarchy": (RISK(TREE), X, NAMES),
    "ranking": (RISK(Rankings("abc")), X, np.argsort(np.argsort(X, axis=1), axis=1) + 1),
    "partial": (RISK(Rankings("abc")), X, [["a", "b"] if s else ["c"] for s in SETS[:, 0]]),
    "sequence": (RISK(Sequences(), alpha=1.0), TOKENS, TAGS),
    "tokens": (RISK(Sequences(), kernel="linear", alpha=1.0), WORDS, [("B", "I")] * N),
    "strings": (RISK(Strings("xy", (0, 3)), alpha=1.0), X, ["xy"[: 1 + s] for s in SETS[:, 0]]),
    "interval": (RISK(Interval(), "absolute"), X, X[:, 0]),
    "box": (RISK(Box()), X, pd.DataFrame(X[:, :2], columns=["u", "v"])),
    "histogram": (RISK(Simplex()), X, np.abs(X) / np.abs(X).sum(axis=1, keepdims=True)),
    "ordinal": (RISK(Ordinal(["low", "high"])), X, np.where(SETS[:, 0], "high", "low")),
    "flow": (RISK(Flows(ARCS, {"s": 1, "t": -1})), X, np.hstack([SHARES, SHARES, 1 - SHARES])),
    "tour": (
        CountingRidge(Cycles(list("abcd")), alpha=0.1),
        X,
        [list("abcd") if s else list("acb") for s in SETS[:, 0]],
    ),
    "graph": (
        RISK(Graphs(list("abc")), alpha=1.0),
        X,
        [[("a", "b")] if s else [("b", "c")] for s in SETS[:, 0]],
    ),
    "counting": (CountingRidge(LabelSets("abc"), alpha=0.1), X, NAMES),
    "exponential": (ExponentialFamily(LabelSets("abc"), alpha=1e-3, fit_intercept=False), X, NAMES),
    "exponential, hamming": (
        ExponentialFamily(PairwiseLabels(), alpha=1e-3, loss="hamming", fit_intercept=False),
        X,
        SETS,
    ),
    "exponential, chains": (
        ExponentialFamily(Sequences(), alpha=1e-3, fit_intercept=False),
        TOKENS,
        TAGS,
    ),
    "network": (MaxMarginNetwork(alpha=0.01, max_iter=5), X, SETS),
    "tree": (MaxMarginTree(alpha=0.01, max_iter=5), X, SETS),
    "svm": (StructuredSVM(LabelSets(), alpha=0.01, max_iter=5), X, SETS),
    "perceptron": (StructuredPerceptron(LabelSets()), X, SETS),
    "output kernel": (
        OutputKernelRegressor(output_kernel="hamming"),
        X,
        ["cat" if s else "dog" for s in SETS[:, 0]],
    ),
    "candidates": (
        RISK(Candidates(["cat", "cow", "dog"]), alpha=1.0),
        X,
        ["cat" if s else "dog" for s in SETS[:, 0]],
    ),
    "output kernel, space": (OutputKernelRegressor(space=LabelSets()), X, SETS),
    "ranker": (LabelRankingSVM(alpha=0.01), X, np.argsort(np.argsort(X, axis=1), axis=1) + 1),
    "neighbours": (
        NeighborLabelRanker(n_neighbors=3),
        X,
        np.argsort(np.argsort(X, axis=1), axis=1) + 1,
    ),
    "pipeline": (make_pipeline(StandardScaler(), RISK(LabelSets("abc"))), X, NAMES),
    "foreign smoother": (RISK(LabelSets("abc"), smoother=LinearRegression()), X, NAMES),
    "frame": (RISK(LabelSets("abc")), pd.DataFrame(X, columns=["u", "v", "w"]), NAMES),
    "sparse": (RISK(LabelSets("abc")), sparse.csr_array(X), NAMES),
}


def fitted(name):
    model, inputs, outputs = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some stop early
        return model.fit(inputs, outputs), inputs, outputs


def report(path, model, inputs, outputs, **options):
    options = {"n_examples": 2, **options}
    return write_report(model, inputs, outputs, path, **options).read_text(encoding="utf-8")


def titles(page):
    return re.findall(r"<h2>(.*?)</h2>", page)


@pytest.fixture
def quick(monkeypatch):
    """Pictures are drawn, but not turned into files: that is what takes the time."""
    monkeypatch.setattr(pictures, "_saved", lambda figure, kind: b"<svg/>")


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_learner_and_space(name, tmp_path, quick):
    model, inputs, outputs = fitted(name)
    page = report(tmp_path / "r.html", model, inputs, outputs, data_name=name)
    found = titles(page)
    assert found[:2] == ["What it learned from", "How good it is"]
    assert "Times and versions" in found
    assert EXAMPLES in found
    assert page.count('<svg xmlns="http://www.w3.org/2000/svg" class="drawing"') == 2
    learner = model[-1] if hasattr(model, "steps") else model
    assert f"<td>{type(learner).__name__}</td>" in page
    risky = hasattr(learner, "predict_risk") or hasattr(learner, "log_proba")
    assert ("How sure it is" in found) == risky
    parts = [title for title in found if title.startswith("What it gets wrong")]
    assert len(parts) == (name != "candidates")
    left = page.split("Not in this report")[-1]
    missing = {"How sure it is", "What leaving out unsure rows gains", PROBABILITIES,
               "How the penalty was chosen", "What it can say for certain", "How good it is",
               EXAMPLES}  # fmt: skip
    missing -= {title.replace("smoother", "penalty") for title in found}
    assert all(f"<b>{title}</b>: " in left for title in missing)


def test_numbers_of_the_page_are_those_of_the_model(tmp_path, quick):
    model, inputs, outputs = fitted("labels")
    page = report(tmp_path / "r.html", model, inputs, outputs, X_train=inputs, y_train=outputs)
    Z = model.space_.validate(model.predict(inputs))
    loss = np.abs(Z - SETS).sum(axis=1).mean()
    assert f"mean Hamming loss {loss:.4g}<" in page
    assert "mean on training rows" in page
    for j, name in enumerate("abc"):
        found, missed = (Z[:, j] & SETS[:, j]).sum(), ((1 - Z[:, j]) & SETS[:, j]).sum()
        false = (Z[:, j] & (1 - SETS[:, j])).sum()
        cells = "".join(f'<td class="n">{v}</td>' for v in (found + missed, found, missed, false))
        assert f"<td>{name}</td>{cells}" in page
    assert f"expected to lose {model.predict_risk(inputs).mean():.4g} per row" in page


def test_what_was_given_is_shown(tmp_path, quick):
    model, inputs, outputs = fitted("classes")
    page = report(
        tmp_path / "r.html", model, inputs, outputs, title="A title", data_name="some data",
        timings={"fitting": 1.25, "reading": "quick"}, feature_names=["heat", "rain", "wind"],
        losses=["zero_one"],
    )  # fmt: skip
    assert "<h1>A title</h1>" in page
    for text in ("some data", "1.25 s", "quick", "heat = ", "zero_one"):
        assert text in page
    assert report(tmp_path / "s.html", model, inputs, outputs, n_examples=0).count("<article>") == 0


@pytest.mark.slow
def test_large_hierarchies_fold(tmp_path, quick):
    space = Hierarchy([((j - 1) // 4, j) for j in range(1, 1000)])
    Z = space.sample(30, 0)
    inputs = RNG.standard_normal((30, 2))
    model = RISK(space, "hamming", alpha=1.0).fit(inputs[:20], Z[:20])
    page = report(tmp_path / "r.html", model, inputs[20:], Z[20:], n_examples=1, losses=["hamming"])
    assert "<summary>980 more</summary>" in page
    assert page.count('<span class="name">') == 1000
    assert len(page) < 2_000_000


def test_the_old_file_stays_when_writing_fails(tmp_path, quick):
    model, inputs, outputs = fitted("classes")
    path = tmp_path / "r.html"
    path.write_text("old")
    with pytest.raises(ValueError, match="Unknown loss"):
        write_report(model, inputs, outputs, path, losses=["none such"])
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    write_report(model, inputs, outputs, str(path), n_examples=1)
    assert path.read_text().startswith("<!DOCTYPE html>")
    assert list(tmp_path.iterdir()) == [path]


def test_figures_of_the_user_stay_open(tmp_path):
    from matplotlib import pyplot

    before = pyplot.figure()
    model, inputs, outputs = fitted("labels")
    report(tmp_path / "r.html", model, inputs, outputs)
    assert pyplot.get_fignums() == [before.number]


def test_what_cannot_be_reported(tmp_path):
    model, inputs, outputs = fitted("classes")
    path = tmp_path / "r.html"
    with pytest.raises(ValueError, match="has none"):
        write_report(LinearRegression().fit(X, X[:, 0]), X, X[:, 0], path)
    with pytest.raises(FileNotFoundError, match="no folder"):
        write_report(model, inputs, outputs, tmp_path / "none" / "r.html")
    with pytest.raises(ValueError, match="3 features need as many names; got 1"):
        write_report(model, inputs, outputs, path, feature_names=["one"])
    with pytest.raises(ValueError, match="n_examples"):
        write_report(model, inputs, outputs, path, n_examples=-1)
    with pytest.raises(ValueError, match="timings"):
        write_report(model, inputs, outputs, path, timings=3)
    with pytest.raises(ValueError, match="rows"):
        write_report(model, inputs, outputs[:5], path)
    assert not path.exists()


@pytest.mark.parametrize("learner", [CountingRidge, ConditionalRiskMinimizer, StructuredSVM,
                                     ExponentialFamily, OutputKernelRegressor])  # fmt: skip
def test_learners_as_they_come(learner, tmp_path, quick):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = learner().fit(X, (X > 0).astype(int))
    assert "</html>" in report(tmp_path / "r.html", model, X, (X > 0).astype(int))


def test_texts_are_found_by_their_place(tmp_path, quick):
    import pandas
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    texts = pandas.Series([f"word{i} common" for i in range(6)], index=[5, 4, 3, 2, 1, 9])
    labels = ["a", "b"] * 3
    model = make_pipeline(TfidfVectorizer(), ConditionalRiskMinimizer(alpha=0.1)).fit(texts, labels)
    page = report(tmp_path / "r.html", model, texts, labels, n_examples=6)
    shown = re.findall(r"Row (\d+)\b.*?word(\d) common", page, re.DOTALL)
    assert len(shown) == 6
    assert all(int(row) - 1 == int(word) for row, word in shown), shown
    assert "<td>texts</td>" in page


def test_other_sparse_forms(tmp_path, quick):
    from scipy import sparse

    X = np.eye(6)
    model = ConditionalRiskMinimizer(alpha=0.1).fit(sparse.csr_array(X), ["a", "b"] * 3)
    for form in ("bsr", "dia", "coo"):
        page = report(
            tmp_path / "r.html", model, sparse.csr_array(X).asformat(form), ["a", "b"] * 3
        )
        assert EXAMPLES in titles(page)


def test_rows_of_training_are_warned_of(tmp_path, quick):
    """By the inputs that a model keeps, or by X_train; not where rows are new."""
    warned = '<div class="warning"><b>Careful:</b> {} of {} rows were rows of training'
    X = np.random.default_rng(3).normal(size=(40, 3))
    y = np.where(X[:, 0] > 0, "a", "b")
    model = ConditionalRiskMinimizer(alpha=0.1).fit(X[:20], y[:20])
    path = tmp_path / "r.html"
    assert warned.format(20, 20) in report(path, model, X[:20], y[:20])
    assert warned.format(5, 10) in report(path, model, X[15:25], y[15:25])
    assert '<div class="warning">' not in report(path, model, X[20:], y[20:])
    other = StructuredPerceptron(LabelSets(range(3))).fit(X[:20], (X[:20] > 0).astype(int))
    Y = (X > 0).astype(int)
    assert '<div class="warning">' not in report(path, other, X[:20], Y[:20])  # it keeps nothing
    page = report(path, other, X[:20], Y[:20], X_train=X[:20], y_train=Y[:20])
    assert warned.format(20, 20) in page
    said = ("12 of 20 rows were rows of training: so it is.", "Half of the data is made up.")
    page = report(path, model, X[:20], y[:20], remarks=said)
    assert [remark in page for remark in said] == [True, True]
    assert page.count('<div class="warning">') == 2


def test_rows_that_are_alike_by_chance_are_no_reason_to_warn(tmp_path, quick):
    X = np.random.default_rng(0).integers(0, 2, size=(60, 2)).astype(float)
    y = np.where(X[:, 0] > 0, "a", "b")
    model = ConditionalRiskMinimizer(alpha=0.1).fit(X[:30], y[:30])
    assert '<div class="warning">' not in report(tmp_path / "r.html", model, X[30:], y[30:])
