# SPDX-License-Identifier: BSD-3-Clause
"""A classifier as smoother: risks from its probabilities, against sums over all outputs by hand."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from skstruct import ConditionalRiskMinimizer, load_model, save_model
from skstruct.exceptions import ModelFileError
from skstruct.losses import F1, Hamming
from skstruct.smoothing import ClassifierMeans, CrossFitted
from skstruct.spaces import Embeddings, Hierarchy, Interval, LabelSets, Rankings, Sequences

LOGISTIC = LogisticRegression()
FOREST = RandomForestClassifier(15, max_depth=3, random_state=0)
SEVERAL = {  # classifiers that take several targets at once, and arrays or lists of these come back
    "forest": FOREST,
    "neighbors": KNeighborsClassifier(7),
    "pipeline": make_pipeline(StandardScaler(), FOREST),
    "search": GridSearchCV(FOREST, {"max_depth": [2, 4]}, cv=3),
    "one each": MultiOutputClassifier(LOGISTIC),
    "searched one each": GridSearchCV(MultiOutputClassifier(LOGISTIC), {"estimator__C": [1]}, cv=3),
    "chain": ClassifierChain(LOGISTIC),
    "one against the rest": OneVsRestClassifier(LOGISTIC),
    "network": MLPClassifier([4], max_iter=20, random_state=0),
    "dummy": DummyClassifier(strategy="prior"),
}
SINGLE = {
    "logistic": LOGISTIC,
    "boosting": HistGradientBoostingClassifier(max_iter=5, random_state=0),
    "pipeline": make_pipeline(StandardScaler(), LOGISTIC),
    "search": GridSearchCV(LOGISTIC, {"C": [0.1, 1]}, cv=3),
    "calibrated": CalibratedClassifierCV(LinearSVC(random_state=0), cv=3),
    "stacked": StackingClassifier([("a", LOGISTIC)], final_estimator=LOGISTIC),
}
ONLY_SEVERAL = ("one each", "searched one each", "chain")

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
CLASSES = np.array(["cat", "dog", "eel"])[
    (X[:, 0] + 0.8 * RNG.normal(size=80) > 0) * 1 + (X[:, 1] > 0.5)
]
SETS = (X @ RNG.normal(size=(3, 3)) + RNG.normal(size=(80, 3)) > 0).astype(int)
NEW = RNG.normal(size=(25, 3))


def label_probabilities(classifier, Y):
    """P(label | x) of the new rows, (n, d), from predict_proba as scikit-learn documents it."""
    P = classifier.fit(X, Y).predict_proba(NEW)
    return np.column_stack([p[:, 1] for p in P]) if isinstance(P, list) else P


def check_hamming(model, P):
    """Decisions and risks are those of all sets of labels, independent or not."""
    Z = np.array(list(product([0, 1], repeat=P.shape[1])))
    risks = P @ (1 - 2 * Z).T + Z.sum(axis=1)  # sum_j z_j (1 - p_j) + (1 - z_j) p_j
    decoded = model.decode(NEW)
    assert_allclose(decoded.values, risks.min(axis=1), atol=1e-12)
    assert_allclose(decoded.bounds, risks.min(axis=1), atol=1e-12)
    assert_allclose(Hamming().pairwise(decoded.outputs, Z)[:, 0], decoded.outputs.sum(axis=1))
    assert_allclose(
        np.einsum("nd,nd->n", 1 - 2 * P, decoded.outputs) + P.sum(axis=1), decoded.values
    )


@pytest.mark.parametrize("name", [*SINGLE, *(name for name in SEVERAL if name not in ONLY_SEVERAL)])
def test_risks_of_classes_are_those_of_the_probabilities(name):
    classifier = SINGLE.get(name, SEVERAL.get(name))
    P = clone(classifier).fit(X, CLASSES).predict_proba(NEW)
    model = ConditionalRiskMinimizer(smoother=classifier).fit(X, CLASSES)
    decoded = model.decode(NEW)
    assert_allclose(decoded.values, 1 - P.max(axis=1), atol=1e-12)
    assert_array_equal(decoded.outputs, model.space_.labels_[P.argmax(axis=1)])
    L = np.array([[0, 1, 9], [2, 0, 4], [3, 1, 0]])  # [predicted, true]
    costs = {(z, y): L[i, j] for i, z in enumerate(model.space_.labels_)
             for j, y in enumerate(model.space_.labels_)}  # fmt: skip
    weighed = model.decode(NEW, loss=lambda z, y: costs[z, y])
    grid = 2.0**-26  # costs of up to 9 are kept to 30 bits of that
    assert_allclose(weighed.values, (P @ L.T).min(axis=1), atol=grid)
    assert_array_equal(weighed.outputs, model.space_.labels_[(P @ L.T).argmin(axis=1)])


@pytest.mark.parametrize("name", SEVERAL)
def test_risks_of_label_sets_are_those_of_the_probabilities(name):
    model = ConditionalRiskMinimizer(LabelSets(), "hamming", smoother=SEVERAL[name]).fit(X, SETS)
    check_hamming(model, label_probabilities(clone(SEVERAL[name]), SETS))


@pytest.mark.parametrize("name", SINGLE)
def test_a_classifier_of_one_target_learns_each_label(name):
    model = ConditionalRiskMinimizer(LabelSets(), "hamming", smoother=SINGLE[name]).fit(X, SETS)
    each = [clone(SINGLE[name]).fit(X, t).predict_proba(NEW)[:, 1] for t in SETS.T]
    check_hamming(model, np.column_stack(each))


def test_risk_is_near_the_loss_on_new_rows():
    """The risks that were 0.000 everywhere: mean of 2,000 new rows, within 4 standard errors."""
    rng = np.random.default_rng(1)
    W, shift = rng.normal(size=(3, 3)), 0.3

    def draw(n):
        inputs = rng.normal(size=(n, 3))
        return inputs, (rng.random((n, 3)) < 1 / (1 + np.exp(shift - inputs @ W))).astype(int)

    train, test = draw(4000), draw(2000)
    model = ConditionalRiskMinimizer(LabelSets(), "hamming", smoother=LOGISTIC).fit(*train)
    losses = Hamming()(model.predict(test[0]), test[1])
    difference = model.predict_risk(test[0]) - losses
    assert losses.mean() > 0.3
    assert abs(difference.mean()) < 4 * difference.std() / np.sqrt(len(losses))


def test_f_measures_by_the_probabilities_of_sized_labels():
    asked = F1(independent=False)
    model = ConditionalRiskMinimizer(LabelSets(), asked, smoother=FOREST).fit(X, SETS)
    view = Embeddings.of(model.space_).view("sized indicators")
    T = view.embed(SETS).toarray().astype(int)
    varying = (T[0] != T).any(axis=0)
    g = np.tile(T[0].astype(float), (len(NEW), 1))
    g[:, varying] = label_probabilities(clone(FOREST), T[:, varying])
    Z = model.space_.enumerate()
    loss, ones = F1(), np.ones((len(NEW), 1))
    risks = loss.cost(g, ones) @ view.embed(Z).toarray().T + loss.offset(g, ones)[:, None]
    assert_allclose(model.decode(NEW).values, risks.min(axis=1), atol=1e-12)
    # Labels in sets of any size: what other losses read off them.
    P = g[:, :-1].reshape(-1, 3, 3).sum(axis=2)
    assert_allclose(model.decode(NEW, loss="hamming").values, np.minimum(P, 1 - P).sum(axis=1))


@pytest.mark.parametrize("smoother", [LOGISTIC, CrossFitted(LOGISTIC), FOREST])
def test_one_fit_to_labels_serves_all_losses_of_labels(smoother):
    """F1 of labels that are independent given their probabilities, as sums over all sets."""
    if smoother is FOREST:
        P = label_probabilities(clone(FOREST), SETS)
    else:
        P = np.column_stack([clone(LOGISTIC).fit(X, t).predict_proba(NEW)[:, 1] for t in SETS.T])
    Z = np.array(list(product([0, 1], repeat=3)))
    of_set = np.where(Z, P[:, None], 1 - P[:, None]).prod(axis=2)
    best = (of_set @ F1().pairwise(Z, Z).T).min(axis=1)
    losses = ("hamming", "f1", F1(independent=True))
    for fitted in losses:
        model = ConditionalRiskMinimizer(LabelSets(), fitted, smoother=smoother).fit(X, SETS)
        assert model.problem_.width == 3
        for asked in ("f1", F1(independent=True)):
            assert_allclose(model.decode(NEW, loss=asked).values, best, atol=1e-12)
        narrow = model.predict(NEW, loss="f1", restrict={"max_size": 1})
        assert_array_equal(narrow.sum(axis=1) <= 1, True)
        assert_allclose(
            model.decode(NEW, loss="hamming").values, np.minimum(P, 1 - P).sum(axis=1), atol=1e-12
        )
        assert_allclose(model.predict_marginals(NEW), P, atol=1e-12)
        with pytest.raises(ValueError, match="ZeroOne needs outputs"):
            model.predict(NEW, loss="zero_one")


def test_gaps_are_learned_once_for_all_losses():
    gaps = np.where(RNG.random(SETS.shape) < 0.3, np.nan, SETS)
    first, second = (
        ConditionalRiskMinimizer(LabelSets(), loss, smoother=LOGISTIC).fit(X, gaps)
        for loss in ("hamming", "f1")
    )
    asked = first.decode(NEW, loss="f1")
    assert first._retargeting._last[0] is None  # nothing was fitted again
    assert_allclose(asked.values, second.decode(NEW).values, atol=1e-12)


def test_hierarchies_and_positions_of_sequences():
    closed = SETS.copy()
    closed[:, 0] = closed.any(axis=1)
    space = Hierarchy([("a", "b"), ("a", "c")])
    model = ConditionalRiskMinimizer(space, "hamming", smoother=FOREST).fit(X, closed)
    P = label_probabilities(clone(FOREST), closed)
    Z = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 0, 1], [1, 1, 1]])
    risks = P @ (1 - 2 * Z).T + Z.sum(axis=1)
    assert_allclose(model.decode(NEW).values, risks.min(axis=1), atol=1e-12)
    tokens = np.split(X, 20)
    tags = [list(t) for t in np.split(CLASSES, 20)]
    tagger = ConditionalRiskMinimizer(Sequences(), smoother=LOGISTIC).fit(tokens, tags)
    P = clone(LOGISTIC).fit(X, CLASSES).predict_proba(X).reshape(20, 4, 3)
    assert_allclose(tagger.decode(tokens).values, (1 - P.max(axis=2)).sum(axis=1), atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_columns_that_are_constant_keep_their_value(seed, d):
    rng = np.random.default_rng(seed)
    T = (rng.random((12, d)) < rng.choice([0.0, 0.4, 1.0], size=d)).astype(float)
    T = np.column_stack([T, np.ones(12), np.full(12, 2.5)])
    inputs = rng.normal(size=(12, 2))
    for classifier in (LOGISTIC, KNeighborsClassifier(3), MultiOutputClassifier(LOGISTIC)):
        means = ClassifierMeans(classifier).fit(inputs, T).predict(inputs)
        constant = (T[0] == T).all(axis=0)
        assert_array_equal(means[:, constant], T[:, constant])
        assert means[:, :d].min() >= 0
        assert means[:, :d].max() <= 1


def test_one_class_alone_is_certain():
    model = ConditionalRiskMinimizer(smoother=LOGISTIC).fit(X, ["cat"] * len(X))
    assert_array_equal(model.predict_risk(NEW), 0)
    assert model.smoother_.classifiers_ == []


def test_weights_of_rows_reach_the_classifier():
    weight = RNG.integers(1, 4, len(X))
    model = ConditionalRiskMinimizer(smoother=LOGISTIC).fit(X, CLASSES, sample_weight=weight)
    P = clone(LOGISTIC).fit(X, CLASSES, sample_weight=weight).predict_proba(NEW)
    assert_allclose(model.decode(NEW).values, 1 - P.max(axis=1), atol=1e-12)
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no sample_weight"):
        ConditionalRiskMinimizer(smoother=KNeighborsClassifier()).fit(X, CLASSES, weight)


@pytest.mark.parametrize(
    "classifier",
    [LinearSVC(), RidgeClassifier(), SVC(), MultiOutputClassifier(LinearSVC()),
     make_pipeline(StandardScaler(), LinearSVC()), GridSearchCV(LinearSVC(), {"C": [1]})],
)  # fmt: skip
def test_classifiers_without_probabilities_are_refused(classifier):
    with pytest.raises(ValueError, match=f"{type(classifier).__name__} has no predict_proba"):
        ConditionalRiskMinimizer(smoother=classifier).fit(X, CLASSES)


@pytest.mark.parametrize(
    ("space", "loss", "y"),
    [(Interval(), "squared", X[:, 0]), (Rankings(), "spearman", X.argsort(axis=1) + 1)],
)
def test_targets_that_are_not_indicators_are_refused(space, loss, y):
    said = r"RandomForestClassifier gives probabilities.* row [01] has the target .*regressor"
    with pytest.raises(ValueError, match=said):
        ConditionalRiskMinimizer(space, loss, smoother=FOREST).fit(X, y)


class Odd(ClassifierMixin, BaseEstimator):
    """Gives more probabilities than there are classes."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_) + 1), 0.25)


