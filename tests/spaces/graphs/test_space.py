# SPDX-License-Identifier: BSD-3-Clause
"""Graphs with and without a property, against all edge sets and networkx."""

from functools import cache
from itertools import permutations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Uniform
from skstruct.spaces.edge_sets.table import complete_edges
from skstruct.spaces.graphs import hereditary as acyclic
from skstruct.spaces.graphs import hereditary as bipartite
from skstruct.spaces.graphs import hereditary as independence
from skstruct.spaces.graphs import properties as complete
from skstruct.spaces.graphs.space import Graphs
from skstruct.testing import check_space
from strategies import subsets


def no_node_has_three(graph):
    return all(degree <= 2 for _, degree in graph.degree())


def is_clique(graph):
    touched = [v for v, degree in graph.degree() if degree]
    return all(graph.has_edge(u, v) for u in touched for v in touched if u != v)


def is_matching(graph):
    return all(degree <= 1 for _, degree in graph.degree())


JUDGES = {  # what networkx says of a graph
    None: lambda graph: True,
    "acyclic": nx.is_forest,
    "connected": nx.is_connected,
    "clique": is_clique,
    "planar": nx.is_planar,
    "bipartite": nx.is_bipartite,
    "matching": is_matching,
    "spanning tree": nx.is_tree,
    no_node_has_three: no_node_has_three,
}
DIRECTED = {
    None: lambda graph: True,
    "acyclic": nx.is_directed_acyclic_graph,
    "connected": nx.is_weakly_connected,
    no_node_has_three: no_node_has_three,
}
CASES = [(n, False, name) for name in JUDGES for n in (2, 3, 4)]
CASES += [(n, True, name) for name in DIRECTED for n in (2, 3)]


@cache
def all_graphs(n, directed, name):
    """All edge sets that have a property, by asking networkx of each."""
    judge = (DIRECTED if directed else JUDGES)[name]
    pairs = [(u, v) for u in range(n) for v in range(n) if (u != v if directed else u < v)]
    rows = []
    for row in subsets(len(pairs)):
        graph = nx.DiGraph() if directed else nx.Graph()
        graph.add_nodes_from(range(n))
        graph.add_edges_from(pair for pair, there in zip(pairs, row) if there)
        if judge(graph):
            rows.append(row)
    return np.array(rows)


def random_costs(d, rows=8, seed=0):
    """Gaussian costs and whole ones with ties, mostly negative in some rows."""
    rng = np.random.default_rng(seed)
    costs = rng.standard_normal((rows, d)) - rng.random((rows, 1))
    return np.where(rng.random((rows, 1)) < 0.5, np.round(2 * costs), costs)


# ------------------------------------------------------------------- the contract
@pytest.mark.slow
@pytest.mark.parametrize(("n", "directed", "name"), CASES)
def test_all_graphs(n, directed, name):
    check_space(Graphs(n, directed, name), all_graphs(n, directed, name))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["planar", "bipartite", "acyclic"])
def test_five_nodes(name):
    outputs = all_graphs(5, False, name)
    assert len(outputs) < 2**10
    check_space(Graphs(5, property=name), outputs, n_draws=1000)


@given(st.sampled_from(CASES), st.data())
@settings(deadline=None)
def test_constraints_against_enumeration(case, data):
    n, directed, name = case
    space, outputs = Graphs(n, directed, name), all_graphs(n, directed, name)
    edge = st.sampled_from(space.labels_)
    include = data.draw(st.lists(edge, max_size=2, unique=True))
    exclude = data.draw(st.lists(edge, max_size=2, unique=True))
    narrowed = space.restrict(include=include, exclude=exclude)
    fixed = [space.labels_.index(pair) for pair in include]
    out = [space.labels_.index(pair) for pair in exclude]
    rows = outputs[outputs[:, fixed].all(axis=1) & ~outputs[:, out].any(axis=1)]
    if len(rows):
        check_space(narrowed, rows, n_draws=500)
        return
    assert narrowed.size() == 0
    with pytest.raises(InfeasibleError, match="no output"):
        narrowed.argmin(np.ones((1, len(space.labels_))))
    with pytest.raises(InfeasibleError, match="no output"):
        Uniform.of(narrowed).mean_embedding()


