# SPDX-License-Identifier: BSD-3-Clause
"""Matchings against all sets of edges tried one by one."""

import math
from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare
from sklearn.base import clone

from skstruct import ConditionalRiskMinimizer
from skstruct.exceptions import InfeasibleError, UndecidableError
from skstruct.spaces import Uniform
from skstruct.spaces.graphs.space import Graphs
from skstruct.spaces.matchings.counting import short_range_order
from skstruct.spaces.matchings.distribution import matching_paths
from skstruct.spaces.matchings.space import Matchings
from skstruct.testing import check_space


def matchings_one_by_one(space):
    """All matchings of the space without its constraints."""
    rows = []
    for row in product((0, 1), repeat=len(space.edges_)):
        ends = space.edges_[np.array(row, bool)].ravel().tolist()
        if len(set(ends)) == len(ends) and (not space.perfect or len(ends) == len(space.nodes_)):
            rows.append(row)
    return np.array(rows, dtype=np.int8).reshape(len(rows), len(space.edges_))


def check_all(space, listed, **sizes):
    check_space(space, listed, **sizes)
    S = np.cov(listed.T, bias=True).reshape(listed.shape[1], listed.shape[1])
    assert_allclose(Uniform.of(space).covariance().dense(), S, atol=1e-12)


@st.composite
def spaces(draw, max_edges=8):
    """Matchings of a graph, or between two groups, with some of all edges."""
    perfect = draw(st.booleans())
    if draw(st.booleans()):
        n = draw(st.sampled_from([2, 4, 6] if perfect else [2, 3, 4, 5]))
        nodes, pairs = {"nodes": n}, [(u, v) for v in range(n) for u in range(v)]
    else:
        n = draw(st.integers(1, 3))
        m = n if perfect else draw(st.integers(1, 4))
        nodes, pairs = {"nodes": n, "other": m}, list(product(range(n), range(n, n + m)))
    few = min(len(pairs), max_edges)
    graph = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=few, unique=True))
    return Matchings(**nodes, perfect=perfect, graph=graph)


# ------------------------------------------------------------------- the contract
@pytest.mark.parametrize(("n", "perfect"), [(2, 0), (3, 0), (5, 0), (2, 1), (4, 0), (4, 1), (6, 1)])
def test_complete_graphs(n, perfect):
    space = Matchings(n, perfect=bool(perfect))
    check_all(space, matchings_one_by_one(space))


@pytest.mark.parametrize(
    ("n", "m", "perfect"), [(1, 1, 0), (1, 1, 1), (1, 3, 0), (3, 2, 0), (3, 3, 0), (3, 3, 1)]
)
def test_complete_bipartite_graphs(n, m, perfect):
    space = Matchings(n, m, perfect=bool(perfect))
    check_all(space, matchings_one_by_one(space))


@pytest.mark.slow
@given(spaces())
def test_given_graphs(space):
    listed = matchings_one_by_one(space)
    if len(listed):
        check_all(space, listed, n_costs=5, n_draws=500)
        return
    assert space.size() == 0
    assert len(space.enumerate()) == 0
    with pytest.raises(InfeasibleError, match="no output"):
        space.argmin(np.zeros((1, len(space.edges_))))
    with pytest.raises(InfeasibleError, match="no output"):
        space.sample(1, 0)


@pytest.mark.slow
@given(st.one_of(spaces(), st.sampled_from([Matchings(4), Matchings(4, perfect=True),
       Matchings(2, 3), Matchings(3, 3, True)])), st.data())  # fmt: skip
def test_constraints(space, data):
    some = st.lists(st.sampled_from(range(len(space.edges_))), max_size=2, unique=True)
    include, exclude = data.draw(some), data.draw(some)
    names = [[space.labels_[e] for e in edges] for edges in (include, exclude)]
    narrowed = space.restrict(include=names[0], exclude=names[1])
    listed = matchings_one_by_one(space)
    listed = listed[listed[:, include].all(axis=1) & ~listed[:, exclude].any(axis=1)]
    if len(listed):
        check_all(narrowed, listed, n_costs=5, n_draws=500)
        return
    assert narrowed.size() == 0
    for ask in (
        lambda: narrowed.argmin(np.zeros((1, len(space.edges_)))),
        Uniform.of(narrowed).mean_embedding,
        Uniform.of(narrowed).second_moment,
        lambda: narrowed.sample(1, 0),
    ):
        with pytest.raises(InfeasibleError, match="no output"):
            ask()


