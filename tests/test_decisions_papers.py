# SPDX-License-Identifier: BSD-3-Clause
"""What papers/decisions.py generates, decides, keeps and counts: against enumeration, definitions,
and PyEPO where it is installed.
"""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.testing import assert_allclose, assert_array_equal

from script_folders import scripts_of

PAPERS = Path(__file__).parents[1] / "papers"
FEW = settings(max_examples=30)


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch, scripts_of(PAPERS, patch) as load:
        yield load


def costs(d, n_rows=4):
    """Also negative ones, zeros and ties."""
    return arrays.arrays(np.float64, (n_rows, d), elements=st.integers(-6, 12).map(float))


def check_best(problem, C, every):
    """Decisions are among all that there are (m, d), and none of these is better."""
    Z, values = problem.decide(C)
    assert {tuple(z) for z in Z.tolist()} <= {tuple(z) for z in every.tolist()}
    assert_allclose(values, (Z * C).sum(axis=1), atol=1e-9)
    assert_allclose(values, problem.sense * (problem.sense * C @ every.T).min(axis=1), atol=1e-9)
    regrets, best = problem.regrets(C, np.broadcast_to(every[0], C.shape))
    assert_allclose(best, values)
    assert (regrets >= -1e-9).all()


# ---------------------------------------------------------------------- decisions
def all_paths(height, width):
    """Moves right (0) and down (1) in every order, as arcs."""
    found = []
    for down in itertools.combinations(range(height + width - 2), height - 1):
        row, i, j = np.zeros(height * (width - 1) + (height - 1) * width, int), 0, 0
        for step in range(height + width - 2):
            base = i * (2 * width - 1)
            row[base + width - 1 + j if step in down else base + j] = 1
            i, j = (i + 1, j) if step in down else (i, j + 1)
        found.append(row)
    return np.array(found)


@FEW
@given(data=st.data(), height=st.integers(1, 4), width=st.integers(2, 4))
def test_paths(script, data, height, width):
    problem = script("decisions_problems").GridPaths(height, width)
    check_best(problem, data.draw(costs(problem.n_costs)), all_paths(height, width))


@FEW
@given(
    C=costs(7),
    weights=arrays.arrays(np.float64, (2, 7), elements=st.integers(1, 900).map(lambda w: w / 100)),
    room=st.integers(1, 30),
    n_dimensions=st.integers(1, 2),
)
def test_knapsacks(script, C, weights, room, n_dimensions):
    weights, room = weights[:n_dimensions], np.full(n_dimensions, float(room))
    every = np.array(list(itertools.product([0, 1], repeat=7)))
    fits = (np.rint(100 * weights).astype(int) @ every.T <= 100 * room[:, None]).all(axis=0)
    check_best(script("decisions_problems").Knapsack(weights, room), C, every[fits])


def all_tours(n_nodes):
    edge = {pair: k for k, pair in enumerate(itertools.combinations(range(n_nodes), 2))}
    found = np.zeros((0, len(edge)), int)
    for order in itertools.permutations(range(1, n_nodes)):
        tour, row = (0, *order), np.zeros((1, len(edge)), int)
        for i, j in zip(tour, (*order, 0)):
            row[0, edge[min(i, j), max(i, j)]] = 1
        found = np.append(found, row, axis=0)
    return np.unique(found, axis=0)


TOURS = {n_nodes: all_tours(n_nodes) for n_nodes in (3, 4, 6)}


@FEW
@given(data=st.data(), n_nodes=st.sampled_from(sorted(TOURS)))
def test_tours(script, data, n_nodes):
    problem = script("decisions_problems").Tours(n_nodes)
    check_best(problem, data.draw(costs(problem.n_costs)), TOURS[n_nodes])


def test_relative_regret(script):
    problem = script("decisions_problems").GridPaths(2, 2)  # right, then down or down, then right
    C = np.array([[1.0, 2.0, 1.0, 2.0], [3.0, 1.0, 4.0, 1.0]])
    Z = np.array([[0, 1, 0, 1], [0, 1, 0, 1]])
    assert problem.relative_regret(C, Z) == (2 + 0) / (2 + 2)


