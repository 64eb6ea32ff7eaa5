# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skstruct import ConditionalRiskMinimizer
from skstruct.kernels import RBF
from skstruct.model_selection import left_out_risk, loss_scorer
from skstruct.smoothing import NadarayaWatson, Neighbors
from skstruct.spaces import Interval, LabelSets, Rankings

X, Y = make_multilabel_classification(60, 6, n_classes=4, random_state=0)
SPACE = LabelSets(range(4))


@pytest.mark.parametrize("loss", ["hamming", "f1"])
@pytest.mark.parametrize("smoother", [None, Neighbors(5)])
def test_leaving_folds_out_is_cross_validation(loss, smoother):
    """The closed form gives exactly the mean loss of refitting without each fold."""
    model = ConditionalRiskMinimizer(
        SPACE, "hamming", alpha=0.3, smoother=smoother, kernel=RBF(0.02)
    )
    folds = KFold(6)
    scores = cross_val_score(model, X, Y, cv=folds, scoring=loss_scorer(loss))
    left = left_out_risk(model.fit(X, Y), loss=loss, cv=folds)
    assert left == pytest.approx(-scores.mean(), abs=1e-9)
    assert left_out_risk(model, loss=loss, groups=np.arange(60) // 10) == pytest.approx(left)


def test_one_fit_serves_every_alpha_and_loss():
    model = ConditionalRiskMinimizer(SPACE, "hamming", kernel=RBF(0.02)).fit(X, Y)
    alphas = [0.01, 1.0, 100.0]
    for loss in ("hamming", "f1", "zero_one"):
        path = left_out_risk(model, loss=loss, alphas=alphas)
        single = [
            left_out_risk(
                ConditionalRiskMinimizer(SPACE, loss, alpha=alpha, kernel=RBF(0.02)).fit(X, Y)
            )
            for alpha in alphas
        ]
        np.testing.assert_allclose(path, single, atol=1e-9)


@pytest.mark.parametrize("smoother", [None, Neighbors(5), NadarayaWatson(RBF(0.02))])
def test_losses_that_work_with_weights(smoother):
    inputs = X + np.random.default_rng(1).normal(0, 0.1, X.shape)  # no two neighbors as near
    y = inputs @ np.linspace(-1, 1, 6)
    space = Interval(y.min(), y.max())
    model = ConditionalRiskMinimizer(
        space, "absolute", alpha=0.3, smoother=smoother, kernel=RBF(0.02)
    )
    folds = KFold(6)
    scores = cross_val_score(model, inputs, y, cv=folds)
    left = left_out_risk(model.fit(inputs, y), cv=folds)
    assert left == pytest.approx(-scores.mean(), abs=1e-9)
    squared = left_out_risk(model, loss="squared", cv=folds)
    scores = cross_val_score(model.set_params(loss="squared"), inputs, y, cv=folds)
    assert squared == pytest.approx(-scores.mean(), abs=1e-6)


def test_wide_embeddings():
    orders = np.argsort(
        np.argsort(X @ np.random.default_rng(0).normal(size=(6, 14)), axis=1), axis=1
    )
    model = ConditionalRiskMinimizer(Rankings(), "kendall", alpha=0.3, kernel=RBF(0.02))
    scores = cross_val_score(model, X, orders + 1, cv=KFold(6))
    left = left_out_risk(model.fit(X, orders + 1), cv=KFold(6))
    assert model.problem_.by_weights
    assert left == pytest.approx(-scores.mean(), abs=1e-9)


def test_sample_weights_weigh_the_risk():
    """Integer weights are repetitions, left out together."""
    weight = np.random.default_rng(0).integers(1, 4, 60)
    rows = np.repeat(np.arange(60), weight)
    for smoother in (None, NadarayaWatson(RBF(0.02))):
        model = ConditionalRiskMinimizer(SPACE, alpha=0.3, smoother=smoother, kernel=RBF(0.02))
        weighted = left_out_risk(model.fit(X, Y, sample_weight=weight))
        repeated = left_out_risk(model.fit(X[rows], Y[rows]), groups=rows)
        assert weighted == pytest.approx(repeated)


def test_no_closed_form_is_said():
    near = ConditionalRiskMinimizer(smoother=Neighbors(3)).fit(X, Y)
    with pytest.raises(ValueError, match="no alpha to vary"):
        left_out_risk(near, alphas=[1.0])
    with pytest.raises(ValueError, match="one row"):
        left_out_risk(ConditionalRiskMinimizer(smoother="kernel_ridge").fit(X[:1], Y[:1]))
    single = ConditionalRiskMinimizer(alpha=1.0).fit(X, Y)
    with pytest.raises(ValueError, match='needs solver="spectral"'):
        left_out_risk(single, alphas=[0.1, 1.0])
    model = ConditionalRiskMinimizer(smoother=RandomForestRegressor(3)).fit(X, Y)
    with pytest.raises(ValueError, match="no closed form"):
        left_out_risk(model)


def test_scorers_in_pipelines_and_together():
    model = make_pipeline(StandardScaler(), ConditionalRiskMinimizer(SPACE, alpha=0.3))
    scores = cross_validate(
        model, X, Y, cv=3, scoring={name: loss_scorer(name) for name in ("hamming", "f1")}
    )
    assert (scores["test_hamming"] <= 0).all()
    assert (scores["test_f1"] >= -1).all()
