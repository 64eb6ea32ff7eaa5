# SPDX-License-Identifier: BSD-3-Clause
"""Pre-images: points whose features come nearest to a weighted sum of features."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

STEEPEST = 2.0 * np.exp(-1.5)  # the curvature of a Gaussian is at most twice gamma times this
TINY = 1e-290  # weights so far away that they pull nothing


def gaussian_sums(weights, Y, points, gamma: float):
    r"""The terms :math:`w_{bi} e^{-\gamma |z_b - y_i|^2}` of every row; shape (B, n).

    Subtract a common centre from both first: what cancels in the product is then small.
    """
    G = points @ Y.T
    G *= 2.0
    G -= np.einsum("bj,bj->b", points, points)[:, None]
    G -= np.einsum("ij,ij->i", Y, Y)
    np.minimum(G, 0.0, out=G)
    G *= gamma
    np.exp(G, out=G)
    G *= weights
    return G


def climb_gaussians(weights, Y, starts, gamma, project: Callable, *, n_steps=200, tol=1e-12):
    r"""Climb :math:`G_b(z) = \sum_i w_{bi} e^{-\gamma |z - y_i|^2}` within a set, for any signs.

    A step is that of mean shift, :math:`z + \sum_i w_i k_i (y_i - z) / \sum_i |w_i| k_i`, and
    longer as long as that pays. Where G falls, the step is divided by
    :math:`\sum_{w_i > 0} w_i k_i + 2 e^{-3/2} \sum_{w_i < 0} |w_i|` instead: a quadratic then
    lies below G, touches it at z, and is maximized over the set by projection, convex or not,
    so that G never falls.

    Parameters
    ----------
    weights : array of shape (B, n)
    Y : array of shape (n, d)
    starts : array of shape (B, d)
        Points of the set.
    project : callable (points (r, d), rows (r,)) -> nearest points of the set

    Returns
    -------
    points (B, d), sums (B,) : where the climb ended, and G there

    Examples
    --------
    >>> points, sums = climb_gaussians(
    ...     np.array([[1.0, 1.0]]), np.array([[0.0], [1.0]]), np.array([[0.0]]), 1.0,
    ...     lambda z, rows: z,
    ... )
    >>> points.round(4), sums.round(4)
    (array([[0.5]]), array([1.5576]))
    """
    centre = Y.mean(axis=0)
    Y, points = Y - centre, starts - centre
    negative = np.maximum(-weights, 0.0).sum(axis=1)
    terms = gaussian_sums(weights, Y, points, gamma)
    sums, stretch, active = terms.sum(axis=1), np.ones(len(points)), np.arange(len(points))
    scale = np.abs(weights).sum(axis=1)
    for _ in range(n_steps):
        w, z, P = weights[active], points[active], terms
        pull = P @ Y - P.sum(axis=1, keepdims=True) * z
        near = np.abs(P).sum(axis=1)
        length = np.divide(stretch[active], near, out=np.zeros_like(near), where=near > TINY)
        new, new_terms = _moved(w, Y, z + length[:, None] * pull, gamma, project, active, centre)
        failed = np.flatnonzero(~(new_terms.sum(axis=1) > sums[active]))
        if len(failed):
            rows = active[failed]
            safe = np.maximum(P[failed], 0.0).sum(axis=1) + STEEPEST * negative[rows]
            safe = np.divide(1.0, safe, out=np.zeros_like(safe), where=safe > TINY)
            goal = z[failed] + safe[:, None] * pull[failed]
            new[failed], new_terms[failed] = _moved(
                w[failed], Y, goal, gamma, project, rows, centre
            )
        gains = new_terms.sum(axis=1) - sums[active]
        better = gains > 0
        points[active[better]] = new[better]
        sums[active] += np.maximum(gains, 0.0)
        stretch[active] = np.minimum(1.4 * stretch[active], 100.0)
        stretch[active[failed]] = 1.0
        going = gains > tol * scale[active]
        active, terms = active[going], new_terms[going]
        if not len(active):
            break
    return points + centre, sums


def _moved(weights, Y, goal, gamma, project, rows, centre):
    new = project(goal + centre, rows) - centre
    return new, gaussian_sums(weights, Y, new, gamma)


def descend(value: Callable, starts, project: Callable, *, size: float, n_steps=60, tol=1e-12):
    """Projected gradient descent in every row, with slopes by central differences.

    Parameters
    ----------
    value : callable (points (r, d), rows (r,)) -> values (r,)
    starts : array of shape (B, d)
        Points of the set.
    project : callable (points (r, d), rows (r,)) -> nearest points of the set
    size : float
        A typical distance between points: steps begin at a tenth of it, and slopes are
        taken over a hundred-thousandth.

    Returns
    -------
    points (B, d), values (B,) : where the descent ended; never above the start
    """
    points, active = starts.copy(), np.arange(len(starts))
    values, step = value(points, active), np.full(len(starts), 0.1 * size)
    for _ in range(n_steps):
        z = points[active]
        slopes = _slopes(value, z, active, 1e-5 * size)
        steep = np.linalg.norm(slopes, axis=1)
        unit = np.divide(
            slopes, steep[:, None], out=np.zeros_like(slopes), where=steep[:, None] > 0
        )
        new = project(z - step[active, None] * unit, active)
        new_values = value(new, active)
        gains = values[active] - new_values
        better = gains > 0
        points[active[better]], values[active[better]] = new[better], new_values[better]
        step[active] *= np.where(better, 1.5, 0.25)
        small = np.where(better, gains <= tol * np.abs(new_values), step[active] < 1e-9 * size)
        active = active[~small & (steep > 0)]
        if not len(active):
            break
    return points, values


def _slopes(value, z, rows, h):
    slopes = np.empty_like(z)
    for j in range(z.shape[1]):
        shift = np.zeros(z.shape[1])
        shift[j] = h
        slopes[:, j] = (value(z + shift, rows) - value(z - shift, rows)) / (2.0 * h)
    return slopes


def feature_bounds(totals, lengths, low, high):
    r"""Lower bounds of :math:`s |\phi|^2 - 2 \langle \phi, m \rangle`, where |m| is known.

    At least :math:`\min_r s r^2 - 2 r |m|` over the lengths r that :math:`\phi` may have.

    Parameters
    ----------
    totals, lengths : arrays of shape (B,)
        s, of any sign, and |m|.
    low, high : float or arrays of shape (B,)
        Range of r; high may be infinite.

    Examples
    --------
    >>> feature_bounds(np.array([1.0, -1.0]), np.array([2.0, 2.0]), 0.0, np.inf)
    array([ -4., -inf])
    """
    totals, lengths, low, high = np.broadcast_arrays(totals, lengths, low, high)
    bent = totals > 0
    inside = np.divide(lengths, totals, out=np.array(low, dtype=np.float64), where=bent)
    best = totals * low**2 - 2.0 * low * lengths
    for r in (np.clip(inside, low, high), np.where(np.isfinite(high), high, low)):
        best = np.minimum(best, totals * r**2 - 2.0 * r * lengths)
    falls = ~np.isfinite(high) & ~bent & ((totals < 0) | (lengths > 0))
    return np.where(falls, -np.inf, best)
