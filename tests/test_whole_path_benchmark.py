# SPDX-License-Identifier: BSD-3-Clause
"""The whole path: best answers, losses and laws by enumeration, the front, one cell of ours."""

import json
import subprocess
import sys
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from script_folders import scripts_of
from skstruct.losses.hierarchical import HierarchicalLoss
from skstruct.spaces import Hierarchy

FOLDER = Path(__file__).parents[1] / "benchmarks"
STRUCTURES = ("labels", "classes", "rankings", "tree", "sequences")


@pytest.fixture
def module_named(monkeypatch):
    with scripts_of(FOLDER, monkeypatch) as named:
        yield named


def test_the_tree_has_the_losses_of_the_package_and_its_best_answers(module_named):
    """All closed sets: the expected loss of the answer that was found is the least."""
    case = module_named("whole_path_cases").Tree(8)
    space = Hierarchy(case.edges, labels=range(8))
    loss = HierarchicalLoss().bind(space)
    sets = np.array([z for z in product([0, 1], repeat=8) if _closed(case, z)], dtype=np.int8)
    losses = np.array([case.losses(sets, np.tile(y, (len(sets), 1))) for y in sets])
    assert_allclose(losses, [loss(sets, np.tile(y, (len(sets), 1))) for y in sets])
    X, _ = case.rows(5)
    probabilities = case.moments(case.heights(X))
    given = 1.0 / (1.0 + np.exp(-4.0 * case.heights(X)))
    for row, best in enumerate(case.best(probabilities)):
        law = np.array([_probability(case, y, given[row]) for y in sets])
        assert_allclose(law.sum(), 1.0)
        assert_allclose(law @ sets, probabilities[row])
        expected = law @ losses
        assert_allclose(expected[(sets == best).all(axis=1)], expected.min())


def _closed(case, z):
    return all(z[parent] >= z[j] for parent, j in case.edges)


def _probability(case, y, given):
    factors = np.where(y, given, 1.0 - given)
    inside = np.array([p < 0 or bool(y[p]) for p in case.parents])
    return factors[inside].prod()


def test_rankings_are_of_least_expected_discord(module_named):
    cases = module_named("whole_path_cases")
    orders = np.array(list(permutations(range(1, 6))))
    before = np.random.default_rng(0).random((5, 5))
    before = np.triu(before, 1) + np.tril(1.0 - before.T, -1)
    costs = [_discord(before, ranks) for ranks in orders]
    assert_allclose(_discord(before, cases.least_discord(before)), min(costs))
    case = cases.Rankings(5)
    found = case.moments(case.heights(case.rows(4)[0]))
    for row, ranks in enumerate(case.best(found)):
        np.testing.assert_array_equal(ranks, cases.least_discord(found[row]))


def _discord(before, ranks):
    """Expected pairs in the wrong order, where ``before[i, j]`` is the chance of i before j."""
    pairs = combinations(range(len(ranks)), 2)
    return sum(before[j, i] if ranks[i] < ranks[j] else before[i, j] for i, j in pairs)


def test_symbols_have_the_probabilities_of_all_sequences(module_named, monkeypatch):
    cases = module_named("whole_path_cases")
    monkeypatch.setattr(cases, "LENGTH", 4)
    case = cases.Sequences(3)
    heights = np.random.default_rng(0).standard_normal((1, 4, 3))
    shares = np.zeros((4, 3))
    for y in product(range(3), repeat=4):
        probability = 1.0
        for t, symbol in enumerate(y):
            scores = cases.SHARP * heights[0, t] + (case.steps[y[t - 1]] if t else 0.0)
            probability *= np.exp(scores[symbol]) / np.exp(scores).sum()
        shares[range(4), y] += probability
    assert_allclose(case.moments(heights)[0], shares)


@pytest.mark.slow
@pytest.mark.parametrize("structure", STRUCTURES)
def test_outputs_follow_the_law_and_larger_samples_begin_with_smaller_ones(module_named, structure):
    case = module_named("whole_path_cases").CASES[structure](6)
    X, Y = case.rows(2000)
    few_X, few_Y = case.rows(100)
    np.testing.assert_array_equal(few_X, X[: len(few_X)])
    np.testing.assert_array_equal(few_Y, Y[: len(few_Y)])
    law, constant = case.levels()
    assert 0.0 < law < constant < 1.0
    moments = case.moments(case.heights(X)).mean(axis=0)
    assert_allclose(
        _observed(structure, Y), moments, atol=0.1 if structure == "sequences" else 0.05
    )


def _observed(structure, Y):
    if structure == "rankings":
        before = (Y[:, :, None] < Y[:, None, :]).mean(axis=0)
        return before + 0.5 * np.eye(Y.shape[1])
    return (np.eye(6)[Y] if structure in ("classes", "sequences") else Y).mean(axis=0)


def test_a_method_is_ahead_by_less_time_and_clearly_less_loss(module_named):
    report = module_named("whole_path_report")
    rng = np.random.default_rng(0)
    base = rng.random(500)
    ours = {"losses": base, "fit_cpu": 2.0, "predict_cpu": 1.0}
    better = {"losses": base - 0.01, "fit_cpu": 1.0, "predict_cpu": 1.5}
    assert_allclose(report.ahead(ours, better), (0.01, 0.0), atol=1e-12)
    assert report.ahead(ours, {**better, "fit_cpu": 2.0}) is None  # not faster
    assert report.ahead(better, ours) is None  # not better
    assert_allclose(report.exponent([1, 10, 100], [2.0, 20.0, 200.0]), 1.0)
    assert report.exponent([10], [1.0]) is None


@pytest.mark.slow
@pytest.mark.parametrize("structure", STRUCTURES)
def test_peers_answer_in_the_form_of_the_outputs(module_named, structure):
    """Ridge regression, whose answers are scores that are decided."""
    case = module_named("whole_path_cases").CASES[structure](6)
    peers = module_named("whole_path_peers")
    X, Y = case.rows(400)
    Z = peers.made("ridge", case, structure).fit(X, Y).predict(X)
    assert Z.shape == Y.shape
    if structure == "tree":
        assert all(_closed(case, z) for z in Z)
    if structure == "rankings":
        assert (np.sort(Z, axis=1) == np.arange(1, 7)).all()
    assert case.losses(Z, Y).mean() < case.levels()[1] + 0.05


@pytest.mark.slow
@pytest.mark.subprocess
def test_a_cell_has_all_figures():
    task = {"method": "ours", "structure": "labels", "n": 100, "d": 3, "bytes": 0}
    command = [sys.executable, FOLDER / "whole_path_cell.py", json.dumps(task)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    record = json.loads(done.stdout)
    assert_allclose(record["loss"], np.mean(record["losses"]), atol=1e-6)
    assert min(record["fit_cpu"], record["predict_cpu"]) > 0
