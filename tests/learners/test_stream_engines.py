# SPDX-License-Identifier: BSD-3-Clause
"""One pass by many processes, stopped and killed on the way: the same bits as by one."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from learners.stream_cases import Watched, classes, inputs, label_sets
from skstruct import ConditionalRiskMinimizer, config_context
from skstruct.exceptions import ModelFileError
from skstruct.kernels import RBF
from skstruct.learners import Checkpoint
from skstruct.learners.checkpoints import saving
from skstruct.smoothing import NystroemRidge
from skstruct.spaces import Classes, LabelSets
from skstruct.streaming import ArraySource, DaskEngine, IteratorSource, ParquetSource
from skstruct.streaming.engines import _LOCAL, LostRowsError, SerialEngine

X, X_NEW = inputs(200), inputs(9, seed=1)
T = np.column_stack([np.sin(X), X[:, 0] ** 2])


class Workers(SerialEngine):
    """This process in the guise of a cluster that has so many workers at present."""

    def __init__(self, n_workers):
        self.n_workers = n_workers


def bits(model):
    smoother = getattr(model, "smoother_", model)
    stats = smoother.stats_.on_host()
    arrays = [np.tril(stats.G), stats.C, stats.z, stats.t, smoother.dual_coef_, smoother.intercept_]
    return [A.tobytes() for A in arrays] + [stats.yy, stats.weight, stats.n, smoother.alpha]


def ridge(**options):
    return NystroemRidge(RBF(0.3), alpha=0.1, n_landmarks=20, **options)


def minimizer(**options):
    shared = {"kernel": RBF(0.3), "alpha": "auto", "n_landmarks": 20, "loss": "f1", **options}
    return ConditionalRiskMinimizer(LabelSets(), **shared)


def parquet_files(folder, y):
    """Four files of the rows X and their labels, with two row groups each."""
    pandas = pytest.importorskip("pandas")
    names = [f"label{j}" for j in range(y.shape[1])]
    for i in range(4):
        rows = slice(50 * i, 50 * (i + 1))
        table = pandas.DataFrame(np.hstack([X[rows], y[rows]]))
        table.columns = [f"x{j}" for j in range(X.shape[1])] + names
        table.astype(dict.fromkeys(names, int)).to_parquet(
            folder / f"{i}.parquet", row_group_size=25
        )
    return ParquetSource(folder, outputs=names)


# ---------------------------------------------------------------------- Dask
@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    size = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    before = {name: os.environ.get(name) for name in threads}
    os.environ.update(threads)
    try:
        with (
            distributed.LocalCluster(**size, **_LOCAL, silence_logs=50) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


@pytest.fixture
def _one_thread(client):
    """Sums of products depend on the number of threads that share them, and of workers."""
    threadpoolctl = pytest.importorskip("threadpoolctl")
    client.wait_for_workers(2)
    with threadpoolctl.threadpool_limits(1):
        yield


@pytest.mark.subprocess
@pytest.mark.usefixtures("_one_thread")
@pytest.mark.parametrize("features", ["nystroem", "fourier"])
@pytest.mark.parametrize("n_partitions", [1, 5])
def test_workers_give_the_bits_of_one_process(client, features, n_partitions, tmp_path):
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    weight = np.linspace(0.0, 1.0, len(X))
    for rows in (X, mapped):
        source = ArraySource(rows, T, weight)
        alone, spread = (ridge(features=features, n_partitions=n_partitions) for _ in range(2))
        for model, engine in ((alone, None), (spread, client)):
            with config_context(engine=engine, memory=20_000):
                model.fit_source(source)
        assert bits(alone) == bits(spread)
    other = ridge(features=features, n_partitions=n_partitions + 1)
    with config_context(memory=20_000):
        assert bits(other.fit_source(source)) != bits(alone)
        alone.partial_fit(X[:50], T[:50])
        with config_context(engine=client):
            spread.partial_fit(X[:50], T[:50])
    assert bits(alone) == bits(spread)


@pytest.mark.subprocess
@pytest.mark.usefixtures("_one_thread")
def test_workers_read_outputs_with_gaps_again_and_again(client):
    y = label_sets(X).astype(float)
    y[np.random.default_rng(3).uniform(size=y.shape) < 0.4] = np.nan
    fitted = []
    for engine in (None, client):
        with config_context(engine=engine, memory=20_000):
            model = minimizer(alpha=0.5, loss="hamming").fit(ArraySource(X, y))
        fitted.append((model.smoother_.coef_, model.smoother_.residuals_))
    np.testing.assert_array_equal(fitted[0][0], fitted[1][0])
    assert fitted[0][1] == fitted[1][1]


@pytest.mark.parametrize("n_workers", [1, 2, 3, 40])
def test_bits_do_not_depend_on_the_number_of_workers(n_workers, tmp_path):
    y = label_sets(X)
    for source in (ArraySource(X, y), parquet_files(tmp_path, y)):
        alone = minimizer().fit(source)
        with config_context(engine=Workers(n_workers)):
            assert bits(minimizer().fit(source)) == bits(alone)
            saved = minimizer().fit(source, checkpoint=tmp_path / "fit")
        assert bits(saved) == bits(alone)


def test_the_parts_of_many_rows():
    class Rows:
        n_rows = 10**7

    assert ridge()._n_partitions(Rows) == 40
    assert ridge(n_partitions=3)._n_partitions(Rows) == 3
    Rows.n_rows = None
    assert ridge()._n_partitions(Rows) == 16


@pytest.mark.subprocess
@pytest.mark.usefixtures("_one_thread")
def test_arrays_are_sent_once_for_all_kernels(client, monkeypatch):
    y, sent = label_sets(X), []
    scatter = client.scatter
    monkeypatch.setattr(client, "scatter", lambda v, **k: sent.append(v) or scatter(v, **k))
    kernels = [RBF(0.3), RBF(1.0), RBF(3.0)]
    shared = {"kernel": kernels, "solver": "nystroem", "n_landmarks": 20, "alpha": "auto"}
    models = [ConditionalRiskMinimizer(LabelSets(), "hamming", **shared) for _ in range(2)]
    alone = models[0].fit(X, y)
    with config_context(engine=client):
        spread = models[1].fit(X, y)
    assert bits(spread) == bits(alone)
    assert len(sent) == 16  # parts, not parts and kernels
    assert sum(part.n_rows for part in sent) == len(X)


class Losing:
    """Workers of which one is lost with its rows, when so many results are there."""

    def __init__(self, after):
        self.after, self.sent, self.n_results = after, 0, 0

    def hold(self, value, identity):
        self.sent += 1
        return value

    def submit(self, f, *args):
        return f(*args)

    def result(self, x):
        self.n_results += 1
        if self.n_results == self.after:
            raise LostRowsError("The worker is gone.")
        return x


@pytest.mark.parametrize("after", [1, 5, 12])
@pytest.mark.parametrize("saved", [False, True])
def test_rows_that_are_lost_are_sent_again(after, saved, tmp_path):
    y, engine = label_sets(X), Losing(after if saved else 1)
    alone = minimizer(alpha=0.1).fit(ArraySource(X, y))
    with config_context(engine=engine):
        path = tmp_path / "fit" if saved else None
        assert bits(minimizer(alpha=0.1).fit(ArraySource(X, y), checkpoint=path)) == bits(alone)
    assert engine.sent > 16


def test_blocks_are_those_that_a_worker_has_room_for():
    class Client:
        asynchronous = False

        def nthreads(self):
            return {"a": 2, "b": 1}

        def scheduler_info(self):
            limits = {"a": (8 * 10**8, 2), "b": (3 * 10**9, 1), "c": (0, 1)}
            workers = {k: {"memory_limit": m, "nthreads": n} for k, (m, n) in limits.items()}
            return {"workers": workers}

    engine = DaskEngine(Client())
    assert (engine.task_memory, engine.n_workers) == (4 * 10**8, 3)
    model = ridge().fit(X, T)
    with config_context(memory="1GB"):
        assert model._block_rows() % 2048 == 0
        assert model._block_rows() * 32 * 20 <= 10**9
        assert model._block_rows(engine.task_memory) * 32 * 20 <= 4 * 10**8 / 8
        assert model._block_rows(1) == 2048  # as many as are summed at a time


@pytest.mark.subprocess
@pytest.mark.usefixtures("_one_thread")
def test_a_learner_by_workers(client):
    y = label_sets(X)

    def blocks():
        for i in range(0, 200, 30):
            yield X[i : i + 30], y[i : i + 30]

    for given in ((ArraySource(X, y),), (blocks,)):
        alone = minimizer().fit(*given)
        with config_context(engine=client):
            spread = minimizer().fit(*given)
        assert spread.alpha_ == alone.alpha_
        assert bits(spread) == bits(alone)
        np.testing.assert_array_equal(spread.predict(X_NEW), alone.predict(X_NEW))
    with config_context(engine=client):
        arrays = minimizer(solver="nystroem").fit(X, y)
        with pytest.raises(ValueError, match="cannot be sent to workers: give a function"):
            minimizer().fit(blocks())
    assert bits(arrays) == bits(minimizer(solver="nystroem").fit(X, y))


@pytest.mark.subprocess
@pytest.mark.usefixtures("_one_thread")
def test_a_worker_that_is_killed_changes_nothing(client, tmp_path):
    y = label_sets(X)
    source = Watched(X, y, tmp_path, killer=2)
    with config_context(engine=client):
        spread = minimizer().fit(source)
    assert (tmp_path / "killed").exists()
    read = [path.name.split("-") for path in tmp_path.glob("read-*")]
    assert {int(number) for _, number, *_ in read} == set(range(16))
    assert len({process for *_, process in read}) >= 2
    alone = minimizer().fit(ArraySource(X, y))
    assert bits(spread) == bits(alone)


@pytest.mark.subprocess
@pytest.mark.usefixtures("_one_thread")
def test_a_fit_by_workers_that_is_stopped_goes_on_with_any_number_of_them(client, tmp_path):
    y, path = label_sets(X), tmp_path / "fit"
    checkpoint = Checkpoint(path, every=0)
    with pytest.raises(OSError, match="the disk is gone"), config_context(engine="dask"):
        minimizer().fit(Watched(X, y, tmp_path, fails_from=9), checkpoint=checkpoint)
    assert path.exists()
    source = Watched(X, y, tmp_path)
    n_read = source.n_read()
    with config_context(engine="dask"):
        model = minimizer().fit(source, checkpoint=checkpoint)
    assert n_read < source.n_read() < n_read + 16
    assert not path.exists()
    assert bits(model) == bits(minimizer().fit(ArraySource(X, y), checkpoint=path))


@pytest.mark.subprocess
def test_an_error_of_a_worker_comes_with_its_place(client, monkeypatch):
    from skstruct.smoothing.nystroem import landmarks

    monkeypatch.setattr(landmarks, "FEWEST_ROWS", 10)
    hole, y = X.copy(), classes(X)
    hole[170, 1] = np.nan
    sample = ArraySource(X, y)

    class Hidden(ArraySource):
        """The hole is not in the sample."""

        def sample(self, n, random_state=None):
            return sample.sample(n, random_state)

    shared = {"kernel": RBF(0.3), "alpha": 1.0, "n_landmarks": 2}
    model = ConditionalRiskMinimizer(Classes(sorted(set(y))), **shared)
    said = r"In rows 164 to 175 \(row 170\): Input X contains NaN\.$"
    with pytest.raises(ValueError, match=said), config_context(engine=client):
        model.fit(Hidden(hole, y))


# ---------------------------------------------------------------------- stopped on the way
@pytest.mark.parametrize("device", [None, "cpu"])
@pytest.mark.parametrize("alpha", [0.1, "auto"])
@pytest.mark.parametrize("n_done", [1, 6, 15])
def test_a_fit_that_is_stopped_reads_the_rest_only(n_done, alpha, device, tmp_path):
    if device:
        pytest.importorskip("torch")
    y, path = label_sets(X), tmp_path / "fit"
    model = minimizer(alpha=alpha)
    checkpoint = Checkpoint(path, every=0)
    stopped = Watched(X, y, tmp_path, fails_after=n_done)
    on_device = {"device": device}
    with pytest.raises(OSError, match="the disk is gone"), config_context(**on_device):
        model.fit(stopped, checkpoint=checkpoint)
    assert not hasattr(model, "smoother_")
    assert path.exists()
    assert stopped.n_read() == n_done
    with config_context(**on_device):
        model.fit(Watched(X, y, tmp_path), checkpoint=checkpoint)
    assert stopped.n_read() == 16
    assert not path.exists()
    (tmp_path / "again").mkdir()
    whole = minimizer(alpha=alpha)
    with config_context(**on_device):
        whole.fit(Watched(X, y, tmp_path / "again"), checkpoint=Checkpoint(path, every=0))
    assert bits(model) == bits(whole)


def test_a_fit_that_is_stopped_again_and_again(tmp_path):
    y, path = label_sets(X), tmp_path / "fit"
    for n_done in (2, 3, 9, 14):
        with pytest.raises(OSError):
            minimizer().fit(
                Watched(X, y, tmp_path, fails_after=n_done), checkpoint=Checkpoint(path, every=0)
            )
    source = Watched(X, y, tmp_path)
    model = minimizer().fit(source, checkpoint=Checkpoint(path, every=0))
    assert source.n_read() == 16
    assert bits(model) == bits(minimizer().fit(ArraySource(X, y), checkpoint=path))


@pytest.mark.parametrize("n_done", [10, 16, 20, 40])
def test_a_search_over_widths_that_is_stopped(n_done, tmp_path):
    """Sums belong to the width that they are of."""
    y, path = label_sets(X), tmp_path / "fit"
    model = minimizer(kernel=RBF([0.02, 0.3, 4.0]), alpha=[0.01, 1.0])
    with pytest.raises(OSError):
        model.fit(Watched(X, y, tmp_path, fails_after=n_done), checkpoint=Checkpoint(path, every=0))
    source = Watched(X, y, tmp_path)
    model.fit(source, checkpoint=Checkpoint(path, every=0))
    (tmp_path / "again").mkdir()
    again = Watched(X, y, tmp_path / "again")
    whole = minimizer(kernel=RBF([0.02, 0.3, 4.0]), alpha=[0.01, 1.0]).fit(again, checkpoint=path)
    assert again.n_read() == 48
    assert bits(model) == bits(whole)
    assert [t["risk"] for t in model.search_.trials] == [t["risk"] for t in whole.search_.trials]
    # The width before the one that was stopped, and the best one, may be read once more.
    assert source.n_read() <= 48 + 2 * 16


def test_sums_that_were_saved_before_any_trial_belong_to_their_width(tmp_path, monkeypatch):
    """Saves come by the clock: that of the second width may be the first one."""
    y, path = label_sets(X), tmp_path / "fit"
    source = Watched(X, y, tmp_path, fails_after=24)
    monkeypatch.setattr(saving.Saver, "is_due", lambda self: source.n_read() >= 18)
    shared = {"kernel": RBF([0.02, 0.3]), "alpha": [0.01, 1.0]}
    with pytest.raises(OSError):
        minimizer(**shared).fit(source, checkpoint=path)
    assert path.exists()
    model = minimizer(**shared).fit(Watched(X, y, tmp_path), checkpoint=path)
    whole = minimizer(**shared).fit(ArraySource(X, y), checkpoint=tmp_path / "other")
    assert [t["risk"] for t in model.search_.trials] == [t["risk"] for t in whole.search_.trials]
    assert bits(model) == bits(whole)
    assert source.n_read() == 24 + 16 + 8  # the first width again, and the rest of the second


KILLED = """
import sys
sys.path.insert(0, {tests!r})
from learners.stream_cases import Watched, label_sets, inputs
from learners.test_stream_engines import minimizer
from skstruct.learners import Checkpoint
X = inputs(200)
source = Watched(X, label_sets(X), {folder!r}, killer=11)
minimizer().fit(source, checkpoint=Checkpoint({path!r}, every=0))
"""


@pytest.mark.subprocess
def test_a_fit_that_is_killed_goes_on_in_another_process(tmp_path):
    y, path = label_sets(X), tmp_path / "fit"
    tests = str(Path(__file__).parents[1])
    code = KILLED.format(tests=tests, folder=str(tmp_path), path=str(path))
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert run.returncode == -signal.SIGKILL, run.stderr.decode()
    source = Watched(X, y, tmp_path, killer=11)
    assert source.n_read() == 11
    model = minimizer().fit(source, checkpoint=Checkpoint(path, every=0))
    assert source.n_read() == 16
    assert bits(model) == bits(minimizer().fit(ArraySource(X, y), checkpoint=path))
    assert not path.exists()


def test_the_checkpoint_of_other_rows_is_refused(tmp_path):
    y, path, weight = label_sets(X), tmp_path / "fit", np.linspace(1.0, 2.0, 200)
    with pytest.raises(OSError):
        minimizer().fit(
            Watched(X, y, tmp_path, weight=weight, fails_after=3),
            checkpoint=Checkpoint(path, every=0),
        )
    before = path.read_bytes()
    for rows, outputs, given, said in (
        (X + 1e-9, y, weight, "X differed"),
        (X, 1 - y, weight, "y differed"),
        (X, y, weight * 2.0, "sample_weight differed"),
        (X, y, None, "sample_weight differed"),
        (X[:-1], y[:-1], weight[:-1], "n_rows"),
    ):
        with pytest.raises(ModelFileError, match=said):
            minimizer().fit(ArraySource(rows, outputs, given), checkpoint=path)
        assert path.read_bytes() == before
    with pytest.raises(ModelFileError, match="n_landmarks differed"):
        minimizer(n_landmarks=21).fit(ArraySource(X, y, weight), checkpoint=path)


def test_an_iterator_is_one_part(tmp_path):
    y, path = label_sets(X), tmp_path / "fit"
    source = IteratorSource([(X[:120], y[:120]), (X[120:], y[120:])])
    saved = minimizer().fit(source, checkpoint=Checkpoint(path, every=0))
    assert bits(saved) == bits(minimizer().fit(source))
    assert not path.exists()
