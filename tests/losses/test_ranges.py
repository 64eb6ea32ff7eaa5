# SPDX-License-Identifier: BSD-3-Clause
"""Losses between their least and largest value, and estimated risks that are shown within."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skstruct import ConditionalRiskMinimizer
from skstruct.inspection.risks import risks_and_losses
from skstruct.kernels import RBF
from skstruct.losses import (
    F1,
    BaseLoss,
    FBeta,
    Footrule,
    Hamming,
    HierarchicalLoss,
    Kendall,
    Listed,
    PositionLoss,
    RankLoss,
    SequenceHamming,
    Spearman,
    ZeroOne,
    pair,
)
from skstruct.smoothing import Neighbors
from skstruct.spaces import (
    Classes,
    Hierarchy,
    Interval,
    LabelSets,
    PairwiseStates,
    Rankings,
    Sequences,
)
from skstruct.testing import check_loss

SETS, TREE = LabelSets(list("abcd")), Hierarchy([("a", "b"), ("a", "c"), ("c", "d")])
DAG = Hierarchy([("a", "c"), ("b", "c"), ("c", "d")])
ORDERS = Rankings(list("abcd"))
STATES = PairwiseStates("full", ["p", "q", "r"], ["x", "y"])
# With whether the largest value is reached.
CASES = {
    "zero-one": (ZeroOne(), SETS, True),
    "f1": (F1(), SETS, True),
    "f2": (FBeta(2.0), TREE, True),
    "hamming": (Hamming(), SETS, True),
    "weighed": (Hamming([1, 0.5, 2, 0]), SETS, True),
    "shares": (Hamming([1, 0.5, 2, 0], normalize=True), SETS, True),
    "states": (Hamming(), STATES, True),
    "hierarchical": (HierarchicalLoss(), TREE, False),
    "hierarchical, dag": (HierarchicalLoss("uniform"), DAG, False),
    "kendall": (Kendall(), ORDERS, False),
    "kendall, shares": (Kendall(normalize=True), ORDERS, True),
    "ratings": (RankLoss(normalize=True), ORDERS, True),
    "spearman": (Spearman(), ORDERS, False),
    "footrule": (Footrule(), ORDERS, False),
    "positions": (PositionLoss(-np.eye(4)), ORDERS, False),
    "sequences": (SequenceHamming(), Sequences("ab", length=3), False),
    "listed": (Listed(lambda z, y: float(z.sum()) - 2.0 * y.sum()), SETS, True),
    "listed f1": (Listed(F1()), SETS, True),
}


@pytest.mark.parametrize("name", CASES)
def test_all_losses_are_within_and_ends_are_reached(name):
    loss, space, reached = CASES[name]
    outputs = space.fit(space.restore(space.enumerate())).enumerate()
    bound = pair(loss, space, outputs)[1]
    losses = bound.pairwise(outputs, outputs)
    low, high = bound.range()
    assert low <= losses.min() + 1e-12
    assert losses.max() <= high + 1e-12
    if reached:
        assert_allclose(losses.max(), high)
        assert_allclose(losses.min(), low)
    check_loss(loss, space, outputs)


class Gain(BaseLoss):
    """Minus the labels that are right: a loss below zero that does not say so."""

    def __call__(self, Y_pred, Y_true):
        return -(np.asarray(Y_pred) * np.asarray(Y_true)).sum(axis=1).astype(float)

    def cost(self, g, total):
        return -g

    def offset(self, g, total):
        return np.zeros(len(g))


class KnownGain(Gain):
    def range(self):
        return -np.inf, 0.0


def test_a_loss_below_zero_must_say_so():
    check_loss(KnownGain(), SETS, SETS.enumerate())
    with pytest.raises(AssertionError, match="below their range"):
        check_loss(Gain(), SETS, SETS.enumerate())


RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(60, 2)), RNG.normal(size=(200, 2))


@pytest.mark.parametrize("loss", ["hamming", "f1", "zero_one"])
def test_risks_are_possible_and_values_stay_as_they_are(loss):
    """Kernel ridge regression with hardly a penalty: far outside of what can be."""
    Y = (X @ RNG.normal(size=(2, 3)) + RNG.normal(size=(60, 3)) > 0).astype(int)
    model = ConditionalRiskMinimizer(LabelSets(), "hamming", alpha=1e-4, kernel=RBF(3.0)).fit(X, Y)
    decoded, risks = model.decode(NEW, loss=loss), model.predict_risk(NEW, loss=loss)
    top = 3.0 if loss == "hamming" else 1.0
    assert decoded.values.min() < -0.05
    assert_array_equal(risks, np.clip(decoded.values, 0.0, top))
    assert (decoded.values - decoded.bounds >= -1e-9).all()  # the certificate is of the raw ones
    best = model.kbest(NEW, 4, loss=loss).values
    shown = model.possible_risks(np.pad(best, [(0, 0), (0, 1)], constant_values=np.inf), loss=loss)
    assert_array_equal(shown[:, :-1], np.clip(best, 0.0, top))
    assert np.isposinf(shown[:, -1]).all()
    truth = (NEW @ np.ones((2, 3)) > 0).astype(int)
    assert_array_equal(risks_and_losses(model, NEW, truth, loss=loss)[0], risks)


def test_a_callable_that_may_be_negative_keeps_its_risks():
    y = np.where(X[:, 0] > 0, "in", "out")
    model = ConditionalRiskMinimizer(Classes(), lambda z, y: -2.0 if z == y else -1.0, alpha=0.1)
    model.fit(X, y)
    assert_array_equal(model.predict_risk(NEW), np.clip(model.decode(NEW).values, -2.0, -1.0))
    assert model.predict_risk(NEW).max() <= -1.0


def test_quantities_and_averages():
    model = ConditionalRiskMinimizer(Interval(), "squared", alpha=1e-4, kernel=RBF(3.0)).fit(
        X, X[:, 0]
    )
    values = model.decode(NEW).values
    assert values.min() < 0
    assert_array_equal(model.predict_risk(NEW), np.maximum(values, 0.0))
    mean = ConditionalRiskMinimizer(Interval(), "squared", smoother=Neighbors(5)).fit(X, X[:, 0])
    assert_allclose(mean.predict_risk(NEW), mean.decode(NEW).values, atol=1e-12)
