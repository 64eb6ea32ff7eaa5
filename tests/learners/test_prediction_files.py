# SPDX-License-Identifier: BSD-3-Clause
import pickle

import numpy as np
import pytest
from scipy import sparse

from learners.stream_cases import classes, inputs, label_sets, rankings, symbols, tokens, words
from skstruct import ConditionalRiskMinimizer
from skstruct.kernels import RBF
from skstruct.learners.prediction_streams import PredictedColumns, prepared
from skstruct.spaces import Candidates, LabelSets, Rankings, Sequences
from skstruct.streaming import ArraySource, decode_batches, predict_batches, predict_parquet
from skstruct.streaming.prediction import column_names

pandas = pytest.importorskip("pandas")
parquet = pytest.importorskip("pyarrow.parquet")
dataset = pytest.importorskip("pyarrow.dataset")

X, X_NEW = inputs(), inputs(15, seed=1)
NAMES = np.array(list("wxyz"))


def names_of(Y):
    return [set(NAMES[row > 0]) for row in Y]


def pairs(X):
    return [("a", 1) if x[0] > 0 else ("b", 2) for x in X]


def fitted(y, space=None, loss=None, X=X):
    return ConditionalRiskMinimizer(space, loss, alpha=0.1, kernel=RBF(0.5)).fit(X, y)


def written(model, folder, X=X_NEW, **choices):
    """Columns of all part files, read at once."""
    assert predict_parquet(model, X, folder, **choices) == len(X)
    columns = dataset.dataset(folder).to_table().to_pydict()
    assert columns.pop("row") == list(range(len(X)))
    kept = {name: choices[name] for name in choices if name != "n_partitions"}
    decoded = model.decode(X, **kept)
    np.testing.assert_allclose(columns.pop("risk"), decoded.values, atol=1e-12)
    np.testing.assert_allclose(columns.pop("bound"), decoded.bounds, atol=1e-12)
    return columns


def as_array(outputs):
    return outputs.toarray() if sparse.issparse(outputs) else np.asarray(outputs)


# form: outputs of training, space, loss
TABLES = {
    "array": (label_sets(X), LabelSets(), "hamming"),
    "sparse": (sparse.csr_array(label_sets(X)), LabelSets(), "hamming"),
    "frame": (pandas.DataFrame(label_sets(X), columns=list("dacb")), LabelSets(), "hamming"),
    "rankings": (rankings(X), Rankings(), "kendall"),
}
LISTS = {
    "classes": (classes(X), None, None),
    "numbered classes": (label_sets(X)[:, 0] + 5, None, "zero_one"),
    "series": (pandas.Series(classes(X), name="tree"), None, None),
    "sets": (names_of(label_sets(X)), LabelSets(), "hamming"),
    "words": (words(X), Sequences(), "hamming"),
    "mixed tuples": (pairs(X), Candidates([("a", 1), ("b", 2)]), "zero_one"),
    "tuples of numbers": (
        [(1, 2.5) if x[0] > 0 else (3, 4) for x in X],
        Candidates([(1, 2.5), (3, 4)]),
        "zero_one",
    ),
}


@pytest.mark.parametrize("n_partitions", [1, 4])
@pytest.mark.parametrize("format", TABLES)
def test_outputs_with_a_number_for_each_label_become_columns(tmp_path, format, n_partitions):
    model = fitted(*TABLES[format])
    columns = written(model, tmp_path, n_partitions=n_partitions)
    right = model.predict(X_NEW)
    names = right.columns if format == "frame" else getattr(model.space_, "labels_", range(4))
    assert list(columns) == [str(name) for name in names]
    np.testing.assert_array_equal(np.transpose(list(columns.values())), as_array(right))


@pytest.mark.parametrize("n_partitions", [1, 4])
@pytest.mark.parametrize("format", LISTS)
def test_other_outputs_become_one_column(tmp_path, format, n_partitions):
    model = fitted(*LISTS[format])
    [(name, found)] = written(model, tmp_path, n_partitions=n_partitions).items()
    right = list(model.predict(X_NEW))
    assert name == "prediction"
    if format == "sets":
        right = [sorted(output) for output in right]
    elif format == "mixed tuples":
        right = [{"0": text, "1": number} for text, number in right]
    elif format == "tuples of numbers":
        right = [list(output) for output in right]
    assert found == right


@pytest.mark.parametrize("format", [*TABLES, *LISTS])
def test_batches_are_predicted_as_all_rows(format):
    model = fitted(*{**TABLES, **LISTS}[format])
    parts = list(predict_batches(model, [X_NEW[:4], X_NEW[4:4], X_NEW[4:]]))
    right = model.predict(X_NEW)
    assert [type(part) for part in parts] == 3 * [type(right)]
    assert [part.shape[0] for part in parts] == [4, 0, 11]
    found = [row for part in parts for row in as_array(part).tolist()]
    assert found == as_array(right).tolist()


# ---------------------------------------------------------------------- types and names
def test_empty_sets_have_the_type_of_all_others(tmp_path):
    model = fitted(names_of(label_sets(X)), LabelSets(), "hamming")
    sizes = np.array([len(z) for z in model.predict(X)])
    empty, other = X[sizes == 0][:1], X[sizes > 0]
    rows = np.concatenate([np.repeat(empty, 5000, axis=0), other])  # more than a block
    for n_partitions in (1, 8):
        folder = tmp_path / str(n_partitions)
        found = written(model, folder, rows, n_partitions=n_partitions)["prediction"]
        assert found == [sorted(z) for z in model.predict(rows)]
        kinds = {parquet.read_schema(p).field("prediction").type for p in folder.iterdir()}
        assert [str(kind.value_type) for kind in kinds] == ["string"]


