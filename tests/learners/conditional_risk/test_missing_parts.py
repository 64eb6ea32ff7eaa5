"""Conditional risk minimization from outputs with missing parts."""

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestRegressor

from skstruct import ConditionalRiskMinimizer, load_model, save_model
from skstruct.kernels import RBF
from skstruct.smoothing import KernelRidge
from skstruct.spaces import Box, Censored, Hierarchy, LabelSets, Rankings, Sequences

EDGES = [("r", "a"), ("r", "b"), ("a", "c"), ("a", "d")]


def label_sets(seed=0, n=90, share=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    Y = (X + 0.5 * rng.normal(size=X.shape) > 0).astype(float)
    gap = rng.random(Y.shape) < share
    return X, Y, gap, rng


def hierarchy(seed=0, n=150, share=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    r = X[:, 0] > -0.5
    a, b = r & (X[:, 1] > 0), r & (X[:, 2] > 0)
    Y = np.column_stack([r, a, b, a & (X[:, 0] > 0), a & (X[:, 2] < 0)]).astype(float)
    return X, Y, rng.random(Y.shape) < share


def hidden(Y, gap):
    return np.where(gap, np.nan, Y)


def test_each_label_is_learned_from_the_rows_that_know_it():
    X, Y, gap, _ = label_sets()
    model = ConditionalRiskMinimizer(LabelSets(), kernel=RBF(0.4), alpha=0.5)
    means = np.asarray(model.fit(X, hidden(Y, gap)).predict_marginals(X[:5], calibrated=None))
    for j in range(Y.shape[1]):
        known = ~gap[:, j]
        alone = KernelRidge(RBF(0.4), 0.5).fit(X[known], Y[known, j]).predict(X[:5])
        assert means[:, j] == pytest.approx(np.clip(alone, 0, 1), abs=1e-6)


@pytest.mark.parametrize("how", ["default", "ridge", "forest"])
def test_what_stands_under_a_mask_changes_no_bit(how):
    X, Y, gap, rng = label_sets(n=60)
    given = {
        "default": {},
        "ridge": {"kernel": "rbf"},
        "forest": {"smoother": RandomForestRegressor(10, random_state=0)},
    }[how]
    model = ConditionalRiskMinimizer(LabelSets(), random_state=0, **given)
    first = clone(model).fit(X, Y.astype(int), known=~gap)
    other = np.where(gap, 1 - Y, Y).astype(int)
    second = clone(model).fit(X, other, known=~gap)
    at = rng.normal(size=(20, 3))
    assert np.array_equal(first.decode(at).values, second.decode(at).values)
    assert np.array_equal(first.predict(at), second.predict(at))


@pytest.mark.slow
def test_half_of_the_labels_cost_little_and_zeros_cost_much():
    X, Y, gap, _ = label_sets(n=300)
    at, truth, _, _ = label_sets(1, n=400)
    wrong = {}
    for name, given in {
        "whole": Y.astype(int), "gaps": hidden(Y, gap), "zeros": np.where(gap, 0, Y).astype(int)
    }.items():  # fmt: skip
        model = ConditionalRiskMinimizer(LabelSets(), random_state=0).fit(X, given)
        wrong[name] = float((model.predict(at) != truth).mean())
    assert wrong["gaps"] < wrong["whole"] + 0.05 < wrong["zeros"]


@pytest.mark.parametrize("loss", ["hamming", "hierarchical", "f1"])
def test_hierarchies_fill_what_known_labels_say_of_others(loss):
    X, Y, gap = hierarchy()
    model = ConditionalRiskMinimizer(Hierarchy(EDGES), loss, kernel="rbf").fit(X, hidden(Y, gap))
    changes = model.filling_.changes
    assert changes[-1] < 0.1 * changes[0]
    assert model.space_.contains(model.space_.validate(model.predict(X))).all()
    truth = Y.astype(int)
    assert (model.predict(X) != truth).mean() < 0.5 * (truth != truth.mean(axis=0).round()).mean()
    other = model.predict(X[:4], loss="hamming")  # nothing is fitted again
    assert other.shape == (4, 5)


def test_rows_that_say_nothing_leave_the_means_as_they_are_but_settle_the_kernel():
    X, Y, _, _ = label_sets(n=60)
    Z = hidden(Y, np.arange(60)[:, None] % 3 == 0)
    said = ~np.isnan(Z[:, 0])
    model = ConditionalRiskMinimizer(LabelSets(), kernel=RBF(0.4), alpha=0.5)
    half, alone = clone(model).fit(X, Z), clone(model).fit(X[said], Y[said].astype(int))
    assert half.decode(X).values == pytest.approx(alone.decode(X).values, abs=1e-6)
    width = clone(model).set_params(kernel="rbf").fit(X, Z).gamma_
    everybody = clone(model).set_params(kernel="rbf").fit(X, Y.astype(int)).gamma_
    assert width == pytest.approx(everybody)


def test_classes_sequences_quantities_and_frames():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = np.array(["u", "v", "w"], dtype=object)[X.argmax(axis=1)]
    y[::4] = None
    model = ConditionalRiskMinimizer(kernel="rbf").fit(X, y)
    right = model.predict(X) == np.array(["u", "v", "w"])[X.argmax(axis=1)]
    assert right.mean() > 0.85
    series = ConditionalRiskMinimizer(kernel="rbf").fit(X, pd.Series(y, name="kind")).predict(X)
    assert isinstance(series, pd.Series)
    Q = X[:, :2] + 0.05 * rng.normal(size=(90, 2))
    Q[rng.random(Q.shape) < 0.3] = np.nan
    model = ConditionalRiskMinimizer(Box(), kernel="rbf").fit(X, Q)
    assert np.abs(model.predict(X) - X[:, :2]).mean() < 0.2
    frame = pd.DataFrame(Q, columns=["east", "north"])
    assert list(ConditionalRiskMinimizer(Box(), kernel="rbf").fit(X, frame).predict(X)) == [
        "east", "north"
    ]  # fmt: skip


def test_positions_without_a_symbol():
    rng = np.random.default_rng(0)
    lengths = rng.integers(3, 7, 60)
    X = [rng.normal(size=(t, 2)) for t in lengths]
    Y = [["a" if row[0] > 0 else "b" for row in x] for x in X]
    gaps = [[None if rng.random() < 0.5 else s for s in row] for row in Y]
    model = ConditionalRiskMinimizer(Sequences(), kernel="rbf").fit(X, gaps)
    assert -model.score(X, Y) / lengths.mean() < 0.15
    masks = [[s is not None for s in row] for row in gaps]
    again = ConditionalRiskMinimizer(Sequences(), kernel="rbf").fit(X, Y, known=masks)
    assert again.score(X, Y) == model.score(X, Y)


def test_rankings_are_partial_by_nature():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    R = (-X).argsort(axis=1).argsort(axis=1) + 1.0
    known = rng.random(R.shape) < 0.8
    known[:, 0] = True
    model = ConditionalRiskMinimizer(Rankings(), kernel="rbf").fit(X, R, known=known)
    other = ConditionalRiskMinimizer(Rankings(), kernel="rbf").fit(X, np.where(known, R, np.nan))
    assert np.array_equal(model.predict(X), other.predict(X))
    assert model.partial_ is None


def test_candidates_and_losses_of_whole_outputs_are_decided():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    truth = np.array(["u", "v", "w"])[X.argmax(axis=1)]
    sets = [name if rng.random() < 0.5 else {name, rng.choice(["u", "v", "w"])} for name in truth]
    model = ConditionalRiskMinimizer(kernel="rbf").fit(X, sets)
    assert (model.predict(X) == truth).mean() > 0.85
    trace = model.disambiguation_.trace
    assert (np.diff(trace) <= 1e-9).all()
    X, Y, gap, _ = label_sets(n=60)
    model = ConditionalRiskMinimizer(loss="zero_one", kernel="rbf").fit(X, hidden(Y, gap))
    assert (model.outputs_[~gap] == Y[~gap]).all()


def test_censored_numbers_lie_within_their_limits():
    rng = np.random.default_rng(1)
    X = rng.uniform(-2, 2, (150, 1))
    t, limit = X[:, 0] + 0.2 * rng.normal(size=150), rng.uniform(-2, 2.5, 150)
    late = t > limit
    y = Censored(np.where(late, limit, t), np.where(late, np.inf, t))
    model = ConditionalRiskMinimizer(kernel="rbf").fit(X, y)
    naive = ConditionalRiskMinimizer(kernel="rbf").fit(X, np.where(late, limit, t))
    at = np.linspace(-1.5, 1.5, 20)[:, None]
    error, other = (np.abs(m.predict(at) - at[:, 0]).mean() for m in (model, naive))
    assert error < 0.25 * other
    assert (model.outputs_.ravel()[late] >= limit[late] - 1e-9).all()


def test_overlooked_labels_are_counted_in_by_their_propensity():
    X, Y, _, rng = label_sets(n=400)
    seen = (Y * (rng.random(Y.shape) < 0.4)).astype(int)
    plain = ConditionalRiskMinimizer(LabelSets(), "hamming", kernel="rbf").fit(X, seen)
    model = ConditionalRiskMinimizer(LabelSets(propensity=0.4), "hamming", kernel="rbf").fit(
        X, seen
    )
    wrong = [(m.predict(X) != Y).mean() for m in (plain, model)]
    assert wrong[1] < 0.25 < 0.4 < wrong[0]


def test_a_model_of_gaps_is_saved_and_read(tmp_path):
    X, Y, gap, _ = label_sets(n=60)
    for model in (
        ConditionalRiskMinimizer(LabelSets(), kernel="rbf"),
        ConditionalRiskMinimizer(LabelSets(), random_state=0),
    ):
        model.fit(X, hidden(Y, gap))
        save_model(model, tmp_path / "model.skstruct")
        read = load_model(tmp_path / "model.skstruct")
        assert np.array_equal(read.predict(X), model.predict(X))
        assert read.predict(X[:3], loss="f1").shape == (3, 3)


def test_weights_groups_and_a_label_that_nobody_knows():
    X, Y, gap, rng = label_sets(n=60)
    Z = hidden(Y, gap)
    groups, weight = rng.integers(20, size=60), rng.uniform(0.5, 2, 60)
    model = ConditionalRiskMinimizer(LabelSets(), kernel="rbf")
    assert model.fit(X, Z, weight, groups).search_.best["risk"] >= 0
    Z[:, 1] = np.nan
    with pytest.raises(ValueError, match=r"1 is not known in any row of Y"):
        model.fit(X, Z)


@pytest.mark.parametrize("trained_with_gaps", [True, False])
def test_rows_kept_apart_calibrate_by_what_is_known_of_them(trained_with_gaps):
    X, Y, gap, _ = label_sets(n=80)
    model = ConditionalRiskMinimizer(LabelSets(), kernel="rbf", alpha=1.0)
    model.fit(X, hidden(Y, gap) if trained_with_gaps else Y.astype(int))
    at, truth, gap, _ = label_sets(2, n=50)
    first = clone_of(model).calibrate(at, truth.astype(int), known=~gap).calibration_
    other = np.where(gap, 1 - truth, truth).astype(int)
    second = clone_of(model).calibrate(at, other, known=~gap).calibration_
    assert first.logistic.slope == second.logistic.slope
    assert np.array_equal(first.risks.value, second.risks.value)
    whole = clone_of(model).calibrate(at, truth.astype(int)).calibration_
    assert whole.logistic.slope != first.logistic.slope
    scored = model.score(at, hidden(truth, gap))
    assert scored == model.score(at, other, known=~gap) > model.score(at, truth.astype(int))


def clone_of(model):
    return copy.copy(model)