@pytest.mark.slow
@given(st.sampled_from([(4, False, None), (4, False, "acyclic"), (3, True, None)]), st.data())
@settings(deadline=None)
def test_constraints_on_the_number_of_edges(case, data):
    space, outputs = Graphs(*case), all_graphs(*case)
    smallest, largest = sorted(data.draw(st.tuples(st.integers(0, 3), st.integers(0, 6))))
    include = data.draw(st.lists(st.sampled_from(space.labels_), max_size=1))
    narrowed = space.restrict(include=include, min_size=smallest, max_size=largest)
    size = outputs.sum(axis=1)
    fixed = [space.labels_.index(pair) for pair in include]
    rows = outputs[(smallest <= size) & (size <= largest) & outputs[:, fixed].all(axis=1)]
    if len(rows):
        check_space(narrowed, rows, n_draws=500)
    else:
        with pytest.raises(InfeasibleError):
            narrowed.argmin(np.ones((1, len(space.labels_))))


def test_sizes_of_hard_properties_are_not_limited():
    with pytest.raises(ValueError, match="number of edges"):
        Graphs(4, property="planar").restrict(max_size=3)


def test_constraints_row_by_row():
    for name in ["acyclic", "connected", "clique", "bipartite", "planar", no_node_has_three]:
        space = Graphs(4, property=name)
        costs = random_costs(6, rows=3)
        include, exclude = [[(0, 1)], [], [(3, 2)]], [[], [(1, 0)], [(0, 1), (0, 2)]]
        together = space.restrict(include=include, exclude=exclude).argmin(costs)
        for i in range(3):
            alone = space.restrict(include=include[i], exclude=exclude[i])
            assert_allclose(together.values[i], alone.argmin(costs[i : i + 1]).values[0])


# ------------------------------------------------------------------- hard properties
def all_cuts(n):
    """Edges across, for all sides of n nodes: the maximal bipartite graphs."""
    u, v = np.triu_indices(n, 1)
    return np.array([side[u] != side[v] for side in subsets(n)])


def all_cliques(n):
    u, v = np.triu_indices(n, 1)
    return np.array([nodes[u] & nodes[v] for nodes in subsets(n)], dtype=bool)


def all_orders(n):
    """Arcs forward, for all orders: the maximal acyclic digraphs."""
    u, v = complete_edges(n, True).T
    return np.array([np.array(rank)[u] < np.array(rank)[v] for rank in permutations(range(n))])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "directed", "name", "tops"),
    [
        (8, False, "bipartite", all_cuts(8)),
        (8, False, "clique", all_cliques(8)),
        (6, True, "acyclic", all_orders(6)),
    ],
)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([1.0, 1e-12, 1e9]))
@settings(deadline=None, max_examples=25)
def test_exact_where_sets_are_too_many_to_list(n, directed, name, tops, seed, size):
    """Of a cut or an order all edges that gain are taken; of a clique all edges."""
    rng = np.random.default_rng(seed)
    d = tops.shape[1]
    costs = size * random_costs(d, rows=5, seed=seed)
    costs = costs + size * (name == "clique")
    low, out = rng.random((2, 5, d)) < 0.03
    space = Graphs(n, directed, name).restrict(include=low, exclude=out)
    for i in range(5):
        allowed = (low[i] <= tops).all(axis=1)
        if name == "clique":
            allowed &= ~(tops & out[i]).any(axis=1)
            totals = tops @ costs[i]
        else:
            taken = low[i] | (~out[i] & (costs[i] < 0))
            totals = tops @ (costs[i] * taken)
            allowed &= not (low[i] & out[i]).any()
        if not allowed.any():
            with pytest.raises(InfeasibleError):
                space.rows([i]).argmin(costs[[i]])
            continue
        decoded = space.rows([i]).argmin(costs[[i]])
        assert_allclose(decoded.values[0], totals[allowed].min(), rtol=1e-9, atol=1e-9 * size)
        assert space.rows([i]).contains(decoded.outputs).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["planar", "bipartite", no_node_has_three])
@pytest.mark.parametrize("fixed", [False, True])
def test_guarantees_of_larger_graphs(monkeypatch, name, fixed):
    """Where edges are not listed and nodes are many, against the list of all sets."""
    outputs = all_graphs(5, False, name)
    monkeypatch.setattr(independence, "LISTED", 0)
    monkeypatch.setattr(bipartite, "CORE", 0)
    space = Graphs(5, property=name)
    if fixed:
        space = space.restrict(include=[(0, 1)])
        outputs = outputs[outputs[:, 0] == 1]
    assert space.guarantee.kind == "ratio"
    costs = random_costs(10, rows=150)
    decoded, totals = space.argmin(costs), costs @ outputs.T
    assert space.contains(decoded.outputs).all()
    assert_allclose(decoded.values, (costs * decoded.outputs).sum(axis=1))
    best, worst = totals.min(axis=1), totals.max(axis=1)
    assert (decoded.bounds <= best + 1e-9).all()
    assert (worst - decoded.values >= space.guarantee.ratio * (worst - best) - 1e-9).all()
    assert (decoded.values <= best + 1e-9).mean() > 0.6  # improvement is worth its name
    with pytest.raises(ValueError, match="exact decoding"):
        space.kbest(costs, 2)


