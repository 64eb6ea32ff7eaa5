# SPDX-License-Identifier: BSD-3-Clause
"""Separable convex quadratic costs over a polytope, for many rows at once."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from skstruct.decoding.constraints import LinearConstraints
from skstruct.decoding.linear_programs import solve_linear_program
from skstruct.exceptions import InfeasibleError, UnverifiedAnswerError

FEASIBLE = 1e-9  # relative violation up to which a point counts as one of the polytope


def minimize_quadratic(a, b, constraints: LinearConstraints, low, high):
    r"""For every row the z of least :math:`\sum_j a_j z_j^2 + b_j z_j` in a polytope.

    Semismooth Newton steps on the dual, warm from row to row. Points meet the constraints
    to 1e-9 (see ``LinearConstraints.relative_violation``); bounds are values of the dual,
    which hold for any prices.

    Parameters
    ----------
    a : array of shape (d,) or (n, d)
        Positive.
    b : array of shape (n, d)
        Of any sign.
    constraints : LinearConstraints
    low, high : arrays of shape (d,) or (n, d)
        May be infinite.

    Returns
    -------
    points : array of shape (n, d)
    values, bounds : arrays of shape (n,)

    Examples
    --------
    >>> from skstruct.decoding.constraints import read_constraints
    >>> shares = read_constraints([[1, 1, 1]], [1.0])
    >>> target = np.array([[1.0, 0.5, -1.0]])
    >>> points, _, _ = minimize_quadratic(np.ones(3), -2 * target, shares, np.zeros(3), np.ones(3))
    >>> points.tolist()
    [[0.75, 0.25, 0.0]]
    """
    b = np.asarray(b, dtype=np.float64)
    a = np.atleast_2d(np.asarray(a, dtype=np.float64))
    low, high = (np.atleast_2d(np.asarray(x, dtype=np.float64)) for x in (low, high))
    if not (a > 0).all():
        raise ValueError("minimize_quadratic needs a > 0.")
    _check_limits(constraints, low, high)
    points, prices = _newton(a, b, constraints, low, high)
    broken = constraints.relative_violation(points)
    for i in np.flatnonzero(~(broken <= FEASIBLE)):
        limits = _row(low, i), _row(high, i)
        points[i] = nearest_point(constraints.row(i), *limits, points[i], row=int(i))
    values = (a * points**2 + b * points).sum(axis=1)
    return points, values, values - _gap(a, b, constraints, low, high, points, prices)


def _row(array, i):
    return array[i if len(array) > 1 else 0]


def _check_limits(constraints, low, high):
    crossed = np.flatnonzero((low > high).any(axis=1))
    if len(crossed):
        i = int(crossed[0])
        reason = constraints.row(i).conflict(_row(low, i), _row(high, i))
        raise InfeasibleError(f"No point meets the constraints in row {i}: {reason}.", i)


def _newton(a, b, constraints, low, high):
    """Points and prices of all rows by the compiled solver."""
    from skstruct.decoding._compiled_projections import project_rows

    system, order, norm = _prepared(constraints)
    targets = b / (-2 * a)
    half = 1 / a
    half /= half.max(axis=1, keepdims=True)  # the minimum does not change
    if len(half) > 1 and np.ptp(half, axis=0).max(initial=0.0) < 1e-14:
        half = half[:1]
    b_eq, b_ub = np.atleast_2d(constraints.b_eq), np.atleast_2d(constraints.b_ub)
    n = max(len(b_eq), len(b_ub))
    sides = [np.broadcast_to(side, (n, side.shape[1])) for side in (b_eq, b_ub)]
    right = np.ascontiguousarray(np.hstack(sides)[:, order] / norm)
    points, prices = np.empty(b.shape), np.empty((len(b), len(order)))
    steps = np.empty(len(b), np.int64)
    low, high = np.ascontiguousarray(low), np.ascontiguousarray(high)
    project_rows(system, targets, half, right, low, high, points, prices, steps)
    # Prices are those of a cost that was scaled so that the largest 1 / (2 a) is one.
    scale = 2 * a.min(axis=1, keepdims=True)
    unsorted = np.empty_like(prices)
    unsorted[:, order] = prices / norm * scale
    return points, unsorted


def _prepared(constraints):
    """What the solver needs to know of the matrices, once for all rows."""
    if "projection" not in constraints.plans:
        constraints.plans["projection"] = _prepare(constraints.A_eq, constraints.A_ub)
    return constraints.plans["projection"]


def _prepare(A_eq, A_ub):
    """The compiled solver's System, the order in which it has the constraints, their norms."""
    from skstruct.decoding._compiled_factors import find_pattern
    from skstruct.decoding._compiled_projections import System

    A = sparse.vstack([A_eq, A_ub], format="csr")
    A.eliminate_zeros()
    order = _fill_reducing_order(A)
    A = A[order]
    norm = np.sqrt((A * A).sum(axis=1))
    norm = np.where(norm > 0, norm, 1.0)
    A = sparse.csr_array(sparse.diags_array(1 / norm) @ A)
    A.sort_indices()
    by_column = A.tocsc()
    by_column.sort_indices()
    product = sparse.csr_array(abs(A) @ abs(A).T)
    pattern = find_pattern(product.indptr, product.indices)
    bounded = order >= A_eq.shape[0]
    arrays = (
        *(x.astype(np.int64) for x in (by_column.indptr, by_column.indices)), by_column.data,
        *(x.astype(np.int64) for x in (A.indptr, A.indices)), A.data,
    )  # fmt: skip
    return System(*arrays, *_pairs(by_column, pattern), bounded, pattern), order, norm


