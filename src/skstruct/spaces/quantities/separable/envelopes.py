# SPDX-License-Identifier: BSD-3-Clause
"""Costs of any shape that add up over coordinates, over a polytope, with a lower bound."""

from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.memory import row_blocks
from skstruct.exceptions import InfeasibleError
from skstruct.spaces.quantities.separable.branch_and_bound import close_enough, close_gaps
from skstruct.spaces.quantities.separable.relaxations import HullProblem
from skstruct.spaces.solvers.curves.base import Curves, ends
from skstruct.spaces.solvers.linear_constraints import LinearConstraints
from skstruct.tolerances import (
    ENVELOPE_ROUNDING,
    NARROWEST_SPREAD,
    PROPAGATION_MARGIN,
    ROUNDING_GAP,
    SAMPLES_APART,
)

PROPAGATION_PASSES = 5


def implied_ranges(
    constraints: LinearConstraints, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    r"""Narrower bounds that every point of the polytope meets; low, high and answers (B, d).

    From :math:`\sum_k a_k z_k \le b` follows :math:`a_j z_j \le b - \sum_{k \ne j} \min a_k z_k`.
    Rows that turn out to have no points keep their bounds.

    Examples
    --------
    >>> from skstruct.spaces.solvers.linear_constraints import read_constraints
    >>> low, high = np.zeros((1, 2)), np.full((1, 2), 9.0)
    >>> implied_ranges(read_constraints([[1, 2]], [4.0]), low, high)[1].round(3).tolist()
    [[4.0, 2.0]]
    """
    A_eq, A_ub = constraints.A_eq, constraints.A_ub
    matrix = sparse.vstack([A_eq, -A_eq, A_ub]).tocsr()
    rights = [np.atleast_2d(b) for b in (constraints.b_eq, -constraints.b_eq, constraints.b_ub)]
    n = len(low)
    sides = np.hstack([np.broadcast_to(b, (n, b.shape[1])) for b in rights])
    matrix.eliminate_zeros()
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    column, entry = matrix.indices, matrix.data
    if not len(entry):
        return low, high
    size = np.maximum(np.abs(low), np.abs(high)).max(axis=1, keepdims=True)
    margin = PROPAGATION_MARGIN * np.maximum(size, np.abs(sides).max(axis=1, keepdims=True))
    new_low, new_high = low.copy(), high.copy()
    total = sparse.csr_array((np.ones(len(row)), (row, np.arange(len(row)))))
    total.resize(matrix.shape[0], len(row))
    above, below, on = entry > 0, entry < 0, np.arange(n)
    for _ in range(PROPAGATION_PASSES):
        lower, upper = new_low[on], new_high[on]
        width = (upper - lower).sum(axis=1)
        least = np.where(above, lower[:, column], upper[:, column]) * entry
        spare = (sides[on] - (total @ least.T).T)[:, row] + least  # what is left for entry * z
        limit = spare / entry + np.sign(entry) * margin[on] * np.maximum(1.0, 1.0 / np.abs(entry))
        up: Any = (slice(None), column[above])  # NumPy takes it, its types know arrays alone
        down: Any = (slice(None), column[below])
        np.minimum.at(upper, up, limit[:, above])
        np.maximum.at(lower, down, limit[:, below])
        new_low[on], new_high[on] = lower, upper
        on = on[(upper - lower).sum(axis=1) <= 0.99 * width]  # a row goes on by itself alone
        if not len(on):
            break
    fine = (new_low <= new_high).all(axis=1, keepdims=True)
    return np.where(fine, new_low, low), np.where(fine, new_high, high)


# Curves that are not piecewise linear: finer samples where they matter, round after round.
#
# The envelope problem is solved on samples. Its duals say where each curve, on its own, would
# be best (and prove a bound); samples there and around the best point come in, ever closer
# together. This is column generation with one column per coordinate.


REFINEMENT_ROUNDS = 14
SHRINK = 0.25  # of the spread of new samples from round to round
PATTERN = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])  # where they lie, in units of the spread
STUCK = 3  # rounds without progress after which a row is left as it is


