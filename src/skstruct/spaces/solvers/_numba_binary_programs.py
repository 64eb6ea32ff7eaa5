# SPDX-License-Identifier: BSD-3-Clause
"""Small 0/1 programs one after another: dual simplex for multipliers, then depth-first search.

With multipliers y <= 0 of A x <= b and reduced costs r = c - A'y every 0/1 point costs at least
y'b + sum_j min(0, r_j), and |r_j| more for each coordinate that is not as the sign of r_j says.
At the multipliers of the linear relaxation this is its value. Coordinates with large |r_j| come
first in the search: a deviation there is refused at once, and few are left to be tried.
"""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct.tolerances import BOUND_ROUNDING, FEASIBLE, SINGULAR_PIVOT

SOLVED, INFEASIBLE, UNFINISHED = 0, 1, 2
WORD = 64  # coordinates at the end of the search whose dominance is kept in the bits of a number


@nb.njit(cache=True, nogil=True)
def fix_sides(cost, A, low, high, x):
    """Coordinates that are known (0, 1) or whose best side breaks nothing; -1 for all others.

    Returns how many are open, or -1 where one must be both.
    """
    n_open = 0
    for j in range(len(cost)):
        if low[j] and not high[j]:
            return -1
        x[j] = -1
        if low[j]:
            x[j] = 1
        elif not high[j]:
            x[j] = 0
        else:
            up, down = cost[j] < 0, cost[j] >= 0
            for i in range(len(A)):
                up = up and A[i, j] <= 0
                down = down and A[i, j] >= 0
            if down:
                x[j] = 0
            elif up:
                x[j] = 1
            else:
                n_open += 1
    return n_open


@nb.njit(cache=True, nogil=True)
def find_entering(table, reduced, place, leaving, up, d):
    """The column of least |reduced cost| per step that moves a basic variable up or down; or -1.

    ``place`` of a column: 0 at its lower bound, 1 at its upper one, -1 in the basis.
    """
    best, found, size = np.inf, -1, 0.0
    for j in range(table.shape[1]):
        if place[j] < 0:
            continue
        step = table[leaving, j] if up else -table[leaving, j]
        if place[j] == 0:
            step = -step
        if step > SINGULAR_PIVOT:
            share = abs(reduced[j]) / step
            if share < best or (share == best and step > size):
                best, found, size = share, j, step
    return found


@nb.njit(cache=True, nogil=True)
def pivot(table, reduced, leaving, entering):
    """Solve the row of the leaving variable for the entering one."""
    m, width = table.shape
    scale = 1.0 / table[leaving, entering]
    for j in range(width):
        table[leaving, j] *= scale
    for i in range(m):
        factor = table[i, entering]
        if i != leaving and factor != 0.0:
            for j in range(width):
                table[i, j] -= factor * table[leaving, j]
            table[i, entering] = 0.0
    factor = reduced[entering]
    if factor != 0.0:
        for j in range(width):
            reduced[j] -= factor * table[leaving, j]
        reduced[entering] = 0.0


@nb.njit(cache=True, nogil=True)
def contradicts(A, b, row, sign, d):
    """Whether the rows of A x <= b, weighted by a row of the table, leave no x in [0, 1]^d."""
    m = len(A)
    least, right, size = 0.0, 0.0, 0.0
    for i in range(m):
        weight = max(sign * row[d + i], 0.0)
        right += weight * b[i]
        size += weight * abs(b[i])
    for j in range(d):
        entry = 0.0
        for i in range(m):
            entry += max(sign * row[d + i], 0.0) * A[i, j]
        least += min(entry, 0.0)
        size += abs(entry)
    return least - right > FEASIBLE * size


