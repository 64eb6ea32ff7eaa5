# SPDX-License-Identifier: BSD-3-Clause
"""What a row is decoded to depends on that row alone, also where many outputs are equally good."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstruct import ConditionalRiskMinimizer, config_context, losses, spaces
from skstruct.kernels import RBF
from skstruct.spaces import (
    Assignments,
    BinaryPolytope,
    Box,
    Candidates,
    Classes,
    Cliques,
    Cycles,
    Embeddings,
    Flows,
    GraphNodes,
    Graphs,
    Hierarchy,
    Interval,
    KBest,
    Knapsacks,
    LabelSets,
    Matchings,
    Ordinal,
    PairwiseLabels,
    PairwiseStates,
    PartialOrders,
    Polytope,
    Portfolios,
    Poset,
    Rankings,
    Sequences,
    ShortestPaths,
    Simplex,
    SolverSpace,
    Solving,
    SpanningTrees,
    Sphere,
    Strings,
    Tournaments,
)

TREE = [(0, 3), (3, 1), (3, 2), (2, 4)]
RING = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])
CIRCLES = [(i, (3 * i + 1) % 11) for i in range(11) if i != 5] + [(0, 2), (2, 4), (4, 6)]
DIAMOND = [("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t")]
ARCS = {"s": 2.0, "t": -2.0}
FLOWS = np.array([[2.0, 0, 0, 2, 0], [0, 2, 0, 0, 2], [1, 1, 0, 1, 1], [2, 0, 2, 0, 2]])
DAG = [("a", "b"), ("a", "c"), ("c", "d"), ("b", "d"), ("e", "d")]
ONE, TWO = {"include": [0], "exclude": [1]}, {"include": [[1], [], [2]]}
LETTERS, OTHERS = {"include": ["b"], "exclude": ["c"]}, {"exclude": [["b"], [], ["c", "d"]]}
PAIRS, OTHER_PAIRS = {"exclude": [(0, 1)]}, {"include": [[(0, 1)], [], [(1, 2)]]}


# A space, constraints for all rows, and constraints that differ from row to row: three of them.
def _least_first(costs):
    """The first of three with the least cost."""
    chosen = np.zeros(3)
    chosen[int(np.argmin(costs))] = 1.0
    return chosen


CASES = {
    "classes": (Classes().fit(list("abcd")), None, None),
    "candidates": (Candidates(["x", "y", "z"]).fit(["x"]), None, None),
    "graph nodes": (GraphNodes(RING).fit([0, 1]), None, None),
    "label sets": (LabelSets(range(4)), ONE, TWO),
    "label sets of a size": (LabelSets(range(5)), {"min_size": 1, "max_size": 2}, TWO),
    "sized label sets": (Embeddings.of(LabelSets(range(4))).view("sized indicators"), ONE, TWO),
    "three labels and their pairs": (PairwiseLabels("full", range(3)), ONE, TWO),
    "five labels and their pairs": (PairwiseLabels("full", range(5)), ONE, TWO),
    "twelve labels and their pairs": (PairwiseLabels("full", range(12)), ONE, TWO),
    "sixteen labels and their pairs": (PairwiseLabels("full", range(16), exact=True), ONE, TWO),
    "labels on a tree": (PairwiseLabels(TREE, range(5)), ONE, TWO),
    "labels on a ring": (PairwiseLabels([(0, 1), (1, 2), (2, 3), (0, 3)], range(4)), ONE, TWO),
    "eleven labels on circles": (PairwiseLabels(CIRCLES, range(11)), ONE, TWO),
    "states on a tree": (
        PairwiseStates(TREE, "abc", range(5)),
        {"known": {0: "b"}},
        {"known": [{1: "a"}, {}, {2: "c"}]},
    ),
    "cliques": (Cliques(4), ONE, TWO),
    "cliques of eleven": (Cliques(11), ONE, TWO),
    "trees of labels": (
        Hierarchy([("a", "b"), ("a", "c"), ("c", "d"), ("e", "f")]),
        LETTERS,
        OTHERS,
    ),
    "trees of labels, sized": (
        Hierarchy([("a", "b"), ("a", "c"), ("c", "d"), ("e", "f")]),
        {"max_size": 2},
        OTHERS,
    ),
    "labels in a DAG": (Hierarchy(DAG), {"include": ["b"], "exclude": ["d"]}, OTHERS),
    "posets": (
        Poset([("a", "b"), ("a", "c"), ("c", "d"), ("b", "d")]),
        {"exclude": ["d"]},
        {"include": [["b"], [], ["c"]]},
    ),
    "levels": (Ordinal("abcd"), {"exclude": ["b"]}, {"max_level": ["b", "c", "d"]}),
    "rankings by positions": (
        Rankings(range(4), "positions"),
        {"top": 2},
        {"positions": [{0: 1}, {}, {2: 3}]},
    ),
    "rankings by pairs": (
        Rankings(range(4), "pairs"),
        {"before": [(1, 0)]},
        {"positions": [{0: 1}, {}, {2: 3}]},
    ),
    "rankings by ranks": (
        Rankings(range(4), "ranks"),
        {"top": 2},
        {"before": [[(1, 0)], [], [(2, 3)]]},
    ),
    "rankings by pairs, in part": (
        Rankings(range(4), "pairs"),
        None,
        {"before": [[(1, 0)], [], [(2, 3)]], "positions": [{}, {}, {3: 4}]},
    ),
    "sequences": (Sequences("abc", 4), {"known": {0: "b"}}, {"known": [{1: "a"}, {}, {2: "c"}]}),
    "sequences of two lengths": (
        Sequences("ab", (1, 3), "bigrams"),
        {"forbidden": [("a", "a")]},
        {"length": [1, 2, 3]},
    ),
    "strings": (Strings("ab", (1, 4), 2), {"known": {0: "b"}}, {"length": [1, 2, 3]}),
    "cycles": (Cycles(5), {"include": [4]}, {"max_size": [3, 4, 5]}),
    "directed cycles": (Cycles(4, directed=True), {"include": [3]}, {"max_size": [3, 4, 4]}),
    "spanning trees": (SpanningTrees(5), PAIRS, OTHER_PAIRS),
    "matchings": (Matchings(5), PAIRS, OTHER_PAIRS),
    "bipartite matchings": (
        Matchings(3, [10, 11, 12]),
        {"exclude": [(0, 10)]},
        {"include": [[(0, 10)], [], [(1, 12)]]},
    ),
    "tournaments": (Tournaments(4), PAIRS, OTHER_PAIRS),
    "partial orders": (PartialOrders(4), PAIRS, OTHER_PAIRS),
    "graphs": (Graphs(4), PAIRS, OTHER_PAIRS),
    "acyclic graphs": (Graphs(4, directed=True, property="acyclic"), PAIRS, OTHER_PAIRS),
    "bipartite graphs": (Graphs(4, property="bipartite"), PAIRS, OTHER_PAIRS),
    "graphs that are cliques": (Graphs(4, property="clique"), PAIRS, None),
    "paths": (
        ShortestPaths.grid(3, 3),
        {"exclude": [((0, 0), (0, 1))]},
        {"exclude": [[((0, 0), (0, 1))], [], [((1, 1), (1, 2))]]},
    ),
    "knapsacks": (Knapsacks([3, 2, 2, 4], 5), ONE, TWO),
    "assignments": (Assignments(3), {"exclude": [(0, 0)]}, {"include": [[(0, 1)], [], [(2, 2)]]}),
    "portfolios": (
        Portfolios(np.eye(3)),
        {"high": 0.6},
        {"high": [[0.6] * 3, [1.0] * 3, [0.9] * 3]},
    ),
    "a solver's": (SolverSpace(_least_first, labels=range(3), exact=True), None, None),
    "0/1 points of a polytope": (BinaryPolytope(A_ub=[[3, 2, 2, 4]], b_ub=[5]), ONE, TWO),
    "boxes": (
        Box([0, 0, 0], [1, 1, 1]).fit(np.eye(3)),
        {"high": [1, 0.5, 1]},
        {"low": [[0, 0, 0.5], [0.5, 0, 0], [0, 0, 0]]},
    ),
    "intervals": (Interval(0, 1).fit([0.0, 1.0]), {"high": 0.5}, {"low": [0, 0.25, 0.5]}),
    "histograms": (Simplex().fit(np.eye(3)), None, None),
    "directions": (Sphere().fit(np.eye(3)), None, None),
    "polytopes": (
        Polytope(A_ub=[[1, -1, 0], [0, 1, -1]], b_ub=[0, 0], bounds=(0, 1)).fit([[0, 0, 1.0]]),
        {"b_ub": [0, 0.5]},
        {"b_ub": [[0, 0.5], [0, 0], [0.25, 0]]},
    ),
    "flows": (
        Flows(DIAMOND, ARCS).fit(FLOWS),
        {"supply": {"s": 1, "t": -1}},
        {"supply": np.outer([1, 2, 0], [1, 0, 0, -1.0])},
    ),
}
# Spaces that settle ties by index: of sets that cost the same the one without the highest label
# in which they differ.
BY_INDEX = {
    "label sets",
    "label sets of a size",
    "three labels and their pairs",
    "five labels and their pairs",
    "labels on a tree",
    "labels on a ring",
    "cliques",
    "trees of labels",
    "labels in a DAG",
    "posets",
    "levels",
    "spanning trees",
    "graphs",
}
LISTED_BY_INDEX = BY_INDEX - {"spanning trees", "graphs", "posets", "levels"}
N_ROWS = 25


def width(space):
    """The number of costs of a row."""
    for d in range(1, 200):
        try:
            space.argmin(np.zeros((1, d)))
        except ValueError:
            continue
        return d
    raise AssertionError("no costs fit")


def costs_with_ties(rng, n, d):
    """Small whole numbers, of which some are zero in all rows: solvers look at that."""
    costs = rng.integers(-2, 3, (n, d)) * (rng.random((n, d)) < rng.choice([0.3, 0.7, 1.0]))
    return (costs * (rng.random(d) < 0.9)).astype(float)


def check_rows(space, costs, order, ask):
    """A row by itself, under its own constraints, is answered as in the batch in any order."""
    together, moved = ask(space, costs), ask(space.rows(order), costs[order])
    back = np.argsort(order)
    for i in range(len(costs)):
        alone = ask(space.rows([i]), costs[[i]])
        for found, at in ((together, i), (moved, back[i])):
            outputs, values = found.outputs[at], found.values[at]
            if np.ndim(values):  # k best: ranks that a row has not are left off when alone
                outputs, values = outputs[: alone.values.shape[1]], values[: alone.values.shape[1]]
            np.testing.assert_array_equal(outputs, alone.outputs[0])
            np.testing.assert_array_equal(values, alone.values[0])


@pytest.mark.slow
@pytest.mark.parametrize("constraints", ["none", "for all rows", "by row"])
@pytest.mark.parametrize("name", CASES)
def test_a_row_is_decoded_alone_as_in_any_batch(name, constraints):
    space, common, by_row = CASES[name]
    chosen = {"none": {}, "for all rows": common, "by row": by_row}[constraints]
    if chosen is None:
        pytest.skip("no such constraints")
    rng = np.random.default_rng(7)
    d = width(space)
    for n in (2, 5, N_ROWS, 40):
        costs = costs_with_ties(rng, n, d)
        if constraints == "by row":
            here = {key: [value[i % 3] for i in range(n)] for key, value in chosen.items()}
        else:
            here = chosen
        narrow = space.restrict(**here) if here else space
        order = rng.permutation(n)
        check_rows(narrow, costs, order, lambda part, c: part.argmin(c))
        if isinstance(narrow, KBest) and n <= 5:
            check_rows(narrow, costs, order, lambda part, c: part.kbest(c, 3))


def test_every_space_is_a_case():
    public = {
        kind
        for name in spaces.__all__
        if isinstance(kind := getattr(spaces, name), type) and issubclass(kind, spaces.BaseSpace)
    }
    tried = {type(getattr(space, "space", space)) for space, _, _ in CASES.values()}
    assert public - {spaces.BaseSpace} == tried


def by_index(space, costs, k):
    """The k best sets from the list of all, by value and then by the highest label that differs."""
    sets = space.enumerate()
    psi = space.embed(sets)
    totals = costs @ (psi.toarray() if hasattr(psi, "toarray") else psi).T
    first = np.lexsort(sets.T)  # the last column is the first key
    best = [first[np.argsort(row[first], kind="stable")][:k] for row in totals]
    return sets[np.array(best)]


@pytest.mark.slow
@pytest.mark.parametrize("constraints", ["none", "for all rows"])
@pytest.mark.parametrize("name", sorted(BY_INDEX))
def test_ties_are_settled_by_index(name, constraints):
    space, common, _ = CASES[name]
    space = space if constraints == "none" else space.restrict(**common)
    costs = costs_with_ties(np.random.default_rng(3), 200, width(space))
    np.testing.assert_array_equal(space.argmin(costs).outputs, by_index(space, costs, 1)[:, 0])
    if name in LISTED_BY_INDEX:
        expected = by_index(space, costs[:40], min(4, space.size()))
        np.testing.assert_array_equal(space.kbest(costs[:40], 4).outputs, expected)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_labels_and_pairs_on_any_graph_are_settled_by_index(n, seed):
    """All sets of up to nine labels, forests of more: against the list of all."""
    rng = np.random.default_rng(seed)
    edges = [(i, j) for j in range(n) for i in range(j) if rng.random() < rng.choice([0.2, 0.6])]
    space = PairwiseLabels(edges, range(n))
    costs = costs_with_ties(rng, 20, n + len(edges))
    np.testing.assert_array_equal(space.argmin(costs).outputs, by_index(space, costs, 1)[:, 0])


@settings(max_examples=30, deadline=None)
@given(st.integers(10, 13), st.integers(0, 2**32 - 1))
def test_forests_of_more_labels_are_settled_by_index(n, seed):
    rng = np.random.default_rng(seed)
    names = rng.permutation(n)
    edges = [(names[i], names[rng.integers(i)]) for i in range(1, n) if rng.random() < 0.9]
    space = PairwiseLabels(edges, range(n))
    costs = costs_with_ties(rng, 20, n + len(edges))
    np.testing.assert_array_equal(space.argmin(costs).outputs, by_index(space, costs, 1)[:, 0])


def test_forests_of_many_words_of_labels():
    """Two hundred labels, three of them at a time as good as one another."""
    n = 201
    triples = np.arange(n).reshape(3, -1).T  # i, 67 + i, 134 + i
    edges = np.vstack([triples[:, [0, 1]], triples[:, [1, 2]]])
    space = PairwiseLabels(edges, range(n))
    costs = np.hstack([np.full((1, n), -1.0), np.full((1, len(space.edges_)), 1.0)])
    # Of a path of three the ends pay -2, one alone -1; the middle with both ends -1 too.
    expected = np.ones(n)
    expected[triples[:, 1]] = 0
    np.testing.assert_array_equal(space.argmin(costs).outputs[0], expected)
    costs[:, n:] = 2.0  # either end, or the middle, or both ends: two ends pay most
    np.testing.assert_array_equal(space.argmin(costs).outputs[0], expected)
    costs[:, triples[:, 0]] = 0.0  # the middle or the last: the lower index
    np.testing.assert_array_equal(
        space.argmin(costs).outputs[0], np.isin(np.arange(n), triples[:, 1])
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["three labels and their pairs", "eleven labels on circles", "twelve labels and their pairs"],
)
def test_relaxed_and_shared_costs(name):
    space = CASES[name][0]
    rng = np.random.default_rng(1)
    n = len(space.labels_)
    for _ in range(10):
        costs = costs_with_ties(rng, N_ROWS, width(space))
        order = rng.permutation(N_ROWS)
        check_rows(space, costs, order, lambda part, c: Solving.of(part).argmin_relaxed(c))
        pairs = costs[0, n:]
        check_rows(
            space,
            costs,
            order,
            lambda part, c, w=pairs: Solving.of(part).argmin_shared(c[:, :n], w),
        )


QUANTITIES = {
    "box": (CASES["boxes"][0], np.random.default_rng(0).choice([0, 0.25, 0.5, 1], (8, 3))),
    "simplex": (CASES["histograms"][0], np.random.default_rng(0).dirichlet(np.ones(3), 8).round(1)),
    "polytope": (
        CASES["polytopes"][0],
        np.sort(np.random.default_rng(0).choice([0, 0.25, 0.5, 1], (8, 3)), axis=1),
    ),
    "flows": (CASES["flows"][0], np.tile(FLOWS, (2, 1))),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "loss",
    [losses.Absolute(), losses.Pinball(0.75), losses.EpsilonInsensitive(0.25), losses.Huber(0.25)],
)
@pytest.mark.parametrize("name", QUANTITIES)
def test_quantities_of_a_row_do_not_depend_on_the_batch(name, loss):
    space, outputs = QUANTITIES[name]
    rng = np.random.default_rng(5)
    for k in range(4):
        weights = rng.integers(-2, 3, (9, len(outputs))).astype(float)
        weights = np.abs(weights) if k % 2 else weights
        order = rng.permutation(9)
        together = loss.minimize(weights, outputs, space)
        moved = loss.minimize(weights[order], outputs, space)
        for i in range(9):
            alone = loss.minimize(weights[[i]], outputs, space).outputs[0]
            np.testing.assert_allclose(together.outputs[i], alone, atol=1e-9)
            np.testing.assert_allclose(moved.outputs[np.argsort(order)[i]], alone, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("space", "loss"),
    [
        (PairwiseLabels("full", range(4)), losses.Hamming()),
        (PairwiseLabels(CIRCLES, range(11)), losses.Hamming()),
        (Cliques(4), losses.Hamming()),
        (Cliques(11), losses.Hamming()),
        (Flows(DIAMOND, ARCS), losses.Absolute()),
    ],
)
def test_learners_in_blocks_and_on_threads(space, loss):
    """Predictions of equal numbers of neighbors tie all the time."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (60, 2)).astype(float)
    Y = FLOWS[rng.integers(0, 4, 60)] if isinstance(space, Flows) else space.sample(60, rng)
    model = ConditionalRiskMinimizer(space, loss, alpha=0.1, kernel=RBF(0.5)).fit(X, Y)
    expected = model.predict(X)
    for i in range(0, 60, 7):
        np.testing.assert_array_equal(model.predict(X[[i]])[0], expected[i])
    for memory, n_jobs in (("6KB", None), ("6KB", 2), ("1GB", 2)):
        with config_context(memory=memory):
            np.testing.assert_array_equal(model.set_params(n_jobs=n_jobs).predict(X), expected)
