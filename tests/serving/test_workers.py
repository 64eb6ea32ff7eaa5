# SPDX-License-Identifier: BSD-3-Clause
"""Real worker processes of an application here: what ends them, and what is too slow."""

import contextlib
import os
import threading
import time

import pytest

from serving.conftest import ROWS, Lines, sets_model
from skstruct import save_model
from skstruct.serving import Settings, make_app, worker_lane
from skstruct.serving.logs import Log

testclient = pytest.importorskip("fastapi.testclient")
pytestmark = [pytest.mark.subprocess, pytest.mark.slow]
DEADLY, ENDLESS = 666, 667  # asked for as k: the worker dies; the worker sleeps
# what a worker of these tests runs before its work
MARKED = """
import os, time
from skstruct.serving import working
plain = working.answer
def answer(question, served, X, asked=None):
    if asked.k == 666:
        os.kill(os.getpid(), 9)
    while asked.k == 667:
        time.sleep(60)
    return plain(question, served, X, asked)
working.answer = answer
from skstruct.serving.worker import run_worker
run_worker({fd})
"""


@contextlib.contextmanager
def crew(path, **settings):
    """A client of an application with two workers, and its log."""
    lines = Lines()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker_lane, "START", MARKED)
        app = make_app({"weather": path}, Settings(**settings), workers=2, log=Log(file=lines))
        with testclient.TestClient(app, raise_server_exceptions=False) as client:
            client.lines, client.lanes = lines, app.state.batcher.lanes
            yield client


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("crew") / "weather.model"
    save_model(sets_model(), path)
    return path


@pytest.fixture(scope="module")
def client(path):
    with crew(path, timeout=300.0) as client:
        yield client


def ask(client, found, i, n_times=1, **options):
    for _ in range(n_times):
        found[i].append(client.post("/predict", json={"rows": [ROWS[i]], **options}))


def together(client, n, n_times):
    """What several threads get, each for a row of its own."""
    found = [[] for _ in range(n)]
    threads = [threading.Thread(target=ask, args=(client, found, i, n_times)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_answers_and_errors_are_those_of_a_thread(client, client_of, path):
    single = client_of({"weather": str(path)})
    for route, body in (
        ("/predict", {"rows": ROWS[:3]}),
        ("/decode", {"rows": ROWS[:3], "loss": "f1", "restrict": {"max_size": 1}}),
        ("/kbest", {"rows": ROWS[:2], "k": 2}),
        ("/predict", {"rows": [ROWS[0], {**ROWS[1], "wind": "strong"}]}),
        ("/predict", {"rows": ROWS[:1], "model": "nobody"}),
        ("/predict", {"rows": []}),
    ):
        ours, theirs = client.post(route, json=body), single.post(route, json=body)
        assert (ours.status_code, ours.text) == (theirs.status_code, theirs.text)
        assert ours.headers["content-type"] == theirs.headers["content-type"]
    (ours,), (theirs,) = (c.get("/models").json()["models"] for c in (client, single))
    assert ours | {"loaded": ""} == theirs | {"loaded": ""}
    assert client.get("/openapi.json").json() == single.get("/openapi.json").json()
    assert client.get("/ready").json() == {"status": "ready", "models": ["weather"]}


def test_work_is_shared_out(client):
    before = [lane.n_answered for lane in client.lanes]
    found = together(client, 8, 25)
    assert {one.status_code for row in found for one in row} == {200}
    shares = [lane.n_answered - old for lane, old in zip(client.lanes, before)]
    assert sum(shares) == 200
    assert min(shares) >= 30


def test_a_request_that_ends_its_worker_gets_500_and_others_are_answered(client):
    model = sets_model()
    expected = [sorted(row) for row in model.predict(ROWS[:4])]
    deadly = []
    thread = threading.Thread(
        target=lambda: deadly.append(client.post("/predict", json={"rows": ROWS[:1], "k": DEADLY}))
    )
    thread.start()
    found = together(client, 4, 10)
    thread.join()
    assert (deadly[0].status_code, deadly[0].json()["error"]) == (
        500, "The request ended 2 worker processes: send it in parts.",
    )  # fmt: skip
    for row, wanted in zip(found, expected):
        assert [one.json()["answers"][0]["prediction"] for one in row] == [wanted] * 10
    assert "signal 9" in client.lines.text
    until = time.monotonic() + 120
    while "skstruct_workers 2" not in client.get("/metrics").text:
        assert time.monotonic() < until
        time.sleep(0.05)
    assert "skstruct_worker_deaths_total 2" in client.get("/metrics").text


def test_a_prediction_that_takes_too_long_is_stopped(path):
    with crew(path, timeout=5.0) as client:
        old = [lane.process.pid for lane in client.lanes]
        slow = client.post("/predict", json={"rows": ROWS[:1], "k": ENDLESS})
        assert (slow.status_code, slow.headers["retry-after"]) == (503, "5")
        assert client.post("/predict", json={"rows": ROWS[:1]}).status_code == 200
        until = time.monotonic() + 120
        while len({lane.process.pid for lane in client.lanes} & set(old)) == 2:
            assert time.monotonic() < until
            time.sleep(0.05)
        (gone,) = set(old) - {lane.process.pid for lane in client.lanes}
        assert not os.path.exists(f"/proc/{gone}")
        assert "took longer than 5 seconds" in client.lines.text


def test_fitted_models_are_for_one_process():
    with pytest.raises(ValueError, match="weather: workers read model files; got a Cond"):
        make_app({"weather": sets_model()}, workers=2)
