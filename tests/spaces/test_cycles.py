# SPDX-License-Identifier: BSD-3-Clause
"""Cycles against the list of all of them, straight from the definition."""

import math
from itertools import combinations, pairwise, permutations, product

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import clone

from skstruct import ConditionalRiskMinimizer
from skstruct.exceptions import InfeasibleError, UndecidableError
from skstruct.learners import StructuredSVM
from skstruct.spaces.graphs.cycle_counts import CycleCounts
from skstruct.spaces.graphs.cycles import Cycles
from skstruct.testing import check_space

KINDS = [(True, "signed pairs"), (True, "indicators"), (False, "indicators")]


def all_tours(n, directed):
    """Every cycle once, as places from the smallest on."""
    return [
        (places[0], *rest)
        for i in range(3, n + 1)
        for places in combinations(range(n), i)
        for rest in permutations(places[1:])
        if directed or rest[0] < rest[-1]
    ]


def steps(tour):
    return list(zip(tour, tour[1:] + tour[:1]))


def columns(n, directed):
    pairs = [(u, v) for u, v in product(range(n), repeat=2) if (u != v if directed else u < v)]
    number = {pair: j for j, pair in enumerate(pairs)}
    return number if directed else number | {(v, u): j for (u, v), j in number.items()}


def indicators(tours, n, directed):
    number = columns(n, directed)
    Z = np.zeros((len(tours), max(number.values()) + 1), np.int8)
    for i, tour in enumerate(tours):
        Z[i, [number[step] for step in steps(tour)]] = 1
    return Z


# ----------------------------------------------------------------- the whole space
@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize(("directed", "embedding"), KINDS)
def test_all_cycles(n, directed, embedding):
    check_space(Cycles(n, directed, embedding), indicators(all_tours(n, directed), n, directed))


@pytest.mark.parametrize("n", [3, 4])
@pytest.mark.parametrize("directed", [True, False])
def test_only_cycles_are_members(n, directed):
    space = Cycles(n, directed)
    rows = np.array(list(product((0, 1), repeat=len(space.edges_))), np.int8)
    members = {tuple(z) for z in indicators(all_tours(n, directed), n, directed).tolist()}
    expected = [tuple(row) in members for row in rows.tolist()]
    assert_array_equal(space.contains(rows), expected)
    assert [not space._why_not(row) for row in rows] == expected


@pytest.mark.parametrize("n", range(3, 8))
def test_moments_are_those_of_the_list(n):
    for sizes in ((3, n), (4, 5), (n, n)):
        tours = [t for t in all_tours(n, True) if sizes[0] <= len(t) <= sizes[1]]
        if not tours:
            continue
        for directed, embedding in KINDS:
            space = Cycles(n, directed, embedding).restrict(min_size=sizes[0], max_size=sizes[1])
            psi = space.embed(indicators(tours, n, directed))
            assert space.size() * (1 if directed else 2) == len(tours)
            assert_allclose(space.mean_embedding(), psi.mean(axis=0), atol=1e-12)
            expected = np.cov(psi.T, bias=True)
            covariance = space.covariance()
            assert_allclose(covariance.dense(), expected, atol=1e-12)
            assert (covariance.eigenvalues >= 0).all()
            V = np.random.default_rng(n).standard_normal((3, psi.shape[1]))
            parts = covariance.parts(V)
            assert_allclose(sum(parts), V, atol=1e-12)
            for part, value in zip(parts, covariance.eigenvalues):
                assert_allclose(part @ expected, value * part, atol=1e-12)


def test_known_counts():
    # Counted by hand; sums that start at two places would give 2.5, 10, 42, 204.5.
    assert [Cycles(n, False).size() for n in range(3, 7)] == [1, 7, 37, 197]
    assert [Cycles(n).size() for n in range(3, 7)] == [2, 14, 74, 394]
    counts = CycleCounts.of(9)
    assert counts.through == (9 - 2) * counts.consecutive