def _fill_reducing_order(A):
    """An order of the constraints in which factors of A A' stay sparse."""
    from scipy.sparse.linalg import splu

    m = A.shape[0]
    if m < 3:
        return np.arange(m)
    product = sparse.csc_array(abs(A) @ abs(A).T) + (m + 1.0) * sparse.eye_array(m, format="csc")
    factors = splu(product, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    return np.argsort(factors.perm_c)


def _pairs(by_column, pattern):
    """Products of two entries of each column, and where they go in A A'."""
    m, d = by_column.shape
    n_below = len(pattern.row_column)
    counts = np.diff(by_column.indptr)
    # Entry e of a column pairs with itself and those before it: rows ascend within columns.
    before = np.arange(by_column.nnz) - np.repeat(by_column.indptr[:-1], counts)
    first = np.repeat(np.arange(by_column.nnz), before + 1)
    ends = np.cumsum(before + 1)
    second = np.arange(len(first)) - np.repeat(ends - before - 1, before + 1)
    second += np.repeat(np.repeat(by_column.indptr[:-1], counts), before + 1)
    k, i = by_column.indices[first].astype(np.int64), by_column.indices[second].astype(np.int64)
    rows = np.repeat(np.arange(m), np.diff(pattern.row_start))
    below = np.searchsorted(rows * m + pattern.row_column, k * m + i)
    at = np.where(k == i, n_below + k, below)
    start = np.concatenate([[0], np.cumsum(counts * (counts + 1) // 2)])
    return start, at, by_column.data[first] * by_column.data[second]


def _gap(a, b, constraints, low, high, points, prices):
    r"""Value minus dual value, from differences only, so that no digits are lost.

    With q = A'p, t = -b / (2a) and z(p) the best point under the prices,
    :math:`\sum_j (z_j - z(p)_j) (a_j (z_j + z(p)_j - 2 t_j) + q_j) - p'(A z - b)`.
    """
    n_eq = constraints.A_eq.shape[0]
    eq, ub = prices[:, :n_eq], np.maximum(prices[:, n_eq:], 0.0)
    priced = (constraints.A_eq.T @ eq.T).T + (constraints.A_ub.T @ ub.T).T
    best = np.clip((b + priced) / (-2 * a), low, high)
    gap = ((points - best) * (a * (points + best) + b + priced)).sum(axis=1)
    gap -= (eq * ((constraints.A_eq @ points.T).T - constraints.b_eq)).sum(axis=1)
    gap -= (ub * ((constraints.A_ub @ points.T).T - constraints.b_ub)).sum(axis=1)
    return np.maximum(gap, 0.0)


def nearest_point(constraints, low, high, point, *, row=None):
    """A point of the polytope next to the given one (in sum of distances): a last resort."""
    d = constraints.n_columns
    start = np.clip(np.nan_to_num(point), low, high)
    # z = start + up - down
    A_eq = sparse.hstack([constraints.A_eq, -constraints.A_eq], format="csr")
    A_ub = sparse.hstack([constraints.A_ub, -constraints.A_ub], format="csr")
    b_eq, b_ub = (
        constraints.b_eq - constraints.A_eq @ start,
        constraints.b_ub - constraints.A_ub @ start,
    )
    reach = np.concatenate([high - start, start - low])
    unit = max(
        np.abs(start).max(initial=0.0),
        np.abs(b_eq).max(initial=0.0),
        np.abs(b_ub).max(initial=0.0),
        1e-300,
    )
    try:
        answer = solve_linear_program(
            np.ones(2 * d), A_eq, b_eq / unit, A_ub, b_ub / unit, np.zeros(2 * d), reach / unit
        )
    except InfeasibleError:
        reason = constraints.conflict(low, high)
        raise InfeasibleError(
            f"No point meets the constraints in row {row}: {reason}.", row
        ) from None
    moves = answer.point * unit
    found = np.clip(start + moves[:d] - moves[d:], low, high)
    broken = constraints.relative_violation(found[None])[0]
    if broken > 1e-6:
        raise UnverifiedAnswerError(
            f"No point was found that meets the constraints of row {row}: {constraints.worst(found)}."
        )
    return found
