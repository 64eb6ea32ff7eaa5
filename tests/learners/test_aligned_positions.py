# SPDX-License-Identifier: BSD-3-Clause
"""Inputs with a row per position and outputs with a symbol per position have the same lengths.

Wherever both are read: a misaligned row must be named, also where the totals agree.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skstruct import ConditionalRiskMinimizer, ExponentialFamily, StructuredPerceptron
from skstruct.datasets.dataset import Dataset
from skstruct.inspection import (
    CalibrationDisplay,
    MarginalCalibrationDisplay,
    RiskCoverageDisplay,
    SequenceDisplay,
)
from skstruct.inspection.risks import risks_and_losses
from skstruct.learners import StructuredSVM
from skstruct.model_selection import compare, evaluate, loss_scorer
from skstruct.reports import write_report
from skstruct.spaces import Sequences
from skstruct.tasks import TaskModel

LEARNERS = {
    "risk": ConditionalRiskMinimizer(Sequences(), alpha=0.1),
    "family": ExponentialFamily(Sequences(), alpha=0.01, fit_intercept=False),
    "family for a loss": ExponentialFamily(
        Sequences(), loss="hamming", alpha=0.01, fit_intercept=False
    ),
    "perceptron": StructuredPerceptron(Sequences(), random_state=0),
    "svm": StructuredSVM(Sequences(), alpha=0.01, random_state=0),
}


def aligned(n=12, seed=0):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(rng.integers(3, 6), 2)) for _ in range(n)]
    return X, [["ab"[int(v > 0)] for v in x[:, 0]] for x in X]


def moved(Y, at=3):
    """One tag too many in a row, and one too few in the last: the totals agree."""
    Y = [list(y) for y in Y]
    Y[at].append("a")
    Y[-1].pop()
    return Y


X, Y = aligned()
BAD = moved(Y)
MESSAGE = rf"X\[3\] has {len(X[3])} positions and y\[3\] {len(X[3]) + 1} symbols"


@pytest.fixture(scope="module")
def fitted():
    return {name: clone(model).fit(X, Y) for name, model in LEARNERS.items()}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("format", ["arrays", "dictionaries", "names"])
def test_no_learner_fits_misaligned_sequences(name, format):
    inputs = {
        "arrays": X,
        "dictionaries": [[{"first": float(v[0])} for v in x] for x in X],
        "names": [[["up" if v[0] > 0 else "down"] for v in x] for x in X],
    }[format]
    too_long = [list(y) for y in Y]
    too_long[3].append("a")  # the totals differ, too
    for wrong in (BAD, too_long):
        with pytest.raises(ValueError, match=MESSAGE):
            clone(LEARNERS[name]).fit(inputs, wrong)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-2, 2), min_size=12, max_size=12))
def test_the_first_misaligned_row_is_named(changes):
    wrong = [[*y, "a", "b"][: len(y) + change] for y, change in zip(Y, changes)]
    model = ExponentialFamily(Sequences(), alpha=1e-3, max_iter=1, fit_intercept=False)
    if not any(changes):
        with pytest.warns(ConvergenceWarning):
            model.fit(X, wrong)
        return
    i = next(i for i, change in enumerate(changes) if change)
    said = rf"X\[{i}\] has {len(X[i])} positions and y\[{i}\] {len(wrong[i])} symbols"
    with pytest.raises(ValueError, match=said):
        model.fit(X, wrong)


@pytest.mark.parametrize("name", ["perceptron", "svm"])
def test_further_rows_are_named_by_their_own_number(name):
    model = clone(LEARNERS[name])
    with pytest.raises(ValueError, match=MESSAGE):
        clone(model).partial_fit(X, BAD)
    model.partial_fit(X, Y)
    before = model.predict(X).tolist()
    with pytest.raises(ValueError, match=MESSAGE):
        model.partial_fit(X, BAD)
    assert model.predict(X).tolist() == before  # all or nothing


@pytest.mark.parametrize("name", LEARNERS)
def test_no_score_is_taken_of_misaligned_sequences(fitted, name):
    model = fitted[name]
    with pytest.raises(ValueError, match=MESSAGE):
        model.score(X, BAD)
    with pytest.raises(ValueError, match=MESSAGE):
        evaluate(model, X, BAD)
    if name in ("risk", "family", "family for a loss"):
        with pytest.raises(ValueError, match=MESSAGE):
            loss_scorer("hamming")(model, X, BAD)
        with pytest.raises(ValueError, match=MESSAGE):
            risks_and_losses(model, X, BAD)
    if hasattr(model, "log_proba"):
        with pytest.raises(ValueError, match=MESSAGE):
            model.log_proba(X, BAD)


def test_a_comparison_names_the_row_of_all_the_data():
    with pytest.raises(ValueError, match="^" + MESSAGE):
        compare({name: LEARNERS[name] for name in ("risk", "family")}, X, BAD, cv=3)


@pytest.mark.parametrize("name", ["risk", "family"])
def test_no_display_or_report_shows_misaligned_sequences(fitted, name, tmp_path):
    pytest.importorskip("matplotlib")
    model = fitted[name]
    for display in (CalibrationDisplay, RiskCoverageDisplay):
        with pytest.raises(ValueError, match=MESSAGE):
            display.from_estimator(model, X, BAD)
    with pytest.raises(ValueError, match=MESSAGE):
        write_report(model, X, BAD, tmp_path / "report.html")
    if name == "family":
        with pytest.raises(ValueError, match=MESSAGE):
            MarginalCalibrationDisplay.from_estimator(model, X, BAD)
    else:
        said = rf"x has {len(X[3])} positions and y {len(BAD[3])} symbols"
        with pytest.raises(ValueError, match=said):
            SequenceDisplay.from_estimator(model, X[3], y=BAD[3])


def test_the_model_of_the_command_line_refuses_misaligned_sequences():
    words = [[("up" if v > 0 else "down",) for v in x[:, 0]] for x in X]
    with pytest.raises(ValueError, match=MESSAGE):
        TaskModel().fit(Dataset("toy", "conll", "sequence", words, BAD))
