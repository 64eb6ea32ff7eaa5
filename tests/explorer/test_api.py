# SPDX-License-Identifier: BSD-3-Clause
"""What the explorer's server answers: the model, rows, decisions, slices, rows of training."""

import json

import numpy as np
import pytest

fastapi = pytest.importorskip("fastapi")
from tests.explorer.explorer_cases import client_of  # noqa: E402
from tests.explorer.structures import FRAME, NAMES, SETS, X, fitted  # noqa: E402

from skstruct import ConditionalRiskMinimizer  # noqa: E402
from skstruct.explorer import make_app  # noqa: E402
from skstruct.spaces import Hierarchy, LabelSets  # noqa: E402


@pytest.fixture(scope="module")
def client():
    return client_of("hierarchy")


@pytest.fixture(scope="module")
def of_frame():
    return client_of("frame")


def decided(client, **asked):
    answer = client.post("/api/decide", json=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(answer, said):
    assert answer.status_code == 422
    assert said in answer.json()["error"]


# The model.


def test_the_model_is_described(client):
    told = client.get("/api/model").json()
    assert (told["kind"], told["rows"], told["has_truth"]) == ("hierarchy", len(X), True)
    assert told["labels"] == ["a", "b", "c"]
    assert told["losses"][0] == {"name": "hierarchical", "title": "Hierarchical"}
    assert told["loss"] == "hierarchical"
    assert told["fixable"] == ["in", "out"]
    assert told["constraint_kinds"]["max_size"] == "number"
    assert told["constraint_kinds"]["one_path"] == "flag"
    assert [column["name"] for column in told["columns"]] == ["feature 1", "feature 2", "feature 3"]
    assert told["columns"][0]["low"] == X[:, 0].min()
    assert told["can"]["what_if"]


def test_columns_of_a_frame(of_frame):
    columns = {column["name"]: column for column in of_frame.get("/api/model").json()["columns"]}
    assert columns["size"]["kind"] == "number"
    assert (columns["sky"]["kind"], columns["sky"]["values"]) == ("names", ["rain", "sun"])


# Rows.


def rows(client, **asked):
    answer = client.get("/api/rows", params=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_rows_have_predictions_risks_and_losses(of_frame):
    model = fitted("frame")
    found = rows(of_frame, count=100)
    assert found["total"] == len(X)
    outputs, risks = model.predict(FRAME), model.predict_risk(FRAME)
    for i, row in enumerate(found["rows"]):
        assert row["name"] == f"day {i}"
        assert row["cells"]["sky"] == FRAME["sky"].iloc[i]
        assert set(row["prediction"].split(", ")) == (set(outputs[i]) or {"(none)"})
        assert set(row["truth"].split(", ")) == (NAMES[i] or {"(none)"})
        assert np.isclose(row["risk"], risks[i])
        assert row["loss"] == len(set(outputs[i]) ^ NAMES[i])


def test_rows_are_sorted_by_numbers_and_by_names(of_frame):
    for sort in ("risk", "loss", "size"):
        values = [
            row["cells"].get(sort, row.get(sort)) for row in rows(of_frame, sort=sort)["rows"]
        ]
        assert values == sorted(values)
        down = rows(of_frame, sort=sort, descending=1)["rows"]
        assert [row["cells"].get(sort, row.get(sort)) for row in down] == sorted(values)[::-1]
    skies = [row["cells"]["sky"] for row in rows(of_frame, sort="sky")["rows"]]
    assert skies == sorted(skies)
    last = rows(of_frame, sort="row", descending=1, count=1)["rows"][0]
    assert last["row"] == len(X) - 1


def test_rows_are_searched_in_names_cells_predictions_and_truths(of_frame):
    assert [row["name"] for row in rows(of_frame, search="DAY 17")["rows"]] == ["day 17"]
    assert rows(of_frame, search="sun")["total"] == int(SETS[:, 1].sum())
    assert rows(of_frame, search="<script>")["total"] == 0


def test_rows_are_filtered_by_a_label(of_frame):
    predicted = [set(output) for output in fitted("frame").predict(FRAME)]
    wanted = {
        "predicted": ["a" in z for z in predicted],
        "true": ["a" in y for y in NAMES],
        "wrong": [("a" in z) != ("a" in y) for z, y in zip(predicted, NAMES)],
    }
    for where, expected in wanted.items():
        found = rows(of_frame, label="a", where=where, count=100)["rows"]
        assert [row["row"] for row in found] == np.flatnonzero(expected).tolist()


def test_rows_come_in_pages(client):
    found = rows(client, start=5, count=3)
    assert [row["row"] for row in found["rows"]] == [5, 6, 7]
    assert (found["total"], found["start"]) == (len(X), 5)
    assert rows(client, start=1000)["rows"] == []


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"sort": "nothing"}, "there is no column 'nothing'"),
        ({"loss": "nothing"}, "loss is one of hierarchical, hamming"),
        ({"where": "there", "label": "a"}, "where is one of predicted, true, wrong"),
        ({"count": "-1"}, "count is a number from 0 to 500"),
        ({"count": "501"}, "count is a number from 0 to 500"),
        ({"start": "two"}, "start is a number"),
        ({"colour": "red"}, "There is no 'colour'"),
        ({"column": "feature 1", "bin": "none"}, "There is no slice 'none'"),
    ],
)
def test_what_cannot_be_asked_of_rows(client, asked, said):
    refused(client.get("/api/rows", params=asked), said)


