# SPDX-License-Identifier: BSD-3-Clause
"""Labels with costs by pairs, against all sets of labels."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skstruct import ConditionalRiskMinimizer
from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Coordinates, Embeddings, LabelSets, PairwiseLabels, Solving
from skstruct.spaces.solvers.pairwise import solve
from skstruct.testing import check_space
from strategies import subsets


@st.composite
def spaces(draw, max_labels=5):
    """A space over labels 0, 1, ... with some of their pairs."""
    n = draw(st.integers(1, max_labels))
    pairs = [(i, j) for i in range(n) for j in range(n) if i < j and draw(st.booleans())]
    return PairwiseLabels(draw(st.sampled_from([pairs, "full", "empty"])), labels=range(n))


def random_costs(space, rows=6, seed=0, whole=False):
    rng = np.random.default_rng(seed)
    shape = rows, len(space.labels_) + len(space.edges_)
    return rng.integers(-2, 3, shape).astype(float) if whole else rng.standard_normal(shape)


# ------------------------------------------------------------------- the contract
@pytest.mark.parametrize("graph", ["full", "empty", [(0, 1), (1, 2)], [(2, 0)]])
@pytest.mark.parametrize("n", [3, 5])
def test_all_subsets(graph, n):
    check_space(PairwiseLabels(graph, labels=range(n)), subsets(n))


def test_one_label():
    check_space(PairwiseLabels(labels=["only"]), subsets(1))


@pytest.mark.parametrize("exact", [False, True])
def test_more_labels_than_are_tried(monkeypatch, exact):
    monkeypatch.setattr(solve, "CORE", 3)
    space = PairwiseLabels(labels=range(10), exact=exact)
    assert space.guarantee.kind == ("exact" if exact else "bound only")
    if exact:
        check_space(space, subsets(10), n_costs=5)
        return
    psi, costs = space.embed(subsets(10)), 3 * random_costs(space, 20)
    decoded = space.argmin(costs)
    least = (costs @ psi.T).min(axis=1)
    assert (decoded.bounds <= least + 1e-9).all()
    assert (decoded.bounds < least - 1e-3).any()
    assert (decoded.values >= least - 1e-9).all()
    with pytest.raises(ValueError, match="give exact=True"):
        space.kbest(costs, 2)


def test_fourteen_labels_are_exact():
    space = PairwiseLabels(labels=range(14))
    assert space.guarantee.kind == "exact"
    costs = 3 * random_costs(space, 3)
    decoded = space.argmin(costs)
    assert_allclose(decoded.values, (costs @ space.embed(subsets(14)).T).min(axis=1))
    assert_array_equal(decoded.values, decoded.bounds)


@pytest.mark.slow
@given(st.data())
def test_constraints_against_enumeration(data):
    space = data.draw(spaces())
    n = len(space.labels_)
    name = st.integers(0, n - 1)
    include = data.draw(st.lists(name, max_size=2, unique=True))
    exclude = data.draw(st.lists(name, max_size=2, unique=True))
    narrowed = space.restrict(include=include, exclude=exclude)
    Y = subsets(n)
    rows = Y[Y[:, include].all(axis=1) & ~Y[:, exclude].any(axis=1)]
    if len(rows):
        check_space(narrowed, rows, n_draws=500)
        return
    assert narrowed.size() == 0
    costs = random_costs(narrowed, 1)
    for ask in (
        lambda: narrowed.argmin(costs),
        lambda: Solving.of(narrowed).argmin_relaxed(costs),
        narrowed.mean_embedding,
        narrowed.second_moment,
        lambda: narrowed.sample(1, 0),
    ):
        with pytest.raises(InfeasibleError, match="no output"):
            ask()


@given(spaces(), st.integers(0, 9))
def test_constraints_row_by_row(space, seed):
    rng = np.random.default_rng(seed)
    n, rows = len(space.labels_), 4
    include = rng.random((rows, n)) < 0.3
    exclude = (rng.random((rows, n)) < 0.3) & ~include
    costs = random_costs(space, rows, seed)
    narrowed = space.restrict(include=include, exclude=exclude)
    together, relaxed = narrowed.argmin(costs), Solving.of(narrowed).argmin_relaxed(costs)
    for i in range(rows):
        alone = space.restrict(include=include[i], exclude=exclude[i]).argmin(costs[i : i + 1])
        assert_allclose(together.values[i], alone.values[0], atol=1e-9)
        assert narrowed.rows([i]).contains(together.outputs[i : i + 1]).all()
    assert (relaxed.values <= together.values + 1e-9).all()
    marginals = relaxed.outputs[:, :n]
    assert (marginals[include] == 1).all()
    assert (marginals[exclude] == 0).all()
    best = narrowed.kbest(costs, 2)
    assert_allclose(best.values[:, 0], together.values, atol=1e-9)
    if rows > 1:
        with pytest.raises(ValueError, match="row by row for 4 rows; got 3"):
            narrowed.argmin(costs[:3])


def test_the_row_that_contradicts_itself_is_named():
    space = PairwiseLabels(labels="abc").restrict(include=[["a"], ["b"]], exclude=[["b"], ["b"]])
    for decode in (space.argmin, Solving.of(space).argmin_relaxed):
        with pytest.raises(InfeasibleError, match="row 1"):
            decode(random_costs(space, 2))


# ------------------------------------------------------------------- relaxed, and shared pairs
@given(spaces(max_labels=6), st.integers(0, 99), st.booleans())
def test_relaxed_outputs_are_embeddings_that_bound_all_sets(space, seed, whole):
    costs = random_costs(space, seed=seed, whole=whole)
    decoded, psi = Solving.of(space).argmin_relaxed(costs), space.embed(subsets(len(space.labels_)))
    assert np.isin(decoded.outputs, (0.0, 0.5, 1.0)).all()
    assert_allclose((costs * decoded.outputs).sum(axis=1), decoded.values, atol=1e-9)
    assert_array_equal(decoded.values, decoded.bounds)
    assert (decoded.values <= (costs @ psi.T).min(axis=1) + 1e-9).all()


@given(spaces(max_labels=6), st.integers(0, 99))
def test_relaxed_outputs_are_sets_where_pairs_cost_nothing_or_less(space, seed):
    n = len(space.labels_)
    costs = random_costs(space, seed=seed)
    costs[:, n:] = -np.abs(costs[:, n:])
    relaxed = Solving.of(space).argmin_relaxed(costs)
    assert_array_equal(relaxed.outputs, space.embed(relaxed.outputs[:, :n]))
    assert_allclose(relaxed.values, space.argmin(costs).values, atol=1e-9)


@given(spaces(max_labels=6), st.integers(0, 99), st.booleans())
def test_shared_costs_of_pairs_are_those_of_every_row(space, seed, fixed):
    n = len(space.labels_)
    costs = random_costs(space, seed=seed)
    costs[:, n:] = costs[:1, n:]
    if fixed and n > 1:
        space = space.restrict(include=[0], exclude=[n - 1])
    for wide, shared in (
        (space.argmin, Solving.of(space).argmin_shared),
        (Solving.of(space).argmin_relaxed, Solving.of(space).argmin_relaxed_shared),
    ):
        expected, found = wide(costs), shared(costs[:, :n], costs[0, n:])
        assert_array_equal(found.outputs, expected.outputs)
        assert_allclose(found.values, expected.values, atol=1e-12)
        assert_allclose(found.bounds, expected.bounds, atol=1e-12)


def test_shared_costs_of_pairs_on_every_route():
    rng = np.random.default_rng(0)
    for n, scale, sign in ((14, 0.1, 0), (14, 1.0, 0), (14, 1.0, -1), (20, 3.0, 0)):
        space = PairwiseLabels(labels=range(n))
        A, w = rng.standard_normal((5, n)), scale * rng.standard_normal(len(space.edges_))
        w = -np.abs(w) if sign else w
        wide = np.hstack([A, np.repeat(w[None], 5, axis=0)])
        for found, expected in (
            (Solving.of(space).argmin_shared(A, w), space.argmin(wide)),
            (Solving.of(space).argmin_relaxed_shared(A, w), Solving.of(space).argmin_relaxed(wide)),
        ):
            assert_array_equal(found.outputs, expected.outputs)
            assert_allclose(found.values, expected.values)
            assert_allclose(found.bounds, expected.bounds)


def test_pairs_of_no_cost_make_a_forest():
    # Eleven labels, all pairs; those of a path are the only ones that cost something.
    space = PairwiseLabels(labels=range(11))
    costs = random_costs(space)
    apart = space.edges_[:, 1] - space.edges_[:, 0]
    costs[:, 11:][:, apart > 1] = 0.0
    decoded, psi = space.argmin(costs), space.embed(subsets(11))
    assert_allclose(decoded.values, (costs @ psi.T).min(axis=1), atol=1e-9)
    assert_array_equal(decoded.values, decoded.bounds)


def test_exact_when_asked():
    space = PairwiseLabels(labels=range(22))
    costs = 3 * random_costs(space, 2)
    relaxed, loose = Solving.of(space).argmin_relaxed(costs), space.argmin(costs)
    assert (relaxed.outputs[:, :22] == 0.5).sum(axis=1).min() > 18  # all ways are too many
    assert (loose.values - loose.bounds > 0.1).all()
    best = space.set_params(exact=True).argmin(costs)
    assert_allclose(best.values, best.bounds, atol=1e-6)
    assert (best.values <= loose.values + 1e-9).all()
    assert (best.bounds >= loose.bounds - 1e-9).all()


# ------------------------------------------------------------------- labels and graphs
def test_edges_are_sorted_and_count_once():
    space = PairwiseLabels([("c", "a"), ("a", "c"), ("b", "a")], labels="abc")
    assert space.edges_.tolist() == [[0, 1], [0, 2]]
    assert space.edges_.dtype == np.int64
    assert sorted(space.graph_.edges) == [("a", "b"), ("a", "c")]
    assert PairwiseLabels("empty", labels="ab").edges_.shape == (0, 2)
    assert len(PairwiseLabels(labels=range(20)).edges_) == 190


def test_nodes_of_a_graph_join_the_labels():
    graph = nx.Graph([("sea", "beach")])
    graph.add_node("sky")
    space = PairwiseLabels(graph).fit([{"beach", "city"}, {"sky"}])
    assert space.labels_ == ("beach", "city", "sea", "sky")
    assert space.edges_.tolist() == [[0, 2]]
    space = PairwiseLabels(graph, labels=["sky", "city"])
    assert space.labels_ == ("sky", "city", "sea", "beach")
    assert set(space.graph_.nodes) == set(space.labels_)
    frame = pd.DataFrame([[1, 0, 1]], columns=["sky", "beach", "sea"])
    assert PairwiseLabels(graph).fit(frame).edges_.tolist() == [[1, 2]]
    with pytest.raises(ValueError, match=r"graph holds the label 'sea'.*of the 2 known"):
        PairwiseLabels(graph).fit(frame[["sky", "beach"]])


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ([("a", "bb")], r"graph\[0\] holds the label 'bb'.*3 known"),
        ([("a", "b"), ("c", "c")], r"graph\[1\] joins the label 'c' with itself"),
        ([("a", "b", "c")], r"an edge is a pair of labels; graph\[0\] is \('a', 'b', 'c'\)"),
        (["ab"], r"graph\[0\] is 'ab'"),
        ([7], r"graph\[0\] is 7"),
        ([("a", ["b"])], "hashable"),
        ("chain", "'empty', 'full', a list of pairs.*got 'chain'"),
        (7, "a list of pairs of labels.*got 7"),
        (nx.Graph([("a", "a")]), "joins the label 'a' with itself"),
    ],
)
def test_bad_graphs_are_named(graph, message):
    with pytest.raises(ValueError, match=message):
        PairwiseLabels(graph, labels="abc").fit([{"a"}])


def test_labels_are_learned_anew():
    space = PairwiseLabels()
    for ask in (lambda: space.labels_, lambda: space.edges_, lambda: space.guarantee):
        with pytest.raises(NotFittedError, match="call fit, or give labels"):
            ask()
    assert len(space.fit(np.zeros((1, 3), int)).edges_) == 3
    assert space.size() == 8
    assert len(space.fit(np.zeros((1, 15), int)).edges_) == 105
    assert space.size() == 2**15
    assert space.guarantee.kind == "bound only"
    assert space.set_params(graph=[(0, 1)]).guarantee.kind == "exact"
    assert space.edges_.tolist() == [[0, 1]]
    narrowed = space.restrict(include=[3])
    with pytest.raises(ValueError, match=r"shape \(n_samples, 15\), one column per label"):
        narrowed.fit(np.zeros((1, 2), int))


def test_copies_and_parameters():
    space = PairwiseLabels([("a", "b")], labels="abc", exact=True).restrict(include=["a"])
    again = clone(space)
    assert again.get_params() == space.get_params()
    assert again.size() == 4


FORMS = {
    "array": np.array([[1, 0, 1], [0, 0, 0]]),
    "bool": np.array([[True, False, True], [False, False, False]]),
    "sparse": sparse.csr_array(np.array([[1, 0, 1], [0, 0, 0]])),
    "frame": pd.DataFrame([[1, 0, 1], [0, 0, 0]], columns=["x", "y", "z"]),
    "sets": [{"x", "z"}, {"y"}],
    "series": pd.Series([{"x", "z"}, {"y"}], index=["u", "v"]),
}


@pytest.mark.parametrize("format", FORMS)
def test_forms_are_those_of_label_sets(format):
    Y = FORMS[format]
    space, sets = PairwiseLabels().fit(Y), LabelSets().fit(Y)
    assert space.labels_ == sets.labels_
    Z = space.validate(Y)
    assert Z.dtype == np.int8
    assert_array_equal(Z, sets.validate(Y))
    index = getattr(Y, "index", None)
    back, expected = space.restore(Z, index), sets.restore(Z, index)
    assert type(back) is type(expected)
    back, expected = (b.toarray() if sparse.issparse(b) else b for b in (back, expected))
    assert_array_equal(np.asarray(back), np.asarray(expected))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda s: s.argmin(np.zeros((1, 5))), r"costs of shape \(n_samples, 6\); got.*\(1, 5\)"),
        (lambda s: s.argmin(np.full((1, 6), np.nan)), r"costs\[0, 0\] is nan"),
        (lambda s: Solving.of(s).argmin_shared(np.zeros((2, 4)), np.zeros(3)), r"\(n_samples, 3\)"),
        (
            lambda s: Solving.of(s).argmin_shared(np.zeros((2, 3)), np.zeros(2)),
            r"\(pairs\).*\(n_samples, 3\)",
        ),
        (
            lambda s: Solving.of(s).argmin_shared(np.zeros((2, 3)), np.zeros((2, 3))),
            "one cost per pair",
        ),
        (lambda s: Solving.of(s).argmin_relaxed_shared(np.zeros((2, 3)), [0, np.inf, 0]), "inf"),
        (lambda s: s.restrict(include=["d"]), "include holds the label 'd'"),
        (lambda s: Coordinates.of(s).lift(np.zeros((1, 3)), "positions"), "got costs of positions"),
        (lambda s: Coordinates.of(s).lift(np.zeros((1, 4)), "indicators"), r"\(n_samples, 3\)"),
        (lambda s: Embeddings.of(s).view("weights"), "loss of quantities"),
    ],
)
def test_bad_arguments_are_named(ask, message):
    with pytest.raises(ValueError, match=message):
        ask(PairwiseLabels(labels="abc"))


# ------------------------------------------------------------------- other embeddings
@given(spaces(), st.integers(0, 99))
def test_lifted_costs_leave_the_costs_of_sets(space, seed):
    n = len(space.labels_)
    costs = np.random.default_rng(seed).standard_normal((4, n))
    lifted, Z = Coordinates.of(space).lift(costs, "indicators"), subsets(n)
    assert_allclose(lifted @ space.embed(Z).T, costs @ Z.T, atol=1e-9)
    assert_array_equal(space.argmin(lifted).outputs, LabelSets(range(n)).argmin(costs).outputs)
    assert Coordinates.of(space).lift(lifted, space.embedding) is lifted


def test_the_plain_sets():
    space = PairwiseLabels().fit([{"x", "z"}, {"y"}])
    sets = Embeddings.of(space).view("indicators")
    assert isinstance(sets, LabelSets)
    assert Embeddings.of(space).view(space.embedding) is space
    assert list(sets.restore(np.array([[1, 1, 0]]))) == [{"x", "y"}]
    narrowed = Embeddings.of(space.restrict(include=["z"])).view("indicators")
    assert narrowed.argmin(np.ones((1, 3))).outputs.tolist() == [[0, 0, 1]]
    assert Embeddings.of(space).view("sized indicators").embedding == "sized indicators"


def test_conditional_risk_over_pairwise_labels():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    Y = (X @ rng.standard_normal((4, 5)) > 0).astype(int)
    model = ConditionalRiskMinimizer(PairwiseLabels(), "hamming", alpha=0.1).fit(X, Y)
    plain = ConditionalRiskMinimizer(LabelSets(), "hamming", alpha=0.1).fit(X, Y)
    assert_array_equal(model.predict(X), plain.predict(X))
    assert_array_equal(
        model.predict(X, restrict={"include": [0]}), plain.predict(X, restrict={"include": [0]})
    )
    listed = model.predict(X, loss="f1")
    assert_array_equal(listed, plain.predict(X, loss="f1"))