@pytest.mark.parametrize(("directed", "embedding"), KINDS)
def test_two_hundred_places(directed, embedding):
    space = Cycles(200, directed, embedding)
    exact = sum(math.comb(200, i) * math.factorial(i - 1) for i in range(3, 201))
    assert space.size() == exact // (1 if directed else 2)
    assert_allclose(space.log_size(), math.log(space.size()))
    Z = space.sample(50, 0)
    psi, mean, covariance = space.embed(Z), space.mean_embedding(), space.covariance()
    assert space.contains(Z).all()
    assert mean.shape == (covariance.d,) == (psi.shape[1],)
    # Cycles have almost 200 places: the mean of <1, psi> and its spread are known well.
    expected = 0.0 if embedding == "signed pairs" else Z.sum(axis=1).mean()
    assert_allclose(mean.sum(), expected, atol=0.5)
    assert covariance.apply(psi[:2]).shape == (2, covariance.d)
    with pytest.raises(UndecidableError, match=r"about 10\*\*37"):
        space.enumerate()


def test_the_sampler_is_uniform():
    """Chi-square test at level 1e-3 in each case, all with the same seed."""
    for directed, limits in (
        (True, {}),
        (False, {}),
        (True, {"include": [1, 2], "exclude": [0]}),
        (False, {"min_size": 4, "include": [3]}),
    ):
        space = Cycles(5, directed).restrict(**limits)
        listed = [tuple(z) for z in space.enumerate().tolist()]
        number = {z: i for i, z in enumerate(listed)}
        drawn = [number[tuple(z)] for z in space.sample(100 * len(listed), 7).tolist()]
        counts = np.bincount(drawn, minlength=len(listed))
        assert stats.chisquare(counts).pvalue > 1e-3


# ----------------------------------------------------------------- limits
@st.composite
def narrowed(draw):
    """A number of places, limits on cycles through them, and the test they stand for."""
    n, directed = draw(st.integers(3, 5)), draw(st.booleans())
    place = st.integers(0, n - 1)
    arc = st.tuples(place, place).filter(lambda pair: pair[0] != pair[1])
    few = {"max_size": 2}
    limits = {
        "include": draw(st.lists(place, **few)),
        "exclude": draw(st.lists(place, max_size=1)),
        "min_size": draw(st.sampled_from([None, None, 4])),
        "max_size": draw(st.sampled_from([None, None, 3, 4])),
        "include_edges": draw(st.lists(arc, max_size=3)),
        "exclude_edges": draw(st.lists(arc, **few)),
    }
    return n, directed, limits


def obeys(tour, directed, limits):
    used = set(steps(tour)) | (set() if directed else {(v, u) for u, v in steps(tour)})
    return (
        set(limits["include"]) <= set(tour)
        and not set(limits["exclude"]) & set(tour)
        and (limits["min_size"] or 3) <= len(tour) <= (limits["max_size"] or 99)
        and set(limits["include_edges"]) <= used
        and not set(limits["exclude_edges"]) & used
    )


@settings(max_examples=60, deadline=None)
@given(narrowed(), st.booleans())
def test_limits_against_the_list(case, signed):
    n, directed, limits = case
    space = Cycles(n, directed, "signed pairs" if signed and directed else "indicators")
    space = space.restrict(**limits)
    kept = [tour for tour in all_tours(n, directed) if obeys(tour, directed, limits)]
    if kept:
        check_space(space, indicators(kept, n, directed), n_costs=5, n_draws=500)
        return
    assert space.size() == 0
    assert space.log_size() == -np.inf
    assert space.enumerate().shape == (0, len(space.edges_))
    costs = np.zeros((1, space.embed(space.enumerate()).shape[1]))
    for call in (lambda: space.argmin(costs), lambda: space.kbest(costs, 2),
                 lambda: space.sample(1, 0), space.mean_embedding, space.covariance):  # fmt: skip
        with pytest.raises(InfeasibleError):
            call()