# Decisions.


def test_a_decision_is_that_of_the_learner(client):
    model = fitted("hierarchy")
    for loss in ("hierarchical", "f1"):
        for constraints in ({}, {"max_size": 1}, {"include": ["b"]}):
            expected = model.decode(X[[3]], loss=loss, restrict=constraints or None)
            found = decided(client, row=3, loss=loss, restrict=constraints)
            names = sorted(set(expected.outputs[0])) or ["(none)"]
            assert sorted(found["prediction"].split(", ")) == names
            risk = model.possible_risks(expected.values, loss=loss)[0]
            assert np.isclose(found["value"], risk)
            assert found["exact"]
            assert found["value_name"] == "risk"


def test_changed_cells_change_the_input(of_frame):
    model, changed = fitted("frame"), FRAME.iloc[[2]].copy()
    changed["size"], changed["sky"] = 1.5, "rain"
    found = decided(of_frame, row=2, values={"size": 1.5, "sky": "rain"})
    assert np.isclose(found["value"], model.predict_risk(changed)[0])
    missing = FRAME.iloc[[2]].copy()
    missing["sky"] = None
    assert np.isclose(
        decided(of_frame, row=2, values={"sky": None})["value"], model.predict_risk(missing)[0]
    )


def test_the_next_best_are_those_of_kbest(client):
    model = fitted("hierarchy")
    best = model.kbest(X[[3]], 4)
    found = decided(client, row=3, k=3)
    assert [set(one["prediction"].split(", ")) for one in found["next"]] == [
        set(outputs[0]) or {"(none)"} for outputs in best.outputs[1:]
    ]
    steps = (best.values[0, 1:] - best.values[0, 0]).tolist()
    assert np.allclose([one["difference"] for one in found["next"]], steps)
    assert decided(client, row=3, k=0)["next"] is None


def test_supporters_have_the_largest_weights(client):
    explanation = fitted("hierarchy").explain(X[[3]])
    found = decided(client, row=3)
    order = np.argsort(-explanation.weights[0])[:5]
    assert [one["row"] for one in found["supporters"]] == order.tolist()
    assert np.allclose(
        [one["weight"] for one in found["supporters"]], explanation.weights[0, order]
    )
    assert all(one["explored"] == one["row"] for one in found["supporters"])
    assert all(one["weight"] < 0 for one in found["opponents"])
    told = client.get(f"/api/training/{order[0]}").json()
    assert told["cells"] == rows(client, start=int(order[0]), count=1)["rows"][0]["cells"]
    assert told["output"] == found["supporters"][0]["output"]


