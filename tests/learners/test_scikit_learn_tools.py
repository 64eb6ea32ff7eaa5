# SPDX-License-Identifier: BSD-3-Clause
"""Whatever of scikit-learn takes a classifier takes these learners."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    KFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    check_cv,
    cross_val_predict,
    cross_val_score,
    learning_curve,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from skstruct import ConditionalRiskMinimizer, CountingRidge, ExponentialFamily, StructuredSVM
from skstruct.spaces import Classes, Hierarchy, Interval, LabelSets, Ordinal, Rankings

rng = np.random.default_rng(0)
X, classes = load_iris(return_X_y=True)
order = rng.permutation(150)[:60]
X, classes = X[order], classes[order]
binary = (classes > 0).astype(int)
labels = np.column_stack([binary, classes > 1, classes == 1]).astype(int)
some = np.where(np.arange(60) % 3, classes, -1)


def risk():
    return ConditionalRiskMinimizer(kernel="rbf", alpha=0.1)


def scored(model, scoring, y=classes):
    return cross_val_score(model, X, y, scoring=scoring, cv=2, error_score="raise")


# What each tool gives is finite; models are fresh.
TOOLS = {
    "accuracy": lambda m: scored(m, "accuracy"),
    "roc_auc": lambda m: scored(m, "roc_auc", binary),
    "average_precision": lambda m: scored(m, "average_precision"),
    "several labels": lambda m: scored(m, "average_precision", labels),
    "cross_val_predict": lambda m: cross_val_predict(m, X, classes, cv=2),
    "hard votes": lambda m: (
        VotingClassifier([("a", m), ("b", clone(m))]).fit(X, classes).predict(X)
    ),
    "stacking": lambda m: StackingClassifier([("a", m)], cv=2).fit(X, classes).predict(X),
    "bagging": lambda m: BaggingClassifier(m, n_estimators=2).fit(X, classes).predict_proba(X),
    "boosting": lambda m: AdaBoostClassifier(m, n_estimators=2).fit(X, classes).predict(X),
    "calibration": lambda m: CalibratedClassifierCV(m, cv=2).fit(X, classes).predict_proba(X),
    "one against one": lambda m: OneVsOneClassifier(m).fit(X, classes).predict(X),
    "output codes": lambda m: OutputCodeClassifier(m).fit(X, classes).predict(X),
    "one against the rest": lambda m: OneVsRestClassifier(m).fit(X, classes).predict(X),
    "several outputs": lambda m: MultiOutputClassifier(m).fit(X, labels).predict(X),
    "chain": lambda m: ClassifierChain(m).fit(X, labels).predict(X),
    "feature selection": lambda m: (
        SequentialFeatureSelector(m, n_features_to_select=1, cv=2).fit(X, classes).transform(X)
    ),
    "tuned threshold": lambda m: TunedThresholdClassifierCV(m, cv=2).fit(X, binary).predict(X),
    "learning curve": lambda m: learning_curve(
        m, X, classes, cv=2, train_sizes=[0.5, 1.0], error_score="raise"
    )[2],
}
WITH_PROBABILITIES = {
    "roc_auc_ovr": lambda m: scored(m, "roc_auc_ovr"),
    "log loss": lambda m: scored(m, "neg_log_loss"),
    "brier": lambda m: scored(m, "neg_brier_score", binary),
    "cross_val_predict": lambda m: cross_val_predict(m, X, classes, method="predict_proba", cv=2),
    "soft votes": lambda m: (
        VotingClassifier([("a", m), ("b", clone(m))], voting="soft")
        .fit(X, classes)
        .predict_proba(X)
    ),
    "one against the rest": lambda m: OneVsRestClassifier(m).fit(X, classes).predict_proba(X),
    "chain": lambda m: ClassifierChain(m).fit(X, labels).predict_proba(X),
    "self training": lambda m: SelfTrainingClassifier(m, max_iter=2).fit(X, some).predict(X),
    "grid": lambda m: (
        GridSearchCV(m, {"verbose": [0]}, cv=2, scoring="roc_auc_ovr", error_score="raise")
        .fit(X, classes)
        .best_score_
    ),
    "importance": lambda m: (
        permutation_importance(
            m.fit(X, classes), X, classes, n_repeats=2, scoring="roc_auc_ovr"
        ).importances
    ),
    "dependence": lambda m: partial_dependence(m.fit(X, classes), X, [0])["average"],
    "fixed threshold": lambda m: (
        FixedThresholdClassifier(m, threshold=0.3).fit(X, binary).predict(X)
    ),
    "pipeline": lambda m: scored(make_pipeline(StandardScaler(), m), "roc_auc_ovr"),
}
FAMILIES = {"risk": risk, "family": ExponentialFamily, "counting": CountingRidge}


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("learner", FAMILIES)
@pytest.mark.filterwarnings("ignore")
def test_a_tool_takes_a_classifier(tool, learner):
    assert np.isfinite(TOOLS[tool](FAMILIES[learner]())).all()


@pytest.mark.parametrize(
    "tool", ["roc_auc", "average_precision", "hard votes", "calibration", "one against one"]
)
@pytest.mark.filterwarnings("ignore")
def test_a_tool_takes_margins(tool):
    assert np.isfinite(TOOLS[tool](StructuredSVM(max_iter=20))).all()


@pytest.mark.parametrize("tool", WITH_PROBABILITIES)
@pytest.mark.parametrize("learner", FAMILIES)
@pytest.mark.filterwarnings("ignore")
def test_a_tool_takes_probabilities(tool, learner):
    assert np.isfinite(WITH_PROBABILITIES[tool](FAMILIES[learner]())).all()


@pytest.mark.parametrize(
    ("space", "kind"),
    [
        (None, "classifier"),
        (Classes(), "classifier"),
        (LabelSets(), "classifier"),
        (Hierarchy([("a", "b")]), "classifier"),
        (Ordinal(), "classifier"),
        (Interval(), "regressor"),
        (Rankings(), None),
    ],
)
def test_tags_follow_the_space(space, kind):
    for learner in (ConditionalRiskMinimizer, CountingRidge, ExponentialFamily, StructuredSVM):
        model = learner(space)
        assert is_classifier(model) == (kind == "classifier")
        assert is_regressor(model) == (kind == "regressor")
    assert hasattr(ConditionalRiskMinimizer(space), "predict_proba") == (kind == "classifier")


def test_folds_are_stratified():
    assert isinstance(check_cv(3, classes, classifier=is_classifier(risk())), StratifiedKFold)


def test_a_loss_of_quantities_makes_a_regressor():
    model = ConditionalRiskMinimizer(loss="absolute", kernel="rbf", alpha=0.1)
    assert is_regressor(model)
    vote = VotingRegressor([("a", model)]).fit(X, X[:, 0] + 0.5)
    assert vote.predict(X).shape == (60,)


def test_classes_of_every_space():
    assert list(risk().fit(X, np.array(["x", "y", "z"])[classes]).classes_) == ["x", "y", "z"]
    assert risk().fit(X, labels).classes_.tolist() == [0, 1, 2]
    named = risk().fit(X, [{"x", "y"}, {"x"}, {"z", "y"}] * 20).classes_
    assert named.tolist() == ["x", "y", "z"]
    tree = ConditionalRiskMinimizer(Hierarchy([(("a",), "b"), (("a",), 3)]), alpha=1.0)
    assert tree.fit(X, [{("a",), "b"}, {("a",)}] * 30).classes_.tolist() == [("a",), "b", 3]
    with pytest.raises(AttributeError, match="Rankings have none"):
        _ = (
            ConditionalRiskMinimizer(Rankings(), alpha=1.0)
            .fit(X, np.tile([1, 2, 3], (60, 1)))
            .classes_
        )


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("tree", [False, True])
@pytest.mark.parametrize(
    "model", [risk(), ExponentialFamily(alpha=0.1), CountingRidge(alpha=0.1)]
)  # fmt: skip
def test_probabilities_of_labels_by_folds(model, tree, d):
    """Of label sets and hierarchies of any number of labels; scorers take them, too."""
    y, space = labels[:, :d], LabelSets(range(d))
    if tree:
        y = np.maximum.accumulate(y[:, ::-1], axis=1)[:, ::-1]
        space = Hierarchy([(0, 1), (0, 2)][: d - 1], labels=range(d))
    model, folds = clone(model).set_params(space=space), KFold(3)
    found = cross_val_predict(model, X, y, method="predict_proba", cv=folds)
    right = [clone(model).fit(X[a], y[a]).predict_proba(X[b]) for a, b in folds.split(X)]
    np.testing.assert_array_equal(found, np.vstack(right))
    assert np.isfinite(scored(model, "average_precision", y)).all()


def test_a_root_that_all_rows_have_is_lost_on_the_way():
    """Scikit-learn makes it 0, which the message says; without it all is well."""
    y = np.column_stack([np.ones(len(X), int), labels[:, :2]])
    model = ConditionalRiskMinimizer(Hierarchy([(0, 1), (0, 2)]), alpha=1.0)
    with pytest.raises(ValueError, match="every row has arrives as one that no row has"):
        cross_val_predict(model, X, y, method="predict_proba", cv=KFold(3))
    y[0] = 0  # an ordinary error
    y[1] = [0, 1, 0]
    with pytest.raises(ValueError, match=r"Use close=True to add ancestors\.$"):
        model.fit(X, y)


def test_margins_have_probabilities_once_calibrated():
    model = StructuredSVM().fit(X[:40], classes[:40])
    assert not hasattr(model, "predict_proba")
    with pytest.raises(ValueError, match=r"call calibrate\(X, y\)"):
        model.predict_marginals(X)
    model.calibrate(X[40:], classes[40:])
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), probabilities.argmax(axis=1))
