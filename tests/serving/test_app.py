# SPDX-License-Identifier: BSD-3-Clause
"""Every route, format, limit and error, against a server within this process."""

import datetime as dt
import io
import json
import threading

import numpy as np
import pytest

from serving.conftest import ROWS, SETS, sets_model
from skstruct import ConditionalRiskMinimizer, save_model
from skstruct.serving import Served, Settings, answers
from skstruct.serving.parsing import ARROW, CSV
from skstruct.spaces import LabelSets

QUESTIONS = ("predict", "decode", "marginals", "kbest", "explain")
SAFE = {"x-content-type-options": "nosniff", "x-frame-options": "DENY", "cache-control": "no-store"}


@pytest.fixture
def client(client_of, model):
    return client_of({"weather": model})


def post(client, route, body, **headers):
    headers = {"content-type": "application/json"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    return client.post(route, content=body, headers=headers)


# ---------------------------------------------------------------------- answers
@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_those_of_python(client, model, question):
    served = Served("weather", model)
    found = client.post(f"/{question}", json={"rows": ROWS[:3]})
    assert found.status_code == 200
    expected = answers.answer(question, served, served.inputs(ROWS[:3]))
    assert found.json() == {"model": "weather", "answers": expected}
    assert {name: found.headers[name] for name in SAFE} == SAFE


def test_loss_constraints_and_threshold_are_chosen_in_each_request(client, model):
    asked = {"loss": "f1", "restrict": {"max_size": 1}}
    found = client.post("/predict", json={"rows": ROWS, **asked}).json()["answers"]
    expected = model.predict(ROWS, **asked)
    assert [set(row["prediction"]) for row in found] == list(map(set, expected))
    found = client.post("/predict", json={"rows": ROWS, "threshold": 0.9}).json()["answers"]
    expected = model.predict(ROWS, threshold=0.9)
    assert [set(row["prediction"]) for row in found] == list(map(set, expected))
    each = [{"exclude": ["hot"]}, {"include": ["hot"]}]
    found = client.post("/predict", json={"rows": ROWS[:2], "restrict": each}).json()["answers"]
    assert ["hot" in row["prediction"] for row in found] == [False, True]


def test_levels_are_chosen_in_each_request(client_of):
    from skstruct.conformal import RiskControl
    from skstruct.tasks import TaskModel
    from tasks.test_task_model import data_of

    data = data_of("labels")
    model = TaskModel(learner="kernel", parameters={"alpha": 1.0}).fit(data)
    X = model.inputs(data)
    model.control_ = RiskControl(model.learner_, level=0.2).calibrate(X, data.outputs)
    client = client_of({"m": model})
    rows = Served("m", model).example_rows(2)
    for level in (0.2, 0.4):
        found = client.post("/predict", json={"rows": rows, "level": level})
        assert found.status_code == 200, found.text
        for row in found.json()["answers"]:
            assert set(row["certain"]) <= set(row["possible"])


def test_csv_in_and_out(client, model):
    text = "sky,size,wind,more\n" + "".join(
        f"{row['sky']},{row['size']},{row['wind']},x\n" for row in ROWS[:3]
    )
    found = post(client, "/decode?loss=f1", text, content_type="text/csv", accept="text/csv")
    lines = found.text.splitlines()
    assert found.headers["content-type"].startswith("text/csv")
    assert lines[0] == "row,prediction,risk,bound,gap,exact"
    values = model.decode(ROWS[:3], loss="f1").values
    assert [float(line.split(",")[2]) for line in lines[1:]] == values.tolist()
    other = text.replace(",", ";")
    again = post(client, "/decode?loss=f1&separator=semicolon", other, content_type=CSV)
    assert [row["risk"] for row in again.json()["answers"]] == values.tolist()


def test_arrow_in_and_out(client, model):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.Table.from_pylist(ROWS[:3])
    found = post(client, "/marginals", stream(table), content_type=ARROW, accept=ARROW)
    assert found.headers["content-type"] == ARROW
    read = pyarrow.ipc.open_stream(found.content).read_all().to_pylist()
    expected = model.predict_marginals(ROWS[:3])
    assert [[row[f"P({name})"] for name in ("calm", "dry", "hot")] for row in read] == (
        expected.tolist()
    )


def stream(table, **options):
    import pyarrow

    sink = io.BytesIO()
    options = pyarrow.ipc.IpcWriteOptions(**options) if options else None
    with pyarrow.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue()


def test_names_in_csv_answers_cannot_be_run_by_a_spreadsheet(client_of):
    model = ConditionalRiskMinimizer(alpha=1.0).fit([[0.0], [1.0]], ["=1+1", "b"])
    client = client_of({"m": model})
    found = post(client, "/predict", "[[0.0]]", accept="text/csv")
    assert found.text == "row,prediction\n1,'=1+1\n"


def test_a_list_of_rows_is_a_body_too(client):
    assert post(client, "/predict", json.dumps(ROWS[:1])).status_code == 200


def test_missing_cells_may_be_null_nan_or_left_out(client):
    for cell in ("null", "NaN"):
        row = '[{"size": CELL, "sky": "sun", "wind": 1.0}]'.replace("CELL", cell)
        assert post(client, "/predict", row).status_code == 200


# ---------------------------------------------------------------------- about the server
def test_models_tell_columns_labels_and_abilities(client):
    (found,) = client.get("/models").json()["models"]
    assert [column["name"] for column in found["columns"]] == ["size", "sky", "wind"]
    assert found["labels"] == ["calm", "dry", "hot"]
    assert found["losses"][0] == "hamming"
    assert found["can"]["marginals"]
    assert not found["can"]["level"]
    assert client.post("/predict", json=[found["example"]]).status_code == 200


def test_health_ready_and_metrics(client):
    assert client.get("/health").json() == {"status": "alive"}
    assert client.get("/ready").json() == {"status": "ready", "models": ["weather"]}
    client.post("/predict", json=ROWS[:4])
    text = client.get("/metrics").text
    assert 'skstruct_requests_total{route="predict",status="200"} 1' in text
    assert 'skstruct_rows_total{route="predict"} 4' in text
    assert 'skstruct_request_seconds_count{route="predict"} 1' in text


def test_openapi_has_examples_that_are_answered(client):
    found = client.get("/openapi.json").json()
    assert {f"/{question}" for question in QUESTIONS} <= set(found["paths"])
    for question in QUESTIONS:
        content = found["paths"][f"/{question}"]["post"]["requestBody"]["content"]
        (example,) = content["application/json"]["examples"].values()
        assert client.post(f"/{question}", json=example["value"]).status_code == 200
        (lines,) = content["text/csv"]["examples"].values()
        answer = post(client, f"/{question}", lines["value"], content_type="text/csv")
        assert answer.status_code == 200
    told = found["paths"]["/metrics"]["get"]["responses"]["200"]["content"]
    assert client.get("/metrics").headers["content-type"].partition(";")[0] in told
    assert client.get("/docs").status_code == 404  # its scripts would come from elsewhere


def test_several_models_are_asked_by_name(client_of, model):
    client = client_of({"one": model, "two": sets_model(10.0)})
    assert client.post("/predict", json={"rows": ROWS[:1], "model": "two"}).status_code == 200
    assert client.post("/predict?model=one", json={"rows": ROWS[:1]}).json()["model"] == "one"
    described = client.get("/openapi.json").json()["paths"]["/predict"]["post"]["parameters"]
    assert [p["schema"]["enum"] for p in described if p["name"] == "model"] == [["one", "two"]]
    body = {"rows": ROWS[:1], "model": "one"}
    assert client.post("/predict?model=one", json=body).status_code == 200
    for address in ("/predict?model=two", "/predict?model=x", "/predict?model=one&model=two"):
        assert client.post(address, json=body).status_code == 422
    nobody = client.post("/predict", json={"rows": ROWS[:1]})
    assert (nobody.status_code, nobody.json()["error"]) == (
        422, "Several models are served: give model, one of one, two.",
    )  # fmt: skip
    assert client.post("/predict", json={"rows": ROWS[:1], "model": "x"}).status_code == 404


# ---------------------------------------------------------------------- wrong requests
@pytest.mark.parametrize(("body", "status", "said"), [
    (b"", 400, "not JSON"),
    (b"{", 400, "not JSON"),
    (b"\xff\xfe[]", 400, "not UTF-8"),
    (b"5", 422, '{"rows": [...]}'),
    (b'{"rows": 5}', 422, "rows is a list"),
    (b'{"rows": []}', 422, "no rows"),
    (b"[]", 422, "no rows"),
    (b'{"rows": [{"size": 1, "size": 2}]}', 422, "'size' is there twice"),
    (b"[" * 100_000, 422, "nested too deeply"),
    (b"[[" + b"9" * 5000 + b", 1, 1]]", 422, "not read"),
    (b'[{"size": 1' + b"0" * 400 + b', "sky": "sun", "wind": 1}]', 422, "too large"),
    (b'[{"size": Infinity, "sky": "sun", "wind": 1}]', 422, "infinite"),
    (b'[{"size": 1, "sky": "sun"}]', 422, "not in these data: 'wind'"),
    (b'[{"size": {}, "sky": "sun", "wind": 1}]', 422, "column 'size'"),
    (b'{"rows": [[1, "sun", 2]], "what": 1}', 422, "known are loss"),
    (b'{"rows": [[1, "sun", 2]], "loss": "kendall"}', 422, ""),
    (b'{"rows": [[1, "sun", 2]], "restrict": {"include": ["snow"]}}', 422, "snow"),
    (b'{"rows": [[1, "sun", 2]], "restrict": [{}, {}]}', 422, "2 dictionaries"),
    (b'{"rows": [[1, "sun", 2]], "k": 2}', 422, "k is for kbest alone"),
    (b'{"rows": [[1, "sun", 2]], "threshold": [0.5, 2, 0.5]}', 422, "one for each label"),
    (b'{"rows": [[1, ["sun"], 2]]}', 422, "row 1, column 'sky': an argument must be"),
    (b'{"rows": [[1, "sun", 2]], "restrict": [{"max_size": "x"}]}', 422, "row 1: restrict: "),
    (b'{"rows": [[1e308, "sun", 2]]}', 422, "row 1, column 'size': the number is too large"),
    (b'{"rows": [[1, "sun"]]}', 422, "the model reads 3 columns; got 2"),
    (b'{"rows": [[1, "sun", 2]], "model": 3}', 422, "model is the name"),
])  # fmt: skip
def test_wrong_bodies_say_what_is_wrong(client, body, status, said):
    found = post(client, "/predict", body)
    assert found.status_code == status, found.text
    assert said in found.json()["error"]


def test_row_and_column_are_told_with_the_sentence_of_python(client, model):
    rows = [ROWS[0], {**ROWS[1], "wind": "strong"}]
    with pytest.raises(ValueError) as caught:
        model.predict(rows)
    found = client.post("/predict", json={"rows": rows})
    assert found.json() == {"error": str(caught.value), "row": 2, "column": "wind"}
    found = client.post(
        "/predict",
        json={"rows": ROWS[:3], "restrict": [{}, {}, {"max_size": 0, "min_size": 1}]},
    )
    assert (found.status_code, found.json()["row"]) == (422, 3)


@pytest.mark.parametrize(("body", "said"), [
    ("", "no lines"),
    ("size,sky,wind\n", "no rows"),
    ("size,size,wind\n1,2,3\n", "Two columns"),
    ("size,sky,wind\n1,sun\n", "row 1: 3 cells are wanted, got 2"),
    ("size,sky,wind\nx,sun,1\n", "held numbers"),
])  # fmt: skip
def test_wrong_csv(client, body, said):
    found = post(client, "/predict", body, content_type="text/csv")
    assert (found.status_code, said in found.json()["error"]) == (422, True), found.text


def test_wrong_arrow(client):
    pyarrow = pytest.importorskip("pyarrow")
    good = stream(pyarrow.Table.from_pylist(ROWS[:3]))
    assert post(client, "/predict", b"nothing of the kind", content_type=ARROW).status_code == 400
    assert post(client, "/predict", good[:-200], content_type=ARROW).status_code == 400
    packed = stream(pyarrow.Table.from_pylist(ROWS * 9), compression="zstd")
    found = post(client, "/predict", packed, content_type=ARROW)
    assert "Compressed" in found.json()["error"]
    nested = pyarrow.table({"size": [{"a": 1}]})
    found = post(client, "/predict", stream(nested), content_type=ARROW)
    assert (found.status_code, found.json()["column"]) == (422, "size")
    empty = pyarrow.table({"size": pyarrow.nulls(10**6)})
    assert post(client, "/predict", stream(empty), content_type=ARROW).status_code == 413


def test_addresses_methods_and_types_that_nobody_knows(client):
    for found, status in (
        (client.get("/nothing"), 404),
        (client.get("/predict"), 405),
        (post(client, "/predict", "a=1", content_type="application/x-www-form-urlencoded"), 415),
        (client.post("/predict?sort=1", json=ROWS[:1]), 422),
        (client.post("/predict?restrict=x", json=ROWS[:1]), 422),
    ):
        assert found.status_code == status
        assert "error" in found.json()
        assert {name: found.headers[name] for name in SAFE} == SAFE


# ---------------------------------------------------------------------- limits
def test_rows_and_bytes_are_limited(client_of, model):
    client = client_of({"m": model}, max_rows=2, max_bytes=1000)
    assert client.post("/predict", json=ROWS[:2]).status_code == 200
    assert client.post("/predict", json=ROWS[:3]).status_code == 413
    assert client.post("/predict", json=ROWS).status_code == 413

    def parts():  # no length is told before
        for _ in range(100):
            yield b" " * 100

    found = client.post("/predict", content=parts(), headers={"content-type": "application/json"})
    assert found.status_code == 413


class Slow:
    """A model that waits before it predicts, as long as somebody holds it."""

    def __init__(self, model):
        self.__dict__.update(model.__dict__)
        self.model, self.held, self.begun = model, threading.Event(), threading.Event()
        self.held.set()

    def __getattr__(self, name):
        return getattr(self.model, name)

    def predict(self, X, *, loss=None, restrict=None, threshold=None):
        self.begun.set()
        assert self.held.wait(30)
        return self.model.predict(X, loss=loss, restrict=restrict, threshold=threshold)


def asking(client, found, rows):
    thread = threading.Thread(target=lambda: found.append(client.post("/predict", json=rows)))
    thread.start()
    return thread


def test_a_prediction_that_takes_too_long_is_not_waited_for(client_of, model):
    slow = Slow(model)
    client = client_of({"m": slow}, timeout=0.2)
    slow.held.clear()
    found = client.post("/predict", json=ROWS[:1])
    assert client.get("/health").status_code == 200  # while it is still predicted
    slow.held.set()
    assert (found.status_code, int(found.headers["retry-after"])) == (503, 5)


def test_a_full_queue_is_told(client_of, model):
    slow, found = Slow(model), []
    client = client_of({"m": slow}, queue=1, timeout=60)
    slow.held.clear()
    slow.begun.clear()
    first = asking(client, found, ROWS[:1])
    assert slow.begun.wait(10)
    second = asking(client, found, ROWS[:1])
    while "skstruct_waiting 2" not in client.get("/metrics").text:
        pass
    refused = client.post("/predict", json=ROWS[:1])
    slow.held.set()
    first.join()
    second.join()
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert [one.status_code for one in found] == [200, 200]


def test_requests_that_wait_together_are_predicted_together(client_of, model):
    slow = Slow(model)
    client = client_of({"m": slow}, timeout=60)
    slow.held.clear()
    slow.begun.clear()
    found = [None] * 6

    def ask(i):
        rows = [ROWS[i]] if i != 3 else [{**ROWS[i], "size": "x"}]
        found[i] = client.post("/predict", json={"rows": rows})

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(6)]
    threads[0].start()
    assert slow.begun.wait(10)
    for thread in threads[1:]:
        thread.start()
    while "skstruct_waiting 6" not in client.get("/metrics").text:
        pass
    slow.held.set()
    for thread in threads:
        thread.join()
    assert [one.status_code for one in found] == [200, 200, 200, 422, 200, 200]
    assert found[3].json()["row"] == 1
    expected = [sorted(row) for row in model.predict(ROWS[:6])]
    good = [one for i, one in enumerate(found) if i != 3]
    assert [one.json()["answers"][0]["prediction"] for one in good] == expected[:3] + expected[4:]
    assert "skstruct_batches_total 2" in client.get("/metrics").text


