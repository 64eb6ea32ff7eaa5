# SPDX-License-Identifier: BSD-3-Clause
"""Triangle meshes as weighted graphs."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def cotangent_weights(points, faces) -> sparse.csr_array:
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
        flat = np.flatnonzero(area <= 1e-12 * np.sqrt(squares))
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
    weights.data[weights.data < 1e-14] = 0.0
    weights.eliminate_zeros()
    return weights
