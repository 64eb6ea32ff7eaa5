# SPDX-License-Identifier: BSD-3-Clause
"""Learners that only predict: rankers of this library, and estimators of scikit-learn."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skstruct.learners import PairwiseComparison
from skstruct.streaming import ArraySource, decode_batches, predict_batches, predict_parquet
from skstruct.streaming.blocks import Block
from skstruct.streaming.prediction import PlainColumns, TypedColumn, output_columns, plain_output

pandas = pytest.importorskip("pandas")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
dataset = pytest.importorskip("pyarrow.dataset")

X = np.random.default_rng(0).standard_normal((30, 3))
X_NEW = np.random.default_rng(1).standard_normal((11, 3))
CLASSES = np.where(X[:, 0] > 0, "yes", "no")
RANKS = np.argsort(np.argsort(X, axis=1), axis=1) + 1
FRAME, FRAME_NEW = (pandas.DataFrame(x, columns=["u", "v", "w"]) for x in (X, X_NEW))


def pipeline(X=X, y=CLASSES):
    return make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)


def ranker():
    return PairwiseComparison().fit(X, RANKS)


def targets():
    return LinearRegression().fit(X, X @ [[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])


def columns_in(folder):
    return dataset.dataset(folder).to_table().to_pydict()


@pytest.mark.parametrize("made", [pipeline, ranker, targets])
def test_batches_are_predicted_as_all_rows(made):
    model = made()
    first, none, last = predict_batches(model, [X_NEW[:4], X_NEW[4:4], X_NEW[4:]])
    assert len(none) == 0
    np.testing.assert_array_equal(np.concatenate([first, last]), model.predict(X_NEW))


def test_batches_of_files_are_the_columns_of_the_fit(tmp_path):
    model = pipeline(FRAME)
    other = FRAME_NEW[["w", "u", "v"]].assign(z=0.0)  # in another order, and one more
    parquet.write_table(pyarrow.table(other), tmp_path / "new.parquet")
    found = list(predict_batches(model, tmp_path / "new.parquet"))
    np.testing.assert_array_equal(np.concatenate(found), model.predict(FRAME_NEW))


@pytest.mark.filterwarnings("ignore:X has feature names")
def test_a_file_is_read_whole_where_a_model_knows_no_names(tmp_path):
    parquet.write_table(pyarrow.table(FRAME_NEW), tmp_path / "new.parquet")
    model = pipeline()
    assert not hasattr(model, "feature_names_in_")
    assert predict_parquet(model, tmp_path / "new.parquet", tmp_path / "out") == len(X_NEW)
    assert columns_in(tmp_path / "out")["prediction"] == model.predict(X_NEW).tolist()


@pytest.mark.parametrize("n_partitions", [1, 3])
def test_files_hold_rows_and_outputs_alone(tmp_path, n_partitions):
    model = pipeline()
    assert predict_parquet(model, X_NEW, tmp_path, n_partitions=n_partitions) == len(X_NEW)
    found = columns_in(tmp_path)
    assert list(found) == ["row", "prediction"]
    assert found["row"] == list(range(len(X_NEW)))
    assert found["prediction"] == model.predict(X_NEW).tolist()


def test_rankings_are_columns_by_label(tmp_path):
    model = ranker()
    predict_parquet(model, X_NEW, tmp_path)
    found = columns_in(tmp_path)
    assert list(found) == ["row", *map(str, model.space_.labels_)]
    np.testing.assert_array_equal(list(found.values())[1:], model.predict(X_NEW).T)


def test_orders_are_lists_and_no_columns_by_label(tmp_path):
    names = np.array(["rum", "tea", "gin"])
    model = PairwiseComparison().fit(X, names[np.argsort(X, axis=1)].tolist())
    predict_parquet(model, X_NEW, tmp_path)
    found = columns_in(tmp_path)
    assert list(found) == ["row", "prediction"]
    assert found["prediction"] == [list(z) for z in model.predict(X_NEW)]


def test_several_numbers_without_names_are_columns_by_number(tmp_path):
    predict_parquet(targets(), X_NEW, tmp_path)
    found = columns_in(tmp_path)
    assert list(found) == ["row", "0", "1"]
    np.testing.assert_array_equal([found["0"], found["1"]], targets().predict(X_NEW).T)


def test_decoding_needs_risks():
    with pytest.raises(TypeError, match=r"Pipeline predicts without risks.*Use predict_batches"):
        decode_batches(pipeline(), [X_NEW])


@pytest.mark.parametrize(("bad", "kind"), [(X_NEW[:, :2], ValueError), ([[{}] * 3], TypeError)])
def test_an_error_names_the_batch(bad, kind):
    batches = predict_batches(pipeline(), [X_NEW, bad])
    assert len(next(batches)) == len(X_NEW)
    with pytest.raises(kind, match=r"^In batch 1: "):
        next(batches)


def test_an_error_names_the_rows(tmp_path):
    broken = X_NEW.copy()
    broken[7, 1] = np.inf
    with pytest.raises(ValueError, match=r"^In rows 6 to 10: .*infinity"):
        predict_parquet(pipeline(), broken, tmp_path / "out", n_partitions=2)
    assert list((tmp_path / "out").iterdir()) == []


def test_an_error_names_the_file(tmp_path):
    table = pyarrow.table(FRAME_NEW.assign(v=np.inf))
    parquet.write_table(table, tmp_path / "broken.parquet")
    with pytest.raises(ValueError, match=r"^In rows 0 to 10 of .*broken\.parquet: .*infinity"):
        predict_parquet(pipeline(FRAME), tmp_path / "broken.parquet", tmp_path / "out")


def test_plain_columns_can_be_sent():
    columns = pickle.loads(pickle.dumps(PlainColumns(pipeline(), {})))
    found = columns(Block(X_NEW[3:5], start=3))
    assert found["row"].tolist() == [3, 4]
    assert found["prediction"] == pipeline().predict(X_NEW[3:5]).tolist()


class Chosen(BaseEstimator):
    """Predicts with what it is told to."""

    def predict(self, X, *, answer):
        return [answer] * len(X)


def test_choices_are_those_of_predict(tmp_path):
    model, source = Chosen(), ArraySource(X_NEW)
    assert list(predict_batches(model, source, answer="x")) == [["x"] * len(X_NEW)]
    predict_parquet(model, X_NEW, tmp_path, answer=(1, 2))
    assert columns_in(tmp_path)["prediction"] == [[1, 2]] * len(X_NEW)


# ------------------------------------------------------------------ columns
def test_tuples_of_several_types_are_structs():
    column = TypedColumn([["a", 1], ["b", 2]])
    found = column([["c", 3]])
    assert str(found.type) == "struct<0: string, 1: int64>"
    assert found.to_pylist() == [{"0": "c", "1": 3}]


@pytest.mark.parametrize("examples", [
    [["a", 1], ["b"]],  # of several lengths
    [["a", 1], [2, "b"]],  # the same field of several types
])  # fmt: skip
def test_examples_that_no_column_holds(examples):
    with pytest.raises(ValueError, match=r"\['a', 1\] cannot be held by one column"):
        TypedColumn(examples)


def test_outputs_unlike_the_examples_have_a_type_of_their_own():
    column = TypedColumn([1, 2])
    assert column([3]).type == pyarrow.int64()
    assert column(["c"]).to_pylist() == ["c"]
    with pytest.raises(ValueError, match="'d' cannot be held by one column"):
        column(["d", 1])


def test_without_examples_each_column_has_its_own_type():
    column = TypedColumn([])
    assert (column([1]).type, column(["a"]).type) == (pyarrow.int64(), pyarrow.string())


def test_arrays_within_outputs_are_lists():
    objects = np.array([np.int64(1), (np.float64(0.5), {"b", "a"})], dtype=object)
    assert plain_output(np.arange(3)) == [0, 1, 2]
    assert plain_output(objects) == [1, [0.5, ["a", "b"]]]
    found = output_columns([np.array([1.0, 2.0]), np.array([3.0])], None)
    assert found == {"prediction": [[1.0, 2.0], [3.0]]}
