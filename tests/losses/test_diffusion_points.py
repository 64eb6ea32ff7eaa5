# SPDX-License-Identifier: BSD-3-Clause
"""Diffusion distances between points, against matrix exponentials and the circle's own heat."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import expm

from skstruct import ConditionalRiskMinimizer
from skstruct.kernels import RBF
from skstruct.losses.diffusion import Diffusion
from skstruct.spaces import GraphNodes
from skstruct.testing import check_loss


def on_circle(angles):
    return np.column_stack([np.cos(angles), np.sin(angles)])


def spaced(n, uneven=0.0):
    """Angles of density proportional to 1 + uneven cos, evenly by their distribution function."""
    grid = np.linspace(0, 2 * np.pi, 20001)
    share = (grid + uneven * np.sin(grid)) / (2 * np.pi)
    return np.interp(np.arange(n) / n, share, grid)


def circle_distance(angle, t):
    """Eigenvalues k^2, eigenfunctions sqrt(2) cos and sin in the uniform measure."""
    k = np.arange(1, 60)[:, None]
    return (4 * np.exp(-2 * t * k**2) * (1 - np.cos(k * angle))).sum(axis=0)


def largest_error(angles, t, **settings):
    """Over all distances, as a share of the largest true one."""
    space = GraphNodes.from_points(on_circle(angles), **settings).fit([0])
    nodes = np.arange(len(angles))
    found = Diffusion(t).bind(space).pairwise(nodes, nodes)
    away = angles[:, None] - angles
    true = circle_distance(away.ravel(), t).reshape(away.shape)
    return np.abs(found - true).max() / true.max()


@given(
    seed=st.integers(0, 10**6),
    t=st.sampled_from([0.1, 1.0]),
    alpha=st.sampled_from([0.0, 0.5, 1.0]),
    n_neighbors=st.sampled_from([None, 3]),
)
@settings(max_examples=15, deadline=None)
def test_distances_are_those_of_the_walk(seed, t, alpha, n_neighbors):
    points, epsilon = np.random.default_rng(seed).standard_normal((7, 2)), 0.4
    squares = ((points[:, None] - points) ** 2).sum(axis=2)
    K = np.exp(-squares / (4 * epsilon))
    if n_neighbors:
        near = np.argsort(np.argsort(squares, axis=1), axis=1) <= n_neighbors
        K = np.where(near | near.T, K, 0.0)
    q = K.sum(axis=1)
    K /= np.outer(q, q) ** alpha
    d = K.sum(axis=1)
    walk = expm(-2 * t * (np.eye(7) - K / d[:, None]) / epsilon)
    H = walk / (d / d.sum())
    expected = np.diag(H)[:, None] + np.diag(H) - 2 * H
    space = GraphNodes.from_points(points, epsilon=epsilon, alpha=alpha, n_neighbors=n_neighbors)
    loss, nodes = Diffusion(t), np.arange(7)
    assert_allclose(loss.bind(space.fit([0])).pairwise(nodes, nodes), expected, atol=1e-10)
    check_loss(loss, space.fit([0]), nodes)


def test_points_of_a_circle_come_near_to_the_circle():
    few, many = largest_error(spaced(80), 0.3), largest_error(spaced(320), 0.3)
    assert many < 0.4 * few
    assert many < 0.02


def test_density_is_divided_out_by_alpha_one_only():
    uneven = spaced(320, uneven=0.6)
    assert largest_error(uneven, 0.3) < 0.05
    assert largest_error(uneven, 0.3, alpha=0.0) > 0.2


def test_few_neighbors_leave_the_distances_as_they_are():
    """Kernel values of farther points are below 1e-6."""
    angles = spaced(200)
    settings = {"epsilon": 0.01}
    every = largest_error(angles, 0.3, **settings)
    assert largest_error(angles, 0.3, n_neighbors=60, **settings) == pytest.approx(every, abs=1e-3)


def test_learning_with_points():
    """A prediction may be a point between those of training."""
    angles = spaced(40)
    space = GraphNodes.from_points(on_circle(angles))
    model = ConditionalRiskMinimizer(space, Diffusion(0.3), alpha=1e-3, kernel=RBF(1.0))
    model.fit(np.array([[0.0], [0.0], [1.0], [1.0]]), [2, 6, 22, 26])
    assert model.predict([[0.0], [1.0]]).tolist() == [4, 24]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epsilon": 0.0}, "epsilon is a positive number; got 0.0"),
        ({"alpha": -1.0}, "alpha is a number of at least 0; got -1.0"),
        ({"n_neighbors": 9}, "n_neighbors is from 1 to 3; got 9"),
    ],
)
def test_settings_without_meaning_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        GraphNodes.from_points(np.eye(4), **settings)


def test_points_and_masses_are_checked():
    with pytest.raises(ValueError, match=r"finite points of shape \(n, p\); got shape \(3,\)"):
        GraphNodes.from_points([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="most points are copies"):
        GraphNodes.from_points(np.zeros((5, 2)))
    with pytest.raises(ValueError, match="masses are 3 positive numbers"):
        GraphNodes(np.zeros((3, 3)), masses=[1.0, 0.0, 1.0]).fit([0])
    with pytest.raises(ValueError, match="leave out normalized"):
        Diffusion(normalized=True).bind(GraphNodes.from_points(np.eye(4)).fit([0]))


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e6])
def test_the_unit_of_length_does_not_matter(scale):
    points = np.random.default_rng(0).normal(size=(30, 2))
    points[3] = points[4]  # copies are at distance zero, and joined
    far = [Diffusion(0.7 * s * s).bind(GraphNodes.from_points(s * points).fit([0]))
           for s in (1.0, scale)]  # fmt: skip
    here, there = np.repeat(np.arange(30), 30), np.tile(np.arange(30), 30)
    first, second = (np.array(loss(here, there)) for loss in far)
    assert_allclose(second, first, rtol=1e-6, atol=1e-9)
