# SPDX-License-Identifier: BSD-3-Clause
"""Quadratic costs with a dense matrix over weights between limits that add up to one."""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct.tolerances import BOUND_ROUNDING, CANCELED, RESIDUAL_ROUNDING, STEPS_GAP

PAIRS = 10  # steps between two weights, for each weight, before faces are minimized over
FACES = 40  # faces for each weight, and as many more
STALLS = 3  # steps on the same face that bring nothing
ROUNDS = 120  # quadratic programs at most to find the multiplier of a limit on the risk


@nb.njit(cache=True, nogil=True)
def fill_cheapest(c, low, high, z):
    """Least <c, z>: from the lower limits on, the cheapest weights are filled in turn."""
    left = 1.0
    for j in range(len(c)):
        z[j] = low[j]
        left -= low[j]
    while left > 0.0:  # few turns, unless limits are tight
        best = -1
        for j in range(len(c)):
            if z[j] < high[j] and (best < 0 or c[j] < c[best]):
                best = j
        if best < 0:
            return
        if left >= high[best] - low[best]:
            z[best] = high[best]
        else:
            z[best] += left
        left -= high[best] - low[best]


@nb.njit(cache=True, nogil=True)
def gradient(c, S, z, g):
    """g = c + S z."""
    for j in range(len(c)):
        g[j] = c[j]
    for k in range(len(c)):
        if z[k] != 0.0:
            for j in range(len(c)):
                g[j] += S[k, j] * z[k]


@nb.njit(cache=True, nogil=True)
def worst_pair(g, z, low, high):
    """Weights (i, j): i gains most by more of it, j by less; and by how much both together."""
    i, j = -1, -1
    for k in range(len(g)):
        if z[k] < high[k] and (i < 0 or g[k] < g[i]):
            i = k
        if z[k] > low[k] and (j < 0 or g[k] > g[j]):
            j = k
    return (i, j, g[j] - g[i]) if i >= 0 and j >= 0 else (i, j, 0.0)


@nb.njit(cache=True, nogil=True)
def exchange_pairs(S, low, high, z, g, n_steps, tolerance):
    """Move weight from one asset to another, the pair that gains most per unit at each step."""
    first = 0.0
    for step in range(n_steps):
        i, j, gain = worst_pair(g, z, low, high)
        if step == 0:
            first = gain
        if gain <= tolerance or gain <= 1e-3 * first:
            return
        bend = S[i, i] + S[j, j] - 2.0 * S[i, j]
        room, other = high[i] - z[i], z[j] - low[j]
        step_ = min(room, other)
        if bend * step_ > gain:
            step_ = gain / bend
        z[i] = high[i] if step_ == room else z[i] + step_
        z[j] = low[j] if step_ == other else z[j] - step_
        for k in range(len(g)):
            g[k] += step_ * (S[i, k] - S[j, k])


@nb.njit(cache=True, nogil=True)
def face_step(S, g, face, m, shift, factor, way):
    """Newton's step p with sum p = 0 on a face, the first m of which are free; into ``way``.

    The last free weight gives what others take: S_ab - S_ar - S_rb + S_rr is factored, plus a shift
    of its diagonal. Where it is singular the step is long, and ends at a limit.
    """
    r, n = face[m - 1], m - 1
    for a in range(n):
        j = face[a]
        for b in range(a + 1):
            k = face[b]
            s = (S[j, k] - S[j, r]) - (S[r, k] - S[r, r])
            if a == b:
                s += shift
            for k in range(b):
                s -= factor[a, k] * factor[b, k]
            factor[a, b] = np.sqrt(max(s, shift)) if a == b else s / factor[b, b]
        way[a] = g[r] - g[j]
        for k in range(a):
            way[a] -= factor[a, k] * way[k]
        way[a] /= factor[a, a]
    total = 0.0
    for a in range(n - 1, -1, -1):
        for k in range(a + 1, n):
            way[a] -= factor[k, a] * way[k]
        way[a] /= factor[a, a]
        total += way[a]
    way[n] = -total


@nb.njit(cache=True, nogil=True)
def scale_step(S, g, face, m, way):
    """Make a step as long as it lowers the cost most, but for limits."""
    fall, bend = 0.0, 0.0
    for a in range(m):
        fall -= g[face[a]] * way[a]
        for b in range(m):
            bend += way[a] * S[face[a], face[b]] * way[b]
    if fall > 0.0 and bend > 0.0:
        for a in range(m):
            way[a] *= fall / bend


