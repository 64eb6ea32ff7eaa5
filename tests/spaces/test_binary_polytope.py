# SPDX-License-Identifier: BSD-3-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import BinaryPolytope
from skstruct.spaces.indicator_sets.decoding import closure_rows
from skstruct.testing import check_space
from strategies import closed_sets, dags, subsets


@given(
    arrays(float, (2, 4), elements=st.integers(-2, 2)),
    arrays(float, 2, elements=st.integers(-2, 3)),
)
def test_random_polytopes(A, b):
    space = BinaryPolytope(A_ub=A, b_ub=b)
    rows = subsets(4)[(subsets(4) @ A.T <= b).all(axis=1)]
    if len(rows):
        check_space(space, rows, n_costs=5)
    else:
        with pytest.raises(InfeasibleError):
            space.argmin(np.zeros((1, 4)))


@given(dags(5))
def test_closures_as_a_polytope(space):
    arcs = closure_rows(space.dag_)
    general = BinaryPolytope(arcs, np.zeros(arcs.shape[0]))
    costs = np.random.default_rng(0).standard_normal((4, len(space.labels_)))
    np.testing.assert_allclose(general.argmin(costs).values, space.argmin(costs).values, atol=1e-9)
    assert general.size() == len(closed_sets(space))


def test_three_pairwise_exclusions_need_branching():
    # The LP alone says -1.5, at one half each.
    space = BinaryPolytope([[1, 1, 0], [0, 1, 1], [1, 0, 1]], [1, 1, 1])
    decoded = space.argmin(-np.ones((1, 3)))
    assert decoded.values.tolist() == decoded.bounds.tolist() == [-1.0]


def test_branch_and_bound_closes_the_gap():
    """The solver's default stops at a relative gap of 1e-4, and would call that optimal."""
    rng = np.random.default_rng(0)
    weights = rng.integers(100, 1000, 25).astype(float)
    space = BinaryPolytope(weights[None], [weights.sum() // 2])
    decoded = space.argmin(-weights + rng.random((3, 25)))
    np.testing.assert_allclose(decoded.bounds, decoded.values, rtol=1e-6)


def test_tiny_and_huge_costs_keep_their_order():
    space = BinaryPolytope(A_eq=[[1, 1, 1]], b_eq=[1])
    for scale in (1e-300, 1e-9, 1e9, 1e300):
        assert space.argmin(np.array([[3.0, 1.0, 2.0]]) * scale).outputs.tolist() == [[0, 1, 0]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give A_ub, A_eq or labels"),
        ({"A_ub": [[1, 1]], "b_ub": [1, 2]}, "A_ub has shape"),
        ({"A_eq": [[np.nan, 1]], "b_eq": [1]}, "finite"),
        ({"b_ub": [1], "labels": ["a"]}, "b_ub was given without"),
        ({"A_ub": [[1, 1]]}, "A_ub was given without b_ub"),
        ({"A_ub": [1, 1], "b_ub": 1}, "a row per constraint"),
    ],
)
def test_bad_constraints(arguments, message):
    with pytest.raises(ValueError, match=message):
        BinaryPolytope(**arguments).argmin(
            np.zeros((1, 2 if "A_ub" in arguments or "A_eq" in arguments else 1))
        )


def test_outputs_outside_are_named():
    with pytest.raises(ValueError, match=r"Y\[1\] breaks a constraint by 1"):
        BinaryPolytope([[1, 1]], [1]).validate(np.array([[1, 0], [1, 1]]))
