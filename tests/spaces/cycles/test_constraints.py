# SPDX-License-Identifier: BSD-3-Clause
"""Cycles within constraints against the list of all of them."""

import math
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from cycle_cases import KINDS, all_tours, indicators, steps
from skstruct.exceptions import InfeasibleError, UndecidableError
from skstruct.spaces import Uniform
from skstruct.spaces.cycles.space import Cycles
from skstruct.testing import check_space


# ----------------------------------------------------------------- constraints
@st.composite
def narrowed(draw):
    """A number of nodes, constraints on cycles through them, and the test they stand for."""
    n, directed = draw(st.integers(3, 5)), draw(st.booleans())
    node = st.integers(0, n - 1)
    arc = st.tuples(node, node).filter(lambda pair: pair[0] != pair[1])
    few = {"max_size": 2}
    constraints = {
        "include": draw(st.lists(node, **few)),
        "exclude": draw(st.lists(node, max_size=1)),
        "min_size": draw(st.sampled_from([None, None, 4])),
        "max_size": draw(st.sampled_from([None, None, 3, 4])),
        "include_edges": draw(st.lists(arc, max_size=3)),
        "exclude_edges": draw(st.lists(arc, **few)),
    }
    return n, directed, constraints


def obeys(tour, directed, constraints):
    used = set(steps(tour)) | (set() if directed else {(v, u) for u, v in steps(tour)})
    return (
        set(constraints["include"]) <= set(tour)
        and not set(constraints["exclude"]) & set(tour)
        and (constraints["min_size"] or 3) <= len(tour) <= (constraints["max_size"] or 99)
        and set(constraints["include_edges"]) <= used
        and not set(constraints["exclude_edges"]) & used
    )


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(narrowed(), st.booleans())
def test_constraints_against_the_list(case, signed):
    n, directed, constraints = case
    space = Cycles(n, directed, "signed pairs" if signed and directed else "indicators")
    space = space.restrict(**constraints)
    kept = [tour for tour in all_tours(n, directed) if obeys(tour, directed, constraints)]
    if kept:
        check_space(space, indicators(kept, n, directed), n_costs=5, n_draws=500)
        return
    assert space.size() == 0
    assert Uniform.of(space).log_size() == -np.inf
    assert space.enumerate().shape == (0, len(space.edges_))
    costs = np.zeros((1, space.embed(space.enumerate()).shape[1]))
    uniform = Uniform.of(space)
    for call in (lambda: space.argmin(costs), lambda: space.kbest(costs, 2),
                 lambda: space.sample(1, 0),
                 uniform.mean_embedding, uniform.covariance):  # fmt: skip
        with pytest.raises(InfeasibleError):
            call()


@pytest.mark.parametrize(("directed", "embedding"), KINDS)
def test_constraints_row_by_row(directed, embedding):
    names = list("abcde")
    space = Cycles(names, directed, embedding)
    costs = np.random.default_rng(0).standard_normal((2, len(Uniform.of(space).mean_embedding())))
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
    for i, constraints in enumerate(rows):
        one = space.restrict(**constraints)
        assert_array_equal(outputs[i : i + 1], one.argmin(costs[i : i + 1]).outputs)
        assert_array_equal(by_row.rows([i]).argmin(costs[i : i + 1]).outputs, outputs[i : i + 1])
        values = listed.values[i, : one.size()]
        assert_allclose(values, one.kbest(costs[i : i + 1], 3).values[0])
    assert by_row.contains(outputs).all()
    assert not by_row.contains(outputs[::-1]).any()
    with pytest.raises(ValueError, match="row by row for 2 rows; got 1"):
        by_row.argmin(costs[:1])
    with pytest.raises(ValueError, match="differs from row to row"):
        by_row.size()
    with pytest.raises(ValueError, match="different numbers of rows"):
        by_row.restrict(max_size=[3, 3, 3])


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ({"include": ["x"]}, "'x'"),
        ({"include": "abc"}, "a list of labels"),
        ({"min_size": -1}, "min_size is a whole number"),
        ({"max_size": [3, 2.5]}, "max_size is a whole number"),
        ({"include_edges": [("a", "x")]}, "'x'"),
        ({"exclude_edges": [("a", "a")]}, "self-loop"),
    ],
)
def test_bad_constraints(constraints, message):
    with pytest.raises(ValueError, match=message):
        Cycles(["a", "b", "c"]).restrict(**constraints)


def test_constraints_of_other_nodes():
    constraints = Cycles(4).restrict(include=[0]).constraints
    with pytest.raises(ValueError, match="between 4 nodes; there are 20 between 5"):
        Cycles(5, constraints=constraints).size()
    assert "1 nodes known in" in repr(constraints)
    assert "3 to 4 of 5 nodes" in repr(Cycles(5).restrict(max_size=4).constraints)


def test_what_cannot_be_listed_says_how_many():
    space = Cycles(12).restrict(include=[3])
    assert space.size() == sum(math.perm(11, i - 1) for i in range(3, 13))
    with pytest.raises(UndecidableError, match=f"{space.size():,} cycles"):
        Uniform.of(space).mean_embedding()
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
