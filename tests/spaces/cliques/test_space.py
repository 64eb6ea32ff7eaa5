# SPDX-License-Identifier: BSD-3-Clause
"""Cliques against all sets of nodes."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skstruct import ConditionalRiskMinimizer
from skstruct.exceptions import InfeasibleError
from skstruct.learners import StructuredSVM
from skstruct.spaces import Coordinates, Embeddings, LabelSets, PairwiseLabels
from skstruct.spaces.cliques.space import Cliques
from skstruct.spaces.solvers.pairwise import solve
from skstruct.testing import check_space
from strategies import subsets


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_all_sets_of_nodes(n):
    space = Cliques(n)
    check_space(space, subsets(n))
    S = np.cov(space.embed(subsets(n)).T, bias=True).reshape(len(space.edges_), -1)
    assert_allclose(space.covariance().dense(), S, atol=1e-12)


@pytest.mark.slow
@given(st.data())
def test_constraints(data):
    n = data.draw(st.integers(2, 5))
    some = st.lists(st.integers(0, n - 1), max_size=2, unique=True)
    include, exclude = data.draw(some), data.draw(some)
    space = Cliques(n).restrict(include=include, exclude=exclude)
    Y = subsets(n)
    rows = Y[Y[:, include].all(axis=1) & ~Y[:, exclude].any(axis=1)]
    if len(rows):
        check_space(space, rows, n_costs=5, n_draws=500)
        S = np.cov(space.embed(rows).T, bias=True).reshape(len(space.edges_), -1)
        if len(rows) > 1:
            assert_allclose(space.covariance().dense(), S, atol=1e-12)
        return
    for ask in (
        lambda: space.argmin(np.zeros((1, len(space.edges_)))),
        space.mean_embedding,
        space.second_moment,
        lambda: space.sample(1, 0),
    ):
        with pytest.raises(InfeasibleError, match="no output"):
            ask()


def test_constraints_row_by_row():
    space = Cliques(list("abcd")).restrict(include=[["a"], ["b", "c"]])
    costs = np.ones((2, 6))
    assert_array_equal(space.argmin(costs).values, [0, 1])
    with pytest.raises(ValueError, match="row by row for 2 rows; got 3"):
        space.argmin(np.ones((3, 6)))


@pytest.mark.parametrize("exact", [False, True])
def test_more_nodes_than_are_tried(monkeypatch, exact):
    monkeypatch.setattr(solve, "CORE", 3)
    space = Cliques(10, exact=exact)
    assert space.guarantee.kind == ("exact" if exact else "bound only")
    if exact:
        check_space(space, subsets(10), n_costs=5)
        return
    costs = np.random.default_rng(0).standard_normal((20, 45))
    decoded, least = space.argmin(costs), (costs @ space.embed(subsets(10)).T).min(axis=1)
    assert (decoded.bounds <= least + 1e-9).all()
    assert (decoded.bounds < least - 1e-3).any()
    assert (decoded.values >= least - 1e-9).all()
    with pytest.raises(ValueError, match="10 nodes have not; give exact=True"):
        space.kbest(costs, 2)


def test_many_nodes():
    space = Cliques(200)
    assert space.size() == 2**200
    assert_allclose(space.log_size(), 200 * np.log(2))
    assert_array_equal(space.mean_embedding(), np.full(19900, 0.25))
    e = np.zeros((1, 19900))
    e[0, 0] = 1
    touching = (space.edges_ <= 1).any(axis=1)
    expected = np.where(touching, 1 / 16, 0.0)  # 2^-3 - 2^-4
    expected[0] = 3 / 16
    assert_allclose(space.covariance().apply(e)[0], expected, atol=1e-13)
    decoded = space.argmin(-np.ones((1, 19900)))
    assert decoded.outputs.all()
    assert decoded.values[0] == decoded.bounds[0] == -19900


def test_nodes_are_given_or_learned():
    assert Cliques(3).labels_ == Cliques(3).nodes_ == (0, 1, 2)
    space = Cliques().fit([{"b", "c"}, {"a"}])
    assert space.labels_ == ("a", "b", "c")
    assert list(space.restore(space.validate([{"c"}]))) == [{"c"}]
    assert clone(space.set_params(nodes=["x", "y"])).labels_ == ("x", "y")
    with pytest.raises(NotFittedError, match="learns its nodes from Y"):
        Cliques().size()
    with pytest.raises(ValueError, match="'d', which is not one of the 3"):
        Cliques(list("abc")).fit([{"d"}])
    with pytest.raises(ValueError, match="got costs of indicators"):
        Coordinates.of(space).lift(np.zeros((1, 2)), "indicators")


def test_losses_of_nodes_see_sets():
    space = Cliques(list("abc")).restrict(include=["b"])
    sets = Embeddings.of(space).view("indicators")
    assert isinstance(sets, LabelSets)
    assert_array_equal(sets.argmin(np.ones((1, 3))).outputs, [[0, 1, 0]])
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4))
    Y = (X @ rng.standard_normal((4, 6)) > 0).astype(int)
    for loss, other in (("hamming", LabelSets()), ("f1", LabelSets()), ("zero_one", LabelSets())):
        mine = ConditionalRiskMinimizer(space=Cliques(6), loss=loss, smoother="kernel_ridge").fit(
            X, Y
        )
        theirs = ConditionalRiskMinimizer(space=other, loss=loss, smoother="kernel_ridge").fit(X, Y)
        assert_array_equal(mine.predict(X), theirs.predict(X))


@pytest.mark.slow
def test_scores_of_edges_are_learned():
    # The minimum-cost sets of random edge costs: pairs decide, so that pairs must be scored.
    rng = np.random.default_rng(0)
    X, space = rng.standard_normal((60, 3)), Cliques(5)
    Y = space.argmin(X @ rng.standard_normal((3, 10))).outputs
    model = StructuredSVM(space=space, loss="zero_one", alpha=1e-3).fit(X, Y)
    assert model.score(X, Y) > -0.3
    pairs = PairwiseLabels(labels=range(5))
    costs = rng.standard_normal((4, 10))
    same = pairs.argmin(np.hstack([np.zeros((4, 5)), costs]))
    assert_allclose(space.argmin(costs).values, same.values)


def test_graphs_are_no_sets_of_nodes():
    path = nx.path_graph(3)
    for Y in ([path], [{0, 1, 2}, path], pd.Series([path]), path):
        with pytest.raises(ValueError, match=rf"Y\[{int(len(Y) == 2)}\] is a graph, whose edges"):
            Cliques().fit(Y)
        with pytest.raises(ValueError, match="is a graph, whose edges"):
            Cliques(3).validate(Y)
    with pytest.raises(ValueError, match="expects rows of label names; got None"):
        Cliques().fit(None)


@pytest.mark.parametrize("n", [4, 6, 17])
def test_no_node_rather_than_one(n):
    """Sets of fewer than two nodes cost nothing: the smallest of them is taken."""
    costs, space = np.random.default_rng(0).random((50, n * (n - 1) // 2)), Cliques(n)
    assert space.argmin(costs).outputs.sum() == 0
    assert space.restrict(exclude=[0]).argmin(costs).outputs.sum() == 0
    fixed = space.restrict(include=[[1], []]).argmin(costs[:2]).outputs
    assert_array_equal(fixed.sum(axis=1), [1, 0])
    assert fixed[0, 1] == 1
