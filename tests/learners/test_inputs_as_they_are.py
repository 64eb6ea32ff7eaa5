# SPDX-License-Identifier: BSD-3-Clause
"""Missing values, categories and texts reach a smoother that takes them; for others they are
encoded.
"""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.utils import get_tags

from skstruct import ConditionalRiskMinimizer, config_context, smoothing
from skstruct.encoding import TableEncoder
from skstruct.learners import Checkpoint
from skstruct.model_selection import evaluate
from skstruct.smoothing import Forest, KernelRidge, Neighbors
from skstruct.spaces import LabelSets, Sequences
from skstruct.streaming import predict_batches

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X @ RNG.normal(size=(3, 3)) > 0).astype(int)
GAPS = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
BOOSTING = HistGradientBoostingRegressor(max_iter=5, min_samples_leaf=5, random_state=0)
TAKE_GAPS = {
    "forest": RandomForestRegressor(5, random_state=0),
    "boosting": MultiOutputRegressor(BOOSTING),
    "imputed": make_pipeline(SimpleImputer(), Ridge()),
    "nothing first": make_pipeline("passthrough", SimpleImputer(), Ridge()),
    "scaled": make_pipeline(StandardScaler(), RandomForestRegressor(5, random_state=0)),
    "searched": GridSearchCV(make_pipeline(SimpleImputer(), Ridge()), {"ridge__alpha": [1]}, cv=3),
    "transformed": TransformedTargetRegressor(make_pipeline(SimpleImputer(), Ridge())),
    "function": make_pipeline(FunctionTransformer(np.nan_to_num), Ridge()),
    "columns": make_pipeline(make_column_transformer((SimpleImputer(), [0, 1, 2])), Ridge()),
    "classifier": RandomForestClassifier(5, random_state=0),
    "boosted classifier": HistGradientBoostingClassifier(max_iter=5, random_state=0),
    "imputed classifier": make_pipeline(SimpleImputer(), LogisticRegression()),
}
TAKE_NONE = {
    "nothing": None,
    "ridge": Ridge(),
    "neighbors": KNeighborsRegressor(),
    "chain": RegressorChain(BOOSTING),
    "pipeline": make_pipeline(
        FunctionTransformer(validate=True), RandomForestRegressor(5, random_state=0)
    ),
    "own ridge": KernelRidge(),
    "own neighbors": Neighbors(),
    "own forest": Forest(5, random_state=0),
}


def learner(smoother):
    return ConditionalRiskMinimizer(LabelSets(), "hamming", smoother=smoother)


@pytest.mark.slow
@pytest.mark.parametrize("name", TAKE_GAPS)
def test_gaps_reach_a_smoother_that_takes_them(name):
    model = learner(TAKE_GAPS[name]).fit(GAPS, Y)
    assert get_tags(model).input_tags.allow_nan
    alone = clone(model.smoother_).fit(GAPS, model.problem_.targets()).predict(GAPS)
    P = alone[:, :3]
    assert_allclose(model.decode(GAPS).values, np.minimum(P, 1 - P).sum(axis=1), atol=1e-8)
    assert np.isfinite(cross_val_score(learner(TAKE_GAPS[name]), GAPS, Y, cv=2)).all()
    framed = learner(TAKE_GAPS[name]).fit(pd.DataFrame(GAPS, columns=list("abc")), Y)
    assert_array_equal(framed.predict(pd.DataFrame(GAPS, columns=list("abc"))), model.predict(GAPS))


@pytest.mark.parametrize("name", TAKE_NONE)
def test_gaps_are_filled_and_flagged_for_others(name):
    """As scikit-learn's own imputer does it; by medians alone where training had no gaps."""
    model = learner(TAKE_NONE[name])
    assert get_tags(model).input_tags.allow_nan
    imputer = SimpleImputer(strategy="median", add_indicator=True).fit(GAPS)
    alone = learner(TAKE_NONE[name]).fit(imputer.transform(GAPS), Y)
    for inputs in (GAPS, pd.DataFrame(GAPS)):
        model.fit(inputs, Y)
        assert model.n_features_in_ == 3
        assert_array_equal(model.predict(inputs), alone.predict(imputer.transform(GAPS)))
    filled = np.where(np.isnan(GAPS), np.median(X, axis=0), GAPS)
    model.fit(X, Y)
    assert_array_equal(model.predict(GAPS), model.predict(filled))
    if name == "nothing":
        assert_array_equal(model.predict(sparse.csr_array(GAPS)), model.predict(filled))


def test_gaps_of_a_precomputed_kernel_are_refused():
    model = ConditionalRiskMinimizer(LabelSets(), kernel="precomputed", alpha=1.0)
    assert not get_tags(model).input_tags.allow_nan
    gram = X @ X.T
    gram[0, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.fit(gram, Y)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X @ X.T, Y).predict(gram)


def test_infinity_is_refused_everywhere():
    bad = GAPS.copy()
    bad[3, 1] = np.inf
    for name in ("forest", "imputed", "boosting", "classifier"):
        with pytest.raises(ValueError, match="infinity"):
            learner(TAKE_GAPS[name]).fit(bad, Y)
        with pytest.raises(ValueError, match="infinity"):
            learner(TAKE_GAPS[name]).fit(GAPS, Y).predict(bad)
    for smoother in (None, Ridge()):
        with pytest.raises(ValueError, match="row 4, column 'x1' is infinite"):
            learner(smoother).fit(bad, Y)
        with pytest.raises(ValueError, match="row 4, column 'x1' is infinite"):
            learner(smoother).fit(GAPS, Y).predict(bad)
        for good in (X, pd.DataFrame(X)):
            with pytest.raises(ValueError, match="infinity"):
                learner(smoother).fit(good, Y).predict(bad)


