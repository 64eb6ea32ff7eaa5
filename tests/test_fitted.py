# SPDX-License-Identifier: BSD-3-Clause
"""One object says what a fitted model is, whatever holds the learner."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from skstruct import ConditionalRiskMinimizer
from skstruct.fitted import Fitted, Staged
from skstruct.learners import PairwiseComparison, StructuredPerceptron
from skstruct.spaces import LabelSets

X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] * 3)
Y = (X > 0.5).astype(int)


def risks():
    return ConditionalRiskMinimizer(LabelSets(), alpha=0.1).fit(X, Y)


def test_a_pipeline_answers_for_its_last_step():
    model = make_pipeline(StandardScaler(), ConditionalRiskMinimizer(LabelSets(), alpha=0.1))
    fitted = Fitted.of(model.fit(X, Y))
    assert fitted.learner is model[-1]
    assert fitted.name == "ConditionalRiskMinimizer"
    for name in ("space", "loss", "outputs", "problem", "smoother", "calibration"):
        assert getattr(fitted, name) is getattr(model[-1], f"{name}_")
    assert fitted.estimates_risks
    assert fitted.value_name == "risk"
    assert fitted.takes("loss")
    learner, read = fitted.decider(X)
    assert np.array_equal(learner.predict(read), model.predict(X))


def test_a_pipeline_in_a_pipeline_reads_rows_by_all_of_its_steps():
    inner = make_pipeline(StandardScaler(), ConditionalRiskMinimizer(LabelSets(), alpha=0.1))
    model = Pipeline([("first", StandardScaler()), ("then", inner)]).fit(X, Y)
    learner, read = Fitted.of(model).decider(X)
    assert learner is inner[-1]
    assert np.array_equal(learner.predict(read), model.predict(X))


def test_it_can_be_sent_to_another_process():
    model = make_pipeline(StandardScaler(), ConditionalRiskMinimizer(LabelSets(), alpha=0.1))
    again = pickle.loads(pickle.dumps(Fitted.of(model.fit(X, Y))))
    learner, read = again.decider(X)
    assert np.array_equal(learner.predict(read), model.predict(X))


def test_spaces_that_take_no_constraints_have_none():
    assert Fitted.of(ConditionalRiskMinimizer(alpha=0.1).fit(X, Y[:, 0])).constraints == []
    assert "include" in Fitted.of(risks()).constraints


def test_a_pipeline_of_one_step_takes_rows_as_they_are():
    fitted = Fitted.of(make_pipeline(ConditionalRiskMinimizer(alpha=0.1)).fit(X, Y))
    assert fitted.inputs(X) is X
    assert fitted.width == 2


def test_columns_and_their_encoder_are_those_of_the_first_step():
    rows = [{"size": 1.0, "sky": "sun"}, {"size": 3.0, "sky": "rain"}]
    learner = ConditionalRiskMinimizer(alpha=0.1).fit(rows, ["dry", "wet"])
    fitted = Fitted.of(learner)
    assert fitted.encoder is learner.encoder_
    assert list(fitted.names) == ["size", "sky"]
    assert not fitted.of_sequences


def test_other_estimators_have_what_they_follow_the_convention_in():
    fitted = Fitted.of(LogisticRegression().fit(X, Y[:, 0]))
    assert fitted.space is None
    assert fitted.loss is None
    assert fitted.smoother is None
    assert fitted.width == 2
    assert fitted.names is None
    assert fitted.kept_inputs is None
    assert fitted.value_name == "cost"
    assert not fitted.takes("loss")
    assert fitted.task is None

    class Stranger(BaseEstimator):
        space_ = LabelSets()

    assert Fitted.of(Stranger()).space is Stranger.space_


def test_scores_are_alone_until_they_are_calibrated():
    model = StructuredPerceptron(LabelSets(), max_iter=2).fit(X, Y)
    assert Fitted.of(model).scores_alone
    assert not Fitted.of(model.calibrate(X, Y)).scores_alone
    assert not Fitted.of(risks()).scores_alone
    assert not Fitted.of(PairwiseComparison()).scores_alone


@pytest.mark.parametrize("model", [LogisticRegression(), make_pipeline(ConditionalRiskMinimizer())])
def test_others_than_our_learners_are_asked_for_whole_predictions(model):
    assert not Staged.of(model).in_stages
    assert Staged.of(model).stages({}) is None
    assert Staged.of(risks()).in_stages