def test_fixed_parts_are_in_and_out(client):
    found = decided(client, row=3, fixed={'"b"': "in", '"c"': "out"})
    state = {part["name"]: (part["predicted"], part["state"]) for part in found["parts"]}
    assert state["b"] == (True, "in")
    assert state["c"] == (False, "out")
    both = decided(client, row=3, fixed={'"b"': "in"}, restrict={"include": ["c"]})
    assert both["prediction"] == "a, b, c"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ([], "Expected an object with a row"),
        ({}, "row is a whole number from 0 to 23; got None"),
        ({"row": 24}, "row is a whole number from 0 to 23; got 24"),
        ({"row": True}, "row is a whole number"),
        ({"row": "3"}, "row is a whole number"),
        ({"row": 3, "k": 11}, "k is a whole number from 0 to 10"),
        ({"row": 3, "values": {"feature 9": 1.0}}, "there is no column 'feature 9'"),
        ({"row": 3, "values": {"feature 1": "warm"}}, "takes a number; got 'warm'"),
        ({"row": 3, "values": [1]}, "values is an object by name"),
        ({"row": 3, "restrict": {"size": 1}}, "cannot be restricted by 'size'"),
        ({"row": 3, "restrict": {"max_size": "x"}}, "max_size is a whole number"),
        ({"row": 3, "restrict": {"include": "b"}}, "include is a list of labels"),
        ({"row": 3, "restrict": {"include": ["x"]}}, "x"),
        ({"row": 3, "fixed": {'"x"': "in"}}, "There is no label 'x'"),
        ({"row": 3, "fixed": {"b": "in"}}, "is no part: a part is its name as JSON"),
        ({"row": 3, "fixed": {'"b"': "up"}}, "is 'in' or 'out'; got 'up'"),
        ({"row": 3, "fixed": {'"b"': "in", '"a"': "out"}}, "No output satisfies these constraints"),
        ({"row": 3, "restrict": {"min_size": 4}}, "No output satisfies these constraints"),
        ({"row": 3, "loss": "kendall"}, "loss is one of"),
        ({"row": 3, "threshold": 0.5}, "There is no 'threshold'"),
    ],
)
def test_what_cannot_be_decided_is_said_with_the_remedy(client, asked, said):
    refused(client.post("/api/decide", json=asked), said)


def test_no_json_at_all(client):
    answer = client.post(
        "/api/decide", content=b"{row", headers={"content-type": "application/json"}
    )
    refused(answer, "no JSON")


# Slices.


def test_slices_count_what_is_missed_and_too_many(of_frame):
    found = of_frame.get("/api/slices").json()
    predicted = [set(output) for output in fitted("frame").predict(FRAME)]
    losses = np.array([len(z ^ y) for z, y in zip(predicted, NAMES)], dtype=float)
    assert np.isclose(found["mean"], losses.mean())
    assert found["low"] <= found["mean"] <= found["high"]
    for part in found["by_part"]:
        name = part["name"]
        assert part["n"] == sum(name in y for y in NAMES)
        assert part["missed"] == sum(name in y - z for z, y in zip(predicted, NAMES))
        assert part["too_many"] == sum(name in z - y for z, y in zip(predicted, NAMES))
    sky = next(one for one in found["by_column"] if one["column"] == "sky")
    for one in sky["bins"]:
        inside = (FRAME["sky"] == one["name"]).to_numpy()
        assert (one["n"], one["mean"]) == (inside.sum(), pytest.approx(losses[inside].mean()))
        filtered = rows(of_frame, column="sky", bin=one["name"], count=100)["rows"]
        assert [row["row"] for row in filtered] == np.flatnonzero(inside).tolist()
    size = next(one for one in found["by_column"] if one["column"] == "size")
    assert sum(one["n"] for one in size["bins"]) == len(X)


def test_slices_by_depth_are_of_true_labels():
    space = Hierarchy([("a", "b"), ("a", "c")], close=True)
    model = ConditionalRiskMinimizer(space, alpha=100.0).fit(X, NAMES)
    client = client_of_app(make_app(model, X, NAMES))
    found = client.get("/api/slices").json()
    assert found["place_word"] == "depth"
    closed = [y | ({"a"} if y else set()) for y in NAMES]
    predicted = [set(output) for output in model.predict(X)]
    for place, labels in (("depth 1", {"a"}), ("depth 2", {"b", "c"})):
        one = next(one for one in found["by_depth"] if one["name"] == place)
        missed = [len((y - z) & labels) for z, y in zip(predicted, closed)]
        assert one["n"] == sum(len(y & labels) for y in closed)
        assert one["mean"] == pytest.approx(sum(missed) / one["n"])
        listed = rows(client, depth=place, count=100)["rows"]
        assert [row["row"] for row in listed] == np.flatnonzero(missed).tolist()


