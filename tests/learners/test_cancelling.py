# SPDX-License-Identifier: BSD-3-Clause
"""Work that another thread stops: soon, cleanly, and with nothing half-written."""

import threading

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skstruct import (
    ConditionalRiskMinimizer,
    CountingRidge,
    ExponentialFamily,
    MaxMarginNetwork,
    MaxMarginTree,
    OutputKernelRegressor,
    StructuredPerceptron,
    StructuredSVM,
    config_context,
)
from skstruct.exceptions import Cancelled
from skstruct.learners import Checkpoint
from skstruct.spaces import LabelSets, SolverSpace
from skstruct.streaming import predict_batches, write_batches

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3))
Y = (X @ RNG.standard_normal((3, 3)) > 0).astype(int)
LEARNERS = {
    "risk": ConditionalRiskMinimizer(LabelSets(), alpha=[0.1, 1.0]),
    "automatic": ConditionalRiskMinimizer(LabelSets()),
    "counting": CountingRidge(LabelSets(), alpha=0.1),
    "family": ExponentialFamily(LabelSets(), alpha=0.1),
    "network": MaxMarginNetwork(alpha=0.1, max_iter=20, random_state=0),
    "svm": StructuredSVM(LabelSets(), alpha=0.1, max_iter=20, random_state=0),
    "perceptron": StructuredPerceptron(LabelSets(), max_iter=20, random_state=0),
    "output kernel": OutputKernelRegressor(LabelSets(), alpha=0.1),
    "tree": MaxMarginTree(alpha=0.1, max_iter=20, random_state=0),
}


class AfterLooks:
    """As an event that is set after so many looks at it: no thread, no clock."""

    def __init__(self, most=None):
        self.looks, self.most = 0, most

    def is_set(self):
        self.looks += 1
        return self.most is not None and self.looks > self.most


def looks_of(call):
    """How often a call asks whether it shall end."""
    event = AfterLooks()
    with config_context(cancel=event):
        call()
    return event.looks


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
def test_learners_stop_and_are_as_they_were(name):
    model = clone(LEARNERS[name])
    looks = looks_of(lambda: clone(model).fit(X, Y))
    assert looks >= 2
    for most in sorted({0, looks // 3, looks // 2, looks - 1}):
        with config_context(cancel=AfterLooks(most)), pytest.raises(Cancelled):
            model.fit(X, Y)
        with pytest.raises(NotFittedError):
            model.predict(X)
    before = model.fit(X, Y).predict(X)
    with config_context(cancel=AfterLooks(looks // 2)), pytest.raises(Cancelled):
        model.fit(X[::-1], Y)
    assert_array_equal(model.predict(X), before)
    assert looks_of(lambda: model.predict(X)) >= 1
    with config_context(cancel=AfterLooks(0)), pytest.raises(Cancelled):
        model.predict(X)
    with config_context(cancel=AfterLooks()):  # an event that nobody sets changes nothing
        assert_array_equal(clone(model).fit(X, Y).predict(X), before)


def test_another_thread_stops_a_prediction_that_runs():
    started, cancel, solved, ended = threading.Event(), threading.Event(), [], []

    def solve(costs):
        """Waits until the work has been cancelled, then answers."""
        solved.append(costs)
        started.set()
        assert cancel.wait(60)
        return costs < 0

    model = ConditionalRiskMinimizer(SolverSpace(solve, exact=True), alpha=1.0)
    cancel.set()  # fit need not wait
    model.fit(X, Y.astype(float))
    cancel.clear()
    started.clear()
    solved.clear()

    def work():
        with config_context(cancel=cancel):
            try:
                model.predict(X)
            except Cancelled as error:
                ended.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert started.wait(60)
    cancel.set()
    thread.join(60)
    assert len(ended) == 1
    assert len(solved) == 1  # of 40 rows


def test_threads_of_a_prediction_stop_too():
    model = ConditionalRiskMinimizer(LabelSets(), alpha=1.0, n_jobs=2).fit(X, Y)
    for most in (0, 1, 2):
        with config_context(cancel=AfterLooks(most), memory=2000), pytest.raises(Cancelled):
            model.predict(X)


@pytest.mark.slow
def test_checkpoints_stay_and_go_on_with_the_same_bits(tmp_path):
    path = tmp_path / "svm.checkpoint"
    whole = clone(LEARNERS["svm"]).fit(X, Y)
    model = clone(LEARNERS["svm"])
    looks = looks_of(lambda: clone(model).fit(X, Y))
    with config_context(cancel=AfterLooks(looks - 2)), pytest.raises(Cancelled):
        model.fit(X, Y, checkpoint=Checkpoint(path, every=0))
    assert path.exists()
    assert not hasattr(model, "coef_")
    model.fit(X, Y, checkpoint=Checkpoint(path, every=0))
    assert not path.exists()
    assert_array_equal(model.decision_function(X), whole.decision_function(X))


def test_files_are_whole_or_not_there(tmp_path):
    model = ConditionalRiskMinimizer(LabelSets(), alpha=1.0).fit(X, Y)
    path = tmp_path / "predictions.csv"

    def write():
        batches = predict_batches(model, [X[:20], X[20:]])
        write_batches(({"row": range(len(batch))} for batch in batches), path)

    looks = looks_of(write)
    whole = path.read_bytes()
    path.unlink()
    with config_context(cancel=AfterLooks(looks - 1)), pytest.raises(Cancelled):
        write()
    assert list(tmp_path.iterdir()) == []
    write()
    assert path.read_bytes() == whole


def test_an_event_is_asked_for():
    with pytest.raises(TypeError, match=r"threading\.Event"), config_context(cancel="soon"):
        pass