@pytest.mark.parametrize("space", [Matchings(4), Matchings(3, 3, perfect=True)])
def test_constraints_row_by_row(space):
    rng = np.random.default_rng(0)
    d = len(space.edges_)
    include, exclude = np.eye(d, dtype=bool), np.roll(np.eye(d, dtype=bool), 2, axis=1)
    narrowed = space.restrict(include=include, exclude=exclude)
    costs = rng.standard_normal((d, d))
    together = narrowed.argmin(costs)
    for i in range(d):
        alone = narrowed.rows([i]).argmin(costs[i : i + 1])
        assert_allclose(together.values[i], alone.values[0])
        assert narrowed.rows([i]).contains(together.outputs[i : i + 1]).all()


# ------------------------------------------------------------------- counting
def test_counts_by_formula():
    involutions = [1, 1]
    for n in range(2, 201):
        involutions.append(involutions[-1] + (n - 1) * involutions[-2])
    assert Matchings(200).size() == involutions[200]
    assert Matchings(200, perfect=True).size() == math.prod(range(1, 200, 2))
    assert Matchings(100, 100, perfect=True).size() == math.factorial(100)
    fibonacci = [1, 1]
    while len(fibonacci) <= 200:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    assert Matchings(graph=nx.path_graph(200)).size() == fibonacci[200]
    # Domino tilings of a chessboard.
    board = nx.convert_node_labels_to_integers(nx.grid_2d_graph(8, 8))
    assert Matchings(graph=board, perfect=True).size() == 12_988_816


@pytest.mark.parametrize(
    "space",
    [Matchings(200), Matchings(200, perfect=True), Matchings(100, 90), Matchings(90, 90, True)],
)
def test_large_complete_graphs(space):
    assert_allclose(Uniform.of(space).log_size(), math.log(space.size()), rtol=1e-14)
    mean, S, edge = (
        Uniform.of(space).mean_embedding(),
        Uniform.of(space).covariance(),
        [space.labels_[0]],
    )
    probability = space.restrict(include=edge).size() / space.size()
    assert_allclose(mean, np.full(len(space.edges_), probability), rtol=1e-14)
    column = np.zeros((1, len(mean)))
    column[0, 0] = 1
    column = S.apply(column)[0]
    touching = np.isin(space.edges_, space.edges_[0]).any(axis=1)
    last = space.restrict(include=[*edge, space.labels_[-1]]).size() / space.size()
    expected = np.where(touching, 0.0, last) - probability**2
    expected[0] = probability - probability**2
    assert_allclose(column, expected, atol=1e-14)
    assert space.contains(space.sample(5, 0)).all()
    with pytest.raises(
        UndecidableError, match=r"about 10\*\*\d+ matchings, more than the limit of 1,000,000"
    ):
        space.enumerate()


def test_entangled_graphs_are_too_hard(monkeypatch):
    monkeypatch.setattr("skstruct.spaces.matchings.distribution.MOST_STEPS", 10**4)
    rng = np.random.default_rng(0)
    pairs = [(u, v) for u in range(60) for v in range(u) if rng.random() < 0.5]
    space = Matchings(60, graph=pairs)
    with pytest.raises(UndecidableError, match=f"60 nodes and {len(pairs)} edges.*#P-hard"):
        space.size()
    costs = rng.standard_normal((2, len(pairs)))
    assert space.contains(space.argmin(costs).outputs).all()  # decoding is not


def test_table_and_closed_form_agree():
    # Ten nodes: too many edge sets to try, but not for the table.
    for space in (
        Matchings(10),
        Matchings(10, perfect=True),
        Matchings(5, 6),
        Matchings(5, 5, True),
    ):
        table = matching_paths(
            space.edges_,
            np.argsort(short_range_order(len(space.nodes_), space.edges_)),
            space.perfect,
        )
        assert table.total == space.size()
        assert_allclose(table.mean(), Uniform.of(space).mean_embedding(), rtol=1e-14)
        assert_allclose(table.second_moment(), Uniform.of(space).second_moment(), atol=1e-14)
        assert len(space.enumerate()) == space.size()


SAMPLED = {
    "graph": Matchings(5),
    "perfect": Matchings(6, perfect=True),
    "groups": Matchings(2, 4),
    "assignments": Matchings(4, 4, perfect=True),
    "narrowed": Matchings(6).restrict(include=[(0, 4)]),
    "table": Matchings(graph=nx.cycle_graph(7)),
    "perfect table": Matchings(graph=nx.grid_2d_graph(2, 6), perfect=True),
    "narrowed table": Matchings(5).restrict(exclude=[(0, 1), (2, 4)]),
}


