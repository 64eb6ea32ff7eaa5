# SPDX-License-Identifier: BSD-3-Clause
"""Points t >= 0 and their roots s = sqrt(t), for curves that are simple in s."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.curves.base import ends


def nonnegative_ends(low, high, shape):
    """Both ends as contiguous arrays of the shape of the curves, none below zero."""
    low, high = ends(low, high, shape)
    if (low < 0).any():
        row, column = np.argwhere(low < 0)[0]
        raise ValueError(
            f"Losses of histograms need numbers of at least 0; the range of coordinate {column} "
            f"begins at {low[row, column]:g}."
        )
    return np.array(low), np.array(high)


def roots_of(T, shape):
    """Roots of points, where rounding may have put some below zero."""
    return np.sqrt(np.maximum(np.broadcast_to(np.asarray(T, dtype=np.float64), shape), 0.0))


def root_grid(low, high, n_cells: int, shape) -> np.ndarray:
    """Roots of points from low to high, evenly spaced: (1, d, m), or (B, d, m) if rows differ."""
    low, high = (np.sqrt(limit) for limit in nonnegative_ends(low, high, shape))
    if (low == low[:1]).all() and (high == high[:1]).all():
        low, high = low[:1], high[:1]
    return np.linspace(low, high, n_cells + 1, axis=-1)


def squares(roots, low, high, shape):
    """Points (d, m) or (B, d, m) from their roots (1 or B, d, m), none beyond the ends."""
    low, high = (limit[: len(roots), :, None] for limit in nonnegative_ends(low, high, shape))
    points = np.clip(roots**2, low, high)
    return points[0] if len(points) == 1 else points


def sag_depths(roots: np.ndarray) -> np.ndarray:
    r"""How far :math:`-\sqrt t` is below its chord at most, on cells given by their roots.

    That is :math:`(s_1 - s_0)^2 / (4 (s_0 + s_1))`, where s is in the middle.
    """
    both = roots[..., :-1] + roots[..., 1:]
    return np.diff(roots, axis=-1) ** 2 / (4.0 * np.where(both > 0, both, 1.0))


def per_unit(slopes, roots):
    """Slopes in t from slopes in sqrt(t): infinite at zero unless flat."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(slopes == 0, 0.0, slopes / (2.0 * roots))
