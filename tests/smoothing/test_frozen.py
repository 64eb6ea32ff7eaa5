# SPDX-License-Identifier: BSD-3-Clause
"""Estimators that were fitted before: their columns are those of the labels they were fitted to."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skstruct import ConditionalRiskMinimizer
from skstruct.losses import F1
from skstruct.spaces import Classes, Hierarchy, LabelSets, Ordinal, Poset, Sequences

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
CLASSES = np.array(["x", "y", "z"])[(X[:, 0] > 0) * 1 + (X[:, 1] > 0.5)]
NAMES = ["a", "b", "c", "d"]
TABLE = (X @ RNG.normal(size=(4, 4)) + RNG.normal(size=(200, 4)) > 0).astype(int)
SETS = [{name for name, here in zip(NAMES, row) if here} for row in TABLE]
LOGISTIC = LogisticRegression().fit(X, CLASSES)
LABELS = {
    "one each": MultiOutputClassifier(LogisticRegression()),
    "forest": RandomForestClassifier(10, max_depth=4, random_state=0),
    "one against the rest": OneVsRestClassifier(LogisticRegression()),
    "network": MLPClassifier([8], learning_rate_init=0.03, max_iter=60, random_state=0),
    "regressor": RandomForestRegressor(10, max_depth=4, random_state=0),
}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def probabilities(model):
    if not hasattr(model, "predict_proba"):
        return model.predict(X)
    P = model.predict_proba(X)
    return np.column_stack([p[:, 1] for p in P]) if isinstance(P, list) else P


def frozen(space, loss, model, outputs, rows=slice(None)):
    smoother = FrozenEstimator(model)
    return ConditionalRiskMinimizer(space, loss, smoother=smoother).fit(X[rows], outputs)


@pytest.mark.parametrize("order", ["xyz", "zxy"])
def test_classes_are_told_by_name(order):
    model = frozen(Classes(list(order)), "zero_one", LOGISTIC, CLASSES)
    assert_array_equal(model.predict(X), LOGISTIC.predict(X))
    column = [list(LOGISTIC.classes_).index(name) for name in order]
    assert_allclose(model.predict_proba(X), LOGISTIC.predict_proba(X)[:, column])


def test_names_that_are_numbers():
    number = np.unique(CLASSES, return_inverse=True)[1]
    model = LogisticRegression().fit(X, number)
    found = frozen(Classes([2, 0, 1]), "zero_one", model, number)
    assert_array_equal(found.predict(X), model.predict(X))


def test_a_class_that_the_rows_of_fit_lack():
    rows = CLASSES != "z"
    model = frozen(Classes(["z", "y", "x"]), "zero_one", LOGISTIC, CLASSES[rows], rows)
    assert_array_equal(model.predict(X), LOGISTIC.predict(X))


def test_other_classes_are_refused_with_both():
    rows = CLASSES != "z"
    said = r"LogisticRegression was fitted before, to the classes \['x', 'y', 'z'\].*\['x', 'y'\]"
    with pytest.raises(ValueError, match=said):
        frozen(Classes(), "zero_one", LOGISTIC, CLASSES[rows], rows)


def test_symbols_of_sequences_are_told_by_name():
    tokens, tags = np.split(X, 50), [list(tags) for tags in np.split(CLASSES, 50)]
    space = Sequences(["z", "y", "x"])
    model = ConditionalRiskMinimizer(space, smoother=FrozenEstimator(LOGISTIC)).fit(tokens, tags)
    assert_array_equal(np.concatenate(model.predict(tokens)), LOGISTIC.predict(X))


@pytest.mark.parametrize(
    ("space", "outputs"),
    [
        (Ordinal(["z", "x", "y"]), CLASSES),
        (Poset([("x", "y"), ("x", "z")]), CLASSES),
        (Hierarchy([("x", "y"), ("x", "z")]), [{"x", name} for name in CLASSES]),
        (LabelSets(["z", "x", "y"]), [{name} if name == "x" else set() for name in CLASSES]),
    ],
    ids=["levels", "elements", "labels", "nothing"],
)
def test_probabilities_of_one_class_are_not_taken_for_those_of_several_targets(space, outputs):
    """Levels that are reached, say, have the names of classes, and other probabilities."""
    with pytest.raises(ValueError, match="LogisticRegression was fitted before, to one class a r"):
        frozen(space, "hamming", LOGISTIC, outputs)


def test_sets_of_one_label_are_classes():
    model = frozen(LabelSets(["z", "x", "y"]), "hamming", LOGISTIC, [{name} for name in CLASSES])
    assert_allclose(model.predict_marginals(X), LOGISTIC.predict_proba(X)[:, [2, 0, 1]])


@pytest.mark.parametrize("name", LABELS)
def test_labels_in_the_order_of_the_space_and_in_another(name):
    fitted = LABELS[name].fit(X, TABLE)
    model = frozen(LabelSets(NAMES), "hamming", fitted, SETS)
    assert_allclose(model.predict_marginals(X), probabilities(fitted), atol=1e-12)
    said = r"the space has \['d', 'b', 'c', 'a'\].* its columns are \['a', 'b', 'c', 'd'\]"
    with pytest.raises(ValueError, match=rf"{type(fitted).__name__} was fitted before .*{said}"):
        frozen(LabelSets(["d", "b", "c", "a"]), "hamming", fitted, SETS)
    with pytest.raises(ValueError, match=r"fitted before, to 4 labels, and the space has 5"):
        frozen(LabelSets([*NAMES, "e"]), "hamming", fitted, SETS)


@pytest.mark.slow
def test_a_right_order_is_hardly_ever_refused():
    """Labels that say next to nothing: at three standard errors, one of a thousand at most."""
    refused = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        inputs, labels = rng.normal(size=(400, 2)), rng.random((400, 5)) < 0.2
        labels[:, 1] |= labels[:, 0]
        fitted = MultiOutputClassifier(LogisticRegression()).fit(inputs[:200], labels[:200])
        model = ConditionalRiskMinimizer(
            LabelSets(range(5)), "hamming", smoother=FrozenEstimator(fitted)
        )
        try:
            model.fit(inputs[200:], labels[200:].astype(int))
        except ValueError:
            refused += 1
    assert refused <= 1


@pytest.mark.parametrize("loss", ["hamming", "f1", "hierarchical"])
def test_one_frozen_model_serves_every_loss_of_a_hierarchy(loss):
    closed = TABLE.copy()
    closed[:, 0] = closed.any(axis=1)
    fitted = MultiOutputClassifier(LogisticRegression()).fit(X, closed)
    space = Hierarchy([("a", "b"), ("a", "c"), ("a", "d")], labels=NAMES)
    model, other = (frozen(space, asked, fitted, closed) for asked in (loss, "hamming"))
    assert_array_equal(model.predict(X), other.predict(X, loss=loss))
    assert model.space_.contains(model.predict(X)).all()


def test_losses_of_other_means_are_refused_in_fit():
    fitted = LABELS["one each"].fit(X, TABLE)
    for loss in ("zero_one", F1(independent=False)):
        with pytest.raises(ValueError, match="fitted before, to 4 labels, and the loss needs"):
            frozen(LabelSets(NAMES), loss, fitted, SETS)


def test_gaps_and_constant_labels_change_nothing():
    fitted = LABELS["one each"].fit(X, TABLE)
    gaps = np.where(RNG.random(TABLE.shape) < 0.3, np.nan, TABLE)
    model = frozen(LabelSets(NAMES), "hamming", fitted, gaps)
    assert_array_equal(model.predict(X), fitted.predict(X))
    rows = TABLE[:, 1] == 1
    model = frozen(LabelSets(NAMES), "hamming", fitted, TABLE[rows], rows)
    assert_array_equal(model.predict(X), fitted.predict(X))


def test_pipelines_that_end_in_one():
    ended = make_pipeline(FunctionTransformer(), FrozenEstimator(LOGISTIC))
    model = ConditionalRiskMinimizer(Classes(["z", "x", "y"]), smoother=ended).fit(X, CLASSES)
    assert_array_equal(model.predict(X), LOGISTIC.predict(X))


class Known(ClassifierMixin, BaseEstimator):
    """Learns nothing, and does not say so."""

    def fit(self, X, y):
        self.classes_ = LOGISTIC.classes_
        return self

    def predict_proba(self, X):
        return LOGISTIC.predict_proba(X)


def test_classifiers_that_learned_something_else_are_refused():
    said = r"Known has the classes \['x', 'y', 'z'\] where it was given \[0, 1, 2\].*FrozenEst"
    with pytest.raises(ValueError, match=said):
        ConditionalRiskMinimizer(Classes(["z", "x", "y"]), smoother=Known()).fit(X, CLASSES)
