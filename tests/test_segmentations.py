# SPDX-License-Identifier: BSD-3-Clause
"""The space of the example, written with public names alone, does all that ours do."""

import importlib.util
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skstruct import (
    ConditionalRiskMinimizer,
    ExponentialFamily,
    StructuredPerceptron,
    StructuredSVM,
    load_model,
    save_model,
)
from skstruct.exceptions import ModelFileError
from skstruct.reports import write_report
from skstruct.testing import check_loss, check_space

EXAMPLE = Path(__file__).parents[1] / "examples" / "segmentations.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("segmentations", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    sys.modules["segmentations"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["segmentations"]


@pytest.fixture(scope="module")
def rows(example):
    space, rng = example.Segmentations(5), np.random.default_rng(0)
    Z = space.sample(90, rng)
    return Z + rng.normal(0, 0.3, Z.shape), space.restore(Z)


def every_output(width):
    return np.array(list(product((0, 1), repeat=width)), np.int8)


def test_decoding_is_enumeration(example):
    outputs = every_output(5)
    check_space(example.Segmentations(5), outputs)
    last = (outputs * np.arange(1, 6)).max(axis=1)
    for length in range(6):
        narrowed = example.Segmentations(5).restrict(length=length)
        check_space(narrowed, outputs[last == length])


def test_rows_may_have_lengths_of_their_own(example):
    outputs, costs = every_output(4), np.random.default_rng(0).normal(size=(5, 10))
    space = example.Segmentations(4).restrict(length=[0, 1, 2, 3, 4])
    last = (outputs * np.arange(1, 5)).max(axis=1)
    prices = costs @ space.embed(outputs).T
    least = np.where(last == np.arange(5)[:, None], prices, np.inf).min(axis=1)
    assert_allclose(space.argmin(costs).values, least)


@pytest.mark.parametrize("name", ["SegmentLoss", "BoundaryLoss"])
def test_losses(example, name):
    check_loss(getattr(example, name)(), example.Segmentations(4), every_output(4))


def test_outputs_that_are_none_are_named(example):
    with pytest.raises(ValueError, match=r"Y\[1\] is \[3, 2\]"):
        example.Segmentations(4).validate([[1], [3, 2]])


@pytest.mark.parametrize(
    "learner", [ConditionalRiskMinimizer, StructuredPerceptron, StructuredSVM, ExponentialFamily]
)
def test_learners_files_and_reports(example, rows, learner, tmp_path):
    X, Y = rows
    model = learner(example.Segmentations(5)).fit(X[:60], Y[:60])
    found = model.predict(X[60:])
    assert np.mean([a == b for a, b in zip(found, Y[60:])]) > 0.3
    save_model(model, tmp_path / "model")
    assert load_model(tmp_path / "model").predict(X[60:]) == found
    write_report(model, X[60:], Y[60:], tmp_path / "report.html", n_examples=2)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "What it gets wrong: parts" in page
    assert "Segmentations, 15 segments" in page
    assert "0..1" in page


def test_decisions_are_explained(example, rows):
    X, Y = rows
    model = ConditionalRiskMinimizer(example.Segmentations(), alpha=1.0).fit(X, Y)
    explained = model.explain(X[:2])
    risks = (np.asarray(explained.weights) * explained.losses).sum(axis=1)
    assert_allclose(risks, model.decode(X[:2]).values, atol=1e-9)


def test_restricted_spaces_are_saved_and_checked(example, rows, tmp_path):
    X, Y = rows
    three = [stops for stops in Y if max(stops, default=0) == 3]
    space = example.Segmentations(5).restrict(length=3)
    model = ConditionalRiskMinimizer(space, alpha=1.0).fit(X[: len(three)], three)
    save_model(model, tmp_path / "model")
    assert load_model(tmp_path / "model").space_.constraints.length.tolist() == [3]
    model.space_.constraints = example.Lengths(np.array([9]))
    save_model(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match="constraints"):
        load_model(tmp_path / "model")


def test_a_class_without_the_decorator_is_refused(example, rows, tmp_path):
    class Mine(example.Segmentations):
        pass

    X, Y = rows
    model = ConditionalRiskMinimizer(Mine(5), alpha=1.0).fit(X, Y)
    with pytest.raises(ModelFileError, match=r"Mine.*skstruct\.saving\.savable"):
        save_model(model, tmp_path / "model")


LOAD = "from skstruct import load_model; print(load_model('model').predict([[0.9, 0, 0, 0, 1]]))"


@pytest.mark.subprocess
def test_another_process_needs_the_package_or_its_entry_point(example, rows, tmp_path):
    X, Y = rows
    model = ConditionalRiskMinimizer(example.Segmentations(5), alpha=1.0).fit(X, Y)
    save_model(model, tmp_path / "model")
    command = [sys.executable, "-c", LOAD]
    lost = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "the class 'segmentations.Lengths'" not in lost.stderr
    assert "'segmentations." in lost.stderr
    assert "must be installed or imported" in lost.stderr
    (tmp_path / "segmentations.py").write_text(EXAMPLE.read_text(encoding="utf-8"))
    lost = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert "must be installed or imported" in lost.stderr  # a file imports nothing by itself
    about = tmp_path / "segmentations-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: segmentations\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[skstruct.savable]\nsegmentations = segmentations\n")
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == str(model.predict([[0.9, 0, 0, 0, 1]]))


def test_the_example_runs(example, capsys):
    example.main()
    assert "ConditionalRiskMinimizer" in capsys.readouterr().out
