# SPDX-License-Identifier: BSD-3-Clause
"""Separable convex quadratic costs over a polytope, for many rows at once."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from skstruct.exceptions import InfeasibleError, UnverifiedAnswerError
from skstruct.spaces.solvers.linear_constraints import LinearConstraints
from skstruct.spaces.solvers.linear_programs import solve_linear_program
from skstruct.tolerances import (
    CANCELED,
    DIAGONAL_SHIFT,
    FEASIBLE,
    RESIDUAL_ROUNDING,
    TRUSTED_VIOLATION,
)


def least_distance_point(
    target: np.ndarray,
    half: np.ndarray,
    constraints: LinearConstraints,
    low: np.ndarray,
    high: np.ndarray,
) -> tuple[np.ndarray, np.ndarray] | None:
    r"""Point z and dual variables of least :math:`\sum_j (z_j - t_j)^2 / (4 h_j)` in a polytope.

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
    if last <= CANCELED:
        return None
    z = np.clip(target + root * (C.T @ y) * scale / last, low, high)
    duals = y * scale / last / lengths
    m_eq, m_ub = len(A_eq), len(A_ub)
    return z, np.concatenate([duals[m_eq : 2 * m_eq] - duals[:m_eq],
                              duals[2 * m_eq : 2 * m_eq + m_ub]])  # fmt: skip


def project_large_rows(
    A: Any,
    n_eq: Any,
    targets: Any,
    half: Any,
    right: Any,
    low: Any,
    high: Any,
    points: np.ndarray,
    duals: Any,
    steps: Any,
) -> None:
    """Fill points, duals and steps; parameters as in ``_numba_quadratic_programs``."""
    p = np.zeros(A.shape[0])
    for i, target in enumerate(targets):
        h, r, least, most = (x[i if len(x) > 1 else 0] for x in (half, right, low, high))
        points[i], p, steps[i] = _settle(A, n_eq, target, h, r, least, most, p)
        duals[i] = p
        if steps[i] < 0:
            p = np.zeros_like(p)


def _settle(
    A: Any, n_eq: Any, target: Any, half: Any, right: Any, low: Any, high: Any, p: Any
) -> Any:
    from skstruct.spaces.quantities._numba_quadratic_programs import ROUNDED, STEPS, line_search

    equal, least = np.arange(len(p)) < n_eq, np.inf
    for step in range(STEPS):
        weighed = A.T @ p
        z = np.clip(target - half * weighed, low, high)
        slope = A @ z - right
        size = np.abs(right) + abs(A) @ np.abs(z)
        in_play = equal | (p > 0) | (slope > 0)
        rounding = RESIDUAL_ROUNDING * (size + size.max(initial=0.0))
        used = in_play & (slope != 0)
        left = (np.abs(slope[used]) / rounding[used]).max(initial=0.0)
        if left <= 1 or (left <= ROUNDED and left >= least):
            return z, p, step
        least = min(least, left)
        while True:  # duals of zero that would fall are taken out of play
            way = np.zeros_like(p)
            free = half * ((low < z) & (z < high))
            way[in_play] = _newton_way(A[in_play], free, slope[in_play])
            falling = ~equal & (p <= 0) & (way < 0)
            if not falling.any():
                break
            in_play &= ~falling
        of_row = target, half, right, low, high
        length = line_search(n_eq, of_row, p, way, weighed, A.T @ way)
        if not length > 0:
            break
        p = np.where(equal, p + length * way, np.maximum(p + length * way, 0.0))
    return z, p, -1


