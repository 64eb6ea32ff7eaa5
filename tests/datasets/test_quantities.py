# SPDX-License-Identifier: BSD-3-Clause
"""Generated numbers have the distribution they say; what is called exact agrees with brute
force.
"""

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chisquare, kstest, norm, uniform

from skstruct.datasets.generated_quantities import (
    StreetNetwork,
    make_network_flows,
    make_outlier_regression,
)
from skstruct.losses import Absolute, Squared
from skstruct.spaces import Flows

seeds = st.integers(0, 1000)
grids = st.sampled_from([(2, 3), (3, 2), (2, 4), (3, 3), (3, 4)])


# ---------------------------------------------------------------- outliers
def test_only_the_sine_is_left():
    data = make_outlier_regression(50, variance=0.0, share=0.0, random_state=0)
    assert data.X.shape == (50, 1)
    assert (np.abs(data.X) <= 1).all()
    assert_array_equal(data.y, data.clean)
    assert_allclose(data.clean, np.sin(6 * np.pi * data.X[:, 0]))
    assert_array_equal(make_outlier_regression(50, random_state=3).y,
                       make_outlier_regression(50, random_state=3).y)  # fmt: skip


@pytest.mark.parametrize(
    ("settings", "distribution"),
    [
        ({"share": 0.0}, norm(0, np.sqrt(0.1))),
        ({"share": 0.0, "variance": 4.0}, norm(0, 2)),
        ({"share": 1.0, "variance": 0.0}, uniform(-3, 6)),
        ({"share": 1.0, "variance": 0.0, "reach": 0.5}, uniform(-0.5, 1)),
    ],
)
def test_noise_and_outliers(settings, distribution):
    data = make_outlier_regression(4000, random_state=0, **settings)
    # A right generator fails with probability 1e-4; the seed is fixed.
    assert kstest(data.y - data.clean, distribution.cdf).pvalue > 1e-4


def test_share_of_outliers():
    data = make_outlier_regression(20000, variance=0.0, share=0.1, random_state=0)
    outliers = (data.y != data.clean).sum()
    assert abs(outliers - 2000) < 4 * np.sqrt(20000 * 0.1 * 0.9)  # 1e-4, the seed is fixed


# ---------------------------------------------------------------- flows
@pytest.mark.slow
@given(grids, st.integers(1, 5), seeds)
def test_flows_are_flows(shape, n_features, seed):
    X, Y, network = make_network_flows(
        7, network=StreetNetwork(*shape, n_features, seed=seed), random_state=seed
    )
    space = Flows(network.arcs, network.supply).fit(Y)
    assert X.shape == (7, n_features)
    assert space.contains(Y).all()
    every = network.flows(X)  # (n, states, arcs)
    assert space.contains(every.reshape(-1, every.shape[2])).all()
    assert space.contains(network.mean(X)).all()
    for k, state in enumerate(network.states):
        into = [head == state for _, head in network.arcs]
        assert_array_equal(every[:, k, into], 0.0)
    # What was drawn is what some state would give.
    assert (np.abs(every - Y[:, None]).max(axis=2).min(axis=1) == 0).all()
    assert_array_equal(Y, make_network_flows(7, network=network, random_state=seed)[1])


@given(grids)
def test_paths(shape):
    network = StreetNetwork(*shape)
    rows, columns = shape
    assert len(network.paths) == comb(rows + columns - 2, rows - 1)
    assert len(np.unique(network.paths, axis=0)) == len(network.paths)
    assert len(network.arcs) == rows * (columns - 1) + columns * (rows - 1)
    assert Flows(network.arcs, network.supply).fit(network.paths).contains(network.paths).all()


