"""Outputs that look wrong among those known in part: what is missing is no part of the ranking."""

import numpy as np
import pytest

from skstruct import ConditionalRiskMinimizer
from skstruct.inspection import suspicious_outputs
from skstruct.spaces import LabelSets, Sequences


def test_missing_labels_are_not_ranked_and_what_stands_there_does_not_matter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    Y = (X > 0).astype(float)
    gap = rng.random(Y.shape) < 0.3
    gap[7] = True  # a row that says nothing
    model = ConditionalRiskMinimizer(LabelSets(), kernel="rbf", alpha=1.0)
    found = suspicious_outputs(model, X, np.where(gap, np.nan, Y))
    assert len(found.parts) == (~gap).sum()
    assert not gap[found.parts["row"], found.parts["part"]].any()
    silent = found.rows[found.rows["row"] == 7][0]
    assert (silent["loss"], silent["margin"]) == (0.0, pytest.approx(0.0, abs=1e-12))
    masked = np.ma.array(1 - Y, mask=gap)
    masked[~gap] = Y[~gap]
    again = suspicious_outputs(model, X, masked)
    assert np.array_equal(again.parts, found.parts)


def test_a_wrong_label_is_found_among_gaps():
    """Planted: one of 270 labels is flipped where the input leaves no doubt."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 3))
    Y = (X > 0).astype(float)
    X[11], Y[11] = 1.0, [0.0, 1.0, 1.0]
    gap = rng.random(Y.shape) < 0.3
    gap[11, 0] = False
    model = ConditionalRiskMinimizer(LabelSets(), kernel="rbf", alpha=1.0)
    found = suspicious_outputs(model, X, np.where(gap, np.nan, Y))
    planted = found.parts[(found.parts["row"] == 11) & (found.parts["part"] == 0)][0]
    assert planted["suggested"] == 1.0
    assert planted["score"] > np.quantile(found.parts["score"], 0.9)


def test_classes_and_positions_that_are_missing():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    y = np.array(["u", "v", "w"], dtype=object)[X.argmax(axis=1)]
    y[::5] = None
    found = suspicious_outputs(ConditionalRiskMinimizer(kernel="rbf", alpha=1.0), X, y)
    assert len(found.parts) == sum(name is not None for name in y)
    tokens = [np.column_stack([row, row**2]) for row in X]
    tags = [["p" if v > 0 else "q" for v in row] for row in X]
    tags[3][1] = None
    model = ConditionalRiskMinimizer(Sequences(), kernel="rbf", alpha=1.0)
    found = suspicious_outputs(model, tokens, tags)
    assert len(found.parts) == 60 * 3 - 1
    with pytest.raises(ValueError, match="cv=None is for outputs that are known as a whole"):
        suspicious_outputs(model, tokens, tags, cv=None)
