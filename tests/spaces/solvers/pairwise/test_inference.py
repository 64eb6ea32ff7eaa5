# SPDX-License-Identifier: BSD-3-Clause
"""Three ways to the distribution of labels with scores of pairs: elimination, forests, tables."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import chisquare

from skstruct.spaces.solvers.pairwise.elimination import LabelDistribution
from skstruct.spaces.solvers.pairwise.forests import random_tree_edges
from skstruct.spaces.solvers.pairwise.inference import (
    LabelForestDistribution,
    PairTableDistribution,
    label_distribution,
)

FEW = settings(max_examples=40, deadline=None)
SIZES = st.sampled_from([0.0, 1.0, 30.0, 1e5])


def scores_of(n, edges, seed, size, rows=3):
    rng = np.random.default_rng(seed)
    return size * rng.standard_normal((rows, n)), size * rng.standard_normal((rows, len(edges)))


def by_table(nodes, pairs, edges):
    return PairTableDistribution(np.hstack([nodes, pairs]), edges, nodes.shape[1])


def by_the_list(nodes, pairs, edges):
    """Partition functions and means of psi over all sets."""
    n = nodes.shape[1]
    sets = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    psi = np.hstack([sets, sets[:, edges[:, 0]] * sets[:, edges[:, 1]]])
    values = np.hstack([nodes, pairs]) @ psi.T
    top = values.max(axis=1, keepdims=True)
    weight = np.exp(values - top)
    total = weight.sum(axis=1, keepdims=True)
    return (top + np.log(total))[:, 0], weight / total @ psi, sets, weight / total


def agree(distribution, nodes, pairs, edges):
    log_partition, means, _, _ = by_the_list(nodes, pairs, edges)
    assert_allclose(distribution.log_partition, log_partition, rtol=1e-12, atol=1e-12)
    size = max(np.abs(nodes).max(), np.abs(pairs).max(initial=0.0), 1.0)
    assert_allclose(distribution.marginals(), means, atol=1e-13 * size)


@FEW
@given(st.integers(1, 7), st.data(), st.integers(0, 2**32), SIZES)
def test_any_graph(n, data, seed, size):
    kept = [pair for pair in combinations(range(n), 2) if data.draw(st.booleans())]
    edges = np.array(kept, np.int64).reshape(-1, 2)
    nodes, pairs = scores_of(n, edges, seed, size)
    agree(by_table(nodes, pairs, edges), nodes, pairs, edges)
    agree(LabelDistribution(nodes, pairs, edges), nodes, pairs, edges)


@FEW
@given(st.integers(1, 7), st.data(), st.integers(0, 2**32), SIZES)
def test_any_forest(n, data, seed, size):
    edges = random_tree_edges(n, seed)
    edges = edges[[data.draw(st.booleans()) for _ in edges]]
    nodes, pairs = scores_of(n, edges, seed, size)
    agree(LabelForestDistribution(nodes, pairs, edges), nodes, pairs, edges)


@pytest.mark.parametrize("kind", [LabelForestDistribution, by_table, LabelDistribution])
@pytest.mark.parametrize("size", [1.0, 300.0])
def test_draws(kind, size):
    """A chi-square test of every row at the level 1e-4."""
    edges = np.array([[0, 1], [1, 2], [1, 3]])
    nodes, pairs = scores_of(5, edges, 1, size, rows=2)
    drawn = kind(nodes, pairs, edges).sample(20_000, np.random.default_rng(0))
    assert drawn.dtype == np.int8
    _, _, _, probabilities = by_the_list(nodes, pairs, edges)
    for row in range(2):
        counts = np.bincount(drawn[row] @ (1 << np.arange(5)), minlength=32)
        often = probabilities[row] * 20_000 > 5
        seen = np.append(counts[often], counts[~often].sum())
        expected = np.append(probabilities[row, often], probabilities[row, ~often].sum()) * 20_000
        assert not counts[probabilities[row] < 1e-12].any()
        kept = expected > 0.1
        if kept.sum() > 1:
            expected = expected[kept] * seen[kept].sum() / expected[kept].sum()
            assert chisquare(seen[kept], expected).pvalue > 1e-4


def test_many_labels_on_a_tree_overflow_nothing():
    """2^3000 sets, each label in with probability 1/2, then with scores of any size."""
    n = 3000
    edges = random_tree_edges(n, 0)
    distribution = LabelForestDistribution(np.zeros((1, n)), np.zeros((1, n - 1)), edges)
    assert_allclose(distribution.log_partition, n * np.log(2), rtol=1e-13)
    assert_allclose(distribution.marginals()[0], np.repeat([0.5, 0.25], [n, n - 1]), rtol=1e-13)
    large = LabelForestDistribution(np.full((1, n), 1e6), np.full((1, n - 1), 1e6), edges)
    assert_allclose(large.log_partition, (2 * n - 1) * 1e6, rtol=1e-13)


def test_the_quickest_way_is_taken():
    tree, full = np.array([[0, 1], [1, 2]]), np.array(list(combinations(range(14), 2)))
    ladder = [(i, i + 2) for i in range(98)] + [(i, i + 1) for i in range(0, 100, 2)]
    for n, edges, kind in ((3, tree, LabelForestDistribution), (14, full, PairTableDistribution),
                           (100, np.array(ladder), LabelDistribution)):  # fmt: skip
        assert type(label_distribution(*scores_of(n, edges, 0, 1.0), edges)) is kind
