# SPDX-License-Identifier: BSD-3-Clause
"""Every learner as it comes, on few rows of every kind of output that it takes."""

import warnings

import matplotlib
import numpy as np
import pytest

from skstruct import learners
from skstruct.reports import pictures, write_report
from skstruct.spaces import Classes, Interval, LabelSets, Rankings

matplotlib.use("Agg")
X = np.random.default_rng(0).standard_normal((12, 3))
DATA = {
    "label sets": (LabelSets, (X > 0).astype(int)),
    "classes": (Classes, np.where(X[:, 0] > 0, "yes", "no")),
    "rankings": (Rankings, np.argsort(np.argsort(X, axis=1), axis=1) + 1),
    "regression": (Interval, X[:, 0]),
}
EVERYTHING = frozenset(DATA)
SUMMED = EVERYTHING - {"regression"}  # outputs that can be counted
RANKERS = frozenset({"rankings"})
SETS = frozenset({"label sets"})
TAKEN = {
    "ConditionalRiskMinimizer": EVERYTHING,
    "ConstraintClassification": RANKERS,
    "CountingRidge": SUMMED,
    "ExponentialFamily": SUMMED,
    "LabelRankingBoosting": RANKERS,
    "LabelRankingSVM": RANKERS,
    "MaxMarginNetwork": SETS,
    "MaxMarginTree": SETS,
    "NeighborLabelRanker": RANKERS,
    "OnlineLabelRanker": RANKERS,
    "OutputKernelRegressor": EVERYTHING,
    "PairwiseComparison": RANKERS,
    "StructuredPerceptron": EVERYTHING,
    "StructuredSVM": EVERYTHING,
}
CASES = [(name, data) for name, taken in TAKEN.items() for data in sorted(taken)]


def test_no_learner_is_forgotten():
    known = {name for name in learners.__all__ if hasattr(getattr(learners, name), "fit")}
    assert known == set(TAKEN)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "data"), CASES)
def test_reports_of_learners_as_they_come(name, data, tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "_saved", lambda figure, kind: b"<svg/>")
    space, outputs = DATA[data]
    model = getattr(learners, name)()
    if data == "rankings" and name not in _without_space():
        model.set_params(space=space())  # ranks could be classes, too
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some stop early
        model.fit(X, outputs)
    path = write_report(model, X, outputs, tmp_path / "r.html", n_examples=2)
    page = path.read_text(encoding="utf-8")
    assert page.rstrip().endswith("</html>")
    assert f"<td>{name}</td>" in page
    searched = getattr(model, "search_", None) is not None
    assert ("nothing was searched" in page) != searched


def _without_space():
    return {name for name, taken in TAKEN.items() if taken == RANKERS}
