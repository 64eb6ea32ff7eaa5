# SPDX-License-Identifier: BSD-3-Clause
"""Spaces of numbers drawn at random, beside their vertices and many of their points."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import oracle_polytopes as oracle
from oracle_quantities import sphere_points

from skstruct import spaces


@dataclass
class Region:
    """A fitted space of rows of numbers, and what it is by definition.

    ``narrow(rng)`` draws constraints: arguments of ``restrict`` and the region that is left.
    """

    name: str
    space: Any
    Y: np.ndarray  # some points, to train with; shape: (n, d)
    inside: Callable[[np.ndarray], np.ndarray]
    points: np.ndarray  # of the space, many
    vertices: np.ndarray | None = None  # all of them
    narrow: Callable[..., tuple[dict[str, Any], "Region"]] | None = None
    facts: Any = None


def region(rng, name, space, A, b, E, e, narrow=None):
    V = oracle.vertices(A, b, E, e)
    points = oracle.mixtures(V, 150, rng)
    n = int(rng.integers(6, 20))
    Y = points[rng.integers(len(points), size=n)]

    def inside(Z):
        return oracle.is_inside(Z, A, b, E, e)

    return Region(name, space, Y, inside, points, V, narrow)


def few_boxes(rng):
    """Mostly so few that gaps are left, which are looked at here; closing them takes time."""
    return None if rng.random() < 0.1 else int(rng.choice([0, 10, 50]))


def no_equations(d):
    return np.zeros((0, d)), np.zeros(0)


def box(rng):
    d = int(rng.integers(1, 4))
    low = rng.integers(-3, 2, d).astype(float)
    high = low + rng.integers(0 if d > 1 else 1, 5, d)
    space = spaces.Interval(low[0], high[0]) if d == 1 else spaces.Box(low, high)
    A, b = oracle.as_rows(d, low, high)
    found = region(rng, type(space).__name__, space, A, b, *no_equations(d))
    found.space = space.fit(found.Y[:, 0] if d == 1 else found.Y)

    def narrow(rng):
        below = low + np.round((high - low) * rng.random(d) * 0.6, 2)
        A, b = oracle.as_rows(d, below, high)
        return {"low": below if d > 1 else float(below[0])}, region(
            rng, found.name, found.space, A, b, *no_equations(d)
        )

    found.narrow = narrow
    return found


def simplex(rng):
    d, total = int(rng.integers(2, 5)), float(rng.choice([1.0, 1.0, 3.0]))
    A, b = oracle.as_rows(d, np.zeros(d), np.full(d, np.inf))
    space = spaces.Simplex(total, max_boxes=few_boxes(rng))
    found = region(rng, "Simplex", space, A, b, np.ones((1, d)), np.array([total]))
    found.space = space.fit(found.Y)
    return found


def polytope(rng):
    d = int(rng.integers(2, 5))
    low = rng.integers(-2, 1, d).astype(float)
    high = low + rng.integers(1, 4, d)
    inner = low + (high - low) * rng.integers(0, 5, d) / 4
    U = rng.integers(-2, 3, (int(rng.integers(1, 3)), d)).astype(float)
    u = U @ inner + rng.integers(0, 3, len(U)) / 2
    given: dict[str, Any] = {"A_ub": U, "b_ub": u, "bounds": list(zip(low, high))}
    E, e = no_equations(d)
    if rng.random() < 0.5:
        E = rng.integers(1, 3, (1, d)).astype(float)
        e = E @ inner
        given |= {"A_eq": E, "b_eq": e}
    space = spaces.Polytope(**given, max_boxes=few_boxes(rng))
    found = region(rng, "Polytope", space, *oracle.as_rows(d, low, high, U, u), E, e)
    found.space = space.fit(found.Y)

    def narrow(rng):
        z = found.points[rng.integers(len(found.points))]
        less = U @ z + rng.random(len(U))
        equal = {"b_eq": E @ z} if len(E) else {}
        A, b = oracle.as_rows(d, low, high, U, less)
        left = region(rng, "Polytope", found.space, A, b, E, E @ z)
        return {"b_ub": less, **equal}, left

    found.narrow = narrow
    return found


def flows(rng):
    n = int(rng.integers(3, 5))
    pool = [(u, v) for u in range(n) for v in range(n) if u != v]
    chosen = [pool[k] for k in rng.permutation(len(pool))[: int(rng.integers(3, 7))]]
    arcs = sorted({*chosen, *((u, u + 1) for u in range(n - 1))})[:7]
    if not {(u, u + 1) for u in range(n - 1)} <= set(arcs):
        return flows(rng)
    capacity = rng.integers(1, 4, len(arcs)).astype(float)
    supply = np.zeros(n)
    supply[0] = 1.0
    supply[-1] = -1.0
    E, e = oracle.independent(oracle.incidence(n, arcs), supply)
    names = "abcd"
    labels = [(names[u], names[v], c) for (u, v), c in zip(arcs, capacity)]
    told = {names[v]: float(b) for v, b in enumerate(supply) if b}
    space = spaces.Flows(labels, told, max_boxes=few_boxes(rng))
    A, b = oracle.as_rows(len(arcs), np.zeros(len(arcs)), capacity)
    found = region(rng, "Flows", space, A, b, E, e)
    found.space = space.fit(found.Y)

    def narrow(rng):
        share = float(np.round(0.2 + 0.8 * rng.random(), 2))
        told = {names[v]: share * float(b) for v, b in enumerate(supply) if b}
        return {"supply": told}, region(rng, "Flows", found.space, A, b, E, share * e)

    found.narrow = narrow
    return found


def portfolios(rng):
    """Weights that add up to one; facts: the covariance, and the largest deviation."""
    d = int(rng.integers(2, 5))
    root = rng.standard_normal((int(rng.integers(1, d + 1)), d))
    S = root.T @ root
    low, high = np.zeros(d), np.ones(d)
    if rng.random() < 0.5:
        low, high = np.full(d, -0.2), np.round(0.5 + rng.random(d), 1)
    A, b = oracle.as_rows(d, low, high)
    sums = np.ones((1, d)), np.ones(1)
    found = region(rng, "Portfolios", None, A, b, *sums)
    most = np.inf
    if rng.random() < 0.3:
        variances = np.einsum("ij,jk,ik->i", found.points, S, found.points)
        risks = np.sqrt(np.maximum(variances, 0))
        most = float(np.quantile(risks, 0.4)) + 0.1
    settings = {} if most == np.inf else {"max_risk": most}
    found.space = spaces.Portfolios(S, low=low, high=high, **settings)
    found.facts = S, most

    def narrow(rng):
        top = np.round(high * (0.6 + 0.4 * rng.random(d)), 2)
        left = region(rng, "Portfolios", found.space, *oracle.as_rows(d, low, top), *sums)
        left.facts = found.facts
        return {"high": top}, left

    found.narrow = narrow if most == np.inf and high.sum() > 2 else None
    return found


def sphere(rng):
    d = int(rng.integers(2, 5))
    points = sphere_points(d, 200, rng)
    Y = points[rng.integers(len(points), size=int(rng.integers(6, 20)))]

    def inside(Z):
        return np.abs(np.linalg.norm(Z, axis=1) - 1) <= oracle.INSIDE

    return Region("Sphere", spaces.Sphere().fit(Y), Y, inside, points)


REGIONS = [box, simplex, polytope, flows, portfolios, sphere]
