# SPDX-License-Identifier: BSD-3-Clause
"""Scorers of marginals in scikit-learn's tools, for models, pipelines and copies."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skstruct import ConditionalRiskMinimizer, ExponentialFamily
from skstruct.model_selection import (
    compare,
    hierarchical_f,
    label_propensities,
    loss_scorer,
    marginal_scorer,
    micro_average_precision,
    precision_at,
    propensity_scored_precision_at,
)
from skstruct.model_selection.scorers import OF_MARGINALS, OF_SETS
from skstruct.spaces import Hierarchy, LabelSets

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
LEAVES = (X[:, :2] + RNG.standard_normal((60, 2)) > 0.3).astype(int)
Y = np.column_stack([np.ones(60, dtype=int), LEAVES])
SPACE = Hierarchy([("all", "left"), ("all", "right")])


class Shares(BaseEstimator):
    """Predicts how often each label was there in training, a little more for larger inputs."""

    def __init__(self, tilt=1.0):
        self.tilt = tilt

    def fit(self, X, y):
        self.space_ = LabelSets().fit(y)
        self.outputs_ = self.space_.validate(y)
        self.means_ = self.outputs_.mean(axis=0)
        return self

    def predict_marginals(self, X):
        return 1 / (1 + np.exp(-self.tilt * np.asarray(X)[:, : len(self.means_)])) * self.means_

    def predict(self, X):
        return (self.predict_marginals(X) > 0.3).astype(int)


def twice_the_mean(scores, truth, factor=2.0):
    return factor * float(np.mean(scores * truth))


@pytest.mark.parametrize("name", [*OF_MARGINALS, "precision_at_2", *OF_SETS])
def test_scores_are_those_of_the_measure(name):
    model = Shares().fit(X, LEAVES)
    if name == "propensity_scored_precision_at":
        shares = label_propensities(LEAVES.sum(axis=0), 60)
        expected = propensity_scored_precision_at(
            model.predict_marginals(X), LEAVES, propensities=shares
        )
    elif name == "precision_at_2":
        expected = precision_at(model.predict_marginals(X), LEAVES, 2)
    elif name in OF_SETS:
        expected = OF_SETS[name](model.predict(X), LEAVES)
    else:
        expected = OF_MARGINALS[name](model.predict_marginals(X), LEAVES)
    scorer = marginal_scorer(name)
    assert scorer(model, X, LEAVES) == pytest.approx(expected)
    assert pickle.loads(pickle.dumps(scorer))(model, X, LEAVES) == pytest.approx(expected)
    assert repr(scorer).startswith("marginal_scorer(")


def test_scores_of_another_method():
    class Margins(Shares):
        def decision_function(self, X):
            return 5 * np.log(self.predict_marginals(X))

    model = Margins().fit(X, LEAVES)
    plain, by_margin = (
        marginal_scorer("macro_average_precision", response_method=method)(model, X, LEAVES)
        for method in ("predict_marginals", "decision_function")
    )
    assert plain == pytest.approx(by_margin)


def test_propensities_are_those_of_training():
    model = Shares().fit(X[:40], LEAVES[:40])
    found = marginal_scorer("propensity_scored_precision_at_1")(model, X[40:], LEAVES[40:])
    shares = label_propensities(LEAVES[:40].sum(axis=0), 40)
    scores = model.predict_marginals(X[40:])
    assert found == propensity_scored_precision_at(scores, LEAVES[40:], 1, propensities=shares)
    given = marginal_scorer("propensity_scored_precision_at_1", propensities=[1.0, 1.0])
    assert given(model, X[40:], LEAVES[40:]) >= precision_at(scores, LEAVES[40:], 1)
    del model.outputs_
    with pytest.raises(ValueError, match="give propensities"):
        marginal_scorer("propensity_scored_precision_at_1")(model, X, LEAVES)


def test_cross_validation_and_grids():
    folds = KFold(3)
    by_hand = []
    for train, test in folds.split(X):
        model = Shares().fit(X[train], LEAVES[train])
        by_hand.append(micro_average_precision(model.predict_marginals(X[test]), LEAVES[test]))
    scorer = marginal_scorer("micro_average_precision")
    np.testing.assert_allclose(
        cross_val_score(Shares(), X, LEAVES, cv=folds, scoring=scorer), by_hand
    )
    piped = make_pipeline(StandardScaler(with_mean=False), Shares())
    grid = GridSearchCV(
        piped, {"shares__tilt": [-1.0, 1.0]}, cv=folds, refit="area",
        scoring={"area": scorer, "own": marginal_scorer(twice_the_mean, factor=3.0)},
    ).fit(X, LEAVES)  # fmt: skip
    assert grid.best_params_ == {"shares__tilt": 1.0}
    assert len(grid.cv_results_["mean_test_own"]) == 2
    fitted = piped.fit(X, LEAVES)
    inner = fitted[:-1].transform(X)
    assert scorer(fitted, X, LEAVES) == scorer(fitted[-1], inner, LEAVES)
    assert scorer(make_pipeline(Shares()).fit(X, LEAVES), X, LEAVES) == scorer(
        Shares().fit(X, LEAVES), X, LEAVES
    )


@pytest.mark.slow
def test_exponential_families_of_sets_and_hierarchies():
    for space, outputs in ((LabelSets(), LEAVES), (SPACE, Y), (SPACE, sparse.csr_array(Y))):
        model = ExponentialFamily(space, alpha=0.01).fit(X[:40], outputs[:40])
        for name in ("micro_average_precision", "macro_average_precision", "precision_at_1"):
            assert 0.5 < marginal_scorer(name)(model, X[40:], outputs[40:]) <= 1
    model = make_pipeline(StandardScaler(), ExponentialFamily(SPACE, alpha=0.01)).fit(X, Y)
    predicted = model[-1].predict(model[:-1].transform(X))
    found = marginal_scorer("hierarchical_f1", root="all")(model, X, Y)
    assert found == pytest.approx(hierarchical_f(predicted[:, 1:], Y[:, 1:]))
    many = marginal_scorer("hierarchical_f1", root=["all", "left"])(model, X, Y)
    assert many == pytest.approx(hierarchical_f(predicted[:, 2:], Y[:, 2:]))
    with pytest.raises(ValueError, match="root is a label of the space"):
        marginal_scorer("hierarchical_f1", root="none")(model, X, Y)


@pytest.mark.slow
def test_learners_are_compared_by_scorers_too():
    learners = {
        "ridge": ConditionalRiskMinimizer(LabelSets(), alpha=1.0),
        "shares": ConditionalRiskMinimizer(LabelSets(), alpha=1e6),
        "family": ExponentialFamily(LabelSets(), alpha=0.01),
    }
    scoring = {"F": marginal_scorer("hierarchical_f1"), "hamming": loss_scorer("hamming")}
    found = compare(learners, X, LEAVES, scoring=scoring, cv=3)
    assert {name: table.shape for name, table in found.scores.items()} == dict.fromkeys(
        scoring, (3, 3)
    )
    means = -found.losses["hamming"].mean(axis=0)  # folds are of one size
    np.testing.assert_allclose(found.scores["hamming"].mean(axis=0), means)
    assert compare({"ridge": learners["ridge"]}, X, LEAVES, cv=3).scores == {}


def test_what_scorers_refuse():
    with pytest.raises(ValueError, match="measure is one of micro_average_precision"):
        marginal_scorer("accuracy")

    class Silent(Shares):
        predict_marginals = property()

    with pytest.raises(ValueError, match="Silent has no predict_marginals"):
        marginal_scorer("micro_average_precision")(Silent().fit(X, LEAVES), X, LEAVES)

    class Lists(Shares):
        def predict_marginals(self, X):
            return [np.ones((2, 2))] * len(X)

    with pytest.raises(ValueError, match="are a list"):
        marginal_scorer("micro_average_precision")(Lists().fit(X, LEAVES), X, LEAVES)
