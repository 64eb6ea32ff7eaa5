# SPDX-License-Identifier: BSD-3-Clause
"""Sums over coordinates on the simplex {z >= 0, sum z = total}, with certificates."""

from __future__ import annotations

import numpy as np

from skstruct._arrays.blocks import parse_memory
from skstruct.decoding.histograms.share_prices import Shares, best_prices
from skstruct.decoding.histograms.share_steps import exchange, polish

PRECISION = 1e-11  # a gap this small relative to the range of the costs counts as closed


def separable_on_simplex(curves, total: float = 1.0, *, n_cells: int = 64, memory="200MB"):
    r"""Minimize :math:`\sum_j F_j(z_j)` for curves of any shape on the simplex.

    One constraint couples the coordinates. Without it, at a price :math:`\mu` per unit,

    .. math:: L(\mu) = \sum_j \min_{0 \le t \le T} [F_j(t) + \mu t] - \mu T

    is a lower bound; the best one belongs to the lower convex hulls of the curves, whose
    cheapest pieces are filled in until the total is reached. At most one coordinate is then
    off its curve's hull, so the gap is that of a single coordinate at most. Steps that
    exchange amounts between coordinates, and Newton's, make it smaller.

    Parameters
    ----------
    curves : Curves of shape (B, d)
    total : float, default=1.0
    n_cells : int, default=64
        Cells of a first sample of smooth curves.
    memory : str or int, default="200MB"
        Room for the samples; rows are worked on in blocks.

    Returns
    -------
    outputs : array of shape (B, d)
    values, bounds : arrays of shape (B,)

    Examples
    --------
    >>> from skstruct.decoding.curves.base import QuadraticCurves
    >>> curves = QuadraticCurves([[1.0, 1.0]], [[-1.0, 0.0]])
    >>> outputs, values, bounds = separable_on_simplex(curves)
    >>> outputs.round(6).tolist(), bool(values - bounds < 1e-9)
    ([[0.75, 0.25]], True)
    """
    n, d = curves.shape
    outputs, values, bounds = np.empty((n, d)), np.empty(n), np.empty(n)
    start, step, room = 0, 16, parse_memory(memory)
    while start < n:
        rows = slice(start, min(n, start + step))
        found = _minimize_block(curves.rows(rows), float(total), n_cells)
        outputs[rows], values[rows], bounds[rows], size = found
        start, step = rows.stop, max(1, room // max(1, 4 * size))
    return outputs, values, bounds


def _minimize_block(curves, total, n_cells):
    """Outputs, values, bounds, and the size of a row's samples in bytes."""
    from skstruct.decoding.histograms._compiled_histograms import mix_rows

    samples = curves.sample(0.0, total, n_cells)
    points = samples.points if samples.points.ndim == 3 else samples.points[None]
    points = np.ascontiguousarray(points)
    n, d, _m = samples.values.shape
    z, bounds, prices, spans = np.empty((n, d)), np.empty(n), np.empty(n), np.empty(n)
    mix_rows(points, samples.values, samples.slack, total, z, bounds, prices, spans)
    z *= total / z.sum(axis=1, keepdims=True)
    tolerance = PRECISION * spans

    z, values, lower = polish(curves, z, total, tolerance, bounds)
    bounds = np.maximum(bounds, lower)
    still = np.flatnonzero(values - bounds > tolerance)
    if len(still):
        some = curves.rows(still)
        near = points if len(points) == 1 else points[still], samples.values[still]
        start = Shares(z[still], values[still], bounds[still], -prices[still])
        found = _closer(some, near, start, total, tolerance[still])
        z[still], values[still], bounds[still] = found.z, found.values, found.bounds
    # Rounding may put a closed bound above the value by some last bits.
    return z, values, np.minimum(bounds, values), samples.values.nbytes // n


def _closer(curves, samples, start, total, tolerance):
    """Better bounds by the best price of a unit, then better shares at that price."""
    priced = best_prices(curves, start, total, tolerance)
    points, sampled = samples
    moved = exchange(points, sampled, priced, total, tolerance)
    z, values, _ = polish(curves, moved, total, tolerance, priced.bounds)
    better = values < priced.values
    z = np.where(better[:, None], z, priced.z)
    return Shares(z, np.where(better, values, priced.values), priced.bounds, priced.prices)
