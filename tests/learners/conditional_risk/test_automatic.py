# SPDX-License-Identifier: BSD-3-Clause
"""What smooths when nobody says: a stack, unless a part decides clearly better."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from skstruct import ConditionalRiskMinimizer
from skstruct.learners.conditional_risk.automatic import (
    CONSTANT,
    STACK,
    Candidate,
    StackedRegression,
)
from skstruct.learners.conditional_risk.part_plan import AT_LEAST, PartPlan, parse_seconds
from skstruct.learners.conditional_risk.parts import Part, Size, ridge_part
from skstruct.learners.problem import RiskProblem
from skstruct.model_selection import left_out_risk
from skstruct.persistence import load_model, save_model
from skstruct.smoothing import KernelRidge, NystroemRidge, Scaled, Stacked
from skstruct.smoothing.kernel_ridge import PenaltiesOfKernelRidge
from skstruct.spaces import Classes, Hierarchy, Interval, LabelSets, Rankings
from skstruct.streaming import ArraySource

RNG = np.random.default_rng(0)
X = RNG.standard_normal((90, 4)) * [1.0, 5.0, 0.2, 1.0]
Y = np.column_stack([X[:, 0] > 0, X[:, 1] + X[:, 0] > 1, np.sin(3 * X[:, 0]) > 0.5]).astype(int)
Y = np.where(RNG.uniform(size=Y.shape) < 0.1, 1 - Y, Y)
NEW = RNG.standard_normal((20, 4))


@pytest.fixture(scope="module")
def model():
    return ConditionalRiskMinimizer(LabelSets()).fit(X, Y)


@pytest.mark.slow
def test_what_was_tried_and_chosen(model):
    trials = {trial["smoother"]: trial for trial in model.search_.trials}
    assert {STACK, "gaussian", "forest", "extra trees", "linear", "logistic"} <= set(trials)
    assert all(trial["seconds"] >= 0 for trial in trials.values())
    stack = trials[STACK]["squared error"]
    linear = [t for name, t in trials.items() if "logistic" not in name and "stack" not in name]
    assert stack <= min(trial["squared error"] for trial in linear) + 1e-9
    assert model.search_.best["smoother"] in trials
    assert_allclose(left_out_risk(model), model.search_.best["risk"], atol=1e-9)


@pytest.mark.slow
def test_other_losses_and_explanations(model):
    exact = ConditionalRiskMinimizer(LabelSets(), "f1").fit(X, Y)
    answers = model.predict(NEW, loss="f1")
    assert answers.shape == (20, 3)
    if model.search_.best["smoother"] == exact.search_.best["smoother"] == STACK:
        assert_array_equal(answers, exact.predict(NEW))  # the same parts, by the same weights
    explained = model.explain(NEW)
    assert_allclose(explained.weights.sum(axis=1), 1.0)
    assert model.predict(NEW, restrict={"max_size": 1}).sum(axis=1).max() <= 1


@pytest.mark.slow
def test_saved_and_fitted_again(model, tmp_path):
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert_array_equal(again.predict(NEW), model.predict(NEW))
    assert_array_equal(again.predict(NEW, loss="f1"), model.predict(NEW, loss="f1"))
    order = RNG.permutation(len(X))
    other = clone(model).fit(X[order], Y[order])
    assert_array_equal(other.predict(NEW), model.predict(NEW))
    assert_allclose(other.search_.best["risk"], model.search_.best["risk"], atol=1e-9)


def test_a_kernel_ridge_regression_is_asked_for():
    plain = ConditionalRiskMinimizer(smoother="kernel_ridge").fit(X, Y)
    assert isinstance(plain.smoother_, KernelRidge)
    for given in ({"kernel": "rbf"}, {"solver": "spectral"}, {"alpha": plain.alpha_}):
        model = ConditionalRiskMinimizer(**given).fit(X, Y)
        assert isinstance(model.smoother_, KernelRidge)
        assert_array_equal(model.predict(NEW), plain.predict(NEW))
    with pytest.raises(ValueError, match=r"smoother is .* got .best."):
        ConditionalRiskMinimizer(smoother="best").fit(X, Y)


def test_one_row_is_no_stack():
    assert ConditionalRiskMinimizer(LabelSets()).fit(X[:1], Y[:1]).predict(NEW[:1]).shape == (1, 3)


class Given:
    """A problem whose outputs weigh the same."""

    def output_weights(self, weight, numbers):
        return weight


def test_the_guard_needs_a_standard_error():
    guard = StackedRegression.__new__(StackedRegression)
    guard.problem, guard.weight, guard.judged, guard.budget = Given(), None, None, None
    stack = RNG.uniform(0.4, 0.6, 100)
    slightly = stack - 0.001 + RNG.standard_normal(100)
    assert guard._chosen([stack, slightly, stack + 0.1]) in (0, 1)
    noisy = stack.copy()
    noisy[:2] += -0.5, 0.2  # better by one row: no more than one standard error
    assert guard._chosen([stack, noisy]) == 0
    assert guard._chosen([stack, stack - 0.01, stack - 0.02]) == 2
    guard.weight = np.r_[np.zeros(50), np.ones(50)]
    halves = stack - np.r_[np.ones(50), -0.1 * np.ones(50)]
    assert guard._chosen([stack, halves]) == 0


@pytest.mark.slow
def test_a_part_that_decides_better_is_kept():
    """Rankings by what the inputs are: less squared error is not less of Kendall's loss."""
    inputs = np.random.default_rng(1).uniform(size=(300, 5))
    ranks = (-inputs).argsort(axis=1).argsort(axis=1) + 1
    model = ConditionalRiskMinimizer(Rankings()).fit(inputs[:200], ranks[:200])
    trials = {trial["smoother"]: trial for trial in model.search_.trials}
    best = model.search_.best
    assert best["smoother"] != STACK
    assert best["risk"] < trials[STACK]["risk"]
    linear = trials["linear"]
    assert linear["risk"] < trials[STACK]["risk"]
    assert linear["squared error"] > trials[STACK]["squared error"]
    ridge = ConditionalRiskMinimizer(Rankings(), smoother="kernel_ridge")
    ridge.fit(inputs[:200], ranks[:200])
    new = inputs[200:], ranks[200:]
    assert model.score(*new) > ridge.score(*new)


