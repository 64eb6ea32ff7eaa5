# SPDX-License-Identifier: BSD-3-Clause
"""Rows to label next, against definitions."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skstruct import ConditionalRiskMinimizer, ExponentialFamily, StructuredSVM
from skstruct.inspection import label_next
from skstruct.kernels import RBF
from skstruct.smoothing import KernelRidge, Neighbors, Stacked
from skstruct.spaces import LabelSets, Sequences

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 2))
Y = (X + 0.3 * RNG.standard_normal((40, 2)) > 0).astype(int)
NEW = RNG.standard_normal((25, 2))
STACK = Stacked([KernelRidge(RBF(0.5), 0.1), Neighbors(3)])


def test_by_risk():
    model = ConditionalRiskMinimizer(LabelSets(), alpha=0.1).fit(X, Y)
    rows, scores = label_next(model, NEW, 7)
    risks = model.predict_risk(NEW)
    np.testing.assert_array_equal(scores, np.sort(risks)[::-1][:7])
    np.testing.assert_array_equal(risks[rows], scores)
    assert len(label_next(model, NEW, 100)[0]) == 25
    piped = make_pipeline(StandardScaler(), model).fit(X, Y)
    assert len(label_next(piped, NEW, 3)[0]) == 3


def test_by_the_probability_to_be_wrong():
    model = ExponentialFamily(LabelSets()).fit(X, Y)
    rows, scores = label_next(model, NEW, 25)
    own = np.exp(model.log_proba(NEW, model.predict(NEW)))
    np.testing.assert_allclose(scores, 1 - own[rows])


def test_by_disagreement_of_the_parts():
    model = ConditionalRiskMinimizer(LabelSets(), smoother=STACK).fit(X, Y)
    rows, scores = label_next(model, NEW, 25, by="disagreement")
    stack = model.smoother_
    expected = np.zeros(25)
    for c, part in zip(stack.coef_, stack.parts_):
        expected += c * ((part.predict(NEW) - stack.predict(NEW)) ** 2).sum(axis=1)
    np.testing.assert_allclose(scores, (expected / stack.coef_.sum())[rows])
    assert len(stack.parts_) == 2
    assert scores[-1] >= 0


def test_sequences_are_averaged_over_positions():
    tokens = [RNG.standard_normal((T, 2)) for T in RNG.integers(1, 5, 30)]
    tags = [["ab"[int(t[0] > 0)] for t in x] for x in tokens]
    model = ConditionalRiskMinimizer(Sequences(), smoother=STACK).fit(tokens, tags)
    rows, scores = label_next(model, tokens, 5, by="disagreement")
    for row, score in zip(rows, scores):
        assert score == pytest.approx(model.smoother_.disagreement(tokens[row]).mean())


@pytest.mark.slow
def test_the_default_is_a_stack():
    """Of quantities, means disagree; their squares, which are smoothed as well, do not count."""
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((60, 3))
    y = np.sin(2 * inputs[:, 0]) + inputs[:, 1] + 0.3 * rng.standard_normal(60)
    model = ConditionalRiskMinimizer(random_state=0).fit(inputs, y)
    rows, scores = label_next(model, inputs, 60, by="disagreement")
    stack = model.smoother_
    steps = [part.predict(inputs)[:, 0] - stack.predict(inputs)[:, 0] for part in stack.parts_]
    expected = stack.coef_ @ np.square(steps) / stack.coef_.sum()
    np.testing.assert_allclose(scores, expected[rows])


def test_one_part_disagrees_with_the_mean():
    stack = Stacked([("a", KernelRidge(RBF(0.5), 0.1))])
    alone = ConditionalRiskMinimizer(LabelSets(), smoother=stack).fit(X, Y)
    _, scores = label_next(alone, NEW, 1, by="disagreement")
    around = alone.smoother_.predict(NEW) - alone.smoother_.parts_[0].predict(NEW)
    assert scores[0] == pytest.approx((around**2).sum(axis=1).max())


def test_what_cannot_be_done_is_said():
    model = ConditionalRiskMinimizer(LabelSets(), alpha=0.1).fit(X, Y)
    with pytest.raises(ValueError, match="has KernelRidge"):
        label_next(model, NEW, by="disagreement")
    with pytest.raises(ValueError, match="by is"):
        label_next(model, NEW, by="luck")
    for k in (0, 1.5, True):
        with pytest.raises(ValueError, match="k is a whole number"):
            label_next(model, NEW, k)
    with pytest.raises(ValueError, match="StructuredSVM does not estimate"):
        label_next(StructuredSVM(LabelSets()).fit(X, Y), NEW)