@pytest.mark.parametrize(("directed", "embedding"), KINDS)
def test_limits_row_by_row(directed, embedding):
    names = list("abcde")
    space = Cycles(names, directed, embedding)
    costs = np.random.default_rng(0).standard_normal((2, len(space.mean_embedding())))
    rows = [
        {"include": ["a"], "exclude": ["b"], "max_size": 3, "exclude_edges": [("a", "c")]},
        {"include": ["c", "d"], "exclude": [], "max_size": 5, "include_edges": [("e", "b")]},
    ]
    by_row = space.restrict(
        include=[["a"], ["c", "d"]], exclude=[["b"], []], max_size=[3, 5],
        include_edges=[[], [("e", "b")]], exclude_edges=[[("a", "c")], []],
    )  # fmt: skip
    outputs = by_row.argmin(costs).outputs
    listed = by_row.kbest(costs, 3)
    for i, limits in enumerate(rows):
        one = space.restrict(**limits)
        assert_array_equal(outputs[i : i + 1], one.argmin(costs[i : i + 1]).outputs)
        assert_array_equal(by_row.rows([i]).argmin(costs[i : i + 1]).outputs, outputs[i : i + 1])
        values = listed.values[i, : one.size()]
        assert_allclose(values, one.kbest(costs[i : i + 1], 3).values[0])
    assert by_row.contains(outputs).all()
    assert not by_row.contains(outputs[::-1]).any()
    with pytest.raises(ValueError, match="row by row for 2 rows; 1 came"):
        by_row.argmin(costs[:1])
    with pytest.raises(ValueError, match="differs from row to row"):
        by_row.size()
    with pytest.raises(ValueError, match="different numbers of rows"):
        by_row.restrict(max_size=[3, 3, 3])


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"include": ["x"]}, "'x'"),
        ({"include": "abc"}, "a list of labels"),
        ({"min_size": -1}, "min_size is a whole number"),
        ({"max_size": [3, 2.5]}, "max_size is a whole number"),
        ({"include_edges": [("a", "x")]}, "'x'"),
        ({"exclude_edges": [("a", "a")]}, "self-loop"),
    ],
)
def test_bad_limits(limits, message):
    with pytest.raises(ValueError, match=message):
        Cycles(["a", "b", "c"]).restrict(**limits)


def test_limits_of_other_places():
    limits = Cycles(4).restrict(include=[0]).limits
    with pytest.raises(ValueError, match="between 4 places; there are 20 between 5"):
        Cycles(5, limits=limits).size()
    assert "1 places known in" in repr(limits)
    assert "3 to 4 of 5 places" in repr(Cycles(5).restrict(max_size=4).limits)


def test_what_cannot_be_listed_says_how_many():
    space = Cycles(12).restrict(include=[3])
    assert space.size() == sum(math.perm(11, i - 1) for i in range(3, 13))
    with pytest.raises(UndecidableError, match=f"{space.size():,} cycles"):
        space.mean_embedding()
    with pytest.raises(UndecidableError, match="more than 10,000"):
        Cycles(12).restrict(exclude_edges=[(0, 1)]).enumerate(10_000)


@given(st.integers(0, 10**6), st.sampled_from([4, 5, 6]))
def test_a_path_is_a_cycle_with_a_known_arc(seed, n):
    costs = np.random.default_rng(seed).standard_normal((n, n))
    inner = range(1, n - 1)
    paths = [(0, *way, n - 1) for i in range(1, n - 1) for way in permutations(inner, i)]
    best = min(sum(costs[u, v] for u, v in pairwise(path)) for path in paths)
    costs[n - 1, 0] = 0.0
    space = Cycles(n, embedding="indicators").restrict(include_edges=[(n - 1, 0)])
    decoded = space.argmin(costs[~np.eye(n, dtype=bool)][None])
    assert_allclose(decoded.values, best)
    assert space.tours(decoded.outputs)[0, 0] == 0


