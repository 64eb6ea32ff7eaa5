# SPDX-License-Identifier: BSD-3-Clause
"""read, pair, regress, keep: outputs are parsed once, and nothing is kept outside of the model."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from skstruct.learners import (
    ConditionalRiskMinimizer,
    CountingRidge,
    ExponentialFamily,
    StructuredPerceptron,
    StructuredSVM,
)
from skstruct.smoothing import KernelRidge
from skstruct.spaces import Classes, Hierarchy, LabelSets, Rankings

X = np.random.default_rng(0).standard_normal((20, 2))
SETS = [{"a", "b"} if x > 0 else {"a"} for x in X[:, 0]]
CASES = {
    "hierarchy": (Hierarchy([("a", "b"), ("a", "c")]), SETS, "_read"),
    "label sets": (LabelSets(), SETS, "_read"),
    "classes": (Classes(), np.where(X[:, 0] > 0, "x", "y"), "_column"),
    "rankings": (Rankings(), np.where(X[:, :1] > 0, [[1, 2, 3]], [[3, 1, 2]]), "_read"),
}


def parses(monkeypatch, space, name):
    """A list that has an entry for every time that outputs were read."""
    calls, read = [], getattr(type(space), name)

    def counted(self, *args, **kwargs):
        calls.append(self)
        return read(self, *args, **kwargs)

    monkeypatch.setattr(type(space), name, counted)
    return calls


@pytest.mark.parametrize("case", CASES)
def test_outputs_are_parsed_once(case, monkeypatch):
    space, Y, name = CASES[case]
    calls = parses(monkeypatch, space, name)
    ConditionalRiskMinimizer(space, smoother="kernel_ridge").fit(X, Y)
    assert len(calls) == 1
    ConditionalRiskMinimizer(space, solver="nystroem").partial_fit(X, Y)
    assert len(calls) == 2


@pytest.mark.parametrize(
    "learner",
    [
        CountingRidge(),
        ExponentialFamily(alpha=1e-3, fit_intercept=False),
        StructuredPerceptron(),
        StructuredSVM(alpha=0.01),
    ],
)
def test_outputs_of_other_learners_too(learner, monkeypatch):
    calls = parses(monkeypatch, LabelSets(), "_read")
    clone(learner).set_params(space=LabelSets()).fit(X, SETS)
    assert len(calls) == 1


def test_a_space_from_elsewhere_is_asked_as_ever(monkeypatch):
    asked = []

    class Noted(LabelSets):
        def fit(self, Y):
            asked.append("fit")
            return super().fit(Y)

        def validate(self, Y):
            asked.append("validate")
            return super().validate(Y)

    ConditionalRiskMinimizer(Noted(), smoother="kernel_ridge").fit(X, SETS)
    assert asked == ["fit", "validate"]


def test_targets_of_another_loss_are_kept_on_the_model(monkeypatch):
    """Until it is fitted again, and in no copy of it."""
    solved, with_targets = [], KernelRidge.with_targets

    def counted(self, targets):
        solved.append(targets.shape)
        return with_targets(self, targets)

    monkeypatch.setattr(KernelRidge, "with_targets", counted)
    model = ConditionalRiskMinimizer(LabelSets(), "hamming", alpha=0.1).fit(X, SETS)
    expected = model.predict(X, loss="zero_one")
    assert_array_equal(model.predict(X, loss="zero_one"), expected)
    assert len(solved) == 1
    assert "_retargeting" not in model.__getstate__()
    assert not hasattr(clone(model), "_retargeting")
    copied = pickle.loads(pickle.dumps(model))
    assert_array_equal(copied.predict(X, loss="zero_one"), expected)
    assert len(solved) == 2
    other = [{"a"} if "b" in names else {"a", "b"} for names in SETS]
    assert (model.fit(X, other).predict(X, loss="zero_one") != expected).any()