# ---------------------------------------------------------------------- who may ask
def test_a_token_is_wanted(client_of, model):
    client = client_of({"m": model}, token="secret word")
    for given in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Basic secret word"}):
        found = client.post("/predict", json=ROWS[:1], headers=given)
        assert found.status_code == 401
        assert found.headers["www-authenticate"] == "Bearer"
        assert client.get("/metrics", headers=given).status_code == 401
        assert client.get("/openapi.json", headers=given).status_code == 401
    right = {"authorization": "Bearer secret word"}
    assert client.post("/predict", json=ROWS[:1], headers=right).status_code == 200
    assert client.get("/health").status_code == client.get("/ready").status_code == 200
    assert "secret" not in repr(Settings(token="secret word"))


def test_no_page_may_ask_unless_its_origin_is_told(client_of, model):
    preflight = {
        "origin": "https://a.example", "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
    }  # fmt: skip
    closed = client_of({"m": model})
    assert (
        "access-control-allow-origin" not in closed.options("/predict", headers=preflight).headers
    )
    opened = client_of({"m": model}, cors=("https://a.example",), token="t")
    found = opened.options("/predict", headers=preflight)
    assert found.headers["access-control-allow-origin"] == "https://a.example"
    other = opened.options("/predict", headers={**preflight, "origin": "https://b.example"})
    assert "access-control-allow-origin" not in other.headers