# ----------------------------------------------------------------- many places
@pytest.mark.parametrize(("directed", "embedding"), KINDS)
def test_many_places_have_a_certificate(directed, embedding):
    n = 20
    space = Cycles(n, directed, embedding)
    costs = np.random.default_rng(1).standard_normal((2, len(space.mean_embedding())))
    decoded = space.argmin(costs)
    assert space.contains(decoded.outputs).all()
    assert_allclose((costs * space.embed(decoded.outputs)).sum(axis=1), decoded.values)
    assert (decoded.bounds <= decoded.values).all()
    proof = Cycles(n, directed, embedding, prove=True)
    best = proof.argmin(costs)
    assert_allclose(best.values, best.bounds, atol=1e-6)
    assert (best.values <= decoded.values + 1e-9).all()
    assert (decoded.bounds <= best.values + 1e-6).all()
    if embedding == "signed pairs":  # the worst cycle is the reverse of the best
        assert space.guarantee.ratio == 0.5 + 0.5 / 6
        reached = (-best.values - decoded.values) / (-2 * best.values)
        assert (reached >= space.guarantee.ratio).all()
        assert_allclose(space.embed(space.sibling(best.outputs)), -space.embed(best.outputs))
    else:
        assert space.guarantee.kind == "bound only"
    assert space.restrict(include=[1]).guarantee.kind == "bound only"
    assert space.restrict(exclude=range(4)).guarantee.kind == "exact"
    with pytest.raises(ValueError, match="up to 16 places; there are 20"):
        space.kbest(costs, 2)


@pytest.mark.parametrize(("directed", "embedding"), KINDS)
def test_limits_on_many_places(directed, embedding):
    space = Cycles(20, directed, embedding)
    costs = np.random.default_rng(2).standard_normal((2, len(space.mean_embedding())))
    space = space.restrict(
        include=[0], exclude=[1], include_edges=[(2, 3), (3, 4), (8, 6)],
        exclude_edges=[(5, 6)], max_size=9,
    )  # fmt: skip
    decoded = space.argmin(costs)
    assert space.contains(decoded.outputs).all()
    assert (decoded.bounds <= decoded.values).all()
    assert_allclose((costs * space.embed(decoded.outputs)).sum(axis=1), decoded.values)
    impossible = space.restrict(include_edges=[(2, 5), (2, 7)])  # a place with three edges
    with pytest.raises(InfeasibleError, match="row 0"):
        impossible.argmin(costs)


# ----------------------------------------------------------------- embeddings
@given(st.integers(3, 6), st.integers(0, 10**6))
def test_signed_pairs_do_not_see_places(n, seed):
    """Costs p_u - p_v of going from u to v are zero for every cycle."""
    space = Cycles(n)
    worth = np.random.default_rng(seed).standard_normal(n)
    u, v = np.triu_indices(n, 1)
    assert_allclose(space.embed(space.enumerate()) @ (worth[u] - worth[v]), 0, atol=1e-12)


def test_lift():
    space = Cycles(5)
    view, Z = space.with_embedding("indicators"), space.enumerate()
    costs = np.random.default_rng(0).standard_normal((4, 10))
    lifted = view.lift(costs, "signed pairs")
    assert_allclose(lifted @ view.embed(Z).T, costs @ space.embed(Z).T, atol=1e-12)
    assert_array_equal(view.argmin(lifted).outputs, space.argmin(costs).outputs)
    assert view.with_embedding("signed pairs").embedding == "signed pairs"
    for narrow, name in ((space, "indicators"), (Cycles(5, False), "signed pairs")):
        with pytest.raises(ValueError, match=name):
            narrow.lift(np.zeros((1, 20)), name)
    with pytest.raises(ValueError, match=r"shape \(n_samples, 10\)"):
        view.lift(np.zeros((1, 20)), "signed pairs")
    with pytest.raises(ValueError, match="asks for signed pairs"):
        Cycles(5, False).with_embedding("signed pairs")


