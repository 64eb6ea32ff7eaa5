# SPDX-License-Identifier: BSD-3-Clause
"""Conditional risk minimization that learns from costs, and decides."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge as PlainKernelRidge
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skstruct import ConditionalRiskMinimizer, load_model, save_model
from skstruct.conformal import PredictionSets
from skstruct.inspection import label_next, suspicious_outputs
from skstruct.kernels import RBF
from skstruct.losses import Cost, Regret
from skstruct.model_selection import compare, decision_scorer, evaluate, loss_scorer, regrets
from skstruct.reports import write_report
from skstruct.smoothing import KernelRidge
from skstruct.spaces import BinaryPolytope, Box, Classes, LabelSets, Matchings

GRID = 1e-7  # costs are rounded to multiples of 2**-30 of their terms, on which ties are ties
rng = np.random.default_rng(0)
N, D = 90, 6
X = rng.normal(size=(N, 3))
C = X @ rng.normal(size=(3, D)) + 0.3 * (X @ rng.normal(size=(3, D))) ** 2 - 0.5
C += rng.normal(0, 0.3, C.shape)
TWO = LabelSets(range(D)).restrict(min_size=2, max_size=2)
EDGES = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a"), ("a", "c"), ("b", "d")]


def ridge(space=TWO, loss="regret", **options):
    return ConditionalRiskMinimizer(space, loss, smoother="kernel_ridge", **options)


# ------------------------------------------------------------------- it is regression of costs
@pytest.mark.parametrize("loss", ["cost", "regret"])
@pytest.mark.parametrize("space", [TWO, Matchings(graph=EDGES)], ids=["two of six", "matchings"])
def test_decisions_are_those_of_regressed_costs(space, loss):
    smoother = KernelRidge(kernel=RBF(0.2), alpha=0.5, fit_intercept=False)
    model = ConditionalRiskMinimizer(space, loss, smoother=smoother).fit(X, C)
    plain = PlainKernelRidge(kernel="rbf", gamma=0.2, alpha=0.5).fit(X, C)
    expected = plain.predict(X)
    assert_allclose(model.predict_costs(X), expected, atol=1e-8)
    decided = space.argmin(expected)
    assert_array_equal(space.validate(model.predict(X)), decided.outputs)
    if loss == "cost":
        assert_allclose(model.decode(X).values, decided.values, atol=GRID)
    best = model.decode(X)
    assert_allclose(best.values, best.bounds, atol=1e-9)


def test_any_regressor_will_do():
    model = ConditionalRiskMinimizer(TWO, "cost", smoother=LinearRegression()).fit(X, C)
    expected = LinearRegression().fit(X, C).predict(X)
    assert_allclose(model.predict_costs(X), expected, atol=1e-10)
    assert_array_equal(model.predict(X), TWO.argmin(expected).outputs)


def test_expected_regret_is_expected_cost_less_expected_optimum():
    smoother = KernelRidge(kernel=RBF(0.2), alpha=0.5, fit_intercept=False)
    model = ConditionalRiskMinimizer(TWO, "regret", smoother=smoother).fit(X, C)
    optima = TWO.argmin(C).values
    plain = PlainKernelRidge(kernel="rbf", gamma=0.2, alpha=0.5).fit(
        X, np.column_stack([C, optima])
    )
    means = plain.predict(X)
    expected = TWO.argmin(means[:, :-1]).values - means[:, -1]
    assert_allclose(model.decode(X).values, expected, atol=GRID)
    assert (model.predict_risk(X) >= 0).all()
    paid = model.predict_risk(X, loss=Cost())
    assert_allclose(paid, TWO.argmin(means[:, :-1]).values, atol=GRID)


def test_score_is_minus_the_mean_regret():
    model = ridge().fit(X[:60], C[:60])
    lost = regrets(TWO, model.predict(X[60:]), C[60:])
    assert (lost >= 0).all()
    assert_allclose(model.score(X[60:], C[60:]), -lost.mean())
    weight = np.linspace(0, 1, 30)
    assert_allclose(model.score(X[60:], C[60:], weight), -np.average(lost, weights=weight))
    constant = TWO.argmin(C[:60].mean(axis=0)[None]).outputs.repeat(30, axis=0)
    assert lost.mean() < regrets(TWO, constant, C[60:]).mean()


def test_values_are_the_other_way_round():
    least = ridge(loss="regret").fit(X, C)
    most = ridge(loss=Regret(sense="max")).fit(X, -C)
    assert_array_equal(least.predict(X), most.predict(X))
    assert_allclose(least.decode(X).values, most.decode(X).values, atol=1e-9)
    assert_allclose(least.predict_costs(X), -most.predict_costs(X), atol=1e-9)
    assert_allclose(least.score(X, C), most.score(X, -C), atol=1e-9)


# ------------------------------------------------------------------- constraints
def test_constraints_hold_for_decisions_and_for_the_best_of_them():
    model = ridge(LabelSets(range(D))).fit(X, C)
    restrict = {"max_size": 1, "exclude": [0]}
    decided = model.predict(X, restrict=restrict)
    assert (decided.sum(axis=1) <= 1).all()
    assert not decided[:, 0].any()
    narrow = LabelSets(range(D)).restrict(**restrict)
    lost = regrets(narrow, decided, C)
    assert_allclose(model.score(X, C, restrict=restrict), -lost.mean())
    (estimate, *_) = evaluate(model, X, C, restrict=restrict, n_bootstrap=10)
    assert_allclose(estimate.losses, lost)


def test_constraints_may_differ_from_row_to_row():
    taken = [[int(j)] for j in np.random.default_rng(1).integers(D, size=N)]
    space = LabelSets(range(D)).restrict(max_size=3)
    model = ridge(space).fit(X, C)
    decided = model.predict(X, restrict={"include": taken})
    assert all(row[j] for row, (j,) in zip(decided, taken))
    each = [space.restrict(include=one).argmin(c[None]).values[0] for one, c in zip(taken, C)]
    expected = -np.mean((C * decided).sum(axis=1) - each)
    assert_allclose(model.score(X, C, restrict={"include": taken}), expected)
    trained = ridge(space.restrict(include=taken)).fit(X, C)
    optimum = trained.outputs_[:, -1]
    assert_allclose(optimum, each)


def test_the_second_best_and_who_speaks_for_it():
    model = ridge().fit(X, C)
    best = model.kbest(X[:5], 3)
    costs = model.predict_costs(X[:5])
    listed = np.asarray(TWO.enumerate())
    expected = np.sort(costs @ listed.T, axis=1)[:, :3]
    gaps = best.values - best.values[:, :1]
    assert_allclose(gaps, expected - expected[:, :1], atol=1e-9)
    told = model.explain(X[:5])
    lost = Regret().bind(TWO).pairwise(model.predict(X[:5]), model.outputs_)
    assert_allclose(told.losses, lost)


# ------------------------------------------------------------------- formats
def test_frames_come_back_with_their_names():
    names = list("uvwxyz")
    frame, inputs = pd.DataFrame(C, columns=names), pd.DataFrame(X, index=np.arange(N) + 100)
    frame.index = inputs.index
    model = ridge(LabelSets()).fit(inputs, frame)
    decided = model.predict(inputs)
    assert list(decided.columns) == names
    assert list(decided.index) == list(inputs.index)
    costs = model.predict_costs(inputs)
    assert list(costs.columns) == names
    assert list(costs.index) == list(inputs.index)
    turned = frame[names[::-1]]
    assert_allclose(model.score(inputs, turned), model.score(inputs, frame))


def test_classes_have_costs_that_differ_from_row_to_row():
    model = ridge(Classes(), "cost").fit(X, C)
    assert_array_equal(model.predict(X), model.predict_costs(X).argmin(axis=1))


def test_quantities_are_decided_at_corners():
    model = ridge(Box(0.0, 1.0, labels=range(D)), "regret").fit(X, C)
    assert_array_equal(model.predict(X), model.predict_costs(X) < 0)


def test_models_are_saved_and_pickled(tmp_path):
    model = ridge(loss=Regret("max")).fit(X, C)
    save_model(model, tmp_path / "model")
    for other in (load_model(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert_array_equal(other.predict(X), model.predict(X))
        assert other.score(X, C) == model.score(X, C)


# ------------------------------------------------------------------- scikit-learn, and judging
def test_scikit_learn_searches_and_scores():
    model = ridge(alpha=0.1)
    folds = cross_val_score(model, X, C, cv=3)
    assert_allclose(folds, cross_val_score(model, X, C, cv=3, scoring=loss_scorer("regret")))
    assert_allclose(folds, cross_val_score(model, X, C, cv=3, scoring=decision_scorer("regret")))
    grid = GridSearchCV(model, {"alpha": [0.01, 1.0]}, scoring=decision_scorer(), cv=3).fit(X, C)
    assert -1.0 < grid.best_score_ <= 0.0
    piped = make_pipeline(StandardScaler(), clone(model)).fit(X, C)
    assert 0.0 <= decision_scorer("optimal")(piped, X, C) <= 1.0
    paid, best = (decision_scorer(name)(piped, X, C) for name in ("cost", "optimum"))
    assert_allclose(best - paid, -decision_scorer("regret")(piped, X, C))


def test_models_are_compared_by_regret_and_cost():
    found = compare({"narrow": ridge(alpha=0.1), "flat": ridge(alpha=1e6)}, X, C, cv=3)
    assert {row.loss for row in found.rows} == {"regret", "cost"}
    table = {(row.name, row.loss): row.mean for row in found.rows}
    assert table["narrow", "regret"] < table["flat", "regret"]


def test_other_losses_are_refused():
    model = ridge().fit(X, C)
    with pytest.raises(ValueError, match="the model was fitted to costs"):
        model.predict(X, loss="hamming")
    with pytest.raises(ValueError, match="have no parts with probabilities"):
        model.predict_marginals(X)
    labels = ConditionalRiskMinimizer(LabelSets(), alpha=1.0).fit(X, (C > 0).astype(int))
    with pytest.raises(ValueError, match="the model was fitted to outputs"):
        labels.predict(X, loss="regret")
    with pytest.raises(ValueError, match="judges models that learn from costs"):
        decision_scorer()(labels, X, C)
    assert not hasattr(labels, "predict_costs")


def test_promises_and_reports_know_costs(tmp_path):
    model = ridge().fit(X[:60], C[:60])
    found = model.certify(X[60:], C[60:], loss_bound=40.0)
    assert -model.score(X[60:], C[60:]) <= found.value
    write_report(model, X[60:], C[60:], tmp_path / "report.html")
    assert "regret" in (tmp_path / "report.html").read_text(encoding="utf-8").lower()
    assert len(label_next(model, X[60:], 3)[0]) == 3


def test_what_compares_outputs_says_that_there_are_none():
    model = ridge().fit(X, C)
    with pytest.raises(ValueError, match="compares predictions with true outputs"):
        PredictionSets(model).calibrate(X, C)
    with pytest.raises(ValueError, match="the model learns from costs"):
        suspicious_outputs(ridge(), X, C)
    with pytest.raises(ValueError, match="learned from labels; this is LabelSets under Regret"):
        model.predict(X, threshold=0.5)


def test_costs_need_a_space_of_decisions():
    with pytest.raises(ValueError, match="Regret judges decisions: give the space"):
        ConditionalRiskMinimizer(loss="regret").fit(X, C)


# ------------------------------------------------------------------- many rows, and few of costs
def test_costs_that_are_missing_are_learned_around():
    hidden = np.where(np.random.default_rng(2).random(C.shape) < 0.3, np.nan, C)
    model = ridge(alpha=0.3).fit(X, hidden)
    assert isinstance(model.loss_, Cost)
    whole = ridge(alpha=0.3).fit(X, C)
    constant = TWO.argmin(C.mean(axis=0)[None]).outputs.repeat(N, axis=0)
    lost = -model.score(X, C, loss="regret")
    assert_allclose(lost, regrets(TWO, model.predict(X), C).mean())
    assert lost < 0.5 * regrets(TWO, constant, C).mean()
    assert -whole.score(X, C) <= lost + 0.1


def test_blocks_of_rows_have_costs():
    def blocks():
        for start in range(0, N, 30):
            yield X[start : start + 30], C[start : start + 30]

    streamed = ridge(alpha=0.3, n_landmarks=N, kernel="rbf", random_state=0).fit(blocks)
    assert streamed.score(X, C) > -0.5
    steps = ridge(alpha=0.3, kernel="rbf", random_state=0)
    for part in blocks():
        steps.partial_fit(*part)
    assert steps.score(X, C) > -0.5
    polytope = BinaryPolytope(A_ub=np.ones((1, D)), b_ub=[2])
    assert ridge(polytope, alpha=0.3).fit(X, C).score(X, C) > -0.5


def test_more_costs_than_rows():
    rng = np.random.default_rng(3)
    inputs, wide = rng.normal(size=(24, 3)), LabelSets(range(60)).restrict(max_size=5)
    costs = inputs @ rng.normal(size=(3, 60)) + rng.normal(0, 0.1, (24, 60))
    for smoother in ("auto", "kernel_ridge"):
        model = ConditionalRiskMinimizer(wide, "regret", smoother=smoother, random_state=0)
        model.fit(inputs, costs)
        assert_array_equal(model.predict(inputs), wide.argmin(model.predict_costs(inputs)).outputs)
        assert -model.score(inputs, costs) < 0.5 * np.abs(model.outputs_[:, -1]).mean()
