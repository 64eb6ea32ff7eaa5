# SPDX-License-Identifier: BSD-3-Clause
"""Compiled branch and bound: piecewise linear curves over a polytope, finer where they matter."""

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct._arrays._numba_copying import assign, assign_rows
from skstruct.spaces.quantities.separable._numba_envelopes import (
    LOCAL_STEPS,
    chord_cost,
    hull_of,
    largest_size,
    local_curve,
    new_basis,
    new_curves,
    optimum,
    restart,
)
from skstruct.spaces.quantities.separable._numba_simplex import Basis, Columns, Curve
from skstruct.tolerances import FEASIBLE, ZERO_SLOPE


@nb.njit(cache=True, nogil=True)
def cells_around(points, at, narrowest):
    """Ends (d,) of the cell of samples (d, k) that holds each coordinate and of those next to it.

    Also which of them are wider than ``narrowest`` (d,).
    """
    d, k = points.shape
    low, high, wide = np.empty(d), np.empty(d), np.zeros(d, np.bool_)
    for j in range(d):
        t = points[j]
        right = 0
        while right < k - 1 and t[right] <= at[j]:
            right += 1
        left = right
        while left > 0 and t[left] >= t[right]:
            left -= 1
        low[j], high[j] = t[left], t[right]
        while left > 0 and t[left] >= low[j]:
            left -= 1
        while right < k - 1 and t[right] <= high[j]:
            right += 1
        low[j], high[j] = t[left], t[right]
        wide[j] = high[j] - low[j] > narrowest[j]
    return low, high, wide


@nb.njit(cache=True, nogil=True)
def _append(points, values, slack, n, t, v, s):
    """Add a sample with the slack of the cell before it; one at the same position replaces none."""
    if n > 0 and t <= points[n - 1]:
        return n
    points[n], values[n] = t, v
    if n > 0:
        slack[n - 1] = s
    return n + 1


@nb.njit(cache=True, nogil=True)
def _joint(t, v, s, k, at, value):
    """Slack of a part of cell k that ends at a new sample: its chord may lie higher."""
    width = t[k + 1] - t[k]
    share = (at - t[k]) / width if width > 0.0 else 0.0
    return s[k] + max(0.0, value - (v[k] + share * (v[k + 1] - v[k])))


@nb.njit(cache=True, nogil=True)
def merge_samples(points, values, slack, new_points, new_values, new_slack, wide):
    """Samples (d, k) with those of one interval per coordinate in place of the old ones there.

    ``slack`` (d, k - 1) says how far a curve may lie below the chord of a cell. Coordinates that
    are not ``wide`` stay as they are.
    """
    d, k = points.shape
    m = new_points.shape[1]
    t, v = np.empty((d, k + m)), np.empty((d, k + m))
    s, size = np.zeros((d, k + m)), np.zeros(d, np.int64)
    for j in range(d):
        n, left, right = 0, new_points[j, 0], new_points[j, m - 1]
        for i in range(k):
            if wide[j] and points[j, i] >= left:
                break
            n = _append(t[j], v[j], s[j], n, points[j, i], values[j, i], slack[j, max(i - 1, 0)])
        if wide[j]:
            joint = _joint(points[j], values[j], slack[j], max(i - 1, 0), left, new_values[j, 0])
            n = _append(t[j], v[j], s[j], n, left, new_values[j, 0], joint)
            for i in range(1, m):
                n = _append(
                    t[j], v[j], s[j], n, new_points[j, i], new_values[j, i], new_slack[j, i - 1]
                )
            joined = False
            for i in range(1, k):
                if points[j, i] > right:
                    gap = slack[j, i - 1]
                    if not joined:
                        gap = _joint(points[j], values[j], slack[j], i - 1, right,
                                     new_values[j, m - 1])  # fmt: skip
                        joined = True
                    n = _append(t[j], v[j], s[j], n, points[j, i], values[j, i], gap)
        size[j] = n
    most = size.max()
    for j in range(d):
        for i in range(size[j], most):
            t[j, i], v[j, i] = t[j, size[j] - 1], v[j, size[j] - 1]
    return t[:, :most].copy(), v[:, :most].copy(), s[:, : most - 1].copy()


# Compiled branch and bound: piecewise linear curves of any shape over a polytope.
#
# A box is a range of samples first..last of every coordinate. The hulls of the curves on it give a
# bound by weak duality and a point, which may be the best so far. At the duals that prove the
# bound samples that cost too much at either end are cut away; then the coordinate that is highest
# above its hull is cut in two at a sample next to the point, where both hulls touch the curve.


FIRST_ROOM = 64  # boxes for which there is room at first


class Problem(NamedTuple):
    """One row: constraints, and samples in increasing order, the last one repeated."""

    columns: Columns
    equal: np.ndarray  # (m,)
    sides: np.ndarray  # (m,)
    points: np.ndarray  # (d, k)
    values: np.ndarray  # (d, k)
    scale: float  # the steepest slope
    unit: float  # the largest length


