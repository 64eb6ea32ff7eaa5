# SPDX-License-Identifier: BSD-3-Clause
"""Newton steps on the dual of a quadratic program, for many rows, each from the last duals."""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct.tolerances import DIAGONAL_SHIFT, LINE_SEARCH_ACCURACY, RESIDUAL_ROUNDING

STEPS = 300  # Newton steps of one row
SEARCHES = 60  # evaluations of one line search
ROUNDED = 100.0  # times that is good enough where another step brings nothing


@nb.njit(cache=True, nogil=True)
def project_rows(
    A, n_eq, first, targets, half, right, low, high, system, slope, way, size, p, along, weighed,
    play, points, duals, steps,
):  # fmt: skip
    """Fill points (n, d) and dual variables (n, m) that minimize sum (z_j - t_j)^2 / (4 half_j).

    A = (start, rows, values) by columns, equations before inequalities; ``first[k]`` is the
    first column of row k of A A' that is not zero. ``half``, ``right``, ``low`` and ``high``
    have one row for all or one each. ``steps`` is negative where a row did not settle. The dual
    variables p of a row, which are zero at first, are where the next one begins; others between
    ``high`` and ``points`` are worked in.
    """
    for i in range(targets.shape[0]):
        of_row = (
            targets[i], half[i if len(half) > 1 else 0], right[i if len(right) > 1 else 0],
            low[i if len(low) > 1 else 0], high[i if len(high) > 1 else 0],
        )  # fmt: skip
        steps[i] = settle(
            A, n_eq, first, of_row, p, points[i], system, slope, way, along, weighed, size, play
        )
        for k in range(len(p)):
            duals[i, k] = p[k]
            if steps[i] < 0:
                p[k] = 0.0  # do not pass on what has gone astray


@nb.njit(cache=True, nogil=True)
def settle(A, n_eq, first, of_row, p, z, system, slope, way, along, weighed, size, play):
    """Improve the dual variables p until z meets the constraints; the number of steps, or -1."""
    weigh(A, p, weighed)
    least = np.inf
    for step in range(STEPS):
        best_point(weighed, of_row, z)
        left = residuals(A, n_eq, of_row[2], z, p, slope, size, play)
        if left <= 1.0 or (left <= ROUNDED and left >= least):
            return step
        least = min(least, left)
        again = True
        while again:  # duals of zero that would fall are taken out of play
            fill(A, of_row, z, slope, play, system, way)
            factor_and_solve(system, first, way)
            again = False
            for k in range(n_eq, len(p)):
                if play[k] and p[k] <= 0.0 and way[k] < 0.0:
                    play[k], again = False, True
        weigh(A, way, along)
        length = line_search(n_eq, of_row, p, way, weighed, along)
        if not length > 0.0:
            return -1
        for k in range(len(p)):
            p[k] += length * way[k]
            if k >= n_eq and p[k] < 0.0:
                p[k] = 0.0
        weigh(A, p, weighed)
    return -1


@nb.njit(cache=True, nogil=True)
def weigh(A, p, out):
    """out = A'p."""
    start, rows, values = A
    for j in range(len(out)):
        total = 0.0
        for e in range(start[j], start[j + 1]):
            total += values[e] * p[rows[e]]
        out[j] = total


@nb.njit(cache=True, nogil=True)
def best_point(weighed, of_row, z):
    """The best point under the dual variables: targets, moved by them, within the limits."""
    t, h, _, low, high = of_row
    for j in range(len(z)):
        z[j] = min(max(t[j] - h[j] * weighed[j], low[j]), high[j])