def test_siblings_are_reversed():
    space = Cycles(list("abc")).fit([["a", "b", "c"]])
    Z = space.validate([["a", "b", "c"]])
    assert space.restore(space.sibling(Z))[0] == ["a", "c", "b"]
    with pytest.raises(ValueError, match="only signed pairs"):
        space.with_embedding("indicators").sibling(Z)


def test_parameters():
    assert Cycles().embedding == "signed pairs"
    assert clone(Cycles()).set_params(directed=False).embedding == "indicators"
    space = Cycles(4, embedding="indicators").restrict(include=[2])
    assert clone(space).size() == space.size()
    assert clone(space).get_params()["embedding"] == "indicators"
    with pytest.raises(ValueError, match="of directed cycles"):
        Cycles(4, False, "signed pairs").argmin(np.zeros((1, 6)))
    with pytest.raises(ValueError, match="'pairs' came"):
        Cycles(4, embedding="pairs").fit([[0, 1, 2]])
    with pytest.raises(ValueError, match="at least 3 places; there are 2"):
        Cycles(["a", "b"]).size()
    grown = Cycles(4)
    assert (grown.size(), grown.set_params(nodes=5).size()) == (14, 74)


# ----------------------------------------------------------------- the user's forms
TOURS = [["d", "b", "a"], ["c", "a", "b", "d"]]


def written(tours, how):
    return [how(steps(tour)) for tour in tours]


def test_lists_of_places_come_back_from_the_first_on():
    space = Cycles().fit(TOURS)
    assert space.nodes_ == tuple("abcd")
    Z = space.validate(TOURS)
    assert space.restore(Z).tolist() == [["a", "d", "b"], ["a", "b", "d", "c"]]
    assert_array_equal(space.tours(Z), [[0, 3, 1, -1], [0, 1, 3, 2]])
    both_ways = Cycles(directed=False).fit([tuple(tour) for tour in TOURS])
    Z = both_ways.validate(TOURS)
    assert both_ways.restore(Z).tolist() == [("a", "b", "d"), ("a", "b", "d", "c")]
    assert_array_equal(Z, both_ways.validate([tour[::-1] for tour in TOURS]))
    ordered = Cycles(list("dcba")).fit(TOURS)
    assert ordered.restore(ordered.validate(TOURS))[0] == ["d", "b", "a"]


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("how", [set, frozenset, list, tuple, "networkx", "array", "adjacency"])
def test_edges_come_back_as_edges(directed, how):
    space = Cycles(list("abcd"), directed)
    Z = space.validate(TOURS)
    kind = nx.DiGraph if directed else nx.Graph
    if how == "array":
        Y = Z.astype(np.float32)
    elif how == "adjacency":
        graphs = [kind(steps(tour)) for tour in TOURS]
        Y = np.array([nx.to_numpy_array(g, nodelist="abcd", dtype=int) for g in graphs[1:]])
        Z = Z[1:]
    else:
        Y = written(TOURS, kind if how == "networkx" else how)
    space.fit(Y)
    assert_array_equal(space.validate(Y), Z)
    back = space.restore(Z)
    assert_array_equal(space.validate(back), Z)
    expected = kind if how == "networkx" else np.ndarray if how in ("array", "adjacency") else how
    assert isinstance(back[0], expected)
    if how == "array":
        assert back.dtype == np.float32


def test_numbers_are_places_or_indicators():
    space = Cycles().fit([[0, 2, 1], [1, 3, 2]])
    assert space.nodes_ == (0, 1, 2, 3)
    assert space.restore(space.validate(np.array([[2, 0, 3]])))[0] == [0, 3, 2]
    row = [1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0]  # (0, 1), (1, 3) and (3, 0)
    assert space.tours(space.validate([row])).tolist() == [[0, 1, 3, -1]]
    assert_array_equal(space.validate([[0, 1, 2]]), space.validate([[1, 2, 0]]))
    triple = Cycles(3, False).fit([[1, 1, 1]])  # as many edges as places
    assert_array_equal(triple.validate([[0, 1, 2]]), [[1, 1, 1]])


