# SPDX-License-Identifier: BSD-3-Clause
"""Whole data sets in, names out."""

import numpy as np
import pytest

from skstruct import ConditionalRiskMinimizer
from skstruct.datasets.blocks import read_blocks
from skstruct.datasets.dataset import TASKS, Dataset, Table
from skstruct.datasets.reading import read_data
from skstruct.exceptions import DataFormatError
from skstruct.kernels import RBF, Laplacian
from skstruct.streaming import predict_batches
from skstruct.tasks import LEARNERS, TaskModel, default_learner, make_learner, space_for
from skstruct.tasks.encoders import RowLearner

RNG = np.random.default_rng(0)
N = 24
INPUTS = Table(
    ("a", "b"), (None, ("x", "y")), np.column_stack([RNG.normal(size=N), np.arange(N) % 2])
)
OUTPUTS = {
    "classes": (np.array(["cat", "dog"])[np.arange(N) % 2], ("cat", "dog")),
    "labels": ([("p",) if i % 2 else ("p", "q") for i in range(N)], ("p", "q", "r")),
    "hierarchy": ([("m/n",) if i % 2 else ("m",) for i in range(N)], ("m", "m/n")),
    "ranking": (np.array([[1, 2, 3], [3, 0, 1]])[np.arange(N) % 2], ("u", "v", "w")),
    "regression": (RNG.normal(size=(N, 1)), ("weight",)),
    "histogram": (RNG.dirichlet(np.ones(3), N), ("u", "v", "w")),
    "ordinal": (np.array(["low", "high"])[np.arange(N) % 2], ("low", "medium", "high")),
}  # fmt: skip


def data_of(task):
    if task == "sequence":
        inputs = [[("a", "X"), ("b", "Y")] for _ in range(N)]
        return Dataset("toy", "conll", task, inputs, [("s", "t")] * N, ("s", "t"))
    outputs, labels = OUTPUTS[task]
    edges = (("m", "m/n"),) if task == "hierarchy" else None
    return Dataset("toy", "csv", task, INPUTS, outputs, labels, edges)


@pytest.mark.parametrize("task", TASKS)
def test_every_task_is_fitted_and_predicts_in_its_names(task):
    data = data_of(task)
    model = TaskModel().fit(data)
    predicted = model.predict(data)
    assert len(predicted) == N
    if task in ("labels", "hierarchy", "sequence"):
        assert all(set(row) <= set(data.labels) for row in predicted)
        assert all(type(row) is tuple for row in predicted)
    elif task in ("classes", "ordinal"):
        assert set(predicted) <= set(data.labels)
    else:
        assert np.shape(predicted) in [(N, len(data.labels)), (N,)]
    assert model.about_["rows"] == N


def test_labels_that_never_occur_are_in_the_space():
    model = TaskModel().fit(data_of("labels"))
    assert model.learner_.space_.labels_ == ("p", "q", "r")


def test_a_hierarchy_adds_ancestors():
    model = TaskModel().fit(data_of("hierarchy"))
    assert all("m" in row for row in model.predict(data_of("hierarchy")))


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_by_its_name(name):
    data = data_of("labels")
    model = TaskModel(name).fit(data)
    assert len(model.predict(data)) == N
    assert model.learner_name_ == name


def test_the_learner_that_is_taken():
    assert default_learner(data_of("sequence"))[0] == "exponential"
    assert default_learner(data_of("classes"))[0] == "stack"
    many = Dataset("m", "csv", "classes", Table(("a",), (None,), np.zeros((6000, 1))))
    assert default_learner(many)[0] == "stack"  # by landmarks


def test_unknown_learners_and_parameters_are_reported():
    space = space_for(data_of("labels"))
    with pytest.raises(ValueError, match=r"no learner 'kernal'.* Did you mean 'kernel'"):
        make_learner("kernal", space)
    with pytest.raises(ValueError, match="Invalid parameter 'alfa'"):
        make_learner("kernel", space, alfa=1.0)
    with pytest.raises(ValueError, match="'tree' is for plain label sets"):
        make_learner("tree", space_for(data_of("hierarchy")))
    assert make_learner("forest", space, smoother__n_estimators=7).smoother.n_estimators == 7