@pytest.mark.slow
def test_groups_and_weights_have_a_part():
    groups = np.repeat(np.arange(30), 3)
    copies = np.repeat(X[:30], 3, axis=0) + 0.01 * RNG.standard_normal((90, 4))
    labels = np.repeat(Y[:30], 3, axis=0)
    alone = ConditionalRiskMinimizer(LabelSets()).fit(copies, labels)
    together = ConditionalRiskMinimizer(LabelSets()).fit(copies, labels, groups=groups)
    assert alone.search_.best["risk"] < together.search_.best["risk"]  # near copies give it away
    weight = np.r_[np.ones(60), np.zeros(30)]
    weighted = ConditionalRiskMinimizer(LabelSets()).fit(X, Y, sample_weight=weight)
    assert weighted.score(X[:60], Y[:60]) <= 0


@pytest.mark.slow
@pytest.mark.parametrize("y", [X[:, 0] + X[:, 1], Y[:, 0]], ids=["quantities", "classes"])
def test_other_spaces(y):
    space = Interval() if y.dtype.kind == "f" else None
    model = ConditionalRiskMinimizer(space).fit(X, y)
    ridge = ConditionalRiskMinimizer(space, smoother="kernel_ridge").fit(X, y)
    assert model.search_.best["risk"] <= ridge.search_.best["risk"] + 0.1 * np.std(y)


