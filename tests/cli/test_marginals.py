# SPDX-License-Identifier: BSD-3-Clause
"""Probabilities beside predictions: the columns, and predictions by thresholds of them."""

from pathlib import Path

import numpy as np
import pytest

from cli.small_tables import OUTPUTS, records_of, rows_of, table
from skstruct import load_model
from skstruct.cli.beside import choices_text, pairs_text, positions_text
from skstruct.datasets.reading import read_data
from skstruct.spaces import Description


# ---------------------------------------------------------------------- columns
@pytest.mark.slow
@pytest.mark.parametrize("task", ["classes", "labels", "hierarchy", "ordinal"])
def test_a_column_for_every_name(run, fitted, task):
    model, new = fitted(task), table(task, 12, 1, "new.csv")
    rows = rows_of(run("predict", model, new, "--marginals").out)
    learner = load_model(model)
    data = read_data(new, task=task, targets=(OUTPUTS[task][0],))
    expected = learner.learner_.predict_marginals(learner.inputs(data))
    names = [name[2:-1] for name in rows[0] if name.startswith("P(")]
    assert names == [str(name) for name in Description.of(learner.learner_.space_).part_names()]
    found = np.array([[row[f"P({name})"] for name in names] for row in rows])
    np.testing.assert_array_equal(found, [[f"{p:.4g}" for p in row] for row in expected])
    records = records_of(run("predict", model, new, "--marginals", "--json").out)
    exact = [[record[f"P({name})"] for name in names] for record in records]
    np.testing.assert_allclose(exact, expected)


def test_pairs_of_items_in_their_order(run, fitted):
    model, new = fitted("ranking"), table("ranking", 8, 1, "new.csv")
    records = records_of(run("predict", model, new, "--marginals", "--json").out)
    pairs = ["P(a before b)", "P(a before c)", "P(b before c)"]
    assert list(records[0]) == ["row", "prediction", *pairs]
    assert all(0 <= record[pair] <= 1 for record in records for pair in pairs)
    sure = [record for record in records if record["P(a before b)"] > 0.9]
    assert all(r["prediction"].index("a") < r["prediction"].index("b") for r in sure)


def test_blocks_constraints_and_parquet(run, fitted):
    pandas = pytest.importorskip("pandas")
    model, new = fitted("labels"), table("labels", 9, 1, "new.csv")
    whole = run("predict", model, new, "--marginals").out
    assert run("predict", model, new, "--marginals", "--block-rows", 4).out == whole
    given = records_of(
        run("predict", model, new, "--marginals", "--restrict", "include=sun", "--json").out
    )
    assert {record["P(sun)"] for record in given} == {1.0}
    run("predict", model, new, "--marginals", "-o", "out.parquet")
    frame = pandas.read_parquet("out.parquet")
    assert frame["P(sun)"].dtype == np.float64
    assert [f"{p:.4g}" for p in frame["P(sun)"]] == [row["P(sun)"] for row in rows_of(whole)]


def test_the_confidence_of_symbols(run):
    text = "the DT\ndog NN\nbarks VB\n\na DT\ncat NN\n\ncats NN\nsleep VB\n\n" * 4
    Path("train.conll").write_text(text)
    run("fit", "-q", "train.conll", "-o", "m.model", "--set", "alpha=0.1")
    for record in records_of(run("predict", "m.model", "train.conll", "--marginals", "--json").out):
        assert len(record["confidence"]) == len(record["prediction"])
        assert all(0.3 < p <= 1 for p in record["confidence"])
    row = rows_of(run("predict", "m.model", "train.conll", "--marginals").out)[0]
    assert len(row["confidence"].split(" ")) == len(row["prediction"].split(" ")) == 3
    run("predict", "m.model", "train.conll", "--marginals", "-o", "x.conll")
    lines = [line.split() for line in Path("x.conll").read_text().splitlines()[:3]]
    assert [line[2] for line in lines] == row["confidence"].split(" ")