def table(n=60):
    frame = pd.DataFrame({"size": X[:n, 0], "colour": np.where(X[:n, 1] > 0, "red", "blue")})
    frame["kind"] = pd.Categorical(np.where(X[:n, 2] > 0, "new", None))
    return frame.set_axis(np.arange(n) + 0.5)  # labels of rows that slices must not look at


ENCODED = make_pipeline(
    make_column_transformer((OneHotEncoder(), ["colour", "kind"]), (StandardScaler(), ["size"])),
    RandomForestRegressor(5, random_state=0),
)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_frames_reach_a_pipeline_as_they_are(n_jobs):
    frame = table()
    model = learner(ENCODED).set_params(n_jobs=n_jobs).fit(frame, Y)
    assert list(model.feature_names_in_) == ["size", "colour", "kind"]
    alone = clone(ENCODED).fit(frame, model.problem_.targets()).predict(frame)[:, :3]
    batches = [frame.iloc[:17], frame.iloc[17:]]
    with config_context(memory=3000):
        assert_allclose(model.decode(frame).values, np.minimum(alone, 1 - alone).sum(axis=1))
        parts = list(predict_batches(model, batches))
    assert_array_equal(np.concatenate(parts), model.predict(frame))
    assert [e.n for e in evaluate(model, frame, Y)] == [60] * 3
    for wrong in (frame[["colour", "size", "kind"]], frame.drop(columns="kind")):
        with pytest.raises(ValueError, match="feature names"):
            model.predict(wrong)
    with pytest.raises(ValueError, match="no rows"):
        model.predict(frame.iloc[:0])


def test_categories_of_a_frame_reach_boosting():
    frame = table()
    frame["colour"] = frame["colour"].astype("category")
    model = learner(MultiOutputRegressor(BOOSTING)).fit(frame, Y)
    alone = clone(model.smoother_).fit(frame, model.problem_.targets()).predict(frame)[:, :3]
    risks = np.minimum(alone, 1 - alone).sum(axis=1)
    assert_allclose(model.decode(frame).values, risks, atol=1e-8)


def test_a_frame_with_texts_is_encoded_without_such_a_smoother():
    frame = table()
    encoded = TableEncoder().fit(frame)
    for smoother in (None, Ridge(), Forest(5, random_state=0)):
        model = learner(smoother).fit(frame, Y)
        alone = learner(smoother).fit(encoded.transform(frame), Y)
        assert list(model.feature_names_in_) == ["size", "colour", "kind"]
        assert_array_equal(model.predict(frame), alone.predict(encoded.transform(frame)))


def test_arrays_of_objects_and_texts():
    rows = [["red" if x[1] > 0 else "blue", x[0]] for x in X]
    encode = make_column_transformer((OneHotEncoder(), [0]), remainder="passthrough")
    smoother = make_pipeline(encode, Ridge())
    model = learner(smoother).fit(rows, Y)
    alone = clone(smoother).fit(np.array(rows, dtype=object), Y).predict(np.array(rows, object))
    assert_allclose(model.smoother_.predict(np.array(rows, dtype=object))[:, :3], alone)
    texts = ["sun and sea" if x[0] > 0 else "rain" for x in X]
    y = np.where(X[:, 0] > 0, "out", "in")
    reader = ConditionalRiskMinimizer(smoother=make_pipeline(TfidfVectorizer(), Ridge(0.01)))
    for inputs in (texts, np.array(texts), pd.Series(texts)):
        assert_array_equal(reader.fit(inputs, y).predict(inputs), y)


def test_texts_are_refused_without_such_a_smoother():
    texts = ["sun", "rain"] * 30
    for inputs in (texts, np.array(texts), np.array(texts, dtype=object)):
        with pytest.raises(ValueError, match=r"X\[0\] is the text 'sun'"):
            ConditionalRiskMinimizer(smoother="kernel_ridge").fit(inputs, Y)


def test_sparse_inputs_and_positions():
    model = learner(RandomForestRegressor(5, random_state=0))
    assert_array_equal(
        model.fit(sparse.csr_array(X), Y).predict(sparse.csr_array(X)), model.fit(X, Y).predict(X)
    )
    tokens, tags = (
        np.split(GAPS, 20),
        [["ab"[int(v)] for v in t] for t in np.split(Y[:, 0], 20)],
    )
    tagger = ConditionalRiskMinimizer(Sequences(), smoother=TAKE_GAPS["imputed"]).fit(tokens, tags)
    assert [len(z) for z in tagger.predict(tokens)] == [3] * 20


def test_a_checkpoint_knows_frames_apart(tmp_path):
    path = tmp_path / "fit.checkpoint"
    model = learner(ENCODED).fit(table(), Y, checkpoint=Checkpoint(path))
    assert_array_equal(model.predict(table()), learner(ENCODED).fit(table(), Y).predict(table()))


def test_a_regressor_of_one_target_is_told_how_to_be_wrapped():
    with pytest.raises(ValueError, match=r"MultiOutputRegressor\(HistGradientBoostingRegressor"):
        learner(BOOSTING).fit(X, Y)


@pytest.mark.slow
def test_another_loss_names_smoothers_that_take_it():
    said = "Ridge was fitted to indicators.*keeps its training rows.*Forest"
    with pytest.raises(ValueError, match=said):
        learner(Ridge()).fit(X, Y).predict(X, loss="f1")
    kept = ("KernelRidge", "LinearRidge", "Neighbors", "NadarayaWatson", "Forest")
    for smoother in (*(getattr(smoothing, name)() for name in kept), RandomForestClassifier(5)):
        fitted = learner(smoother).fit(X, Y)
        assert fitted.predict(X, loss="f1").shape == Y.shape