@pytest.mark.parametrize("name", SAMPLED)
def test_samples_are_uniform(name):
    # Chi-square over all matchings: a right sampler fails with probability 1e-4.
    space = SAMPLED[name]
    listed, drawn = space.enumerate(), space.sample(20_000, 1)
    counts = (drawn[:, None] == listed).all(axis=2).sum(axis=0)
    assert counts.sum() == 20_000
    assert chisquare(counts).pvalue > 1e-4
    assert_array_equal(drawn, space.sample(20_000, np.random.default_rng(1)))
    # Rows come in no order: the first half is like the second.
    halves = [(part[:, None] == listed).all(axis=2).sum(axis=0) for part in np.split(drawn, 2)]
    assert chisquare(halves[0]).pvalue > 1e-4


# ------------------------------------------------------------------- nodes and messages
@pytest.mark.parametrize(
    "space",
    [
        Matchings(5),
        Matchings(4, perfect=True),
        Matchings(2, 3),
        Matchings(graph=[(0, 1), (1, 2)]),
        Graphs(5, property="matching"),
    ],
    ids=str,
)
def test_no_samples(space):
    assert space.sample(0, 0).shape == (0, len(space.edges_))


def test_groups_of_nodes():
    space = Matchings(["a"], ["x", "y"])
    assert space.nodes_ == ("a", "x", "y")
    assert space.labels_ == (("a", "x"), ("a", "y"))
    assert Matchings(2, 3).nodes_ == (0, 1, 2, 3, 4)
    rows = [[("x", "a")], [], [("a", "y")]]
    Z = space.fit(rows).validate(rows)
    assert_array_equal(Z, [[1, 0], [0, 0], [0, 1]])
    assert list(space.restore(Z)) == [[("a", "x")], [], [("a", "y")]]
    assert clone(space).size() == 3
    assert Matchings().fit([[("b", "a")], [("c", "d")]]).nodes_ == ("a", "b", "c", "d")
    assert space.set_params(other=["z"]).labels_ == (("a", "z"),)


@pytest.mark.parametrize(
    ("space", "message"),
    [
        (Matchings(3, perfect=True), "no perfect matching joins 3 nodes"),
        (Matchings(2, 3, perfect=True), "no perfect matching joins 2 nodes with 3"),
        (Matchings(other=3), "give nodes, the first"),
        (Matchings(["a", "b"], ["b"]), "'b' is one of nodes and one of other"),
        (Matchings(["a", "b"], "cd"), "got 'cd'"),
        (Matchings(2, 2, graph=[(0, 2), (0, 1)]), "joins 0 and 1, which are in the same group"),
    ],
)
def test_nodes_that_are_wrong(space, message):
    with pytest.raises(ValueError, match=message):
        space.size()


def test_what_is_no_matching_says_why():
    space = Matchings(list("abcd"))
    with pytest.raises(ValueError, match=r"Y\[1\] is no matching: .* the node 'b' in common"):
        space.fit([[("a", "b")], [("a", "b"), ("b", "c")]])
    with pytest.raises(ValueError, match=r"Y\[0\] is not perfect: 'c' is in no edge"):
        Matchings(list("abcd"), perfect=True).fit([[("a", "b")]])
    with pytest.raises(ValueError, match="not one of the 2 possible edges"):
        Matchings(["a"], ["x", "y"]).fit([[("x", "y")]])


def test_a_learner_does_better_than_the_empty_set():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    for space in (Matchings(6), Matchings(3, 3, perfect=True)):
        Y = space.argmin(X @ rng.standard_normal((3, len(space.edges_)))).outputs
        model = ConditionalRiskMinimizer(space=space, loss="hamming", smoother="kernel_ridge").fit(
            X, Y
        )
        assert space.contains(model.predict(X)).all()
        assert model.score(X, Y) > -0.2 * Y.sum(axis=1).mean()


@pytest.mark.parametrize("other", [None, ["c"]])
def test_graphs_without_edges(other):
    space = Matchings(["a", "b"], other, graph=[]).fit([[]])
    nothing = space.validate([[]])
    assert nothing.shape == space.enumerate().shape == space.sample(1, 0).shape == (1, 0)
    assert space.size() == 1
    assert space.contains(nothing).tolist() == [True]
    assert space.argmin(np.zeros((2, 0))).values.tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="'a' is in no edge"):
        Matchings(["a", "b"], perfect=True, graph=[]).fit([[]])
