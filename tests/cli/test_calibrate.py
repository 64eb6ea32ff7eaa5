# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct calibrate``, what it promises, and what calibrated models predict."""

import json
from pathlib import Path

import numpy as np
import pytest

from cli.small_tables import OUTPUTS, records_of, rows_of, table
from skstruct import load_model


@pytest.fixture
def calibrated(run, fitted):
    """A small model of a task, calibrated on 150 rows; and a file of new rows."""

    def calibrate(task, *options):
        model, held = fitted(task), table(task, 150, 1, "held.csv")
        run("calibrate", "-q", model, held, "-o", "c.model", *options)
        return "c.model", table(task, 30, 2, "new.csv")

    return calibrate


def predicted(run, *arguments):
    return records_of(run("predict", "-q", *arguments, "--json").out)


# ---------------------------------------------------------------------- what is promised
def test_the_promise_is_printed_saved_and_inspected(run, fitted):
    model, held = fitted("labels"), table("labels", 150, 1, "held.csv")
    text = run("calibrate", model, held, "-o", "c.model", "--level", "0.2").out
    assert "possible  from a probability of" in text
    assert "is at most 0.2 in expectation over calibration and new rows" in text
    told = json.loads(run("calibrate", model, held, "-o", "c.model", "--json").out)
    assert (told["rows"], told["level"]) == (150, 0.1)
    control = load_model("c.model").control_
    assert told["control"]["promise"] == control.promise_
    assert told["control"]["thresholds"] == control.thresholds_.tolist()
    assert told["control"]["withheld"] == control.withheld_
    inspected = run("inspect", "c.model").out
    assert control.promise_ in inspected
    assert "Calibrated on 150 rows of held." in inspected
    assert "promise" not in run("inspect", model).out


def test_a_model_file_holds_its_learner_once(run, calibrated):
    path, _ = calibrated("labels", "--risk", "wrong", "--abstain", "parts")
    model = load_model(path)
    assert model.control_.learner is model.learner_
    assert model.abstention_.learner is model.learner_
    assert Path(path).stat().st_size < 2 * Path("m.model").stat().st_size
    assert load_model("m.model").control_ is None


def test_rows_of_training_are_refused(run, fitted):
    model = fitted("labels")
    printed = run("calibrate", model, "train.csv", "-o", "c.model", code=3)
    assert "50 of 50 rows were rows of training" in printed.err
    assert not Path("c.model").exists()
    held = Path(table("labels", 30, 1, "held.csv"))
    held.write_text(held.read_text() + "\n".join(Path("train.csv").read_text().splitlines()[1:8]))
    told = run("calibrate", model, held, "-o", "c.model", code=3).err
    assert "7 of 37 rows" in told
    assert "the first is row 31." in told


def test_wrong_usage(run, fitted):
    held = table("regression", 40, 1, "held.csv")
    model = fitted("regression")
    wrong = {
        ("--risk", "wrong"): "means are the predictions",
        ("--abstain", "parts"): "means are the predictions",
        ("--abstain", "rows"): "no largest value",
        ("--delta", "0.1"): "give --risk or --abstain",
        ("--level", "2"): "--level is from 0 to 1",
        ("--risk", "sometimes"): "is not one of",
    }
    for options, message in wrong.items():
        assert message in run("calibrate", model, held, "-o", "c.model", *options, code=2).err
    assert not Path("c.model").exists()
    hopeless = ("--risk", "f1", "--level", "0.01")
    model, held = fitted("labels"), table("labels", 40, 1, "held.csv")
    told = run("calibrate", model, held, "-o", "c.model", *hopeless, code=3).err
    assert "no threshold is shown by 40 calibration rows" in told


# ---------------------------------------------------------------------- certain and possible
@pytest.mark.slow
@pytest.mark.parametrize("risk", ["missed", "wrong", "false", "false_labels", "precision"])
def test_sets_of_a_hierarchy_are_closed_and_nested(run, calibrated, risk):
    path, new = calibrated("hierarchy", "--risk", risk, "--level", "0.15")
    space = load_model(path).learner_.space_
    for record in predicted(run, path, new):
        certain, possible = ({*record[name]} for name in ("certain", "possible"))
        assert certain <= possible
        for names in (certain, possible):
            assert space.validate([tuple(names)]).sum() == len(names)  # closed as it is
            assert not names & {"pet/cat", "pet/dog"} or "pet" in names


