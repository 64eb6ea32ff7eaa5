# SPDX-License-Identifier: BSD-3-Clause
"""Models of the command line in Python: frames and records give what a file of them gives."""

import csv
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skstruct import load_model
from skstruct.datasets.formats.cells import ranked_items, write_cell
from skstruct.datasets.reading import read_data
from skstruct.encoding.frames import table_of
from skstruct.exceptions import DataFormatError

pandas = pytest.importorskip("pandas")

SAMPLES = Path(sys.modules["skstruct"].__file__).parent / "datasets" / "samples"
RNG = np.random.default_rng(0)
N = 30
HEAT = RNG.normal(size=N).round(3)
SOIL = np.array(["sand", "clay", "peat"])[RNG.integers(3, size=N)]
WET = np.array(["no", "yes"])[RNG.integers(2, size=N)]
ROOM = np.array(["1", "2", "2b"])[RNG.integers(3, size=N)]  # names that look like numbers
GAPS = np.where(RNG.random(N) < 0.2, None, RNG.integers(0, 9, N).astype(object))
BEST = HEAT + (SOIL == "clay") > 0.2
SHARES = np.array([[0.25, 0.75], [0.5, 0.5]])[BEST.astype(int)]
TARGETS = {
    "classes": {"kind": np.where(BEST, "good", "bad")},
    "labels": {"moods": np.where(BEST, "calm;glad", "glad")},
    "hierarchy": {"path": np.where(BEST, "m/n", "m/o")},
    "ranking": {"order": np.where(BEST, "u>v>w", "w>u>v")},
    "regression": {"beans": HEAT + BEST, "peas": HEAT - BEST},
    "histogram": {"left": SHARES[:, 0], "right": SHARES[:, 1]},
    "ordinal": {"grade": np.where(BEST, "2", "1")},
}
INPUTS = {"heat": HEAT, "soil": SOIL, "wet": WET, "room": ROOM, "gaps": GAPS}


def frame_of(task):
    return pandas.DataFrame(INPUTS | TARGETS[task])


def cells(model, outputs):
    """Outputs as the command line writes them, a list for every row."""
    if model.task_ in ("regression", "histogram"):
        return [[float(number) for number in np.ravel(row)] for row in np.asarray(outputs)]
    if model.task_ == "ranking":
        outputs = [ranked_items(row, model.targets_) for row in np.asarray(outputs)]
    return [[write_cell(model.task_, output)] for output in outputs]


def written(path, model):
    """Outputs of a file of predictions, a list for every row."""
    rows = list(csv.reader(Path(path).read_text("utf-8").splitlines()))
    if model.task_ in ("regression", "histogram"):
        return [[float(cell) for cell in row[1:]] for row in rows[1:]]
    return [row[1:] for row in rows[1:]]


def risks_of(run, *arguments):
    """Risks that the command line tells, to the last digit."""
    printed = run("predict", "-q", *arguments, "--risk", "--json").out
    return [json.loads(line)["risk"] for line in printed.splitlines()]


@pytest.fixture
def fitted(run):
    """Fits a model to a frame by the command line; gives the model and the file."""

    def fit(frame, task, targets, *options):
        frame.to_csv("train.csv", index=False)
        named = [word for name in targets for word in ("--target", name)]
        run("fit", "-q", "train.csv", "-o", "m.model", "--task", task, *named, *options)
        return load_model("m.model")

    return fit


@pytest.mark.slow
@pytest.mark.parametrize("task", TARGETS)
def test_frames_and_records_give_what_a_file_gives(run, fitted, task):
    frame, targets = frame_of(task), list(TARGETS[task])
    model = fitted(frame, task, targets, "--set", "alpha=1.0")
    new = frame.drop(columns=targets)[["wet", "heat", "gaps", "room", "soil"]][::-1]
    new.insert(1, "further", "x")
    new.index = [f"r{i}" for i in range(N)]
    new.to_csv("new.csv", index=False)
    run("predict", "-q", "m.model", "new.csv", "-o", "out.csv")
    risks = risks_of(run, "m.model", "new.csv")
    expected = written("out.csv", model)
    found = model.predict(new)
    assert list(found.index) == list(new.index)
    if task in ("regression", "histogram", "ranking"):
        assert list(found.columns) == list(model.targets_)
    else:
        assert found.name == targets[0]
    records = [{k: v for k, v in row.items() if v is not None} for row in new.to_dict("records")]
    for outputs in (found, model.predict(records), model.predict(read_data(
            "new.csv", task=task, targets=(), nominal=("room",)))):  # fmt: skip
        assert cells(model, outputs) == expected
    decoded = model.decode(new)
    assert cells(model, decoded.outputs) == expected
    assert decoded.outputs.index.equals(new.index)
    np.testing.assert_array_equal(decoded.values, risks)
    np.testing.assert_array_equal(model.predict_risk(new), risks)
    np.testing.assert_array_equal(model.explain(records).weights, model.explain(new).weights)


