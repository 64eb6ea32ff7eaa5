# SPDX-License-Identifier: BSD-3-Clause
"""Weights of classes, counted or given, against repeated rows and scikit-learn's numbers."""

from itertools import pairwise, product

import networkx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight

from skstruct import (
    ConditionalRiskMinimizer,
    CountingRidge,
    ExponentialFamily,
    StructuredPerceptron,
    StructuredSVM,
)
from skstruct.kernels import RBF
from skstruct.learners import MaxMarginTree
from skstruct.learners.max_margin.problem import ChainMargins
from skstruct.losses import (
    CostMatrix,
    Deciding,
    Hamming,
    Levels,
    Listed,
    SequenceHamming,
    ZeroOne,
    pair,
)
from skstruct.losses.costs import balanced_labels, balanced_weights
from skstruct.losses.names import resolve_loss
from skstruct.model_selection import evaluate, loss_scorer
from skstruct.persistence import load_model, save_model
from skstruct.smoothing import NadarayaWatson
from skstruct.spaces import Classes, GraphNodes, LabelSets, Sequences
from skstruct.testing import check_loss

NAMES = np.array(["ash", "elm", "oak"])


def rows(seed=0, n=60):
    """Classes of different frequencies; 30, 20 and 10 of 60."""
    rng = np.random.default_rng(seed)
    number = np.repeat([0, 1, 2], [n // 2, n // 3, n - n // 2 - n // 3])
    X = rng.standard_normal((3, 2))[number] + rng.standard_normal((n, 2))
    return X, NAMES[number]


# ---------------------------------------------------------------------- what balanced means
@given(st.lists(st.integers(0, 4), min_size=1, max_size=30))
def test_balanced_classes_are_those_of_scikit_learn(numbers):
    counts = np.bincount(numbers, minlength=6)
    seen = np.flatnonzero(counts)
    expected = compute_class_weight("balanced", classes=seen, y=numbers)
    assert_allclose(balanced_weights(counts)[seen], expected)
    assert (balanced_weights(counts)[counts == 0] == 1).all()


@given(st.integers(1, 12), st.integers(1, 4), st.integers(0, 10**6))
def test_balanced_labels_are_two_classes_each(n, d, seed):
    Y = (np.random.default_rng(seed).random((n, d)) < 0.3).astype(int)
    inside, outside = balanced_labels(Y)
    for j in range(d):
        weights = compute_sample_weight("balanced", Y[:, j])
        assert_allclose(np.where(Y[:, j] == 1, inside[j], outside[j]), weights)
        assert_allclose(weights.mean(), 1.0)
    # Whoever does not look at the inputs pays a half for each label that has two classes.
    _, loss = pair(Hamming(class_weight="balanced"), LabelSets(range(d)), Y)
    two = (Y.min(axis=0) < Y.max(axis=0)).sum()
    for constant in (np.zeros_like(Y), np.ones_like(Y)):
        varied = np.where(Y.min(axis=0) < Y.max(axis=0), constant, Y)
        assert_allclose(loss(varied, Y).mean(), two / 2)


def test_a_label_is_taken_where_it_is_more_probable_than_on_average():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((70, 2))
    Y = (X @ rng.standard_normal((2, 4)) + rng.standard_normal((70, 4)) > 1).astype(int)
    model = ConditionalRiskMinimizer(LabelSets(), Hamming(class_weight="balanced"), alpha=1.0)
    model.fit(X, Y)
    means = model.smoother_.predict(X)[:, :4]
    assert_array_equal(model.predict(X), means > Y.mean(axis=0))


def test_numbers_of_labels_are_factors_of_misses():
    space, Y = LabelSets(["a", "b"]), np.array([[1, 0], [0, 1]])
    given = Hamming(miss=2, alarm=3, class_weight={"b": 5}).bind(space)
    assert_array_equal(given.pairwise(Y, Y), Hamming(miss=[2, 10], alarm=3).pairwise(Y, Y))
    inside, outside = balanced_labels(Y)
    both = pair(Hamming([1, 2], miss=2, alarm=3, class_weight="balanced"), space, Y)[1]
    by_hand = Hamming([1, 2], miss=2 * inside, alarm=3 * outside)
    assert_allclose(both.pairwise(Y, Y), by_hand.pairwise(Y, Y))
    within = pair(Listed(Hamming(class_weight="balanced")), space, Y)[1]
    assert_allclose(within.matrix_, Hamming(miss=inside, alarm=outside).pairwise(Y, Y))


# ---------------------------------------------------------------------- classes
@pytest.mark.parametrize(
    "weight", ["balanced", {"oak": 3.0}, [1.0, 2.0, 0.5], pd.Series({"ash": 0.5})], ids=str
)
def test_by_definition_and_by_hand(weight):
    _, y = rows()
    space = Classes().fit(y)
    outputs = space.validate(y)
    loss = ZeroOne(class_weight=weight)
    check_loss(loss, space, np.arange(3))
    bound = pair(loss, space, outputs)[1]
    known = weight if not isinstance(weight, str) else [60 / 90, 60 / 60, 60 / 30]
    known = [dict(known).get(name, 1.0) for name in NAMES] if hasattr(known, "keys") else known
    expected = (1 - np.eye(3)) * np.array(known)  # [predicted, true]
    assert_allclose(bound.pairwise(np.arange(3), np.arange(3)), expected)
    assert Levels.of(bound).largest(space) == bound.range()[1] == np.max(expected)
    assert_allclose(Levels.of(bound).steps(outputs)[1], np.array(known)[outputs])
    assert not Levels.of(bound).all_or_nothing
    assert not Deciding.of(bound).prefers_most_probable


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.tuples(*[st.integers(1, 4)] * 3), st.integers(0, 1000))
def test_weights_are_repeated_rows_for_means(times, seed):
    """A smoother that averages decides as if rows were there as often as they weigh."""
    X, y = rows(seed, 24)
    new = np.random.default_rng(seed + 1).standard_normal((30, 2))
    smoother = NadarayaWatson(RBF(0.7))
    loss = ZeroOne(class_weight=dict(zip(NAMES.tolist(), times)))
    weighted = ConditionalRiskMinimizer(Classes(NAMES), loss, smoother=smoother).fit(X, y)
    often = np.repeat(np.arange(len(y)), [times[NAMES.tolist().index(name)] for name in y])
    plain = ConditionalRiskMinimizer(Classes(NAMES), smoother=smoother)
    repeated = clone(plain).fit(X[often], y[often])
    by_weight = clone(plain).fit(X, y, sample_weight=[dict(zip(NAMES, times))[name] for name in y])
    assert_array_equal(weighted.predict(new), repeated.predict(new))
    assert_array_equal(weighted.predict(new), by_weight.predict(new))


def test_balanced_is_the_sample_weight_of_scikit_learn_for_means():
    X, y = rows(3)
    model = ConditionalRiskMinimizer(Classes(), smoother=NadarayaWatson(RBF(0.5)))
    weighted = clone(model).fit(X, y, sample_weight=compute_sample_weight("balanced", y))
    balanced = clone(model).set_params(loss=ZeroOne(class_weight="balanced")).fit(X, y)
    assert_array_equal(weighted.predict(X), balanced.predict(X))
    assert_array_equal(
        balanced.predict(X),
        clone(model).fit(X, y).predict(X, loss="zero_one(class_weight='balanced')"),
    )
    assert (balanced.predict(X) != clone(model).fit(X, y).predict(X)).any()


@pytest.mark.slow
def test_slack_rescaling_by_class_is_weighing_rows():
    """The hinge times the weight of the true class: the same optimum, to the duality gap."""
    X, y = rows()
    svm = StructuredSVM(Classes(), "zero_one", alpha=0.1, tol=1e-6, random_state=0)
    weights = compute_sample_weight("balanced", y)
    by_row = clone(svm).fit(X, y, sample_weight=weights)
    svm.set_params(loss=ZeroOne(class_weight="balanced"), rescaling="slack")
    by_cost = clone(svm).fit(X, y)
    assert_allclose(by_cost.objective_, by_row.objective_, rtol=1e-5)
    assert_allclose(by_cost.scores_.weights_, by_row.scores_.weights_, atol=1e-2)


def test_certificates_know_the_largest_cost():
    X, y = rows()
    new, truth = rows(1)
    for loss, largest in ((ZeroOne(class_weight={"oak": 4.0}), 4.0),
                          (CostMatrix({"ash": {"elm": 5.0}}), 5.0)):  # fmt: skip
        model = ConditionalRiskMinimizer(Classes(), loss, alpha=10.0).fit(X, y)
        certificate = model.certify(new, truth)
        assert certificate.terms["largest loss"] == largest
        assert certificate.value >= -model.score(new, truth)


LEARNERS = [
    ConditionalRiskMinimizer(alpha=1.0),
    StructuredSVM(alpha=0.1, random_state=0),
    StructuredPerceptron(random_state=0),
    CountingRidge(alpha=1.0),
    ExponentialFamily(alpha=0.1, fit_intercept=False),
]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_every_learner_is_judged_saved_and_loaded(learner, tmp_path):
    X, y = rows()
    Y = np.random.default_rng(1).integers(0, 2, (60, 3))
    Y[:, 0] = X[:, 0] > 1
    for outputs, space, loss in (
        (y, Classes(), ZeroOne(class_weight="balanced")),
        (y, Classes(), CostMatrix({"oak": {"ash": 5.0}})),
        (Y, LabelSets(["a", "b", "c"]), Hamming(class_weight="balanced", miss={"a": 3})),
        (Y, LabelSets(["a", "b", "c"]), Hamming(miss=pd.Series({"a": 5.0}), alarm=[1, 2, 1])),
    ):
        model = clone(learner).set_params(space=space, loss=loss).fit(X, outputs)
        truth = model.space_.validate(outputs)
        bound = pair(loss, model.space_, truth)[1]
        predicted = model.space_.validate(model.predict(X))
        assert_allclose(model.score(X, outputs), -bound(predicted, truth).mean())
        save_model(model, tmp_path / "model", X=X)
        again = load_model(tmp_path / "model")
        assert again.score(X, outputs) == model.score(X, outputs)
        assert_array_equal(again.predict(X), model.predict(X))
        assert repr(again) == repr(model)
        estimates = evaluate(again, X, outputs, n_bootstrap=10)
        assert_allclose(estimates[0].mean, -model.score(X, outputs))
        assert np.isfinite(estimates[0].baseline)


@pytest.mark.slow
def test_margins_grow_with_costs():
    """A tree of labels and a structured SVM train for costs: rare labels are found more often."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 2))
    Y = (X + rng.standard_normal((120, 2)) > 1.2).astype(int)
    for learner in (StructuredSVM(LabelSets(), alpha=0.01, random_state=0),
                    StructuredSVM(LabelSets(), alpha=0.01, random_state=0, rescaling="slack"),
                    MaxMarginTree(alpha=0.01, random_state=0)):  # fmt: skip
        plain, costly = (
            clone(learner).set_params(loss=Hamming(miss=miss)).fit(X, Y).predict(X)
            for miss in (1.0, 6.0)
        )
        assert plain.sum() < costly.sum()


def test_parameters_of_the_loss_are_searched():
    X, y = rows()
    model = ConditionalRiskMinimizer(Classes(), ZeroOne(), alpha=1.0)
    grid = {"loss__class_weight": [None, "balanced"]}
    scoring = loss_scorer(ZeroOne(class_weight="balanced"))
    search = GridSearchCV(model, grid, cv=StratifiedKFold(3), scoring=scoring)
    assert search.fit(X, y).best_score_ < 0
    assert clone(Hamming(miss={"a": 2})).get_params()["miss"] == {"a": 2}


# ---------------------------------------------------------------------- tables of costs
def test_cost_matrices_in_every_format():
    C = np.array([[0.0, 5, 1], [1, 0, 1], [2, 1, 0]])  # [true, predicted]
    shuffled = ["oak", "ash", "elm"]
    frame = pd.DataFrame(C, NAMES, NAMES).loc[shuffled, shuffled[::-1]]
    mapping = {"ash": {"elm": 5}, "oak": {"ash": 2.0}}
    space = Classes(NAMES)
    everything = np.arange(3)
    for costs in (C, C.tolist(), frame, mapping):
        loss = CostMatrix(costs).bind(space)
        assert_array_equal(loss.pairwise(everything, everything), C.T)
        check_loss(CostMatrix(costs), space, everything)
        assert loss.range() == (0.0, 5.0)
        assert Levels.of(loss).largest(space) == 5.0
    assert_array_equal(CostMatrix(C)([1, 0], [0, 1]), [5, 1])
    assert_array_equal(CostMatrix().bind(space).matrix_, 1 - np.eye(3))
    check_loss(CostMatrix(C - 2.0), space, everything)  # gains
    graph = networkx.Graph([("ash", "elm"), ("elm", "oak")])
    check_loss(CostMatrix(mapping), GraphNodes(graph).fit(NAMES), everything)


def test_the_class_of_least_cost_is_predicted():
    X, y = rows()
    C = {"ash": {"elm": 5.0}, "oak": {"ash": 9.0}}
    model = ConditionalRiskMinimizer(Classes(), CostMatrix(C), alpha=1.0).fit(X, y)
    by_callable = model.predict(X, loss=lambda z, y: C.get(y, {}).get(z, 1.0) if z != y else 0.0)
    assert_array_equal(model.predict(X), by_callable)
    narrowed = model.predict(X, loss=CostMatrix(C, candidates=["ash", "elm"]))
    assert set(narrowed) <= {"ash", "elm"}


# ---------------------------------------------------------------------- sequences with features
def tagged(seed=0, n=30):
    rng = np.random.default_rng(seed)
    Y = ["".join(rng.choice(["o", "o", "o", "e"], rng.integers(1, 5))) for _ in range(n)]
    X = [np.array([[2.0 * (s == "e"), 1.0] for s in y]) + rng.standard_normal((len(y), 2))
         for y in Y]  # fmt: skip
    return X, Y


TAGGERS = [
    ConditionalRiskMinimizer(Sequences(), kernel="linear", alpha=1.0),
    ExponentialFamily(Sequences(), alpha=0.1, fit_intercept=False),
]
COSTLY = [SequenceHamming(miss={"e": 6}), SequenceHamming(0.5, miss={"e": 6}, alarm={"o": 2}),
          Hamming(class_weight="balanced")]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("loss", COSTLY, ids=repr)
@pytest.mark.parametrize("tagger", TAGGERS, ids=lambda learner: type(learner).__name__)
def test_taggers_take_the_sequence_of_least_risk(tagger, loss, tmp_path):
    """Risks of all sequences from single and pairwise probabilities, by the definition."""
    X, Y = tagged()
    model = clone(tagger).set_params(loss=loss).fit(X, Y)
    found = model.decode(X, loss=loss)
    plain = model.decode(X, loss=SequenceHamming(loss.get_params().get("bigrams", 0.0)))
    count = ["".join(z).count("e") for z in found.outputs]
    assert sum(count) > sum("".join(z).count("e") for z in plain.outputs)
    best = model.kbest(X[:6], 4, loss=loss)
    assert_allclose(best.values[:, 0], found.values[:6], atol=1e-9)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert_allclose(again.decode(X, loss=loss).values, found.values)
    assert again.score(X, Y) == model.score(X, Y)
    assert np.isfinite([estimate.baseline for estimate in evaluate(model, X, Y, losses=[loss])])


@pytest.mark.slow
def test_a_random_field_estimates_the_risk_of_its_decisions():
    """Over one short sequence the estimated risk is the mean over the model's own distribution."""
    X, Y = tagged()
    model = ExponentialFamily(Sequences(), alpha=0.1, fit_intercept=False).fit(X, Y)
    loss = SequenceHamming(0.5, miss={"e": 6}, alarm={"o": 2, "e": 0.5})
    x = [np.array([[1.0, 1.0], [0.5, 1.0], [1.5, 1.0]])]
    every = ["".join(z) for z in product("eo", repeat=3)]
    Z = model.space_.validate(every)
    p = np.exp([model.log_proba(x, [z])[0] for z in every])
    risks = loss.bind(model.space_).pairwise(Z, Z) @ p
    found = model.decode(x, loss=loss)
    assert_allclose(p.sum(), 1.0)
    assert_allclose(found.values[0], risks.min())
    assert "".join(found.outputs[0]) == every[risks.argmin()]


def test_decisions_from_token_means_are_the_best_of_all():
    X, Y = tagged(2)
    model = ConditionalRiskMinimizer(Sequences(), kernel="linear", alpha=1.0).fit(X, Y)
    loss = SequenceHamming(miss={"e": 6, "o": 0.5}, alarm={"o": 2}).bind(model.space_)
    found = model.decode(X, loss=loss)
    q = np.arange(2)[:, None]
    table = loss.pairwise(q, q)  # [predicted, true]
    means = np.split(model.smoother_.predict(np.vstack(X))[:, :2], np.cumsum(list(map(len, X))))
    for value, g in zip(found.values, means):
        assert_allclose(value, (g @ table.T).min(axis=1).sum(), atol=1e-7)


def test_the_most_violating_chain_is_that_of_all():
    """Score and loss together, over all sequences of the length of the truth."""
    Y = tagged(1, 8)[1]
    space = Sequences().fit(Y)
    outputs, lengths = space.validate(Y), np.array([len(y) for y in Y])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    loss = SequenceHamming(0.3, miss={"e": 8}, alarm={"e": 0.5, "o": 2})
    problem = ChainMargins(space, loss, outputs, starts)
    rng = np.random.default_rng(0)
    scores, transitions = rng.standard_normal((starts[-1], 2)), rng.standard_normal(4)
    found = problem.most_violating(scores, transitions, np.arange(len(Y)), 0.7)
    for i, y in enumerate(Y):
        here, best = scores[starts[i] : starts[i + 1]], -np.inf
        for z in product(range(2), repeat=len(y)):
            score = here[np.arange(len(z)), z].sum()
            score += sum(transitions[2 * a + b] for a, b in pairwise(z))
            padded = np.full((1, outputs.shape[1]), -1)
            padded[0, : len(z)] = z
            best = max(best, 0.7 * score + problem.loss(padded, outputs[[i]])[0])
        assert_allclose(found.bounds[i], best)


@pytest.mark.slow
def test_chains_with_margins_find_more_of_what_is_expensive_to_miss():
    X, Y = tagged(1, 40)
    counts = []
    for miss in (1.0, 8.0):
        loss = SequenceHamming(miss={"e": miss})
        model = StructuredSVM(Sequences(), loss, alpha=0.05, random_state=0).fit(X, Y)
        counts.append(sum("".join(z).count("e") for z in model.predict(X)))
    assert counts[0] < counts[1]


# ---------------------------------------------------------------------- texts and errors
def test_parameters_in_a_name():
    assert repr(resolve_loss("hamming(miss=5)")) == "Hamming(miss=5)"
    assert resolve_loss("zero_one(class_weight='balanced')").class_weight == "balanced"
    assert resolve_loss("fbeta(0.5)").beta == 0.5
    assert resolve_loss(" l2_l1() ").__class__.__name__ == "L2L1"
    assert resolve_loss("cost_matrix({'a': {'b': 5}})").costs == {"a": {"b": 5}}
    for loss in (Hamming(miss={"a": 5}, alarm=[1, 2.5]), ZeroOne(class_weight="balanced")):
        assert repr(resolve_loss(repr(loss))) == repr(loss)
    with pytest.raises(ValueError, match="parameters of Hamming are alarm, class_weight, miss"):
        resolve_loss("hamming(mis=5)")
    for text in ("hamming(miss=", "hamming(miss=open('x'))", "hamming(5)(6)", "hamming(**{})"):
        with pytest.raises(ValueError, match="is not understood: parameters are values"):
            resolve_loss(text)
    with pytest.raises(ValueError, match="Unknown loss 'ham"):
        resolve_loss("ham(miss=5)")


def test_weights_that_are_none():
    space = Classes(NAMES)
    with pytest.raises(ValueError, match=r"class_weight is .balanced., a mapping.* got 'even'"):
        pair(ZeroOne(class_weight="even"), space, np.arange(3))
    with pytest.raises(ValueError, match="needs outputs of training"):
        ZeroOne(class_weight="balanced").bind(space)
    with pytest.raises(ValueError, match="needs outputs of training"):
        Hamming(class_weight="balanced")([[1]], [[0]])
    with pytest.raises(ValueError, match="class_weight names 'fir'"):
        ZeroOne(class_weight={"fir": 2}).bind(space)
    with pytest.raises(ValueError, match=r"call bind\(space\) first"):
        ZeroOne(class_weight={"ash": 2})([0], [1])
    with pytest.raises(ValueError, match=r"one class each, as of Classes; got LabelSets.*Hamming"):
        pair(ZeroOne(class_weight="balanced"), LabelSets("ab"), np.eye(2, dtype=int))


def test_tables_that_are_none():
    space = Classes(NAMES)
    with pytest.raises(
        ValueError, match=r"have shape \(3, 3\), a row per true class; got \(2, 2\)"
    ):
        CostMatrix(np.eye(2)).bind(space)
    with pytest.raises(ValueError, match="cost of 'elm' where 'ash' is true is nan"):
        CostMatrix([[0, np.nan, 1]] * 3).bind(space)
    with pytest.raises(ValueError, match="'fir' is none of 'ash', 'elm', 'oak'"):
        CostMatrix({"ash": {"fir": 2}}).bind(space)
    with pytest.raises(ValueError, match=r"costs\['ash'\] maps predicted classes to costs; got 5"):
        CostMatrix({"ash": 5}).bind(space)
    with pytest.raises(ValueError, match="a row for each class; look at 'oak'"):
        CostMatrix(pd.DataFrame(np.eye(2), NAMES[:2], NAMES[:2])).bind(space)
    with pytest.raises(ValueError, match=r"call bind\(space\) first"):
        CostMatrix()([0], [1])
    with pytest.raises(ValueError, match="CostMatrix is for outputs that are one class each"):
        pair(CostMatrix(), LabelSets("ab"), np.eye(2, dtype=int))
