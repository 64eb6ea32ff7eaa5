# SPDX-License-Identifier: BSD-3-Clause
"""Learners on frames with names, dates and missing cells, in Python and in scikit-learn's tools."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from skstruct import (
    ConditionalRiskMinimizer,
    CountingRidge,
    ExponentialFamily,
    OutputKernelRegressor,
    StructuredPerceptron,
    StructuredSVM,
    load_model,
    save_model,
)
from skstruct.encoding import TableEncoder
from skstruct.learners import NeighborLabelRanker, PairwiseComparison
from skstruct.persistence import describe_model

pd = pytest.importorskip("pandas")
RNG = np.random.default_rng(0)
N = 40
LEARNERS = {
    "risk": ConditionalRiskMinimizer(alpha=0.1),
    "landmarks": ConditionalRiskMinimizer(alpha=0.1, solver="nystroem"),
    "svm": StructuredSVM(alpha=0.01, random_state=0),
    "family": ExponentialFamily(alpha=0.01, random_state=0),
    "counting": CountingRidge(alpha=0.01),
    "perceptron": StructuredPerceptron(random_state=0),
    "output kernel": OutputKernelRegressor(alpha=0.1),
}


def days_table():
    frame = pd.DataFrame(
        {
            "warmth": np.where(RNG.random(N) < 0.2, np.nan, RNG.normal(size=N)),
            "sky": pd.Categorical(RNG.choice(["sun", "rain", "snow"], N)),
            "town": RNG.choice(["Ulm", "Bonn"], N),
            "when": pd.Timestamp("2020-01-01")
            + pd.to_timedelta(RNG.integers(0, 9000, N), unit="h"),
            "holiday": RNG.random(N) < 0.5,
        },
        index=[f"day {i}" for i in range(N)],
    )
    frame.loc[frame.index[:3], "town"] = None
    return frame


FRAME = days_table()
Y = pd.Series(np.where(FRAME["sky"] == "sun", "out", "in"), index=FRAME.index)


def frame_of(library):
    if library == "pandas":
        return FRAME
    made = pytest.importorskip(library)
    if library == "polars":
        known = FRAME.astype(object).where(FRAME.notna(), None)
        return made.DataFrame({name: known[name].tolist() for name in known})
    return made.Table.from_pandas(FRAME, preserve_index=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_takes_a_frame(name):
    """And learns what it would have learned from the numbers."""
    model, alone = clone(LEARNERS[name]).fit(FRAME, Y), clone(LEARNERS[name])
    encoder = TableEncoder().fit(FRAME)
    numbers = encoder.transform(FRAME)
    predicted = model.predict(FRAME)
    assert_array_equal(np.asarray(predicted), np.asarray(alone.fit(numbers, Y).predict(numbers)))
    assert (np.asarray(predicted) == Y.to_numpy()).mean() > 0.9
    assert predicted.index.equals(FRAME.index)
    assert model.n_features_in_ == 5
    assert model.feature_names_in_.tolist() == list(FRAME.columns)
    assert get_tags(model).input_tags.allow_nan
    mixed = FRAME[FRAME.columns[::-1]].assign(more="x")
    assert_array_equal(model.predict(mixed), predicted)
    with pytest.raises(ValueError, match=r"1 of them are not in these data: 'sky'"):
        model.predict(FRAME.drop(columns="sky"))


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_frames_of_other_libraries(library):
    frame, y = frame_of(library), Y.tolist()
    expected = clone(LEARNERS["risk"]).fit(FRAME, y)
    model = clone(LEARNERS["risk"]).fit(frame, y)
    for rows in (frame, FRAME):
        assert_array_equal(np.asarray(model.predict(rows)), np.asarray(expected.predict(FRAME)))
    assert model.feature_names_in_.tolist() == list(FRAME.columns)
    assert isinstance(model.predict(frame), type(expected.predict(FRAME.to_dict("records"))))


def test_rankers_take_frames():
    ranks = np.where((FRAME["sky"] == "sun").to_numpy()[:, None], [1, 2, 3], [3, 1, 2])
    for ranker in (PairwiseComparison(), NeighborLabelRanker()):
        ranker.fit(FRAME, ranks)
        assert ranker.score(FRAME, ranks) > 0.5
        assert ranker.n_features_in_ == 5


@pytest.mark.parametrize("rows", ["records", "objects"])
def test_records_and_objects(rows):
    X = FRAME.to_dict("records") if rows == "records" else FRAME.to_numpy(dtype=object)
    y = Y.tolist()
    model = clone(LEARNERS["risk"]).fit(X, y)
    expected = clone(LEARNERS["risk"]).fit(FRAME, y).predict(FRAME)
    assert_array_equal(model.predict(X), np.asarray(expected))
    assert hasattr(model, "feature_names_in_") == (rows == "records")
    model.fit(np.zeros((N, 2)), y)  # another fit leaves no names behind
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", ["risk", "landmarks", "svm"])
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_model_files_hold_how_frames_are_read(name, library, tmp_path):
    model, frame = clone(LEARNERS[name]).fit(FRAME, Y.tolist()), frame_of(library)
    for rows in ({}, {"X": frame}):
        save_model(model, tmp_path / "model", **rows)
        assert describe_model(tmp_path / "model")["tested"]
        again = load_model(tmp_path / "model")
        assert_array_equal(again.predict(frame), model.predict(frame))
        assert again.encoder_.describe() == model.encoder_.describe()
        late = FRAME.assign(warmth=np.nan, sky="fog", when=pd.NaT)
        assert_array_equal(again.predict(late), model.predict(late))


@pytest.mark.slow
def test_pipelines_and_cross_validation(tmp_path):
    learner = LEARNERS["risk"]
    pipeline = make_pipeline(TableEncoder(), learner)
    for model in (learner, pipeline):
        scores = cross_val_score(model, FRAME, Y, cv=4)
        assert scores.mean() > -0.3
    search = GridSearchCV(pipeline, {"tableencoder__scale": ["standard", "none"]}, cv=2)
    assert search.fit(FRAME, Y).predict(FRAME).shape == (N,)
    save_model(pipeline.fit(FRAME, Y), tmp_path / "model", X=FRAME)
    again = load_model(tmp_path / "model")
    assert_array_equal(again.predict(FRAME), pipeline.predict(FRAME))


def test_further_rows_are_encoded_as_the_first_ones():
    encoder = TableEncoder().fit(FRAME[:30])
    for begin in ("fit", "partial_fit"):
        model = ConditionalRiskMinimizer(alpha=0.1, solver="nystroem", random_state=0)
        alone = clone(model)
        getattr(model, begin)(FRAME[:30], Y[:30]).partial_fit(FRAME[30:], Y[30:])
        getattr(alone, begin)(encoder.transform(FRAME[:30]), Y[:30])
        alone.partial_fit(encoder.transform(FRAME[30:]), Y[30:])
        assert model.n_features_in_ == 5
        numbers = encoder.transform(FRAME)
        assert_array_equal(model.decode(FRAME).values, alone.decode(numbers).values)


def test_blocks_of_rows_are_numbers():
    gaps = RNG.normal(size=(N, 2))
    gaps[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        ConditionalRiskMinimizer(alpha=1.0).fit(iter([(gaps, Y.tolist())]))


def test_frames_of_plain_numbers_are_read_as_before():
    """By scikit-learn's rules: no encoder, no scale, and the order of columns counts."""
    numbers = pd.DataFrame(RNG.normal(size=(N, 2)), columns=["a", "b"])
    model = ConditionalRiskMinimizer(alpha=1.0).fit(numbers, Y.to_numpy())
    assert model.encoder_ is None
    alone = ConditionalRiskMinimizer(alpha=1.0).fit(numbers.to_numpy(), Y.to_numpy())
    assert_array_equal(model.decode(numbers).values, alone.decode(numbers.to_numpy()).values)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(numbers[["b", "a"]])