def test_places_may_be_pairs():
    grid = [(0, 0), (0, 1), (1, 0), (1, 1)]
    space = Cycles(grid).fit([[(0, 0), (1, 1), (0, 1)]])
    assert space.restore(space.validate([[(1, 1), (1, 0), (0, 1)]]))[0] == [(0, 1), (1, 1), (1, 0)]
    edges = [[((0, 0), (0, 1)), ((0, 1), (1, 1)), ((1, 1), (0, 0))]]
    assert space.tours(space.validate(edges))[0].tolist() == [0, 1, 3, -1]


def test_series_come_back_with_name_and_index():
    series = pd.Series(TOURS, index=["x", "y"], name="tour")
    space = Cycles().fit(series)
    back = space.restore(space.validate(series), index=series.index)
    assert back.name == "tour"
    assert back.to_dict() == {"x": ["a", "d", "b"], "y": ["a", "b", "d", "c"]}


@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([["a", "b", "c"], ["a", "b", "d", "b"]], r"Y\[1\] visits 'b' twice"),
        ([["a", "b", "c", "a"]], r"Y\[0\] ends at 'a', where it starts"),
        ([["a", "b"]], r"Y\[0\] visits 2 places; a cycle has at least 3"),
        ([["a", "b", "c"], []], r"Y\[1\] visits 0 places"),
        ([["a", "b", "k"]], r"Y\[0\] holds the place 'k'"),
        ([["a", "b", "c"], "abc"], r"Y\[1\] is 'abc'"),
        ([{"a", "b", "c"}], "no order of travel"),
        ([[("a", "b"), ("b", "a")]], "back and forth between 'a', 'b'"),
        ([[("a", "b"), ("b", "c")]], "comes to 'a' never and leaves it once"),
        ([[("a", "b"), ("b", "c"), ("c", "a"), ("a", "d")]], "leaves it twice"),
        ([np.zeros(30)], "has no arcs"),
        ([[("a", "b"), ("b", "c"), ("c", "a"), ("d", "e"), ("e", "f"), ("f", "d")]],
         r"Y\[0\] is more than one cycle; one of them visits 'a', 'b', 'c'"),
        ([[("a", "k"), ("k", "b"), ("b", "a")]], "'k'"),
    ],
)  # fmt: skip
def test_what_is_no_cycle_says_why(Y, message):
    with pytest.raises(ValueError, match=message):
        Cycles(list("abcdef")).validate(Y)


def test_what_is_no_undirected_cycle_says_why():
    space = Cycles(list("abcd"), directed=False)
    star = [[("a", "b"), ("a", "c"), ("a", "d"), ("b", "c")]]
    with pytest.raises(ValueError, match="has 3 edges at 'a'; a cycle has two"):
        space.validate(star)
    with pytest.raises(ValueError, match="has one edge at 'a'"):
        space.fit([[("a", "b")]])


# ----------------------------------------------------------------- learners
@pytest.mark.parametrize("loss", ["hamming", "zero_one"])
def test_margins_of_directions_with_a_loss_of_arcs(loss):
    rng = np.random.default_rng(0)
    X, W = rng.standard_normal((40, 3)), rng.standard_normal((3, 10))
    space = Cycles(5)
    Y = space.argmin(X @ W).outputs
    model = StructuredSVM(Cycles(5), loss=loss, lam=0.001).fit(X, Y)
    # Always predicting the most frequent cycle would be wrong in most rows.
    assert (model.predict(X) == Y).all(axis=1).mean() > 0.8


