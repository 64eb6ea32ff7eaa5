# SPDX-License-Identifier: BSD-3-Clause
"""Piecewise linear curves of any shape over a polytope, exactly: an integer program for one row.

A curve is cut where it kinks downwards, into convex pieces. In the incremental formulation a
coordinate is the sum of its cells, and a binary variable between two pieces says that the
left one is full; without it the right one is empty. Within a piece cheap cells fill first of
themselves, so kinks upwards need no binary variable.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skstruct.exceptions import UnverifiedAnswerError

OUT_OF_TIME = 1  # status of milp
STRAIGHT = 1e-12  # kinks, relative to the steepest slope, that count as none
STEEPEST = 1e4  # slopes are scaled up to this: the solver stops at an absolute gap of 1e-6
CLAIM = 1e-9  # relative to all costs: how far the solver's bound is taken back


def minimize_pieces(points, heights, constraints, seconds=None):
    """A best point (d,) of the curves through samples (d, k), and a lower bound.

    The point is as exact as the solver's tolerances; None if none was found in ``seconds``.
    ``constraints`` are those of one row.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    owner, length, slope, piece = _cells(points, heights)
    unit = max((points[:, -1] - points[:, 0]).max(initial=0.0), np.finfo(float).tiny)
    scale = max(np.abs(slope).max(initial=0.0), np.finfo(float).tiny) / STEEPEST
    length = length / unit
    left, right, n_binary = _order(owner, length, piece)
    n_cells = len(owner)
    low = points[:, 0]
    idle = sparse.csr_array
    rows = []
    for A, b, below in (
        (constraints.A_eq, constraints.b_eq, False),
        (constraints.A_ub, constraints.b_ub, True),
    ):
        if A.shape[0]:
            side = (b - A @ low) / unit
            wide = sparse.hstack([A.tocsc()[:, owner], idle((A.shape[0], n_binary))])
            rows.append(LinearConstraint(wide, -np.inf if below else side, side))
    if n_binary:
        rows.append(LinearConstraint(sparse.vstack([left, right]), 0.0, np.inf))
    answer = milp(
        np.concatenate([slope / scale, np.zeros(n_binary)]),
        integrality=np.repeat([0, 1], [n_cells, n_binary]),
        bounds=Bounds(0.0, np.concatenate([length, np.ones(n_binary)])),
        constraints=rows,
        # the default stops at a gap of 1e-4
        options={"mip_rel_gap": 0.0, "time_limit": np.inf if seconds is None else seconds},
    )
    if answer.x is None and answer.status != OUT_OF_TIME:
        raise UnverifiedAnswerError(f"The MILP solver stopped: {answer.message}")
    claimed = answer.mip_dual_bound
    if claimed is None:  # no integers, or no time even for a first bound
        claimed = -np.inf if answer.x is None else answer.fun
    spans = np.abs(slope / scale) @ length
    bound = heights[:, 0].sum() + scale * unit * (claimed - CLAIM * spans)
    if answer.x is None:
        return None, float(bound)
    point = low + unit * np.bincount(owner, answer.x[:n_cells], minlength=len(points))
    return np.clip(point, low, points[:, -1]), float(bound)


def pieces_around(points, heights, point):
    """Samples of the convex pieces that hold a point: points (1, d, k), heights (1, d, k)."""
    owner, length, _, piece = _cells(points, heights)
    inner, height = np.empty_like(points), np.empty_like(heights)
    for j, (t, v) in enumerate(zip(points, heights)):
        mine = owner == j
        ends = t[0] + np.cumsum(length[mine])
        pieces = piece[mine]
        low, high = t[0], t[-1]
        if len(pieces):
            at = min(int(np.searchsorted(ends, point[j])), len(pieces) - 1)
            same = np.flatnonzero(pieces == pieces[at])
            low = t[0] if same[0] == 0 else ends[same[0] - 1]
            high = t[-1] if same[-1] == len(pieces) - 1 else ends[same[-1]]
        inner[j] = np.clip(t, low, high)
        height[j] = np.interp(inner[j], t, v)
    return inner[None], height[None]


def _cells(points, heights):
    """Owner, length, slope and number of the convex piece of every cell that has a length."""
    owner, k = np.nonzero(np.diff(points, axis=1) > 0)
    length = points[owner, k + 1] - points[owner, k]
    slope = (heights[owner, k + 1] - heights[owner, k]) / length
    flat = STRAIGHT * np.abs(slope).max(initial=0.0)
    new = np.ones(len(owner), dtype=bool)
    new[1:] = (owner[1:] != owner[:-1]) | (slope[1:] < slope[:-1] - flat)
    return owner, length, slope, np.cumsum(new) - 1


def _order(owner, length, piece):
    """Constraints (>= 0) that fill pieces from left to right; columns are cells, then binaries.

    Binary u between pieces g and g + 1 of one coordinate: cells of g >= length * u, cells of
    g + 1 <= length * u.
    """
    n, n_pieces = len(owner), int(piece[-1]) + 1 if len(piece) else 0
    first = np.searchsorted(piece, np.arange(n_pieces))
    follows = np.zeros(n_pieces, dtype=bool)  # the piece has one of its own on its left
    follows[1:] = owner[first[1:]] == owner[first[:-1]]
    number = np.cumsum(follows) - 1  # of the binary on the left of the piece
    n_binary = int(follows.sum())
    filled = np.append(follows[1:], False)[piece] if n else np.zeros(0, dtype=bool)
    blocked = follows[piece] if n else np.zeros(0, dtype=bool)
    parts = []
    for which, sign in ((filled, 1.0), (blocked, -1.0)):
        cell = np.flatnonzero(which)
        binary = number[piece[cell] + (1 if sign > 0 else 0)]
        row = np.arange(len(cell))
        data = np.concatenate([np.full(len(cell), sign), -sign * length[cell]])
        at = np.concatenate([row, row]), np.concatenate([cell, n + binary])
        parts.append(sparse.csr_array((data, at), shape=(len(cell), n + n_binary)))
    return parts[0], parts[1], n_binary
