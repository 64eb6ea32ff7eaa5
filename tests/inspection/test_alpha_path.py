# SPDX-License-Identifier: BSD-3-Clause
"""Curves of searches: over penalties with and without kernels, radii and neighbors."""

import matplotlib
import numpy as np
import pytest

from skstruct import ConditionalRiskMinimizer, CountingRidge, OutputKernelRegressor
from skstruct.inspection import AlphaPathDisplay
from skstruct.learners import LabelRankingSVM, NeighborLabelRanker
from skstruct.learners.leave_out import LeaveOutSearch
from skstruct.smoothing import SampleCompression

matplotlib.use("Agg")
X = np.random.default_rng(0).standard_normal((12, 3))
CLASSES = np.where(X[:, 0] > 0, "yes", "no")
RANKS = np.argsort(np.argsort(X, axis=1), axis=1) + 1


def compression(radius):
    return OutputKernelRegressor(method=SampleCompression(radius=radius), cv=3)


CASES = {
    "counting": (CountingRidge(), CLASSES, "alpha", "log"),
    "risk": (ConditionalRiskMinimizer(smoother="kernel_ridge"), CLASSES, "alpha", "log"),
    "radius": (compression(None), CLASSES, "radius", "log"),
    "radius from zero": (compression([0.0, 1.0]), CLASSES, "radius", "linear"),
    "neighbors": (NeighborLabelRanker(n_neighbors=[1, 2, 4]), RANKS, "n_neighbors", "log"),
}


@pytest.mark.parametrize("case", CASES)
def test_curves_are_the_trials(case):
    model, outputs, name, scale = CASES[case]
    display = AlphaPathDisplay.from_estimator(model.fit(X, outputs))
    *curves, chosen = display.ax_.lines
    drawn = sorted(point for curve in curves for point in zip(*curve.get_data()))
    assert drawn == sorted((t[name], t["risk"]) for t in model.search_.trials)
    assert [*zip(*chosen.get_data())] == [(model.search_.best[name], model.search_.best["risk"])]
    assert (display.ax_.get_xlabel(), display.ax_.get_xscale()) == (name, scale)


class Unhashable(list):
    """A kernel that compares by value."""


def test_kernels_are_distinguished_by_all_that_they_say():
    long = "a name of far more than forty letters, of kernel number "
    search = LeaveOutSearch()
    for kernel in (Unhashable([1]), long + "1", long + "2"):
        for alpha in (0.1, 1.0):
            search.add({"kernel": kernel, "gamma": None, "alpha": alpha, "risk": alpha})
    assert len(AlphaPathDisplay(search).plot().ax_.lines) == 4  # and what was chosen


def test_learners_that_search_nothing():
    with pytest.raises(ValueError, match="Nothing was searched"):
        AlphaPathDisplay.from_estimator(LabelRankingSVM(alpha=0.1).fit(X, RANKS))
