# SPDX-License-Identifier: BSD-3-Clause
"""Damaged, foreign and hostile files: one error, one line, in time."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from script_folders import scripts_of
from skstruct import ConditionalRiskMinimizer, OutputKernelRegressor
from skstruct._files.container import read_container, write_container
from skstruct.exceptions import ModelFileError
from skstruct.persistence import describe_model, load_model, save_model
from skstruct.persistence.state import build, state_of
from skstruct.persistence.stored_predictions import (
    check_stored_predictions,
    close,
    predict_with_values,
    same,
)
from skstruct.spaces import LabelSets
from skstruct.spaces.solvers.dags import Dag
from strategies import dags

FOLDER = Path(__file__).parents[2] / "reliability"
X = np.arange(12.0).reshape(6, 2)
Y = [{"a"}, {"b"}, {"a"}, {"a", "b"}, set(), {"a"}]


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.skstruct"
    save_model(ConditionalRiskMinimizer(LabelSets(), alpha=1.0).fit(X, Y), path)
    return path


@pytest.fixture
def reliability(monkeypatch):
    """Imports a script of the folder."""
    with scripts_of(FOLDER, monkeypatch) as named:
        yield named


def refusal(path, **options) -> str:
    with pytest.raises(ModelFileError) as caught:
        load_model(path, **options)
    with pytest.raises(ModelFileError):  # a description trusts no more
        describe_model(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path} is not read: ")
    return message


# ------------------------------------------------------------------ harnesses, small counts
def some(cases, seed=0):
    """What scripts are given, of few cases."""
    return SimpleNamespace(cases=cases, minutes=None, seed=seed)


@pytest.mark.slow
def test_flipped_bits_and_cut_files(reliability, tmp_path):
    flips, summary = reliability("flip_models"), reliability("summary")
    models = dict(list(flips.make_models().items())[:4])
    damaged, tries = flips.Damaged(models, tmp_path, seed=1), summary.Tries(some(400))
    assert flips.caught(damaged)
    found = flips.damage(damaged, tries)
    assert tries.failures == []
    assert sum(found.values()) == 400


@pytest.mark.slow
def test_files_of_other_versions(reliability, tmp_path):
    skews, summary = reliability("skewed_models"), reliability("summary")
    models = dict(list(reliability("flip_models").make_models().items())[:3])
    skewed, tries = skews.Skewed(models, tmp_path, seed=1), summary.Tries(some(180))
    assert skews.caught(skewed)
    found = skews.skew(skewed, tries)
    assert tries.failures == []
    assert min(found["refused"], found["same"]) > 30


HOSTILE = """
import json
import tempfile
from types import SimpleNamespace

import hostile_models as hostile
from summary import Tries

models = hostile.warm_models()
caught = hostile.planted(models)
tries = Tries(SimpleNamespace(cases=400, minutes=None, seed=2))
with tempfile.TemporaryDirectory() as folder:
    attacks = hostile.Attacks(models, folder, seed=2)
    # A busy machine makes the two seconds of a sound file four or five.
    found = hostile.run(attacks, tries, seconds=15)
