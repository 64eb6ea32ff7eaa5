# SPDX-License-Identifier: BSD-3-Clause
"""Least distance programming: slow, small, and not afraid of degenerate constraints."""

from __future__ import annotations

import numpy as np


def least_distance_point(target, half, constraints, low, high):
    r"""Point z and prices of least :math:`\sum_j (z_j - t_j)^2 / (4 h_j)` in a polytope.

    With :math:`u = (z - t) / \sqrt{h}` and all constraints as :math:`C u \ge e`, Lawson and
    Hanson's algorithm LDP (Solving Least Squares Problems, chapter 23) solves
    :math:`\min_{y \ge 0} |C'y|^2 + (e'y - 1)^2`, whose residual points to u. Returns None
    where it finds no point.

    Parameters
    ----------
    target, half, low, high : arrays of shape (d,)
    constraints : LinearConstraints of one row
    """
    from scipy.optimize import nnls

    root = np.sqrt(half)
    A_eq, A_ub = constraints.A_eq.toarray(), constraints.A_ub.toarray()
    eye, below, above = np.eye(len(target)), np.isfinite(low), np.isfinite(high)
    rows = np.vstack([A_eq, -A_eq, -A_ub, eye[below], -eye[above]])
    sides = np.concatenate(
        [constraints.b_eq, -constraints.b_eq, -constraints.b_ub, low[below], -high[above]]
    )
    C, e = rows * root, sides - rows @ target
    lengths = np.sqrt((C * C).sum(axis=1))
    lengths[lengths == 0] = np.inf  # a row of zeros says nothing of z
    C, e = C / lengths[:, None], e / lengths
    scale = max(np.abs(e).max(initial=0.0), np.finfo(float).tiny)
    e = e / scale
    try:
        y, _ = nnls(np.vstack([C.T, e]), np.append(np.zeros(len(target)), 1.0), maxiter=50 * len(e))
    except RuntimeError:  # too many steps
        return None
    last = 1.0 - e @ y
    if last <= 1e-14:
        return None
    z = np.clip(target + root * (C.T @ y) * scale / last, low, high)
    prices = y * scale / last / lengths
    m_eq, m_ub = len(A_eq), len(A_ub)
    return z, np.concatenate([prices[m_eq : 2 * m_eq] - prices[:m_eq],
                              prices[2 * m_eq : 2 * m_eq + m_ub]])  # fmt: skip