@nb.njit(cache=True, nogil=True)
def take_step(z, low, high, face, m, way):
    """Along ``way`` as far as limits allow; the number of free weights that is left."""
    length = 1.0
    for a in range(m):
        k = face[a]
        if way[a] > 0.0 and way[a] * length > high[k] - z[k]:
            length = (high[k] - z[k]) / way[a]
        elif way[a] < 0.0 and -way[a] * length > z[k] - low[k]:
            length = (z[k] - low[k]) / -way[a]
    kept = 0
    for a in range(m):
        k = face[a]
        z[k] += length * way[a]
        stays = True
        if length < 1.0 and way[a] != 0.0:
            end = high[k] if way[a] > 0.0 else low[k]
            if abs(end - z[k]) <= RESIDUAL_ROUNDING * max(abs(end), abs(length * way[a])):
                z[k], stays = end, False
        if z[k] > high[k] or z[k] < low[k]:
            z[k], stays = min(max(z[k], low[k]), high[k]), False
        if stays:
            face[kept] = k
            kept += 1
    return kept, length == 1.0


@nb.njit(cache=True, nogil=True)
def add_up(z, low, high):
    """Make the sum one again, which rounding has moved."""
    missing = 1.0
    for k in range(len(z)):
        missing -= z[k]
    best, room = -1, -1.0
    for k in range(len(z)):
        here = min(z[k] - low[k], high[k] - z[k])
        if here > room:
            best, room = k, here
    if best >= 0 and room > abs(missing):
        z[best] += missing


@nb.njit(cache=True, nogil=True)
def settle(c, S, low, high, z, g, work):
    """The z of least <c, z> + z' S z / 2, from any z within the limits.

    Steps between pairs find most of the limits that bind; a primal active set method does the
    rest. A limit is left only at the minimum over a face, so that every step costs less.
    """
    factor, way, face = work
    d = len(c)
    size, largest = 0.0, 0.0
    for k in range(d):
        size, largest = max(size, abs(c[k])), max(largest, S[k, k])
    tolerance = RESIDUAL_ROUNDING * (size + largest)
    if largest == 0.0:
        fill_cheapest(c, low, high, z)
        gradient(c, S, z, g)
        return
    gradient(c, S, z, g)
    exchange_pairs(S, low, high, z, g, PAIRS * d, tolerance)
    m = 0
    for k in range(d):
        if low[k] < z[k] < high[k]:
            face[m] = k
            m += 1
    settled, least, stalls = m < 2, np.inf, 0
    for _ in range(FACES * (d + 1)):
        if settled:
            add_up(z, low, high)
            gradient(c, S, z, g)
            i, j, gain = worst_pair(g, z, low, high)
            before, m = m, freed(g, face, m, i, j)
            if m > before:  # a new face
                stalls, least = 0, np.inf
            stalls = stalls + 1 if gain >= least else 0
            least = min(least, gain)
            if gain <= tolerance or stalls > STALLS:
                return
        gradient(c, S, z, g)
        face_step(S, g, face, m, CANCELED * largest, factor, way)
        scale_step(S, g, face, m, way)
        m, settled = take_step(z, low, high, face, m, way)
        settled = settled or m < 2
    add_up(z, low, high)
    gradient(c, S, z, g)


@nb.njit(cache=True, nogil=True)
def freed(g, face, m, i, j):
    """Free i or j, whichever differs more from the slope of the face; both where it is a point."""
    slope, has_i, has_j = 0.0, False, False
    for a in range(m):
        slope += g[face[a]] / m
        has_i, has_j = has_i or face[a] == i, has_j or face[a] == j
    if not has_i and (m == 0 or has_j or slope - g[i] >= g[j] - slope):
        face[m], m, has_i = i, m + 1, True
        if m > 2:
            return m
    if not has_j and (m < 2 or not has_i or g[j] - slope > slope - g[i]):
        face[m] = j
        m += 1
    return m


@nb.njit(cache=True, nogil=True)
def value_and_bound(c, S, low, high, z, g, best):
    """<c, z> + z' S z / 2, and what it is at least anywhere: the tangent at z is below.

    Frank and Wolfe's gap: min over s of <g, s - z>, found by filling the cheapest weights.
    """
    fill_cheapest(g, low, high, best)
    value, gap, size = 0.0, 0.0, 0.0
    for k in range(len(c)):
        value += 0.5 * (c[k] + g[k]) * z[k]
        gap += g[k] * (z[k] - best[k])
        size += (abs(c[k]) + abs(g[k])) * max(abs(z[k]), abs(best[k]))
    return value, value - max(gap, 0.0) - BOUND_ROUNDING * size


@nb.njit(cache=True, nogil=True)
def variance(S, z):
    """z' S z."""
    total = 0.0
    for j in range(len(z)):
        if z[j] != 0.0:
            for k in range(len(z)):
                total += z[j] * S[j, k] * z[k]
    return max(total, 0.0)