class Work(NamedTuple):
    """Where a box is worked on."""

    basis: Basis
    curve: Curve
    bounds: Curve
    rest: np.ndarray  # (m,)
    corners: np.ndarray  # (k,)
    worth: np.ndarray  # (d,): A'p
    least: np.ndarray  # (d,): of values - worth * points on the box
    point: np.ndarray  # (d,): of the hull problem


@nb.njit(cache=True, nogil=True)
def new_work(d, k, equal):
    """Room for problems of one size."""
    m = len(equal)
    n = d + m
    curve, bounds = new_curves(d, k, equal)
    room = np.empty(k, np.int64)
    return Work(
        new_basis(n, m), curve, bounds, np.empty(m), room, np.empty(d), np.empty(d), np.empty(d)
    )


@nb.njit(cache=True, nogil=True)
def _dual_bound(problem, work, first, last):
    """The bound of a box at the dual variables of the basis; fills worth and least."""
    duals, total = work.basis.duals, 0.0
    for i in range(len(duals)):
        if not problem.equal[i]:
            duals[i] = min(duals[i], 0.0)
        total += duals[i] * problem.sides[i]
    columns = problem.columns
    for j in range(len(first)):
        worth, least = 0.0, np.inf
        for i in range(columns.starts[j], columns.starts[j + 1]):
            worth += duals[columns.rows[i]] * columns.entries[i]
        for k in range(first[j], last[j] + 1):
            least = min(least, problem.values[j, k] - worth * problem.points[j, k])
        work.worth[j], work.least[j] = worth, least
        total += least
    return total


@nb.njit(cache=True, nogil=True)
def _is_empty(problem, work, first, last):
    """Whether the dual variables of the basis prove that a box has no point (Farkas)."""
    duals, columns, total, size = work.basis.duals, problem.columns, 0.0, 0.0
    for i in range(len(duals)):
        dual = duals[i] if problem.equal[i] else min(duals[i], 0.0)
        total += dual * problem.sides[i]
        size += abs(dual)
    for j in range(len(first)):
        worth = 0.0
        for i in range(columns.starts[j], columns.starts[j + 1]):
            row = columns.rows[i]
            dual = duals[row] if problem.equal[row] else min(duals[row], 0.0)
            worth += dual * columns.entries[i]
        low, high = problem.points[j, first[j]], problem.points[j, last[j]]
        total -= max(worth * low, worth * high)
    return total > 10 * FEASIBLE * problem.unit * size


@nb.njit(cache=True, nogil=True)
def _solve(problem, work, first, last):
    """Hull problem of a box: 1 when solved, 0 when there is no point, -1 when it failed."""
    for j in range(len(first)):
        hull_of(problem.points, problem.values, j, first[j], last[j], work.curve, work.corners)
    for _ in range(2):
        if optimum(problem.columns, work.curve, work.bounds, work.basis, problem.sides, work.rest,
                   problem.scale, problem.unit):  # fmt: skip
            return 1
        if _is_empty(problem, work, first, last):
            return 0
        restart(work.basis)
    return -1


@nb.njit(cache=True, nogil=True)
def _offer(problem, work, output, best):
    """Take the point of the basis where it is better than the best, and steps from there."""
    d = len(output)
    points, values = problem.points, problem.values
    small = ZERO_SLOPE * (abs(best) + problem.scale * problem.unit)
    for step in range(LOCAL_STEPS + 1):
        cost = chord_cost(points, values, work.basis.y[:d])
        if cost >= best - (small if step else 0.0):
            break
        best = cost
        for j in range(d):
            output[j] = min(max(work.basis.y[j], points[j, 0]), points[j, -1])
        if step == LOCAL_STEPS:
            break
        local_curve(points, values, work.basis.y, work.curve)
        if not optimum(problem.columns, work.curve, work.bounds, work.basis, problem.sides,
                       work.rest, problem.scale, problem.unit):  # fmt: skip
            restart(work.basis)
            break
    return best


@nb.njit(cache=True, nogil=True)
def _narrow(problem, work, allowed, first, last):
    """Leave out samples at the ends that cost more than ``allowed`` above a coordinate's best."""
    for j in range(len(first)):
        t, v, worth = problem.points[j], problem.values[j], work.worth[j]
        limit = work.least[j] + allowed
        while first[j] < last[j] and v[first[j] + 1] - worth * t[first[j] + 1] > limit:
            if v[first[j]] - worth * t[first[j]] <= limit:
                break
            first[j] += 1
        while last[j] > first[j] and v[last[j] - 1] - worth * t[last[j] - 1] > limit:
            if v[last[j]] - worth * t[last[j]] <= limit:
                break
            last[j] -= 1