print(json.dumps([caught, found, tries.failures]))
"""


@pytest.mark.subprocess
@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of memory")
def test_hostile_files():
    # In a new process: one with much free memory from earlier tests would not run out of it.
    command = [sys.executable, "-W", "ignore:Duplicate name", "-c", HOSTILE]
    printed = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=True)
    caught, found, failures = json.loads(printed.stdout)
    assert [bug for bug, seen in caught.items() if not seen] == []
    assert failures == []
    assert sum(found.values()) == 400


# ------------------------------------------------------------------ what is said
def test_files_that_are_no_models(saved, tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    assert "checksum" in refusal(tmp_path / "empty")
    (tmp_path / "text").write_text("hello " * 100)
    assert "checksum" in refusal(tmp_path / "text")
    assert "folder" in refusal(tmp_path)
    assert "max_bytes" in refusal(saved, max_bytes=1000)
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "missing")
    with pytest.raises(ValueError, match="size such as"):
        load_model(saved, max_bytes="much")


def test_newer_formats_and_other_kinds(saved):
    manifest, arrays = read_container(saved, "model")
    write_container(saved, "model", manifest | {"format_version": 99}, arrays)
    assert "update skstruct" in refusal(saved)
    write_container(saved, "checkpoint", manifest, arrays)
    assert "'checkpoint'" in refusal(saved)
    write_container(saved, "model", [], arrays)
    refusal(saved)


def test_unknown_classes_are_named(saved):
    manifest, arrays = read_container(saved, "model")
    manifest["objects"][-1]["class"] = "subprocess.Popen"
    write_container(saved, "model", manifest, arrays)
    with pytest.raises(ModelFileError, match=r"the class 'subprocess\.Popen'"):
        load_model(saved)


@pytest.mark.parametrize("tested", [True, False])
@pytest.mark.parametrize(("kernel", "kind", "key", "word"), [
    ("rbf", "RBF", "centre_", "centre"),
    ("rbf", "RBF", "gamma_", ""),
    ("rbf", "KernelRidge", "intercept_", "_intercept_"),
    ("rbf+linear", "KernelSum", "parts_", "PARTS_"),
])  # fmt: skip
def test_no_default_stands_in_for_what_was_learned(tmp_path, tested, kernel, kind, key, word):
    """Without its centre a kernel rounds otherwise, which stored predictions tolerate."""
    model = ConditionalRiskMinimizer(LabelSets(), kernel=kernel, alpha=1.0).fit(X, Y)
    save_model(model, tmp_path / "model")
    manifest, arrays = read_container(tmp_path / "model", "model")
    states = [e["state"] for e in manifest["objects"] if e.get("class") == kind]
    state = next(state for state in states if key in state)
    value = state.pop(key)
    state.update({word: value} if word else {})
    manifest["rehearsal"] = manifest["rehearsal"] if tested else None
    write_container(tmp_path / "model", "model", manifest, arrays)
    with pytest.raises(ModelFileError, match=f"{kind} without {key}, which it predicts with; got"):
        load_model(tmp_path / "model")


def test_stored_predictions_have_no_other_fields(saved):
    manifest, arrays = read_container(saved, "model")
    manifest["rehearsal"]["later"] = 1
    write_container(saved, "model", manifest, arrays)
    with pytest.raises(ModelFileError, match="stored predictions with other fields"):
        load_model(saved)


def test_other_predictions_are_refused(saved):
    manifest, arrays = read_container(saved, "model")
    smoother = next(e for e in manifest["objects"] if e.get("class") == "KernelRidge")
    arrays[smoother["state"]["dual_coef_"]["array"]] *= 1.001
    write_container(saved, "model", manifest, arrays)
    with pytest.raises(ModelFileError, match="predictions are not those"):
        load_model(saved)


def test_a_package_that_is_missing_is_named(tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[0, 1], [1, 0]], columns=["a", "b"])
    model = ConditionalRiskMinimizer(alpha=1.0).fit([[0.0], [1.0]], frame)
    save_model(model, tmp_path / "model")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModelFileError, match="it needs pandas, which is not installed"):
        load_model(tmp_path / "model")


def test_a_description_loads_nothing(saved):
    with patch("skstruct.persistence.decoding.Decoder", side_effect=AssertionError):
        about = describe_model(saved)
    assert about["class"] == "ConditionalRiskMinimizer"
    assert about["parameters"]["alpha"] == "1.0"
    assert about["parameters"]["space"] == "LabelSets()"
    assert {"skstruct", "numpy", "python"} <= set(about["versions"])
    assert len(about["sha256"]) == 64
    assert about["n_bytes"] == saved.stat().st_size


@given(space=dags(), seed=st.integers(0, 9))
def test_graphs_come_back_as_they_were_made(space, seed):
    dag, rng = space.dag_, np.random.default_rng(seed)
    state = state_of("Dag", dag)
    made = build("Dag", state)
    for name in ("order", "depth", "position", "children", "parents"):
        assert_array_equal(getattr(made, name), getattr(dag, name))
        assert not getattr(made, name).flags.writeable
        assert getattr(made, name).strides == getattr(dag, name).strides
    for name in state:
        wrong = np.array(state[name])
        if len(wrong):
            wrong[rng.integers(len(wrong))] += rng.choice([-1, 1, 100])
            _same_graph_or_none(dag, state | {name: wrong})


def _same_graph_or_none(dag, state):
    """Other arcs may make another graph; Dag itself is the judge of that."""
    try:
        made = build("Dag", state)
    except ModelFileError:
        return
    other = Dag(made.n_nodes, made.parents, made.children)
    for name in ("order", "depth", "position", "children", "parents"):
        assert_array_equal(getattr(made, name), getattr(other, name))


# ------------------------------------------------------------------ rehearsals
def test_ties_may_be_broken_otherwise():
    """Another build of the linear algebra may choose the other one of two equally good."""
    model = ConditionalRiskMinimizer(LabelSets("ab"), alpha=1.0).fit([[0.0], [0.0]], [{"a"}, set()])
    found = predict_with_values(model, [[0.0]])
    other = [{"a"} if found["outputs"][0] == set() else set()]
    check_stored_predictions(model, [[0.0]], found | {"outputs": np.array([*other, None])[:1]})
    clear = ConditionalRiskMinimizer(LabelSets("ab"), alpha=1.0).fit([[0.0], [1.0]], [{"a"}, {"a"}])
    found = predict_with_values(clear, [[0.0]])
    with pytest.raises(ModelFileError, match="predictions"):
        check_stored_predictions(clear, [[0.0]], found | {"outputs": np.array([{"b"}, None])[:1]})
    with pytest.raises(ModelFileError, match="predictions"):
        check_stored_predictions(clear, [[0.0]], found | {"values": found["values"] + 1e-3})


def test_ties_excuse_no_other_format_and_no_other_row():
    """A file without the kind of its outputs gave arrays in the place of sets."""
    model = ConditionalRiskMinimizer(LabelSets("ab"), alpha=1.0)
    model.fit([[0.0], [0.0], [9.0]], [{"a"}, set(), {"a"}])
    rows = [[0.0], [9.0]]
    found = predict_with_values(model, rows)
    for wrong in (
        np.array([[1, 0], [1, 0]]),
        np.array([["a"], ["a"], None], dtype=object)[:2],
        np.array([*found["outputs"][:1], {"b"}, None])[:2],
    ):
        with pytest.raises(ModelFileError, match="predictions"):
            check_stored_predictions(model, rows, found | {"outputs": wrong})


def test_models_without_values_must_give_the_same_outputs():
    model = OutputKernelRegressor(alpha=1.0).fit(X, ["u", "v", "u", "u", "v", "v"])
    found = predict_with_values(model, X) | {"values": None}
    check_stored_predictions(model, X, found)
    with pytest.raises(ModelFileError, match="predictions"):
        check_stored_predictions(model, X, found | {"outputs": found["outputs"][::-1]})


def test_agreement_is_up_to_rounding():
    values = np.array([1.0, -1e3, np.inf, np.nan])
    assert close(values, values * (1 + 1e-9))
    assert not close(values, values * (1 + 1e-4))
    assert not close(values, values[:3])
    assert same([{"a": 1.0}, (2, "b")], [{"a": 1.0 + 1e-12}, (2, "b")])
    assert not same([{"a": 1.0}], [{"a": 1.1}])
    assert not same([(1, 2)], [[1, 2]])
