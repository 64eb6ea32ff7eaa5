# SPDX-License-Identifier: BSD-3-Clause
"""Exponential families: the user's formats, constraints, draws, bad input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from skstruct import ExponentialFamily
from skstruct.exceptions import InfeasibleError
from skstruct.learners import AnnealedChains, PersistentChains
from skstruct.losses import Kendall, ZeroOne, resolve_loss
from skstruct.spaces import Hierarchy, Interval, LabelSets, Rankings, Targets
from skstruct.testing.spaces import assert_drawn_from

X = np.random.default_rng(0).normal(size=(40, 3))
SETS = [{"sun", "sea"} if x[0] > 0.5 else {"sun"} if x[0] > -0.5 else set() for x in X]


def test_the_users_own_names_come_back():
    model = ExponentialFamily(LabelSets(), alpha=1e-3, fit_intercept=False).fit(X, SETS)
    assert set().union(*model.predict(X)) <= {"sun", "sea"}
    drawn = model.sample(X[:2], 5, rng=0)
    assert len(drawn) == 2
    assert all(isinstance(labels, set) for labels in drawn[0])
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"sea": [int("sea" in s) for s in SETS],
                              "sun": [int("sun" in s) for s in SETS]})  # fmt: skip
    inputs = pandas.DataFrame(X, index=[f"row {i}" for i in range(40)])
    inputs.columns = [f"x{j}" for j in range(3)]
    found = ExponentialFamily(alpha=1e-3, fit_intercept=False).fit(inputs, frame).predict(inputs)
    assert list(found.columns) == ["sea", "sun"]
    assert list(found.index) == list(inputs.index)


def test_draws_have_the_probabilities_of_the_model():
    model = ExponentialFamily(LabelSets(["sea", "sun"]), alpha=0.01, fit_intercept=False).fit(
        X, SETS
    )
    drawn = model.space_.validate(model.sample(X[:1], 3000, rng=0)[0])
    outputs = model.space_.enumerate()
    names = model.space_.restore(outputs)
    probabilities = np.exp(model.log_proba(np.repeat(X[:1], len(outputs), axis=0), names))
    assert probabilities.sum() == pytest.approx(1)
    assert_drawn_from(drawn, outputs, probabilities)


def test_constraints_at_prediction_condition_the_distribution():
    space = Hierarchy([("all", "left"), ("all", "right"), ("left", "deep")])
    rng = np.random.default_rng(1)
    outputs = space.enumerate()
    Y = space.restore(outputs[rng.integers(len(outputs), size=40)])
    model = ExponentialFamily(space, alpha=0.01, fit_intercept=False).fit(X, Y)
    known = {"include": ["left"]}
    allowed = outputs[outputs[:, 1] == 1]
    log_probability = np.array(
        [model.log_proba(X, space.restore(np.repeat(z[None], 40, axis=0))) for z in allowed]
    )
    probabilities = np.exp(log_probability) / np.exp(log_probability).sum(axis=0)
    assert_allclose(
        model.predict_marginals(X, restrict=known), probabilities.T @ allowed, atol=1e-9
    )
    found = model.space_.validate(model.predict(X, restrict=known))
    assert_array_equal(found, allowed[probabilities.argmax(axis=0)])
    excluded = model.log_proba(X[:1], space.restore(outputs[:1]), restrict={"include": ["all"]})
    assert excluded[0] == -np.inf
    by_row = {"include": [["left"], ["right"]]}
    both = model.predict_marginals(X[:2], restrict=by_row)
    assert_allclose(both[0], model.predict_marginals(X[:1], restrict=known)[0])
    assert both[1, 2] == pytest.approx(1)


def test_partial_rankings_stand_for_all_that_agree():
    Y = [["a", "b", "c"], ["a", "c"], ["b", "a", "c"]] * 5
    space = Rankings(["a", "b", "c"], "pairs", unlisted="unknown")
    model = ExponentialFamily(space, alpha=0.1, fit_intercept=False).fit(np.ones((15, 1)), Y)
    psi = Targets.of(space.fit(Y)).targets(space.validate(Y))
    means = model.predict_marginals([[1.0]], raw=True)[0]
    assert_allclose(means + 2 * 0.1 * model.coef_[:, 0], psi.mean(axis=0), atol=1e-4)
    probabilities = np.exp(model.log_proba(np.ones((6, 1)), space.restore(space.enumerate())))
    assert probabilities.sum() == pytest.approx(1)


def test_it_is_chosen_by_scikit_learn():
    model = ExponentialFamily(LabelSets(["sea", "sun"]), alpha=1e-3, fit_intercept=True)
    search = GridSearchCV(model, {"alpha": [1e-3, 100.0]}, cv=3).fit(X, np.array(SETS))
    assert search.best_params_ == {"alpha": 1e-3}


def test_k_best_and_scores():
    model = ExponentialFamily(LabelSets(["sea", "sun"]), alpha=0.01, fit_intercept=False).fit(
        X, SETS
    )
    best = model.kbest(X, 4)
    assert_allclose(np.exp(-best.values - model.partition(X).values[:, None]).sum(axis=1), 1.0)
    wrong = np.mean([a != b for a, b in zip(model.predict(X), SETS)])
    assert model.score(X, SETS, loss="zero_one") == -wrong
    assert model.score(X, SETS, loss="hamming") > -1


def test_blocks_change_nothing():
    whole = ExponentialFamily(LabelSets(["sea", "sun"]), alpha=1e-3, fit_intercept=False).fit(
        X, SETS
    )
    parts = ExponentialFamily(LabelSets(["sea", "sun"]), alpha=1e-3, fit_intercept=False).fit(
        X, SETS
    )
    assert_allclose(parts.coef_, whole.coef_)
    assert_allclose(parts.predict_marginals(X), whole.predict_marginals(X))
    assert_allclose(parts.partition(X).values, whole.partition(X).values)


# ------------------------------------------------------------------ bad input
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 0}, "alpha is a positive and finite number.* got 0"),
        ({"alpha": -1.0}, "alpha is a positive and finite number"),
        ({"alpha": np.nan}, "alpha is a positive and finite number"),
        ({"alpha": "best"}, "alpha is a positive number, several, or"),
        ({"alpha": [1.0, 0.0]}, "alpha is a positive and finite number"),
        ({"solver": "guess"}, "solver is one of"),
        ({"solver": None}, "solver is one of"),
        ({"solver": PersistentChains(n_chains=0)}, "n_chains is a whole number from 1; got 0"),
        ({"solver": AnnealedChains(n_sweeps=0)}, "n_sweeps"),
        ({"solver": PersistentChains(n_draws=2.5)}, "n_draws"),
        ({"max_iter": 0}, "max_iter"),
        ({"solver": PersistentChains(eps=0)}, "eps is above 0"),
        ({"solver": PersistentChains(eps=1.5)}, "eps is above 0"),
        ({"solver": PersistentChains(delta=1.0)}, "delta is above 0 and below 1"),
        ({"tol": 0}, "tol is a positive number"),
        ({"n_landmarks": 0}, "n_landmarks"),
        ({"solver": PersistentChains(proposals="far")}, "proposals is one of"),
    ],
)
def test_parameters(arguments, message):
    with pytest.raises(ValueError, match=message):
        ExponentialFamily(LabelSets(), **{"alpha": 1e-3, **arguments}).fit(X, SETS)


def test_spaces_that_do_not_fit():
    with pytest.raises(ValueError, match="space of numbers"):
        ExponentialFamily(Interval(), alpha=1.0, fit_intercept=False).fit(X, X[:, 0])
    many = np.argsort(np.random.default_rng(0).random((40, 40)), axis=1) + 1
    with pytest.raises(ValueError, match="no exact distribution"):
        ExponentialFamily(Rankings(), alpha=1e-3, solver="exact", fit_intercept=False).fit(X, many)
    with pytest.raises(ValueError, match=r"y\[\d+\] is outside of LabelSets"):
        ExponentialFamily(
            LabelSets(["sea", "sun"], max_size=1), alpha=1e-3, fit_intercept=False
        ).fit(X, SETS)


def test_inputs_that_do_not_fit():
    model = ExponentialFamily(LabelSets(), alpha=1e-3, fit_intercept=False).fit(X, SETS)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])
    with pytest.raises(ValueError, match="inconsistent"):
        model.log_proba(X[:3], SETS[:2])
    with pytest.raises(ValueError, match="n is a whole number from 1"):
        model.sample(X, 0)
    with pytest.raises(ValueError, match="non-zero"):
        model.fit(X, SETS, sample_weight=np.zeros(40))
    assert model.predict(X[:1])  # the failed fit left the old model


def test_training_that_stops_early_says_so():
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        ExponentialFamily(LabelSets(), max_iter=1, alpha=1e-6, tol=1e-9, fit_intercept=False).fit(
            X, SETS
        )
    with pytest.warns(ConvergenceWarning, match="raise max_iter or n_chains"):
        ExponentialFamily(
            LabelSets(),
            alpha=1e-3,
            max_iter=2,
            tol=1e-12,
            solver="contrastive",
            random_state=0,
            fit_intercept=False,
        ).fit(X, SETS)


# ------------------------------------------------------------------ losses of all kinds
def expected_losses(model, loss, X):
    """Expected losses of all outputs, row by row, with everything listed; and the outputs."""
    outputs = model.space_.enumerate()
    psi = model.space_.embed(outputs)
    psi = psi.toarray() if hasattr(psi, "toarray") else np.asarray(psi, dtype=float)
    values = model.decision_function(X) @ psi.T
    probabilities = np.exp(values - values.max(axis=1, keepdims=True))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    losses = np.array([loss(np.broadcast_to(z, outputs.shape), outputs) for z in outputs])
    return probabilities @ losses.T


@pytest.mark.parametrize("loss", ["rank", Kendall(normalize=True), "spearman", "footrule"])
@pytest.mark.parametrize("embedding", ["pairs", "positions"])
def test_losses_whose_truths_are_embedded_otherwise(loss, embedding):
    ranks = np.argsort(np.argsort(X[:, :3] + 0.5 * X[:, [2, 0, 1]], axis=1), axis=1) + 1
    model = ExponentialFamily(
        Rankings(["a", "b", "c"], embedding), alpha=0.05, fit_intercept=False
    ).fit(X, ranks)
    bound = resolve_loss(loss).bind(model.space_)
    risks = expected_losses(model, bound, X)
    assert_allclose(model.decode(X, loss=loss).values, risks.min(axis=1), atol=1e-9)


def test_a_loss_of_the_users_own_counts_all_outputs():
    model = ExponentialFamily(LabelSets(["sea", "sun"]), alpha=1.0, fit_intercept=False).fit(
        X, SETS
    )
    own = model.decode(X, loss=lambda z, y: float(len(z ^ y)))
    assert_allclose(own.values, model.decode(X, loss="hamming").values)
    some = model.predict(X, loss=ZeroOne(candidates=[{"sun"}, {"sea"}]))
    assert all(labels in ({"sun"}, {"sea"}) for labels in some)
    many = ExponentialFamily(LabelSets(range(15)), alpha=1.0, fit_intercept=False)
    many.fit(X, (np.random.default_rng(0).random((40, 15)) < 0.5).astype(int))
    with pytest.raises(ValueError, match="table over all outputs"):
        many.predict(X, loss=lambda z, y: 1.0)


def test_constraints_of_rows_are_those_of_new_rows():
    model = ExponentialFamily(LabelSets(["sea", "sun"]), alpha=1e-3, fit_intercept=False).fit(
        X, SETS
    )
    constraints = {"include": [["sea"], ["sun"]]}
    for answer in (model.predict_marginals, model.partition, model.sample):
        with pytest.raises(ValueError, match="2 rows"):
            answer(X[:3], restrict=constraints)
    assert model.predict_marginals(X[:2], restrict=constraints).shape == (2, 2)


def test_rankings_outside_of_the_constraints():
    ranks = np.array([[1, 2, 3], [2, 1, 3]] * 20)
    space = Rankings(["a", "b", "c"], "pairs").restrict(before=[("a", "b")])
    with pytest.raises(ValueError, match=r"y\[1\] is outside of Rankings"):
        ExponentialFamily(space, alpha=1e-3, fit_intercept=False).fit(X, ranks)
    model = ExponentialFamily(
        Rankings(["a", "b", "c"], "pairs"), alpha=1e-3, fit_intercept=False
    ).fit(X, ranks)
    with pytest.raises(ValueError, match=r"y\[1\] has ties"):
        model.log_proba(X[:2], np.array([[1, 2, 3], [1, 2, 2]]))


def test_a_kernel_of_zeros_has_no_features():
    model = ExponentialFamily(
        LabelSets(["sea", "sun"]), alpha=1e-3, kernel="precomputed", fit_intercept=False
    )
    assert model.fit(np.zeros((40, 40)), SETS).objective_ == pytest.approx(np.log(4))


def test_inputs_that_are_far_too_large_say_so():
    with pytest.warns(ConvergenceWarning, match="scale the inputs"):
        model = ExponentialFamily(LabelSets(["sea", "sun"]), alpha=1e-3, fit_intercept=False).fit(
            X * 1e150, SETS
        )
    assert model.objective_ <= np.log(4) + 1e-9


def test_the_row_that_has_no_output_is_named():
    model = ExponentialFamily(LabelSets(["sea", "sun"]), alpha=1e-3, fit_intercept=False).fit(
        X, SETS
    )
    constraints = {"include": [["sun"]] * 7 + [["sea"]], "exclude": [[]] * 7 + [["sea"]]}
    for answer in (model.predict, model.predict_marginals, model.partition, model.sample):
        with pytest.raises(InfeasibleError, match="row 7"):
            answer(X[:8], restrict=constraints)


def test_the_first_few_places_have_a_probability():
    ranks = np.argsort(np.argsort(X, axis=1), axis=1) + 1
    model = ExponentialFamily(Rankings(["a", "b", "c"]), alpha=0.05, fit_intercept=False).fit(
        X, ranks
    )
    top = {"top": 1}
    drawn = model.sample(X[:1], 20, rng=0, restrict=top)[0]
    probabilities = np.exp(model.log_proba(np.repeat(X[:1], 20, axis=0), drawn, restrict=top))
    assert ((probabilities > 0) & (probabilities < 1)).all()
