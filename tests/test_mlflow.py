# SPDX-License-Identifier: BSD-3-Clause
"""Models in MLflow answer as they do without it, in this process and in MLflow's own server."""

import json
import os
import socket
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import skstruct
from skstruct import ConditionalRiskMinimizer, StructuredPerceptron
from skstruct.datasets.dataset import Dataset
from skstruct.kernels import SpectrumKernel
from skstruct.spaces import LabelSets, Sequences
from skstruct.tasks.model import TaskModel

mlflow = pytest.importorskip("mlflow")
pd = pytest.importorskip("pandas")
pytest.importorskip("mlflow.pyfunc")
flavour = pytest.importorskip("skstruct.mlflow")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::FutureWarning")]
RNG = np.random.default_rng(0)
N = 40
X = RNG.standard_normal((N, 3))
SETS = [[name for name, v in zip("abc", row) if v > 0] for row in X]


def frame():
    """Columns of every kind that a model can have."""
    return pd.DataFrame(
        {
            "size": X[:, 0],
            "colour": np.where(X[:, 1] > 0, "red", "green"),
            "seen": pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(N), unit="D"),
            "old": X[:, 2] > 0,
            "wait": pd.to_timedelta(np.arange(N) % 5, unit="D"),
        }
    )


def words_model():
    words = [["the", "cat"], ["a", "dog", "ran"], ["the", "dog", "sat"]] * 4
    tags = [["D", "N"], ["D", "N", "V"], ["D", "N", "V"]] * 4
    pairs = [list(zip(*both)) for both in zip(words, tags)]
    data = Dataset("toy", "conll", "sequence", pairs, [tuple(t) for t in tags])
    return TaskModel().fit(data)


def models():
    """Fitted models by the form of their inputs."""
    letters = ["".join("ab"[int(v > 0)] for v in row) * 3 for row in X]
    tokens = [RNG.standard_normal((2 + i % 3, 2)) for i in range(12)]
    tags = [tuple("xy"[int(t[0] > 0)] for t in x) for x in tokens]
    return {
        "array": ConditionalRiskMinimizer(LabelSets("abc"), alpha=0.1).fit(X, SETS),
        "frame": ConditionalRiskMinimizer(alpha=0.1).fit(frame(), SETS),
        "classes": ConditionalRiskMinimizer(alpha=0.1).fit(
            pd.DataFrame(X, columns=list("uvw")), np.where(X[:, 0] > 0, "yes", "no")
        ),
        "words": words_model(),
        "strings": ConditionalRiskMinimizer(
            LabelSets("abc"), kernel=SpectrumKernel(2), alpha=0.1
        ).fit(letters, SETS),
        "tokens": StructuredPerceptron(Sequences(), random_state=0).fit(tokens, tags),
        "numbers": ConditionalRiskMinimizer(alpha=0.1).fit(X, X[:, :2]),
    }


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """All models with the folders that they were saved to."""
    folder = tmp_path_factory.mktemp("saved")
    found = models()
    for name, model in found.items():
        flavour.save_model(model, folder / name)
    return {name: (model, folder / name) for name, model in found.items()}


# ------------------------------------------------------------------ folders
@pytest.mark.parametrize("name", models())
def test_a_model_that_was_saved_answers_as_before(saved, name):
    model, folder = saved[name]
    loaded = mlflow.pyfunc.load_model(str(folder))
    rows = loaded.input_example
    assert len(rows) == 2
    answers = loaded.predict(rows)
    assert list(answers.columns) == ["prediction"]
    again = flavour.load_model(str(folder))
    assert type(again) is type(model)
    served = flavour.PyfuncModel(model)
    assert served.predict(rows).equals(answers)
    if isinstance(rows, np.ndarray):
        expected = model.predict(rows)
        got = answers["prediction"].tolist()
        assert [sorted(row) for row in got] == [sorted(row) for row in expected.tolist()]
    assert loaded.get_raw_model() is not None


@pytest.mark.parametrize("name", models())
def test_folders_hold_data_only(saved, name):
    files = {path.name for path in saved[name][1].rglob("*") if path.is_file()}
    assert files == {
        "MLmodel", "model.skstruct", "conda.yaml", "python_env.yaml", "requirements.txt",
        "input_example.json", "serving_input_example.json",
    }  # fmt: skip
    wanted = (saved[name][1] / "requirements.txt").read_text().split()
    assert f"skstruct=={skstruct.__version__}" in wanted
    assert skstruct.persistence.describe_model(saved[name][1] / "data" / "model.skstruct")["tested"]


