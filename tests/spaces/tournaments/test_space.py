# SPDX-License-Identifier: BSD-3-Clause
"""Tournaments against all outcomes, in all forms, under learners."""

from itertools import product

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skstruct import ConditionalRiskMinimizer
from skstruct.exceptions import InfeasibleError
from skstruct.learners import StructuredSVM
from skstruct.losses import Hamming
from skstruct.spaces import Embeddings
from skstruct.spaces.solvers.linear_ordering import pair_signs
from skstruct.spaces.tournaments.space import Tournaments
from skstruct.testing import check_loss, check_space


def outcomes(n, partial):
    signs = (-1, 0, 1) if partial else (-1, 1)
    return np.array(list(product(signs, repeat=n * (n - 1) // 2)), dtype=np.int8)


# ------------------------------------------------------------------- the contract
@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_all_tournaments(n, partial):
    check_space(Tournaments(n, partial), outcomes(n, partial))


@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("weights", [None, [1.0, 0.5, 2.0]])
def test_hamming_counts_pairs(partial, weights):
    space = Tournaments(3, partial)
    check_loss(Hamming(weights), space, outcomes(3, partial))
    check_space(Embeddings.of(space).view("node states"), outcomes(3, partial))


@pytest.mark.slow
@given(st.booleans(), st.data())
@settings(deadline=None)
def test_constraints_against_enumeration(partial, data):
    space, outputs = Tournaments(3, partial), outcomes(3, partial)
    wins = [(u, v) for u in range(3) for v in range(3) if u != v]
    include = data.draw(st.lists(st.sampled_from(wins), max_size=2))
    exclude = data.draw(st.lists(st.sampled_from(wins), max_size=3))
    narrowed = space.restrict(include=include, exclude=exclude)

    def won(row, u, v):
        return row[space.labels_.index((min(u, v), max(u, v)))] == (1 if u < v else -1)

    rows = [z for z in outputs if all(won(z, *pair) for pair in include)]
    rows = [z for z in rows if not any(won(z, *pair) for pair in exclude)]
    if rows:
        check_space(narrowed, np.array(rows), n_draws=500)
        check_loss(Hamming(), narrowed, np.array(rows), observed=outputs)
        return
    assert narrowed.size() == 0
    for ask in (
        lambda: narrowed.argmin(np.ones((1, 3))),
        narrowed.mean_embedding,
        lambda: narrowed.sample(1, 0),
    ):
        with pytest.raises(InfeasibleError, match="no output"):
            ask()


def test_constraints_row_by_row():
    space = Tournaments(3)
    narrowed = space.restrict(include=[[(0, 1)], []], exclude=[[], [(2, 0)]])
    found = narrowed.argmin(np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])).outputs
    assert_array_equal(found, [[1, -1, -1], [-1, 0, -1]])
    assert narrowed.rows([1]).size() == 3 * 2 * 3
    with pytest.raises(ValueError, match="restricted row by row for 2 rows; got 1"):
        narrowed.argmin(np.ones((1, 3)))
    with pytest.raises(ValueError, match="differs from row to row"):
        narrowed.size()
    with pytest.raises(ValueError, match=r"different numbers of rows: \[2, 3\]"):
        narrowed.restrict(include=[[], [], [(0, 1)]])


def test_many_items():
    space = Tournaments(200)
    d = 19900
    assert space.size() == 3**d
    assert_allclose(space.log_size(), d * np.log(3))
    assert_array_equal(space.mean_embedding(), np.zeros(d))
    assert_allclose(space.covariance().eigenvalues, [2 / 3])
    assert_allclose(Tournaments(200, partial=False).covariance().eigenvalues, [1.0])
    with pytest.raises(ValueError, match=r"about 10\*\*9495 tournaments"):
        space.enumerate()


def test_signs_are_those_of_rankings():
    ranks = np.array([[2.0, 1.0, 3.0], [1.0, 2.0, np.nan]])
    wins = [[(1, 0), (0, 2), (1, 2)], [(0, 1)]]
    assert_array_equal(Tournaments(3).validate(wins), pair_signs(ranks))


# ------------------------------------------------------------------- forms
PAIRS = [{("b", "a"), ("a", "c")}, {("c", "b")}]
SIGNS = np.array([[-1, 1, 0], [0, 0, -1]])


@pytest.mark.parametrize("container", [set, frozenset, list, tuple])
def test_pairs_come_back(container):
    Y = [container(sorted(row)) for row in PAIRS]
    space = Tournaments().fit(Y)
    assert space.items_ == ("a", "b", "c")
    assert_array_equal(space.validate(Y), SIGNS)
    again = space.restore(SIGNS)
    assert [type(row) for row in again] == [container, container]
    assert [set(row) for row in again] == PAIRS


def test_arrays_come_back():
    for dtype in (np.int8, np.int64, np.float64):
        space = Tournaments().fit(SIGNS.astype(dtype))
        assert space.items_ == (0, 1, 2)
        assert space.restore(SIGNS).dtype == dtype
        assert_array_equal(space.validate(space.restore(SIGNS)), SIGNS)
    matrices = np.zeros((2, 3, 3), np.int64)
    matrices[0, 1, 0] = matrices[0, 0, 2] = matrices[1, 2, 1] = 1
    matrices -= matrices.swapaxes(1, 2)
    space = Tournaments().fit(matrices)
    assert_array_equal(space.validate(matrices), SIGNS)
    assert_array_equal(space.restore(SIGNS), matrices)


def test_graphs_and_series_come_back():
    graphs = [nx.DiGraph(row) for row in PAIRS]
    space = Tournaments().fit(graphs)
    assert_array_equal(space.validate(graphs), SIGNS)
    assert [set(graph.edges) for graph in space.restore(SIGNS)] == PAIRS
    series = pd.Series(PAIRS, index=["x", "y"], name="games")
    again = Tournaments().fit(series).restore(SIGNS, index=series.index)
    pd.testing.assert_series_equal(again, series)


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([[("a", "b"), ("b", "a")]], "'a' beats 'b' and 'b' beats 'a'"),
        ([[("a", "a")]], "self-loop"),
        ([[("a", "bb")]], "the node 'bb'.*Did you mean 'b'"),
        ([[frozenset("ab")]], "has no direction"),
        (np.array([[2, 0, 0]]), r"-1, 0 or 1; Y\[0, 0\] is"),
        (np.array([[1, 0]]), r"shape \(n_samples, 3\)"),
        (np.ones((1, 3, 3)), "not antisymmetric"),
        ([nx.Graph([("a", "b")])], "not directed"),
    ],
)
def test_bad_outcomes(Y, message):
    with pytest.raises(ValueError, match=message):
        Tournaments(["a", "b", "c"]).validate(Y)


