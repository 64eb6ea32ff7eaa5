# SPDX-License-Identifier: BSD-3-Clause
"""Graphs between points: of a mesh, or drawn from a manifold, with heat that spreads as there."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from skstruct.spaces.common.formats import refuse_empty
from skstruct.tolerances import CANCELED, DIFFERENCE_ROUNDING


def cotangent_weights(points: Any, faces: Any) -> sparse.csr_array:
    """Weights of the edges of a mesh; see ``GraphNodes.from_mesh``.

    Parameters
    ----------
    points : array of shape (n, 2) or (n, 3)
    faces : integer array of shape (m, 3)
    """
    points, faces = np.asarray(points, dtype=np.float64), np.asarray(faces)
    if points.ndim != 2 or points.shape[1] not in (2, 3) or not np.isfinite(points).all():
        raise ValueError(
            f"A mesh has finite points of shape (n, 2) or (n, 3); got shape {points.shape}."
        )
    if faces.ndim != 2 or faces.shape[1] != 3 or faces.dtype.kind not in "iu":
        raise ValueError(f"Faces are triples of vertex numbers; got shape {faces.shape}.")
    outside = np.flatnonzero(((faces < 0) | (faces >= len(points))).any(axis=1))
    if len(outside):
        row = outside[0]
        raise ValueError(f"Face {row} is {faces[row].tolist()}; there are {len(points)} points.")
    heads, tails, halves = [], [], []
    for corner in range(3):  # cot = <a, b> / |a x b| at a corner, for the edge opposite to it
        here, u, v = (faces[:, (corner + step) % 3] for step in range(3))
        a, b = points[u] - points[here], points[v] - points[here]
        dot = (a * b).sum(axis=1)
        squares = (a * a).sum(axis=1) * (b * b).sum(axis=1)
        area = np.sqrt(np.maximum(squares - dot**2, 0.0))
        flat = np.flatnonzero(area <= DIFFERENCE_ROUNDING * np.sqrt(squares))
        if len(flat):
            row = flat[0]
            raise ValueError(f"Face {row} is {faces[row].tolist()}: a triangle without area.")
        heads.append(u)
        tails.append(v)
        halves.append(0.5 * dot / area)
    at = np.concatenate(heads), np.concatenate(tails)
    half = sparse.csr_array((np.concatenate(halves), at), shape=(len(points), len(points)))
    weights = sparse.csr_array(half + half.T)
    weights.data = np.maximum(weights.data, 0.0)
    # Rounding leaves about 1e-17 opposite to right angles.
    weights.data[weights.data < CANCELED] = 0.0
    weights.eliminate_zeros()
    return weights


def diffusion_graph(
    points: Any, epsilon: float | None = None, alpha: float = 1.0, n_neighbors: int | None = None
) -> tuple[sparse.csr_array, np.ndarray]:
    r"""Weights and masses of a graph whose Laplacian tends to that of a manifold.

    With :math:`k(x, y) = e^{-|x - y|^2 / 4 \epsilon}`, :math:`q = \sum_y k(\cdot, y)`,
    :math:`k_\alpha(x, y) = k(x, y) / (q(x) q(y))^\alpha` and :math:`d = \sum_y k_\alpha(\cdot, y)`,
    the walk of probabilities :math:`k_\alpha(x, y) / d(x)` takes steps of time epsilon. Weights
    :math:`k_\alpha / (\epsilon \sum d)` and masses :math:`d / \sum d` give its generator,
    :math:`(1 - P) / \epsilon`, as Laplacian over mass.

    Parameters
    ----------
    points : array of shape (n, p)
    epsilon, alpha, n_neighbors : see ``GraphNodes.from_points``

    Returns
    -------
    weights : sparse array of shape (n, n), with an empty diagonal
    masses : array of shape (n,), of sum one
    """
    points = _checked(points, alpha, epsilon)
    n = len(points)
    near = NearestNeighbors().fit(points)
    if epsilon is None:
        at = min(n - 1, int(np.ceil(np.sqrt(n))))
        epsilon = float(np.median(near.kneighbors(n_neighbors=at)[0][:, -1] ** 2)) / 4.0
        if epsilon == 0.0:
            raise ValueError("from_points: most points are copies of others; give epsilon.")
    squares = _squared_distances(near, points, n_neighbors)
    kernel = squares.copy()
    kernel.data = np.exp(-squares.data / (4.0 * epsilon))
    # Every point is at no distance to itself.
    kernel = sparse.csr_array(kernel + sparse.eye_array(n))
    thin = sparse.diags_array(kernel.sum(axis=1) ** -float(alpha))
    kernel = sparse.csr_array(thin @ kernel @ thin)
    sums = kernel.sum(axis=1)
    weights = kernel - sparse.diags_array(kernel.diagonal())
    return sparse.csr_array(weights / (epsilon * sums.sum())), sums / sums.sum()


def _checked(given: Any, alpha: float, epsilon: float | None) -> np.ndarray:
    points: np.ndarray = np.asarray(given, dtype=np.float64)
    refuse_empty(points, "GraphNodes.from_points")
    if points.ndim != 2 or not np.isfinite(points).all():
        raise ValueError(
            f"from_points expects finite points of shape (n, p); got shape {points.shape}."
        )
    if len(points) < 2:
        raise ValueError("from_points: one point has no neighbors; got 1 row.")
    if not (np.isfinite(alpha) and alpha >= 0):
        raise ValueError(f"from_points: alpha is a number of at least 0; got {alpha!r}.")
    if epsilon is not None and not (np.isfinite(epsilon) and epsilon > 0):
        raise ValueError(f"from_points: epsilon is a positive number; got {epsilon!r}.")
    return points


def _squared_distances(
    near: NearestNeighbors, points: np.ndarray, n_neighbors: int | None
) -> sparse.csr_array:
    """Between all pairs of points, or where one is among the nearest of the other."""
    n = len(points)
    k = n - 1 if n_neighbors is None else n_neighbors
    if not 1 <= k <= n - 1:
        raise ValueError(f"from_points: n_neighbors is from 1 to {n - 1}; got {k!r}.")
    distances, others = near.kneighbors(n_neighbors=k)
    rows, others = np.repeat(np.arange(n), k), others.ravel()
    low, high = np.minimum(rows, others), np.maximum(rows, others)
    first = np.unique(low * n + high, return_index=True)[1]  # pairs that are near both ways
    low, high, squares = low[first], high[first], distances.ravel()[first] ** 2
    ends = np.concatenate([low, high]), np.concatenate([high, low])
    # Copies are at distance zero: entries that are stored all the same.
    return sparse.csr_array((np.concatenate([squares, squares]), ends), shape=(n, n))
