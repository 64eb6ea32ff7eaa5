# SPDX-License-Identifier: BSD-3-Clause
"""What a report says of probabilities, and of what could be asserted."""

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_allclose

from skstruct import ConditionalRiskMinimizer, ExponentialFamily, StructuredSVM
from skstruct.inspection import CalibrationDisplay, MarginalCalibrationDisplay
from skstruct.kernels import RBF
from skstruct.reports import pictures
from skstruct.reports.certainty import assertions, certain_section, left_out_marginals, threshold_at
from skstruct.reports.losses import calibration
from skstruct.reports.probabilities import marginals
from skstruct.reports.subject import read_subject
from skstruct.spaces import Box, Hierarchy, LabelSets, Rankings, Sequences

matplotlib.use("Agg")
RNG = np.random.default_rng(0)
N = 120
X = RNG.standard_normal((N, 3))
NOISY = X + 0.5 * RNG.standard_normal((N, 3))
SETS = (NOISY > 0).astype(int)
RANKS = np.argsort(np.argsort(NOISY, axis=1), axis=1) + 1
WORDS = ["".join("xy"[s] for s in row) for row in SETS]
TOKENS = [RNG.standard_normal((2 + i % 3, 2)) for i in range(N)]
TAGS = [tuple("xy"[int(t[0] + 0.3 * t[1] > 0)] for t in x) for x in TOKENS]
TREE = Hierarchy([("r", "a"), ("r", "b"), ("a", "c")], close=True)
NAMES = [{"abc"[j] for j in np.flatnonzero(row)} for row in SETS]

CASES = {
    "classes": (None, None, X, RANKS.argmin(axis=1)),
    "labels": (LabelSets(), "hamming", X, SETS),
    "hierarchy": (TREE, "hamming", X, NAMES),
    "rankings": (Rankings("abc"), "kendall", X, RANKS),
    "sequences": (Sequences("xy"), "hamming", X, WORDS),
    "tokens": (Sequences(), "hamming", TOKENS, TAGS),
}
SLOW = {"hierarchy"}  # where compiled code is loaded first
NAMED = [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in CASES]


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(pictures, "_saved", lambda figure, kind: b"<svg/>")


def subject_of(name):
    """A model that was fitted to forty rows and calibrated by forty others, with the rest."""
    space, loss, inputs, y = CASES[name]
    model = ConditionalRiskMinimizer(space, loss, kernel=RBF(0.5), alpha=0.05)
    model.fit(inputs[:40], y[:40]).calibrate(inputs[40:80], y[40:80])
    return read_subject(model, inputs[80:], y[80:])


def blocks_of(section, kind):
    found = [part for block in section.blocks for part in getattr(block, "blocks", [block])]
    return [block for block in found if block.kind == kind]


@pytest.mark.parametrize("name", NAMED)
def test_both_sections_of_every_kind(name):
    subject = subject_of(name)
    section = marginals(subject)
    assert len(blocks_of(section, "picture")) == 2
    (table,) = blocks_of(section, "table")
    assert [row[0] for row in table.rows] == ["as estimated", "calibrated"]
    (table,) = blocks_of(certain_section(subject), "table")
    asserted = np.array([row[2:4] for row in table.rows], dtype=float)
    assert (np.diff(asserted, axis=0) >= 0).all()
    for error, _, _, said, wrong, among in table.rows:
        assert wrong <= said <= 1
        assert wrong <= float(error.rstrip("%")) / 100 + 0.15
        assert np.isnan(among) or np.isclose(among * said, wrong)


def test_numbers_are_those_of_the_displays():
    subject = subject_of("labels")
    (table,) = blocks_of(marginals(subject), "table")
    model, data = subject.learner, (subject.inner, subject.y)
    for row, method in zip(table.rows, (None, "auto")):
        display = MarginalCalibrationDisplay.from_estimator(model, *data, calibrated=method)
        P = model.predict_marginals(subject.inner, calibrated=method)
        assert_allclose(row[1:], [120, display.expected_error, np.mean((P - subject.y) ** 2)])
    (text,) = blocks_of(calibration(subject), "text")
    risks = model.predict_risk(subject.inner, calibrated=True)
    display = CalibrationDisplay.from_predictions(risks, subject.risk_losses)
    assert f"it expected {risks.mean():.4g}, and bins are off by" in text.text
    assert f"{display.expected_error:.4g}" in text.text


@pytest.mark.parametrize("name", NAMED)
def test_left_out_marginals_are_those_that_would_be_predicted(name):
    subject = subject_of(name)
    model, (inputs, y) = subject.learner, CASES[name][2:]
    happened, found = left_out_marginals(model)
    predicted, truth = model.predict_marginals(inputs[40:80]), model.true_marginals(y[40:80])
    if name == "tokens":
        predicted, truth = (np.concatenate(part)[:, None] for part in (predicted, truth))
    assert_allclose(happened, truth)
    assert_allclose(found, predicted, atol=1e-5)  # they are kept in single precision


def test_thresholds_let_through_what_is_allowed():
    rng = np.random.default_rng(0)
    confidence = rng.integers(50, 100, 1000) / 100  # with ties
    right = rng.random(1000) < confidence
    for error in (0.0, 0.02, 0.1, 0.5):
        t = threshold_at(confidence, right, error)
        assert ((confidence > t) & ~right).mean() <= error
        lower = confidence[confidence <= t]
        if len(lower):  # the next one would let through too much
            assert ((confidence >= lower.max()) & ~right).mean() > error
    assert threshold_at(confidence, np.ones(1000, dtype=bool), 0.0) == -np.inf


def test_parts_without_a_known_truth_are_not_counted():
    model = subject_of("rankings").learner
    P = model.predict_marginals(X[:3])
    truth = model.true_marginals(RANKS[:3])
    truth[0, 0, 1] = truth[0, 1, 0] = 0.5
    confidence, right = assertions(model.space_, truth, P)
    assert confidence.shape == right.shape == (8,)


def test_why_something_is_left_out():
    numbers = ConditionalRiskMinimizer(Box(), alpha=0.1).fit(X, NOISY)
    subject = read_subject(numbers, X, NOISY)
    assert "means, not probabilities" in marginals(subject).left_out
    assert "no parts" in certain_section(subject).left_out
    margins = StructuredSVM(LabelSets(), alpha=0.1, max_iter=2000).fit(X[:30], SETS[:30])
    subject = read_subject(margins, X, SETS)
    assert "call calibrate(X, y)" in marginals(subject).left_out
    assert "RiskControl" in certain_section(subject).left_out
    margins.calibrate(X[30:], SETS[30:])
    (text,) = blocks_of(marginals(subject), "text")
    assert f"a temperature of {margins.temperature_:.3g}" in text.text
    family = ExponentialFamily(LabelSets(), alpha=1e-2).fit(X[:30], SETS[:30])
    assert len(blocks_of(marginals(read_subject(family, X, SETS)), "picture")) == 1
    bare = ConditionalRiskMinimizer(LabelSets(), alpha=0.1).fit(X[:30], SETS[:30])
    subject = read_subject(bare, X, SETS)
    (text,) = blocks_of(marginals(subject), "text")
    assert "call calibrate(X, y)" in text.text
    assert "call calibrate(X, y)" in certain_section(subject).left_out
    places = ConditionalRiskMinimizer(Rankings("abc"), "footrule", alpha=0.1).fit(X, RANKS)
    subject = read_subject(places.calibrate(X, RANKS), X, RANKS)
    assert "not of pairs" in certain_section(subject).left_out
    (text,) = blocks_of(marginals(subject), "text")
    assert "as estimated: what is calibrated are positions" in text.text
