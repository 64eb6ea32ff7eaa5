# SPDX-License-Identifier: BSD-3-Clause
"""Data of papers/decisions.py: rows of features, the costs that are seen too late, and a problem.

The generators are those of PyEPO (Tang and Khalil, 2024), with its random numbers for the same
seed. x is standard normal with p features, B of Bernoulli(1/2) numbers, eps uniform within
1 - noise and 1 + noise:

    grid, 5 x 5, p = 5         c = ((B x / sqrt(p) + 3)^degree + 1) / 3.5^degree eps
    knapsack, 32 items, p = 5  c = ceil(5 ((B x / sqrt(p) + 3)^degree + 1) / 3.5^degree eps);
                               weights within 3 and 8, one or two capacities of 20
    tours, 20 nodes, p = 10    c = distance + (B u x / sqrt(p) + 3)^degree / 3^(degree - 1) eps,
                               u uniform within -2 and 2; half of the nodes uniform, half normal

The *mean* of costs given x is known, and the decision that is best for it is the best possible.
"""

from dataclasses import dataclass, replace

import numpy as np
from decisions_problems import GridPaths, Knapsack, Tours
from scipy.spatial.distance import pdist

N_TEST = 1000
CAPACITY = 20.0


@dataclass(frozen=True)
class Decisions:
    """Features, costs and mean costs of rows, for training and test; the mean may be unknown."""

    problem: object
    X: np.ndarray  # shape: (n, p), or (n, n_costs, p) where every cost has its own features
    C: np.ndarray  # shape: (n, n_costs)
    mean: np.ndarray | None

    def rows(self, rows):
        mean = None if self.mean is None else self.mean[rows]
        return replace(self, X=self.X[rows], C=self.C[rows], mean=mean)


def _noise(random, noise, shape):
    return random.uniform(1 - noise, 1 + noise, shape)


def grid(n, degree, noise, seed, *, shape=(5, 5), n_features=5):
    problem, random = GridPaths(*shape), np.random.RandomState(seed)
    B = random.binomial(1, 0.5, (problem.n_costs, n_features))
    X = random.normal(0, 1, (n, n_features))
    mean = ((X @ B.T / np.sqrt(n_features) + 3) ** degree + 1) / 3.5**degree
    C = (mean * _noise(random, noise, mean.shape)).astype(np.float32)
    return Decisions(problem, X, C, mean)


def knapsack(n, degree, noise, seed, *, n_dimensions=1, n_items=32, n_features=5):
    random = np.random.RandomState(seed)
    weights = random.choice(range(300, 800), size=(n_dimensions, n_items)) / 100
    B = random.binomial(1, 0.5, (n_items, n_features))
    X = random.normal(0, 1, (n, n_features))
    smooth = ((X @ B.T / np.sqrt(n_features) + 3) ** degree + 1) * 5 / 3.5**degree
    C = np.ceil(smooth * _noise(random, noise, smooth.shape)).astype(np.float32)
    problem = Knapsack(weights, np.full(n_dimensions, CAPACITY))
    return Decisions(problem, X, C, mean_ceiling(smooth, noise))


def mean_ceiling(values, noise):
    """E ceil(v eps), eps uniform within 1 - noise and 1 + noise.

    The integral of the ceiling from 0 to t is k (k + 1) / 2 + (t - k)(k + 1) with k = floor(t).
    """
    if noise == 0:
        return np.ceil(values)
    ends = values * (1 - noise), values * (1 + noise)
    low, high = ((k := np.floor(t)) * (k + 1) / 2 + (t - k) * (k + 1) for t in ends)
    with np.errstate(invalid="ignore"):
        return np.where(values == 0, 0.0, (high - low) / (ends[1] - ends[0]))


def tours(n, degree, noise, seed, *, n_nodes=20, n_features=10):
    problem, random = Tours(n_nodes), np.random.RandomState(seed)
    half, d = n_nodes // 2, problem.n_costs
    places = [random.uniform(-2, 2, (half, 2)), random.normal(0, 1, (n_nodes - half, 2))]
    distances = pdist(np.concatenate(places))
    B = random.binomial(1, 0.5, (d, n_features)) * random.uniform(-2, 2, (d, n_features))
    X = random.normal(0, 1, (n, n_features))
    smooth = (X @ B.T / np.sqrt(n_features) + 3) ** degree / 3 ** (degree - 1)
    C = np.around(distances + smooth * _noise(random, noise, smooth.shape), 4).astype(np.float32)
    return Decisions(problem, X, C, distances + smooth)


def knapsack2(n, degree, noise, seed):
    return knapsack(n, degree, noise, seed, n_dimensions=2)


GENERATED = {"grid": grid, "knapsack": knapsack, "knapsack2": knapsack2, "tours": tours}


def generated(name, n, degree, noise, seed):
    """n rows for training and 1,000 for test."""
    data = GENERATED[name](n + N_TEST, degree, noise, seed)
    return data.rows(slice(None, n)), data.rows(slice(n, None))


# ---------------------------------------------------------------------- electricity
ENERGY = ("energy60", "energy120", "energy180")
N_ENERGY = 550, 100  # days for training and for choices; 139 are left for test


def energy_knapsack(capacity, seed):
    """Days of 48 half hours: for training, for choices, for test; scaled by those for training.

    The split of predopt-benchmarks: all days in one random order by the seed.
    """
    from sklearn.utils import shuffle

    from skstruct.datasets import load

    data = load("energy_knapsack")
    X, C = shuffle(data.X, data.values, random_state=seed)
    problem = Knapsack(data.weights[None].astype(float), np.array([float(capacity)]))
    known = X[: N_ENERGY[0]].reshape(-1, X.shape[2])
    deviation = known.std(axis=0)
    X = (X - known.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    whole, (first, second) = Decisions(problem, X, C, None), np.cumsum(N_ENERGY)
    return tuple(whole.rows(slice(*ends)) for ends in ((0, first), (first, second), (second, None)))
