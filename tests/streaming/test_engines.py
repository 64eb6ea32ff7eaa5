# SPDX-License-Identifier: BSD-3-Clause
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import cpu_count

from skstruct.streaming import ArraySource, DaskEngine
from skstruct.streaming.engines import SerialEngine, merge_tree, opened
from streaming.toy_sums import added, added_in_place, products


def level_by_level(parts, accumulate, merge, fan_in):
    """The tree as it is drawn: all results, then groups of them, then groups of groups."""
    results = [accumulate(part) for part in parts]
    while len(results) > 1:
        groups = [results[i : i + fan_in] for i in range(0, len(results), fan_in)]
        results = [merge(group) if len(group) > 1 else group[0] for group in groups]
    return results[0]


@given(n=st.integers(1, 70), fan_in=st.integers(2, 5))
def test_the_tree_has_one_shape(n, fan_in):
    def merge(results):
        return f"({' '.join(results)})"

    tree = merge_tree(range(n), SerialEngine(), str, merge, fan_in)
    assert tree == level_by_level(range(n), str, merge, fan_in)


def test_sums_of_floats_are_those_of_the_tree():
    parts = ArraySource(np.random.default_rng(0).normal(size=(100, 3))).partitions(23)
    total = merge_tree(parts, SerialEngine(), products, added)
    assert total.tobytes() == level_by_level(parts, products, added, 4).tobytes()


@pytest.mark.parametrize("n", [64, 65, 200])
def test_few_results_are_held_at_a_time(n):
    alive, most = 0, 0

    class Result:
        def __init__(self):
            nonlocal alive, most
            alive += 1
            most = max(most, alive)

        def __del__(self):
            nonlocal alive
            alive -= 1

    merge_tree(range(n), SerialEngine(), lambda part: Result(), lambda results: Result(), 4)
    levels = int(np.ceil(np.log(n) / np.log(4)))
    assert most <= 3 * levels + 2
    assert alive == 0


class Repeating:
    """An engine that runs every merge again, as one does that has lost the worker."""

    def submit(self, f, *args):
        if f.__name__ not in ("added", "added_in_place"):
            return f(*args)
        first = f(*args).copy()
        again = f(*args)
        if again.tobytes() != first.tobytes():
            raise AssertionError("running a merge again has given something else")
        return again

    def result(self, x):
        return x


def test_a_merge_can_be_run_again():
    parts = ArraySource(np.ones((16, 1))).partitions(4)
    assert merge_tree(parts, Repeating(), products, added) == [[16.0]]


def test_a_merge_that_changes_its_arguments_is_caught():
    parts = ArraySource(np.ones((16, 1))).partitions(4)
    with pytest.raises(AssertionError, match="again has given something else"):
        merge_tree(parts, Repeating(), products, added_in_place)


def test_further_arguments_may_be_tasks():
    with opened() as engine:
        scale = engine.submit(float, "2")
        parts = ArraySource(np.ones((4, 1))).partitions(2)
        assert merge_tree(parts, engine, products, added, args=(scale,)) == [[16.0]]


def test_what_an_engine_is():
    mine = Repeating()
    with opened(mine) as engine:
        assert engine is mine
    for wrong in ("sparks", 3, [SerialEngine]):
        with pytest.raises(ValueError, match="engine is None"), opened(wrong):
            pass
    with pytest.raises(ValueError, match="at least two"):
        merge_tree([1], SerialEngine(), str, str, fan_in=1)
    with pytest.raises(ValueError, match="no part"):
        merge_tree([], SerialEngine(), str, str)


def test_errors_come_as_they_are():
    with pytest.raises(ZeroDivisionError):
        merge_tree([0], SerialEngine(), lambda part: 1 / part, sum)


def sockets(server):
    """What the web server of a scheduler or worker listens at."""
    return server.http_server._sockets.values()


def test_a_cluster_of_its_own_is_closed_afterwards(monkeypatch):
    distributed = pytest.importorskip("distributed")
    asked = []

    def in_threads(**options):  # starts at once; test_dask.py has processes
        asked.append(options)
        return whole(**{**options, "n_workers": 1, "processes": False})

    whole = distributed.LocalCluster
    monkeypatch.setattr(distributed, "LocalCluster", in_threads)
    with opened("dask") as engine:
        client = engine.client
        assert engine.result(engine.submit(sum, [1, 2])) == 3
        servers = [client.cluster.scheduler, *client.cluster.workers.values()]
        bound = {s.getsockname()[0] for server in servers for s in sockets(server)}
        assert bound == {"127.0.0.1"}
    assert (client.status, client.cluster.status.name) == ("closed", "closed")
    [options] = asked
    assert options["processes"]
    assert options["n_workers"] == cpu_count()


def test_an_asynchronous_client_is_refused():
    pytest.importorskip("distributed")
    with pytest.raises(ValueError, match="asynchronous"):
        DaskEngine(SimpleNamespace(asynchronous=True))