def test_columns_are_those_of_python(run, calibrated):
    path, new = calibrated("labels")
    model, rows = load_model(path), rows_of(run("predict", path, new).out)
    nested = model.control_.predict(model.inputs([{"u": r["u"], "v": r["v"]} for r in _table(new)]))
    for row, certain, possible in zip(rows, nested.certain, nested.possible):
        for names, column in ((certain, "certain"), (possible, "possible")):
            assert row[column].lstrip("'") == ";".join(map(str, names))


def _table(path):
    return [
        {**row, "u": float(row["u"]), "v": float(row["v"])}
        for row in rows_of(Path(path).read_text())
    ]


@pytest.mark.slow
def test_other_levels_need_no_other_calibration(run, calibrated):
    path, new = calibrated("labels")
    sizes = [
        sum(len(record["possible"]) for record in predicted(run, path, new, "--level", level))
        for level in (0.4, 0.1, 0.02)
    ]
    assert sizes[0] < sizes[1] < sizes[2]
    run("calibrate", "-q", "m.model", "held.csv", "-o", "d.model", "--level", "0.02")
    assert predicted(run, path, new, "--level", 0.02) == predicted(run, "d.model", new)
    impossible = run("predict", path, new, "--level", 0)
    assert "Level 0 cannot be met with 150 calibration rows" in impossible.err
    run("calibrate", "-q", "m.model", "held.csv", "-o", "d.model", "--delta", "0.1")
    assert predicted(run, "d.model", new, "--level", 0.1) == predicted(run, "d.model", new)
    refused = run("predict", "d.model", new, "--level", 0.2, code=2)
    assert "calibrate MODEL DATA --level 0.2" in refused.err


def test_rankings_have_certain_pairs(run, calibrated):
    path, new = calibrated("ranking")
    rows, records = rows_of(run("predict", path, new).out), predicted(run, path, new)
    for row, record in zip(rows, records):
        assert {*map(tuple, record["certain"])} <= {*map(tuple, record["possible"])}
        assert row["certain"] == ";".join(f"{a}>{b}" for a, b in record["certain"])


@pytest.mark.parametrize("task", ["classes", "ordinal"])
def test_sets_of_classes(run, calibrated, task):
    path, new = calibrated(task)
    records, truth = predicted(run, path, new), rows_of(Path(new).read_text())
    hit = [row[OUTPUTS[task][0]] in record["set"] for row, record in zip(truth, records)]
    assert np.mean(hit) > 0.7
    assert list(records[0]) == ["row", "prediction", "set"]
    path, new = calibrated(task, "--risk", "wrong")
    records = predicted(run, path, new)
    assert all(r["certain"] is None or r["certain"] in r["possible"] for r in records)


def test_intervals_have_two_ends(run, calibrated):
    path, new = calibrated("regression")
    rows = rows_of(run("predict", path, new).out)
    assert list(rows[0]) == ["row", "low", "low low", "high low"]  # the target is called low
    assert all(float(r["low low"]) < float(r["low"]) < float(r["high low"]) for r in rows)
    wider = predicted(run, path, new, "--level", 0.02)
    assert wider[0]["high low"] > float(rows[0]["high low"])
    assert predicted(run, path, new, "--level", 0)[0]["high low"] is None
    highest = max(float(row["low"]) for row in rows_of(Path("train.csv").read_text()))
    assert max(row["high low"] for row in wider) > highest  # new outputs may be higher, too
    renamed = {
        name: Path(name).read_text().replace("low", "y") for name in ("train.csv", "held.csv")
    }
    for name, text in renamed.items():
        Path(name).write_text(text)
    run("fit", "-q", "train.csv", "-o", "y.model", "--task", "regression", "--set", "alpha=1.0")
    told = json.loads(run("calibrate", "-q", "y.model", "held.csv", "-o", "y.model", "--json").out)
    assert told["control"]["mean_width"] > 0
    assert list(predicted(run, "y.model", new)[0]) == ["row", "y", "low", "high"]


def test_several_best_and_blocks(run, calibrated):
    path, new = calibrated("labels")
    assert list(predicted(run, path, new, "--kbest", 2)[0]) == ["row", "rank", "prediction"]
    assert (
        "leave --kbest out" in run("predict", path, new, "--kbest", 2, "--level", 0.1, code=2).err
    )
    whole = run("predict", path, new, "--risk").out
    assert run("predict", path, new, "--risk", "--block-rows", 7).out == whole


