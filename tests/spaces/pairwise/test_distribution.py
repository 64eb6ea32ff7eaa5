# SPDX-License-Identifier: BSD-3-Clause
"""Distributions of labels and of states with scores of pairs against sums over all outputs."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Inference, PairwiseLabels, PairwiseStates
from skstruct.spaces.solvers.pairwise import elimination
from skstruct.spaces.solvers.pairwise.forests import random_tree_edges
from skstruct.testing import check_distribution

FEW = settings(max_examples=40, deadline=None)
SIZES = st.sampled_from([0.0, 1.0, 30.0, 1e5])


@st.composite
def forests_of(draw, n):
    """Pairs of some of the edges of a tree over n nodes, in any direction."""
    edges = random_tree_edges(n, draw(st.integers(0, 2**32))).tolist()
    edges = [pair for pair in edges if draw(st.booleans()) or draw(st.booleans())]
    return [pair[::-1] if draw(st.booleans()) else pair for pair in edges]


@st.composite
def state_spaces(draw):
    n, k = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    space = PairwiseStates(
        draw(forests_of(n)), states=range(k), labels=range(n),
        embedding=draw(st.sampled_from(["states", "node states"])),
    )  # fmt: skip
    if draw(st.booleans()):
        nodes = st.integers(0, n - 1)
        space = space.restrict(known={draw(nodes): draw(st.integers(0, k - 1))})
        if k > 1:
            space = space.restrict(forbidden={draw(nodes): draw(st.integers(0, k - 1))})
    return space


@pytest.mark.slow
@FEW
@given(state_spaces(), st.integers(0, 2**32), SIZES)
def test_distributions_of_states(space, seed, size):
    n, k, n_edges = space._shape()
    width = n * k + n_edges * k * k
    scores = size * np.random.default_rng(seed).standard_normal((2, width))
    if space.size():
        check_distribution(space, scores, n_draws=400 if size < 100 else 20, rng=seed)
    else:
        with pytest.raises(InfeasibleError):
            Inference.of(space).distribution(scores)


@pytest.mark.slow
@FEW
@given(st.integers(1, 7), st.data(), st.integers(0, 2**32), SIZES)
def test_distributions_of_labels(n, data, seed, size):
    pairs = list(combinations(range(n), 2))
    graph = data.draw(st.one_of(forests_of(n), st.lists(st.sampled_from(pairs or [(0, 0)]))))
    space = PairwiseLabels(graph if pairs else [], labels=range(n))
    if data.draw(st.booleans()):
        free = st.lists(st.integers(0, n - 1), max_size=2)
        known_in = set(data.draw(free))
        space = space.restrict(include=known_in, exclude=set(data.draw(free)) - known_in)
    scores = size * np.random.default_rng(seed).standard_normal((2, n + len(space.edges_)))
    check_distribution(space, scores, n_draws=400 if size < 100 else 20, rng=seed)


def test_constraints_row_by_row():
    rng = np.random.default_rng(0)
    labels = PairwiseLabels("full", labels=range(4))
    scores = rng.standard_normal((3, 10))
    constraints = [{"include": [0]}, {"exclude": [0, 2]}, {"include": [1, 2], "exclude": [3]}]
    together = labels.restrict(
        include=[limit.get("include", []) for limit in constraints],
        exclude=[limit.get("exclude", []) for limit in constraints],
    )
    _compare_rows(together, [labels.restrict(**limit) for limit in constraints], scores)
    states = PairwiseStates([(0, 1), (1, 2)], states="abc", labels=range(3))
    known = [{0: "a"}, {1: {"b", "c"}}, {}]
    scores = rng.standard_normal((3, 27))
    alone = [states.restrict(known=mapping) for mapping in known]
    _compare_rows(states.restrict(known=known), alone, scores)


def _compare_rows(together, alone, scores):
    distribution = Inference.of(together).distribution(scores)
    for i, space in enumerate(alone):
        own = Inference.of(space).distribution(scores[[i]])
        assert_allclose(distribution.log_partition[[i]], own.log_partition, rtol=1e-12)
        assert_allclose(distribution.marginals()[[i]], own.marginals(), atol=1e-12)
    drawn = distribution.sample(5, np.random.default_rng(0))
    for k in range(5):
        assert together.contains(drawn[:, k]).all()


def test_contradictions_are_named():
    space = PairwiseLabels("full", labels=range(2)).restrict(include=[[0], [1]], exclude=[1])
    with pytest.raises(InfeasibleError, match="row 1"):
        Inference.of(space).distribution(np.zeros((2, 3)))


def test_known_labels_open_circles():
    """Thirty labels that are all joined, of which three are not known."""
    n = 30
    full = PairwiseLabels("full", labels=range(n))
    scores = 0.1 * np.random.default_rng(0).standard_normal((2, n + n * (n - 1) // 2))
    assert Inference.of(full).distribution(scores) is None
    check_distribution(full.restrict(include=[1, 5], exclude=set(range(8, n))), scores)


def test_many_rows_of_a_wide_graph():
    """Eighteen labels that are all joined: 256 rows are summed, as given or within constraints."""
    full = PairwiseLabels("full", labels=range(18))
    fixed = PairwiseLabels("full", labels=range(19)).restrict(include=[0])
    for space, width in ((full, 171), (fixed, 190)):
        assert Inference.of(space).distribution(np.zeros((3, width))) is not None
        assert Inference.of(space).distribution(np.zeros((257, width))) is None
    assert elimination.supports_inference(256, 18, full.edges_)
    assert elimination.supports_inference(10**9, 100, np.array([(i, i + 1) for i in range(99)]))


def test_a_long_ladder_is_narrow():
    """Two rows of fifty labels: all sums over them by tables of eight entries."""
    n = 100
    edges = [(i, i + 2) for i in range(n - 2)] + [(i, i + 1) for i in range(0, n, 2)]
    space = PairwiseLabels(edges, labels=range(n))
    scores = np.random.default_rng(0).standard_normal((1, n + len(edges)))
    distribution, aside = (
        Inference.of(space).distribution(scores),
        np.random.default_rng(1).standard_normal(scores.shape),
    )
    assert max(len(b.later) for b in elimination.elimination(n, space.edges_)) <= 3
    up, down = (
        Inference.of(space).distribution(scores + s * aside).log_partition[0] for s in (1e-5, -1e-5)
    )
    assert_allclose((distribution.marginals() * aside).sum(), (up - down) / 2e-5, rtol=1e-6)


def test_blocks_of_rows_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    ring = [(i, (i + 1) % 8) for i in range(8)]
    space = PairwiseLabels(ring, labels=range(8))
    scores = rng.standard_normal((7, 16))
    whole = Inference.of(space).distribution(scores)
    monkeypatch.setattr(elimination, "TOGETHER", 150)  # two rows at a time
    parts = Inference.of(space).distribution(scores)
    assert len(parts.blocks) > 2
    assert_allclose(parts.log_partition, whole.log_partition, rtol=1e-14)
    assert_allclose(parts.marginals(), whole.marginals(), rtol=1e-13)
    check_distribution(space, scores)


@pytest.mark.parametrize("size", [0.1, 5.0])
def test_gradients_of_states_are_finite_differences(size):
    rng = np.random.default_rng(0)
    space = PairwiseStates(random_tree_edges(30, 0).tolist(), states=range(4), labels=range(30))
    scores = size * rng.standard_normal((2, 30 * 4 + 29 * 16))
    aside = rng.standard_normal(scores.shape)
    up, down = (
        Inference.of(space).distribution(scores + s * aside).log_partition for s in (1e-5, -1e-5)
    )
    slope = (Inference.of(space).distribution(scores).marginals() * aside).sum(axis=1)
    assert_allclose(slope, (up - down) / 2e-5, rtol=1e-6, atol=1e-7)