def test_probabilities_of_something_else_are_refused():
    with pytest.raises(
        ValueError, match=r"predict_proba of Odd gives shapes \(25, 4\).* 3 classes"
    ):
        ConditionalRiskMinimizer(smoother=Odd()).fit(X, CLASSES).predict(NEW)


def test_parameters_seeds_and_searches():
    forest = RandomForestClassifier(5)
    first, second = (
        ConditionalRiskMinimizer(smoother=forest, random_state=7).fit(X, CLASSES) for _ in range(2)
    )
    assert first.smoother_.classifier.random_state == 7
    assert_array_equal(first.predict_risk(NEW), second.predict_risk(NEW))
    search = GridSearchCV(first, {"smoother__max_depth": [1, 3]}, cv=3).fit(X, CLASSES)
    assert search.best_params_["smoother__max_depth"] in (1, 3)
    scores = cross_val_score(ConditionalRiskMinimizer(smoother=LOGISTIC), X, CLASSES, cv=3)
    assert np.isfinite(scores).all()


def test_model_files(tmp_path):
    for y in (CLASSES, SETS):
        model = ConditionalRiskMinimizer(smoother=LOGISTIC).fit(X, y)
        save_model(model, tmp_path / "a.model")
        loaded = load_model(tmp_path / "a.model")
        assert_array_equal(loaded.predict(NEW), model.predict(NEW))
        assert_array_equal(loaded.decode(NEW).values, model.decode(NEW).values)
    model = ConditionalRiskMinimizer(smoother=FOREST).fit(X, CLASSES)
    said = r"RandomForestClassifier.*model files do not know.*pickle"
    with pytest.raises(ModelFileError, match=said):
        save_model(model, tmp_path / "b.model")
