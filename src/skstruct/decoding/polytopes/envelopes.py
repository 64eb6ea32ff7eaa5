# SPDX-License-Identifier: BSD-3-Clause
r"""Costs of any shape that add up over coordinates, over a polytope, with a lower bound.

Each curve is replaced by its convex envelope. The optimum of that convex problem is a bound,
and its solution a good place to start from: convex-concave steps lead to a local optimum of
the curves themselves. What is left of the gap is closed by branch and bound. The bound is never
the solver's word: any prices p (at most 0 for inequalities) prove

.. math:: \sum_j F_j(z_j) \ge p'b + \sum_j \min_t [F_j(t) - (A'p)_j t].
"""

from __future__ import annotations

import numpy as np

from skstruct._arrays.blocks import row_blocks
from skstruct.decoding.curves.base import Curves, ends
from skstruct.decoding.polytopes.branching import close_enough, close_gaps
from skstruct.decoding.polytopes.constraints import LinearConstraints
from skstruct.decoding.polytopes.propagation import implied_ranges
from skstruct.decoding.polytopes.relaxations import HullProblem
from skstruct.exceptions import InfeasibleError

MEMORY = "400MB"  # for the samples of the rows that are worked on together
CLOSED = 1e-9  # relative gap that is called rounding
ROUNDING = 1e-13  # the same relative to the sum of the largest terms


def minimize_over_polytope(
    curves: Curves,
    constraints: LinearConstraints,
    low,
    high,
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

    >>> from skstruct.decoding.polytopes.constraints import read_constraints
    >>> from skstruct.decoding.curves.base import QuadraticCurves
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


def _tighter(constraints, low, high):
    """Bounds that the constraints imply; the same for all rows where the question is."""
    if constraints.n_rows is None and (low == low[:1]).all() and (high == high[:1]).all():
        narrow = implied_ranges(constraints, low[:1], high[:1])
        return tuple(np.broadcast_to(end, low.shape) for end in narrow)
    return implied_ranges(constraints, low, high)


def _minimize_block(curves, polytope, low, high, max_boxes, n_cells):
    from skstruct.decoding.polytopes.envelope_refinement import refine

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
    tolerance = CLOSED * np.abs(values) + ROUNDING * np.abs(samples.values).max(axis=2).sum(axis=1)
    if rough.any():
        improved = refine(
            curves.rows(rough),
            polytope.rows(rough),
            low[rough],
            high[rough],
            samples.points[rough] if samples.points.ndim == 3 else samples.points,
            samples.values[rough],
            outputs[rough],
            relaxed.prices[rough],
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
