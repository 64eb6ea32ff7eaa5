# SPDX-License-Identifier: BSD-3-Clause
"""Max-margin trees as users meet them: forests, names, predictions, bad input."""

from itertools import product

import networkx
import numpy as np
import pandas as pd
import pytest

from skstruct import MaxMarginNetwork, MaxMarginTree
from skstruct.datasets import make_label_tree
from skstruct.inspection import TreeDisplay
from skstruct.learners import CircuitRank, chow_liu_tree
from skstruct.learners.max_margin.tree import METHODS

FORESTS = [method for method in METHODS if method not in ("empty", "full")]
NAMES = ("air", "bay", "cat", "dog", "eel")


def data(seed=0, n=60, n_labels=5):
    made = make_label_tree(n, n_labels, random_state=seed)
    return made.X, made.Y


def few(method, n_restarts):
    """The method, with few starts where there are such."""
    return CircuitRank(n_restarts=n_restarts) if method == "crank" else method


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_a_network_trained_to_the_gap(method):
    X, Y = data()
    frame = pd.DataFrame(Y, columns=NAMES)
    model = MaxMarginTree(method=few(method, 3), alpha=0.01, tol=1e-3, random_state=0).fit(X, frame)
    assert set(model.tree_.nodes) == set(NAMES)
    assert model.gap_ <= 1e-3 * model.objective_
    edges = {"empty": 0, "full": 10}.get(method, 4)
    assert model.tree_.number_of_edges() == edges
    if method != "full":
        assert networkx.is_forest(model.tree_)
    network = MaxMarginNetwork(model.tree_, alpha=0.01, tol=1e-3, random_state=0).fit(X, frame)
    assert model.objective_ == pytest.approx(network.objective_, rel=3e-3)
    assert list(model.predict(X[:3]).columns) == list(NAMES)


@pytest.mark.parametrize("seed", range(6))
def test_the_learned_structure_is_a_forest_for_every_seed(seed):
    X, Y = data(seed, n=40)
    for beta in (None, 1e-3):
        model = MaxMarginTree(
            method=CircuitRank(beta=beta, n_restarts=2), alpha=0.01, random_state=seed
        ).fit(X, Y)
        assert networkx.is_forest(model.tree_)


def test_predictions_maximize_the_score():
    X, Y = data(3)
    model = MaxMarginTree(method=CircuitRank(n_restarts=2), alpha=0.01, random_state=0).fit(X, Y)
    points = np.array(list(product((0, 1), repeat=5)))
    i, j = model.space_.edges_.T
    scores = (X @ model.coef_.T + model.intercept_) @ points.T
    scores = scores + (points[:, i] * points[:, j]) @ model.edge_coef_
    decoded = model.decode(X)
    np.testing.assert_allclose(-decoded.values, scores.max(axis=1), atol=1e-9)
    np.testing.assert_array_equal(decoded.values, decoded.bounds)
    for a, b, weight in model.tree_.edges(data="weight"):
        e = model.space_.edges_.tolist().index(sorted((a, b)))
        assert weight == model.edge_coef_[e]


def test_trees_are_recovered_from_data_of_a_tree():
    """Edges of a true tree of 6 labels, five data sets: 25 edges, at least 19 found."""
    found = 0
    for seed in range(5):
        made = make_label_tree(800, 6, random_state=seed)
        model = MaxMarginTree(method=CircuitRank(n_restarts=3), alpha=1e-3, random_state=0).fit(
            made.X, made.Y
        )
        true = {tuple(edge) for edge in made.tree.edges.tolist()}
        found += len(true & {tuple(sorted(edge)) for edge in model.tree_.edges})
    assert found >= 19


def test_threads_and_seeds_change_nothing():
    X, Y = data(4)
    models = [
        MaxMarginTree(
            method=CircuitRank(n_restarts=4), alpha=0.01, n_jobs=jobs, random_state=7
        ).fit(X, Y)
        for jobs in (None, 2, None)
    ]
    assert len({frozenset(model.tree_.edges) for model in models}) == 1
    np.testing.assert_array_equal(models[0].coef_, models[2].coef_)


