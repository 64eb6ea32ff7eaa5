# SPDX-License-Identifier: BSD-3-Clause
"""Models of every kind are asked, and what they answer is what they predict in Python."""

import json

import numpy as np
import pytest

from persistence.saved_cases import CLASSES, SETS, X, all_cases
from skstruct import ConditionalRiskMinimizer, CountingRidge, StructuredSVM
from skstruct import spaces as S
from skstruct.exceptions import DataFormatError, InfeasibleError
from skstruct.serving import Asked, Served, answers
from skstruct.smoothing import Forest
from skstruct.tasks import TaskModel
from tasks.test_task_model import OUTPUTS, data_of

QUESTIONS = ("decode", "marginals", "kbest", "explain")
KINDS = {case.split(", ", 1)[1]: case for case in all_cases() if case.startswith("risk, ")}


def risk(y=SETS, **options):
    return ConditionalRiskMinimizer(alpha=1.0, **options).fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*KINDS.values(), "tree", "pipeline, names", "frame of ranks"])
def test_every_space_is_served_in_json(name):
    case = all_cases()[name]
    served = Served(name, case.fitted())
    rows = served.example_rows(2)
    inputs = served.inputs(json.loads(json.dumps(rows)))
    for question in ("predict", *filter(served.can, QUESTIONS)):
        found = answers.answer(question, served, inputs)
        assert len(found) == 2
        assert json.loads(json.dumps(found, allow_nan=False)) == found


@pytest.mark.parametrize("task", [*OUTPUTS, "sequence"])
def test_every_task_is_served_in_its_names(task):
    data = data_of(task)
    model = TaskModel().fit(data)
    served = Served(task, model)
    inputs = served.inputs(served.example_rows(3))
    found = [row["prediction"] for row in answers.predict(served, inputs)]
    expected = model.learner_.predict(inputs)
    if task in ("classes", "ordinal"):
        assert found == expected.tolist()
    elif task in ("labels", "hierarchy", "sequence"):
        assert found == [list(row) for row in expected]
    elif task == "ranking":
        ranks = dict(zip(data.labels, expected[0].tolist()))
        flat = [name for group in found[0] for name in ([group] if type(group) is str else group)]
        assert sorted(flat, key=ranks.get) == flat
    else:
        assert [list(row.values()) for row in found] == expected.reshape(3, -1).tolist()
        assert list(found[0]) == list(data.labels)


def test_edges_are_pairs_and_constraints_name_them():
    case = all_cases()["risk, SpanningTrees"]
    served = Served("trees", case.fitted())
    asked = Asked(restrict={"exclude": [[0, 1]]})
    (found,) = answers.predict(served, case.X[:1], asked)
    assert [0, 1] not in found["prediction"]
    assert len(found["prediction"]) == 3


# ---------------------------------------------------------------------- what is asked for
def test_risks_bounds_and_probabilities_are_those_of_python():
    model = risk()
    served, asked = Served("m", model), Asked(loss="f1", restrict={"max_size": 1})
    decoded = model.decode(X, loss="f1", restrict={"max_size": 1})
    found = answers.decode(served, X, asked)
    assert [row["prediction"] for row in found] == [sorted(row) for row in decoded.outputs]
    assert [row["risk"] for row in found] == decoded.values.tolist()
    assert all(row["exact"] and row["gap"] == 0 for row in found)
    told = answers.marginals(served, X)
    assert [list(row["marginals"].values()) for row in told] == model.predict_marginals(X).tolist()


def test_the_best_outputs_and_their_reasons():
    model = risk(CLASSES)
    served = Served("m", model)
    best = answers.kbest(served, X[:2], Asked(k=2))
    assert [len(row["best"]) for row in best] == [2, 2]
    (told, *_) = answers.explain(served, X[:1], Asked(n=2))
    row = told["supporters"][0]
    assert row["output"] == CLASSES[row["row"] - 1]
    assert row["weight"] == model.explain(X[:1]).weights[0, row["row"] - 1]


