# SPDX-License-Identifier: BSD-3-Clause
"""Real worker processes: the same bits as one process, also when one of them is killed."""

import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from skstruct import ConditionalRiskMinimizer
from skstruct.config import config_context
from skstruct.exceptions import EngineError
from skstruct.kernels import RBF
from skstruct.spaces import LabelSets
from skstruct.streaming import ArraySource, DaskEngine, ParquetSource, predict_parquet
from skstruct.streaming.engines import _LOCAL, SerialEngine, merge_tree, opened
from skstruct.streaming.writing import predict_partitions
from streaming import toy_sums
from streaming.toy_sums import added, products

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    size = {"n_workers": 2, "threads_per_worker": 1, "processes": True}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),  # two deaths are enough
        distributed.LocalCluster(**size, **_LOCAL, silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def rows(n=36):
    return np.random.default_rng(0).normal(size=(n, 5))


@pytest.mark.slow
@pytest.mark.subprocess
def test_probabilities_are_written_by_workers(client, tmp_path):
    dataset = pytest.importorskip("pyarrow.dataset")
    sets = (rows()[:, :3] > 0).astype(int)
    model = ConditionalRiskMinimizer(LabelSets("abc"), alpha=0.1, kernel=RBF(0.5)).fit(rows(), sets)
    found = []
    for engine in ("serial", client):
        folder = tmp_path / str(len(found))
        with config_context(engine=engine):
            predict_parquet(model, rows(), folder, n_partitions=3, marginals=True)
        found.append(dataset.dataset(folder).to_table().to_pydict())
    assert found[0] == found[1]
    assert list(found[0])[-3:] == ["P(a)", "P(b)", "P(c)"]


@pytest.mark.slow
@pytest.mark.subprocess
def test_same_bits_as_one_process(client, tmp_path):
    np.save(tmp_path / "X.npy", rows())
    for X in (rows(), np.load(tmp_path / "X.npy", mmap_mode="r")):
        parts = ArraySource(X).partitions(9)
        alone = merge_tree(parts, SerialEngine(), products, added)
        for engine in (client, "dask"):
            with opened(engine) as workers:
                assert workers.client is client
                assert len(workers.client.nthreads()) == 2
                assert merge_tree(parts, workers, products, added).tobytes() == alone.tobytes()
    assert alone.tobytes() != merge_tree(parts[::-1], SerialEngine(), products, added).tobytes()


@pytest.mark.subprocess
def test_same_bits_when_a_worker_is_killed(client, tmp_path):
    def kill():
        while not (tmp_path / "victim").exists():
            time.sleep(0.01)
        os.kill(int((tmp_path / "victim").read_text()), signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    parts = ArraySource(rows()).partitions(9)
    alone = merge_tree(parts, SerialEngine(), products, added)
    args = (str(tmp_path),)
    total = merge_tree(parts, DaskEngine(client), toy_sums.products_once_stuck, added, args=args)
    assert total.tobytes() == alone.tobytes()
    killer.join()
    victim = (tmp_path / "victim").read_text()
    runs = [path.name.split("-") for path in tmp_path.glob("run-12-*")]
    assert [run[2] for run in runs].count(victim) == 1
    assert len(runs) >= 2


@pytest.mark.subprocess
def test_an_error_of_a_task_comes_as_it_is(client):
    with pytest.raises(OSError, match="no rows from 0 on"):
        merge_tree(ArraySource(rows()).partitions(1), DaskEngine(client), toy_sums.fail, added)


@pytest.mark.subprocess
def test_an_engine_inside_of_a_task(client):
    total = client.submit(toy_sums.sums_by_an_engine, rows(), pure=False).result()
    parts = ArraySource(rows()).partitions(3)
    assert total.tobytes() == merge_tree(parts, SerialEngine(), products, added).tobytes()


@pytest.mark.slow
@pytest.mark.subprocess
def test_predictions_written_by_workers_of_which_one_is_killed(client, tmp_path):
    predict = partial(toy_sums.row_sums_killed_once, folder=str(tmp_path))
    n = predict_partitions(predict, ArraySource(rows()), tmp_path / "out", client, count=3, rows=4)
    assert n == 36
    assert (tmp_path / "killed").exists()
    names = [f"part-{i:05d}.parquet" for i in range(3)]
    assert sorted(os.listdir(tmp_path / "out")) == names
    written = ParquetSource(tmp_path / "out")
    blocks = [block.X for part in written.partitions() for block in part.blocks(99)]
    np.testing.assert_array_equal(np.concatenate([X["row"] for X in blocks]), np.arange(36))
    np.testing.assert_array_equal(np.concatenate([X["sum"] for X in blocks]), rows().sum(axis=1))


@pytest.mark.subprocess
def test_grid_search_by_joblib(client):
    y = (rows()[:, 0] > 0).astype(int)
    search = GridSearchCV(
        ConditionalRiskMinimizer(kernel=RBF(0.5)), {"alpha": [0.1, 10.0]}, cv=2, n_jobs=2
    )
    with joblib.parallel_config("dask"):
        scores = search.fit(rows(), y).cv_results_["mean_test_score"]
    alone = search.set_params(n_jobs=1).fit(rows(), y).cv_results_["mean_test_score"]
    np.testing.assert_array_equal(scores, alone)


@pytest.mark.subprocess
def test_a_task_that_kills_every_worker_is_named(client):
    parts = ArraySource(rows()).partitions(1)
    with pytest.raises(EngineError, match=r"ran the task 'kill_this_worker' died.*memory"):
        merge_tree(parts, DaskEngine(client), toy_sums.kill_this_worker, added)


SCHEDULER = """
import asyncio
from distributed import Scheduler

async def main():
    async with Scheduler(port=0, dashboard=False, host="127.0.0.1") as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()

asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.subprocess
def test_a_scheduler_that_dies_is_noticed():
    process = subprocess.Popen(
        [sys.executable, "-c", SCHEDULER],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    with process:
        address = process.stdout.readline().strip()
        with distributed.Client(address, timeout=60, set_as_default=False) as client:
            client._timeout = 0.5  # of asking again for a scheduler that is gone
            engine = DaskEngine(client)
            waiting = engine.submit(sum, [1, 2])  # there are no workers
            process.kill()
            with pytest.raises(EngineError, match=r"scheduler of Dask is gone.*'sum'"):
                engine.result(waiting)
            with pytest.raises(EngineError, match="not running: it was closed, or its scheduler"):
                engine.submit(sum, [1, 2])
            for ask in (lambda: engine.n_workers, lambda: engine.hold(np.zeros(2), "zeros")):
                with pytest.raises(EngineError, match="not running: it was closed, or its"):
                    ask()