# ---------------------------------------------------------------------- data
@pytest.mark.parametrize(("degree", "noise", "seed"), [(1, 0.0, 0), (4, 0.5, 3), (8, 0.5, 9)])
def test_the_same_numbers_as_pyepo(script, degree, noise, seed):
    published = pytest.importorskip("pyepo.data")
    data = script("decisions_data")
    X, C = published.shortestpath.genData(9, 5, (5, 5), degree, noise, seed)
    ours = data.grid(9, degree, noise, seed)
    assert_array_equal(ours.X, X)
    assert_array_equal(ours.C, C)
    for n_dimensions in (1, 2):
        weights, X, C = published.knapsack.genData(9, 5, 32, n_dimensions, degree, noise, seed)
        ours = data.knapsack(9, degree, noise, seed, n_dimensions=n_dimensions)
        assert_array_equal(ours.problem.weights, weights)
        assert_array_equal(ours.X, X)
        assert_array_equal(ours.C, C)
    X, C = published.tsp.genData(9, 10, 20, degree, noise, seed)
    ours = data.tours(9, degree, noise, seed)
    assert_array_equal(ours.X, X)
    assert_array_equal(ours.C, C)


@pytest.mark.parametrize("name", ["grid", "knapsack", "knapsack2", "tours"])
def test_means_of_costs(script, name):
    """Without noise they are the costs; with noise, costs of 4,000 rows are theirs on average."""
    data = script("decisions_data")
    train, test = data.generated(name, 10, 2, 0.0, seed=0)
    assert_allclose(test.C, test.mean, atol=1e-4)
    assert (len(train.X), len(test.X)) == (10, 1000)
    noisy = data.GENERATED[name](4000, 2, 0.5, 1)
    left = (noisy.C - noisy.mean).ravel()
    # Fixed seed; five standard errors, which chance alone exceeds once in 1.7 million.
    assert abs(left.mean()) < 5 * left.std() / np.sqrt(left.size)


@pytest.mark.parametrize("value", [0.3, 2.0, 2.4, 7.9, -1.3, 0.0])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_mean_of_ceilings(script, value, noise):
    eps = 1 - noise + 2 * noise * (np.arange(200_000) + 0.5) / 200_000
    mean = script("decisions_data").mean_ceiling(np.array([value]), noise)
    assert_allclose(mean, np.ceil(value * eps).mean(), atol=1e-4)


def test_electricity(script, real_data):
    train, choices, test = real_data(script("decisions_data").energy_knapsack, 60, 0)
    assert [len(part.X) for part in (train, choices, test)] == [550, 100, 139]
    assert_allclose(train.X.mean(axis=(0, 1)), 0, atol=1e-9)
    peer = next(p for p in script("decisions_peers").PEERS if p.name.endswith("least squares"))
    decisions, _ = peer(train.X, train.C, test.X, test.problem, 0)
    assert_allclose(test.problem.relative_regret(test.C, decisions), 0.1588, atol=5e-5)


# ---------------------------------------------------------------------- peers, results
def test_two_stages_of_a_line_lose_nothing_without_noise(script):
    peers = script("decisions_peers")
    train, test = script("decisions_data").generated("grid", 50, 1, 0.0, 0)
    decisions, seconds = peers.PEERS[0](train.X, train.C, test.X, test.problem, 0)
    assert test.problem.relative_regret(test.C, decisions) < 1e-5
    assert seconds >= 0


def test_pyepo_is_trained(script):
    pytest.importorskip("pyepo")
    train, test = script("decisions_data").generated("grid", 100, 1, 0.0, 0)
    peers = {peer.name: peer for peer in script("decisions_peers").PEERS}
    decisions, _ = peers["SPO+"](train.X, train.C, test.X, test.problem, 0)
    assert test.problem.relative_regret(test.C, decisions) < 0.02


def test_results_are_gone_on_from(script, tmp_path, capsys):
    tables, experiment = script("decisions_tables"), script("decisions")
    setting = ("grid", 4, 20, 0.5)
    results = tables.Results(tmp_path)
    for seed in range(2):
        for method in ("two stages, least squares", tables.BEST):
            line = dict(zip(tables.KEY, (*setting, seed, method)))
            results.add(experiment.measured(line))
    with results.path.open("a") as file:
        file.write('{"problem": "gri')  # stopped while it was writing
    again = tables.Results(tmp_path)
    assert again.lines == results.lines
    experiment.run(again, [setting], range(2), ["two stages, least squares"], 1)
    assert again.lines == results.lines  # nothing was left to do
    tables.show(again, [setting], [("linear", ["two stages, least squares"]), ("", [tables.BEST])])
    shown = capsys.readouterr().out
    best = [again.lines[(*setting, seed, tables.BEST)]["regret"] for seed in range(2)]
    assert f"{100 * np.mean(best):.2f} ± {100 * abs(best[0] - best[1]) / 2:.2f}" in shown
