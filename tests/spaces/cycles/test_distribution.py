# SPDX-License-Identifier: BSD-3-Clause
"""Distributions of cycles against sums over all cycles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from cycle_cases import KINDS, all_tours, indicators
from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Cycles, Inference
from skstruct.testing import check_distribution

FEW = settings(max_examples=30, deadline=None)
SIZES = (0.0, 1.0, 30.0, 1e3, 1e6)  # of scores: as numbers and as logarithms


def width(space):
    d = len(space.edges_)
    return d // 2 if space.embedding == "signed pairs" else d


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("directed", "embedding"), KINDS)
@pytest.mark.parametrize("n", [3, 4, 5])
def test_all_cycles(n, directed, embedding, size):
    space = Cycles(n, directed, embedding)
    listed = indicators(all_tours(n, directed), n, directed)
    scores = size * np.random.default_rng(n).standard_normal((2, width(space)))
    check_distribution(space, scores, outputs=listed)


@FEW
@given(st.sampled_from(KINDS), st.data())
def test_constraints(kind, data):
    space = Cycles(6, *kind)
    listed = space.enumerate()
    one = listed[data.draw(st.integers(0, len(listed) - 1))]
    tour = [v for v in space.tours(one[None])[0].tolist() if v >= 0]
    edges = [space.edge_labels_[e] for e in np.flatnonzero(one)]
    free = [space.edge_labels_[e] for e in np.flatnonzero(one == 0)]
    away = [v for v in range(6) if v not in tour]
    some = {
        "include": data.draw(st.lists(st.sampled_from(tour), max_size=2)),
        "exclude": data.draw(st.lists(st.sampled_from(away), max_size=1)) if away else None,
        "min_size": data.draw(st.integers(3, len(tour))),
        "max_size": data.draw(st.integers(len(tour), 6)),
        "include_edges": data.draw(st.lists(st.sampled_from(edges), max_size=2)),
        "exclude_edges": data.draw(st.lists(st.sampled_from(free), max_size=3)),
    }
    space = space.restrict(**some)
    scores = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    check_distribution(space, scores.standard_normal((2, width(space))), n_draws=500)


@pytest.mark.parametrize(("directed", "embedding"), KINDS)
def test_beyond_the_list(directed, embedding):
    """Without scores: the size, the mean and zero for what cancels."""
    space = Cycles(11, directed, embedding)
    distribution = Inference.of(space).distribution(np.zeros((1, width(space))))
    assert_allclose(distribution.log_partition, space.log_size())
    assert_allclose(distribution.marginals()[0], space.mean_embedding(), atol=1e-12)
    drawn = distribution.sample(20, np.random.default_rng(0))[0]
    assert space.contains(drawn).all()


def test_slope_is_the_marginal():
    space = Cycles(10)
    u = np.random.default_rng(0).standard_normal((1, 45))
    distribution = Inference.of(space).distribution(u)
    for j in (0, 17, 44):
        step = np.zeros((1, 45))
        step[0, j] = 1e-5
        up, down = (
            Inference.of(space).distribution(u + step).log_partition,
            Inference.of(space).distribution(u - step).log_partition,
        )
        assert_allclose(distribution.marginals()[0, j], (up - down)[0] / 2e-5, rtol=1e-6, atol=1e-9)


def test_constraints_row_by_row():
    space = Cycles(5).restrict(min_size=[3, 5], include=[[0], []])
    scores = np.random.default_rng(0).standard_normal((2, 10))
    distribution = Inference.of(space).distribution(scores)
    for i in range(2):
        alone = Inference.of(space.rows([i])).distribution(scores[i : i + 1])
        assert_allclose(distribution.log_partition[i], alone.log_partition[0])
        assert_allclose(distribution.marginals()[i], alone.marginals()[0])


def test_too_many_nodes():
    assert Inference.of(Cycles(16)).distribution(np.zeros((1, 120))) is None
    assert (
        Inference.of(Cycles(16).restrict(exclude=[3])).distribution(np.zeros((1, 120))) is not None
    )


@pytest.mark.parametrize("directed", [True, False])
def test_no_cycle(directed):
    space = Cycles(4, directed).restrict(include=[0, 1, 2, 3], max_size=3)
    with pytest.raises(InfeasibleError):
        Inference.of(space).distribution(np.zeros((1, 6)))