def test_training_that_ends_early_takes_the_start_of_least_objective(monkeypatch):
    """A lower bound of an optimum says little where training has hardly begun."""
    from skstruct.learners.max_margin import contest

    seen, meet = [], contest.Contest._meet
    monkeypatch.setattr(
        contest.Contest, "_meet", lambda self, dual: (seen.append(dual.objective), meet(self, dual))
    )
    X, Y = data(0)
    with pytest.warns(UserWarning, match="the gap is"):
        model = MaxMarginTree(
            method=CircuitRank(n_restarts=5), alpha=1e-4, max_iter=2, random_state=0
        ).fit(X, Y)
    assert len(seen) > 1
    assert model.objective_ == min(seen)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_labels", [1, 2])
def test_few_labels_and_labels_that_never_change(method, n_labels):
    X, Y = data(5, n=20, n_labels=3)
    Y = Y[:, :n_labels].copy()
    model = MaxMarginTree(method=few(method, 2), alpha=0.01, random_state=0).fit(X, Y)
    assert model.tree_.number_of_nodes() == n_labels
    Y[:, 0] = 1
    model.fit(X, Y)
    assert model.predict(X)[:, 0].all()


def test_kernels_weights_and_constraints():
    X, Y = data(6)
    kernel = MaxMarginTree(method="chow-liu", alpha=0.01, kernel="rbf", random_state=0).fit(X, Y)
    assert not hasattr(kernel, "coef_")
    doubled = MaxMarginTree(method="chow-liu", alpha=0.01, tol=1e-4).fit(
        np.vstack([X, X[:9]]), np.vstack([Y, Y[:9]])
    )
    weight = np.ones(len(X))
    weight[:9] = 2
    counted = MaxMarginTree(method="chow-liu", alpha=0.01, tol=1e-4).fit(X, Y, sample_weight=weight)
    assert counted.objective_ == pytest.approx(doubled.objective_, rel=3e-4)
    assert set(counted.tree_.edges) == set(doubled.tree_.edges)
    assert not kernel.predict(X, restrict={"exclude": [0]})[:, 0].any()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "steiner"}, "crank, greedy"),
        ({"method": CircuitRank(beta=0.0)}, "beta is positive"),
        ({"method": CircuitRank(beta=np.inf)}, "beta is positive and finite"),
        ({"method": CircuitRank(n_restarts=0)}, "n_restarts is a whole number"),
        ({"method": CircuitRank(exchange="yes")}, "exchange is True or False; got 'yes'"),
        ({"alpha": -1.0}, "alpha is a positive and finite number"),
        ({"loss": "f1"}, "adds up over labels"),
        ({"loss": "zero_one"}, "add up over labels"),
    ],
)
def test_bad_parameters_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        MaxMarginTree(**settings).fit(*data(7))


def test_positions_are_no_label_sets():
    X, Y = data(8, n=4)
    with pytest.raises(ValueError, match="features for every position"):
        MaxMarginTree(alpha=0.01).fit([X] * 4, Y)


def test_chow_liu_tree_reads_names_and_says_what_is_wrong():
    _, Y = data(9)
    tree = chow_liu_tree(Y, NAMES)
    assert set(tree.nodes) == set(NAMES)
    assert all(information >= 0 for _, _, information in tree.edges(data="information"))
    for bad, message in ((Y * 2, "0/1"), (Y[:0], "some rows"), (Y[0], "0/1")):
        with pytest.raises(ValueError, match=message):
            chow_liu_tree(bad)
    with pytest.raises(ValueError, match="each of 5 columns; got 2"):
        chow_liu_tree(Y, ["a", "b"])


@pytest.mark.slow
def test_a_learned_tree_can_be_drawn():
    X, Y = data(10)
    model = MaxMarginTree(method="chow-liu", alpha=0.01).fit(X, Y)
    display = TreeDisplay.from_estimator(model, shares=Y.mean(axis=0))
    assert len(display.ax_.texts) >= 5