@pytest.mark.slow
@pytest.mark.parametrize("fixed", [False, True])
def test_guarantee_of_acyclic_digraphs(monkeypatch, fixed):
    outputs = all_graphs(4, True, "acyclic")
    monkeypatch.setattr(acyclic, "MOST_ITEMS", 0)
    monkeypatch.setattr(independence, "LISTED", 0)
    space = Graphs(4, True, "acyclic")
    if fixed:
        space = space.restrict(include=[(1, 0)])
        outputs = outputs[space.contains(outputs)]
    assert space.guarantee.ratio == (1 / 4 if fixed else 1 / 2)
    costs = random_costs(12, rows=60)
    decoded, totals = space.argmin(costs), costs @ outputs.T
    best, worst = totals.min(axis=1), totals.max(axis=1)
    assert space.contains(decoded.outputs).all()
    assert (decoded.bounds <= best + 1e-9).all()
    assert (worst - decoded.values >= space.guarantee.ratio * (worst - best) - 1e-9).all()


def check_ratio(space, outputs, ratio):
    costs = random_costs(outputs.shape[1], rows=60)
    decoded, totals = space.argmin(costs), costs @ outputs.T
    best, worst = totals.min(axis=1), totals.max(axis=1)
    assert space.contains(decoded.outputs).all()
    assert (worst - decoded.values >= ratio * (worst - best) - 1e-9).all()
    assert (decoded.values > best + 1e-9).any()  # else nothing was put to the test


def test_any_order_or_its_reverse_gains_half(monkeypatch):
    monkeypatch.setattr(acyclic, "MOST_ITEMS", 0)

    def no_search(costs, d):
        everything = -np.abs(costs).sum(axis=1)
        return np.tile(np.arange(d), (len(costs), 1)), everything, everything

    monkeypatch.setattr(acyclic, "linear_orders", no_search)
    check_ratio(Graphs(4, True, "acyclic"), all_graphs(4, True, "acyclic"), 1 / 2)


def test_forests_alone_gain_a_third_of_planar_graphs(monkeypatch):
    monkeypatch.setattr(independence, "LISTED", 0)

    def only_starts(costs, holds, *, starts, **others):
        values = (costs * starts[0]).sum(axis=1)
        return starts[0], values, values

    monkeypatch.setattr(independence, "min_cost_members", only_starts)
    check_ratio(Graphs(5, property="planar"), all_graphs(5, False, "planar"), 1 / 3)


def test_node_by_node_cuts_gain_half(monkeypatch):
    monkeypatch.setattr(bipartite, "CORE", 0)

    def one_side(nodes, pairs, edges):
        return np.zeros(nodes.shape, np.int8), None, None

    monkeypatch.setattr(bipartite, "minimize", one_side)
    check_ratio(Graphs(5, property="bipartite"), all_graphs(5, False, "bipartite"), 1 / 2)


def test_cliques_obey_constraints_though_the_search_does_not(monkeypatch):
    def everything(free, *others):
        return np.ones(free.shape, np.int8), None, np.zeros(len(free))

    monkeypatch.setattr(complete, "minimize_fixed", everything)
    space = Graphs(5, property="clique").restrict(include=[(0, 1), (1, 2)], exclude=[(3, 4)])
    assert_array_equal(space.argmin(np.ones((1, 10))).outputs, [[1, 1, 0, 0, 1, 0, 0, 0, 0, 0]])


def test_cliques_of_many_nodes():
    space = Graphs(18, property="clique")
    assert space.guarantee.kind == "bound only"
    costs = random_costs(153, rows=3) + 0.5
    decoded = space.argmin(costs)
    assert space.contains(decoded.outputs).all()
    assert (decoded.bounds <= decoded.values).all()
    out = space.restrict(exclude=[(0, 1), (2, 3)])
    assert out.contains(out.argmin(costs).outputs).all()
    assert space.contains(space.sample(50, 0)).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["planar", "bipartite", no_node_has_three])
