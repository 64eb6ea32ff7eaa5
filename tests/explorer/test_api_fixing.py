# SPDX-License-Identifier: BSD-3-Clause
"""What is clicked in is in, what is clicked out is out, and nothing better is left aside."""

import itertools
import json

import numpy as np
import pytest

from skstruct.drawings import draw
from skstruct.exceptions import InfeasibleError
from skstruct.spaces import (
    Assignments,
    BinaryPolytope,
    Box,
    Cliques,
    Cycles,
    Description,
    Flows,
    Graphs,
    Hierarchy,
    Knapsacks,
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
    Strings,
    Tournaments,
)

EDGES = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("b", "d")]
ROADS = [("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t")]
SPACES = {
    "labels": LabelSets(["sun", "rain", "wind"]),
    "numbers as labels": LabelSets([3, 1, 2]),
    "hierarchy": Hierarchy([("r", "a"), ("r", "b"), ("a", "c")]),
    "label graph": PairwiseLabels([("a", "b"), ("b", "c")], labels=["a", "b", "c"]),
    "knapsack": Knapsacks([2.0, 1.0, 3.0], 4.0, labels=["tent", "stove", "boat"]),
    "polytope": BinaryPolytope(A_ub=[[1, 1, 1]], b_ub=[2], labels=["x", "y", "z"]),
    "cliques": Cliques(EDGES),
    "matchings": Matchings(list("abcd")),
    "trees": SpanningTrees(EDGES),
    "graphs": Graphs(list("abc")),
    "assignments": Assignments(["ann", "bob"], ["x", "y", "z"]),
    "cycles": Cycles(list("abcd")),
    "undirected cycles": Cycles(list("abcd"), directed=False),
    "paths": ShortestPaths(ROADS, source="s", target="t"),
    "tournaments": Tournaments(list("abc")),
    "partial orders": PartialOrders(list("abc")),
    "rankings": Rankings(list("abc")),
    "sequences": Sequences(["A", "B"], 3),
    "strings": Strings("xy", (0, 3)),
    "ordinal": Ordinal(["low", "middle", "high"]),
    "states": PairwiseStates([("u", "v")], states=["off", "on", "idle"], labels=["u", "v"]),
    "poset": Poset([("thing", "cat"), ("thing", "dog")]),
}


def parts_in(space, z):
    """Parts that a drawing of an output shows as predicted, by key."""
    return {part["key"] for part in draw(space, z).parts if part["predicted"]}


@pytest.mark.slow
@pytest.mark.parametrize("name", SPACES)
def test_what_is_fixed_holds_and_nothing_better_is_left_aside(name):
    space = SPACES[name]
    listed = np.asarray(space.enumerate())
    has = [parts_in(space, z) for z in listed]
    rng = np.random.default_rng(0)
    psi = space.embed(listed)
    psi = psi.toarray() if hasattr(psi, "toarray") else np.asarray(psi)
    keys = sorted(set().union(*has))
    assert Description.of(space).fixable
    asked = [(state, key) for key in keys for state in Description.of(space).fixable]
    pairs = [pair for pair in itertools.combinations(asked, 2) if pair[0][1] != pair[1][1]]
    chosen = [pairs[i] for i in rng.permutation(len(pairs))[:20]]
    for fixed in [*((one,) for one in asked), *chosen]:
        costs = rng.standard_normal((1, psi.shape[1]))
        given = {key: state for state, key in fixed}
        good = [i for i, parts in enumerate(has) if holds(given, parts)]
        check(space, given, costs, (psi @ costs[0])[good])


def holds(given, parts):
    """Whether an output with these parts has what is in and lacks what is out."""
    return all((key in parts) == (state == "in") for key, state in given.items())


def check(space, given, costs, values):
    sides = [[json.loads(k) for k, s in given.items() if s == side] for side in ("in", "out")]
    try:
        decoded = space.restrict(**Description.of(space).fixing(*sides)).argmin(costs)
    except InfeasibleError:
        assert not len(values), given
        return
    assert len(values), given
    assert np.isclose(decoded.values[0], values.min()), given
    assert holds(given, parts_in(space, decoded.outputs[0])), given


@pytest.mark.parametrize(
    "space", [Box().fit([[0.0, 1.0]]), Flows([("s", "t")], {"s": 1.0, "t": -1.0})]
)
def test_numbers_are_neither_in_nor_out(space):
    assert Description.of(space).fixable == ()
    with pytest.raises(ValueError, match="cannot be fixed in"):
        Description.of(space).fixing(["u"], [])


def test_names_that_are_not_there():
    with pytest.raises(ValueError, match=r"There is no label 'x'"):
        Description.of(LabelSets(["a"])).fixing(["x"], [])
    with pytest.raises(ValueError, match=r"There is no label \{'a': 1\}"):
        Description.of(LabelSets(["a"])).fixing([{"a": 1}], [])
    with pytest.raises(ValueError, match="a position and a symbol; got 'A'"):
        Description.of(Sequences(["A"], 2)).fixing(["A"], [])
    with pytest.raises(ValueError, match="cannot be fixed out; what can be said is 'in'"):
        Description.of(Rankings(list("abc"))).fixing([], [["a", 1]])


def test_two_states_of_one_thing_are_in_no_output():
    with pytest.raises(InfeasibleError, match="Position 0 cannot be both 'A' and 'B'"):
        Description.of(Sequences(["A", "B"], 2)).fixing([[0, "A"], [0, "B"]], [])