def test_predictions_within_limits():
    rng = np.random.default_rng(3)
    X, names = rng.standard_normal((30, 2)), list("abcde")
    space = Cycles(names)
    tours = space.tours(space.sample(30, 0))
    Y = [[names[place] for place in tour if place >= 0] for tour in tours]
    model = ConditionalRiskMinimizer(Cycles(names), alpha=0.1).fit(X, Y)
    found = model.predict(X[:2], restrict={"include": [["b"], ["c", "d"]], "max_size": [3, 4]})
    assert "b" in found[0]
    assert {"c", "d"} <= set(found[1])
    assert len(found[0]) == 3
    assert len(found[1]) <= 4
    assert found[0][0] == min(found[0])


@pytest.mark.parametrize("directed", [True, False])
def test_lists_of_adjacency_arrays(directed):
    space = Cycles(list("abcd"), directed=directed)
    Z = space.enumerate()[:3]
    arrays = Cycles(4, directed=directed).fit(np.zeros((1, 4, 4), int) + cyclic(directed))
    arrays = arrays.restore(Z)
    for Y in (list(arrays), arrays.tolist(), [array.tolist() for array in arrays]):
        for fitted in (clone(space).fit(Y), Cycles(directed=directed).fit(Y)):
            assert_array_equal(fitted.validate(Y), Z)
            assert_array_equal(fitted.restore(Z), arrays)


def cyclic(directed):
    """The adjacency array of a tour through four places."""
    there = np.roll(np.eye(4, dtype=int), 1, axis=1)
    return there if directed else there | there.T


def test_places_that_are_pairs():
    squares = [(0, 0), (0, 1), (1, 1)]
    with pytest.raises(ValueError, match="If places are pairs themselves, give nodes"):
        Cycles().fit([squares])
    with pytest.raises(ValueError, match=r"at least 3 places; there are 2\.$"):
        Cycles(2).size()
    space = Cycles([*squares, (1, 0)]).fit([squares])
    assert space.restore(space.validate([squares]))[0] == squares


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize(
    ("Y", "message"),
    [
        ([None, ["a", "b", "c"]], r"in order of travel in each row; Y\[0\] is None"),
        ([["a", "b", "c"], 5], r"in order of travel in each row; Y\[1\] is 5"),
        ([["a", "b", "c"], "abc"], r"in order of travel in each row; Y\[1\] is 'abc'"),
        ([[1, 0, 1], [[1], 0, 1]], "a place must be hashable"),
        ([[1, 0, 1], None], r"Y\[1\] is None"),
        (None, "expects a list of graphs, one per sample; None came"),
        (5, "expects a list of graphs, one per sample; 5 came"),
    ],
)
def test_what_is_no_list_of_tours(Y, message, directed):
    with pytest.raises(ValueError, match=message):
        Cycles(directed=directed).fit(Y)


def test_rows_that_are_missing_where_places_are_numbers():
    for Y, row in (([None, [0, 1, 2]], 0), ([[0, 1, 2], None], 1), ([[0, 1, 1], None], 1)):
        with pytest.raises(ValueError, match=rf"Y\[{row}\] is None"):
            Cycles(4).fit(Y)


@pytest.mark.parametrize("argument", ["min_size", "max_size"])
def test_sizes_of_no_row(argument):
    with pytest.raises(ValueError, match=f"{argument} is a number of places, or one per row"):
        Cycles(4).restrict(**{argument: []})


@pytest.mark.parametrize("ask", ["mean_embedding", "covariance", "second_moment"])
def test_moments_of_embeddings_that_are_wrong(ask):
    with pytest.raises(ValueError, match="signed pairs are of directed cycles"):
        getattr(Cycles(4, directed=False, embedding="signed pairs"), ask)()
    for limits in ({}, {"include": [0]}):
        with pytest.raises(ValueError, match="embedding is 'signed pairs' or 'indicators'; 'x'"):
            getattr(Cycles(4, embedding="x").restrict(**limits), ask)()


def test_limits_of_another_number_of_edges():
    limits = Cycles(4).restrict(include=[0]).limits
    with pytest.raises(ValueError, match="for 12 edges between 4 places; there are 6 between 4"):
        Cycles(4, directed=False, limits=limits).size()
