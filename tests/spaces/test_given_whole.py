# SPDX-License-Identifier: BSD-3-Clause
"""A space that was given everything works without ``fit``, as it does with it."""

import pickle

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skstruct.losses import Absolute
from skstruct.spaces import (
    BinaryPolytope,
    Box,
    Candidates,
    Classes,
    Cliques,
    Cycles,
    Flows,
    GraphNodes,
    Graphs,
    Hierarchy,
    Inference,
    Interval,
    LabelSets,
    Matchings,
    Ordinal,
    PairwiseLabels,
    PairwiseStates,
    PartialOrders,
    Polytope,
    Poset,
    Rankings,
    Sequences,
    ShortestPaths,
    Simplex,
    SpanningTrees,
    Sphere,
    Strings,
    Tournaments,
)
from skstruct.testing import check_space

ARCS = [("s", "a", 2.0), ("a", "t", 0.6), ("s", "b", 2.0), ("b", "t", 2.0)]
SUPPLY = {"s": 1, "t": -1}
HALVES = {("s", "a"): 0.5, ("a", "t"): 0.5, ("s", "b"): 0.5, ("b", "t"): 0.5}
DEMAND = nx.DiGraph([("s", "t", {"capacity": 2.0})])
DEMAND.add_node("s", demand=-1)
DEMAND.add_node("t", demand=1)
# By name: the space, and outputs in the form that is written where none was seen.
SPACES = {
    "Classes": (Classes(list("abcd")), np.array(["a", "d"])),
    "Candidates": (Candidates(["a", (1, 2)]), ["a", (1, 2)]),
    "GraphNodes": (GraphNodes(nx.path_graph(3)), np.array([0, 2])),
    "LabelSets": (LabelSets(list("abc")), np.array([[1, 0, 1]])),
    "Hierarchy": (Hierarchy([("a", "b")]), np.array([[1, 0]])),
    "Rankings": (Rankings(list("abc")), np.array([[1, 3, 2]])),
    "Rankings by number": (Rankings(3), np.array([[1, 3, 2]])),
    "Sequences": (Sequences("ab", length=2), ["ab"]),
    "Strings": (Strings("ab", length=3), ["aba"]),
    "Ordinal": (Ordinal(["low", "mid", "high"]), np.array(["mid"])),
    "Poset": (Poset([("a", "b"), ("a", "c")]), np.array(["b"])),
    "PairwiseLabels": (PairwiseLabels("full", ["a", "b"]), np.array([[1, 0]])),
    "PairwiseStates": (PairwiseStates("full", ["p", "q"], ["x", "y"]), np.array([["p", "q"]])),
    "Cliques": (Cliques(3), np.array([[1, 0, 1]])),
    "Matchings": (Matchings(4), np.array([[1, 0, 0, 0, 0, 1]])),
    "ShortestPaths": (
        ShortestPaths([("s", "t"), ("s", "a"), ("a", "t")], "s", "t"),
        [["s", "a", "t"]],
    ),
    "SpanningTrees": (SpanningTrees(3), np.array([[1, 1, 0]])),
    "Cycles": (Cycles(4, directed=False), np.array([[1, 0, 1, 1, 0, 1]])),
    "Graphs": (Graphs(3), np.array([[1, 0, 1]])),
    "Tournaments": (Tournaments(3), np.array([[1, 0, -1]])),
    "PartialOrders": (PartialOrders(3), np.array([[1, 0, 0, 0, 0, 1]])),
    "BinaryPolytope": (BinaryPolytope([[1, 1]], [1]), np.array([[1, 0]])),
    "Interval": (Interval(0, 1), np.array([0.25, 1.0])),
    "Box": (Box([0, 0], [1, 2]), np.array([[0.5, 1.0]])),
    "Box with names": (Box(0, 1, labels=["a", "b"]), np.array([[0.5, 1.0]])),
    "Simplex": (Simplex(labels=["a", "b"]), np.array([[0.5, 0.5]])),
    "Sphere": (Sphere(2), np.array([[1.0, 0.0]])),
    "Sphere with names": (Sphere(labels=["a", "b"]), np.array([[1.0, 0.0]])),
    "Polytope": (Polytope([[1, 1]], [1], bounds=(0, 1)), np.array([[0.5, 0.5]])),
    "Flows": (Flows(ARCS, SUPPLY), [HALVES]),
    "Flows by demand": (Flows(DEMAND), [{("s", "t"): 1.0}]),
}
METHODS = ("argmin", "kbest", "enumerate", "sample", "size", "log_size", "mean_embedding",
           "second_moment", "validate", "restore", "contains", "embed", "distribution",
           "proposals")  # fmt: skip


def arguments(space, outputs):
    Z = space.validate(outputs)
    d = space.embed(Z).shape[1]
    costs = np.random.default_rng(0).normal(size=(1, d))
    given = {"argmin": (costs,), "kbest": (costs, 2), "sample": (3, 0), "validate": (outputs,)}
    given |= dict.fromkeys(("restore", "contains", "embed"), (Z,))
    return given | {"distribution": (costs,)}


def plain(answer):
    """Arrays of an answer, to be compared."""
    if hasattr(answer, "values") and hasattr(answer, "bounds"):
        return [np.asarray(answer.outputs), answer.values, answer.bounds]
    if hasattr(answer, "log_partition"):
        return [answer.log_partition, answer.marginals()]
    answer = answer.toarray() if sparse.issparse(answer) else answer
    return [np.asarray(answer)]