# ---------------------------------------------------------------------- thresholds
def test_thresholds_given_and_chosen(run, fitted):
    model, new = fitted("labels", alpha="auto"), table("labels", 20, 1, "new.csv")
    sizes = {}
    for value in ("0", "0.3", "0.9", "micro_f1", "macro_f1", "recall=0.95", "precision=0.9"):
        told = run("predict", model, new, "--threshold", value, "--marginals", "--json").out
        sizes[value] = sum(len(record["prediction"]) for record in records_of(told))
    assert sizes["0"] == 40
    assert sizes["0.3"] >= sizes["0.9"]
    assert sizes["recall=0.95"] >= sizes["precision=0.9"]
    some = records_of(run("predict", model, new, "--threshold", "0.3", "--marginals", "--json").out)
    for record in some:
        assert ("sun" in record["prediction"]) == (record["P(sun)"] >= 0.3)


@pytest.mark.parametrize("value", ["many", "recall", "recall=0", "recall=2", "f1=0.9", "=1", "1.5"])
def test_thresholds_that_are_none(run, fitted, value):
    model, new = fitted("labels"), table("labels", 4, 1, "new.csv")
    refused = run("predict", model, new, "--threshold", value, code=2).err
    assert "micro_f1, macro_f1, recall=0.9" in refused


def test_wrong_usage(run, fitted):
    model, new = fitted("labels"), table("labels", 4, 1, "new.csv")
    alone = {
        ("--marginals", "--kbest", 2): "leave --kbest out",
        ("--threshold", "0.3", "--loss", "f1"): "leave --loss out",
        ("--threshold", "0.3", "--risk", "--strict"): "leave --risk, --strict out",
        ("--threshold", "micro_f1"): "keeps none",
        ("--level", "0.1"): "skstruct calibrate MODEL DATA",
        ("--abstain",): "skstruct calibrate MODEL DATA",
    }
    for options, message in alone.items():
        assert message in run("predict", model, new, *options, code=2).err
    model, new = fitted("regression"), table("regression", 4, 1, "new.csv")
    assert "means are the predictions" in run("predict", model, new, "--marginals", code=2).err
    assert "label sets" in run("predict", model, new, "--threshold", "0.3", code=2).err
    train = table("labels", 20, 0, "train.csv")
    run("fit", "-q", train, "-o", "s.model", "--learner", "perceptron", "--target", "labels")
    assert "no probabilities" in run("predict", "s.model", train, "--marginals", code=2).err
    assert "without --threshold" in run("predict", "s.model", train, "--threshold", "1", code=2).err


# ---------------------------------------------------------------------- in Python
def test_models_in_python_tell_marginals(fitted):
    pandas = pytest.importorskip("pandas")
    for task, wanted in (("classes", list("abc")), ("labels", ["=rain", "sun"])):
        model = load_model(fitted(task))
        frame = pandas.read_csv(table(task, 6, 1, "new.csv"))[["u", "v"]]
        frame.index = [f"r{i}" for i in range(6)]
        told = model.predict_marginals(frame)
        assert list(told.columns) == wanted
        assert list(told.index) == list(frame.index)
        pandas.testing.assert_frame_equal(model.predict_proba(frame), told)
        plain = model.predict_marginals(frame.to_dict("records"))
        assert isinstance(plain, np.ndarray)
        np.testing.assert_allclose(plain, told)
    model = load_model(fitted("ranking"))
    frame = pandas.read_csv(table("ranking", 6, 1, "new.csv"))
    told = model.predict_marginals(frame, parts="pairs")
    np.testing.assert_allclose(told["a"]["b"] + told["b"]["a"], 1.0)
    assert not hasattr(model, "predict_proba")


def test_texts_of_cells():
    assert pairs_text([["a;b", "c"]]) == r"a\;b>c"
    assert positions_text([None, "?"], ["?", "a"]) == r"? \?"
    assert choices_text([["a|b"], []], ["a|b", "-"]) == r"a\|b --"
