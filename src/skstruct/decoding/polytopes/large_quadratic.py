# SPDX-License-Identifier: BSD-3-Clause
"""The steps of ``_compiled_quadratic`` for large systems, with sparse factors."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

STEPS, SHIFT, CLOSE, ROUNDED = 300, 1e-11, 1e-13, 100.0  # as in _compiled_quadratic


def project_large_rows(A, n_eq, targets, half, right, low, high, points, prices, steps):
    """Fill points, prices and steps; parameters as in ``_compiled_quadratic.project_rows``."""
    p = np.zeros(A.shape[0])
    for i, target in enumerate(targets):
        parts = (x[i if len(x) > 1 else 0] for x in (half, right, low, high))
        points[i], p, steps[i] = _settle(A, n_eq, target, *parts, p)
        prices[i] = p
        if steps[i] < 0:
            p = np.zeros_like(p)


def _settle(A, n_eq, target, half, right, low, high, p):
    from skstruct.decoding.polytopes._compiled_quadratic import line_search

    equal, least = np.arange(len(p)) < n_eq, np.inf
    for step in range(STEPS):
        priced = A.T @ p
        z = np.clip(target - half * priced, low, high)
        slope = A @ z - right
        size = np.abs(right) + abs(A) @ np.abs(z)
        in_play = equal | (p > 0) | (slope > 0)
        rounding = CLOSE * (size + size.max(initial=0.0))
        used = in_play & (slope != 0)
        left = (np.abs(slope[used]) / rounding[used]).max(initial=0.0)
        if left <= 1 or (left <= ROUNDED and left >= least):
            return z, p, step
        least = min(least, left)
        while True:  # prices of zero that would fall are taken out of play
            way = np.zeros_like(p)
            free = half * ((low < z) & (z < high))
            way[in_play] = _newton_way(A[in_play], free, slope[in_play])
            falling = ~equal & (p <= 0) & (way < 0)
            if not falling.any():
                break
            in_play &= ~falling
        of_row = target, half, right, low, high
        length = line_search(n_eq, of_row, p, way, priced, A.T @ way)
        if not length > 0:
            break
        p = np.where(equal, p + length * way, np.maximum(p + length * way, 0.0))
    return z, p, -1


def _newton_way(A, free, slope):
    system = sparse.csc_array((A * free) @ A.T)
    largest = system.diagonal().max(initial=0.0)
    system = system + sparse.diags_array(np.full(len(slope), SHIFT * largest or 1.0), format="csc")
    # Symmetric and positive definite, rows in an order of little fill: no pivoting.
    factors = splu(
        system, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    return factors.solve(slope)


def order_of_little_fill(linked):
    """An order of the constraints in which factors of A A' stay sparse."""
    m = linked.shape[0]
    system = sparse.csc_array(linked) + (m + 1.0) * sparse.eye_array(m, format="csc")
    factors = splu(system, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    return np.argsort(factors.perm_c)
