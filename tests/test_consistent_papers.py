# SPDX-License-Identifier: BSD-3-Clause
"""Parts of papers/robust_regression.py, digits.py, flows.py and movielens.py.

Their tables are printed from figures made up here: what a task takes minutes for is not run.
"""

import sys
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from script_folders import scripts_of
from skstruct.losses import RankLoss

PAPERS = Path(__file__).parents[1] / "papers"


@pytest.fixture(scope="module")
def script():
    with pytest.MonkeyPatch.context() as patch, scripts_of(PAPERS, patch) as load:
        yield load


@pytest.fixture
def printed(monkeypatch, tmp_path, capsys):
    """What the ``main`` of a script prints, its tasks having been replaced."""

    def run(module, *options, **tasks):
        for name, function in tasks.items():
            monkeypatch.setattr(module, name, function)
        command = ["script", *options, "--jobs", "1", "--kept", str(tmp_path)]
        monkeypatch.setattr(sys, "argv", command)
        module.main()
        return capsys.readouterr().out

    return run


# ---------------------------------------------------------------------- robust regression
def test_table_of_robust_regression(script, printed):
    robust = script("robust_regression")

    def run(n, repeat):
        found = {method: [1 / n + repeat, 2 / n] for method in robust.METHODS[:-1]}
        return {**found, "chosen": [1.2, 50.0, 1e-4, 1e-13]}

    text = printed(
        robust, "--quick", run=run, draw=lambda: None,
        run_default=lambda n, repeat: {"default": [0.5, 0.6]},
    )  # fmt: skip
    assert "c 1.20 (from 1.20 to 1.20), gamma 50" in text
    assert "    200   4.505 ± 0.957  0.12 ± 0.02" in text
    assert "Figure 1, n = 200" in text


@pytest.mark.slow
def test_the_scale_of_residuals_is_that_of_the_noise(script):
    """Outliers in one row of ten move a median little: 0.316 is the deviation of the noise."""
    robust = script("robust_regression")
    train, _ = robust.draw_samples(200, 0)
    assert 0.28 < robust.scale_of_residuals(train.X, train.y) < 0.5


# ---------------------------------------------------------------------- digits
def test_table_of_digits(script, printed):
    digits = script("digits")

    def run(number, method, part, n_test):
        sums = np.array([0.1, 3.0, 0.2, 0.1]) * n_test / digits.PARTS * (1 + number)
        return {"sums": sums.tolist(), "gap": 0.01, "seconds": 2.0}

    text = printed(
        digits, "--quick", run=run, misread_true=lambda number, n: 0.04,
        load=lambda: None, draw=lambda data: None,
    )  # fmt: skip
    assert "default, squared Hellinger, here   0.150 ± 0.050   4.500 ± 1.500" in text
    assert "8 s a run to predict, median gap 1.0% of the risk" in text
    assert "Delta_R, ours, Delta_H of (22)" in text


def test_digits_are_split_without_overlap(script):
    digits = script("digits")
    names = np.tile(np.arange(10), 700)
    train, test, other = digits.split(names, 3)
    assert np.bincount(names[train]).tolist() == [100] * 10
    assert len(test) == 5000
    assert sorted([*train, *test, *other]) == list(range(7000))


# ---------------------------------------------------------------------- flows
def test_tables_of_flows(script, printed):
    flows = script("flows")
    text = printed(
        flows, "--quick", draw_figure=lambda *rest: None,
        validated=lambda method, loss, n, n_valid, setting: float(setting[0]),
        run_trial=lambda trial, method, loss, setting: [1.0 + (method == "kNN") + trial, 1e-7],
        run_point=lambda method, n, simulation, setting: 1.0 + simulation / n,
        run_network=lambda seed, method, loss, setting: [1.0 + (method == "KRR"), 1.5],
    )  # fmt: skip
    assert "ECRM, absolute: gamma, alpha = 0.018, 3; gap 1.0e-07" in text  # the least gamma
    assert "kNN, squared: k = 10; gap 1.0e-07" in text
    assert "ECRM less kNN: -1.0000 ± 0.0000, below it in 3 of 3 trials" in text
    assert "4 networks not selected" in text
    assert "Table 2, squared, KRR" in text


