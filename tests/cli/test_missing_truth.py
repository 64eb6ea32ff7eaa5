# SPDX-License-Identifier: BSD-3-Clause
"""Commands that judge a model by outputs of which parts are missing."""

import json

import numpy as np

from cli.small_tables import table
from skstruct.tasks.model import TaskModel


def with_gaps(monkeypatch):
    """Outputs of data files with gaps: every third cell, and the whole first row."""
    whole = TaskModel.outputs

    def outputs(self, data):
        cells = np.array(self.learner_.space_.validate(whole(self, data)), dtype=float)
        cells.ravel()[::3] = np.nan
        cells[0] = np.nan
        return cells

    monkeypatch.setattr(TaskModel, "outputs", outputs)


def test_evaluate_says_how_much_is_unknown_and_gives_ends(fitted, run, monkeypatch):
    model, data = fitted("labels"), table("labels", 20, 1, "new.csv")
    (whole,) = json.loads(run("evaluate", "--json", "--loss", "hamming", model, data).out)["losses"]
    assert "lower" not in whole
    with_gaps(monkeypatch)
    found = json.loads(run("evaluate", "--json", "--loss", "hamming", model, data).out)
    (loss,) = found["losses"]
    assert found["unknown"].endswith("1 of 20 rows say nothing.")
    assert loss["lower"] <= whole["mean"] <= loss["upper"]
    printed = run("evaluate", "--loss", "hamming", model, data)
    assert "least" in printed.out
    assert "are not known" in printed.err


def test_a_report_is_written_of_outputs_with_gaps(fitted, run, monkeypatch, tmp_path):
    model, data = fitted("labels"), table("labels", 20, 1, "new.csv")
    with_gaps(monkeypatch)
    run("report", "-q", model, data, "-o", "page.html", "--examples", "1")
    assert "1 of 20 rows say nothing" in (tmp_path / "page.html").read_text(encoding="utf-8")