@nb.njit(cache=True, nogil=True)
def dual_simplex(cost, A, b, y):
    """Multipliers y <= 0 of min c'x, A x <= b, 0 <= x <= 1; True where no x is feasible.

    Slacks are the first basis, and every column at the bound that its cost prefers: dual
    feasible, and so is each later basis. Whenever it stops, y bounds all points.
    """
    m, d = A.shape
    table, reduced, level = np.empty((m, d + m)), np.empty(d + m), np.empty(m)
    place, basis = np.empty(d + m, np.int8), np.empty(m, np.int64)
    for i in range(m):
        level[i], basis[i] = b[i], d + i
        reduced[d + i], place[d + i] = 0.0, -1
        for k in range(m):
            table[i, d + k] = 1.0 if i == k else 0.0
    for j in range(d):
        reduced[j] = cost[j]
        place[j] = 1 if cost[j] < 0 else 0
        for i in range(m):
            table[i, j] = A[i, j]
            if place[j] == 1:
                level[i] -= A[i, j]
    empty = False
    for _ in range(20 * (d + m)):
        leaving, up, worst = -1, True, FEASIBLE
        for i in range(m):
            if -level[i] > worst:
                leaving, up, worst = i, True, -level[i]
            if basis[i] < d and level[i] - 1.0 > worst:
                leaving, up, worst = i, False, level[i] - 1.0
        if leaving < 0:
            break
        entering = find_entering(table, reduced, place, leaving, up, d)
        if entering < 0:
            empty = contradicts(A, b, table[leaving], 1.0 if up else -1.0, d)
            break
        bound = 0.0 if up else 1.0
        move = (level[leaving] - bound) / table[leaving, entering]
        for i in range(m):
            level[i] -= table[i, entering] * move
        level[leaving] = place[entering] + move
        place[basis[leaving]] = 0 if up else 1
        basis[leaving], place[entering] = entering, -1
        pivot(table, reduced, leaving, entering)
    for i in range(m):
        y[i] = min(-reduced[d + i], 0.0)
    return empty


@nb.njit(cache=True, nogil=True)
def find_dominated(cost, A, dominators, dominated):
    """Bits of the positions that are at least as good as each of the last ones, and the reverse.

    Where c_s <= c_t and A_s <= A_t, a point with x_t = 1 and x_s = 0 may swap the two; equal
    ones are told apart by their position. A is (d, m) here, in the order of the search.
    """
    d, m = A.shape
    first = max(0, d - WORD)
    for t in range(d):
        dominators[t] = dominated[t] = np.uint64(0)
    for s in range(first, d):
        for t in range(first, d):
            if s == t or cost[s] > cost[t]:
                continue
            better, same = True, cost[s] == cost[t]
            for i in range(m):
                if A[s, i] > A[t, i]:
                    better = False
                    break
                same = same and A[s, i] == A[t, i]
            if better and (not same or s < t):
                dominators[t] |= np.uint64(1) << np.uint64(s - first)
                dominated[s] |= np.uint64(1) << np.uint64(t - first)


@nb.njit(cache=True, nogil=True)
def search(cost, A, b, reduced, root, limit, best):
    """The best point in depth-first order, in ``best``; (status, value) of the open coordinates.

    Where it is not finished, the value is infinite unless a point was found.
    A is (d, m); ``root`` the bound of all points. State of depth t: what is left of b, the cost
    so far, the bound, and the bits of those of the last coordinates that are 0 and 1.
    """
    d, m = A.shape
    left, least = np.empty((d + 1, m)), np.empty((d + 1, m))
    spent, bound, gain = np.empty(d + 1), np.empty(d + 1), np.empty(d + 1)
    spent[0], bound[0], gain[d], size = 0.0, root, 0.0, 0.0
    for i in range(m):  # least and gain: what later coordinates can add at best
        least[d, i] = 0.0
    for t in range(d - 1, -1, -1):
        gain[t] = gain[t + 1] + min(cost[t], 0.0)
        size += abs(cost[t])
        for i in range(m):
            least[t, i] = least[t + 1, i] + min(A[t, i], 0.0)
    dominators, dominated = np.empty(d, np.uint64), np.empty(d, np.uint64)
    find_dominated(cost, A, dominators, dominated)
    zeros, ones = np.zeros(d + 1, np.uint64), np.zeros(d + 1, np.uint64)
    x, tried = np.zeros(d, np.int8), np.zeros(d + 1, np.int8)
    for i in range(m):
        left[0, i] = b[i]
    value, margin, status, t, nodes = np.inf, BOUND_ROUNDING * size, INFEASIBLE, 0, 0
    while t >= 0:
        if t == d:
            if spent[d] < value:
                value, status = spent[d], SOLVED
                for k in range(d):
                    best[k] = x[k]
            t -= 1
            continue
        if tried[t] == 2:
            tried[t] = 0
            t -= 1
            continue
        preferred = 1 if reduced[t] < 0 or (reduced[t] == 0 and cost[t] < 0) else 0
        v = preferred if tried[t] == 0 else 1 - preferred
        tried[t] += 1
        nodes += 1
        if nodes > limit:
            return UNFINISHED, value
        below = bound[t] if v == preferred else bound[t] + abs(reduced[t])
        now = spent[t] + v * cost[t]
        if max(below, now + gain[t + 1]) >= value - margin:
            continue
        if (dominators[t] & zeros[t]) if v == 1 else (dominated[t] & ones[t]):
            continue
        fits = True
        for i in range(m):
            left[t + 1, i] = left[t, i] - v * A[t, i]
            fits = fits and left[t + 1, i] >= least[t + 1, i]
        if not fits:
            continue
        spent[t + 1], bound[t + 1], x[t] = now, below, v
        bit = np.uint64(1) << np.uint64(max(t - max(0, d - WORD), 0))
        bit = bit if t >= d - WORD else np.uint64(0)
        zeros[t + 1] = zeros[t] if v == 1 else zeros[t] | bit
        ones[t + 1] = ones[t] | bit if v == 1 else ones[t]
        t += 1
    return status, value