def test_other_names_of_the_host_are_refused(client_of, model):
    client = client_of({"m": model}, hosts=("localhost", "127.0.0.1"))
    assert client.get("/health", headers={"host": "evil.example"}).status_code == 421
    assert client.get("/health", headers={"host": "localhost:8000"}).status_code == 200


def test_logs_tell_no_data(client_of, model, lines):
    client = client_of({"weather": model})
    row = {"size": 123.456, "sky": "thunderstorm", "wind": 1.0}
    client.post("/predict", json={"rows": [row], "restrict": {"include": ["hot"]}})
    client.post("/predict?model=thunderstorm", json={"rows": [row]})
    client.post("/predict", json={"rows": [{**row, "wind": "thunderstorm"}]})
    client.get("/thunderstorm")
    records = [json.loads(line) for line in lines.text.splitlines()]
    assert [record["status"] for record in records] == [200, 404, 422, 404]
    assert records[0]["rows"] == 1
    assert records[0]["model"] == "weather"
    assert {"time", "route", "ms", "request"} <= set(records[0])
    for word in ("123.456", "thunderstorm", "hot", "sky"):
        assert word not in lines.text


def test_an_unforeseen_error_tells_nothing(client_of, model, lines, monkeypatch):
    client = client_of({"m": model})

    def fail(*_):
        raise KeyError("secret value")

    monkeypatch.setattr("skstruct.serving.working.answer", fail)
    found = client.post("/predict", json=ROWS[:1])
    assert found.status_code == 500
    assert "secret" not in found.text + lines.text
    assert '"kind": "KeyError"' in lines.text