def test_shares_by_hand():
    """Three paths through two by three crossings, their delays added up one by one."""
    network = StreetNetwork(2, 3, n_features=4, seed=5)
    x = np.array([0.1, 0.9, 0.4, 0.7])
    delay = {arc: network._delay[a] + network._delay_effect[a] @ (x - 0.5)
             for a, arc in enumerate(network.arcs)}  # fmt: skip
    routes = ["A1 A2 A3 B3", "A1 A2 B2 B3", "A1 B1 B2 B3"]
    routes = [list(zip(names.split(), names.split()[1:])) for names in routes]
    for k, state in enumerate(network.states):
        weights = [np.exp(-sum(delay[arc] for arc in route)) for route in routes]
        weights = [0.0 if state in dict(route).values() else weight
                   for route, weight in zip(routes, weights)]  # fmt: skip
        flow = [sum(w for w, route in zip(weights, routes) if arc in route) / sum(weights)
                for arc in network.arcs]  # fmt: skip
        assert_allclose(network.flows(x[None])[0, k], flow, atol=1e-12)


def test_states_are_drawn_with_their_probabilities():
    network = StreetNetwork(3, 3, n_features=2, seed=1)
    X = np.tile([[0.2, 0.9]], (5000, 1))
    Y, every = network.sample(X, 0), network.flows(X[:1])[0]
    drawn = np.abs(Y[:, None] - every).max(axis=2).argmin(axis=1)
    counts = np.bincount(drawn, minlength=len(every))
    # A right sampler fails with probability 1e-4; the seed is fixed.
    assert chisquare(counts, 5000 * network.probabilities(X[:1])[0]).pvalue > 1e-4


@given(grids, seeds)
def test_risks_are_sums_over_states(shape, seed):
    network = StreetNetwork(*shape, n_features=3, seed=seed)
    rng = np.random.default_rng(seed)
    X, Z = rng.random((2, 3)), rng.random((2, len(network.arcs)))
    P, Y = network.probabilities(X), network.flows(X)
    assert_allclose(P.sum(axis=1), 1)
    by_hand = [sum(p * ((z - y) ** 2).sum() for p, y in zip(ps, ys)) for z, ps, ys in zip(Z, P, Y)]
    assert_allclose(network.risk(Z, X, Squared()), by_hand)
    by_hand = [sum(p * abs(z - y).sum() for p, y in zip(ps, ys)) for z, ps, ys in zip(Z, P, Y)]
    assert_allclose(network.risk(Z, X, Absolute()), by_hand)


@pytest.mark.slow
@given(seeds)
def test_best_predictions_against_a_grid(seed):
    """All mixtures of the three paths in steps of 1/60: none is better than the best."""
    network = StreetNetwork(2, 3, n_features=2, seed=seed)
    x = np.random.default_rng(seed).random((1, 2))
    shares = np.array([(i, j, 60 - i - j) for i, j in product(range(61), repeat=2) if i + j <= 60])
    grid = shares / 60 @ network.paths
    at = np.repeat(x, len(grid), axis=0)
    for best, loss in ((network.median(x), Absolute()), (network.mean(x), Squared())):
        least, others = network.risk(best, x, loss)[0], network.risk(grid, at, loss)
        assert least <= others.min() + 1e-9
        # The nearest mixture of the grid is off by at most 1/60 in the share of each path.
        assert least >= others.min() - len(network.arcs) * 2 / 60


def test_median_is_what_the_space_decides():
    network = StreetNetwork()
    X = np.random.default_rng(0).random((5, 20))
    for x, p, Y in zip(X, network.probabilities(X), network.flows(X)):
        space = Flows(network.arcs, network.supply).fit(Y)
        decided = Absolute().minimize(p[None], Y, space)
        assert_allclose(network.risk(network.median(x[None]), x[None], Absolute()), decided.values)


def test_grid_too_small():
    for shape in ((1, 5), (2, 2), (4, 1)):
        with pytest.raises(ValueError, match="leaves no way around"):
            StreetNetwork(*shape)


def test_many_rows_have_names():
    network = StreetNetwork(28, 2, n_features=1)
    assert network.arcs[-1] == ("AB1", "AB2")
    assert network.supply == {"A1": 1.0, "AB2": -1.0}
