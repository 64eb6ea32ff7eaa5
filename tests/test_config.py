# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the machine: who sees them, for how long, and what they refuse."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skstruct import (
    ConditionalRiskMinimizer,
    CountingRidge,
    OutputKernelRegressor,
    config_context,
    get_config,
    set_config,
)
from skstruct.config import Configured, carried
from skstruct.smoothing import KernelRidge, NadarayaWatson, NystroemRidge
from skstruct.spaces import LabelSets
from skstruct.streaming import ArraySource, predict_batches, predict_parquet
from skstruct.streaming.engines import _LOCAL, merge_tree, opened
from skstruct.streaming.pipeline import overlapped
from skstruct.streaming.writing import predict_partitions

USUAL = {"device": None, "engine": None, "memory": "1GB", "precision": "double"}
USUAL |= {"time_limit": None, "node_limit": None, "cancel": None}
RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3))
Y = (X @ RNG.standard_normal((3, 2)) > 0).astype(int)


@pytest.fixture(autouse=True)
def _as_it_was():
    assert get_config() == USUAL
    yield
    set_config(**USUAL)


def memory():
    return get_config()["memory"]


# ---------------------------------------------------------------------- setting
def test_settings_are_kept_until_they_are_set_again():
    set_config(memory="2GB")
    assert get_config() == USUAL | {"memory": "2GB"}
    set_config(precision="mixed", device="cpu")
    assert get_config() == USUAL | {"memory": "2GB", "precision": "mixed", "device": "cpu"}
    set_config(device=None)
    assert get_config() == USUAL | {"memory": "2GB", "precision": "mixed"}
    set_config()
    assert get_config() == USUAL | {"memory": "2GB", "precision": "mixed"}


def test_contexts_nest_and_end():
    with config_context(memory="3MB"):
        assert get_config() == USUAL | {"memory": "3MB"}
        with config_context(precision="mixed"):
            assert get_config() == USUAL | {"memory": "3MB", "precision": "mixed"}
            with config_context(memory=7, precision="double"):
                assert get_config() == USUAL | {"memory": 7}
            assert get_config() == USUAL | {"memory": "3MB", "precision": "mixed"}
        assert get_config() == USUAL | {"memory": "3MB"}
    assert get_config() == USUAL


def test_contexts_end_with_an_error():
    with config_context(memory="3MB"):
        with pytest.raises(OSError, match="4MB"), config_context(memory="4MB"):
            raise OSError(memory())
        assert memory() == "3MB"
    with pytest.raises(KeyError), config_context(memory="3MB"):
        raise KeyError
    assert get_config() == USUAL


def test_what_is_set_within_a_context_ends_with_it():
    with config_context(memory="3MB"):
        set_config(memory="4MB", precision="mixed")
        assert get_config() == USUAL | {"memory": "4MB", "precision": "mixed"}
    assert get_config() == USUAL


@pytest.mark.parametrize("change", [set_config, config_context])
def test_bad_settings_change_nothing(change):
    with pytest.raises(TypeError, match="memry"):
        change(memry="3MB")
    with pytest.raises(TypeError, match="positional"):
        change("cpu")
    for wrong, said in (
        ({"memory": "much"}, "memory is a size .*got 'much'"),
        ({"memory": -1}, "memory"),
        ({"memory": None}, "memory"),
        ({"precision": "half"}, 'precision is "double" or "mixed"; got \'half\''),
        ({"precision": None}, "precision is .*got None"),
    ):
        with pytest.raises((ValueError, TypeError), match=said):  # noqa: SIM117
            with change(device="cpu", **wrong):
                pass
        assert get_config() == USUAL


def test_settings_are_no_parameters():
    for kind in (
        ConditionalRiskMinimizer, CountingRidge, OutputKernelRegressor, KernelRidge, NystroemRidge,
        NadarayaWatson,
    ):  # fmt: skip
        assert issubclass(kind, Configured)
        assert USUAL.keys().isdisjoint(kind().get_params())
        with pytest.raises(TypeError, match="memory"):
            kind(memory="3MB")
        with pytest.raises(ValueError, match="Invalid parameter 'memory'"):
            kind().set_params(memory="3MB")


# ---------------------------------------------------------------------- threads of the program
def in_a_thread(f):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(f).result()


def test_a_thread_sees_what_is_set_for_all():
    set_config(memory="5MB")
    assert in_a_thread(memory) == "5MB"
    in_a_thread(lambda: set_config(memory="6MB"))
    assert memory() == "6MB"


def test_a_thread_does_not_see_the_context_of_another():
    with config_context(memory="3MB"):
        assert in_a_thread(memory) == "1GB"
        in_a_thread(lambda: set_config(memory="6MB"))
        assert memory() == "3MB"
    assert memory() == "6MB"


def test_contexts_of_threads_at_the_same_time():
    both = threading.Barrier(2, timeout=60)

    def within(size):
        seen = []
        with config_context(memory=size):
            both.wait()
            seen.append(memory())
            both.wait()
        both.wait()
        return [*seen, memory()]

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(within, ["3MB", "4MB"])) == [["3MB", "1GB"], ["4MB", "1GB"]]


def test_a_function_takes_settings_along():
    with config_context(memory="3MB", engine="dask", precision="mixed"):
        taken = carried(get_config)
    assert taken() == USUAL | {"memory": "3MB", "precision": "mixed"}  # a worker has no workers
    assert in_a_thread(taken) == taken()
    assert taken.__name__ == "get_config"
    assert carried(np.add)(2, 3) == 5
    assert carried(dict)(a=1) == {"a": 1}

    def fails():
        raise OSError(memory())

    with config_context(memory="3MB"):
        failing = carried(fails)
    with pytest.raises(OSError, match="3MB"):
        failing()
    assert get_config() == USUAL


