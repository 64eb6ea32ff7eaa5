# SPDX-License-Identifier: BSD-3-Clause
"""The structured SVM as an estimator: kernels, weights, forms, warm starts, bad input."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV

from skstruct.kernels import RBF
from skstruct.learners.max_margin.structured_svm import StructuredSVM
from skstruct.losses import Absolute, Hamming, HierarchicalLoss, Listed
from skstruct.spaces import Classes, Hierarchy, Interval, LabelSets, Rankings, Sequences
from skstruct.spaces.contracts import Guarantee

TREE = [("animal", "cat"), ("animal", "dog"), ("dog", "puppy")]


def data(n=30, p=3, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, (X @ rng.standard_normal((p, d)) + 0.5 * rng.standard_normal((n, d)) > 0).astype(int)


def svm(**options):
    return StructuredSVM(
        **{"space": LabelSets(), "alpha": 0.1, "tol": 1e-6, "random_state": 0, **options}
    )


# ------------------------------------------------------------------ inputs
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_kernel_of_inner_products_is_linear(rescaling, fit_intercept):
    X, Y = data()
    model = svm(rescaling=rescaling, fit_intercept=fit_intercept)
    linear = clone(model).fit(X, Y)
    kernelised = clone(model).set_params(kernel="precomputed").fit(X @ X.T, Y)
    assert_allclose(kernelised.objective_, linear.objective_, rtol=1e-5)
    scores = X @ linear.coef_.T + linear.intercept_
    assert_allclose(kernelised.scores_.predict(X @ X.T), scores, atol=0.02)
    assert_array_equal(kernelised.predict(X @ X.T), linear.predict(X))
    with pytest.raises(AttributeError, match="linear"):
        kernelised.coef_  # noqa: B018


def test_kernels_by_name_callable_and_landmarks():
    X, Y = data(20)
    K = rbf_kernel(X, gamma=0.5)
    by_matrix = svm(kernel="precomputed").fit(K, Y)
    by_name = svm(kernel=RBF(0.5)).fit(X, Y)
    by_function = svm(kernel=lambda A, B: rbf_kernel(A, B, gamma=0.5)).fit(X, Y)
    by_landmarks = svm(kernel=RBF(0.5), n_landmarks=20).fit(X, Y)  # all rows: exact
    for model in (by_name, by_function, by_landmarks):
        assert_allclose(model.objective_, by_matrix.objective_, rtol=1e-5)
        assert_array_equal(model.predict(X), by_matrix.predict(K))
    few = svm(kernel=RBF(0.5), n_landmarks=3).fit(X, Y)
    assert few.objective_ > by_matrix.objective_


def test_sparse_rows_are_dense_rows():
    X, Y = data()
    X[X < 0.3] = 0.0
    model, other = svm().fit(X, Y), svm().fit(sparse.csr_array(X), Y)
    assert_allclose(other.objective_, model.objective_, rtol=2e-6)
    assert_allclose(other.coef_, model.coef_, atol=1e-3)
    assert_array_equal(other.predict(sparse.csr_array(X)), model.predict(X))


# ------------------------------------------------------------------ weights
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_weight_two_is_the_row_twice(rescaling):
    X, Y = data()
    weight = np.random.default_rng(1).integers(0, 3, size=len(X))
    model = svm(rescaling=rescaling)
    weighted = clone(model).fit(X, Y, sample_weight=weight)
    repeated = clone(model).fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
    assert_allclose(weighted.objective_, repeated.objective_, rtol=2e-6)
    assert_allclose(weighted.coef_, repeated.coef_, atol=0.01)
    scaled = clone(model).fit(X, Y, sample_weight=10.0 * weight)
    assert_allclose(scaled.coef_, weighted.coef_)


@pytest.mark.parametrize("weight", [[-1.0, 1.0], [0.0, 0.0], [1.0], [np.nan, 1.0]])
def test_bad_weights(weight):
    with pytest.raises(ValueError):
        svm().fit([[0.0], [1.0]], [[0, 1], [1, 0]], sample_weight=weight)


def test_duplicated_rows_change_nothing():
    X, Y = data()
    once, twice = svm().fit(X, Y), svm().fit(np.vstack([X, X]), np.vstack([Y, Y]))
    assert_allclose(twice.objective_, once.objective_, rtol=2e-6)


# ------------------------------------------------------------------ odd training sets
def test_one_row():
    model = svm(alpha=0.001).fit([[1.0, 2.0]], [{"a", "b"}])
    assert list(model.predict([[1.0, 2.0]])) == [{"a", "b"}]


def test_labels_that_are_constant_or_never_there():
    X, _ = data()
    Y = np.zeros((len(X), 3), int)
    Y[:, 1] = 1
    Y[:, 2] = X[:, 0] > 0
    model = svm(alpha=0.01).fit(X, Y)
    assert (model.predict(X)[:, :2] == [0, 1]).all()
    empty = svm().fit(X, np.zeros((len(X), 2), int))
    assert not empty.predict(X).any()
    assert empty.gap_ <= 1e-6 * max(empty.objective_, 0.0) or empty.objective_ == 0.0


def test_one_output_alone():
    model = svm(space=Classes()).fit([[0.0], [1.0]], ["yes", "yes"])
    assert list(model.predict([[5.0]])) == ["yes"]
    assert model.objective_ == 0.0


# ------------------------------------------------------------------ repeated fits
def test_same_seed_same_result():
    X, Y = data()
    options = {"tol": 1e-3, "alpha": 0.01}
    first, again = svm(**options).fit(X, Y), svm(**options).fit(X, Y)
    assert_array_equal(first.coef_, again.coef_)
    other = svm(**{**options, "random_state": 5}).fit(X, Y)
    assert (other.coef_ != first.coef_).any()


def test_pieces_are_one_fit():
    X, Y = data()
    whole = svm().fit(X, Y)
    pieces = svm().partial_fit(X[:10], Y[:10]).partial_fit(X[10:], Y[10:])
    assert_allclose(pieces.objective_, whole.objective_, rtol=2e-6)


# ------------------------------------------------------------------ the user's formats
def test_names_and_frames_come_back():
    X, Y = data()
    names = ["red", "green", "blue", "grey"]
    sets = [{name for name, y in zip(names, row) if y} for row in Y]
    assert all(labels <= set(names) for labels in svm(space=None).fit(X, sets).predict(X))
    frame = pd.DataFrame(Y, columns=names, index=np.arange(len(Y)) + 100)
    rows = pd.DataFrame(X, columns=list("pqr"), index=frame.index)
    found = svm().fit(rows, frame).predict(rows[5:9])
    assert list(found.columns) == names
    assert list(found.index) == [105, 106, 107, 108]
    paths = [{"animal", "dog"}, {"animal", "cat"}, set(), {"animal", "dog", "puppy"}]
    model = svm(space=Hierarchy(TREE), loss="hierarchical", alpha=0.001, kernel=RBF(9.0))
    assert list(model.fit(X[:4], paths).predict(X[:4])) == paths
    words = ["abc", "cab", "bca", "abc"]
    model = svm(space=Sequences(), alpha=0.001, kernel=RBF(9.0)).fit(X[:4], words)
    assert list(model.predict(X[:4])) == words
    ranks = np.array([[1, 2, 3], [3, 2, 1], [2, 1, 3], [2, 3, 1]])
    model = svm(space=Rankings(), alpha=0.001, kernel=RBF(9.0)).fit(X[:4], ranks)
    assert_array_equal(model.predict(X[:4]), ranks)


def test_decisions_at_prediction_time():
    X, Y = data()
    model = svm().fit(X, Y)
    decoded, best = model.decode(X), model.kbest(X, 2)
    scores = X @ model.coef_.T + model.intercept_
    assert_allclose(decoded.values, -np.maximum(scores, 0).sum(axis=1))
    assert_allclose(best.values[:, 0], decoded.values)
    second = best.values[:, 1] - best.values[:, 0]
    assert_allclose(second, np.abs(scores).min(axis=1), atol=1e-8)  # of scores that are rounded
    assert (model.predict(X, restrict={"max_size": 1}).sum(axis=1) <= 1).all()
    assert model.score(X, Y) == -(model.predict(X) != Y).sum(axis=1).mean()


def test_chains_see_their_neighbours():
    rng = np.random.default_rng(0)
    y = ["ab" * 3, "ba" * 3, "ab" * 2, "ba" * 2] * 5
    X = [rng.standard_normal((len(word), 2)) for word in y]
    for word, rows in zip(y, X):
        rows[0, 0] += 4.0 if word[0] == "a" else -4.0  # the rest follows by transitions
    model = svm(space=Sequences("ab"), alpha=0.01, tol=1e-3).fit(X, y)
    assert np.mean([a == b for a, b in zip(model.predict(X), y)]) > 0.9
    # Whole words flip: the hull promises rivals between that there are not, and the gap stays.
    slack = svm(space=Sequences("ab"), alpha=0.01, rescaling="slack", max_iter=10)
    with pytest.warns(ConvergenceWarning, match="gap"):
        slack.fit(X, y)
    assert np.mean([a == b for a, b in zip(slack.predict(X), y)]) > 0.9


# ------------------------------------------------------------------ bad input
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0.0}, "alpha is a positive and finite number"),
        ({"alpha": np.inf}, "alpha is a positive and finite number"),
        ({"tol": 0.0}, "tol is a share"),
        ({"tol": np.nan}, "tol is a share"),
        ({"max_iter": 0}, "max_iter is a whole number"),
        ({"max_iter": 1.5}, "max_iter is a whole number"),
        ({"rescaling": "both"}, 'rescaling is "margin" or "slack"; got \'both\''),
        ({"n_landmarks": -1}, "n_landmarks"),
        ({"loss": "nonsense"}, "Unknown loss"),
        ({"kernel": "precomputed", "n_landmarks": 2}, "precomputed"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        svm(**options).fit([[0.0, 1.0], [1.0, 0.0]], [[1, 0], [0, 1]])


def test_bad_data():
    X, Y = data(5)
    rows = X.copy()
    rows[2, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        svm().fit(rows, Y)
    with pytest.raises(ValueError, match="inconsistent"):
        svm().fit(X, Y[:4])
    with pytest.raises(ValueError, match="y"):
        svm().fit(X, None)
    with pytest.raises(ValueError, match="puppy"):
        svm(space=Hierarchy(TREE)).fit(X, [{"puppy"}] * 5)
    with pytest.raises(NotFittedError):
        svm().predict(X)
    model = svm().fit(X, Y)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2])
    with pytest.raises(ValueError):
        model.fit(X, Y[:4])
    assert_array_equal(model.predict(X), svm().fit(X, Y).predict(X))  # as it was


def test_losses_without_an_embedding_are_an_error():
    with pytest.raises(ValueError, match=r"Absolute is not linear.*Listed\(Absolute\(\)\)"):
        svm(space=Interval(), loss="absolute").fit([[0.0], [1.0]], [0.0, 1.0])
    model = svm(space=Interval(), loss=Listed(Absolute())).fit([[0.0], [1.0]], [0.0, 1.0])
    assert set(model.predict([[0.0], [1.0]])) <= {0.0, 1.0}


class Uncertain(LabelSets):
    """Test only: right, but does not promise it."""

    guarantee = Guarantee("bound only")


def test_a_decoder_without_a_promise_warns_once():
    X, Y = data(8)
    with pytest.warns(UserWarning, match="does not always find the best output") as caught:
        svm(space=Uncertain()).fit(X, Y)
    assert len(caught) == 1


def test_too_few_passes_warn_once():
    X, Y = data()
    with pytest.warns(ConvergenceWarning, match="Raise max_iter or alpha") as caught:
        svm(max_iter=1).fit(X, Y)
    assert len(caught) == 1


# ------------------------------------------------------------------ scikit-learn
def test_clones_grids_and_pickles():
    X, Y = data(40)
    model = svm(loss=Hamming(), tol=1e-3)
    assert clone(model).get_params()["alpha"] == 0.1
    grid = GridSearchCV(model, {"alpha": [0.01, 10.0], "rescaling": ["margin", "slack"]}, cv=2)
    grid.fit(X, Y)
    assert grid.best_params_["alpha"] == 0.01
    nested = svm(space=Hierarchy(TREE), loss=HierarchicalLoss())
    assert nested.set_params(loss__weights="uniform").loss.weights == "uniform"
    fitted = model.fit(X, Y)
    copy = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(copy.predict(X), fitted.predict(X))
    assert copy.gap_ == fitted.gap_
    copy.fit(X, Y)


def test_history_and_progress(capsys):
    X, Y = data()
    model = svm(verbose=1).fit(X, Y)
    assert_allclose(model.history_[-1, 1:], [model.objective_, model.gap_])
    assert (np.diff(model.history_[:, 0]) >= 0).all()
    assert capsys.readouterr().out == ""
