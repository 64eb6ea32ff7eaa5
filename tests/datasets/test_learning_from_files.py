# SPDX-License-Identifier: BSD-3-Clause
"""What a file holds is what learners take: X, y and the space, of every task and format."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import skstruct
from skstruct import ConditionalRiskMinimizer, ExponentialFamily
from skstruct.datasets import Dataset, Table, read_data, write_data
from skstruct.datasets.formats import FORMATS
from skstruct.tasks import TaskModel

pandas = pytest.importorskip("pandas")
SAMPLES = Path(skstruct.__file__).parent / "datasets" / "samples"
RNG = np.random.default_rng(0)
N = 20
WARM = RNG.normal(size=N).round(2)
TABLE = Table(
    ("warmth", "sky"),
    (None, ("cloudy", "rainy", "sunny")),
    np.column_stack([np.where(np.arange(N) == 3, np.nan, WARM), np.arange(N) % 3]),
)
HIGH = WARM > 0
OUTPUTS = {
    "classes": (np.where(HIGH, "cat", "dog"), ("cat", "dog")),
    "labels": ([("p", "q") if high else ("p",) for high in HIGH], ("p", "q")),
    "hierarchy": ([("m/n",) if high else ("m",) for high in HIGH], ("m", "m/n")),
    "ranking": (np.array([[1, 2, 3], [3, 0, 1]])[HIGH.astype(int)], ("u", "v", "w")),
    "regression": (np.column_stack([WARM, 2 * WARM]).round(2), ("weight", "height")),
    "histogram": (np.array([[0.25, 0.75], [0.5, 0.5]])[HIGH.astype(int)], ("left", "right")),
    "ordinal": (np.where(HIGH, "2", "1"), ("1", "2")),
}


def learner_of(data):
    if data.task == "sequence" and not isinstance(data.inputs, Table):
        return ExponentialFamily(data.space(), alpha=0.01, random_state=0)
    return ConditionalRiskMinimizer(data.space(), alpha=0.1)


def check_learned(data):
    """Fitted, the predictions are outputs of the space in the format of y."""
    model = learner_of(data).fit(data.X, data.y)
    predicted = model.predict(data.X)
    assert len(predicted) == len(data)
    assert model.space_.contains(model.space_.validate(predicted)).all()
    assert np.isfinite(model.score(data.X, data.y))
    return model


@pytest.mark.slow
@pytest.mark.parametrize("name", ["animals.arff", "drinks.csv", "garden.csv", "phrases.txt"])
def test_samples_are_learned_from_in_python(name):
    targets = ["beans", "tomatoes"] if name == "garden.csv" else None
    check_learned(read_data(SAMPLES / name, targets=targets))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["animals.arff", "garden.csv"])
def test_python_and_the_command_line_encode_alike(name):
    """The same numbers up to the order of names, so that the same model gives the same risks."""
    targets = ["beans", "tomatoes"] if name == "garden.csv" else None
    data = read_data(SAMPLES / name, targets=targets)
    task_model = TaskModel(parameters={"alpha": 0.1}).fit(data)
    model = ConditionalRiskMinimizer(data.space(), alpha=0.1).fit(data.X, data.y)
    assert set(model.encoder_.feature_names_) == set(task_model.encoder_.feature_names_)
    np.testing.assert_allclose(model.decode(data.X).values, task_model.decode(data).values)
    np.testing.assert_allclose(task_model.inputs(data.X), task_model.inputs(data))


def data_of(task):
    outputs, labels = OUTPUTS[task]
    edges = (("m", "m/n"),) if task == "hierarchy" else None
    return Dataset("toy", "csv", task, TABLE, outputs, labels, edges)


TABLES = ("excel", "csv", "parquet")
NUMBERS = ("letters", "label-ranking", "libsvm")  # formats that hold no names
# These are read with a list of labels beside the file, or attributes of another kind.
OTHERWISE = {("clus", "labels"), *(("mulan", t) for t in ("hierarchy", "classes", "ordinal"))}
PAIRS = [(format.name, task) for format in FORMATS for task in format.tasks]
CASES = [pair for pair in PAIRS if pair not in OTHERWISE]


def rows_for(format, task):
    """Data that such a file can hold."""
    if task == "sequence" and format == "letters":
        pixels = [RNG.integers(0, 2, (2, 128)).astype(float) for _ in range(6)]
        return Dataset("toy", format, task, pixels, [("a", "b")] * 6, ("a", "b"))
    if task == "sequence" and format in ("conll", "conllu"):
        return read_data(SAMPLES / "phrases.txt").take(slice(8))
    if task == "sequence":
        outputs = [("s", "t") if high else ("t",) for high in HIGH]
        return Dataset("toy", format, task, TABLE, outputs, ("s", "t"))
    data = data_of(task)
    if format not in NUMBERS:
        return data
    ranks = np.array([[1, 2, 3], [3, 2, 1]])[HIGH.astype(int)]
    numbers = Table(("1", "2"), (None, None), np.column_stack([WARM, np.arange(N) % 3]))
    labels = ("1", "2", "3") if task == "ranking" else data.labels
    outputs = ranks if task == "ranking" else data.outputs
    if task == "regression":
        outputs, labels = outputs[:, :1], ("1",)
    return Dataset("toy", format, task, numbers, outputs, labels, data.edges)


@pytest.mark.parametrize(("format", "task"), CASES)
def test_every_task_is_learned_from_every_format(format, task, tmp_path):
    data, path = rows_for(format, task), tmp_path / f"rows.{format}"
    write_data(data, path, format=format)
    targets = data.labels if task in ("regression", "histogram") and format in TABLES else None
    check_learned(read_data(path, format=format, task=task, targets=targets))


def test_frames_have_numbers_names_gaps_and_the_names_of_rows():
    data = Dataset(
        "toy", "csv", "classes", TABLE, OUTPUTS["classes"][0], ("cat", "dog"),
        index=tuple(f"r{i}" for i in range(N)),
    )  # fmt: skip
    X = data.X
    assert list(X.columns) == ["warmth", "sky"]
    assert list(X.index[:2]) == ["r0", "r1"]
    assert X.dtypes["warmth"] == np.float64
    assert list(X["sky"].cat.categories) == ["cloudy", "rainy", "sunny"]
    np.testing.assert_array_equal(X["warmth"], TABLE.data[:, 0])
    assert list(X["sky"][:4]) == ["cloudy", "rainy", "sunny", "cloudy"]
    gaps = Table(("sky",), (("a", "b"),), np.array([[1.0], [np.nan]]))
    frame = Dataset("toy", "csv", "classes", gaps).X
    assert frame["sky"].isna().tolist() == [False, True]
    assert Dataset("toy", "csv", "classes", gaps).y is None


def test_without_pandas_names_are_objects(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    X = data_of("classes").X
    assert X.dtype == object
    assert X[3, 1] == "cloudy"
    numbers = data_of("classes").inputs.take([0])
    assert Dataset("toy", "csv", "classes", numbers).X.dtype == np.float64


def test_sparse_tables_stay_sparse():
    rows = sparse.csr_array(np.array([[0.0, 2.0], [1.0, 0.0], [np.nan, 1.0]]))
    table = Table(("a", "b"), (None, ("x", "y", "z")), rows)
    X = Dataset("toy", "arff", "classes", table, np.array(["p", "q", "p"]), ("p", "q")).X
    assert sparse.issparse(X)
    np.testing.assert_array_equal(X.toarray(), [[0, 0, 0, 1], [1, 1, 0, 0], [np.nan, 0, 1, 0]])
    model = ConditionalRiskMinimizer(alpha=0.1).fit(X, ["p", "q", "p"])
    assert list(model.predict(X)) == ["p", "q", "p"]


def test_rankings_and_single_numbers_are_those_that_learners_take():
    ranks = data_of("ranking").y
    assert np.isnan(ranks[OUTPUTS["ranking"][0] == 0]).all()
    single = Dataset("toy", "csv", "regression", TABLE, WARM[:, None], ("weight",))
    np.testing.assert_array_equal(single.y, WARM)