# ---------------------------------------------------------------------- threads of learners
class Recorder(RegressorMixin, BaseEstimator):
    """Predicts the mean target, and writes down which settings it saw in which thread."""

    seen: list = []  # noqa: RUF012

    def note(self, what):
        self.seen.append((what, memory(), threading.current_thread() is threading.main_thread()))

    def fit(self, X, y):
        self.note("fit")
        self.mean_ = np.asarray(y).mean(axis=0)
        return self

    def predict(self, X):
        self.note("predict")
        return np.tile(self.mean_, (len(X), 1))


@pytest.fixture
def seen():
    Recorder.seen.clear()
    return Recorder.seen


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("in_pipeline", [False, True])
def test_threads_that_predict(n_jobs, in_pipeline, seen):
    smoother = make_pipeline(StandardScaler(), Recorder()) if in_pipeline else Recorder()
    model = ConditionalRiskMinimizer(LabelSets(range(2)), smoother=smoother, n_jobs=n_jobs)
    with config_context(memory="300"):
        model.fit(X, Y).predict(X)
    assert {size for _, size, _ in seen} == {"300"}
    predicted = [alone for what, _, alone in seen if what == "predict"]
    assert len(predicted) > 2  # some blocks
    assert not all(predicted)  # in other threads
    seen.clear()
    model.predict(X)
    assert {size for _, size, _ in seen} == {"1GB"}  # that of now, not of the fit


def test_stages_that_overlap():
    def stage(item):
        return item, memory(), threading.get_ident()

    with config_context(memory="3MB"):
        out = list(overlapped((memory() for _ in range(3)), stage))
    assert [item for item, *_ in out] == ["3MB"] * 3
    assert {size for _, size, _ in out} == {"3MB"}
    assert threading.get_ident() not in {thread for *_, thread in out}


def test_batches_are_predicted_within_the_settings(seen):
    model = ConditionalRiskMinimizer(LabelSets(range(2)), smoother=Recorder()).fit(X, Y)
    seen.clear()
    with config_context(memory="3MB"):
        parts = list(predict_batches(model, [X[:20], X[20:]]))
    assert sum(map(len, parts)) == 40
    assert {size for _, size, _ in seen} == {"3MB"}


# ---------------------------------------------------------------------- processes
@pytest.mark.subprocess
def test_processes_of_joblib():
    with config_context(memory="3MB", engine="dask"):
        here = Parallel(n_jobs=2, backend="loky")(delayed(carried(get_config))() for _ in range(2))
    assert here == [USUAL | {"memory": "3MB"}] * 2
    plain = Parallel(n_jobs=2, backend="loky")(delayed(get_config)() for _ in range(2))
    assert plain == [USUAL] * 2


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    size = {"n_workers": 1, "threads_per_worker": 1, "processes": False}
    with (
        distributed.LocalCluster(**size, **_LOCAL, silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


class Engine:
    """Runs every task in a thread of its own."""

    def submit(self, f, *args):
        return in_a_thread(lambda: f(*args))

    def result(self, x):
        return x


def sums(part):
    return [(get_config()["memory"], get_config()["engine"], threading.get_ident())]


def joined(parts):
    return [*sum(parts, []), *sums(None)]  # noqa: RUF017


@pytest.mark.parametrize("dask", [False, True])
def test_workers_see_the_settings(dask, request):
    engine = request.getfixturevalue("client") if dask else Engine()
    with config_context(engine=engine, memory="3MB"), opened(get_config()["engine"]) as workers:
        found = merge_tree(range(4), workers, sums, joined, 2)
    assert len(found) == 7
    assert {(size, engine) for size, engine, _ in found} == {("3MB", None)}
    assert threading.get_ident() not in {thread for *_, thread in found}


@pytest.mark.parametrize("dask", [False, True])
def test_workers_predict_within_the_settings(dask, request, tmp_path, seen):
    model = ConditionalRiskMinimizer(LabelSets(range(2)), smoother=Recorder()).fit(X, Y)
    seen.clear()
    engine = request.getfixturevalue("client") if dask else Engine()
    with config_context(engine=engine, memory="3MB"):
        assert predict_parquet(model, X, tmp_path, n_partitions=2) == 40
    assert {(size, main) for _, size, main in seen} == {("3MB", False)}


def test_partitions_are_predicted_within_the_settings(tmp_path):
    from pyarrow import parquet

    with config_context(memory="3MB"):
        predict_partitions(
            lambda block: {"memory": [memory()] * len(block)}, ArraySource(X), tmp_path, Engine()
        )
    assert set(parquet.read_table(tmp_path)["memory"].to_pylist()) == {"3MB"}


# ---------------------------------------------------------------------- what they are for
def test_memory_is_that_of_the_moment():
    model = KernelRidge().fit(X, Y)
    rows = []
    original = model.kernel_

    class Counting:
        def __call__(self, A, B):
            rows.append(len(A))
            return original(A, B)

    model.kernel_ = Counting()
    whole = model.predict(X)
    assert rows == [40]
    with config_context(memory=8 * 40 * 7):
        np.testing.assert_allclose(model.predict(X), whole, atol=1e-12)
    assert rows == [40, 7, 7, 7, 7, 7, 5]
