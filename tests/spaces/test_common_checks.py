# SPDX-License-Identifier: BSD-3-Clause
"""What all spaces check alike: names, costs, and how many best outputs are asked for."""

import networkx
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skstruct._arrays.checks import LARGEST_SUM, check_costs
from skstruct.exceptions import InfeasibleError
from skstruct.spaces import (
    BinaryPolytope,
    Classes,
    Cliques,
    Cycles,
    Embeddings,
    Hierarchy,
    LabelSets,
    Matchings,
    Ordinal,
    PairwiseLabels,
    PairwiseStates,
    PartialOrders,
    Poset,
    Rankings,
    Sequences,
    ShortestPaths,
    SpanningTrees,
    Tournaments,
)

NAMES = list("qwertyuio")
SPACES = {
    Cycles(4): 6,
    ShortestPaths.grid(3, 3): 12,
    SpanningTrees(4): 6,
    Matchings(4): 6,
    Cliques(4): 6,
    PartialOrders(3): 6,
    Tournaments(3): 3,
    LabelSets("abc"): 3,
    Embeddings.of(LabelSets("abc")).view("sized indicators"): 10,
    Embeddings.of(LabelSets("abc")).view("outputs", np.eye(3, dtype=np.int8)): 3,
    PairwiseLabels(labels="abc"): 6,
    PairwiseStates("empty", "ab", "xy"): 4,
    Hierarchy([("a", "b")]): 2,
    Poset([("a", "b")]): 2,
    Ordinal("abc"): 3,
    Rankings("abc"): 9,
    Sequences("ab", 2): 4,
    Classes().fit(["a", "b"]): 2,
    BinaryPolytope(labels="ab"): 2,
}


@pytest.mark.parametrize(("space", "d"), SPACES.items())
@pytest.mark.parametrize("k", [0, -1, 1.5, True, "2", None])
def test_numbers_of_best_outputs(space, d, k):
    with pytest.raises(ValueError, match="k is a whole number, at least 1"):
        space.kbest(np.zeros((1, d)), k)


@pytest.mark.parametrize(("space", "d"), SPACES.items())
def test_costs_at_the_edge_of_double_precision(space, d):
    """The largest that are taken decide as others do; larger ones are refused."""
    rng = np.random.default_rng(0)
    costs = np.vstack([rng.uniform(-1, 1, (20, d)), np.sign(rng.uniform(-1, 1, (5, d)))])
    costs[:, 0] = 1.0
    scale = LARGEST_SUM / d
    expected, found = space.argmin(costs), space.argmin(costs * scale)
    np.testing.assert_allclose(found.values / scale, expected.values, rtol=1e-12)
    np.testing.assert_allclose(found.bounds / scale, expected.bounds, rtol=1e-12)
    with pytest.raises(ValueError, match=r"needs costs of at most .*costs\[1, 0\] is -1.79"):
        space.argmin(np.vstack([costs[:1], np.full((1, d), -np.finfo(float).max)]))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_costs_that_are_not_finite(bad):
    costs = np.full((3, 2), 1e308)
    costs[2, 1] = bad
    with pytest.raises(ValueError, match=rf"mine needs finite costs; costs\[2, 1\] is {bad}"):
        check_costs(costs, 2, used_by="mine")
    assert check_costs(np.zeros((0, 2)), 2, used_by="mine").shape == (0, 2)


@pytest.mark.parametrize("kind", [set, frozenset])
@pytest.mark.parametrize(
    "names_of",
    [
        lambda names: Cycles(names).nodes_,
        lambda names: SpanningTrees(names).nodes_,
        lambda names: Matchings(names, {"z", "x"}).nodes_[:-2],
        lambda names: Matchings(["z", "x"], names).nodes_[2:],
        lambda names: Cliques(names).nodes_,
        lambda names: PartialOrders(names).items_,
        lambda names: Tournaments(names).items_,
        lambda names: LabelSets(names).labels_,
        lambda names: PairwiseLabels(labels=names).labels_,
        lambda names: PairwiseStates("empty", names, "ab").states_,
        lambda names: PairwiseStates("empty", "ab", names).labels_,
        lambda names: Rankings(names).items_,
        lambda names: Sequences(names, 2).symbols_,
        lambda names: Poset(labels=names).labels_,
        lambda names: BinaryPolytope(labels=names).labels_,
        lambda names: tuple(Classes(names).fit(NAMES).labels_),
        lambda names: Hierarchy(kind_of_pairs(names)).labels_[1:],
    ],
)
def test_names_of_a_set_are_sorted(names_of, kind):
    """The order of a set of texts is another one in every process."""
    assert names_of(kind(NAMES)) == tuple(sorted(NAMES))


def kind_of_pairs(names):
    return type(names)(("", name) for name in names)