def test_sets_of_numbers_are_sorted_by_value(tmp_path):
    y = [{2, 10} if x[0] > 0 else {10} for x in X]
    found = written(fitted(y, LabelSets(), "hamming"), tmp_path)["prediction"]
    assert {tuple(z) for z in found} == {(2, 10), (10,)}


def test_outputs_that_no_column_holds_are_refused(tmp_path):
    y = [{1, "a"} if x[0] > 0 else {"a"} for x in X]
    model = fitted(y, LabelSets(labels=[1, "a"]), "hamming")
    with pytest.raises(ValueError, match=r"\[1, 'a'\] cannot be held by one column"):
        predict_parquet(model, X_NEW, tmp_path)


def test_no_column_takes_the_place_of_another(tmp_path):
    labels = ["risk", "risk_prediction", "a", "row"]
    model = fitted(pandas.DataFrame(label_sets(X), columns=labels), LabelSets(), "hamming")
    columns = written(model, tmp_path)
    assert list(columns) == ["risk_prediction_2", "risk_prediction", "a", "row_prediction"]
    right = model.predict(X_NEW).to_numpy()
    np.testing.assert_array_equal(np.transpose(list(columns.values())), right)
    assert column_names([1, "1", "1_prediction"]) == ["1", "1_prediction_2", "1_prediction"]


def test_predicted_columns_can_be_sent():
    model = fitted(pairs(X), Candidates([("a", 1), ("b", 2)]), "zero_one")
    columns = pickle.loads(pickle.dumps(PredictedColumns(model, {})))
    [block] = ArraySource(X_NEW[:2]).partitions()[0].blocks(9)
    assert columns(block)["prediction"].to_pylist() == [
        {"0": text, "1": number} for text, number in model.predict(X_NEW[:2])
    ]


# ---------------------------------------------------------------------- choices and rows
def test_constraints_are_the_same_for_all_rows(tmp_path):
    model = fitted(label_sets(X), LabelSets(), "hamming")
    for by_row in ({"exclude": np.eye(4, dtype=bool)}, {"include": [[0], [1], [], []]}):
        with pytest.raises(ValueError, match="differ from row to row cannot be given for batches"):
            list(predict_batches(model, [X_NEW[:4], X_NEW[4:8]], restrict=by_row))
        with pytest.raises(ValueError, match="differ from row to row"):
            list(decode_batches(model, [X_NEW[:4]], restrict=by_row))
        with pytest.raises(ValueError, match="differ from row to row"):
            predict_parquet(model, X_NEW[:8], tmp_path, restrict=by_row, n_partitions=2)
        assert list(tmp_path.iterdir()) == []
    for number, choices in enumerate(({"restrict": {"exclude": [1]}}, {"loss": "f1"})):
        right = model.predict(X_NEW, **choices)
        found = list(predict_batches(model, [X_NEW[:4], X_NEW[4:]], **choices))
        np.testing.assert_array_equal(np.concatenate(found), right)
        columns = written(model, tmp_path / str(number), n_partitions=2, **choices)
        np.testing.assert_array_equal(np.transpose(list(columns.values())), right)


def test_unknown_choices_are_named(tmp_path):
    model = fitted(label_sets(X), LabelSets(), "hamming")
    said = "ConditionalRiskMinimizer has no choice 'foo' of prediction; it has loss, restrict"
    with pytest.raises(TypeError, match=said):
        prepared(model, {"foo": 1})
    with pytest.raises(TypeError, match=said):
        predict_parquet(model, X_NEW, tmp_path, foo=1)


def test_batches_of_a_data_loader():
    model = fitted(label_sets(X), LabelSets(), "hamming")
    right = model.predict(X_NEW)
    y = label_sets(X_NEW)
    for batches in (
        [(X_NEW[:5],), (X_NEW[5:],)],
        [[X_NEW[:5]], [X_NEW[5:]]],
        [(X_NEW[:5], y[:5]), (X_NEW[5:], y[5:])],
        [[X_NEW[:5], y[:5], np.ones(5)], [X_NEW[5:], y[5:], np.ones(10)]],
        [X_NEW[:5].tolist(), X_NEW[5:].tolist()],
    ):
        np.testing.assert_array_equal(np.concatenate(list(predict_batches(model, batches))), right)
    with pytest.raises(ValueError, match="block 1 is a tuple of 4"):
        list(predict_batches(model, [(X_NEW,), (X_NEW, 1, 2, 3)]))


def test_lists_of_sequences_are_inputs():
    sequences = tokens(X)
    model = fitted(symbols(sequences), Sequences(), "hamming", X=sequences)
    new = tokens(X_NEW)
    found = [z for part in predict_batches(model, [new[:1], new[1:3], new[3:]]) for z in part]
    assert list(map(list, found)) == list(map(list, model.predict(new)))


def test_no_rows_to_predict_for(tmp_path):
    model = fitted(label_sets(X), LabelSets(), "hamming")
    folder = tmp_path / "out"
    with pytest.raises(ValueError, match=r"^There are no rows to predict for\.$"):
        predict_parquet(model, X_NEW[:0], folder)
    assert not folder.exists()
