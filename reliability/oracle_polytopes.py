# SPDX-License-Identifier: BSD-3-Clause
"""Polytopes of few dimensions: all their vertices, by trying every basis, and many points.

A linear cost is least at a vertex, and so is one that is concave. Of any other cost, no point may
be below a bound.
"""

from itertools import combinations

import numpy as np

INSIDE = 1e-6  # how far a point may be beyond a constraint, of its size


def as_rows(d, low, high, A_ub=None, b_ub=None):
    """A z <= b, with finite limits of the coordinates among the rows."""
    A = [np.zeros((0, d)) if A_ub is None else np.asarray(A_ub, dtype=float)]
    b = [np.zeros(0) if b_ub is None else np.asarray(b_ub, dtype=float)]
    for sign, limit in ((-1.0, -np.asarray(low, float)), (1.0, np.asarray(high, float))):
        kept = np.isfinite(limit)
        A.append(sign * np.eye(d)[kept])
        b.append(limit[kept])
    return np.vstack(A), np.concatenate(b)


def vertices(A, b, E, e):
    """All vertices of A z <= b, E z = e, for independent rows of E."""
    d, free = A.shape[1], A.shape[1] - len(E)
    found = []
    for rows in combinations(range(len(A)), free):
        system = np.vstack([E, A[list(rows)]])
        if abs(np.linalg.det(system)) > 1e-9:
            z = np.linalg.solve(system, np.concatenate([e, b[list(rows)]]))
            if is_inside(z[None], A, b, E, e)[0]:
                found.append(z)
    points = np.array(found).reshape(-1, d)
    return np.unique(points.round(9), axis=0)


def is_inside(Z, A, b, E, e):
    over = Z @ A.T - b <= INSIDE * (1 + np.abs(b))
    off = np.abs(Z @ E.T - e) <= INSIDE * (1 + np.abs(e))
    return over.all(axis=1) & off.all(axis=1)


def independent(E, e):
    """The same equations without those that follow from others."""
    kept = []
    for row in range(len(E)):
        if np.linalg.matrix_rank(E[[*kept, row]]) == len(kept) + 1:
            kept.append(row)
    return E[kept], e[kept]


def mixtures(V, n, rng):
    """Vertices, middles of pairs of these, and other points between them."""
    pairs = (V[:, None] + V[None]).reshape(-1, V.shape[1]) / 2
    inner = rng.dirichlet(np.full(len(V), 0.4), n) @ V
    return np.vstack([V, pairs[rng.permutation(len(pairs))[:200]], inner])


def towards(Z, V, steps=(1e-4, 0.01, 0.1, 0.5)):
    """From every point of Z a bit into the direction of every vertex; shape (n, m, d)."""
    t = np.array(steps)[:, None, None]
    near = [(z + t * (V[None] - z)).reshape(-1, V.shape[1]) for z in Z]
    return np.array(near)


def incidence(n, arcs):
    """Rows of nodes: what leaves less what comes in."""
    E = np.zeros((n, len(arcs)))
    for column, (u, v) in enumerate(arcs):
        E[u, column] += 1
        E[v, column] -= 1
    return E