# ---------------------------------------------------------------------- abstaining
def test_rows_are_withheld(run, calibrated):
    pandas = pytest.importorskip("pandas")
    path, new = calibrated("classes", "--abstain", "rows", "--level", "0.3")
    records, plain = predicted(run, path, new, "--abstain"), predicted(run, path, new)
    assert 0 < sum(record["kept"] for record in records) < len(records)
    for record, before in zip(records, plain):
        assert record["prediction"] == (before["prediction"] if record["kept"] else None)
    rows = rows_of(run("predict", path, new, "--abstain").out)
    assert [row["kept"] for row in rows] == ["true" if r["kept"] else "false" for r in records]
    assert all((row["prediction"] == "") == (row["kept"] == "false") for row in rows)
    run("predict", path, new, "--abstain", "-o", "out.parquet")
    frame = pandas.read_parquet("out.parquet")
    assert frame["kept"].dtype == bool
    assert frame["prediction"].isna().tolist() == (~frame["kept"]).tolist()
    for option in (("--loss", "zero_one"), ("--kbest", 2)):
        assert (
            f"leave {option[0]} out" in run("predict", path, new, "--abstain", *option, code=2).err
        )
    refused = run("predict", path, new, "--abstain", "--level", 0.1, code=2).err
    assert "was not calibrated" in refused


def test_rows_of_a_hierarchy_are_withheld_by_its_own_loss(run, calibrated):
    """A loss that reads the arcs of its space."""
    path, new = calibrated("hierarchy", "--abstain", "rows", "--level", "0.4")
    records = predicted(run, path, new, "--abstain")
    assert any(record["kept"] for record in records)
    assert all((record["prediction"] is None) != record["kept"] for record in records)


def test_parts_are_withheld_beside_what_is_possible(run, calibrated):
    path, new = calibrated("labels", "--abstain", "parts", "--risk", "wrong", "--level", "0.15")
    records, plain = predicted(run, path, new, "--abstain"), predicted(run, path, new)
    assert list(records[0]) == ["row", "prediction", "certain", "possible", "open"]
    for record, before in zip(records, plain):
        assert not {*record["prediction"]} & {*record["open"]}
        assert {*record["prediction"]} <= {*before["prediction"]} | {*record["open"]}
    refused = run("predict", path, new, "--abstain", "--level", 0.3, code=2).err
    assert "holds for that level alone" in refused
    run("calibrate", "-q", "m.model", "held.csv", "-o", "both.model", "--abstain", "rows")
    run("calibrate", "-q", "both.model", "held.csv", "-o", "both.model")
    model = load_model("both.model")
    assert model.control_ is not None
    assert model.abstention_.of == "rows"


@pytest.mark.slow
def test_open_positions_of_sequences(run):
    rng = np.random.default_rng(0)
    words = {"DT": ["the", "a", "this"], "NN": ["dog", "cat", "run", "walk"],
             "VB": ["run", "walk", "sees"]}  # fmt: skip

    def sentences(n):
        tags = [rng.choice(["DT", "NN", "VB"], size=8) for _ in range(n)]
        lines = ["\n".join(f"{rng.choice(words[tag])} {tag}" for tag in row) for row in tags]
        return "\n\n".join(lines) + "\n"

    for name, n in (("train.conll", 15), ("held.conll", 80)):
        Path(name).write_text(sentences(n))
    run("fit", "-q", "train.conll", "-o", "m.model", "--set", "alpha=0.1")
    options = ("--risk", "missed", "--level", "0.05", "--abstain", "parts")
    run("calibrate", "-q", "m.model", "held.conll", "-o", "c.model", *options)
    records = predicted(run, "c.model", "held.conll", "--abstain")
    assert any(len(choices) > 1 for record in records for choices in record["possible"])
    for record in records:
        for symbol, choices in zip(record["certain"], record["possible"]):
            assert symbol is None or choices == [symbol]
    row = rows_of(run("predict", "c.model", "held.conll", "--first", 1).out)[0]
    assert len(row["certain"].split(" ")) == len(row["possible"].split(" ")) == 8
    run("predict", "c.model", "held.conll", "-o", "tags.conll")  # no room, and none is taken
    assert (
        "leave --level out"
        in run("predict", "c.model", "held.conll", "--level", 0.1, "-o", "tags.conll", code=2).err
    )