def test_a_kernel_by_name_takes_parameters():
    space = space_for(data_of("labels"))
    assert repr(make_learner("kernel", space, kernel__gamma=2.0).kernel) == "RBF(gamma=2.0)"
    given = make_learner("counting", space, kernel="poly", kernel__degree=2, kernel__coef0=0.5)
    assert repr(given.kernel) == "Polynomial(coef0=0.5, degree=2)"
    own = Laplacian(0.5)
    assert make_learner("kernel", space, kernel=own, kernel__gamma=3.0).kernel.gamma == 3.0
    assert own.gamma == 0.5
    assert make_learner("kernel", space).kernel == make_learner("kernel", space).kernel
    with pytest.raises(ValueError, match="Invalid parameter 'gamma' for estimator Linear"):
        make_learner("linear", space, kernel__gamma=2.0)
    with pytest.raises(ValueError, match="no use of kernel__gamma: it smooths by Forest"):
        make_learner("forest", space, kernel__gamma=2.0)
    with pytest.raises(ValueError, match=r"no use of cv: alpha=1\.0 is given"):
        make_learner("kernel", space, kernel=RBF(1.0) + Laplacian(2.0), alpha=1.0, cv=5)
    make_learner("kernel", space, kernel=RBF("auto") + Laplacian(), alpha=1.0, cv=5)


def test_data_without_outputs_or_rows():
    data = data_of("classes")
    with pytest.raises(DataFormatError, match="no outputs"):
        TaskModel().fit(Dataset("toy", "csv", "classes", INPUTS))
    with pytest.raises(DataFormatError, match="no rows"):
        TaskModel().fit(data.take([]))
    model = TaskModel().fit(data)
    with pytest.raises(DataFormatError, match="got conll data"):
        model.predict(data_of("sequence"))


def test_rows_are_encoded_by_the_rows_of_training_only():
    y = OUTPUTS["classes"][0]
    learner = RowLearner(INPUTS, ConditionalRiskMinimizer(alpha=1.0))
    learner.fit(np.arange(10)[:, None], y[:10])
    np.testing.assert_allclose(learner.encoder_.mean_[0], INPUTS.data[:10, 0].mean())
    alone = ConditionalRiskMinimizer(alpha=1.0)
    alone.fit(learner.encoder_.transform(INPUTS.rows(np.arange(10))), y[:10])
    expected = alone.predict(learner.encoder_.transform(INPUTS.rows(np.arange(10, N))))
    np.testing.assert_array_equal(learner.predict(np.arange(10, N)[:, None]), expected)


def test_parts_of_a_data_set():
    data = data_of("labels")
    part = data.take([3, 1])
    assert part.outputs == [data.outputs[3], data.outputs[1]]
    np.testing.assert_array_equal(part.inputs.data, INPUTS.data[[3, 1]])
    with pytest.raises(ValueError, match="task is one of"):
        Dataset("toy", "csv", "poems", INPUTS)


def test_blocks_are_predicted_one_by_one(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "0,p\n1,q\n" * 4)
    model = TaskModel(parameters={"alpha": 0.1}).fit(read_data(path))
    like = Table(("x",), (None,), np.empty((0, 1)))
    parts = list(predict_batches(model, read_blocks(path, like, rows=3)))
    assert [len(part) for part in parts] == [3, 3, 2]
    assert np.concatenate(parts).tolist() == model.predict(read_data(path)).tolist()


@pytest.mark.parametrize(
    ("name", "n_rows", "taken"),
    [("kernel", 5_000, False), ("kernel", 5_001, True), ("kernel", 20_000, True),
     ("kernel", 20_001, False), ("linear", 15_000, False), ("forest", 15_000, False)],
)  # fmt: skip
def test_landmarks_are_asked_for_only_where_a_matrix_of_all_rows_would_be_kept(name, n_rows, taken):
    from skstruct.losses import Hamming
    from skstruct.spaces import LabelSets
    from skstruct.tasks.learners import make_learner, takes_landmarks

    learner = make_learner(name, LabelSets())
    assert takes_landmarks(name, learner, Hamming(), n_rows) == taken
