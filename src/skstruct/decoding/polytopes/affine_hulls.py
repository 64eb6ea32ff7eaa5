# SPDX-License-Identifier: BSD-3-Clause
"""The flat that a polytope lies in, and the polytope within it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skstruct.decoding.polytopes.constraints import LinearConstraints

FLAT = 1e-9  # of its size, up to which the width of a polytope in some direction is zero
ROUNDING = 1e-12  # of the numbers that are subtracted, up to which a difference is rounding


@dataclass(frozen=True)
class AffineHull:
    r"""A bounded polytope :math:`\{x_0 + B t : G t \le h\}` that has an interior in t.

    t = 0 is inside: all h are above zero.
    """

    origin: np.ndarray  # x_0, shape (d,)
    basis: np.ndarray  # B, shape (d, k): k is the dimension of the polytope
    normals: np.ndarray  # G, rows of length one, shape (m, k)
    offsets: np.ndarray  # h, shape (m,)

    @property
    def dimension(self) -> int:
        return self.basis.shape[1]


def affine_hull(constraints: LinearConstraints, low, high) -> AffineHull:
    """The smallest flat around a bounded polytope; limits of shape (d,), finite.

    Every coordinate and every inequality is driven as far as it goes, by linear programs. An
    inequality that cannot be loose is an equation; the mean of all points that were found is
    loose in all the others, and so in the interior.

    Examples
    --------
    >>> from skstruct.decoding.polytopes.constraints import read_constraints
    >>> shares = read_constraints([[1, 1, 1]], [1.0], [[1, 1, 0]], [0.0])
    >>> hull = affine_hull(shares, np.zeros(3), np.ones(3))  # x + y <= 0 leaves one point
    >>> hull.dimension, hull.origin.tolist()
    (0, [0.0, 0.0, 1.0])
    """
    d = constraints.n_columns
    A_eq, A_ub = constraints.A_eq.toarray(), constraints.A_ub.toarray()
    costs = np.vstack([np.eye(d), -np.eye(d), A_ub])
    points = constraints.minimize_linear(costs, low, high)[0]
    centre, width = points.mean(axis=0), np.ptp(points, axis=0)
    size = np.abs(points).max(axis=0)
    free = width > FLAT * size + ROUNDING * size.max()
    scale = np.where(free, width, 0.0)  # coordinates in units of their width

    G = np.vstack([np.eye(d), -np.eye(d), A_ub])
    h = np.concatenate([high, -low, constraints.b_ub])
    slack = h - G @ centre
    # The mean is loose by at least 1 / len(points) of the most that any point is.
    room = FLAT * np.abs(G) @ scale + ROUNDING * (np.abs(G) @ size + np.abs(h))
    tight = slack * len(points) <= room
    equations = np.vstack([A_eq, G[tight]])
    off = np.concatenate([constraints.b_eq - A_eq @ centre, slack[tight]])
    solution, null = _solved(equations, off, scale)
    basis = scale[:, None] * null
    origin = centre + scale * solution
    normals, offsets = (G @ basis)[~tight], (h - G @ origin)[~tight]
    # What is left of an inequality on fixed coordinates is no inequality.
    length = np.linalg.norm(normals, axis=1)
    binding = length > ROUNDING * (np.abs(G[~tight]) @ scale + offsets)
    length = length[binding]
    return AffineHull(
        np.clip(origin, low, high), basis, normals[binding] / length[:, None],
        offsets[binding] / length,
    )  # fmt: skip


def _solved(equations, sides, scale):
    """The shortest u and the null space of E diag(scale) u = sides; shapes (d,) and (d, k)."""
    d = len(scale)
    free = np.flatnonzero(scale)
    E = equations[:, free] * scale[free]
    length = np.abs(E).max(axis=1, initial=0.0)
    moves = length > 0
    E, sides = E[moves] / length[moves, None], sides[moves] / length[moves]
    left, values, right = np.linalg.svd(E, full_matrices=True)
    rank = int((values > FLAT * values.max(initial=0.0)).sum())
    solution, null = np.zeros(d), np.zeros((d, len(free) - rank))
    solution[free] = right[:rank].T @ ((left.T @ sides)[:rank] / values[:rank])
    null[free] = right[rank:].T
    return solution, null