# ---------------------------------------------------------------------- MovieLens
def test_table_of_movies(script, printed, tmp_path):
    movies = script("movielens")
    (tmp_path / "u.data").touch()

    def ours(folder, trial, protocol, part):
        return {"losses": [0.3 + 0.01 * trial], "gap": 0.02, "chosen": 30.0}

    def peer(folder, trial, protocol, method, penalty):
        return {"losses": [0.4, 0.5], "chosen": penalty}

    text = printed(
        movies, str(tmp_path), "--trials", "2", run_ours=ours, run_peer=peer,
        run_folds=lambda folder, trial, protocol, method, penalty: abs(np.log(penalty / 1e-3)),
    )  # fmt: skip
    assert "hinge                  0.450 ± 0.000   0.432 ± 0.008" in text
    assert "0.001 (2)" in text
    assert "ours                   0.305 ± 0.005   0.396 ± 0.003" in text
    assert "30 (2); median gap 2.0% of the risk" in text


def test_without_the_files_movielens_says_what_it_needs(script, printed):
    with pytest.raises(SystemExit, match="needs the folder of the original files"):
        printed(script("movielens"))


def some_user(seed, n=5):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(n), rng.integers(1, 6, n).astype(float)


def losses_by_definition(scores, ratings):
    """Values of the three losses of pairs and of the structured one, all orders tried."""
    pairs = [(i, j) for i in range(len(scores)) for j in range(len(scores))
             if ratings[i] > ratings[j]]  # fmt: skip
    worth = {(i, j): ratings[i] - ratings[j] for i, j in pairs}
    size = max(sum(worth.values()), 1.0)
    away = {pair: scores[pair[0]] - scores[pair[1]] for pair in pairs}
    hinge = sum(worth[p] * max(0.0, 1 - away[p]) for p in pairs) / size
    logistic = sum(worth[p] * np.log1p(np.exp(-away[p])) for p in pairs) / size
    structured = max(
        sum(worth[i, j] * (1 - away[i, j]) for i, j in pairs if order.index(j) < order.index(i))
        for order in permutations(range(len(scores)))
    )
    return {"hinge": hinge, "logistic": logistic, "order": structured / size}


@pytest.mark.parametrize("name", ["hinge", "logistic", "order"])
@pytest.mark.parametrize("seed", range(5))
def test_directions_are_slopes_of_the_losses(script, name, seed):
    scores, ratings = some_user(seed)
    direction = getattr(script("movielens_peers"), f"{name}_direction")(scores, ratings)
    step, slope = 1e-6, np.empty(len(scores))
    for i in range(len(scores)):
        ends = [losses_by_definition(scores + sign * step * np.eye(len(scores))[i], ratings)[name]
                for sign in (1, -1)]  # fmt: skip
        slope[i] = (ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose(direction, -slope, atol=1e-6)


def test_net_worth_is_minus_the_slope_of_the_linear_loss(script):
    _, ratings = some_user(0)
    ratings = np.append(ratings, np.nan)
    worth = script("movielens_peers").net_worth(ratings)
    differences = ratings[:5, None] - ratings[:5]
    expected = differences.sum(axis=1) / np.maximum(differences, 0).sum()
    np.testing.assert_allclose(worth, [*expected, 0.0])


@pytest.mark.parametrize("method", ["linear", "hinge", "logistic", "SVM struct"])
def test_every_ranker_finds_the_order_that_all_users_share(script, method):
    data, peers = script("movielens_data"), script("movielens_peers")
    rng = np.random.default_rng(0)
    ratings = np.tile(np.arange(1.0, 6.0), (40, 1))
    ratings[rng.random(ratings.shape) < 0.3] = np.nan
    users = data.Users(rng.standard_normal((40, 2)), ratings, ratings)
    penalty = peers.PENALTIES[method][1]
    scores = peers.fitted_scores(users, rng.standard_normal((6, 2)), method, penalty)
    truth = np.tile(np.arange(1.0, 6.0), (6, 1))
    assert data.losses_of(scores, truth).mean() < 0.05
    assert 0 <= peers.folds_loss(users, method, penalty) < 0.05


def test_losses_of_users_are_those_of_all_movies(script):
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((4, 9))
    judged = rng.integers(1, 6, (4, 9)).astype(float)
    judged[rng.random(judged.shape) < 0.4] = np.nan
    places = np.argsort(np.argsort(-scores, axis=1), axis=1)
    expected = RankLoss(normalize=True)(places, -judged)
    np.testing.assert_allclose(script("movielens_data").losses_of(scores, judged), expected)


def test_halves_of_a_history_are_disjoint(script):
    ratings = np.where(np.random.default_rng(0).random((6, 20)) < 0.5, 3.0, np.nan)
    seen, hidden = script("movielens_data").split_history(ratings, np.random.default_rng(1))
    assert not (~np.isnan(seen) & ~np.isnan(hidden)).any()
    np.testing.assert_array_equal(np.isnan(seen) & np.isnan(hidden), np.isnan(ratings))