@nb.njit(cache=True, nogil=True)
def residuals(A, n_eq, r, z, p, slope, size, play):
    """slope = A z - r, the slope of the dual; how large it is, 1 being rounding.

    An inequality that holds with a dual of zero is not in play.
    """
    start, rows, values = A
    for k in range(len(r)):
        slope[k], size[k] = -r[k], abs(r[k])
    for j in range(len(z)):
        for e in range(start[j], start[j + 1]):
            term = values[e] * z[j]
            slope[rows[e]] += term
            size[rows[e]] += abs(term)
    largest = 0.0
    for k in range(len(r)):
        largest = max(largest, size[k])
    left = 0.0
    for k in range(len(r)):
        play[k] = k < n_eq or p[k] > 0.0 or slope[k] > 0.0
        if play[k] and slope[k] != 0.0:
            left = max(left, abs(slope[k]) / (RESIDUAL_ROUNDING * (size[k] + largest)))
    return left


@nb.njit(cache=True, nogil=True)
def fill(A, of_row, z, slope, play, system, way):
    """The curvature A H A' of the dual in play, over coordinates between their limits."""
    start, rows, values = A
    h, low, high = of_row[1], of_row[3], of_row[4]
    m = len(way)
    for k in range(m):
        for q in range(k + 1):  # what is above the diagonal is not read
            system[k, q] = 0.0
    for j in range(len(z)):
        if low[j] < z[j] < high[j]:
            for e in range(start[j], start[j + 1]):
                for f in range(start[j], e + 1):
                    system[rows[e], rows[f]] += h[j] * values[e] * values[f]
    largest = 0.0
    for k in range(m):
        largest = max(largest, system[k, k])
    shift = DIAGONAL_SHIFT * largest if largest > 0.0 else 1.0
    for k in range(m):
        way[k] = slope[k] if play[k] else 0.0
        system[k, k] += shift
        for q in range(k):
            if not (play[k] and play[q]):
                system[k, q] = 0.0
        if not play[k]:
            system[k, k] = 1.0


@nb.njit(cache=True, nogil=True)
def factor_and_solve(M, first, x):
    """Solve M s = x in place by Cholesky; row k of M is zero before column first[k]."""
    m = len(x)
    for k in range(m):
        for j in range(first[k], k + 1):
            total = M[k, j]
            for q in range(max(first[k], first[j]), j):
                total -= M[k, q] * M[j, q]
            M[k, j] = np.sqrt(max(total, 1e-300)) if j == k else total / M[j, j]
        total = x[k]
        for q in range(first[k], k):
            total -= M[k, q] * x[q]
        x[k] = total / M[k, k]
    for k in range(m - 1, -1, -1):
        x[k] /= M[k, k]
        for q in range(first[k], k):
            x[q] -= M[k, q] * x[k]


@nb.njit(cache=True, nogil=True)
def line_search(n_eq, of_row, p, way, weighed, along):
    """The length of the way that is best for the dual; 0 where it does not rise.

    Its slope along the way falls piecewise linearly: Newton within a bracket is exact.
    """
    t, h, r, low, high = of_row
    constant, most = 0.0, np.inf
    for k in range(len(p)):
        constant += way[k] * r[k]
        if k >= n_eq and way[k] < 0.0:
            most = min(most, -p[k] / way[k])
    left, right, at = 0.0, most, min(1.0, most)
    for _ in range(SEARCHES):
        rise, fall = -constant, 0.0
        for j in range(len(along)):
            if along[j] != 0.0:
                value = t[j] - h[j] * (weighed[j] + at * along[j])
                if value <= low[j]:
                    value = low[j]
                elif value >= high[j]:
                    value = high[j]
                else:
                    fall += h[j] * along[j] * along[j]
                rise += along[j] * value
        if rise >= 0.0:
            left = at
            if at >= most:
                return at
        else:
            right = at
        new = at + rise / fall if fall > 0.0 else (4.0 * at if rise > 0.0 else at)
        if abs(new - at) <= LINE_SEARCH_ACCURACY * at:
            return at
        if not left < new < right:
            if np.isinf(right):
                new = 4.0 * left if left > 0.0 else 1.0
                if new > 1e30:
                    return 0.0
            else:
                new = 0.5 * (left + right) if rise < 0.0 or new < right else right
        at = new
    return at