def test_signatures_name_the_columns_of_training(saved):
    signature = mlflow.models.get_model_info(str(saved["frame"][1])).signature
    kinds = {column.name: column.type.name for column in signature.inputs}
    assert kinds == {
        "size": "double", "colour": "string", "seen": "datetime", "old": "boolean",
        "wait": "double",
    }  # fmt: skip
    defaults = {param.name: param.default for param in signature.params}
    assert defaults == {
        "method": "predict", "loss": None, "restrict": None, "threshold": None, "level": None,
        "k": 3, "n": 5,
    }  # fmt: skip
    array = mlflow.models.get_model_info(str(saved["array"][1])).signature
    assert array.inputs.inputs[0].shape == (-1, 3)


def test_frames_answer_as_the_model_does_with_their_index(saved):
    model, folder = saved["frame"]
    rows = frame().iloc[3:9]
    asked = rows.assign(wait=rows["wait"] / pd.Timedelta(days=1))
    found = mlflow.pyfunc.load_model(str(folder)).predict(asked)
    assert list(found.index) == list(range(3, 9))
    expected = [sorted(row) for row in model.predict(rows)]
    assert [sorted(row) for row in found["prediction"]] == expected
    with pytest.raises(mlflow.exceptions.MlflowException, match="colour"):
        mlflow.pyfunc.load_model(str(folder)).predict(asked.drop(columns="colour"))


def test_params_are_questions(saved):
    model, folder = saved["array"]
    loaded = mlflow.pyfunc.load_model(str(folder))

    def ask(**params):
        return loaded.predict(X[:5], params=params)

    decoded = model.decode(X[:5], loss="f1")
    found = ask(method="decode", loss="f1")
    assert_array_equal(found["risk"].to_numpy(), decoded.values)
    assert found["exact"].all()
    restricted = ask(restrict='{"max_size": 1, "include": ["b"]}')
    assert restricted["prediction"].tolist() == [["b"]] * 5
    by_row = [{}] * 4 + [{"include": ["a"], "max_size": 1}]
    assert ask(restrict=json.dumps(by_row))["prediction"].iloc[4] == ["a"]
    best = ask(method="kbest", k=2)["best"]
    assert all(len(row) == 2 for row in best)
    assert set(ask(method="marginals")["marginals"].iloc[0]) == set("abc")
    assert len(ask(method="explain", n=1)["supporters"].iloc[0]) == 1
    thresholds = ask(threshold="0.0")["prediction"]
    assert thresholds.tolist() == [["a", "b", "c"]] * 5


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"method": "guess"}, "method is one of predict, .*got 'guess'"),
        ({"restrict": "{"}, "restrict is JSON text"),
        ({"restrict": '{"smallest": 1}'}, "smallest"),
        ({"threshold": "high"}, "threshold is a number"),
        ({"level": 0.9}, "calibrat"),
        ({"loss": "nonsense"}, "nonsense"),
        ({"k": 0, "method": "kbest"}, "k is a whole number"),
    ],
)
def test_what_cannot_be_answered_is_said(saved, params, words):
    loaded = mlflow.pyfunc.load_model(str(saved["array"][1]))
    with pytest.raises(mlflow.exceptions.MlflowException, match=words) as caught:
        loaded.predict(X[:5], params=params)
    assert caught.value.get_http_status_code() == 400


def test_what_a_user_gives_is_kept(tmp_path):
    model = ConditionalRiskMinimizer(alpha=0.1).fit(X, SETS)
    flavour.save_model(
        model, tmp_path / "a", input_example=X[:1], metadata={"owner": "garden"},
        extra_pip_requirements=["left-pad==1"], signature=False,
    )  # fmt: skip
    info = mlflow.models.get_model_info(str(tmp_path / "a"))
    assert info.metadata["owner"] == "garden"
    assert info.metadata["kind"] == "labels"
    assert "left-pad==1" in (tmp_path / "a" / "requirements.txt").read_text()
    assert_array_equal(mlflow.pyfunc.load_model(str(tmp_path / "a")).input_example, X[:1])


