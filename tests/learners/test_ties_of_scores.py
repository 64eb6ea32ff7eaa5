# SPDX-License-Identifier: BSD-3-Clause
"""Scores that differ in their last bits tie, also where no means are estimated.

The same row in another batch or by another library has other last bits.
"""

import numpy as np
import pytest

from skstruct import (
    CountingRidge,
    ExponentialFamily,
    MaxMarginNetwork,
    StructuredPerceptron,
    StructuredSVM,
)
from skstruct.spaces import Classes, Interval, LabelSets, Sequences

N, BITS = 200, 2.0**-52
RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 2))
CLASSES = [f"class {k}" for k in RNG.integers(0, 4, 30)]


def almost(values):
    """Values with other last bits."""
    return values * (1 + BITS * RNG.integers(-3, 4, values.shape))


@pytest.mark.parametrize(
    "learner",
    [
        StructuredPerceptron(Classes(), random_state=0),
        StructuredSVM(Classes(), alpha=1.0, random_state=0),
        ExponentialFamily(Classes(), alpha=1.0, random_state=0),
        CountingRidge(Classes(), alpha=1.0),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_the_first_of_classes_that_tie_is_predicted(learner):
    learner.fit(X, CLASSES)
    problem, smoother = learner._prepared()
    scores = almost(np.full((N, problem.smooth(smoother, X).shape[1]), 0.3))
    assert len(np.unique(scores)) > 1
    assert np.unique(problem.decode(scores).outputs).tolist() == [0]


def test_labels_that_cancel_stay_out():
    """A label whose terms cancel costs nothing: no last bit puts it in."""
    Y = (X[:, [0, 0, 1]] > 0).astype(int)
    model = MaxMarginNetwork(alpha=1.0, random_state=0).fit(X, Y)
    problem, smoother = model._prepared()
    scores = problem.smooth(smoother, X[:1])
    labels = np.tile([[1.0, -1.0, 0.0]], (N, 1))
    labels[:, 2] = BITS * RNG.integers(-3, 4, N)
    found = problem.decode(type(scores)(labels, 0.0 * scores.edges)).outputs
    assert np.unique(found, axis=0).tolist() == [[1, 0, 0]]


@pytest.mark.slow
@pytest.mark.parametrize("learner", [StructuredPerceptron, ExponentialFamily])
def test_symbols_that_tie(learner):
    rows = [RNG.standard_normal((3, 2)) for _ in range(20)]
    model = learner(Sequences(), random_state=0).fit(rows, [["a", "b", "c"]] * 20)
    problem, smoother = model._prepared()
    scores = problem.smooth(smoother, model._checked(rows)[0])
    tied = type(scores)(
        almost(np.full(scores.values.shape, 0.7)), scores.starts, 0.0 * scores.transitions
    )
    assert len(np.unique(problem.decode(tied).outputs, axis=0)) == 1


def test_quantities_are_not_rounded():
    model = StructuredPerceptron(LabelSets(), random_state=0).fit(X, (X > 0).astype(int))
    problem, _ = model._prepared()
    costs, _ = problem.costs(np.array([[0.1 + 1e-12, 0.1]]))
    assert costs[0, 0] == costs[0, 1]
    problem.space = Interval(0, 1)
    assert np.ptp(problem._snapped(np.array([[0.1 + 1e-12, 0.1]]))) > 0
