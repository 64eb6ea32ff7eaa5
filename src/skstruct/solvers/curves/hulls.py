# SPDX-License-Identifier: BSD-3-Clause
"""The largest convex function below a sampled one: lower convex hulls, many at once."""

from __future__ import annotations

import numpy as np


def lower_hulls(points: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Slopes of the lower convex hulls, cell by cell.

    Parameters
    ----------
    points : array of shape (d, m) or (B, d, m)
        Sorted along the last axis; points may repeat (the lowest value counts).
    values : array of shape (B, d, m)

    Returns
    -------
    slopes : array of shape (B, d, m - 1)
        Nondecreasing along the last axis. The hull at point k is the lowest value at the first
        point plus ``(slopes * np.diff(points))[..., :k].sum()``.

    Examples
    --------
    >>> lower_hulls(np.array([[0.0, 1.0, 2.0]]), np.array([[[0.0, 3.0, 2.0]]])).tolist()
    [[[1.0, 1.0]]]
    """
    return _hulls(points, values)[1]


def hull_heights(points: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Heights of the lower convex hulls at the points themselves; shape (B, d, m).

    Examples
    --------
    >>> hull_heights(np.array([[0.0, 1.0, 2.0]]), np.array([[[0.0, 3.0, 2.0]]])).tolist()
    [[[0.0, 1.0, 2.0]]]
    """
    return _hulls(points, values)[0]


def _hulls(points, values):
    from skstruct.solvers.curves._numba import hull_heights as fill

    values = np.ascontiguousarray(values, dtype=np.float64)
    points = np.ascontiguousarray(points, dtype=np.float64)
    points = points[None] if points.ndim == 2 else points
    if values.ndim != 3 or points.shape[1:] != values.shape[1:] or values.shape[2] == 0:
        raise ValueError(
            f"values must be (B, d, m), m > 0, and points (d, m) or (B, d, m), got {values.shape} "
            f"and {points.shape[1:] if len(points) == 1 else points.shape}."
        )
    if len(points) not in (1, len(values)):
        raise ValueError(f"points have {len(points)} rows, values {len(values)}.")
    rows, d, m = values.shape
    heights, slopes = np.empty((rows, d, m)), np.empty((rows, d, m - 1))
    fill(points, values, heights, slopes)
    return heights, slopes
