# SPDX-License-Identifier: BSD-3-Clause
"""Costs written in another embedding leave the cost of every output."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from skstruct.spaces import Classes, Coordinates, Embeddings, Hierarchy, LabelSets, Sequences
from strategies import closed_sets, dags, forests, subsets


def totals(space, costs, Z):
    """Cost of every output in every row; shape (n, m)."""
    psi = space.embed(Z)
    return np.asarray(costs) @ (psi.toarray() if sparse.issparse(psi) else psi).T


def check_lift(space, view, Z, seed=0):
    """A view charges every output what the space charges it, and its optimum is the same."""
    rng = np.random.default_rng(seed)
    costs = rng.standard_normal((7, space.embed(Z).shape[1]))
    lifted = Coordinates.of(view).lift(costs, space.embedding)
    expected = totals(space, costs, Z)
    assert_allclose(totals(view, lifted, Z), expected, atol=1e-9)
    assert_allclose(view.argmin(lifted).values, expected.min(axis=1), atol=1e-9)
    assert Coordinates.of(view).lift(lifted, view.embedding) is lifted


@given(st.integers(1, 5))
def test_labels_cost_the_same_in_sets_of_any_size(d):
    space = LabelSets(range(d))
    check_lift(space, Embeddings.of(space).view("sized indicators"), subsets(d))


@given(forests())
def test_closed_sets_of_a_forest_by_size(space):
    check_lift(space, Embeddings.of(space).view("sized indicators"), closed_sets(space))


@given(dags())
def test_products_of_parents_cost_nothing(space):
    view = Embeddings.of(Hierarchy(space.edges)).view("indicators and parents")
    check_lift(space, view, closed_sets(space))


@given(dags())
def test_listed_outputs_have_costs_one_by_one(space):
    Z = closed_sets(space)
    check_lift(space, Embeddings.of(space).view("outputs", Z), Z)


def test_symbols_cost_the_same_with_bigrams():
    words = Sequences("ab", (1, 3)).fit(["aba"])
    check_lift(words, Embeddings.of(words).view("bigrams"), words.enumerate())


def test_a_list_takes_costs_of_any_embedding_that_its_space_has():
    space, Z = LabelSets(range(3)), subsets(3)
    listed = Embeddings.of(space).view("outputs", Z)
    check_lift(Embeddings.of(space).view("sized indicators"), listed, Z)
    words = Sequences("ab", 3).fit(["aba"])
    Z = words.enumerate()
    listed = Embeddings.of(words).view("outputs", Z)
    check_lift(words, listed, Z)
    check_lift(Embeddings.of(words).view("bigrams"), listed, Z)


@pytest.mark.parametrize(
    ("view", "embedding"),
    [
        (Classes(["a", "b"]), "positions"),
        (LabelSets(range(3)), "sized indicators"),
        (Embeddings.of(LabelSets(range(3))).view("sized indicators"), "positions"),
        (Embeddings.of(Hierarchy([(0, 1)])).view("indicators and parents"), "sized indicators"),
        (Embeddings.of(LabelSets(range(3))).view("outputs", subsets(3)), "positions"),
    ],
)
def test_costs_of_another_embedding_are_an_error(view, embedding):
    with pytest.raises(ValueError, match=embedding):
        Coordinates.of(view).lift(np.zeros((1, 3)), embedding)


def test_costs_of_a_wrong_width_are_an_error():
    space = LabelSets(range(3))
    for view in (
        Embeddings.of(space).view("sized indicators"),
        Embeddings.of(space).view("outputs", [[1, 0, 0]]),
    ):
        with pytest.raises(ValueError, match=r"shape \(n_samples, 3\)"):
            Coordinates.of(view).lift(np.zeros((1, 4)), "indicators")