def test_reasons_of_many_rows_are_found_in_blocks(monkeypatch):
    served = Served("m", risk())
    asked = Asked(restrict=[{"max_size": i % 3} for i in range(len(X))])

    def told():
        found = answers.explain(served, X, asked)
        return [(one["prediction"], [row["row"] for row in one["supporters"]]) for one in found]

    expected = told()
    monkeypatch.setattr(answers, "MOST_WEIGHTS", 5 * len(X))
    assert told() == expected


@pytest.mark.parametrize("rows", [
    [{"include": ["a"]}, {"exclude": ["b"]}, None],
    [{"max_size": 0}, {"min_size": 3}, {"max_size": 0}],
])  # fmt: skip
def test_constraints_may_differ_from_row_to_row(rows):
    served = Served("m", risk())
    found = answers.predict(served, X[:3], Asked.from_dict({"restrict": rows}))
    for i, row in enumerate(rows):
        alone = answers.predict(served, X[i : i + 1], Asked(restrict=row))
        assert found[i] == alone[0]


def test_the_row_without_an_output_is_named():
    served = Served("m", risk())
    rows = [{"max_size": 1}, {"max_size": 0, "include": ["a"]}]
    with pytest.raises(InfeasibleError, match="row 1") as caught:
        answers.predict(served, X[:2], Asked(restrict=rows))
    assert caught.value.row == 1


@pytest.mark.parametrize(("wrong", "said"), [
    ({"what": 1}, "known are loss"),
    ({"loss": 3}, "loss is a name"),
    ({"restrict": [1]}, r"restrict\[0\] is a dictionary"),
    ({"threshold": 2}, "threshold is a number from 0 to 1"),
    ({"threshold": "recall=x"}, "threshold is a number from 0 to 1"),
    ({"level": 1}, "level is a number between"),
    ({"k": 0}, "k is a whole number"),
    ({"n": True}, "n is a whole number"),
    ({"loss": "f1", "threshold": 0.5}, "not both"),
])  # fmt: skip
def test_wrong_questions_say_what_is_wrong(wrong, said):
    with pytest.raises(ValueError, match=said):
        Asked.from_dict(wrong)


@pytest.mark.parametrize(("question", "asked", "said"), [
    ("predict", Asked(loss="nothing"), "Unknown loss"),
    ("predict", Asked(restrict={"top": 1}), "cannot be restricted by 'top'"),
    ("predict", Asked(level=0.1), "was not calibrated"),
    ("decode", Asked(threshold=0.5), "for predict alone"),
    ("predict", Asked(k=2), "k is for kbest alone"),
    ("kbest", Asked(n=2), "n is for explain alone"),
    ("marginals", Asked(loss="f1"), "leave the loss out"),
    ("predict", Asked(restrict=[{}]), "restrict has 1 dictionaries, and there are 2 rows"),
])  # fmt: skip
def test_what_a_model_cannot_is_said(question, asked, said):
    with pytest.raises(ValueError, match=said):
        answers.answer(question, Served("m", risk()), X[:2], asked)


def test_learners_by_margins_tell_costs_and_no_probabilities():
    served = Served("m", StructuredSVM(S.LabelSets(), alpha=0.1, max_iter=3).fit(X, SETS))
    assert "cost" in answers.decode(served, X[:1])[0]
    assert not served.can("marginals")
    assert not served.can("explain")
    with pytest.raises(ValueError, match="learns by margins"):
        answers.marginals(served, X[:1])


def test_abilities_follow_the_space_too():
    assert not Served("numbers", risk(X[:, 0], space=S.Interval())).can("kbest")
    assert Served("sets", risk()).can("kbest")


# ---------------------------------------------------------------------- rows
def test_records_lists_and_frames_are_the_same_rows():
    import pandas
    import polars
    import pyarrow

    rows = [{"size": float(a), "sky": "sun" if b > 0 else "rain"} for a, b, _ in X]
    model = ConditionalRiskMinimizer(alpha=1.0).fit(rows, CLASSES)
    served = Served("m", model)
    expected = answers.decode(served, served.inputs(rows))
    frame = pandas.DataFrame(rows)
    formats = [
        frame,
        polars.DataFrame(rows),
        pyarrow.Table.from_pandas(frame),
        frame[["sky", "size"]],
    ]
    formats += [[list(row.values()) for row in rows]]
    for other in formats:
        assert answers.decode(served, served.inputs(other)) == expected


