# SPDX-License-Identifier: BSD-3-Clause
"""What the distributions of all spaces have in common, and how little work it is to have none."""

import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from skstruct.spaces import (
    BinaryPolytope,
    Classes,
    Cliques,
    Cycles,
    Embeddings,
    Graphs,
    Hierarchy,
    Inference,
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
from skstruct.testing import check_distribution
from strategies import shown
from work import n_calls

SPACES = {
    Cycles(4): 6,
    Cycles(4, embedding="indicators"): 12,
    ShortestPaths.grid(3, 3): 12,
    SpanningTrees(4): 6,
    Matchings(4): 6,
    Cliques(4): 6,
    Graphs(4, property="clique"): 6,
    Graphs(3, property="connected"): 3,
    PartialOrders(3): 6,
    Tournaments(3): 3,
    LabelSets("abc"): 3,
    LabelSets("abc", max_size=2): 3,
    Embeddings.of(LabelSets("abc")).view("sized indicators"): 10,
    PairwiseLabels(labels="abc"): 6,
    PairwiseLabels("full", labels="abc").restrict(include=["a"]): 6,
    PairwiseStates("empty", "ab", "xy"): 4,
    PairwiseStates([("x", "y")], "ab", "xy"): 8,
    Hierarchy([("a", "b")]): 2,
    Hierarchy([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]): 4,
    Poset([("a", "b")]): 2,
    Ordinal("abc"): 3,
    Rankings("abc"): 9,
    Rankings("abc").restrict(top=1): 9,
    Rankings("abc", "pairs"): 3,
    Rankings("abc", "ranks"): 3,
    Sequences("ab", 2): 4,
    Sequences("ab", 3, "bigrams"): 14,
    Strings("ab", (1, 3), n=1): 2,
    Strings("ab", (1, 3), n=2): 4,
    Strings("ab", (1, 3), n=3): 8,
    Classes().fit(["a", "b"]): 2,
    BinaryPolytope([[1, 1]], [1]): 2,
}


@pytest.mark.parametrize(("space", "d"), SPACES.items(), ids=shown)
def test_no_rows(space, d):
    distribution = Inference.of(space).distribution(np.zeros((0, d)))
    assert distribution.log_partition.shape == (0,)
    assert distribution.marginals().shape == (0, d)
    assert distribution.sample(2, np.random.default_rng(0)).shape[:2] == (0, 2)


@pytest.mark.parametrize(("space", "d"), SPACES.items(), ids=shown)
def test_scores_are_the_distributions_own(space, d):
    """An optimiser may write to its scores between two questions."""
    scores = np.random.default_rng(0).standard_normal((2, d))
    still, distribution = (
        Inference.of(space).distribution(scores.copy()),
        Inference.of(space).distribution(scores),
    )
    scores[:] = 99.0
    assert_array_equal(distribution.marginals(), still.marginals())
    ours, theirs = (one.sample(20, np.random.default_rng(0)) for one in (distribution, still))
    assert_array_equal(ours, theirs)


@pytest.mark.parametrize(("space", "d"), SPACES.items(), ids=shown)
def test_marginals_are_the_callers_own(space, d):
    distribution = Inference.of(space).distribution(
        np.random.default_rng(0).standard_normal((2, d))
    )
    found = distribution.marginals()
    before = found.copy()
    found[:] = 7.0
    assert_array_equal(distribution.marginals(), before)


# ------------------------------------------------------------- distributions by lists
@pytest.mark.parametrize(
    "space",
    [
        BinaryPolytope(A_eq=[[1, 1, 0]], b_eq=[1]),
        BinaryPolytope([[2, 1, 1, 3]], [3]).restrict(include=[0]),
        Strings("ab", (1, 3), n=3).restrict(forbidden=[("a", "a")]),
    ],
    ids=shown,
)
def test_short_lists(space):
    d = space.embed(space.enumerate()[:1]).shape[1]
    check_distribution(space, np.random.default_rng(0).standard_normal((2, d)))


def test_constraints_have_no_proposals():
    """Single flips would leave the polytope."""
    assert Inference.of(BinaryPolytope(A_eq=[[1, 1, 0]], b_eq=[1])).proposals() is None


def long_hierarchy(n):
    """Two random parents for every label but the first."""
    rng, names = np.random.default_rng(0), [f"{v:03d}" for v in range(n)]
    above = [{int(p) for p in rng.integers(0, v, 2)} for v in range(1, n)]
    return Hierarchy([(names[p], names[v]) for v in range(1, n) for p in above[v - 1]])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("space", "d", "n"),
    [
        (Matchings(40).restrict(exclude=[(0, 1)]), 780, 1),
        (Matchings(40, perfect=True).restrict(exclude=[(0, 1)]), 780, 1),
        (Matchings(30, 30).restrict(exclude=[(0, 40)]), 900, 1),
        (Matchings(graph=nx.grid_2d_graph(20, 20)), 760, 1),
        (Matchings(40).restrict(include=[[(0, v)] for v in range(1, 40)]), 780, 39),
        (Cycles(12, directed=False).restrict(include_edges=[(0, 1)]), 66, 1),
        (Cycles(15, directed=False).restrict(include_edges=[(0, 1)]), 105, 1),
        (Cycles(40, directed=False).restrict(include_edges=[(0, 1)]), 780, 1),
        (Cycles(40, directed=False).restrict(exclude_edges=[(0, 1)]), 780, 1),
        (Cycles(16, directed=False).restrict(min_size=[3] * 50 + [4]), 120, 51),
        (Graphs(6, property="planar"), 15, 1),
        (Graphs(10, property="bipartite").restrict(exclude=[(0, 1)]), 45, 1),
        (Graphs(30, property="acyclic"), 435, 1),
        (Strings(range(20), (1, 1000), n=3).restrict(forbidden=[(0, 1)]), 8000, 1),
        (BinaryPolytope(A_eq=np.ones((1, 19)), b_eq=[9]), 19, 1),
        (Cliques(30), 435, 1),
        (long_hierarchy(200), 200, 1),
        (long_hierarchy(200).restrict(include=[["000"]] * 50), 200, 50),
    ],
    ids=shown,
)
def test_no_distribution_is_no_work(space, d, n):
    """What is too much is found out soon: after some hundred calls, where nothing is counted."""
    found = []
    Inference.of(clone(space)).distribution(np.zeros((n, d)))  # what is compiled, is by now
    assert (
        n_calls(lambda: found.append(Inference.of(space).distribution(np.zeros((n, d)))))
        < 10_000_000
    )
    assert found == [None]


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize(
    ("space", "d"),
    [
        (Strings("ab", (1, 3), n=3).restrict(length=np.array([1, 3, 2])), 8),
        (Rankings(range(22)).restrict(positions=[{v: v + 1 for v in range(19)}] * 3), 484),
        (Graphs(3, property="connected").restrict(include=[[(0, 1)], [], []]), 3),
        (Matchings(3).restrict(include=[[(0, 1)], [], []]), 3),
    ],
    ids=shown,
)
def test_as_many_rows_as_constraints(space, d, n):
    assert Inference.of(space).distribution(np.zeros((3, d))).log_partition.shape == (3,)
    with pytest.raises(ValueError, match=f"row by row for 3 rows; got {n}"):
        Inference.of(space).distribution(np.zeros((n, d)))
