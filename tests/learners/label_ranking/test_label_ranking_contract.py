# SPDX-License-Identifier: BSD-3-Clause
"""What every label ranker promises, whatever it learns by."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import kendalltau
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skstruct.kernels import RBF
from skstruct.learners import (
    ConstraintClassification,
    LabelRankingBoosting,
    LabelRankingSVM,
    NeighborLabelRanker,
    OnlineLabelRanker,
    PairwiseComparison,
    Reduction,
)
from skstruct.spaces import LabelSets, Rankings

RANKERS = {
    "pairs": PairwiseComparison(),
    "pairs, kendall": PairwiseComparison(aggregate="kendall"),
    "constraints": ConstraintClassification(),
    "constraints, some": ConstraintClassification(max_pairs=200, random_state=0),
    "svm": LabelRankingSVM(alpha=0.01, random_state=0),
    "svm, rbf": LabelRankingSVM(alpha=0.01, kernel="rbf", random_state=0),
    "svm, feedback": LabelRankingSVM(
        alpha=0.01, margin="feedback", decomposition="worse-items", random_state=0
    ),
    "boosting": LabelRankingBoosting(n_estimators=20, random_state=0),
    "boosting, better items": LabelRankingBoosting(
        n_estimators=20, decomposition="better-items", random_state=0
    ),
    "boosting, worse items": LabelRankingBoosting(
        n_estimators=20, decomposition="worse-items", random_state=0
    ),
    "perceptron": OnlineLabelRanker(method="perceptron", random_state=0),
    "passive-aggressive": OnlineLabelRanker(random_state=0, alpha=1.0),
    "primal-dual": OnlineLabelRanker(
        method="primal-dual", decomposition="better-items", random_state=0, alpha=1.0
    ),
    "multiplicative": OnlineLabelRanker(
        method="multiplicative", decomposition="whole", random_state=0, alpha=5.0, max_iter=5
    ),
    "neighbors": NeighborLabelRanker(),
    "neighbors, footrule": NeighborLabelRanker(n_neighbors=5, loss="footrule"),
}
LINEAR = [
    "pairs", "pairs, kendall", "constraints", "svm", "svm, feedback", "perceptron",
    "passive-aggressive", "primal-dual", "multiplicative",
]  # fmt: skip
NOT_SORTED = ["pairs, kendall", "neighbors", "neighbors, footrule"]  # decoded by a loss
ITEMS = ("ale", "gin", "rum", "tea")


def ranked(scores):
    """Ranks from 1 by falling score, the slow, obvious way."""
    rows = [sorted(range(len(s)), key=lambda j, s=s: -s[j]) for s in scores]
    return np.array([[order.index(j) + 1 for j in range(len(order))] for order in rows])


RNG = np.random.default_rng(0)
TRUTH = RNG.standard_normal((3, 4))
X = RNG.standard_normal((200, 3))
Y = ranked(X @ TRUTH)
X, X_NEW, Y, Y_NEW = X[:120], X[120:], Y[:120], Y[120:]

with_every_ranker = pytest.mark.parametrize("name", RANKERS)


def thinned(Y, seed=0):
    """The same rankings with ties and missing entries; every row keeps some."""
    rng = np.random.default_rng(seed)
    Z = Y.astype(float)
    Z[Z == 3] = 2
    Z[np.arange(len(Z)), rng.integers(Z.shape[1], size=len(Z))] = np.nan
    return Z


def names(Y):
    return [[ITEMS[j] for j in np.argsort(row)] for row in Y]


@pytest.mark.slow
@with_every_ranker
def test_arrays_in_arrays_out(name):
    model = clone(RANKERS[name]).fit(X, Y)
    predicted = model.predict(X_NEW)
    assert predicted.dtype == Y.dtype
    assert_array_equal(np.sort(predicted, axis=1), np.tile([1, 2, 3, 4], (len(X_NEW), 1)))
    assert model.decision_function(X_NEW).shape == (len(X_NEW), 4)
    assert isinstance(model.reduction_, Reduction)
    assert model.n_features_in_ == 3
    if name not in NOT_SORTED:
        assert_array_equal(predicted, ranked(model.decision_function(X_NEW)))


@pytest.mark.parametrize("name", LINEAR)
def test_linear_rankings_are_learned(name):
    assert clone(RANKERS[name]).fit(X, Y).score(X_NEW, Y_NEW) > 0.9


@pytest.mark.slow
@with_every_ranker
def test_score_is_the_mean_tau(name):
    model = clone(RANKERS[name]).fit(X, Y)
    taus = [kendalltau(z, y).statistic for z, y in zip(model.predict(X_NEW), Y_NEW)]
    assert_allclose(model.score(X_NEW, Y_NEW), np.mean(taus))
    assert np.mean(taus) > 0.7
    weights = np.arange(len(taus))
    assert_allclose(model.score(X_NEW, Y_NEW, weights), np.average(taus, weights=weights))


@pytest.mark.slow
@with_every_ranker
def test_names_and_frames(name):
    plain = clone(RANKERS[name]).fit(X, Y).predict(X_NEW)
    listed = clone(RANKERS[name]).fit(X, names(Y)).predict(X_NEW)
    assert list(listed) == names(plain)
    frame = pd.DataFrame(X, columns=list("abc"))
    new = pd.DataFrame(X_NEW, columns=list("abc"), index=[f"row {i}" for i in range(len(X_NEW))])
    Y_frame = pd.DataFrame(Y, columns=list(ITEMS), index=frame.index)
    model = clone(RANKERS[name]).fit(frame, Y_frame)
    predicted = model.predict(new)
    assert_array_equal(predicted.to_numpy(), plain)
    assert list(predicted.columns) == list(ITEMS)
    assert list(predicted.index) == list(new.index)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    series = pd.Series(names(Y), name="drinks")
    predicted = clone(RANKERS[name]).fit(frame, series).predict(new)
    assert list(predicted) == names(plain)
    assert predicted.name == "drinks"
    with pytest.raises(ValueError, match="feature names"):
        model.predict(new[["b", "a", "c"]])


@pytest.mark.slow
@with_every_ranker
def test_ratings(name):
    model = clone(RANKERS[name]).set_params(space=Rankings(scores=True))
    predicted = model.fit(X, X @ TRUTH).predict(X_NEW)
    if name == "svm, feedback":  # ratings say more than ranks
        assert model.score(X_NEW, X_NEW @ TRUTH) > 0.9
        return
    plain = clone(RANKERS[name]).fit(X, Y).predict(X_NEW)
    assert_allclose(predicted, 5 - plain)  # the best has the largest score


@with_every_ranker
def test_partial_rankings(name):
    Z = thinned(Y)
    model = clone(RANKERS[name]).fit(X, Z)
    assert_array_equal(np.sort(model.predict(X_NEW), axis=1), np.tile([1, 2, 3, 4], (80, 1)))
    assert model.score(X_NEW, thinned(Y_NEW, 1)) > 0.7
    ties = np.vstack([thinned(Y_NEW, 1), [[2.0] * 4]])  # the last row orders nothing
    more = np.vstack([X_NEW, X_NEW[:1]])
    assert_allclose(model.score(more, ties), model.score(X_NEW, ties[:-1]))
    with pytest.raises(ValueError, match="no row has one"):
        model.score(X_NEW[:1], [[2.0] * 4])


@with_every_ranker
def test_top_lists(name):
    lists = [row[:2] for row in names(Y)]
    predicted = clone(RANKERS[name]).fit(X, lists).predict(X_NEW, restrict={"top": 2})
    hits = [set(z) == set(row[:2]) for z, row in zip(predicted, names(Y_NEW))]
    assert all(len(z) == 2 for z in predicted)
    assert np.mean(hits) > 0.6


@pytest.mark.slow
@with_every_ranker
def test_constraints_at_prediction_time(name):
    model = clone(RANKERS[name]).fit(X, names(Y))
    free, bound = model.predict(X_NEW), model.predict(X_NEW, restrict={"before": [("tea", "gin")]})
    assert all(row.index("tea") < row.index("gin") for row in bound)
    assert not all(row.index("tea") < row.index("gin") for row in free)
    kept = [b == f for f, b in zip(free, bound) if f.index("tea") < f.index("gin")]
    assert all(kept)  # what obeys already stays
    model = clone(RANKERS[name]).set_params(space=Rankings(ITEMS).restrict(top=1)).fit(X, names(Y))
    assert {len(row) for row in model.predict(X_NEW)} == {1}
    with pytest.raises(ValueError, match="restrict is a dictionary with some of positions"):
        model.predict(X_NEW, restrict={"max_size": 2})


@pytest.mark.parametrize("name", RANKERS)
def test_one_item(name):
    model = clone(RANKERS[name]).fit(X, np.ones((120, 1), int))
    assert_array_equal(model.predict(X_NEW), np.ones((80, 1)))
    assert model.decision_function(X_NEW).shape == (80, 1)


@with_every_ranker
def test_two_items(name):
    two = ranked(X @ TRUTH[:, :2])
    model = clone(RANKERS[name]).fit(X, two)
    assert model.score(X_NEW, ranked(X_NEW @ TRUTH[:, :2])) > 0.7


@with_every_ranker
def test_the_same_order_in_every_row(name):
    model = clone(RANKERS[name]).fit(X, np.tile([2, 1, 4, 3], (120, 1)))
    assert_array_equal(model.predict(X_NEW), np.tile([2, 1, 4, 3], (80, 1)))


@with_every_ranker
def test_constant_features_say_nothing(name):
    order = np.array([[1, 2, 3], [1, 3, 2], [1, 2, 3]])[np.arange(60) % 3]
    predicted = clone(RANKERS[name]).fit(np.ones((60, 2)), order).predict(np.ones((5, 2)))
    assert (predicted == predicted[0]).all()
    if "neighbors" not in name:  # of rows equally near, some are taken
        assert predicted[0].tolist() == [1, 2, 3]


@pytest.mark.slow
@with_every_ranker
def test_sparse_inputs(name):
    dense, new = (np.where(np.abs(rows) > 0.2, rows, 0.0) for rows in (X, X_NEW))
    model = clone(RANKERS[name]).fit(dense, Y)
    for kind in (sparse.csr_array, sparse.csc_matrix):
        thin = clone(RANKERS[name]).fit(kind(dense), Y)
        assert_allclose(thin.decision_function(kind(new)), model.decision_function(new), atol=1e-4)


@pytest.mark.slow
@with_every_ranker
def test_copies_and_repetition(name):
    X_before, Y_before = X.copy(), Y.copy()
    model = clone(RANKERS[name]).fit(X, Y)
    assert_array_equal(X, X_before)
    assert_array_equal(Y, Y_before)
    expected = model.decision_function(X_NEW)
    for other in (clone(model).fit(X, Y), pickle.loads(pickle.dumps(model)), model.fit(X, Y)):
        assert_array_equal(other.decision_function(X_NEW), expected)
        assert_array_equal(other.predict(X_NEW), model.predict(X_NEW))
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    with pytest.raises(NotFittedError):
        clone(model).decision_function(X)
    one_by_one = [model.predict(row[None])[0] for row in X_NEW]
    assert_array_equal(one_by_one, model.predict(X_NEW))


@with_every_ranker
def test_the_space_given_stays_as_it_is(name):
    space = Rankings(ITEMS)
    model = clone(RANKERS[name]).set_params(space=space).fit(X, names(Y))
    assert not hasattr(space, "format_")
    assert model.space_.items_ == ITEMS
    assert sorted(model.predict(X_NEW)[0]) == sorted(ITEMS)


@pytest.mark.slow
@with_every_ranker
def test_scikit_learn_tools(name):
    pipeline = make_pipeline(StandardScaler(), clone(RANKERS[name]))
    assert cross_val_score(pipeline, X, Y, cv=3).min() > 0.6
    if name == "svm":
        search = GridSearchCV(clone(RANKERS[name]), {"alpha": [0.001, 10.0]}, cv=3).fit(X, Y)
        assert search.best_params_ == {"alpha": 0.001}


BAD = X.copy()
BAD[2, 1] = np.inf
BAD_FITS = [
    (BAD, Y, "infinity"),
    (X[0], Y, "2D array"),
    (X, Y[:5], r"\[120, 5\]"),
    (X[:0], Y[:0], "0 sample"),
    (X, Y - 1, r"ranks from 1 \(best\) to 4"),
    (X, Y[:, 0], r"Y\[0\] is"),
    (X, None, "requires y to be passed"),
    (X, np.full((120, 4), 2.5), "no row of y orders any"),
    (X, np.where(np.arange(4) == 1, 1.0, np.nan) * np.ones((120, 1)), "no row of y orders any"),
]


@pytest.mark.filterwarnings("ignore:Rankings")  # items that are ranked in no row
@pytest.mark.parametrize(("inputs", "outputs", "message"), BAD_FITS)
@with_every_ranker
def test_bad_fits(name, inputs, outputs, message):
    with pytest.raises(ValueError, match=message):
        clone(RANKERS[name]).fit(inputs, outputs)


@with_every_ranker
def test_bad_predictions(name):
    model = clone(RANKERS[name]).fit(X, names(Y))
    with pytest.raises(ValueError, match=f"2 features, but {type(model).__name__}"):
        model.predict(X_NEW[:, :2])
    with pytest.raises(ValueError, match="infinity"):
        model.predict(BAD)
    with pytest.raises(ValueError, match="'mead'"):
        model.score(X_NEW[:1], [["mead", "tea"]])
    with pytest.raises(ValueError, match=r"\[80, 1\]"):
        model.score(X_NEW, [["tea", "rum"]])


BAD_PARAMETERS = [
    ("pairs", {"space": LabelSets()}, "predicts Rankings; the space is LabelSets"),
    ("neighbors", {"space": LabelSets()}, "predicts Rankings; the space is LabelSets"),
    ("pairs", {"aggregate": "borda"}, "got 'borda'"),
    ("constraints", {"max_pairs": 0}, "max_pairs is a whole number from 1; got 0"),
    ("svm", {"alpha": 0}, "alpha is a positive and finite number.*got 0"),
    ("svm", {"alpha": np.inf}, "alpha is a positive and finite number.*got inf"),
    ("svm", {"max_iter": 0}, "max_iter is a whole number"),
    ("svm", {"kernel": "gauss"}, "Unknown kernel 'gauss'"),
    ("svm", {"kernel": RBF(-1.0)}, "gamma must be positive"),
    ("boosting", {"decomposition": "trees"}, "decomposition is one of .*; got 'trees'"),
    ("boosting", {"decomposition": ["pairs"]}, r"decomposition is one of .*; got \['pairs'\]"),
    ("svm", {"decomposition": "stars"}, "decomposition is one of .*; got 'stars'"),
    ("svm", {"margin": 2.0}, 'margin is "unit" or "feedback"; got 2.0'),
    ("primal-dual", {"decomposition": "stars"}, "decomposition is one of .*; got 'stars'"),
    ("primal-dual", {"margin": "wide"}, "margin is .*; got 'wide'"),
    ("multiplicative", {"radius": 0.0}, "radius is a positive and finite number; got 0.0"),
    ("multiplicative", {"radius": "auto"}, "radius is a positive and finite number; got 'auto'"),
    ("boosting", {"n_estimators": 0}, "n_estimators is a whole number"),
    ("boosting", {"learning_rate": 0.0}, "learning_rate is in"),
    ("perceptron", {"method": "newton"}, "got 'newton'"),
    ("perceptron", {"alpha": -1.0}, "alpha is a positive"),
    ("perceptron", {"max_iter": 0}, "max_iter is a whole number"),
    ("neighbors", {"n_neighbors": "few"}, "got 'few'"),
    ("neighbors", {"n_neighbors": []}, r"or several; got \[\]"),
    ("neighbors", {"n_neighbors": 0}, "n_neighbors must be a whole number"),
    ("neighbors", {"n_neighbors": [3, 0]}, "n_neighbors must be a whole number"),
    ("neighbors", {"weights": "near"}, "got 'near'"),
    ("neighbors", {"loss": "tau"}, "Unknown loss 'tau'"),
]


@pytest.mark.parametrize(("name", "parameters", "message"), BAD_PARAMETERS)
def test_bad_parameters(name, parameters, message):
    with pytest.raises(ValueError, match=message):
        clone(RANKERS[name]).set_params(**parameters).fit(X, Y)