def test_open_pairs():
    with pytest.raises(ValueError, match=r"Y\[1\] leaves the pair \('a', 'c'\) open"):
        Tournaments(["a", "b", "c"], partial=False).fit(np.array([[1, 1, 1], [1, 0, 1]]))
    assert_array_equal(Tournaments(3, partial=False).argmin(np.zeros((1, 3))).outputs, [[1, 1, 1]])
    assert_array_equal(Tournaments(3).argmin(np.zeros((1, 3))).outputs, [[0, 0, 0]])


def test_parameters():
    with pytest.raises(NotFittedError, match="learns its items"):
        Tournaments().size()
    space = Tournaments(["a", "b", "c"])
    assert repr(clone(space)) == "Tournaments(items=['a', 'b', 'c'])"
    assert space.size() == 27
    assert space.set_params(items=2, partial=False).size() == 2
    assert clone(Tournaments(3).restrict(include=[(0, 1)])).size() == 9
    with pytest.raises(ValueError, match="restricted for 3 pairs; Y has 6"):
        Tournaments(constraints=Tournaments(3).constraints_).fit(np.zeros((1, 6), int))


# ------------------------------------------------------------------- learners
@pytest.mark.slow
@pytest.mark.parametrize("partial", [True, False])
@pytest.mark.parametrize("format", ["pairs", "signs", "matrices", "graphs"])
@pytest.mark.parametrize("learner", [ConditionalRiskMinimizer, StructuredSVM])
def test_learners(partial, format, learner):
    """Outcomes that change with the sign of x are learned, and come back in the user's format."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 1, (40, 1)) * np.where(np.arange(40) % 2, 1.0, -1.0)[:, None]
    signs = np.where(X > 0, [[1, 1, -1]], [[-1, 0 if partial else -1, 1]])
    space = Tournaments(["a", "b", "c"], partial)
    p, q = np.triu_indices(3, 1)
    matrices = np.zeros((40, 3, 3), int)
    matrices[:, p, q], matrices[:, q, p] = signs, -signs
    wins = [[("abc"[u], "abc"[v]) for u, v in np.argwhere(m > 0)] for m in matrices]
    Y = {"pairs": wins, "signs": signs, "matrices": matrices, "graphs": list(map(nx.DiGraph, wins))}
    model = learner(space=space, kernel="linear").fit(X, Y[format])
    found = model.predict(np.array([[0.8], [-0.8]]))
    expected = [[1, 1, -1], [-1, 0 if partial else -1, 1]]
    assert_array_equal(model.space_.validate(found), expected)
    assert type(found[0]) is {"pairs": list, "graphs": nx.DiGraph}.get(format, np.ndarray)
    assert model.score(X, Y[format]) == 0


def test_constraints_of_other_rows():
    space = Tournaments(3).restrict(include=[[(0, 1)], [], [(1, 2)]])
    states = Embeddings.of(space).view("node states")
    for n in (2, 5):
        for ask in (
            lambda n: space.kbest(np.zeros((n, 3)), 2),
            lambda n: states.kbest(np.zeros((n, 9)), 2),
            lambda n: space.contains(np.zeros((n, 3), np.int8)),
        ):
            with pytest.raises(ValueError, match=f"row by row for 3 rows; got {n}"):
                ask(n)
    with pytest.raises(ValueError, match="include is not directed"):
        Tournaments(3).restrict(include=nx.Graph([(2, 0)]))