@nb.njit(cache=True, nogil=True)
def sort_by_size(reduced, columns):
    """Both in order of falling |reduced|, then column; Shell's sort, which compiles in no time."""
    n = len(columns)
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(gap, n):
            value, column, at = reduced[k], columns[k], k
            size = abs(value)
            while at >= gap:
                before = abs(reduced[at - gap])
                if before > size or (before == size and columns[at - gap] < column):
                    break
                reduced[at], columns[at] = reduced[at - gap], columns[at - gap]
                at -= gap
            reduced[at], columns[at] = value, column
        gap //= 3


@nb.njit(cache=True, nogil=True)
def solve_row(cost, A, b, low, high, limit, x):
    """Fill ``x`` with the best 0/1 point of A x <= b between low and high; its status.

    Where the search is not finished, with the best found; it holds -1 where there is none.
    """
    m, d = A.shape
    n_open = fix_sides(cost, A, low, high, x)
    if n_open < 0:
        return INFEASIBLE
    columns, rest, k = np.empty(n_open, np.int64), np.empty(m), 0
    for i in range(m):
        rest[i] = b[i]
    for j in range(d):
        if x[j] < 0:
            columns[k] = j
            k += 1
        elif x[j] == 1:
            for i in range(m):
                rest[i] -= A[i, j]
    part, price, reduced = np.empty((m, n_open)), np.empty(n_open), np.empty(n_open)
    for k in range(n_open):
        price[k] = reduced[k] = cost[columns[k]]
        for i in range(m):
            part[i, k] = A[i, columns[k]]
    y, root = np.empty(m), 0.0
    if dual_simplex(price, part, rest, y):
        return INFEASIBLE
    for i in range(m):
        root += y[i] * rest[i]
        for k in range(n_open):
            reduced[k] -= y[i] * part[i, k]
    for k in range(n_open):
        root += min(reduced[k], 0.0)
    sort_by_size(reduced, columns)
    rows = np.empty((n_open, m))
    for k in range(n_open):
        price[k] = cost[columns[k]]
        for i in range(m):
            rows[k, i] = A[i, columns[k]]
    best = np.empty(n_open, np.int8)
    status, value = search(price, rows, rest, reduced, root, limit, best)
    if value < np.inf:
        for k in range(n_open):
            x[columns[k]] = best[k]
    return status


@nb.njit(cache=True, nogil=True)
def solve_rows(costs, A, b, low, high, limit, outputs, status):
    """Every row of costs (n, d); b (1 or n, m), low and high (1 or n, d) repeat where they are
    one.
    """
    for n in range(len(costs)):
        status[n] = solve_row(
            costs[n],
            A,
            b[min(n, len(b) - 1)],
            low[min(n, len(low) - 1)],
            high[min(n, len(high) - 1)],
            limit,
            outputs[n],
        )