# ------------------------------------------------------------------ runs
def test_logged_models(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.chdir(tmp_path)
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    try:
        model = models()["classes"]
        with mlflow.start_run():
            info = flavour.log_model(
                model, "toy", registered_model_name="toys", metadata={"owner": "garden"}
            )
        rows = pd.DataFrame(X, columns=list("uvw"))
        for uri in (info.model_uri, "models:/toys/1"):
            assert_array_equal(flavour.load_model(uri).predict(rows), model.predict(rows))
            answers = mlflow.pyfunc.load_model(uri).predict(rows)
            assert answers["prediction"].tolist() == model.predict(rows).tolist()
        logged = mlflow.get_logged_model(info.model_id)
        assert logged.params["alpha"] == "0.1"
        assert mlflow.models.get_model_info(info.model_uri).metadata["owner"] == "garden"
    finally:
        mlflow.set_tracking_uri(before)


def test_folders_of_others_are_refused(tmp_path):
    mlflow.models.Model(flavors={"python_function": {}}).save(str(tmp_path / "MLmodel"))
    with pytest.raises(ValueError, match="not saved by skstruct"):
        flavour.load_model(str(tmp_path))


def test_without_mlflow_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow.pyfunc", None)
    with pytest.raises(ImportError, match=r'pip install "skstruct\[mlflow\]"'):
        flavour.save_model(models()["array"], tmp_path / "a")


# ------------------------------------------------------------------ MLflow's server
def asked(url, body, content="application/json"):
    """Status and answer of one request."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": content})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


@pytest.fixture(scope="module")
def server(saved, tmp_path_factory):
    """The address of a scoring server of its own process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "--host", "127.0.0.1", "--port", str(port),
               "mlflow.pyfunc.scoring_server.app:app"]  # fmt: skip
    environment = os.environ | {"__pyfunc_model_path__": str(saved["frame"][1])}
    log = tmp_path_factory.mktemp("server") / "log"
    with (
        log.open("w") as out,
        subprocess.Popen(command, env=environment, stdout=out, stderr=out) as process,
    ):
        try:
            _wait_for(f"http://127.0.0.1:{port}/ping", process, log)
            yield f"http://127.0.0.1:{port}/invocations"
        finally:
            process.terminate()


def _wait_for(url, process, log):
    stop = time.monotonic() + 120
    while time.monotonic() < stop and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(Path(log).read_text()[-2000:])


@pytest.mark.subprocess
def test_the_scoring_server_answers_as_the_model_does(server, saved):
    model, _ = saved["frame"]
    rows = frame().iloc[:4]
    cells = rows.assign(
        seen=rows["seen"].dt.strftime("%Y-%m-%d"), wait=rows["wait"] / pd.Timedelta(days=1)
    )
    records = json.loads(cells.to_json(orient="records"))
    expected = [{"prediction": sorted(row)} for row in model.predict(rows)]
    assert asked(server, {"dataframe_records": records}) == (200, {"predictions": expected})
    split = {"columns": list(cells.columns), "data": [list(row.values()) for row in records]}
    assert asked(server, {"dataframe_split": split}) == (200, {"predictions": expected})
    params = {"method": "decode", "loss": "f1", "restrict": '{"include": ["a"], "max_size": 1}'}
    status, found = asked(server, {"dataframe_records": records, "params": params})
    assert status == 200
    assert [row["prediction"] for row in found["predictions"]] == [["a"]] * 4
    decoded = model.decode(rows, loss="f1", restrict={"include": ["a"], "max_size": 1})
    assert [row["risk"] for row in found["predictions"]] == decoded.values.tolist()
    status, found = asked(server, {"dataframe_records": records, "params": {"method": "guess"}})
    assert status == 400
    assert "method is one of predict" in found["message"]


def test_pages_and_tests_run_against_the_extra():
    """What ``skstruct[mlflow]`` brings is here, and no full MLflow beside it, which can more."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
    extras = project["project"]["optional-dependencies"]
    assert extras["mlflow"] == ["mlflow-skinny>=3", "pandas>=2.2.2"]
    assert set(extras["mlflow"]) <= set(extras["test"])
    with pytest.raises(PackageNotFoundError):
        version("mlflow")