def refine(
    curves: Any,
    polytope: HullProblem,
    low: np.ndarray,
    high: np.ndarray,
    points: np.ndarray,
    values: np.ndarray,
    outputs: np.ndarray,
    duals: np.ndarray,
    tolerance: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Best outputs (B, d), their values and bounds (B,) from a first sampling of the curves.

    points (d, k) or (B, d, k), values (B, d, k): samples; outputs (B, d) and duals (B, m): what
    was found on them.
    """
    n, _, k = values.shape
    points = np.broadcast_to(points, values.shape)
    best, cost = outputs.copy(), curves.at(outputs).sum(axis=1)
    bounds = np.full(n, -np.inf)
    stuck = np.zeros(n, dtype=np.int64)
    spread = (high - low) / (k - 1)
    todo = np.arange(n)
    for _ in range(REFINEMENT_ROUNDS):
        part, here = curves.rows(todo), polytope.rows(todo)
        wanted, proven = _lagrangian_minimum(part, here, low[todo], high[todo], duals[todo])
        progress = proven > bounds[todo] + tolerance[todo]
        bounds[todo] = np.maximum(bounds[todo], proven)
        box = spread[todo], low[todo], high[todo]
        new = np.concatenate([_around(at, *box) for at in (wanted, best[todo])], axis=2)
        heights = np.stack([part.at(new[..., i]) for i in range(new.shape[2])], axis=2)
        points, values = _merged(points, values, new, heights)
        try:
            relaxed = here.relax(points, values)
        except InfeasibleError:  # samples too close together for the solver: enough is known
            break
        found = part.at(relaxed.outputs).sum(axis=1)
        better = found < cost[todo]
        progress |= found < cost[todo] - tolerance[todo]
        cost[todo] = np.where(better, found, cost[todo])
        best[todo] = np.where(better[:, None], relaxed.outputs, best[todo])
        duals[todo] = relaxed.duals
        spread = np.maximum(spread * SHRINK, NARROWEST_SPREAD * (high - low))
        stuck[todo] = np.where(progress, 0, stuck[todo] + 1)
        stay = (cost[todo] - bounds[todo] > tolerance[todo]) & (stuck[todo] < STUCK)
        todo, points, values = todo[stay], points[stay], values[stay]
        if not len(todo):
            break
    return best, cost, bounds


def _lagrangian_minimum(
    curves: Any, polytope: HullProblem, low: np.ndarray, high: np.ndarray, duals: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where each curve is best at these duals (B, d), and the bounds they prove (B,)."""
    wanted, _, least = curves.minimize(low, high, slope=-polytope.worth(duals))
    return wanted, least.sum(axis=1) + (duals * polytope.sides).sum(axis=1)


def _around(center: np.ndarray, spread: np.ndarray, low: np.ndarray, high: np.ndarray) -> Any:
    """Points around a center (B, d), within the bounds; shape (B, d, 5)."""
    near = center[..., None] + spread[..., None] * PATTERN
    return np.clip(near, low[..., None], high[..., None])


def _merged(
    points: np.ndarray, values: np.ndarray, more_points: np.ndarray, more_values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """All samples in order. Of samples next to each other the first one counts for all."""
    points = np.concatenate([points, more_points], axis=2)
    values = np.concatenate([values, more_values], axis=2)
    order = np.argsort(points, axis=2, kind="stable")
    points = np.take_along_axis(points, order, axis=2)
    # Slopes between samples any closer than this would be rounding.
    close = np.diff(points, axis=2) < SAMPLES_APART * (points[..., -1:] - points[..., :1])
    close[..., -1] = False  # the ends stay
    chosen = np.zeros(points.shape, dtype=np.int64)
    chosen[..., 1:] = np.where(close, 0, np.arange(1, points.shape[2]))
    chosen = np.maximum.accumulate(chosen, axis=2)
    order = np.take_along_axis(order, chosen, axis=2)
    return np.take_along_axis(points, chosen, axis=2), np.take_along_axis(values, order, axis=2)


# Costs of any shape that add up over coordinates, over a polytope, with a lower bound.
#
# Each curve is replaced by its convex envelope. The optimum of that convex problem is a bound,
# and its solution a good point to start from: convex-concave steps lead to a local optimum of
# the curves themselves. What is left of the gap is closed by branch and bound. The bound is never
# the solver's word: any dual variables p (at most 0 for inequalities) prove
#
# .. math:: \sum_j F_j(z_j) \ge p'b + \sum_j \min_t [F_j(t) - (A'p)_j t].


MEMORY = "400MB"  # for the samples of the rows that are worked on together


def minimize_over_polytope(
    curves: Curves,
    constraints: LinearConstraints,
    low: Any,
    high: Any,
    max_boxes: int | None = 0,
    n_cells: int = 64,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Minimize :math:`\sum_j F_{bj}(z_j)` over a polytope, for every row b.

    Parameters
    ----------
    curves : Curves of shape (B, d)
        Of any shape. Convex rows are solved to rounding, others with a certified gap.
    constraints : LinearConstraints
        Right-hand sides for all rows or one per row.
    low, high : arrays that broadcast to (B, d)
        Finite.
    max_boxes : int or None, default=0
        Boxes that branch and bound looks at in a row to close its gap, down to 1e-7 of the
        value; None for no limit, and for 1e-9, which may take long. What is left is reported
        as ever.
    n_cells : int, default=64
        Cells of the first sampling of curves that are not piecewise linear.

    Returns
    -------
    outputs : array of shape (B, d)
    values : array of shape (B,)
        The cost of the outputs.
    bounds : array of shape (B,)
        No point of the polytope costs less.

    Raises
    ------
    InfeasibleError
        Where a row has no point; ``row`` says which.

    Examples
    --------
    Two numbers with sum one, each curve concave: one of them takes it all.

    >>> from skstruct.spaces.solvers.linear_constraints import read_constraints
    >>> from skstruct.spaces.solvers.curves.base import QuadraticCurves
    >>> curves = QuadraticCurves([[-1.0, -2.0]], [[0.0, 0.0]])
    >>> outputs, values, bounds = minimize_over_polytope(
    ...     curves, read_constraints([[1, 1]], [1.0]), 0.0, 1.0)
    >>> outputs, values, bounds
    (array([[0., 1.]]), array([-2.]), array([-2.]))
    """
    n, d = curves.shape
    low, high = ends(low, high, curves.shape)
    outputs, values, bounds = np.zeros((n, d)), np.zeros(n), np.zeros(n)
    if n == 0 or d == 0:
        return outputs, values, bounds
    probe = curves.rows(slice(0, 1)).sample(low[:1], high[:1], n_cells)
    for part in row_blocks(n, 40 * probe.values.size, MEMORY):
        block = curves.rows(part), HullProblem(constraints.rows(part)), low[part], high[part]
        try:
            outputs[part], values[part], bounds[part] = _minimize_block(*block, max_boxes, n_cells)
        except InfeasibleError as error:
            raise error.shifted(part.start) from None
    return outputs, values, bounds


def _tighter(
    constraints: LinearConstraints, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds that the constraints imply; the same for all rows where the question is."""
    if constraints.n_rows is None and (low == low[:1]).all() and (high == high[:1]).all():
        narrow = implied_ranges(constraints, low[:1], high[:1])
        return np.broadcast_to(narrow[0], low.shape), np.broadcast_to(narrow[1], low.shape)
    return implied_ranges(constraints, low, high)


def _minimize_block(
    curves: Any,
    polytope: HullProblem,
    low: np.ndarray,
    high: np.ndarray,
    max_boxes: int | None,
    n_cells: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if not len(polytope.equal):
        outputs, least, below = curves.minimize(low, high)
        return outputs, least.sum(axis=1), below.sum(axis=1)
    low, high = _tighter(polytope.constraints, low, high)
    samples = curves.sample(low, high, n_cells)
    relaxed = polytope.relax(samples.points, samples.values)
    outputs, at = relaxed.outputs, curves.at(relaxed.outputs)
    values = at.sum(axis=1)
    # With slack the samples bound nothing but themselves.
    rough = (samples.slack > 0).any(axis=(1, 2))
    bounds = np.where(rough, -np.inf, relaxed.bounds)
    size = np.abs(samples.values).max(axis=2).sum(axis=1)
    tolerance = ROUNDING_GAP * np.abs(values) + ENVELOPE_ROUNDING * size
    if rough.any():
        improved = refine(
            curves.rows(rough),
            polytope.rows(rough),
            low[rough],
            high[rough],
            samples.points[rough] if samples.points.ndim == 3 else samples.points,
            samples.values[rough],
            outputs[rough],
            relaxed.duals[rough],
            tolerance[rough],
        )
        outputs[rough], values[rough], bounds[rough] = improved
    aim = close_enough(values, samples, tolerance, max_boxes)
    rows = np.flatnonzero((values - bounds > aim) & ~np.asarray(curves.convex))
    if len(rows) and max_boxes != 0:
        outputs[rows], values[rows], bounds[rows] = close_gaps(
            curves.rows(rows),
            polytope.rows(rows),
            low[rows],
            high[rows],
            (outputs[rows], values[rows], bounds[rows]),
            tolerance[rows],
            n_cells,
            max_boxes,
        )
    bounds = np.where(values - bounds <= tolerance, values, bounds)
    return outputs, values, np.minimum(bounds, values)