# ---------------------------------------------------------------------- reloading
def test_files_are_read_again_and_broken_ones_are_not(client_of, tmp_path, lines):
    path = tmp_path / "weather.model"
    save_model(sets_model(), path)
    client = client_of({"weather": str(path)}, reload_seconds=0.02)

    def predicted():
        found = client.post("/decode", json=ROWS[:1])
        assert found.status_code == 200
        return found.json()["answers"][0]["risk"]

    first = predicted()
    save_model(sets_model(5.0), path)
    while predicted() == first:
        pass
    second = predicted()
    path.write_bytes(b"broken")
    while not client.get("/models").json()["models"][0]["error"]:
        pass
    assert predicted() == second
    assert "skstruct_failed_reloads_total 1" in client.get("/metrics").text
    assert "reload failed" in lines.text
    save_model(sets_model(), path)
    while predicted() != first:
        pass
    (found,) = client.get("/models").json()["models"]
    assert (found["error"], found["reloads"], found["failed_reloads"]) == (None, 2, 1)


@pytest.mark.slow
def test_a_file_of_other_columns_is_refused_unless_told(client_of, tmp_path):
    """Clients of the model that is served would all fail; half of the labels may be new."""
    path, others = tmp_path / "weather.model", [{"height": row["size"]} for row in ROWS]
    save_model(sets_model(), path)
    strict = client_of({"weather": str(path)}, reload_seconds=0.02)
    told = client_of({"weather": str(path)}, reload_seconds=0.02, other_columns=True)
    numbered = [{**row, "sky": 1.0} for row in ROWS]
    for rows, outputs, said in (
        (others, SETS, "reads other columns than the one that is served: height, size, sky, wind"),
        (numbered, SETS, "reads other columns than the one that is served: sky"),
        ([dict(reversed(row.items())) for row in ROWS], SETS, "their order is another"),
        (ROWS, ["dry" if "dry" in names else "wet" for names in SETS], "predicts classes"),
    ):
        save_model(ConditionalRiskMinimizer(alpha=0.1).fit(rows, outputs), path)
        while said not in str(strict.get("/models").json()["models"][0]["error"]):
            pass
        assert strict.post("/predict", json=ROWS[:1]).status_code == 200
        while told.post("/predict", json=rows[:1]).status_code != 200:
            pass
    assert "skstruct_failed_reloads_total 4" in strict.get("/metrics").text
    assert "skstruct_failed_reloads_total 0" in told.get("/metrics").text
    save_model(
        ConditionalRiskMinimizer(alpha=0.1).fit(ROWS, [names | {"new"} for names in SETS]), path
    )
    while "new" not in strict.get("/models").json()["models"][0]["labels"]:
        pass


