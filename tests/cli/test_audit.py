# SPDX-License-Identifier: BSD-3-Clause
"""``skstruct audit``: what it prints is what Python finds."""

import json
from pathlib import Path

import numpy as np
import pytest

from cli.small_tables import OUTPUTS, rows_of, table
from skstruct.datasets.reading import read_data
from skstruct.inspection import suspicious_outputs
from skstruct.tasks import TaskModel, outputs_for_learning

KERNEL = ("--learner", "kernel", "--set", "alpha=0.5", "--set", "kernel=rbf")


def audited(run, task, *options, code=0):
    name = table(task, 40, 0, "rows.csv")
    chosen = ("--task", task, "--target", OUTPUTS[task][0], *KERNEL)
    return run("audit", name, *chosen, *options, code=code)


def in_python(task, **options):
    data = read_data("rows.csv", task=task, targets=(OUTPUTS[task][0],))
    model = TaskModel("kernel", None, {"alpha": 0.5, "kernel": "rbf"})
    X = model.new_encoder(data).transform(data.inputs)
    learner = model.new_learner(data, "kernel")
    return suspicious_outputs(learner, X, outputs_for_learning(data), **options)


@pytest.mark.parametrize("task", list(OUTPUTS))
def test_rows_and_parts_are_those_of_python(run, task):
    told = json.loads(audited(run, task, "-q", "--json", "-k", 3).out)
    found = in_python(task)
    assert told["rows"] == 40
    assert [one["row"] for one in told["suspicious_rows"]] == (found.rows["row"][:3] + 1).tolist()
    np.testing.assert_allclose(
        [one["margin"] for one in told["suspicious_rows"]], found.rows["margin"][:3]
    )
    parts = found.to_frame("parts", 3)
    for one, given, score in zip(told["suspicious_parts"], parts["given"], parts["score"]):
        assert one["given"] == given
        assert one["score"] == pytest.approx(score)


def test_a_table_for_people_and_a_file_of_all(run):
    printed = audited(run, "labels", "-o", "all.csv", "-k", 2)
    assert "rows, 40 rows" in printed.out
    assert "Parts of all rows" in printed.out
    assert "Wrote all.csv." in printed.err
    rows = rows_of(Path("all.csv").read_text("utf-8"))
    assert len(rows) == 80
    assert list(rows[0]) == ["row", "part", "given", "suggested", "score"]
    assert {row["part"] for row in rows} == {"sun", "'=rain"}  # which no spreadsheet runs
    scores = [float(row["score"]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    audited(run, "labels", "-q", "-o", "raw.csv", "--raw-cells")
    assert "=rain" in {row["part"] for row in rows_of(Path("raw.csv").read_text("utf-8"))}


def test_whole_outputs_alone_and_one_fit(run):
    printed = audited(run, "classes", "-q", "--rows", "--one-fit", "-o", "rows.out.csv")
    assert "Parts" not in printed.out
    rows = rows_of(Path("rows.out.csv").read_text("utf-8"))
    found = in_python("classes", parts=False, cv=None)
    assert [int(row["row"]) for row in rows] == (found.rows["row"] + 1).tolist()
    told = json.loads(audited(run, "classes", "-q", "--rows", "--json").out)
    assert "suspicious_parts" not in told


def test_rows_have_the_names_of_the_file(run):
    Path("named.csv").write_text(
        "name,u,kind\n" + "".join(f"r{i},{i},{'ab'[int(i > 9) ^ (i == 3)]}\n" for i in range(20))
    )
    told = run("audit", "named.csv", "-q", "--json", "--id-column", "name", "--target", "kind",
               *KERNEL)  # fmt: skip
    assert json.loads(told.out)["suspicious_rows"][0]["row"] == "r3"


def test_what_is_wrong_is_said_before_any_work(run):
    assert "cannot be split" in audited(run, "labels", "--folds", 99, code=3).err
    assert "--raw-cells" in audited(run, "labels", "--raw-cells", code=2).err
    assert "no folder" in audited(run, "labels", "-o", "not/there.csv", code=1).err
    assert "nonsense" in audited(run, "labels", "--loss", "nonsense", code=2).err
    assert "penalty" in audited(run, "labels", "--set", "penalty=3", code=2).err
