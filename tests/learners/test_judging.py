# SPDX-License-Identifier: BSD-3-Clause
"""Penalties of costly losses: compared by some rows, the best few by more of them."""

import numpy as np
import pytest

from skstruct import ConditionalRiskMinimizer
from skstruct.learners import judging
from skstruct.learners.judging import FEWEST, judging_rows
from skstruct.learners.problem import RiskProblem, targets_for
from skstruct.losses import F1, Effort, Hamming, pair
from skstruct.smoothing import KernelRidge, NystroemRidge
from skstruct.spaces import LabelSets

RNG = np.random.default_rng(0)
X = RNG.normal(size=(700, 3))
Y = (X @ RNG.normal(size=(3, 8)) + 0.3 * RNG.normal(size=(700, 8)) > 0.8).astype(int)


def problem_of(loss, outputs=Y, **options):
    return RiskProblem(*pair(loss, LabelSets().fit(outputs), outputs), outputs, **options)


class Costly(F1):
    """As F1, and said to take long."""

    seconds = 1.0

    def __init__(self, independent=False):
        super().__init__(independent)


class EffortOfCostly(Effort):
    def seconds(self, space):
        return self.loss.seconds


Effort.at(Costly, EffortOfCostly)


def test_cheap_decisions_are_made_for_all_rows():
    assert judging_rows(problem_of(Hamming()), 10**5, 100) is None
    assert judging_rows(problem_of(F1()), 1000, 22) is None


def test_costly_decisions_are_made_for_as_many_rows_as_there_is_time_for():
    problem = problem_of(Costly())
    assert len(judging_rows(problem, 700, 22)) == FEWEST
    Costly.seconds = 1e-3
    try:
        rows = judging_rows(problem, 10**6, 5)
    finally:
        Costly.seconds = 1.0
    assert len(rows) == 2000
    assert rows[0] == 0
    assert rows[-1] == 10**6 - 1
    assert len(np.unique(rows)) == len(rows)


def test_many_targets_take_memory(monkeypatch):
    monkeypatch.setattr(judging, "LEFT_OUT_BYTES", 8 * 400 * 9)
    assert len(judging_rows(problem_of(Hamming()), 700, 1)) == 400


@pytest.mark.parametrize("solver", ["spectral", "nystroem"])
@pytest.mark.parametrize("grouped", [False, True])
def test_two_stages_find_the_penalty_of_one(solver, grouped):
    """Penalties that are far apart: one of them is far better than the others."""
    alphas = [1e4, 1e2, 1.0, 1e-6, 1e-8]
    groups = np.arange(700) // 2 if grouped else None

    def fitted(loss):
        model = ConditionalRiskMinimizer(LabelSets(), loss, alpha=alphas, solver=solver)
        return model.fit(X, Y, groups=groups)

    full, staged = fitted(F1(independent=False)), fitted(Costly())
    assert staged.alpha_ == full.alpha_
    assert len(staged.search_.trials) == len(full.search_.trials)
    assert np.array_equal(staged.predict(X[:50]), full.predict(X[:50]))


def test_weights_of_rows_stay_with_their_rows():
    weight = np.where(np.arange(700) % 2, 1.0, 3.0)
    model = ConditionalRiskMinimizer(LabelSets(), Costly(), alpha=[1e4, 1.0], solver="spectral")
    model.fit(X, Y, sample_weight=weight)
    numbers = np.linspace(0, 699, FEWEST).astype(int)
    smoother = KernelRidge("rbf", 1.0).fit(X, model.problem_.targets(), weight)
    problem = problem_of(Costly())
    losses = problem.loss(problem.decide(smoother.loo())[numbers], Y[numbers])
    expected = np.average(losses, weights=weight[numbers])
    assert model.search_.best["risk"] == pytest.approx(expected, abs=1e-9)


def test_a_loss_that_stands_in_has_targets_of_its_own():
    Z = (np.random.default_rng(1).random((40, 60)) < 0.1).astype(int)
    problem = problem_of(F1(), Z)
    judge = problem.for_search()
    alone = judge.alone()
    assert alone.n_targets(compared=True) == 61 < judge.n_targets(compared=True)
    weights = np.random.default_rng(2).dirichlet(np.full(40, 0.2), 9)
    one = judge.decide(weights @ problem.targets())
    assert np.array_equal(one, alone.decide(weights @ alone.targets()))
    assert problem.alone() is problem


def test_targets_stay_sparse_where_they_are_summed():
    Z = (np.random.default_rng(1).random((50, 60)) < 0.05).astype(int)
    problem = problem_of(F1(independent=False), Z)
    assert np.array_equal(problem.thin_targets().toarray(), problem.targets())
    assert targets_for(NystroemRidge(), problem).format == "csr"
    assert isinstance(targets_for(KernelRidge(), problem), np.ndarray)
    few = problem_of(F1(independent=False), Y)  # of few columns, many are filled
    assert isinstance(few.thin_targets(), np.ndarray)
