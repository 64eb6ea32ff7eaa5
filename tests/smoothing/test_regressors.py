# SPDX-License-Identifier: BSD-3-Clause
"""Regressors of the user's own are shown targets that vary, and no column of ones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.multioutput import MultiOutputRegressor
from sklearn.svm import SVR

from skstruct import ConditionalRiskMinimizer
from skstruct.losses import F1
from skstruct.smoothing import CrossFitted
from skstruct.spaces import Classes, Interval, LabelSets

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
SETS = (X @ RNG.normal(size=(3, 4)) + RNG.normal(size=(60, 4)) > 0).astype(int)
SETS[:, 3] = 1


class Strict(RegressorMixin, BaseEstimator):
    """Least squares that refuses what says nothing, as some boosting does."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        if np.asarray(y).min(axis=0).shape and (np.ptp(y, axis=0) == 0).any():
            raise RuntimeError("All train targets are equal")
        self.model_ = LinearRegression().fit(X, y)
        return self

    def predict(self, X):
        return self.model_.predict(X)


@pytest.mark.parametrize("loss", ["hamming", "zero_one", F1(independent=False)])
@pytest.mark.parametrize("smoother", [Strict(), CrossFitted(Strict())])
def test_constant_targets_are_not_shown(smoother, loss):
    model = ConditionalRiskMinimizer(LabelSets(), loss, smoother=smoother).fit(X, SETS)
    T = model.problem_.targets()
    means = LinearRegression().fit(X, T).predict(X)  # of a constant that constant
    assert_allclose(model.smoother_.predict(X), means, atol=1e-10)
    assert_array_equal(np.asarray(model.predict(X))[:, 3], 1)


def test_constant_targets_are_not_shown_where_labels_are_missing():
    gaps = np.where(RNG.random(SETS.shape) < 0.2, np.nan, SETS)
    model = ConditionalRiskMinimizer(LabelSets(), "hamming", smoother=Strict()).fit(X, gaps)
    for j in range(3):
        known = ~np.isnan(gaps[:, j])
        line = LinearRegression().fit(X[known], gaps[known, j]).predict(X)
        assert_allclose(model.smoother_.predict(X)[:, j], line, atol=1e-10)


def test_other_losses_read_what_was_learned():
    forest = RandomForestRegressor(5, max_depth=3)
    model = ConditionalRiskMinimizer(LabelSets(), "hamming", smoother=forest, random_state=3)
    model.fit(X, SETS)
    assert model.smoother_.regressor.random_state == 3
    other = ConditionalRiskMinimizer(
        LabelSets(), F1(independent=True), smoother=forest, random_state=3
    ).fit(X, SETS)
    asked = model.decode(X, loss=F1(independent=True))
    assert_allclose(asked.values, other.decode(X).values)


def test_a_single_target_that_varies():
    number = X[:, 0] + 0.1 * RNG.normal(size=60)
    y = np.column_stack([np.ones(60), SETS[:, 0]]).astype(int)
    for one in (SVR(), MultiOutputRegressor(SVR())):
        model = ConditionalRiskMinimizer(LabelSets(), "hamming", smoother=one).fit(X, y)
        assert_allclose(
            model.smoother_.predict(X)[:, 1], SVR().fit(X, y[:, 1]).predict(X), atol=1e-12
        )
    with pytest.raises(ValueError, match=r"SVR predicts one target.*MultiOutputRegressor\(SVR"):
        ConditionalRiskMinimizer(Classes(), smoother=SVR()).fit(X, np.arange(60) % 3)
    line = ConditionalRiskMinimizer(Interval(), "squared", smoother=LinearRegression())
    means = LinearRegression().fit(X, number).predict(X)
    assert_allclose(np.ravel(line.fit(X, number).predict(X)), means)


def test_nothing_varies():
    model = ConditionalRiskMinimizer(LabelSets(), "hamming", smoother=Strict())
    assert model.fit(X, SETS[:, 3:]).predict(X).all()


def test_weights_of_rows():
    weight = RNG.integers(1, 4, 60)
    smoother = RandomForestRegressor(3, random_state=0)
    model = ConditionalRiskMinimizer(LabelSets(), "hamming", smoother=smoother)
    model.fit(X, SETS, sample_weight=weight)
    right = RandomForestRegressor(3, random_state=0).fit(X, SETS[:, :3], weight).predict(X)
    assert_allclose(model.smoother_.predict(X)[:, :3], right)
    with pytest.raises(ValueError, match="Strict takes no sample_weight"):
        ConditionalRiskMinimizer(LabelSets(), smoother=Strict()).fit(X, SETS, sample_weight=weight)