def test_bounds_from_training_rows_are_refused_and_others_hold():
    """What an encoder learned from all rows is no part of their theorems."""
    train, later, y, y_later = FRAME[:25], FRAME[25:], Y[:25], Y[25:]
    for model in (
        ConditionalRiskMinimizer(alpha=1.0, fit_intercept=False),
        OutputKernelRegressor(alpha=1.0),
    ):
        model.fit(train, y)
        with pytest.raises(ValueError, match="learned from these rows"):
            model.certify(train, y)
        assert 0 < model.certify(later, y_later).value <= 1
        with pytest.raises(ValueError, match="row of training"):
            model.certify(FRAME[10:], Y[10:])


def test_mixed_cells_are_named():
    bad = FRAME.assign(town=["Ulm", 3.5, *["Bonn"] * (N - 2)])
    with pytest.raises(ValueError, match=r"row 2, column 'town': one of numbers, '3\.5'"):
        ConditionalRiskMinimizer().fit(bad, Y)


@pytest.mark.parametrize("name", ["svm", "family", "counting"])
def test_tables_of_pyarrow_with_outputs_beside_them(name):
    """Names that are outputs are not taken for names of columns, where there are none of these."""
    table, y = frame_of("pyarrow"), Y.tolist()
    model = clone(LEARNERS[name]).fit(table, y)
    expected = clone(LEARNERS[name]).fit(FRAME, y).predict(FRAME)
    assert_array_equal(np.asarray(model.predict(table)), np.asarray(expected))