@pytest.mark.slow
@pytest.mark.parametrize("task", TARGETS)
def test_scores_are_those_of_evaluate(run, fitted, task):
    frame, targets = frame_of(task), list(TARGETS[task])
    model = fitted(frame, task, targets, "--set", "alpha=1.0")
    printed = run("evaluate", "m.model", "train.csv", "--bootstrap", 1, "--json").out
    losses = {loss["loss"]: loss["mean"] for loss in json.loads(printed)["losses"]}
    score = model.score(frame)
    assert -score == pytest.approx(losses[model.about_["loss"]], rel=1e-12, abs=1e-12)
    records = frame.to_dict("records")
    y = model.outputs(read_data("train.csv", task=task, targets=tuple(targets)))
    assert model.score(records) == model.score(records, y) == score
    with pytest.raises(DataFormatError, match=rf"no column is called '{targets[0]}'.*or give y"):
        model.score(frame.drop(columns=targets))


def test_losses_and_constraints_are_those_of_the_learner(run, fitted):
    model = fitted(frame_of("labels"), "labels", ["moods"], "--set", "alpha=1.0")
    new = frame_of("labels")
    for loss in ("f1", "hamming"):
        run("predict", "-q", "m.model", "train.csv", "-o", "out.csv", "--loss", loss,
            "--restrict", "max_size=1")  # fmt: skip
        expected = written("out.csv", model)
        found = model.predict(new, loss=loss, restrict={"max_size": 1})
        assert cells(model, found) == expected
    best = model.kbest(new, 2, restrict={"max_size": 1})
    assert len(best.outputs) == 2
    assert all(rank.index.equals(new.index) for rank in best.outputs)
    np.testing.assert_array_equal(model.kbest(new.to_dict("records"), 2).values,
                                  model.kbest(new, 2).values)  # fmt: skip


def test_learners_without_risks_have_no_method_for_them(fitted):
    model = fitted(frame_of("labels"), "labels", ["moods"], "--learner", "perceptron")
    assert not hasattr(model, "predict_risk")
    assert not hasattr(model, "explain")
    assert len(model.decode(frame_of("labels")).outputs) == N


# ---------------------------------------------------------------------- sequences
FORMS = {
    "tuples": tuple,
    "lists": list,
    "dictionaries": lambda token: {"1": token[0], "2": token[1]},
    "other dictionaries": lambda token: {2: token[1], 1: token[0], "3": "B-NP"},
}


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_sentences_in_all_their_forms(run, form):
    run("fit", "-q", SAMPLES / "phrases.txt", "-o", "m.model", "--set", "alpha=0.01")
    run("predict", "-q", "m.model", SAMPLES / "phrases.txt", "-o", "out.csv")
    model = load_model("m.model")
    sentences = read_data(SAMPLES / "phrases.txt").inputs
    expected = written("out.csv", model)
    found = model.predict([[form(token) for token in sentence] for sentence in sentences])
    assert cells(model, found) == expected


def test_sentences_that_are_none_are_reported(run):
    run("fit", "-q", SAMPLES / "phrases.txt", "-o", "m.model", "--set", "alpha=0.01")
    model = load_model("m.model")
    for X, problem in (
        ([["dog"]], "sequence 1, position 1 has 1 columns; the model reads 2"),
        ([[("a", "DT"), {"1": "b"}]], "sequence 1, position 2 has no column '2'"),
        (["the dog"], "sequence 1 is a text: give the list of its words"),
        ("the dog", "a list of sequences is wanted, got str"),
        ([], "there are no rows"),
    ):
        with pytest.raises(DataFormatError, match=problem):
            model.predict(X)


def test_files_of_too_few_columns_are_reported(run):
    run("fit", "-q", SAMPLES / "phrases.txt", "-o", "m.model", "--set", "alpha=0.01")
    Path("words.txt").write_text("the\ndog\n\ncat\n\n")
    found = run("predict", "-q", "m.model", "words.txt", "--format", "conll", code=3)
    assert "sequence 1, position 1 has 1 columns; the model reads 2" in found.err


@pytest.mark.slow
def test_a_report_shows_the_words(run):
    run("fit", "-q", SAMPLES / "phrases.txt", "-o", "m.model", "--set", "alpha=0.01")
    run("report", "-q", "m.model", SAMPLES / "phrases.txt", "-o", "r.html", "--examples", "2")
    page = Path("r.html").read_text("utf-8")
    sentences = read_data(SAMPLES / "phrases.txt").inputs
    assert sum(" ".join(word for word, _ in sentence) in page for sentence in sentences) >= 2


def test_words_alone_and_numbers(run):
    Path("words.txt").write_text("dog N\nruns V\n\ncat N\n\n" * 5)
    run("fit", "-q", "words.txt", "--format", "conll", "-o", "m.model", "--set", "alpha=0.01")
    model = load_model("m.model")
    assert [list(tags) for tags in model.predict([["dog", "runs"], [("cat",)]])] == [
        ["N", "V"], ["N"]
    ]  # fmt: skip


