# SPDX-License-Identifier: BSD-3-Clause
"""The comparison inequality on random distributions, and constants against all pairs."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstruct._arrays.rows import dense
from skstruct.bounds import comparison_constant
from skstruct.losses import Hamming, HierarchicalLoss, Squared, ZeroOne, pair, resolve_loss
from skstruct.spaces import (
    Classes,
    GraphNodes,
    Hierarchy,
    Interval,
    LabelSets,
    Rankings,
    Sequences,
    Uniform,
)

TREE = Hierarchy([("a", "b"), ("a", "c"), ("c", "d")], list("abcd"))
DAG = Hierarchy([("a", "c"), ("b", "c"), ("b", "d")], list("abcd"))
COSTS = np.array([[0, 0, 0, 0], [1, 2, 5, 1], [3, 0, 1, 1.0]])
RING = np.roll(np.eye(5), 1, axis=0) + np.roll(np.eye(5), -1, axis=0)
CASES = {
    "classes": (Classes(list("abc")), "zero_one"),
    "sets": (LabelSets(list("abc")), Hamming(miss={"a": 5.0, "b": 1.0, "c": 2.0})),
    "whole sets": (LabelSets(list("abc")), "zero_one"),
    "f1": (LabelSets(list("abc")), "f1"),
    "tree": (TREE, "hierarchical"),
    "dag": (DAG, "hierarchical"),
    "kendall": (Rankings(4), "kendall"),
    "footrule": (Rankings(4), "footrule"),
    "nodes": (GraphNodes(RING), "diffusion"),
}


def parts(space, loss):
    """All outputs, their embeddings, the view and the bound loss."""
    outputs = Uniform.of(space).all_outputs(10**4)
    view, bound = pair(resolve_loss(loss), space, outputs)
    return outputs, dense(view.embed(outputs)), view, bound


@pytest.mark.parametrize("name", CASES)
def test_it_is_the_largest_distance_of_two_images(name):
    space, loss = CASES[name]
    found = comparison_constant(space, loss)
    _, psi, _, bound = parts(space, loss)
    d = psi.shape[1]
    V = dense(bound.cost(np.eye(d), np.zeros((d, 1)))).T
    wanted = max(np.linalg.norm(V.T @ (a - b)) for a, b in combinations(psi, 2))
    assert found.exact
    assert found.value == found.attained == pytest.approx(wanted)


@pytest.mark.parametrize("name", CASES)
@given(seed=st.integers(0, 10**6), noise=st.sampled_from([0.02, 0.3, 2.0]))
@settings(max_examples=8, deadline=None)
def test_no_estimate_breaks_the_inequality(name, seed, noise):
    space, loss = CASES[name]
    c = comparison_constant(space, loss).value
    outputs, psi, view, bound = parts(space, loss)
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(len(psi), 0.3))
    truth = p @ psi
    guess = truth + noise * rng.standard_normal(psi.shape[1])
    risks = bound.pairwise(outputs, outputs) @ p
    decided = view.argmin(bound.cost(guess[None], np.ones((1, 1)))).outputs
    excess = bound.pairwise(decided, outputs)[0] @ p - risks.min()
    assert excess <= c * np.linalg.norm(guess - truth) + 1e-9


def test_a_draw_is_no_list():
    """One draw stands for outputs of a large space; it must not be taken for all of them."""
    for space in (LabelSets(range(12)), LabelSets(range(4))):
        with pytest.raises(ValueError, match=r"compares outputs of a list, .* give y"):
            comparison_constant(space, "zero_one", most=15)
    assert comparison_constant(LabelSets(range(4)), "zero_one", most=16).exact


def test_two_classes_need_the_root_of_two():
    """The printed constant is |V| max |psi| = 1, and fails."""
    c = comparison_constant(Classes([0, 1]), "zero_one").value
    truth = np.array([0.6, 0.4])
    guess = np.array([0.5 - 1e-9, 0.5 + 1e-9])  # decides for the second class
    excess = truth[0] - truth[1]
    ratio = excess / np.linalg.norm(guess - truth)
    assert 1.0 < ratio <= c == pytest.approx(np.sqrt(2))
    assert ratio == pytest.approx(c)


@pytest.mark.parametrize("name", sorted(set(CASES) - {"whole sets", "nodes", "classes"}))
def test_bounds_hold_where_outputs_are_not_listed(name):
    space, loss = CASES[name]
    exact, bound = comparison_constant(space, loss), comparison_constant(space, loss, most=2)
    assert bound.attained <= exact.value * (1 + 1e-9)
    assert exact.value <= bound.value * (1 + 1e-9)
    if bound.exact:
        assert bound.value == pytest.approx(exact.value)


def test_closed_forms_of_large_spaces():
    hamming = comparison_constant(LabelSets(range(400)), Hamming())
    assert hamming.exact
    assert hamming.value == pytest.approx(2 * np.sqrt(400))
    words = comparison_constant(Sequences(list("abcd"), length=30), "hamming")
    assert words.exact
    assert words.value == pytest.approx(np.sqrt(2 * 30))
    line = comparison_constant(Interval(-1.0, 2.0), Squared(), [0.0])
    assert line.value == pytest.approx(2 * 3.0)


def test_a_forest_that_is_large_has_a_bound():
    edges = [(k // 3, k) for k in range(1, 60)]
    found = comparison_constant(Hierarchy(edges, range(60)), HierarchicalLoss())
    assert 0 < found.attained <= found.value < np.inf


def test_what_is_refused():
    with pytest.raises(ValueError, match="Absolute is not bilinear in an embedding of finitely"):
        comparison_constant(Interval(0, 1), "absolute", [0.5])
    with pytest.raises(ValueError, match="needs finite limits"):
        comparison_constant(Interval(-np.inf, np.inf), "squared", [0.5])


def test_candidates_of_the_zero_one_loss():
    few = ZeroOne(candidates=[["a"], ["b"]])
    assert comparison_constant(LabelSets(list("ab")), few).value == pytest.approx(np.sqrt(2))
    large = comparison_constant(LabelSets(range(40)), "zero_one", [[1], [2, 3], [4]])
    assert large.value == pytest.approx(np.sqrt(2))