@nb.njit(cache=True, nogil=True)
def _loosest(problem, work, first, last):
    """The coordinate that is highest above its hull, and the sample to cut it at; or -1, -1."""
    most, coordinate, cut = 0.0, -1, -1
    for j in range(len(first)):
        t, v, y = problem.points[j], problem.values[j], work.point[j]
        left, right = first[j], last[j]
        while right - left > 1:
            middle = (left + right) // 2
            if t[middle] <= y:
                left = middle
            else:
                right = middle
        width = t[right] - t[left]
        share = (y - t[left]) / width if width > 0.0 else 0.0
        above = v[left] + share * (v[right] - v[left]) - work.worth[j] * y - work.least[j]
        at = left if share < 0.5 else right
        if at == first[j]:
            at = right
        if at == last[j]:
            at = left
        if above > most and first[j] < at < last[j]:
            most, coordinate, cut = above, j, at
    return coordinate, cut


@nb.njit(cache=True, nogil=True)
def _widest(first, last):
    """The coordinate of most samples and the middle one of these; or -1, -1."""
    coordinate, most = -1, 1
    for j in range(len(first)):
        if last[j] - first[j] > most:
            coordinate, most = j, last[j] - first[j]
    return coordinate, (first[coordinate] + last[coordinate]) // 2 if coordinate >= 0 else -1


@nb.njit(cache=True, nogil=True)
def _look(problem, work, first, last, output, best, tolerance):
    """Bound of a box, the best value so far, and where to cut the box; narrows it in place."""
    state = _solve(problem, work, first, last)
    if state == 0:
        return np.inf, best, -1, -1
    if state < 0:
        coordinate, cut = _widest(first, last)
        return -np.inf, best, coordinate, cut
    assign(work.point, work.basis.y)
    bound = _dual_bound(problem, work, first, last)
    best = _offer(problem, work, output, best)
    if bound >= best - tolerance:
        return bound, best, -1, -1
    coordinate, cut = _loosest(problem, work, first, last)
    _narrow(problem, work, best - bound, first, last)
    if coordinate >= 0 and not first[coordinate] < cut < last[coordinate]:
        coordinate, cut = _widest(first, last)
    return bound, best, coordinate, cut


@nb.njit(cache=True, nogil=True)
def _more_room(array):
    larger = np.empty((2 * array.shape[0], array.shape[1]), array.dtype)
    assign_rows(larger, array)
    return larger


@nb.njit(cache=True, nogil=True)
def branch(problem, work, output, best, tolerance, max_boxes):
    """The best value, a lower bound, and the number of boxes looked at.

    ``output`` (d,) becomes the point of the best value, where it is better than ``best``.
    """
    d, k = problem.points.shape
    first, last = np.zeros((FIRST_ROOM, d), np.int32), np.zeros((FIRST_ROOM, d), np.int32)
    cuts = np.zeros((FIRST_ROOM, 2), np.int64)
    last[0] = k - 1
    restart(work.basis)
    bound, best, j, at = _look(problem, work, first[0], last[0], output, best, tolerance)
    cuts[0, 0], cuts[0, 1] = j, at
    lowest, looked, used = np.inf, 1, 1  # lowest: of boxes that cannot be cut any more
    waiting, free = [(bound, 0)], [0]
    free.pop()
    if j < 0:
        waiting.pop()
        lowest = bound
    while waiting and looked < max_boxes and waiting[0][0] < best - tolerance:
        above, box = heappop(waiting)
        other = free.pop() if free else used
        if other == used:
            used += 1
            if used > len(first):
                first, last, cuts = _more_room(first), _more_room(last), _more_room(cuts)
        j, at = cuts[box]
        assign(first[other], first[box])
        assign(last[other], last[box])
        last[box, j], first[other, j] = at, at
        for part in (box, other):
            bound, best, j, at = _look(
                problem, work, first[part], last[part], output, best, tolerance
            )
            bound, looked = max(bound, above), looked + 1
            if bound < best - tolerance and j >= 0:
                cuts[part, 0], cuts[part, 1] = j, at
                heappush(waiting, (bound, part))
            else:
                lowest = min(lowest, bound)
                free.append(part)
    if waiting:
        lowest = min(lowest, waiting[0][0])
    return best, min(lowest, best), looked


@nb.njit(cache=True, nogil=True)
def branch_rows(columns, equal, sides, points, values, outputs, best, tolerance, max_boxes):
    """Improve outputs (B, d) and their values ``best`` (B,) in place; bounds and boxes (B,).

    points (B or 1, d, k), values (B, d, k), sides (B or 1, m).
    """
    rows, d, k = values.shape
    bounds, looked = np.empty(rows), np.empty(rows, np.int64)
    work = new_work(d, k, equal)
    for r in range(rows):
        t, v, b = points[r if len(points) > 1 else 0], values[r], sides[r if len(sides) > 1 else 0]
        scale = 0.0
        for j in range(d):
            scale = max(scale, hull_of(t, v, j, 0, k - 1, work.curve, work.corners))
        problem = Problem(columns, equal, b, t, v, scale, largest_size(t, b))
        best[r], bounds[r], looked[r] = branch(
            problem, work, outputs[r], best[r], tolerance[r], max_boxes
        )
    return bounds, looked
