# SPDX-License-Identifier: BSD-3-Clause
"""Losses of numbers by their definitions, and many points of spaces of quantities.

A space of quantities cannot be listed: of many points of it none may cost less than a bound.
"""

import numpy as np


def positive_part(t):
    return np.maximum(t, 0)


def pinball(z, y, tau):
    return np.where(y > z, tau * (y - z), (1 - tau) * (z - y))


def huber(z, y, c):
    r = np.abs(z - y)
    return np.where(r <= c, r**2 / 2, c * (r - c / 2))


def chi_square(z, y):
    total = z + y
    return np.where(total > 0, (z - y) ** 2 / np.where(total > 0, total, 1), 0.0)


LOSSES = {  # name, and parameters at random: rho(z, y), elementwise
    "Squared": lambda z, y, c: (z - y) ** 2,
    "Absolute": lambda z, y, c: np.abs(z - y),
    "Pinball": lambda z, y, c: pinball(z, y, c),
    "EpsilonInsensitive": lambda z, y, c: positive_part(np.abs(z - y) - c),
    "Huber": lambda z, y, c: huber(z, y, c),
    "Hinge": lambda z, y, c: positive_part(1 - z * y),
    "Cauchy": lambda z, y, c: c**2 / 2 * np.log1p(((z - y) / c) ** 2),
    "GemanMcClure": lambda z, y, c: (z - y) ** 2 / 2 / (1 + (z - y) ** 2),
    "Fair": lambda z, y, c: c**2 * (np.abs(z - y) / c - np.log1p(np.abs(z - y) / c)),
    "L2L1": lambda z, y, c: 2 * (np.sqrt(1 + (z - y) ** 2 / 2) - 1),
    "Logistic": lambda z, y, c: np.logaddexp(0, -z * y),
    "ChiSquare": lambda z, y, c: chi_square(z, y),
    "SquaredHellinger": lambda z, y, c: (np.sqrt(z) - np.sqrt(y)) ** 2 / 2,
    "RootAbsolute": lambda z, y, c: np.abs(np.sqrt(z) - np.sqrt(y)),
}
SCALED = {"Pinball", "EpsilonInsensitive", "Huber", "Cauchy", "Fair"}  # take one parameter
NOT_NEGATIVE = {"ChiSquare", "SquaredHellinger", "RootAbsolute"}


def line_points(low, high, n):
    return np.linspace(low, high, n)[:, None]


def simplex_points(d, n, rng):
    """Corners, midpoints and points at random with entries from 0 that add up to one."""
    corners = np.eye(d)
    between = (corners[:, None] + corners[None]).reshape(-1, d) / 2
    return np.vstack([corners, between, rng.dirichlet(np.full(d, 0.5), n)])


def sphere_points(d, n, rng):
    points = rng.standard_normal((n, d))
    points = np.vstack([np.eye(d), -np.eye(d), points])
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def risks(points, outputs, weights, rho):
    """sum_i w_i sum_j rho(z_j, y_ij) of all points z; shape (n_rows, n_points)."""
    loss = rho(points[:, None, :], outputs[None]).sum(axis=2)  # [point, output]
    return weights @ loss.T


# Losses with several parameters: arrays [point, output] of rows of numbers


def newsvendor(P, Y, under, over):
    t, y = P[:, None], Y[None]
    return (under * positive_part(y - t) + over * positive_part(t - y)).sum(axis=2)


def broken_line(t, slopes, breaks):
    """The integral of the slopes from the first break on, less its least value."""

    def integral(t):
        ends = np.concatenate([[-np.inf], breaks, [np.inf]])
        total = np.zeros(np.shape(t))
        for slope, left, right in zip(slopes, ends[:-1], ends[1:]):
            total = total + slope * (np.clip(t, left, right) - np.clip(breaks[0], left, right))
        return total

    return integral(t) - integral(np.asarray(breaks)).min()


KERNELS = {
    "rbf": lambda P, Y, g: np.exp(-g * ((P[:, None] - Y[None]) ** 2).sum(axis=2)),
    "laplacian": lambda P, Y, g: np.exp(-g * np.abs(P[:, None] - Y[None]).sum(axis=2)),
    "linear": lambda P, Y, g: P @ Y.T,
    "polynomial": lambda P, Y, g: (g * (P @ Y.T) + 1) ** 2,
}


def feature_distance(P, Y, kernel, g):
    """h(z, z) - 2 h(z, y) + h(y, y)."""
    h = KERNELS[kernel]
    own = [np.array([h(row[None], row[None], g)[0, 0] for row in rows]) for rows in (P, Y)]
    return own[0][:, None] - 2 * h(P, Y, g) + own[1][None]


def nearest_probabilities(w):
    """The nearest vector that is not negative and sums to one: the same is taken off all."""
    low, high = w.min() - 1.0, w.max()
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if positive_part(w - middle).sum() > 1 else (low, middle)
    shares = positive_part(w - (low + high) / 2)
    return shares / shares.sum()
