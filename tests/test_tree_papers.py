# SPDX-License-Identifier: BSD-3-Clause
"""Parts of papers/max_margin_trees.py: forms of features, choices on left-out rows, tables."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

sys.path.insert(0, str(Path(__file__).parents[1] / "papers"))

import max_margin_trees as script
import tree_choices
import tree_tasks
from published_trees import PAPER


@pytest.fixture
def made(monkeypatch):
    """Forty rows under the name of a data set."""
    rng = np.random.default_rng(0)
    X = 3.0 * rng.normal(size=(60, 4)) + 1.0
    Y = (X[:, :3] + rng.normal(size=(60, 3)) > 1).astype(np.int8)
    data = (X[:40], X[40:]), Y[:40], Y[40:]
    monkeypatch.setattr(tree_choices, "load", lambda name: data)
    monkeypatch.setattr(tree_tasks, "load", lambda name: data)
    return data


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_forms_have_the_length_that_they_say(kind):
    X = np.random.default_rng(0).normal(size=(30, 5)) * 7.0
    for form in tree_choices.FORMS:
        (train, test), square = tree_choices.in_form((kind(X), kind(X[:4])), form)
        train, test = tree_choices.dense(train), tree_choices.dense(test)
        assert (train**2).sum(axis=1).mean() == pytest.approx(square)
        assert (square == 1.0) == form.endswith("/1")
        np.testing.assert_allclose(test, train[:4])
        if form == "standardised":
            assert square == pytest.approx(5.0)


def test_accuracies_of_rows():
    predicted, truth = np.array([[1, 0], [0, 0]]), np.array([[1, 1], [0, 0]])
    found = tree_choices.accuracies_of_rows(predicted, truth)
    np.testing.assert_allclose(found, [[0.5, 1.0], [0.0, 1.0], [2 / 3, 1.0]])


def test_each_criterion_chooses_by_its_own_measure():
    def fold(rows, *accuracies):
        return {"rows": rows, "accuracies": accuracies}

    found = {
        "raw": [
            fold(1, (0.9, 0.1, 0.2), (0.0, 0.5, 0.0)),
            fold(3, (0.5, 0.1, 0.2), (0.6, 0.2, 0.9)),
        ],
        "raw/1": [
            fold(1, (0.0, 0.0, 0.8), (0.1, 0.1, 0.1)),
            fold(3, (0.5, 0.4, 0.6), (0.6, 0.2, 0.1)),
        ],
    }
    # Hamming: .6, .45, .375, .475; 0/1: .1, .275, .3, .175; F1: .2, .675, .65, .1
    chosen = tree_choices.choices(found, [1e-3, 1e-2])
    assert chosen == {
        "Hamming": ("raw", 1e-3), "0/1": ("raw/1", 1e-3), "F1": ("raw", 1e-2),
        tree_choices.MEAN: ("raw", 1e-2),
    }  # fmt: skip


@pytest.mark.slow
def test_tasks_of_one_data_set(made, monkeypatch, capsys):
    """From cross-validation to tables, with one method that is trained and one that borrows."""
    monkeypatch.setattr(script, "FORMS", ("standardised", "standardised/1"))
    found = {
        key: task[0](*task[1:]) for key, task in script.selections(["emotions"], 2).items()
        if key.split("/")[1] in ("CRANK", "LinearSVC")
    }  # fmt: skip
    assert all(len(value["accuracies"]) in (7, 9) for value in found.values())
    assert script.settings_of(found, "emotions", "Full", 2) is None
    chosen = {
        ("emotions", title): script.settings_of(found, "emotions", title, 2)
        for title in ("CRANK", "MST", "LinearSVC")
    }
    assert chosen["emotions", "MST"] == chosen["emotions", "CRANK"]
    tasks = script.fits(chosen, 1)
    fits = {key: task for key, task in tasks.items() if "/MST/" in key or "/LinearSVC/" in key}
    done = {key: task[0](*task[1:]) for key, task in fits.items()}
    for value in done.values():
        assert np.shape(value["rows"]) == (3, 20)
        assert value["objective"] is None or value["dual_objective"] <= value["objective"]
    chosen = {key: picks for key, picks in chosen.items() if key[1] == "MST"}
    script.print_choices(chosen, done)
    assert "emotions, MST by" in capsys.readouterr().out


@pytest.mark.slow
def test_our_default_is_measured_by_its_own_loss(made):
    truth = made[2]
    value = tree_tasks.by_default("emotions", "0/1")
    assert len(value["rows"]) == len(truth)
    assert set(value["rows"]) <= {0.0, 1.0}


def test_tables_carry_errors_marks_and_a_summary(capsys):
    rng = np.random.default_rng(0)
    titles = [*script.METHODS, "Full*", "CRANK*", "kernels", "ours, default"]
    rows = {
        "emotions": {
            title: [script.percent(rng.integers(0, 2, 202)) for _ in range(3)] for title in titles
        }
    }
    script.table_1(["emotions"], rows)
    script.summarise(["emotions"], rows)
    text = capsys.readouterr().out
    crank = next(line for line in text.splitlines() if line.startswith("CRANK "))
    assert crank.count("±") == 3
    assert crank.split()[-3:] == [f"{figure:.1f}" for figure in PAPER["emotions"]["CRANK"]]
    assert script.STAR in text
    assert "emotions, 0/1" in text.partition("Summary")[2]


def test_table_2_is_relative_to_full(capsys):
    full = {"train": 2.0, "predict": 0.4, "decoding": 0.2, "programs": 10.0}
    crank = {"train": 3.0, "predict": 0.1, "decoding": 0.05}
    script.table_2({"times/Full/raw/0.01": full, "times/CRANK/raw/1/0.01": crank})
    text = capsys.readouterr().out
    assert "CRANK decodes 200 times as fast as Full by linear programs" in text
    line = next(line for line in text.splitlines() if line.startswith("CRANK "))
    assert line.split()[1] == "1.500"
    script.table_2({})
    assert not capsys.readouterr().out
