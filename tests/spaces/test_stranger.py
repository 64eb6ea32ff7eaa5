# SPDX-License-Identifier: BSD-3-Clause
"""A space of twelve names, and no facet: every learner takes it, or says clearly what it lacks."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skstruct import (
    ConditionalRiskMinimizer,
    CountingRidge,
    ExponentialFamily,
    OutputKernelRegressor,
    StructuredPerceptron,
    StructuredSVM,
    load_model,
    save_model,
)
from skstruct.drawings import draw
from skstruct.reports import write_report
from skstruct.saving import savable
from skstruct.serving import Served, answers
from skstruct.smoothing import Forest
from skstruct.spaces import BaseSpace, Decoded, check_costs
from skstruct.spaces.solvers.k_best import k_min_cost
from skstruct.testing import check_space

CORE = {
    "fit", "validate", "restore", "embed", "contains", "argmin", "kbest", "restrict", "rows",
    "embedding", "default_loss", "guarantee",
}  # fmt: skip
D = 4


@savable
class Runs(BaseSpace):
    """Runs of neighbouring positions, ``(first, last)``, which are compared one by one."""

    embedding = "indicators"
    default_loss = "hamming"

    def __init__(self, d=D, longest=None):
        self.d = d
        self.longest = longest

    def fit(self, Y):
        return self

    def validate(self, Y):
        place = np.arange(self.d)
        return np.array([(place >= a) & (place <= b) for a, b in Y], np.int8).reshape(-1, self.d)

    def restore(self, Z, index=None):
        return [(int(np.flatnonzero(z)[0]), int(np.flatnonzero(z)[-1])) for z in np.asarray(Z)]

    def embed(self, Z):
        return np.asarray(Z, dtype=float)

    def contains(self, Z):
        return np.array([z.any() and np.ptp(np.flatnonzero(z)) + 1 == z.sum() for z in Z], bool)

    def argmin(self, costs):
        best = self.kbest(costs, 1)
        return Decoded(best.outputs[:, 0], best.values[:, 0], best.values[:, 0])

    def kbest(self, costs, k):
        costs, runs = check_costs(costs, self.d, used_by="Runs"), all_runs(self.d, self.longest)
        order, values = k_min_cost(costs @ runs.T, k)
        return Decoded(runs[order], values, values)

    def restrict(self, *, longest):
        return Runs(self.d, longest)


def all_runs(d=D, longest=None):
    ends = [(a, b) for a in range(d) for b in range(a, min(d, a + (longest or d)))]
    return Runs(d).validate(ends)


def rows(n=40):
    rng = np.random.default_rng(0)
    Z = all_runs()[rng.integers(len(all_runs()), size=n)]
    return Z + rng.normal(0, 0.2, Z.shape), Runs().restore(Z)


X, Y = rows()
LEARNERS = {
    "risk": ConditionalRiskMinimizer(Runs(), alpha=0.1),
    "votes": ConditionalRiskMinimizer(Runs(), alpha=0.1, smoother=Forest(n_estimators=10)),
    "svm": StructuredSVM(Runs(), max_iter=3),
    "perceptron": StructuredPerceptron(Runs(), max_iter=3),
    "output kernel": OutputKernelRegressor(Runs(), output_kernel="linear", alpha=0.1),
}


def test_it_brings_the_core_and_nothing_else():
    own = set(dir(Runs)) - set(dir(BaseSpace))
    assert {name for name in own if not name.startswith("_")} <= CORE
    check_space(Runs(), outputs=all_runs())
    check_space(Runs().restrict(longest=2), outputs=all_runs(longest=2))


@pytest.mark.parametrize("name", LEARNERS)
def test_it_is_learned_saved_and_served(name, tmp_path):
    model = LEARNERS[name].fit(X, Y)
    predicted = model.predict(X)
    assert np.mean([p == y for p, y in zip(predicted, Y)]) > 0.6
    assert all(b - a < 2 for a, b in model.predict(X, restrict={"longest": 2}))
    save_model(model, tmp_path / "runs.skstruct")
    loaded = load_model(tmp_path / "runs.skstruct")
    assert_array_equal(loaded.predict(X), predicted)
    served = Served("runs", loaded)
    found = answers.predict(served, served.inputs(served.example_rows(2)))
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize("learner", [ExponentialFamily(Runs()), CountingRidge(Runs())])
def test_who_counts_refuses_it_clearly(learner):
    with pytest.raises((ValueError, TypeError, NotImplementedError), match="Runs"):
        learner.fit(X, Y)


def test_it_is_drawn_explained_and_reported(tmp_path):
    model = LEARNERS["risk"].fit(X, Y)
    assert "(0, 2)" in draw(model.space_, np.array([1, 1, 1, 0])).text
    assert model.explain(X[:2]).weights.shape == (2, len(X))
    assert model.kbest(X[:3], 2).values.shape == (3, 2)
    assert (model.decode(X).bounds <= model.decode(X).values).all()
    write_report(model, X, Y, path=tmp_path / "runs.html")
    assert "Runs" in (tmp_path / "runs.html").read_text()