def test_twenty_nodes(name):
    space = Graphs(20, property=name)
    costs = random_costs(190, rows=2)
    decoded = space.argmin(costs)
    assert space.contains(decoded.outputs).all()
    assert (decoded.bounds <= decoded.values).all()
    if name == "planar":
        least = Graphs(20, property="acyclic").argmin(costs).values
    elif name == "bipartite":
        least = np.minimum(costs, 0).sum(axis=1) / 2
    else:
        least = space.guarantee.ratio * decoded.bounds
    assert (decoded.values <= least + 1e-9).all()


@pytest.mark.slow
def test_acyclic_digraphs_of_many_nodes():
    for n in (15, 24):
        space = Graphs(n, True, "acyclic")
        costs = random_costs(n * (n - 1), rows=2)
        decoded = space.argmin(costs)
        assert space.contains(decoded.outputs).all()
        assert (decoded.bounds <= decoded.values).all()
        assert (decoded.values <= np.minimum(costs, 0).sum(axis=1) / 2 + 1e-9).all()
        fixed = space.restrict(include=[(1, 0), (0, 2)])
        assert fixed.contains(fixed.argmin(costs).outputs).all()


# ------------------------------------------------------------------- counting
@pytest.mark.parametrize(("n", "directed", "name"), CASES)
def test_counts_without_listing(n, directed, name):
    space = Graphs(n, directed, name)
    assert space.size() == len(all_graphs(n, directed, name))
    if name not in ("planar", no_node_has_three):
        assert "_listed" not in vars(space)


@pytest.mark.slow
def test_two_hundred_nodes():
    space = Graphs(200)
    d = 199 * 100
    assert space.size() == 2**d
    assert_allclose(Uniform.of(space).log_size(), d * np.log(2))
    assert_array_equal(Uniform.of(space).mean_embedding(), np.full(d, 0.5))
    covariance = Uniform.of(space).covariance()
    assert (covariance.d, covariance.eigenvalues.tolist()) == (d, [0.25])
    assert space.sample(2, 0).shape == (2, d)
    costs = random_costs(d, rows=2)
    assert_allclose(space.argmin(costs).values, np.minimum(costs, 0).sum(axis=1))
    assert Graphs(200, property="acyclic").size() > 200**198
    assert (
        Uniform.of(Graphs(200, True, "acyclic")).log_size()
        < Uniform.of(Graphs(200, True)).log_size()
    )
    assert Graphs(200, property="connected").size() < 2**d
    assert Graphs(100, property="bipartite").size() > 2**2500
    with pytest.raises(ValueError, match=r"10\*\*5991 sets of 19900 .*, more than the limit"):
        space.enumerate()


def test_what_cannot_be_counted_says_so():
    space = Graphs(12, property="planar")
    for ask in (space.size, Uniform.of(space).mean_embedding, Uniform.of(space).second_moment):
        with pytest.raises(ValueError, match=r"10\*\*20 sets of 66 .*counted"):
            ask()
    with pytest.raises(ValueError, match=r"10\*\*20 sets of 66 .*counted"):
        Uniform.of(Graphs(12, property="connected")).mean_embedding()
    assert Uniform.of(space).counted.size() == 2**66


def test_counted_is_the_relaxation():
    space = Graphs(directed=True, property="acyclic").fit([[("a", "b")], [("b", "c")]])
    assert Uniform.of(space).counted.nodes_ == ("a", "b", "c")
    assert Uniform.of(space).counted.size() == 2**6
    assert Uniform.of(space).counted.property is None
    assert Uniform.of(Graphs(3)).counted.size() == 8
    assert Uniform.of(space).counted.restore([[1, 0, 0, 0, 0, 0]])[0] == [("a", "b")]


# ------------------------------------------------------------------- membership
@pytest.mark.parametrize(
    ("directed", "name", "Y", "message"),
    [
        (False, "acyclic", [[("a", "b"), ("b", "c"), ("a", "c")]], r"Y\[1\] has the cycle 'a'"),
        (True, "acyclic", [[("a", "b"), ("b", "a")]], r"Y\[1\] has the cycle 'a' -> 'b' -> 'a'"),
        (False, "bipartite", [[("a", "b"), ("b", "c"), ("a", "c")]], "has the odd cycle"),
        (False, "clique", [[("a", "b"), ("b", "c")]], r"\('a', 'c'\) is missing"),
        (False, no_node_has_three, [[("a", v) for v in "bcd"]], "not the property no_node_has"),
    ],
)
def test_training_outputs_have_the_property(directed, name, Y, message):
    with pytest.raises(ValueError, match=message):
        Graphs(list("abcd"), directed, name).fit([[], *Y])
    space = Graphs(list("abcd"), directed, name).fit([[]])
    with pytest.raises(ValueError, match=message):
        space.validate([[], *Y])