def asked(space, method):
    inference = method in ("distribution", "proposals")
    return getattr(Inference.of(space) if inference else space, method)


@pytest.mark.parametrize("name", SPACES)
def test_without_fit_as_with_it(name):
    space, outputs = SPACES[name]
    fitted = clone(space).fit(outputs)
    given = arguments(fitted, outputs)
    tried = 0
    for method in METHODS:
        try:
            expected = asked(fitted, method)(*given.get(method, ()))
        except (AttributeError, ValueError, NotImplementedError):
            continue  # this space has no such thing
        answer = asked(clone(space), method)(*given.get(method, ()))
        tried += 1
        if expected is None or method == "proposals":
            assert (answer is None) == (expected is None)
            continue
        for ours, theirs in zip(plain(answer), plain(expected), strict=True):
            if theirs.dtype.kind in "fc":
                assert_allclose(ours, theirs, atol=1e-9)
            else:
                assert_array_equal(ours, theirs)
    assert tried >= 6


@pytest.mark.parametrize("name", SPACES)
def test_names_are_known_and_fit_is_still_free(name):
    space, outputs = SPACES[name]
    used = clone(space)
    used.validate(outputs)
    assert_array_equal(np.asarray(used.labels_), np.asarray(clone(space).fit(outputs).labels_))
    again = pickle.loads(pickle.dumps(used))
    assert_array_equal(again.validate(outputs), used.validate(outputs))
    assert not [key for key in vars(clone(used)) if key.endswith("_")]
    used.fit(outputs)  # after use, as before it


@pytest.mark.parametrize(
    "space",
    [Classes(), Interval(0), Box(0, 1), Simplex(), Sphere(), Polytope(bounds=(0, 1)),
     Polytope([[1, 1]], [1, 2]), Flows(ARCS), Flows(ARCS, [SUPPLY, SUPPLY])],
)  # fmt: skip
def test_what_was_not_given_is_still_learned(space):
    for use in (lambda: space.argmin(np.zeros((1, 1))), lambda: space.validate([[0.0]])):
        with pytest.raises(NotFittedError, match="not fitted"):
            use()
    assert not hasattr(space, "labels_")


def test_other_parameters_are_other_names():
    space = Classes(["a", "b"])
    assert space.size() == 2
    assert space.set_params(labels=["a", "b", "c"]).size() == 3
    assert Box({"low": 0, "top": 0}, 2).labels_ == ("low", "top")
    box = Box([0, 0], [1, 1])
    assert box.argmin(-np.ones((1, 2))).values == -2
    assert box.set_params(high=[3, 1]).argmin(-np.ones((1, 2))).values == -4
    fitted = Classes(["a", "b"]).fit(["a"])
    assert fitted.set_params(labels=["x"]).labels_.tolist() == ["a", "b"]  # until the next fit


def test_least_cost_flows_need_no_output():
    """Against the two paths there are, of which one carries at most 0.6."""
    costs = np.random.default_rng(0).normal(size=(20, 4))
    upper, lower = costs[:, :2].sum(axis=1), costs[:, 2:].sum(axis=1)
    share = np.where(upper < lower, 0.6, 0.0)
    decoded = Flows(ARCS, SUPPLY).argmin(costs)
    assert_allclose(decoded.values, share * upper + (1 - share) * lower)
    narrowed = Flows(ARCS, SUPPLY).restrict(supply={"s": 0.5, "t": -0.5})
    assert_allclose(narrowed.argmin(costs).values, 0.5 * np.minimum(upper, lower))
    with pytest.raises(ValueError, match="must send out 5"):
        Flows([("s", "t", 2.0)], {"s": 5, "t": -5}).argmin([[1.0]])


def test_classes_and_ranks_pass_the_checks_of_spaces():
    check_space(Classes(list("abcd")), np.arange(4))
    check_space(Rankings(3), Rankings(3).enumerate())
    assert Classes(list("abcd")).enumerate().tolist() == [0, 1, 2, 3]
    assert Rankings(4).items_ == (0, 1, 2, 3)
    assert Rankings(np.int64(2)).fit([[1, 2]]).items_ == (0, 1)
    for wrong in (True, 2.0, 0):
        with pytest.raises(ValueError, match="Rankings: "):
            Rankings(wrong).enumerate()


def test_intervals_minimize_losses_without_fit():
    curves_of = Absolute().minimize(
        np.ones((1, 3)), np.array([[0.1], [0.4], [0.9]]), Interval(0, 1)
    )
    assert_allclose(curves_of.outputs.ravel(), [0.4])


NUMBERS = {
    "LabelSets": lambda: LabelSets(4),
    "Classes": lambda: Classes(4),
    "Hierarchy": lambda: Hierarchy(4),
    "Poset": lambda: Poset(4),
    "Simplex": lambda: Simplex(labels=2),
    "Box": lambda: Box(0, 1, labels=2),
    "PairwiseLabels": lambda: PairwiseLabels("full", 2),
    "PairwiseStates": lambda: PairwiseStates("full", ["a"], 2),
    "Candidates": lambda: Candidates(3),
    "GraphNodes": lambda: GraphNodes([("a", "b")]),
    "Flows": lambda: Flows(3, {}),
    "BinaryPolytope": lambda: BinaryPolytope(labels=3),
    "Ordinal": lambda: Ordinal(3),
    "Sequences": lambda: Sequences(3),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_what_are_no_names_is_told(name):
    with pytest.raises(ValueError, match=name):
        NUMBERS[name]().argmin(np.zeros((1, 2)))
