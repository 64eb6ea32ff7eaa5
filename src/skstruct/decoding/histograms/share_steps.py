# SPDX-License-Identifier: BSD-3-Clause
"""Better shares of a total from good ones: Newton's steps, and exchanges of two coordinates."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.histograms.simplex import quadratic_on_simplex

N_STEPS = 12  # Newton steps at most
LENGTHS = (0.5, 0.2, 0.05, 0.01)  # tried of a step that is too long
N_EXCHANGES = 12  # tried for one row at most
WORTHWHILE = 2e-3  # of the gap that is left: what an exchange has to gain
PATIENCE = 3  # coordinates that find no partner before the others are not asked


def polish(curves, z, total, tolerance, bounds):
    """Newton's method on the simplex, as long as it helps and a gap is left.

    Every step minimizes a quadratic model with curvature at least zero. Where a curve has a
    kink the difference of slopes makes the model so steep that the coordinate stays.

    Returns
    -------
    z, values : shares that cost no more than those given, up to rounding
    lower : array (B,); where the row is convex, the bound of its tangents,
        F(z) + min over shares s of <F'(z), s - z>, otherwise minus infinity
    """
    z = z.copy()
    values, lower = curves.at(z).sum(axis=1), np.full(len(z), -np.inf)
    convex = np.asarray(curves.convex)
    active = np.flatnonzero(values - bounds > tolerance)
    for step in range(N_STEPS + 1):
        some, at = curves.rows(active), z[active]
        slopes = some.slopes(at)
        bowl = active[convex[active]]
        tangent = values[active] + _least_tangent(slopes, at, total)
        lower[bowl] = np.maximum(lower[bowl], tangent[convex[active]])
        open_ = values[active] - np.maximum(bounds[active], lower[active]) > tolerance[active]
        if step == N_STEPS or not open_.any():
            break
        aim = _newton(some, at, slopes, total) - at
        gain = _line_search(some, at, aim, values[active], 1e-4 * tolerance[active])
        z[active], values[active] = at, values[active] - gain
        # The bound of a convex row still gains when its value does no more.
        helps = np.where(convex[active], gain != 0, gain > 1e-3 * tolerance[active])
        active = active[helps & open_]
        if len(active) == 0:
            break
    return z, values, lower


def _least_tangent(slopes, z, total):
    """min over shares s of <slopes, s - z>; minus infinity where a slope in use is infinite."""
    with np.errstate(invalid="ignore"):
        least = total * slopes.min(axis=1) - np.where(z > 0, slopes * z, 0.0).sum(axis=1)
    return np.where(np.isnan(least), -np.inf, least)


def _newton(curves, z, slopes, total):
    """Minimizers of <slopes, s - z> + sum_j h_j (s_j - z_j)^2 / 2 over shares s."""
    bend = np.abs(_curvatures(curves, z, total))
    usable = np.isfinite(slopes) & np.isfinite(bend)
    steepest = np.abs(np.where(usable, slopes, 0.0)).max(axis=1, keepdims=True, initial=0.0)
    unit = np.where(steepest > 0, steepest, 1.0) / total
    bend = np.clip(np.where(usable, bend, np.inf), 1e-6 * unit, 1e12 * unit)
    slopes = np.where(usable, slopes, 0.0)
    return quadratic_on_simplex(0.5 * bend, slopes - bend * z, total)[0]


def _curvatures(curves, z, total):
    known = getattr(curves, "curvatures", None)
    if known is not None:
        return known(z)
    width = 1e-5 * np.maximum(z, 1e-3 * total)
    low = np.maximum(z - width, 0.0)
    with np.errstate(invalid="ignore"):
        return (curves.slopes(z + width) - curves.slopes(low)) / (z + width - low)


def _line_search(curves, z, aim, values, rounding):
    """Move z along aim, in place; returns what was gained, up to ``rounding`` less than zero.

    The whole step is tried first, and kept where it does not cost more.
    """
    length = np.zeros(len(z))
    gain = values - curves.at(np.maximum(z + aim, 0.0)).sum(axis=1)
    length[gain > -rounding] = 1.0
    short = np.flatnonzero(length == 0)
    gain[short] = 0.0
    for shorter in LENGTHS if len(short) else ():
        there = np.maximum(z[short] + shorter * aim[short], 0.0)
        found = values[short] - curves.rows(short).at(there).sum(axis=1)
        better = short[found > gain[short]]
        length[better], gain[better] = shorter, found[found > gain[short]]
    z += length[:, None] * aim
    np.maximum(z, 0.0, out=z)
    return gain


def exchange(points, sampled, shares, total, tolerance):
    """Move amounts between two coordinates at a time, while samples say that it helps.

    points (B or 1, d, m) and sampled (B, d, m) stand for the curves; between them they
    are taken as straight. Returns shares; whether they are better is for the curves to say.
    """
    from skstruct.decoding.histograms._compiled_shares import exchange_rows

    z, sampled = shares.z.copy(), np.ascontiguousarray(sampled)
    worth = np.maximum(tolerance, WORTHWHILE * (shares.values - shares.bounds))
    exchange_rows(points, sampled, shares.prices, z, N_EXCHANGES, PATIENCE, worth)
    z = np.maximum(z, 0.0)
    return z * (total / z.sum(axis=1, keepdims=True))