@nb.njit(cache=True, nogil=True)
def share_of_way(S, near, far, most, way):
    """The largest t up to one for which near + t (far - near) has variance ``most`` at most."""
    for k in range(len(near)):
        way[k] = far[k] - near[k]
    a, b, now = variance(S, way), 0.0, variance(S, near)
    for j in range(len(near)):
        for k in range(len(near)):
            b += near[j] * S[j, k] * way[k]
    left = max(most - now, 0.0)
    if a + 2.0 * b <= left:
        return 1.0
    root = np.sqrt(max(b * b + a * left, 0.0))
    if b >= 0.0:  # of the two forms the one that does not cancel
        return min(left / (b + root), 1.0) if b + root > 0.0 else 0.0
    return min((root - b) / a, 1.0) if a > 0.0 else 0.0


@nb.njit(cache=True, nogil=True)
def minimize_rows(costs, weights, S, low, high, most, points, bounds, feasible):
    """Fill points (n, d) and bounds (n,) of <c, z> + w z' S z / 2, where w >= 0 of every row.

    With z' S z <= ``most``, which may be infinite; ``feasible`` (n,) tells where there is such z.
    """
    d = len(S)
    work = np.empty((d, d)), np.empty(d + 2), np.empty(d + 2, np.int64)
    scaled, parts = np.empty((d, d)), np.empty((6, d))
    for i in range(len(costs)):
        a, b = low[i if len(low) > 1 else 0], high[i if len(high) > 1 else 0]
        if most < np.inf:
            bounds[i], feasible[i] = limit_row(
                costs[i], weights[i], S, a, b, most, points[i], work, parts
            )
            continue
        for j in range(d):
            for k in range(d):
                scaled[j, k] = weights[i] * S[j, k]
        fill_cheapest(costs[i], a, b, points[i])
        settle(costs[i], scaled, a, b, points[i], parts[0], work)
        bounds[i] = value_and_bound(costs[i], scaled, a, b, points[i], parts[0], parts[1])[1]
        feasible[i] = True


@nb.njit(cache=True, nogil=True)
def limit_row(c, w, S, low, high, most, z, work, parts):
    """One row: the bound, and whether any point is within the limit.

    With multiplier mu = 1 / s - w >= 0 of the limit, z(s) minimizes s <c, z> + z' S z / 2, and is
    piecewise linear in s. Between a point within the limit and one beyond it, the next s is where
    the straight way between both meets it: exact once both are on the same piece. Points on that
    way are within the limit, and bounds are those of Lagrange's function at any s.
    """
    near, far, g, best, scaled, way = (
        parts[0], parts[1], parts[2], parts[3], parts[4], parts[5],
    )  # fmt: skip
    d = len(c)
    for k in range(d):
        scaled[k] = 0.0
    fill_cheapest(c, low, high, near)
    settle(scaled, S, low, high, near, g, work)
    for k in range(d):
        z[k] = near[k]
    if variance(S, near) > most + STEPS_GAP * most:
        return -np.inf, False
    size = 0.0
    for k in range(d):
        size = max(size, abs(c[k]))
    fill_cheapest(c, low, high, far)
    bound, upper = -np.inf, 1.0 / w if w > 0.0 else np.inf
    for k in range(d):
        bound = (0.0 if k == 0 else bound) + c[k] * far[k]  # of the linear part alone
    inside, outside = 0.0, np.inf
    s = min(upper, (np.sqrt(most) + 1e-3 * np.sqrt(S.max())) * np.sqrt(S.max()) / max(size, 1e-300))
    for turn in range(ROUNDS):
        for k in range(d):
            scaled[k], way[k] = s * c[k], near[k]
        settle(scaled, S, low, high, way, g, work)
        lower = value_and_bound(scaled, S, low, high, way, g, best)[1] / s
        multiplier = 1.0 / s - w if s < upper else 0.0
        bound = max(bound, lower - 0.5 * multiplier * most)
        within = variance(S, way) <= most
        for k in range(d):
            if within:
                near[k] = way[k]
            else:
                far[k] = way[k]
        inside, outside = (s, outside) if within else (inside, s)
        t = share_of_way(S, near, far, most, way) if outside < np.inf else 0.0
        value = 0.0
        for k in range(d):
            z[k] = near[k] + t * (far[k] - near[k])
            value += c[k] * z[k]
        value += 0.5 * w * variance(S, z)
        if value - bound <= STEPS_GAP * size or inside >= upper:
            break
        if outside == np.inf:
            s = min(4.0 * s, upper)
            continue
        t = t if turn % 3 < 2 else 0.5
        s = inside + min(max(t, 1e-3), 0.999) * (outside - inside)
        if s <= inside or s >= outside:
            break
    return bound, True