@pytest.mark.slow
def test_many_labels_are_weighed_by_projections():
    edges = [(j // 2, j) for j in range(1, 400)]
    leaf = RNG.integers(200, 400, 60)
    labels = np.zeros((60, 400), dtype=int)
    for i, j in enumerate(leaf):
        while j > 0:
            labels[i, j], j = 1, j // 2
        labels[i, 0] = 1
    model = ConditionalRiskMinimizer(Hierarchy(edges, labels=range(400)), "hamming")
    model.fit(X[:60], labels)
    assert isinstance(model.smoother_, (Stacked, Scaled, KernelRidge)) or model.search_ is not None
    assert model.predict(NEW).shape == (20, 400)


# ---------------------------------------------------------------------- the plan
def test_times():
    assert [parse_seconds(b) for b in (None, "30s", "2 min", "0.5h", 7)] == [None, 30, 120, 1800, 7]
    for bad in ("", "soon", "-3s", 0, "3 weeks"):
        with pytest.raises(ValueError, match="budget is a time"):
            parse_seconds(bad)
    with pytest.raises(ValueError, match="budget is a time"):
        ConditionalRiskMinimizer().fit(X, Y, budget="much")


def test_the_plan_follows_from_the_data():
    targets = np.column_stack([Y, np.ones(90)])
    names = [part.name for part in PartPlan(X, targets)]
    assert names[0] == "gaussian"
    assert {"forest", "laplacian", "linear", "logistic"} <= set(names)
    plan = PartPlan(X, targets)
    assert sum(part.seconds for part in plan) <= max(AT_LEAST, plan.limit)
    assert "logistic" not in [part.name for part in PartPlan(X, X)]  # no two values
    assert "logistic" not in [part.name for part in PartPlan(X, targets, classify=False)]
    wide = np.zeros((4000, 3000))  # nothing is computed
    plan = PartPlan(wide, np.zeros((4000, 2)))
    taken = list(plan)
    assert taken[0].name == "gaussian"
    assert sum(part.seconds for part in taken) <= plan.limit


def test_no_time_leaves_one_part():
    plan = PartPlan(X, np.column_stack([Y, np.ones(90)]), budget=1e-3)
    assert [part.name for part in plan] == ["gaussian"]
    model = ConditionalRiskMinimizer(LabelSets()).fit(X, Y, budget=1e-3)
    assert {trial["smoother"] for trial in model.search_.trials} == {STACK, "gaussian", CONSTANT}


def test_the_mean_of_all_rows_is_a_candidate():
    """Nobody is clearly worse than it on left-out rows: here inputs say nothing."""
    noise = RNG.standard_normal((60, 8))
    model = ConditionalRiskMinimizer(Classes(), random_state=0).fit(noise, np.arange(60) % 3)
    risk = {trial["smoother"]: trial["risk"] for trial in model.search_.trials}
    assert model.search_.best["risk"] <= risk[CONSTANT] + 1 / np.sqrt(60)
    regression = StackedRegression(model, model.problem_)
    regression.rows, regression.weight, regression.groups = noise, None, None
    regression.judged, targets = None, model.problem_.targets()
    ridge = KernelRidge(alpha=1.0).fit(noise, targets)
    mean = regression._constant(Candidate("ridge", ridge, ridge.loo(), 0.0, 0.0), targets)
    others = [np.delete(targets, i, axis=0).mean(axis=0) for i in range(60)]
    np.testing.assert_allclose(mean.left, others)
    np.testing.assert_allclose(mean.smoother.predict(noise[:2]), [targets.mean(axis=0)] * 2)


def test_a_budget_takes_what_is_best_by_however_little():
    guard = StackedRegression.__new__(StackedRegression)
    guard.problem, guard.weight, guard.judged, guard.budget = Given(), None, None, 1.0
    stack = RNG.uniform(0.4, 0.6, 100)
    noisy = stack - 0.001 + RNG.standard_normal(100)
    noisy += stack.mean() - 0.001 - noisy.mean()
    assert guard._chosen([stack, noisy, stack + 0.1]) == 1
    assert guard._chosen([stack, stack + 1e-6]) == 0


@pytest.mark.parametrize("budget", [4.0, 12.0, 30.0])
def test_decisions_are_within_the_budget(budget, monkeypatch):
    """By a clock that goes on by one second with every decision of all left-out rows."""
    clock = [0.0]

    realized_losses = RiskProblem.realized_losses

    def decided(*given):
        clock[0] += 1.0
        return realized_losses(*given)

    monkeypatch.setattr(RiskProblem, "realized_losses", decided)
    automatic = "skstruct.learners.conditional_risk.automatic"
    monkeypatch.setattr(f"{automatic}.perf_counter", lambda: clock[0])
    only = Part("gaussian", KernelRidge("rbf", "auto"), 0.1)
    monkeypatch.setattr(
        "skstruct.learners.conditional_risk.part_plan.all_parts", lambda *given: [only]
    )
    monkeypatch.setattr(StackedRegression, "_chosen", lambda self, losses, n_stacks=1: n_stacks)
    model = ConditionalRiskMinimizer(LabelSets()).fit(X, Y, budget=budget)
    spent, clock[0] = clock[0], 0.0
    whole = ConditionalRiskMinimizer(LabelSets()).fit(X, Y)
    assert 2 <= spent <= budget < clock[0]
    assert model.search_.best["smoother"] == whole.search_.best["smoother"] == "gaussian"
    first = min(t["risk"] for t in model.search_.trials if t["smoother"] == "gaussian")
    assert model.search_.best["risk"] == first


def labels_of(n, seed):
    rng = np.random.default_rng(seed)
    inputs = rng.standard_normal((n, 4))
    scores = inputs[:, :3] + 0.5 * rng.standard_normal((n, 3))
    return inputs, (scores > 0).astype(int)


@pytest.fixture
def many_are_few(monkeypatch):
    """More than a hundred rows are many, of which about forty judge."""
    monkeypatch.setattr("skstruct.learners.conditional_risk.automatic.SPECTRAL_ROWS", 100)
    monkeypatch.setattr("skstruct.learners.conditional_risk.parts.SPECTRAL_ROWS", 100)
    monkeypatch.setattr("skstruct.learners.conditional_risk.automatic.JUDGED", 40)
    monkeypatch.setattr(PenaltiesOfKernelRidge, "most_rows", 100)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["hamming", "f1", "zero_one"])
def test_some_rows_judge_many(many_are_few, loss):
    inputs, labels = labels_of(160, 0)
    model = ConditionalRiskMinimizer(LabelSets(), loss).fit(inputs, labels)
    trials = {trial["smoother"]: trial for trial in model.search_.trials}
    assert {STACK, "gaussian", "forest", "linear"} <= set(trials)
    assert model.search_.best["risk"] <= trials[STACK]["risk"]
    fresh, truth = labels_of(300, 1)
    baseline = np.abs(truth - (labels.mean(axis=0) > 0.5)).mean()
    assert np.abs(model.predict(fresh) - truth).mean() < 0.6 * baseline


@pytest.mark.slow
def test_rows_that_judge_are_whole_groups_in_any_order(many_are_few):
    inputs, labels = labels_of(160, 0)
    groups = np.arange(160) // 3

    def judged(order):
        found = []

        class Spied(StackedRegression):
            def _fitted(self, targets):
                found.append(order[self.judged])
                raise StopIteration

        model = ConditionalRiskMinimizer(LabelSets(), cv=None)
        data = model._read(inputs[order], labels[order], None, groups[order])
        model._pair(data)
        with pytest.raises(StopIteration):
            Spied(model, model.problem_).fit(data, None)
        return set(found[0].tolist())

    rows = judged(np.arange(160))
    assert 30 <= len(rows) <= 55
    inside = np.isin(np.arange(160), sorted(rows))
    assert all(inside[groups == group].all() for group in np.unique(groups[inside]))
    model = ConditionalRiskMinimizer(LabelSets())
    model.streamed_ = False
    assert judged(RNG.permutation(160)) == rows


def test_more_landmarks_where_these_pay():
    plan = PartPlan(np.zeros((30_000, 5)), np.zeros((30_000, 2)))
    first = next(iter(plan))
    assert first.n_landmarks == 1000
    larger = plan.larger(first, residual=0.1)
    assert larger.n_landmarks == 2000
    assert larger.smoother.smoother.n_landmarks == 2000
    assert plan.larger(first, residual=0.0) is None  # nothing is left to explain
    plan.n_landmarks = 2000
    laplacian = next(part for part in plan if part.name == "laplacian")
    assert laplacian.n_landmarks in (1000, 2000)
    short = PartPlan(np.zeros((30_000, 5)), np.zeros((30_000, 2)), budget=0.01)
    assert short.larger(first, residual=0.1) is None


@pytest.mark.slow
def test_squares_of_quantities_do_not_weigh():
    """What tells a decision's cost has no part in the weights."""
    rng = np.random.default_rng(2)
    inputs = rng.standard_normal((120, 3))
    y = 100 * inputs[:, 0] + rng.standard_normal(120)
    model = ConditionalRiskMinimizer(Interval()).fit(inputs, y)
    best = model.search_.best
    assert_allclose(best["risk"], best["squared error"], rtol=0.5)
    assert best["risk"] < 0.01 * y.var()


@pytest.mark.slow
def test_a_stack_of_a_stream():
    inputs, labels = labels_of(400, 3)
    source = ArraySource(inputs, labels, None)
    model = ConditionalRiskMinimizer(LabelSets()).fit(source)
    trials = {trial["smoother"]: trial for trial in model.search_.trials}
    assert {STACK, "gaussian", "laplacian", "linear", "forest", CONSTANT} <= set(trials)
    held = ConditionalRiskMinimizer(LabelSets(), solver="nystroem").fit(inputs, labels)
    fresh, truth = labels_of(400, 4)
    wrong = np.abs(model.predict(fresh) - truth).mean()
    assert wrong <= np.abs(held.predict(fresh) - truth).mean() + 0.02
    parts = ConditionalRiskMinimizer(LabelSets(), cv=4).fit(source)  # whole parts are left out
    assert_allclose(parts.search_.best["risk"], model.search_.best["risk"], rtol=0.2)
    with pytest.raises(ValueError, match="begin with partial_fit"):
        model.partial_fit(inputs, labels)
    once = ConditionalRiskMinimizer(LabelSets()).fit(iter([(inputs, labels)]))
    assert "smoother" not in once.search_.best  # one pass, one kernel


@pytest.mark.parametrize("part", ["landmarks", "exact"])
def test_penalties_of_a_part_alone_are_compared_by_some_that_judge(many_are_few, part, monkeypatch):
    """Of many rows that judge, fewer compare penalties, and the best is judged by all of them."""
    monkeypatch.setattr("skstruct.smoothing.penalties.SAMPLE", (15, 20))
    ridge = NystroemRidge("rbf", "auto", n_landmarks=30) if part == "landmarks" else None
    only = Part("gaussian", KernelRidge("rbf", "auto") if ridge is None else ridge, 0.1)
    monkeypatch.setattr(
        "skstruct.learners.conditional_risk.part_plan.all_parts", lambda *given: [only]
    )
    monkeypatch.setattr(StackedRegression, "_chosen", lambda self, losses, n_stacks=1: n_stacks)
    inputs, labels = labels_of(160, 0)
    model = ConditionalRiskMinimizer(LabelSets()).fit(inputs, labels)
    assert model.search_.best["smoother"] == "gaussian"
    assert model.predict(inputs).shape == labels.shape


def test_a_linear_part_of_text_with_thousands_of_labels_is_not_iterated_for_every_label():
    X = sparse.random_array((6_000, 50_000), density=2e-3, format="csr", rng=0)
    few, many = (ridge_part("linear", "linear", Size(X, np.zeros((6_000, d)))) for d in (20, 3_000))
    assert type(few.smoother.smoother).__name__ == "LinearRidge"
    assert type(many.smoother.smoother).__name__ != "LinearRidge"
    assert many.seconds < 30
