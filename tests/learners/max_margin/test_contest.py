# SPDX-License-Identifier: BSD-3-Clause
"""Forests that compete, and exchanges of edges: against all trees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forest_cases import pairs_of, random_case, trees_of
from skstruct.learners.max_margin.circuit_rank import crank
from skstruct.learners.max_margin.contest import Contest, exchanges, pulls
from skstruct.learners.max_margin.tree_search import train_on
from skstruct.spaces.solvers.pairwise.forests import is_forest

ACCURACY = 1e-4


def contest_of(case, accuracy=ACCURACY):
    """One that begins without edges."""
    none = np.zeros(len(case.edges), bool)
    dual = train_on(case.dual(), case.oracle, none, tol=0.05, rng=0)
    settings = {"accuracy": accuracy, "max_iter": 3000, "rng": np.random.default_rng(0)}
    return Contest(dual, case.oracle, case.edges, **settings)


@given(st.integers(2, 5), st.data())
def test_exchanges_are_all_forests_that_differ_by_one_edge(n, data):
    edges = pairs_of(n)
    tree = data.draw(st.sampled_from(trees_of(n)))
    gone = np.array(data.draw(st.lists(st.booleans(), min_size=len(edges), max_size=len(edges))))
    forest = tree & ~gone if data.draw(st.booleans()) else tree
    found = set()
    for out, new in zip(*exchanges(edges, forest)):
        other = forest.copy()
        other[new] = True
        if out >= 0:
            other[out] = False
        found.add(other.tobytes())
    expected = set()
    for new in np.flatnonzero(~forest):
        grown = forest.copy()
        grown[new] = True
        if is_forest(n, edges[grown]):
            expected.add(grown.tobytes())
            continue
        for out in np.flatnonzero(forest):
            other = grown.copy()
            other[out] = False
            if is_forest(n, edges[other]):
                expected.add(other.tobytes())
    assert found == expected


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(1, 8))
@settings(max_examples=4)
def test_pulls_bound_the_objective_of_every_tree(seed, passes):
    case = random_case(4, 15, seed)
    tree = trees_of(4)[seed % 16]
    dual = train_on(case.dual(), case.oracle, tree, max_iter=passes, rng=seed)
    constant, pull = pulls(dual)
    assert constant - pull[tree].sum() == pytest.approx(dual.dual_objective)
    for other in trees_of(4)[seed % 3 :: 3]:
        optimum = case.trained(other, 1e-4).objective
        assert constant - pull[other].sum() <= optimum + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_all_trees_wins(seed):
    case = random_case(4, 30, seed)
    optima = {tree.tobytes(): case.trained(tree, 1e-5).objective for tree in trees_of(4)}
    contest = contest_of(case).best_of(trees_of(4))
    assert contest.dual.objective <= min(optima.values()) * (1 + 2.5 * ACCURACY)
    assert optima[contest.forest.tobytes()] <= contest.dual.objective * (1 + 1e-5)
    # ... and most of the others were not trained, or given up early
    assert len(contest.lost) < 15


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_after_exchanges_no_neighbour_is_better(seed):
    """From a poor tree to one that no exchange of one edge improves by what counts."""
    case = random_case(4, 30, seed)
    optima = {tree.tobytes(): case.trained(tree, 1e-5).objective for tree in trees_of(4)}
    worst = max(trees_of(4), key=lambda tree: optima[tree.tobytes()])
    contest = contest_of(case).best_of([worst])
    before = contest.dual.objective
    contest.exchange(patience=100)
    assert contest.dual.objective < before
    found = optima[contest.forest.tobytes()]
    for out, new in zip(*exchanges(case.edges, contest.forest)):
        other = contest.forest.copy()
        other[[out, new]] = False, True
        assert optima[other.tobytes()] >= found * (1 - 2.5 * ACCURACY)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_restarts", [1, 3])
def test_exchange_never_raises_the_objective(seed, n_restarts):
    case, starts = random_case(5, 40, seed, lam=0.01), {"n_restarts": n_restarts, "tol": 1e-3}
    (plain, before), (forest, after) = (
        crank(case.dual(), case.oracle, case.edges, rng=seed, exchange=exchange, **starts)
        for exchange in (False, True)
    )
    assert is_forest(5, case.edges[forest])
    assert after.objective <= before.objective
    best = min(case.trained(tree, 1e-3).dual_objective for tree in trees_of(5)[::5])
    assert after.objective <= best * (1 + 5e-3)  # of a sample of 25 trees
    assert plain.sum() == forest.sum() == 4


def test_exchange_waits_for_training_that_came_to_its_end():
    case = random_case(4, 30, 0, lam=1e-4)
    contest = contest_of(case)
    contest.max_iter = 1
    contest.best_of([trees_of(4)[0]]).exchange(patience=10)
    assert not contest.lost