def client_of_app(app):
    from fastapi.testclient import TestClient

    return TestClient(app, base_url="http://127.0.0.1:8000")


# Data of other kinds.


def test_without_true_outputs():
    client = client_of_app(make_app(fitted("labels"), X))
    assert not client.get("/api/model").json()["has_truth"]
    row = rows(client, count=1)["rows"][0]
    assert (row["truth"], row["loss"]) == (None, None)
    answer = decided(client, row=0)
    assert (answer["truth"], answer["loss_of_row"]) == (None, None)
    refused(client.get("/api/slices"), "no true outputs")
    refused(client.get("/api/rows?sort=loss"), "no true outputs")
    refused(client.get("/api/rows?label=a&where=true"), "no true outputs")
    assert all(one["explored"] is None for one in answer["supporters"])
    told = client.get("/api/training/0").json()
    assert told["cells"] is None


def test_truths_that_are_known_in_part():
    Y = SETS.astype(float)
    Y[0, 1] = np.nan
    Y[1] = np.nan
    model = ConditionalRiskMinimizer(LabelSets(["a", "b", "c"]), alpha=0.1).fit(X, SETS)
    client = client_of_app(make_app(model, X, Y))
    told = rows(client, count=2)["rows"]
    assert told[1]["truth"] is None
    assert told[1]["loss"] is None
    predicted = np.asarray(model.predict(X))
    assert told[0]["loss"] == np.abs(predicted[0] - SETS[0])[[0, 2]].sum()
    assert decided(client, row=1)["loss_of_row"] is None
    assert decided(client, row=0)["loss_of_row"] == told[0]["loss"]
    by_part = {one["name"]: one["n"] for one in client.get("/api/slices").json()["by_part"]}
    assert by_part["b"] == np.nansum(Y[:, 1])


def test_training_rows_of_other_data():
    model = fitted("labels")
    client = client_of_app(make_app(model, X[:5] + 0.1, NAMES[:5], X_train=X))
    told = client.get("/api/training/7").json()
    assert told["explored"] is None
    assert list(told["cells"].values()) == X[7].tolist()
    refused(client.get("/api/training/24"), "from 0 to 23")
    refused(client.get("/api/training/last"), "is a number")
    with pytest.raises(ValueError, match="trained on 24 rows; X_train has 5"):
        make_app(model, X, X_train=X[:5])


def test_only_the_first_rows():
    client = client_of_app(make_app(fitted("labels"), X, NAMES, first=7))
    told = client.get("/api/model").json()
    assert (told["rows"], told["rows_given"]) == (7, len(X))
    assert rows(client)["total"] == 7


def test_what_is_no_model_or_no_data():
    with pytest.raises(ValueError, match="has a space_"):
        make_app(LabelSets(), X)
    with pytest.raises(ValueError, match="nothing to explore"):
        make_app(fitted("labels"), X[:0])
    with pytest.raises(ValueError, match="X has 24 rows and y has 3"):
        make_app(fitted("labels"), X, NAMES[:3])


def test_names_are_data():
    bad = '<img src=x onerror="alert(1)">'
    Y = [{bad} if row[0] else {"b"} for row in SETS]
    model = ConditionalRiskMinimizer(LabelSets(), alpha=0.1).fit(X, Y)
    client = client_of_app(make_app(model, X, Y, row_names=[bad] * len(X), name=bad))
    page = client.get("/")
    assert bad not in page.text
    answer = decided(client, row=int(np.flatnonzero(SETS[:, 0])[0]), fixed={json.dumps(bad): "in"})
    assert bad in answer["prediction"]
    assert "<img" not in answer["drawing"]
