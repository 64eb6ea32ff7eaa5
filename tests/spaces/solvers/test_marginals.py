# SPDX-License-Identifier: BSD-3-Clause
"""Nearest coherent probabilities, against formulas over all sets and conditions of optimality."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstruct.spaces.solvers.dags import Dag
from skstruct.spaces.solvers.marginals import nearest_falling, nearest_on_simplex, nearest_sized

seeds = st.integers(0, 2**32 - 1)


def drawn(seed, d, n=5):
    """Rows with ties, beyond zero and one."""
    rng = np.random.default_rng(seed)
    return rng, np.round(rng.uniform(-0.4, 1.4, (n, d)), rng.integers(1, 4))


@given(seeds, st.integers(1, 7))
def test_simplex(seed, d):
    _, values = drawn(seed, d)
    found = nearest_on_simplex(values)
    assert found.min() >= 0
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    # Nearest: what is used is moved by one shift, and what is not used is not above it.
    for v, z in zip(values, found):
        shift = (v - z)[z > 0]
        np.testing.assert_allclose(shift, shift[0], atol=1e-12)
        assert (v[z == 0] <= shift[0] + 1e-12).all()


@given(seeds, st.integers(1, 6), st.integers(0, 3), st.integers(0, 3))
def test_sized(seed, d, smallest, more):
    rng, values = drawn(seed, d)
    low = (rng.random((1, d)) < 0.2).astype(float)
    high = np.maximum(low, rng.random((5, d)) < 0.8)
    smallest = min(smallest, high.sum(axis=1).min())
    largest = max(smallest + more, low.sum())
    found = nearest_sized(values, low, high, smallest, largest)
    assert (found >= low).all()
    assert (found <= high).all()
    total = found.sum(axis=1)
    assert (total >= smallest - 1e-9).all()
    assert (total <= largest + 1e-9).all()
    for v, z, least, most, s in zip(values, found, np.broadcast_to(low, high.shape), high, total):
        # Optimal: a multiplier of the sum, zero within the limits, explains every coordinate.
        inside = (z > least + 1e-9) & (z < most - 1e-9)
        shift = (v - z)[inside]
        if smallest + 1e-9 < s < largest - 1e-9:
            np.testing.assert_allclose(z, np.clip(v, least, most), atol=1e-12)
        elif len(shift):
            np.testing.assert_allclose(z, np.clip(v - shift[0], least, most), atol=1e-9)


def drawn_graph(rng, d, forest):
    """Every node with a parent among those before it, or with several; in any order."""
    name = rng.permutation(d)
    arcs = []
    for j in range(1, d):
        for parent in rng.permutation(j)[: rng.integers(0, 2 if forest else 3)]:
            arcs.append((name[parent], name[j]))
    arcs = np.array(arcs, dtype=int).reshape(-1, 2)
    return Dag(d, arcs[:, 0], arcs[:, 1])


def by_formula(v, dag):
    """max over upper sets of min over lower sets of the mean of what they share."""
    sets = np.array(list(product([False, True], repeat=len(v))))
    upper = sets[(sets[:, dag.children] <= sets[:, dag.parents]).all(axis=1)]
    found = np.empty(len(v))
    for j in range(len(v)):
        ups, downs = upper[upper[:, j]], ~upper[~upper[:, j]]
        shared = ups[:, None] & downs[None]
        found[j] = ((shared * v).sum(2) / shared.sum(2)).min(axis=1).max()
    return np.clip(found, 0.0, 1.0)


@given(seeds, st.integers(1, 6), st.booleans())
@settings(max_examples=60)
def test_falling_against_all_sets(seed, d, forest):
    rng, values = drawn(seed, d)
    dag = drawn_graph(rng, d, forest)
    found = nearest_falling(values, dag)
    assert (found[:, dag.children] <= found[:, dag.parents]).all()
    for v, z in zip(values, found):
        np.testing.assert_allclose(z, by_formula(v, dag), atol=1e-9)


def test_forests_are_graphs_too():
    """Two algorithms, one answer: a graph is no forest with one arc that says nothing new."""
    rng, values = drawn(0, 60, n=20)
    dag = drawn_graph(rng, 60, forest=True)
    chain = next(j for j in dag.children if dag.parent_of[dag.parent_of[j]] >= 0)
    above = dag.parent_of[dag.parent_of[chain]]
    graph = Dag(60, np.append(dag.parents, above), np.append(dag.children, chain))
    assert not graph.is_forest
    np.testing.assert_allclose(
        nearest_falling(values, dag), nearest_falling(values, graph), atol=1e-8
    )


@pytest.mark.parametrize("d", [1, 3])
def test_no_rows_and_no_arcs(d):
    dag = Dag(d, [], [])
    assert nearest_falling(np.empty((0, d)), dag).shape == (0, d)
    assert nearest_falling(np.full((2, d), 1.5), dag).tolist() == [[1.0] * d] * 2