def test_dates_are_read_from_texts():
    import datetime as dt

    days = [dt.date(2024, 1, 1) + dt.timedelta(days=30 * i) for i in range(len(X))]
    rows = [{"day": day, "u": 0.5} for day in days]
    served = Served("m", ConditionalRiskMinimizer(alpha=1.0).fit(rows, CLASSES))
    texts = [{"day": day.isoformat(), "u": 0.5} for day in days]
    assert served.columns[0].kind == "date"
    assert answers.predict(served, served.inputs(texts)) == answers.predict(served, rows)
    with pytest.raises(DataFormatError, match="row 1, column 'day': a date such as") as caught:
        served.inputs([{"day": "soon", "u": 1}])
    assert (caught.value.row, caught.value.field) == (0, "day")


@pytest.mark.parametrize(("rows", "row", "column"), [
    ([{"u": 1.0, "v": 1, "w": 2}, {"u": "x", "v": 1, "w": 2}], 1, "u"),
    ([[1, 2, 3], [1, None, {}]], 1, "w"),
    ([{"u": 1.0, "v": 2.0}], None, "w"),
    ([[1, 2]], 0, None),
    ([{"u": 1.0, "v": 1, "w": 2}, 5], 1, None),
])  # fmt: skip
def test_bad_cells_are_named(rows, row, column):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("uvw"))
    served = Served("m", ConditionalRiskMinimizer(alpha=1.0).fit(frame, CLASSES))
    with pytest.raises(DataFormatError) as caught:
        served.inputs(rows)
    assert (caught.value.row, caught.value.field) == (row, column)


def test_nothing_is_no_rows():
    with pytest.raises(ValueError, match="no rows"):
        Served("m", risk()).inputs([])


def test_what_is_no_model_is_refused():
    with pytest.raises(ValueError, match="which has a space_; got dict"):
        Served("m", {})


def test_numbers_beyond_every_scale_are_named_or_beyond_every_threshold():
    rows = [{"size": x[0], "legs": x[1], "sky": "ab"[x[2] > 0]} for x in X.tolist()]
    scaled = Served("m", ConditionalRiskMinimizer(smoother=Forest(5)).fit(rows, SETS))
    for cell in (1e308, -1e308):
        asked = scaled.inputs([rows[0], {**rows[0], "legs": cell}])
        with pytest.raises(DataFormatError, match="row 2, column 'legs': the number is too large"):
            answers.predict(scaled, asked)
    plain = ConditionalRiskMinimizer(smoother=Forest(5)).fit(X, SETS)
    far = X[:1] + 1e6 * np.eye(X.shape[1])[:1]
    beyond = np.where(far > 1e5, 1e300, far)
    assert plain.predict_risk(far) == plain.predict_risk(beyond)
    for array in ([[1e308] * X.shape[1]], [[0.0] * (X.shape[1] - 1) + [np.inf]]):
        with pytest.raises(DataFormatError, match=r"row 1, column '\d': the number is too large"):
            Served("m", plain).inputs(array)


@pytest.mark.parametrize("rows", [[[1.0, [2.0]]], [[1.0, {}]], [[1.0, "x"]]])
def test_cells_that_hold_more_are_named(rows):
    model = ConditionalRiskMinimizer(alpha=1.0).fit(X[:, :2], SETS)
    with pytest.raises(DataFormatError, match="row 1, column '1': a number is wanted"):
        Served("m", model).inputs(rows)


def test_only_losses_that_are_predicted_for_are_listed():
    """Means of margins decide no bilinear loss."""
    model = CountingRidge(S.Cycles(list("abcd")), alpha=0.1)
    tours = [list("abcd") if x[0] > 0 else list("acb") for x in X]
    assert Served("m", model.fit(X, tours)).losses() == ["hamming"]