def _newton_way(A: Any, free: Any, slope: Any) -> Any:

    system = sparse.csc_array((A * free) @ A.T)
    largest = system.diagonal().max(initial=0.0)
    system = system + sparse.diags_array(
        np.full(len(slope), DIAGONAL_SHIFT * largest or 1.0), format="csc"
    )
    # Symmetric and positive definite, rows in an order of little fill: no pivoting.
    factors = splu(
        system, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    return factors.solve(slope)


def order_of_little_fill(linked: Any) -> Any:
    """An order of the constraints in which factors of A A' stay sparse."""
    m = linked.shape[0]
    system = sparse.csc_array(linked) + (m + 1.0) * sparse.eye_array(m, format="csc")
    factors = splu(system, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    return np.argsort(factors.perm_c)


LARGE = 400  # constraints from which on factors are sparse


def minimize_quadratic(
    a: np.ndarray, b: np.ndarray, constraints: LinearConstraints, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""For every row the z of least :math:`\sum_j a_j z_j^2 + b_j z_j` in a polytope.

    Semismooth Newton steps on the dual, with exact line searches, from the duals of the
    row before. With dual variables p (at least 0 for inequalities) the best point is
    :math:`z(p) = clip(-(b + A'p) / 2a)`, and it solves the problem where it meets the
    constraints. Points meet them to 1e-9 (see ``LinearConstraints.relative_violation``);
    bounds are values of the dual, which hold for any duals.

    Parameters
    ----------
    a : array of shape (d,) or (n, d)
        Positive.
    b : array of shape (n, d)
        Of any sign.
    constraints : LinearConstraints
    low, high : arrays of shape (d,), (1, d) or (n, d)
        May be infinite.

    Returns
    -------
    points : array of shape (n, d)
    values, bounds : arrays of shape (n,)

    Examples
    --------
    >>> from skstruct.spaces.solvers.linear_constraints import read_constraints
    >>> shares = read_constraints([[1, 1, 1]], [1.0])
    >>> target = np.array([[1.0, 0.5, -1.0]])
    >>> points, _, _ = minimize_quadratic(np.ones(3), -2 * target, shares, np.zeros(3), np.ones(3))
    >>> points.round(9).tolist()
    [[0.75, 0.25, 0.0]]
    """
    b = np.asarray(b, dtype=np.float64)
    a, low, high = (np.atleast_2d(np.asarray(x, dtype=np.float64)) for x in (a, low, high))
    if not (a > 0).all():
        raise ValueError("minimize_quadratic needs a > 0.")
    _check_limits(constraints, low, high)
    points, duals, steps = _newton(a, b, constraints, low, high)
    _clear_rounding(points, b / (2 * a), low, high)
    broken = constraints.relative_violation(points)
    for i in np.flatnonzero((steps < 0) | ~(broken <= FEASIBLE)):
        sides = constraints.row(int(i)), _row(low, i), _row(high, i)
        points[i], duals[i] = _degenerate(_row(a, i), b[i], *sides, duals[i], int(i))
    values = (a * points**2 + b * points).sum(axis=1)
    return points, values, values - _gap(a, b, constraints, low, high, points, duals)


def _clear_rounding(
    points: np.ndarray, targets: np.ndarray, low: np.ndarray, high: np.ndarray
) -> None:
    """Coordinates that are zero but for rounding become zero, in place."""
    size = np.maximum(np.abs(points), np.abs(targets)).max(axis=1, keepdims=True, initial=0.0)
    zero = (np.abs(points) <= CANCELED * size) & (low <= 0) & (high >= 0)
    points[zero] = 0.0


def _row(array: np.ndarray, i: Any) -> Any:
    return array[i if len(array) > 1 else 0]


def _check_limits(constraints: LinearConstraints, low: np.ndarray, high: np.ndarray) -> None:
    crossed = np.flatnonzero((low > high).any(axis=1))
    if len(crossed):
        i = int(crossed[0])
        reason = constraints.row(i).conflict(_row(low, i), _row(high, i))
        raise InfeasibleError(f"No point meets the constraints in row {i}: {reason}.", i)


def _newton(
    a: np.ndarray, b: np.ndarray, constraints: LinearConstraints, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points and dual variables of all rows."""
    A, order, norm, n_eq, first = _prepared(constraints)
    half = 1.0 / (2.0 * a)
    unit = half.max(axis=1, keepdims=True)  # a cost times a constant has the same minimum
    right = np.ascontiguousarray(constraints.sides[:, order] / norm)
    arrays: Any = [np.ascontiguousarray(x) for x in (-b * half, half / unit, right, low, high)]
    targets, half, right, low, high = arrays
    points, duals = np.empty(b.shape), np.empty((len(b), len(order)))
    steps = np.empty(len(b), np.int64)
    if len(order) < LARGE:
        from skstruct.spaces.quantities._numba_quadratic_programs import project_rows

        columns = A.tocsc()
        columns.sort_indices()
        parts = columns.indptr.astype(np.int64), columns.indices.astype(np.int64), columns.data
        m, d = right.shape[1], targets.shape[1]
        work = np.empty((m, m)), *np.zeros((4, m)), *np.empty((2, d)), np.empty(m, np.bool_)
        given = parts, n_eq, first, targets, half, right, low, high
        project_rows(*given, *work, points, duals, steps)
    else:
        project_large_rows(A, n_eq, targets, half, right, low, high, points, duals, steps)
    unsorted = np.empty_like(duals)
    unsorted[:, order] = duals / norm / unit
    return points, unsorted, steps


def _degenerate(
    a: np.ndarray,
    b: np.ndarray,
    constraints: LinearConstraints,
    low: np.ndarray,
    high: np.ndarray,
    duals: np.ndarray,
    row: int,
) -> tuple[np.ndarray, np.ndarray]:
    """A row on which Newton's steps do not settle, by a slower method."""
    found = least_distance_point(-b / (2 * a), 1.0 / (2 * a), constraints, low, high)
    if found is not None:
        _clear_rounding(found[0][None], b / (2 * a), low, high)
    if found is not None and constraints.relative_violation(found[0][None])[0] <= FEASIBLE:
        return found
    return _nearby_point(constraints, low, high, -b / (2 * a), row), duals


def _prepared(
    constraints: LinearConstraints,
) -> Any:
    """What the solver needs to know of the matrices, once for all rows."""
    if "quadratic" not in constraints.plans:
        constraints.plans["quadratic"] = _prepare(constraints.A_eq, constraints.A_ub)
    return constraints.plans["quadratic"]


def _prepare(A_eq: Any, A_ub: Any) -> tuple[Any, np.ndarray, np.ndarray, int, np.ndarray]:
    """Constraints of length one, in an order that keeps the factors of A A' small.

    Returns the matrix, the order, the lengths, the number of equations (which stay first)
    and for every row of A A' its first column that is not zero.
    """
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    A = sparse.vstack([A_eq, A_ub], format="csr")
    norm = np.sqrt((A * A).sum(axis=1))
    norm = np.where(norm > 0, norm, 1.0)
    linked = sparse.csr_array(abs(A) @ abs(A).T)
    if A.shape[0] == 0:
        order = np.zeros(0, int)
    elif A.shape[0] < LARGE:
        order = reverse_cuthill_mckee(sparse.csr_matrix(linked), symmetric_mode=True)
    else:
        order = order_of_little_fill(linked)
    n_eq = A_eq.shape[0]
    order = np.concatenate([order[order < n_eq], order[order >= n_eq]]).astype(int)
    A = sparse.csr_array(sparse.diags_array(1 / norm[order]) @ A[order])
    linked = sparse.csr_array(linked[order][:, order])
    linked.sort_indices()
    m = A.shape[0]
    first = np.arange(m)
    filled = np.diff(linked.indptr) > 0
    first[filled] = np.minimum(first[filled], linked.indices[linked.indptr[:-1][filled]])
    return A, order, norm[order], n_eq, first


def _gap(
    a: np.ndarray,
    b: np.ndarray,
    constraints: LinearConstraints,
    low: np.ndarray,
    high: np.ndarray,
    points: np.ndarray,
    duals: np.ndarray,
) -> Any:
    r"""Value minus dual value, from differences only, so that no digits are lost.

    With q = A'p and z(p) the best point under the dual variables,
    :math:`\sum_j (z_j - z(p)_j) (a_j (z_j + z(p)_j) + b_j + q_j) - p'(A z - b)`.
    """
    n_eq = constraints.A_eq.shape[0]
    eq, ub = duals[:, :n_eq], np.maximum(duals[:, n_eq:], 0.0)
    weighed = (constraints.A_eq.T @ eq.T).T + (constraints.A_ub.T @ ub.T).T
    best = np.clip((b + weighed) / (-2 * a), low, high)
    gap = ((points - best) * (a * (points + best) + b + weighed)).sum(axis=1)
    gap -= (eq * ((constraints.A_eq @ points.T).T - constraints.b_eq)).sum(axis=1)
    gap -= (ub * ((constraints.A_ub @ points.T).T - constraints.b_ub)).sum(axis=1)
    return np.maximum(gap, 0.0)


def _nearby_point(
    constraints: LinearConstraints, low: np.ndarray, high: np.ndarray, point: np.ndarray, row: int
) -> Any:
    """A point of the polytope next to the given one (in sum of distances): a last resort."""
    d = constraints.n_columns
    start = np.clip(point, low, high)
    A_eq, b_eq = constraints.A_eq, constraints.b_eq - constraints.A_eq @ start
    A_ub, b_ub = constraints.A_ub, constraints.b_ub - constraints.A_ub @ start
    sizes = [np.abs(x).max(initial=0.0) for x in (start, b_eq, b_ub)]
    unit = max(*sizes, np.finfo(float).tiny)
    try:  # z = start + up - down
        answer = solve_linear_program(
            np.ones(2 * d),
            sparse.hstack([A_eq, -A_eq], format="csr"), b_eq / unit,
            sparse.hstack([A_ub, -A_ub], format="csr"), b_ub / unit,
            np.zeros(2 * d), np.concatenate([high - start, start - low]) / unit,
        )  # fmt: skip
    except InfeasibleError:
        reason = constraints.conflict(low, high)
        raise InfeasibleError(
            f"No point meets the constraints in row {row}: {reason}.", row
        ) from None
    moved = np.clip(start + unit * (answer.point[:d] - answer.point[d:]), low, high)
    if constraints.relative_violation(moved[None])[0] > TRUSTED_VIOLATION:
        raise UnverifiedAnswerError(f"No point of the polytope was found for row {row}.")
    return moved
