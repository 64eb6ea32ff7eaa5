# SPDX-License-Identifier: BSD-3-Clause
"""Reliability of probabilities of every shape, before and after they are calibrated."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skstruct import ConditionalRiskMinimizer, ExponentialFamily, StructuredSVM
from skstruct.inspection import MarginalCalibrationDisplay
from skstruct.inspection.marginals import happened_and_predicted, known_pairs
from skstruct.kernels import RBF
from skstruct.spaces import Box, Hierarchy, LabelSets, Ordinal, Rankings, Sequences

matplotlib.use("Agg")
RNG = np.random.default_rng(0)
N = 40
X = RNG.standard_normal((N, 3))
NOISY = X + 0.5 * RNG.standard_normal((N, 3))
SETS = (NOISY > 0).astype(int)
RANKS = np.argsort(np.argsort(NOISY, axis=1), axis=1) + 1
LEVELS = np.array(["low", "mid", "high"])[SETS[:, :2].sum(axis=1)]
TREE = Hierarchy([("r", "a"), ("r", "b"), ("a", "c")], close=True)
NAMES = [{"abc"[j] for j in np.flatnonzero(row)} for row in SETS]
WORDS = ["".join("xy"[s] for s in row) for row in SETS]
SHORT = [word[: 2 + (i % 2)] for i, word in enumerate(WORDS)]
TOKENS = [RNG.standard_normal((2 + i % 3, 2)) for i in range(N)]
TAGS = [tuple("xy"[int(t[0] > 0)] for t in x) for x in TOKENS]
PARTIAL = [["a", "b"] if row[0] else ["c"] for row in SETS]

# name: space, outputs, number of parts that count
CASES = {
    "classes": (None, LEVELS, 3 * N),
    "levels": (Ordinal(["low", "mid", "high"]), LEVELS, 3 * N),
    "labels": (LabelSets(), SETS, 3 * N),
    "hierarchy": (TREE, NAMES, 4 * N),
    "rankings": (Rankings("abc"), RANKS, 3 * N),
    "partial rankings": (Rankings("abc"), PARTIAL, None),
    "sequences": (Sequences("xy"), WORDS, 6 * N),
    "shorter sequences": (Sequences("xy", (2, 3)), SHORT, 2 * sum(map(len, SHORT))),
    "tokens": (Sequences(), TAGS, 2 * sum(map(len, TAGS))),
}
SLOW = {"levels", "shorter sequences"}
NAMED = [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in CASES]


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    plt.close("all")


def fitted(name):
    space, y, _ = CASES[name]
    inputs = TOKENS if name == "tokens" else X
    model = ConditionalRiskMinimizer(space, kernel=RBF(0.5), alpha=0.05).fit(inputs, y)
    return model.calibrate(inputs, y), inputs, y


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


@pytest.mark.parametrize("name", NAMED)
def test_every_shape(name):
    model, inputs, y = fitted(name)
    display = MarginalCalibrationDisplay.from_estimator(model, inputs, y)
    counted = CASES[name][2]
    assert counted is None or display.counts.sum() == counted
    assert 0 <= display.expected_error < 0.5
    raw = MarginalCalibrationDisplay.from_estimator(model, inputs, y, calibrated=None)
    assert raw.counts.sum() == display.counts.sum()


def test_pairs_count_once_and_only_where_their_order_is_known():
    model, _, _ = fitted("rankings")
    y = [["a", "b"], ["c", "b", "a"]]  # of the first, what is chosen comes before the rest
    happened, predicted = happened_and_predicted(model, X[:2], y)
    assert happened.shape == predicted.shape == (2, 3, 3)
    before, P = known_pairs(model.space_, happened, predicted)
    known = [(i, j) for i in range(3) for j in range(i + 1, 3) if happened[0, i, j] != 0.5]
    assert_array_equal(before[-3:], [0, 0, 0])
    assert len(before) == len(known) + 3
    assert_allclose(P[-3:], [predicted[1, 0, 1], predicted[1, 0, 2], predicted[1, 1, 2]])
    frame = pd.DataFrame(X, columns=list("uvw"))
    named = ConditionalRiskMinimizer(Rankings("abc"), alpha=0.05).fit(frame, RANKS)
    assert happened_and_predicted(named, frame, RANKS)[1].shape == (N, 3, 3)


def test_positions_beyond_the_end_do_not_count():
    model, _, _ = fitted("shorter sequences")
    happened, predicted = happened_and_predicted(model, X, SHORT)
    symbols, P = known_pairs(model.space_, happened, predicted)
    assert len(symbols) == sum(map(len, SHORT)) < N * 3
    assert_allclose(P.sum(axis=1), 1)
    assert_allclose(symbols.sum(axis=1), 1)
    tokens, _, _ = fitted("tokens")
    with pytest.raises(ValueError, match="position"):
        happened_and_predicted(tokens, TOKENS[:2], [TAGS[0], TAGS[1] + ("x",)])


def test_before_and_after_on_one_picture():
    model, inputs, y = fitted("labels")
    before, after = MarginalCalibrationDisplay.before_and_after(model, inputs, y, n_bins=5)
    assert before.ax_ is after.ax_
    alone = MarginalCalibrationDisplay.from_estimator(model, inputs, y, n_bins=5, calibrated=None)
    assert before.expected_error == alone.expected_error != after.expected_error
    texts = legend(after)
    assert f"as estimated: expected calibration error {before.expected_error:.3f}" in texts
    assert f"calibrated: expected calibration error {after.expected_error:.3f}" in texts
    assert texts.count("share of predictions") == 1


def test_calibration_by_new_rows_makes_errors_smaller():
    """Far too small a penalty makes a model too sure; rows kept apart say so."""
    rng = np.random.default_rng(1)
    inputs = rng.standard_normal((300, 2))
    y = (inputs + rng.standard_normal((300, 2)) > 0).astype(int)
    model = ConditionalRiskMinimizer(LabelSets(), kernel=RBF(2.0), alpha=1e-6)
    model.fit(inputs[:100], y[:100]).calibrate(inputs[100:200], y[100:200])
    before, after = MarginalCalibrationDisplay.before_and_after(model, inputs[200:], y[200:])
    assert after.expected_error < before.expected_error / 2


def test_choices_that_are_not_there():
    family = ExponentialFamily(LabelSets(), alpha=1e-2).fit(X, SETS)
    for calibrated in ("auto", None):
        MarginalCalibrationDisplay.from_estimator(family, X, SETS, calibrated=calibrated)
    with pytest.raises(ValueError, match="'isotonic' is not for it"):
        MarginalCalibrationDisplay.from_estimator(family, X, SETS, calibrated="isotonic")
    with pytest.raises(ValueError, match=r"calibrate\(X, y\)"):
        MarginalCalibrationDisplay.before_and_after(family, X, SETS)
    with pytest.raises(ValueError, match="got 'platt'"):
        MarginalCalibrationDisplay.from_estimator(family, X, SETS, calibrated="platt")
    margins = StructuredSVM(LabelSets(), alpha=0.1, max_iter=2000).fit(X, SETS)
    with pytest.raises(ValueError, match=r"call calibrate\(X, y\)"):
        MarginalCalibrationDisplay.from_estimator(margins, X, SETS)
    margins.calibrate(X, SETS)
    assert MarginalCalibrationDisplay.from_estimator(margins, X, SETS).counts.sum() == 3 * N


def test_numbers_have_no_probabilities():
    model = ConditionalRiskMinimizer(Box(), alpha=0.1).fit(X, NOISY)
    with pytest.raises(ValueError, match="means, not probabilities"):
        MarginalCalibrationDisplay.from_estimator(model, X, NOISY)