def test_a_set_of_levels_has_no_order():
    with pytest.raises(ValueError, match="from the lowest up; a set has no order"):
        Ordinal({"low", "high"}).size()


@pytest.mark.parametrize("space", [Cycles, SpanningTrees, Tournaments, lambda n: Matchings(n, [9])])
def test_names_that_can_be_read_but_once(space):
    with pytest.raises(
        ValueError, match="sequence of names, or how many there are; got <generator"
    ):
        space(name for name in NAMES).size()


@pytest.mark.parametrize(
    ("space", "constraints", "d"),
    [
        (LabelSets("abc"), {"include": [["a"], ["b"]], "exclude": ["a"]}, 3),
        (PairwiseLabels(labels="abc"), {"include": [["a"], ["b"]], "exclude": ["a"]}, 6),
        (Cliques(3), {"include": [[0], [1]], "exclude": [0]}, 3),
        (SpanningTrees(3), {"include": [[(0, 1)], []], "exclude": [(0, 1)]}, 3),
        (Cycles(3), {"include_edges": [[(0, 1)], []], "exclude_edges": [(0, 1)]}, 3),
        (Tournaments(3), {"include": [[(0, 1)], []], "exclude": [(0, 1)]}, 3),
        (Hierarchy([("a", "b")]), {"include": [["b"], []], "exclude": ["b"]}, 2),
        (Poset([("a", "b")]), {"include": [["b"], []], "exclude": ["b"]}, 2),
        (Ordinal("ab"), {"min_level": ["b", None], "exclude": ["b"]}, 2),
    ],
)
def test_a_row_without_outputs_says_so(space, constraints, d):
    limited = space.restrict(**constraints)
    for ask in (limited.argmin, lambda costs: limited.kbest(costs, 2)):
        with pytest.raises(InfeasibleError, match="no output meets the constraints in row 0"):
            ask(np.zeros((2, d)))
    first, second = limited.rows(0), limited.rows(np.int64(1))  # a row by its number
    assert (first.size(), second.size() > 0) == (0, True)
    with pytest.raises(ValueError, match="row by row for 2 rows; got 3"):
        limited.contains(np.repeat(second.enumerate()[:1], 3, axis=0))


def test_constraints_that_exclude_all_that_is_listed():
    listed = Embeddings.of(Ordinal("abc")).view("outputs", np.array([[1, 0, 0], [1, 1, 0]]))
    limited = listed.restrict(min_level=["b", "c"])
    for ask in (limited.argmin, lambda costs: limited.kbest(costs, 2)):
        with pytest.raises(InfeasibleError, match=r"none of the 2 listed outputs.* in row 1"):
            ask(np.zeros((2, 2)))


@pytest.mark.parametrize("same", [[0, 1, 2], np.arange(3)])
def test_what_keeps_its_value_may_be_set_again(same):
    restricted = SpanningTrees(same).restrict(include=[(0, 1)])
    assert restricted.set_params(nodes=type(same)(same) if isinstance(same, list) else same.copy())
    assert restricted.size() == 2


def test_nan_is_no_name():
    for space in (Cycles, LabelSets, Rankings):
        with pytest.raises(ValueError, match="NaN equals nothing"):
            space([1.0, 2.0, float("nan")]).size()


@pytest.mark.parametrize("space", [Cycles(), Cliques()])
def test_outputs_may_come_one_by_one(space):
    listed = [["a", "b", "c"], ["a", "c", "b"]]
    assert_array_equal(
        space.fit(iter(listed)).validate(map(list, listed)), space.fit(listed).validate(listed)
    )


def test_levels_of_several_number_types_are_numbers():
    space = Ordinal([0, 0.5, 1]).fit(np.array([0, 1]))
    assert space.restore(space.enumerate()).dtype == np.float64


def test_parameters_may_be_set_to_what_they_are():
    Cycles().fit([["a", "b", "c"]]).restrict(include=["a"]).set_params(nodes=["a", "b", "c"])
    graph = networkx.cycle_graph(4)
    space = SpanningTrees(graph=graph).restrict(include=[(0, 1)])
    space.set_params(graph=networkx.cycle_graph(4))
    with pytest.raises(ValueError, match="graph cannot change"):
        space.set_params(graph=networkx.path_graph(4))


def test_few_outputs_are_listed_and_many_are_not():
    space = LabelSets("abc")
    assert_array_equal(space.all_outputs(8), space.enumerate())
    assert space.all_outputs(7) is None
    some = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 1]], dtype=np.int8)
    view = Embeddings.of(space).view("outputs", some)
    assert_array_equal(view.all_outputs(8), some)
    assert_array_equal(view.restrict(include=["b"]).all_outputs(8), some[1:])
    assert Embeddings.of(view).view("outputs") is view
    assert Embeddings.of(view).view("indicators") is space