def test_why_not_connected_or_planar():
    with pytest.raises(ValueError, match="no path joins 'a' and 'c'"):
        Graphs(list("abc"), property="connected").fit([[("a", "b")]])
    with pytest.raises(ValueError, match="subdivision of K5 with corners"):
        Graphs(property="planar").fit([nx.complete_graph(5)])
    with pytest.raises(ValueError, match="subdivision of K3,3"):
        Graphs(property="planar").fit([nx.complete_bipartite_graph(3, 3)])


def test_unknown_properties():
    with pytest.raises(ValueError, match=r"'acyclic', 'connected'.*got 'eulerian'"):
        Graphs(4, property="eulerian").fit([[]])
    with pytest.raises(ValueError, match="directed graphs is one of"):
        Graphs(4, True, "planar").argmin(np.zeros((1, 12)))
    with pytest.raises(ValueError, match=r"got \['planar'\]"):
        Graphs(4, property=["planar"]).fit([[]])
    with pytest.raises(ValueError, match="graph without edges has it not"):
        Graphs(4, property=nx.is_connected).fit([[(0, 1)]])


# ------------------------------------------------------------------- manners
def test_parameters():
    space = Graphs(4, True, "acyclic")
    assert repr(space) == "Graphs(directed=True, nodes=4, property='acyclic')"
    again = clone(space.restrict(include=[(0, 1)]))
    assert again.constraints.low.any()
    assert again.size() < space.size()
    space.size()
    space.set_params(property=None, directed=False)
    assert space.size() == 2**6
    assert space.set_params(nodes=["ab", "c"]).fit([[("ab", "c")]]).labels_ == (("ab", "c"),)
    named = Graphs(nx.path_graph(["x", "y", "z"]))
    assert named.nodes_ == ("x", "y", "z")
    assert len(named.edges_) == 3  # the graph names the nodes; all edges are possible


def test_graphs_with_another_kind_of_edges_are_no_constraints():
    """Of a graph without directions either direction of an edge would be meant."""
    for directed, other in ((True, nx.Graph([(0, 1)])), (False, nx.DiGraph([(0, 1)]))):
        space = Graphs(3, directed)
        for limit, name in (other, "exclude is"), ([other, other], r"exclude\[0\] is"):
            with pytest.raises(ValueError, match=f"{name} (not )?directed, but edges here are"):
                space.restrict(exclude=limit)


def test_sizes_that_no_decoder_obeys():
    sized = Graphs(3).restrict(min_size=2)
    with pytest.raises(ValueError, match="property cannot change after restrict"):
        clone(sized).set_params(property="bipartite")
    with pytest.raises(ValueError, match="number of edges is limited for all graphs and for fo"):
        Graphs(3, property="bipartite", constraints=sized.constraints).argmin(np.ones((1, 3)))
    with pytest.raises(ValueError, match="restricted for 3 edges; there are 6"):
        Graphs(4, constraints=sized.constraints).argmin(np.ones((1, 6)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "space", [Graphs(21, directed=True, property="acyclic"), Graphs(17, property="bipartite")]
)
def test_rows_without_known_edges_are_decoded_as_if_alone(space):
    costs = np.random.default_rng(0).normal(size=(3, len(space.labels_)))
    limited = space.restrict(include=[[(0, 1)], [], [(1, 2)]])
    together = limited.argmin(costs)
    for i in range(3):
        alone = limited.rows(i).argmin(costs[i : i + 1])
        assert_array_equal(together.outputs[i], alone.outputs[0])
        assert_allclose(together.bounds[i], alone.bounds[0])
    assert_allclose(together.values[1], space.argmin(costs).values[1])


def test_constraints_that_exclude_nothing():
    space = Graphs(30, directed=True, property="acyclic")
    assert space.restrict().size() == space.size()
    space = Graphs(30, property="clique")
    assert space.restrict(exclude=[]).size() == space.size()
    assert_allclose(
        Uniform.of(space.restrict()).mean_embedding(), Uniform.of(space).mean_embedding()
    )
