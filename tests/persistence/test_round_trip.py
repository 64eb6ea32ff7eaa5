# SPDX-License-Identifier: BSD-3-Clause
"""A model that was saved and loaded answers bit for bit as before."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.ensemble import RandomForestRegressor
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from persistence.saved_cases import CLASSES, RANKS, SETS, TAGS, TOKENS, X, all_cases
from skstruct import ConditionalRiskMinimizer, CountingRidge, StructuredPerceptron, StructuredSVM
from skstruct.datasets.dataset import Dataset, Table
from skstruct.exceptions import ModelFileError
from skstruct.learners import NeighborLabelRanker, OnlineLabelRanker
from skstruct.losses import Listed
from skstruct.persistence import describe_model, load_model, save_model
from skstruct.persistence.names import class_named, known_names, name_of
from skstruct.persistence.stored_predictions import predict_with_values
from skstruct.smoothing import Forest, Neighbors
from skstruct.spaces import Candidates, Classes, Hierarchy, LabelSets, Polytope, Sequences
from skstruct.tasks.model import TaskModel

CASES = all_cases()
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def identical(a, b):
    """Whether two answers are equal to the last bit."""
    if a is None or b is None:
        return a is b
    if sparse.issparse(a):
        return (a != b).nnz == 0 and a.shape == b.shape
    if hasattr(a, "equals"):  # frames and series, with their index
        return type(a) is type(b) and a.equals(b)
    if isinstance(a, np.ndarray) and a.dtype != object:
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    if isinstance(a, (list, tuple, np.ndarray)):
        return type(a) is type(b) and len(a) == len(b) and all(map(identical, a, b))
    if hasattr(a, "adj"):
        return dict(a.adj) == dict(b.adj)
    return type(a) is type(b) and a == b


@pytest.fixture
def again(tmp_path):
    """Saves a model and loads it."""

    def saved_and_loaded(model, X=None):
        save_model(model, tmp_path / "model.skstruct", X=X)
        return load_model(tmp_path / "model.skstruct")

    return saved_and_loaded


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_predictions_are_identical(again, tmp_path, name):
    case = CASES[name]
    model = case.fitted()
    loaded = again(model)
    mapped = load_model(tmp_path / "model.skstruct", mmap=True)
    assert describe_model(tmp_path / "model.skstruct")["tested"]
    before = predict_with_values(model, case.X)
    for after in (predict_with_values(loaded, case.X), predict_with_values(mapped, case.X)):
        assert identical(before["values"], after["values"])
        assert identical(before["outputs"], after["outputs"])
    assert type(loaded) is type(model)
    if hasattr(model, "get_params"):
        assert repr(loaded).split(" at 0x")[0] == repr(model).split(" at 0x")[0]


def test_shared_parts_stay_shared(again):
    model = CASES["risk, Hierarchy"].fitted()
    loaded = again(model)
    assert loaded.space.edges is loaded.space_.edges
    assert loaded.problem_.outputs is loaded.outputs_


@pytest.mark.slow
def test_a_loaded_model_explains_lists_and_changes_its_loss(again):
    space = Hierarchy([("r", "a"), ("r", "b"), ("a", "c")])
    for smoother in (None, Forest(4, random_state=0), Neighbors(3)):
        model = ConditionalRiskMinimizer(space, smoother=smoother)
        model.fit(X, CASES["risk, Hierarchy"].y)
        loaded = again(model)
        a, b = model.explain(X.copy()), loaded.explain(X.copy())
        assert identical(a.weights, b.weights)
        assert identical(a.losses, b.losses)
        for options in ({"loss": "hamming"}, {"restrict": {"exclude": ["c"]}}):
            assert identical(model.decode(X, **options).values, loaded.decode(X, **options).values)
        assert identical(model.kbest(X, 3).values, loaded.kbest(X, 3).values)
        assert model.score(X, model.predict(X)) == loaded.score(X, model.predict(X))


@pytest.mark.parametrize(
    ("learner", "y"),
    [
        (StructuredPerceptron(LabelSets("abc"), random_state=0), SETS),
        (CountingRidge(LabelSets("abc"), alpha=0.1), SETS),
        (OnlineLabelRanker(random_state=0, alpha=1.0), RANKS),
    ],
)
def test_learning_goes_on_as_if_nothing_had_happened(again, learner, y):
    for rows in (slice(8), slice(8, 12)):
        learner.partial_fit(X[rows], y[rows])
    loaded = again(learner)
    for model in (learner, loaded):
        model.partial_fit(X[12:], y[12:])
    a, b = predict_with_values(learner, X), predict_with_values(loaded, X)
    assert identical(a["values"], b["values"])
    assert identical(a["outputs"], b["outputs"])


def test_a_loaded_model_can_be_fitted_again(again):
    model = ConditionalRiskMinimizer(Sequences(), alpha=1.0).fit(TOKENS, TAGS)
    loaded = again(model)
    assert identical(
        loaded.fit(TOKENS[:9], TAGS[:9]).predict(TOKENS),
        model.fit(TOKENS[:9], TAGS[:9]).predict(TOKENS),
    )


def test_the_users_rows_are_rehearsed(again, tmp_path):
    model = ConditionalRiskMinimizer(alpha=1.0).fit(X, CLASSES)
    assert_array_equal(again(model, X[5:]).predict(X), model.predict(X))
    with pytest.raises(ValueError, match="features"):
        save_model(model, tmp_path / "other", X=X[:, :2])
    assert not (tmp_path / "other").exists()


def test_constraints_of_training_rows_leave_nothing_to_rehearse(again, tmp_path):
    """The new rows have constraints of their own, which only the user knows."""
    y = np.abs(X[:, :2]) / 3
    space = Polytope(A_ub=[[1, 1]], b_ub=np.full((len(X), 1), 3.0), bounds=(0, 2))
    model = ConditionalRiskMinimizer(space, alpha=1.0).fit(X, y)
    loaded = again(model)
    assert not describe_model(tmp_path / "model.skstruct")["tested"]
    restrict = {"b_ub": [2.0]}
    assert identical(model.predict(X, restrict=restrict), loaded.predict(X, restrict=restrict))


def test_the_same_model_gives_the_same_bytes(tmp_path):
    model = ConditionalRiskMinimizer(LabelSets(), alpha=1.0).fit(X, SETS)
    for name in ("a", "b"):
        save_model(model, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("task", ["classes", "sequence"])
def test_models_of_the_command_line(again, task):
    words = [[("the", "D"), ("cat", "N")], [("a", "D"), ("dog", "N"), ("ran", "V")]] * 3
    columns = np.column_stack([X[:6], [0, 1, 2, 0, 1, np.nan]])
    table = Table((*"uvw", "sky"), (None, None, None, ("blue", "grey", "red")), columns)
    if task == "classes":
        data = Dataset("toy", "csv", task, table, CLASSES[:6])
    else:
        data = Dataset("toy", "conll", task, words, [tuple(p for _, p in w) for w in words])
    model = TaskModel().fit(data)
    for X_given in (None, data):
        loaded = again(model, X_given)
        assert identical(loaded.predict(data), model.predict(data))
        assert loaded.about_ == model.about_


# ------------------------------------------------------------------ what is refused
def doubled(a, b):
    return 2.0 * (a @ b.T)


@pytest.mark.parametrize(
    ("model", "y", "words"),
    [
        (ConditionalRiskMinimizer(kernel=doubled, alpha=1.0), SETS, r"model\.kernel .*no code"),
        (ConditionalRiskMinimizer(alpha=1.0, random_state=np.random.RandomState(0)), SETS,
         r"model\.random_state is a generator of random numbers"),
        (ConditionalRiskMinimizer(loss=lambda z, y: float(z != y), alpha=1.0), CLASSES,
         r"model\.loss .*no code"),
        (ConditionalRiskMinimizer(Candidates([1j, 2j]), loss=Listed(lambda z, y: abs(z - y)),
                                  smoother="kernel_ridge"),
         [1j, 2j] * 8, r"model\.loss\.loss .*function"),
        (ConditionalRiskMinimizer(Candidates([frozenset(), slice]), alpha=1.0), [slice] * 16,
         r"model\.space\.outputs\[1\]"),
        (make_pipeline(FunctionTransformer(), ConditionalRiskMinimizer(alpha=1.0)), SETS,
         r"model\.steps\[0\]\[1\] is of the class sklearn\S*FunctionTransformer"),
    ],
)  # fmt: skip
def test_what_is_no_data_is_named_and_refused(tmp_path, model, y, words):
    with pytest.raises(ModelFileError, match=words):
        save_model(model.fit(X, y), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_what_would_not_be_read_is_not_saved(tmp_path):
    pipeline = make_pipeline(ConditionalRiskMinimizer(alpha=1.0), memory=str(tmp_path / "cache"))
    with pytest.raises(ModelFileError, match="set memory=None"):
        save_model(pipeline.fit(X, SETS), tmp_path / "model")
    model = ConditionalRiskMinimizer(alpha=1.0, n_jobs=10_000).fit(X, SETS)
    with pytest.raises(ModelFileError, match="n_jobs is 10000"):
        save_model(model, tmp_path / "model")


def test_circles_and_depth_are_refused(tmp_path):
    space = Candidates(["a", "b"])
    model = ConditionalRiskMinimizer(space, alpha=1.0).fit(X, ["a", "b"] * 8)
    model.extra_ = [[]]
    model.extra_[0].append(model.extra_)
    with pytest.raises(ModelFileError, match=r"model\.extra_.* a circle"):
        save_model(model, tmp_path / "model")
    model.extra_ = nested = []
    for _ in range(100):
        nested.append([])
        nested = nested[0]
    with pytest.raises(ModelFileError, match="nested too deeply"):
        save_model(model, tmp_path / "model")


def test_only_fitted_models_are_saved(tmp_path):
    with pytest.raises(NotFittedError):
        save_model(StructuredSVM(alpha=0.01), tmp_path / "model")
    with pytest.raises(ModelFileError, match="RandomState is not a model"):
        save_model(np.random.RandomState(0), tmp_path / "model")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        forest = RandomForestRegressor(2).fit(X, X)
    save_model(forest, tmp_path / "model")  # known, since it may be a smoother
    assert_array_equal(load_model(tmp_path / "model").predict(X), forest.predict(X))


def test_every_known_name_is_that_of_a_class():
    names = known_names()
    assert {"ConditionalRiskMinimizer", "Dag", "RankConstraints", "TaskModel"} <= set(names)
    assert {"sklearn.Pipeline", "sklearn.Tree"} <= set(names)
    for name in names:
        assert name_of(class_named(name)) == name


def test_large_numbers_and_odd_values_come_back(again):
    odd = [2**5000, -(2**63), 1e-320, -0.0, np.nan, np.inf, b"\x00\xff", 3 + 4j, range(2, 9, 3),
           slice(None, 4), {(1, "a"): {2.5}}, frozenset("ab"), "\ud800 a\x00", np.float32(0.1),
           np.int8(-3), np.dtype("<i2"), np.array(["a\x00b", "ü"]), np.array(5.0), None, True,
           ["word"] * 70 + ["ü\ud800"], list(range(70)), np.zeros((0, 3)), set(range(20)),
           np.array([["a", 1]], dtype=object)]  # fmt: skip
    model = ConditionalRiskMinimizer(Classes(), alpha=1.0).fit(X, CLASSES)
    model.odd_ = odd
    found = again(model).odd_
    for a, b in zip(odd, found, strict=True):
        assert type(a) is type(b)
        assert repr(a) == repr(b)


def test_layout_in_memory_is_kept(again):
    """Products of matrices may differ in their last bit between layouts."""
    model = NeighborLabelRanker(n_neighbors=3).fit(X, RANKS)
    model.a_, model.b_ = np.asfortranarray(X), np.asfortranarray(np.ones((6, 4)))[::2]
    loaded = again(model)
    assert loaded.a_.flags.f_contiguous
    assert loaded.b_.flags.f_contiguous