# ---------------------------------------------------------------------- cells
def test_missing_columns_are_named(fitted):
    model = fitted(frame_of("classes"), "classes", ["kind"], "--set", "alpha=1.0")
    frame = frame_of("classes")
    for X in (frame.drop(columns="soil"), frame.drop(columns="soil").to_dict("records")):
        with pytest.raises(DataFormatError, match=r"reads 5 columns, and 1 of them .*'soil'"):
            model.predict(X)
    with pytest.raises(DataFormatError, match=r"by name: give a DataFrame.*got ndarray"):
        model.predict(frame.to_numpy())
    with pytest.raises(DataFormatError, match=r"row 1, column 'heat': .* held numbers .*'warm'"):
        model.predict(frame.assign(heat="warm"))
    with pytest.raises(DataFormatError, match=r"row 30, column 'heat': an infinite number"):
        model.predict(frame.assign(heat=[*HEAT[1:], np.inf]))
    with pytest.raises(DataFormatError, match="there are no rows"):
        model.predict(frame[:0])
    with pytest.raises(DataFormatError, match="there are no rows"):
        model.predict([])
    with pytest.raises(DataFormatError, match="2 columns are called 'heat'"):
        model.predict(pandas.concat([frame, frame[["heat"]]], axis=1))


@pytest.mark.slow
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    rows=st.lists(
        st.tuples(
            st.floats(-9, 9) | st.integers(-9, 9) | st.none(),
            st.sampled_from(["sand", "clay", "mud", "NA", None, " clay"]),
            st.sampled_from(["1", "2", "2b", "7", None]),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_columns_are_those_of_a_file(tmp_path, rows):
    """The same rows as a frame, as records, and read from the file of the frame."""
    names = ("heat", "soil", "room")
    frame = pandas.DataFrame(rows, columns=list(names)).astype({"room": object, "soil": object})
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    data = read_data(path, task="classes", targets=(), nominal=("soil", "room"), id_column="")
    like = SimpleNamespace(names=names, values=(None, ("clay",), ("1", "2")))
    for X in (frame, [dict(zip(names, row)) for row in rows]):
        found = table_of(X, like, is_sparse=False)
        assert found.names == data.inputs.names
        assert found.values[1:] == data.inputs.values[1:]
        np.testing.assert_array_equal(found.data, data.inputs.data)


@pytest.mark.parametrize("dtype", ["object", "string", "category", "float64", "Int64", "int64"])
def test_types_of_columns(dtype):
    """Names that are whole numbers, in every type that a frame may have them in."""
    like = SimpleNamespace(names=("room",), values=(("1", "2", "2b"),))
    rooms = [1, 2, 1] if dtype in ("int64", "Int64", "float64") else ["1", "2", "1"]
    found = table_of(pandas.DataFrame({"room": rooms}).astype(dtype), like, is_sparse=False)
    assert found.values == (("1", "2"),)
    np.testing.assert_array_equal(found.data, [[0], [1], [0]])


def test_whole_numbers_with_a_point_as_training_wrote_them():
    like = SimpleNamespace(names=("room",), values=(("1.0", "2"),))
    found = table_of([{"room": 1.0}, {"room": 2.0}, {"room": np.nan}], like, is_sparse=False)
    assert found.values == (("1.0", "2"),)
    np.testing.assert_array_equal(found.data, [[0], [1], [np.nan]])


def test_features_that_a_sparse_row_leaves_out_are_zero(run):
    lines = [f"{'ab'[i % 2]} 1:{i % 3 + 1} 3:{i % 2 + 0.5}" for i in range(20)]
    Path("train.svm").write_text("\n".join(line.replace("a ", "0 ").replace("b ", "1 ")
                                           for line in lines) + "\n")  # fmt: skip
    run("fit", "-q", "train.svm", "--format", "libsvm", "-o", "m.model", "--set", "alpha=1.0")
    Path("new.svm").write_text("0 1:2\n0 3:1.5\n")
    run("predict", "-q", "m.model", "new.svm", "--format", "libsvm", "-o", "out.csv")
    risks = risks_of(run, "m.model", "new.svm", "--format", "libsvm")
    model = load_model("m.model")
    expected = written("out.csv", model)
    for records in ([{"1": 2}, {"3": 1.5}], [{1: 2.0}, {3: 1.5}]):
        assert cells(model, model.predict(records)) == expected
        np.testing.assert_allclose(model.predict_risk(records), risks, rtol=1e-12)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_other_frames_are_read_by_their_columns(library):
    made = pytest.importorskip(library)
    make = made.DataFrame if library == "polars" else made.table
    like = SimpleNamespace(names=("soil", "heat"), values=(("clay",), None))
    X = make({"heat": [1.5, None], "soil": ["clay", "mud"], "more": ["a", "b"]})
    found = table_of(X, like, is_sparse=False)
    assert found.values == (("clay", "mud"), None)
    np.testing.assert_array_equal(found.data, [[0, 1.5], [1, np.nan]])
