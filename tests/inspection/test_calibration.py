# SPDX-License-Identifier: BSD-3-Clause
from types import SimpleNamespace

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve

from skstruct.inspection import MarginalCalibrationDisplay
from skstruct.spaces import LabelSets

matplotlib.use("Agg")
RNG = np.random.default_rng(0)
MARGINALS = RNG.random((400, 5)) ** 2
PSI = (RNG.random((400, 5)) < MARGINALS).astype(float)


@pytest.fixture(autouse=True)
def _no_figures_left():
    yield
    plt.close("all")


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_bins_are_those_of_scikit_learn(strategy):
    display = MarginalCalibrationDisplay.from_predictions(PSI, MARGINALS, strategy=strategy)
    observed, predicted = calibration_curve(
        PSI.ravel(), MARGINALS.ravel(), n_bins=10, strategy=strategy
    )
    assert_allclose(display.observed, observed)
    assert_allclose(display.predicted, predicted)
    assert display.counts.sum() == PSI.size
    if strategy == "quantile":
        assert_array_equal(display.counts, 200)
    assert ((display.edges[:, 0] <= predicted) & (predicted <= display.edges[:, 1])).all()


def test_error_and_intervals():
    display = MarginalCalibrationDisplay.from_predictions(PSI, MARGINALS, n_bins=7)
    bins = np.minimum((MARGINALS * 7).astype(int), 6)
    gaps = [abs((PSI - MARGINALS)[bins == b].sum()) for b in range(7)]
    assert_allclose(display.expected_error, sum(gaps) / PSI.size)
    for share, n, interval in zip(display.observed, display.counts, display.intervals):
        expected = binomtest(round(share * n), n).proportion_ci(method="wilson")
        assert_allclose(interval, expected)


def test_a_wrong_model_is_seen():
    right = MarginalCalibrationDisplay.from_predictions(PSI, MARGINALS)
    wrong = MarginalCalibrationDisplay.from_predictions(PSI, np.sqrt(MARGINALS))
    assert right.expected_error < 0.03 < 0.1 < wrong.expected_error
    outside = (wrong.predicted < wrong.intervals[:, 0]) | (wrong.predicted > wrong.intervals[:, 1])
    assert outside.sum() >= 8


def test_few_values():
    """All marginals are the same, or zero and one: bins are left out, nothing is divided by 0."""
    same = MarginalCalibrationDisplay.from_predictions(
        PSI, np.full(PSI.shape, 0.25), strategy="quantile"
    )
    assert_allclose(same.predicted, [0.25])
    assert_allclose(same.observed, [PSI.mean()])
    sure = MarginalCalibrationDisplay.from_predictions(PSI, PSI)
    assert sure.expected_error == 0
    assert_array_equal(sure.predicted, [0, 1])
    assert_allclose(sure.intervals[:, [0, 1]][[0, 1], [0, 1]], [0, 1])


class Constant:
    """A model that predicts the shares of labels, whatever the input."""

    def __init__(self, space, shares):
        self.space_, self.shares = space, shares

    def predict_marginals(self, X):
        return np.tile(self.shares, (len(X), 1))


def test_from_estimator():
    y = [{"rain"}, {"wind"}, {"rain", "wind"}, set()]
    model = Constant(LabelSets(["rain", "wind"]).fit(y), [0.5, 0.75])
    display = MarginalCalibrationDisplay.from_estimator(model, np.zeros((4, 1)), y)
    assert_allclose(display.predicted, [0.5, 0.75])
    assert_allclose(display.observed, [0.5, 0.5])
    assert_allclose(display.expected_error, 0.125)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "Constant: expected calibration error 0.125" in texts
    with pytest.raises(ValueError, match="SimpleNamespace has no predict_marginals"):
        MarginalCalibrationDisplay.from_estimator(SimpleNamespace(), [[0.0]], y)


def test_two_models_on_one_picture():
    axes = plt.subplots()[1]
    for psi in (PSI, sparse.csr_array(PSI)):
        display = MarginalCalibrationDisplay.from_predictions(psi, MARGINALS, ax=axes)
        assert display.ax_ is axes
    assert len(axes.containers) == 4


@pytest.mark.parametrize(
    ("psi", "marginals", "message"),
    [
        ([[0.0, 1.0]], [[0.5]], r"got \(1, 2\) and \(1, 1\)"),
        (np.zeros((0, 2)), np.zeros((0, 2)), r"\(0, 2\) and"),
        ([[0.0, 2.0]], [[0.5, 0.5]], "psi has 2"),
        ([[0.0, np.nan]], [[0.5, 0.5]], "psi has nan"),
        ([[0.0, 1.0]], [[0.5, 1.1]], "from 0 to 1; got 1.1"),
        ([[0.0, 1.0]], [[0.5, np.nan]], "from 0 to 1; got nan"),
    ],
)
def test_bad_input(psi, marginals, message):
    with pytest.raises(ValueError, match=message):
        MarginalCalibrationDisplay.from_predictions(psi, marginals)


def test_bad_choices():
    with pytest.raises(ValueError, match="uniform, quantile; got 'kmeans'"):
        MarginalCalibrationDisplay.from_predictions(PSI, MARGINALS, strategy="kmeans")
    with pytest.raises(ValueError, match="n_bins is a whole number from 1; got 0"):
        MarginalCalibrationDisplay.from_predictions(PSI, MARGINALS, n_bins=0)
