# SPDX-License-Identifier: BSD-3-Clause
"""Model cards say what is true of the model, and show names as they are."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skstruct import (
    ConditionalRiskMinimizer,
    CountingRidge,
    StructuredPerceptron,
    save_model,
)
from skstruct.datasets.dataset import Dataset, Table
from skstruct.inspection.drawing import written
from skstruct.model_selection import evaluate
from skstruct.persistence import describe_model
from skstruct.reports import write_model_card, write_report
from skstruct.reports.markdown import front_matter, markdown, sentence
from skstruct.reports.pages import Facts, Listing, Section, Text
from skstruct.reports.pages import Table as Rows
from skstruct.spaces import LabelSets, Sequences
from skstruct.tasks.model import TaskModel

markdown_it = pytest.importorskip("markdown_it")
yaml = pytest.importorskip("yaml")
FOLDER = Path(__file__).parents[2] / "reliability"
RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
SETS = [[name for name, v in zip("abc", row) if v > 0] for row in X]
LIVE = {"html_block", "html_inline", "link_open", "image", "code_inline", "em_open", "strong_open",
        "heading_open", "hr", "blockquote_open", "math_inline", "s_open"}  # fmt: skip


def data(rows=slice(None), **changes):
    """A data set with columns of numbers and names."""
    columns = np.column_stack([X[:, :2], X[:, 2] > 0])
    columns[3, 0] = np.nan
    inputs = Table(("size", "width", "sky"), (None, None, ("grey", "blue")), columns)
    y = np.where(X[:, 0] > 0, "yes", "no")
    whole = Dataset("garden", "csv", "classes", inputs, y)
    return replace(whole.take(rows), **changes)


def header_and_text(path):
    """The YAML of a card, read, and what is below it."""
    _, header, text = path.read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(header), text


def tokens_of(text):
    """Everything that a reader of Markdown with tables and HTML makes of a text."""
    reader = markdown_it.MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    found = []
    for token in reader.parse(text):
        found += [token, *(token.children or [])]
    return found


# ------------------------------------------------------------------ what is said
@pytest.fixture(scope="module")
def task_model():
    return TaskModel("kernel", parameters={"alpha": 0.1}).fit(data(slice(40)))


def test_a_card_tells_the_facts_of_a_model_file(task_model, tmp_path):
    save_model(task_model, tmp_path / "garden.model")
    rows = data(slice(40, 60))
    path = write_model_card(tmp_path / "garden.model", tmp_path / "card.md", rows)
    checksum = describe_model(tmp_path / "garden.model")["sha256"]
    header, text = header_and_text(path)
    estimates = evaluate(task_model.learner_, task_model.inputs(rows), task_model.outputs(rows))
    (result,) = header["model-index"][0]["results"]
    assert [one["value"] for one in result["metrics"]] == [one.mean for one in estimates]
    assert result["dataset"] == {"name": "garden", "type": "csv"}
    assert header["library_name"] == "skstruct"
    assert header["pipeline_tag"] == "tabular-classification"
    assert "classes" in header["tags"]
    assert "license" not in header
    for told in (
        "one class (Classes)", "| size | number |", "| sky | names | grey, blue | no |", "no, yes",
        "| rows | 40 |", "| data | garden |", "not calibrated", "Decisions are exact",
        "Missing cells were learned from in size", checksum,
        'skstruct.load_model("garden.model")', "skstruct serve garden.model",
    ):  # fmt: skip
        assert told in text
    assert "Warning" not in text


def test_rows_of_training_are_warned_of_and_no_results(task_model, tmp_path):
    header, text = header_and_text(
        write_model_card(task_model, tmp_path / "card.md", data(slice(40)))
    )
    assert "Warning: 40 of 40 rows were rows of training" in text
    assert "model-index" not in header
    header, text = header_and_text(write_model_card(task_model, tmp_path / "card.md"))
    assert "says nothing about how often the model is wrong" in text
    assert "It was not judged" in text


def test_frames_are_known_again_too(task_model, tmp_path):
    pandas = pytest.importorskip("pandas")
    rows = data(slice(40))
    frame = pandas.DataFrame(rows.inputs.data, columns=rows.inputs.names)
    frame["sky"] = np.where(frame["sky"] > 0, "blue", "grey")
    path = write_model_card(task_model, tmp_path / "card.md", frame, rows.outputs)
    assert "Warning: 40 of 40" in path.read_text()


@pytest.mark.parametrize(
    ("model", "inputs", "outputs", "words"),
    [
        (ConditionalRiskMinimizer(LabelSets("abc"), alpha=0.1), X, SETS,
         ["Rows of 3 numbers", "a set of labels", "max\\_size", "f1"]),
        (StructuredPerceptron(Sequences(), random_state=0),
         [row[:, None] for row in X], [["up" if v > 0 else "down" for v in row] for row in X],
         ["a symbol for every position", "down, up"]),
        (ConditionalRiskMinimizer(alpha=0.1), X, X[:, :2], ["numbers (Box)"]),
    ],
)  # fmt: skip
def test_learners_that_were_fitted_in_python(model, inputs, outputs, words, tmp_path):
    model.fit(inputs[:40], outputs[:40])
    path = write_model_card(model, tmp_path / "card.md", inputs[40:], outputs[40:], license="mit")
    header, text = header_and_text(path)
    assert header["license"] == "mit"
    assert len(header["metrics"]) >= 1
    for told in words:
        assert told in text
    with pytest.raises(ValueError, match="true outputs"):
        write_model_card(model, tmp_path / "card.md", inputs[40:])


def test_gaps_in_training_and_few_rows_are_told(tmp_path):
    Y = (X > 0).astype(float)
    Y[::4, 0] = np.nan
    model = ConditionalRiskMinimizer(LabelSets("abc"), alpha=0.1).fit(X[:24], Y[:24])
    text = write_model_card(model, tmp_path / "card.md", X, Y).read_text()
    assert "8.3% of all parts were missing" in text
    assert "24 rows of training for 3 labels: fewer than 10 for each" in text
    assert "| least | most |" in text


def test_promises_are_told(task_model, tmp_path):
    from skstruct.conformal import PredictionSets

    rows = data(slice(40, 60))
    sets = PredictionSets(task_model.learner_, 0.2)
    task_model.control_ = sets.calibrate(task_model.inputs(rows), task_model.outputs(rows))
    try:
        text = write_model_card(task_model, tmp_path / "card.md").read_text()
    finally:
        task_model.control_ = None
    assert "Calibrated on 20 rows." in text
    assert "Nothing is promised" not in text


def test_the_command_writes_the_same(task_model, tmp_path, monkeypatch, capsys):
    from skstruct.cli.main import commands

    monkeypatch.chdir(tmp_path)
    save_model(task_model, "garden.model")
    for name in ("card.md", "card.html"):
        commands(["card", "garden.model", "-o", name, "-q"], standalone_mode=False)
    expected = write_model_card("garden.model", tmp_path / "same.md").read_text()
    assert Path("card.md").read_text() == expected
    assert Path("card.html").read_text().startswith("<!DOCTYPE html>")
    # Data beside it: a file that the model has seen is warned of.
    cells = data().inputs.data[:40]
    lines = [f"{'' if np.isnan(a) else repr(float(a))},{float(b)!r},{'blue' if c else 'grey'},{y}"
             for (a, b, c), y in zip(cells, data().outputs)]  # fmt: skip
    Path("garden.csv").write_text("\n".join(["size,width,sky,y", *lines]) + "\n")
    fit = ["fit", "garden.csv", "--target", "y", "-o", "own.model", "--learner", "kernel",
           "--set", "alpha=0.1", "-q"]  # fmt: skip
    commands(fit, standalone_mode=False)
    commands(["card", "own.model", "garden.csv", "-o", "own.md"], standalone_mode=False)
    assert "Warning: 40 of 40 rows" in Path("own.md").read_text()
    assert "rows of training" in capsys.readouterr().err


# ------------------------------------------------------------------ names that would do harm
@pytest.fixture(scope="module")
def harness():
    sys.path.insert(0, str(FOLDER))
    try:
        import hostile_names
        import report_checks

        yield hostile_names.hostile_names, report_checks.parsed_problems
    finally:
        sys.path.remove(str(FOLDER))


EXTRA = ("a|b|c", "| --- |", "`code`", "```\nfence", "[x](javascript:1)", "![x](http://x.invalid)",
         "# title", "- item", "1. item", "* * *", "---", "> quote", "<b>bold</b>", "a\n\n## b",
         "**bold**", "_em_", "~~gone~~", "\\", "\\|", "http://x.invalid", "www.x.invalid", "$x$",
         "{{ x }}", "[ref]: http://x.invalid", "&lt;b&gt;", "<http://x.invalid>")  # fmt: skip


def test_names_stay_names_in_markdown(harness):
    names = [*EXTRA, *harness[0](400)]
    page = markdown("title", "text", [
        Section("One", "one", [
            Rows(["name", "n"], [[name, 1] for name in names[:60]]),
            *(Rows(["name", "n"], [[name, 1] for name in names[i : i + 60]])
              for i in range(60, len(names), 60)),
            Facts([(name, name) for name in names]), Listing(names),
            *(Text(name) for name in names),
        ]),
    ])  # fmt: skip
    tokens = tokens_of(page)
    assert sum(token.type == "heading_open" for token in tokens) == 2
    assert [t.content for t in tokens if t.type in LIVE - {"heading_open"}] == []
    cells = [t for t in tokens if t.type in ("td_open", "th_open")]
    tables = -(-len(names) // 60)
    assert len(cells) == 2 * (len(names) + tables) + 2 * (len(names) + 1)
    items = sum(token.type == "list_item_open" for token in tokens)
    assert items == len(names)
    shown = ["".join(child.content for child in token.children)
             for token in tokens if token.type == "inline"]  # fmt: skip
    for name in names:
        assert shown.count(written(name, 2000).strip()) >= 4, name


def test_an_injection_would_be_caught():
    """The judge of the test above, on text that is not escaped."""
    for name in ("<b>x</b>", "[x](y)", "`x`", "**x**", "# x"):
        assert any(token.type in LIVE for token in tokens_of(name)), name
        assert not any(token.type in LIVE for token in tokens_of(sentence(name))), name


def test_names_stay_names_in_headers(harness):
    names = [*EXTRA, *harness[0](400)]
    facts = {"tags": names, "model-index": [{"name": name, "n": 1} for name in names]}
    text = front_matter(facts)
    assert text.count("\n---") == 1
    read = yaml.safe_load(text.split("---\n", 1)[1].rsplit("---", 1)[0])
    assert read["tags"] == [written(name, 2000) for name in names]
    assert [one["name"] for one in read["model-index"]] == read["tags"]


@pytest.mark.slow
def test_names_stay_names_in_whole_cards(harness, tmp_path):
    names, parsed_problems = harness[0](80), harness[1]
    labels = [*EXTRA[:20], *names[:20]]
    columns = [*EXTRA[20:], *names[20:60]]
    rows = RNG.standard_normal((12, len(columns)))
    values = tuple(("x", names[-1 - j]) if j % 3 == 0 else None for j in range(len(columns)))
    rows[:, ::3] = rows[:, ::3] > 0
    inputs = Table(tuple(columns), values, rows)
    y = np.array([labels[i % len(labels)] for i in range(12)], dtype=object)
    named = Dataset("<b>`x`</b>|", "csv", "classes", inputs, y, remarks=("# remark", "a|b"))
    model = TaskModel("kernel", parameters={"alpha": 1.0}).fit(named)
    options = {"title": "# <script>x</script> |", "data_name": "[x](y)", "remarks": ["<i>use</i>"],
               "model_file": None}  # fmt: skip
    path = write_model_card(model, tmp_path / "card.md", named, **options)
    header, text = header_and_text(path)
    tokens = tokens_of(text)
    assert [t.content for t in tokens if t.type in LIVE - {"heading_open"}] == []
    assert header["tags"] == ["skstruct", "structured-prediction", "classes"]
    page = write_model_card(model, tmp_path / "card.html", named, **options)
    problems, shown = parsed_problems(page.read_text(encoding="utf-8"))
    assert problems == []
    assert "<i>use</i>" in shown


@pytest.mark.parametrize(
    "learner",
    [
        ConditionalRiskMinimizer(kernel="rbf"),
        ConditionalRiskMinimizer(),
        CountingRidge(LabelSets()),
    ],
    ids=["ridge", "stack", "counting"],
)
def test_a_model_no_better_than_a_constant_says_so_in_fit_card_and_report(learner, tmp_path):
    rng = np.random.default_rng(0)
    X, Y = np.ones((30, 1)), (rng.uniform(size=(30, 2)) < [0.3, 0.6]).astype(int)
    with pytest.warns(UserWarning, match="nothing was learned from the inputs"):
        learner.fit(X, Y)
    search = learner.search_
    assert search.best["risk"] >= search.constant * (1 - 1e-9)
    assert search.constant == min(
        np.mean((one != Y).sum(axis=1)) for one in ([0, 0], [0, 1], [1, 0], [1, 1])
    )
    save_model(learner, tmp_path / "noise.model")
    card = write_model_card(tmp_path / "noise.model", tmp_path / "card.md")
    report = write_report(learner, X, Y, tmp_path / "report.html")
    for path in (card, report):
        assert "nothing was learned from the inputs" in path.read_text(encoding="utf-8")