@pytest.mark.parametrize(
    "names",
    [np.array([3, 1, 2]), [b"a", b"b", b"c"], [dt.date(2024, 5, day) for day in (29, 30, 31)]],
    ids=["numbers of NumPy", "bytes", "dates"],
)
def test_names_of_other_types_are_described(client_of, names):
    names = list(names)
    outputs = [{names[["hot", "dry", "calm"].index(name)] for name in row} for row in SETS]
    model = ConditionalRiskMinimizer(LabelSets(names), alpha=0.1).fit(ROWS, outputs)
    client = client_of({"m": model})
    found = client.get("/openapi.json")
    assert found.status_code == 200, found.text
    content = found.json()["paths"]["/predict"]["post"]["requestBody"]["content"]
    (example,) = content["application/json"]["examples"].values()
    assert "exclude" in example["value"]["restrict"]
    assert client.post("/predict", json=example["value"]).status_code == 200
    assert client.get("/models").json()["models"][0]["labels"] == list(map(str, names))


@pytest.mark.parametrize("route", ["/predict", "/openapi.json", "/models"])
def test_a_fault_of_the_server_is_never_the_clients(client_of, model, lines, monkeypatch, route):
    client = client_of({"m": model})

    def fail(*_):
        raise TypeError("bytes are not JSON serializable")

    for module in ("working.Job.reply", "models._described", "openapi._choices"):
        monkeypatch.setattr(f"skstruct.serving.{module}", fail)
    asked = client.post(route, json=ROWS[:1]) if route == "/predict" else client.get(route)
    assert asked.status_code == 500
    assert "bytes" not in asked.text
    assert '"kind": "TypeError"' in lines.text


def test_addresses_are_not_redirected(client):
    """By the header Host of whoever asks; the counters have no such status, either."""
    found = client.post("/predict/", json=ROWS[:1], follow_redirects=False)
    assert found.status_code == 404
    assert "error" in found.json()
    assert 'status="500"' not in client.get("/metrics").text
