# SPDX-License-Identifier: BSD-3-Clause
"""Compiled steps of max-margin learners: block-coordinate Frank-Wolfe and the perceptron.

``rows`` is a tuple: how they are known, and dense rows or kernel values; ``lists`` has data,
indices and index pointers of sparse rows, or is None: numba then leaves out all that is done with
them.
"""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct.tolerances import DIFFERENCE_ROUNDING, LINE_SEARCH_ACCURACY

DENSE, KERNEL = 1, 2  # how rows are known that are not sparse
SUMS = {"reassoc", "contract"}  # sums in any order: the compiler makes vector instructions of them


@nb.njit(cache=True, nogil=True, fastmath=SUMS)
def example_scores(first, last, rows, lists, W, S, out):
    """Scores of the rows first..last: x W, or read off S where inputs are kernel values.

    W is (q, p) for dense rows X and (p, q) for sparse ones: long loops are innermost.
    """
    if lists is None:
        _dense_scores(first, last, rows, W, S, out)
    else:
        _sparse_scores(first, last, lists, W, out)


@nb.njit(cache=True, nogil=True, fastmath=SUMS)
def _dense_scores(first, last, rows, W, S, out):
    kind, X = rows
    for row in range(first, last):
        t = row - first
        for k in range(out.shape[1]):
            if kind == KERNEL:
                out[t, k] = S[row, k]
            else:
                total = 0.0
                for j in range(X.shape[1]):
                    total += X[row, j] * W[k, j]
                out[t, k] = total


@nb.njit(cache=True, nogil=True)
def _sparse_scores(first, last, lists, W, out):
    (data, indices, indptr), q = lists, out.shape[1]
    for row in range(first, last):
        t = row - first
        for k in range(q):
            out[t, k] = 0.0
        for at in range(indptr[row], indptr[row + 1]):
            x, feature = data[at], indices[at]
            for k in range(q):
                out[t, k] += x * W[feature, k]


@nb.njit(cache=True, nogil=True)
def move(first, last, rows, lists, W, S, step, direction):
    """W += step x' direction for the rows first..last, or the scores of all rows with it."""
    if lists is None:
        _dense_move(first, last, rows, W, S, step, direction)
    else:
        _sparse_move(first, last, lists, W, step, direction)


@nb.njit(cache=True, nogil=True)
def _dense_move(first, last, rows, W, S, step, direction):
    (kind, X), q = rows, direction.shape[1]
    for row in range(first, last):
        t = row - first
        if kind == KERNEL:
            for i in range(S.shape[0]):
                k_i = step * X[row, i]
                for k in range(q):
                    S[i, k] += k_i * direction[t, k]
            continue
        for k in range(q):
            by = step * direction[t, k]
            if by != 0.0:
                for j in range(X.shape[1]):
                    W[k, j] += by * X[row, j]


@nb.njit(cache=True, nogil=True)
def _sparse_move(first, last, lists, W, step, direction):
    data, indices, indptr = lists
    for row in range(first, last):
        t = row - first
        for at in range(indptr[row], indptr[row + 1]):
            x, feature = step * data[at], indices[at]
            for k in range(direction.shape[1]):
                W[feature, k] += x * direction[t, k]


# Compiled keeping of the vertices of every example.
#
# Example m keeps vertices in slots, which stand side by side in memory: directions (N, slots, q),
# constants (M, slots, r), losses and dual weights (M, slots). Dual weights sum to one. Slot 0 is a
# mixture of vertices that were given up. Products (M, slots, slots) are the inner products of the
# vertices of an example, x x' included: steps between them need no look at the vertices themselves.


@nb.njit(cache=True, nogil=True)
def _same(a, m, first, offset, number, directions, constants, loss, vertices):
    """Whether slot a of example m already holds a new vertex."""
    points, point_constants, point_losses, _ = vertices
    if point_losses[m, a] != loss:
        return False
    for e in range(constants.shape[1]):
        if point_constants[m, a, e] != constants[number, e]:
            return False
    for t in range(offset[number + 1] - offset[number]):
        for k in range(directions.shape[1]):
            if points[first + t, a, k] != directions[offset[number] + t, k]:
                return False
    return True


@nb.njit(cache=True, nogil=True)
def _give_up(a, m, first, last, dual_weights, vertices):
    """Add slot a to the mixture in slot 0."""
    points, point_constants, point_losses, products = vertices
    part, rest = dual_weights[m, a], dual_weights[m, 0]
    if part == 0.0:
        return
    share = part / (part + rest)
    for row in range(first, last):
        for k in range(points.shape[2]):
            points[row, 0, k] += share * (points[row, a, k] - points[row, 0, k])
    for e in range(point_constants.shape[2]):
        point_constants[m, 0, e] += share * (point_constants[m, a, e] - point_constants[m, 0, e])
    point_losses[m, 0] += share * (point_losses[m, a] - point_losses[m, 0])
    dual_weights[m, 0], dual_weights[m, a] = part + rest, 0.0
    for b in range(products.shape[1]):  # a row, then a column: products are linear in both
        products[m, 0, b] += share * (products[m, a, b] - products[m, 0, b])
    for b in range(products.shape[1]):
        products[m, b, 0] += share * (products[m, b, a] - products[m, b, 0])


@nb.njit(cache=True, nogil=True, fastmath=SUMS)
def _multiply(a, m, first, T, gram, at, free, stamps, image, vertices):
    """Inner products of slot a of example m with all slots; constants count where free is 1."""
    points, point_constants, _, products = vertices
    q, r = points.shape[2], point_constants.shape[2]
    for t in range(T):
        for k in range(q):
            image[t, k] = 0.0
        for s in range(T):
            for k in range(q):
                image[t, k] += gram[at + t * T + s] * points[first + s, a, k]
    for b in range(stamps.shape[1]):
        if stamps[m, b] < 0:
            continue
        total = 0.0
        for t in range(T):
            for k in range(q):
                total += image[t, k] * points[first + t, b, k]
        for e in range(r):
            total += free[e] * point_constants[m, a, e] * point_constants[m, b, e]
        products[m, a, b] = products[m, b, a] = total


@nb.njit(cache=True, nogil=True)
def multiply_all(starts, gram, gram_starts, free, stamps, image, vertices):
    """Inner products of all vertices anew."""
    for m in range(stamps.shape[0]):
        first, T, at = starts[m], starts[m + 1] - starts[m], gram_starts[m]
        for a in range(stamps.shape[1]):
            if stamps[m, a] >= 0:
                _multiply(a, m, first, T, gram, at, free, stamps, image, vertices)


@nb.njit(cache=True, nogil=True)
def remember(
    examples, clock, starts, offset, directions, constants, losses, gram, gram_starts, free,
    dual_weights, stamps, image, vertices,
):  # fmt: skip
    """Keep new vertices; those without a dual weight go first, then those unused for longest."""
    points, point_constants, point_losses, _ = vertices
    for number in range(examples.shape[0]):
        m = examples[number]
        first, last = starts[m], starts[m + 1]
        slot, known = 1, False
        for a in range(1, stamps.shape[1]):
            if stamps[m, a] >= 0 and _same(
                a, m, first, offset, number, directions, constants, losses[number], vertices
            ):
                slot, known = a, True
                break
            used, slot_used = dual_weights[m, a] > 0.0, dual_weights[m, slot] > 0.0
            if used < slot_used or (used == slot_used and stamps[m, a] < stamps[m, slot]):
                slot = a
        if known:
            stamps[m, slot] = clock
            continue
        _give_up(slot, m, first, last, dual_weights, vertices)
        stamps[m, slot] = clock
        for t in range(last - first):
            for k in range(directions.shape[1]):
                points[first + t, slot, k] = directions[offset[number] + t, k]
        for e in range(constants.shape[1]):
            point_constants[m, slot, e] = constants[number, e]
        point_losses[m, slot] = losses[number]
        at = gram_starts[m]
        _multiply(slot, m, first, last - first, gram, at, free, stamps, image, vertices)


# Compiled steps of block-coordinate Frank-Wolfe, one example after another.
#
# How the vertices of an example are kept is said above.


ITERATIONS = 60  # Newton steps of a line search
SWAPS, ENOUGH = 8, 0.3  # of a visit: steps, and share of its gap that is left alone


@nb.njit(cache=True, nogil=True)
def soft(z, threshold):
    """z, nearer to zero by the threshold."""
    if z > threshold:
        return z - threshold
    if z < -threshold:
        return z + threshold
    return 0.0


@nb.njit(cache=True, nogil=True)
def _rise(step, rise, curve, direction, z, shift, l1, share, lam):
    """Derivative of the dual along the direction, and its own derivative."""
    value, slope = rise - step * curve, -curve
    for e in range(direction.shape[0]):
        if direction[e] != 0.0:
            moved = soft(z[e] - step * share * direction[e] + shift[e], l1[e])
            value += share * direction[e] * moved / lam
            if moved != 0.0:
                slope -= (share * direction[e]) ** 2 / lam
    return value, slope


@nb.njit(cache=True, nogil=True)
def best_step(longest, rise, curve, direction, z, shift, l1, share, lam):
    """The exact step in [0, longest]: the root of a derivative that falls in straight pieces."""
    low, high = 0.0, longest
    start, slope = _rise(0.0, rise, curve, direction, z, shift, l1, share, lam)
    if start <= 0.0:
        return 0.0
    if _rise(longest, rise, curve, direction, z, shift, l1, share, lam)[0] >= 0.0:
        return longest
    value, step = start, 0.0
    for _ in range(ITERATIONS):
        step = step - value / slope if slope < 0.0 else high
        if not low < step < high:
            step = 0.5 * (low + high)
        value, slope = _rise(step, rise, curve, direction, z, shift, l1, share, lam)
        if abs(value) <= LINE_SEARCH_ACCURACY * start:
            break
        if value > 0.0:
            low = step
        else:
            high = step
    return step


@nb.njit(cache=True, nogil=True, fastmath=SUMS)
def _evaluate(m, first, T, scores, w, stamps, vertices, values):
    """Loss plus score of every slot of an example."""
    points, point_constants, point_losses, _ = vertices
    for a in range(stamps.shape[1]):
        if stamps[m, a] < 0:
            continue
        value = point_losses[m, a]
        for t in range(T):
            for k in range(scores.shape[1]):
                value += scores[t, k] * points[first + t, a, k]
        for e in range(w.shape[0]):
            value += w[e] * point_constants[m, a, e]
        values[a] = value


@nb.njit(cache=True, nogil=True)
def _extremes(m, values, dual_weights, stamps):
    """Best slot, worst slot that has a dual weight, and the gap of the example."""
    best, worst, mean, top, bottom = 0, 0, 0.0, -np.inf, np.inf
    for a in range(stamps.shape[1]):
        if stamps[m, a] < 0:
            continue
        mean += dual_weights[m, a] * values[a]
        if values[a] > top:
            best, top = a, values[a]
        if dual_weights[m, a] > 0.0 and values[a] < bottom:
            worst, bottom = a, values[a]
    return best, worst, top - mean


@nb.njit(cache=True, nogil=True)
def _climb(m, clock, scale, values, dual_weights, stamps, products, change):
    """Shift dual weights from the worst slots to the best; `change` is what each gains.

    Every shift goes exactly as far as the dual climbs, if that is a square. It is one unless
    constants have a finite l1 > 0; then it lies above the square, and climbs all the same.
    Returns the gap that was met.
    """
    met = 0.0
    for a in range(change.shape[0]):
        change[a] = 0.0
    for swap in range(SWAPS):
        best, worst, gap = _extremes(m, values, dual_weights, stamps)
        if swap == 0:
            met = gap
        if gap <= 0.0 or best == worst or (swap > 0 and gap <= ENOUGH * met):
            break
        stamps[m, best] = clock
        step, rise = dual_weights[m, worst], values[best] - values[worst]
        bend = products[m, best, best] + products[m, worst, worst]
        bend = scale * (bend - 2.0 * products[m, best, worst])
        if bend * step > rise:
            step = rise / bend
            dual_weights[m, worst] -= step
        else:
            dual_weights[m, worst] = 0.0
        dual_weights[m, best] += step
        change[best] += step
        change[worst] -= step
        for a in range(values.shape[0]):
            values[a] -= scale * step * (products[m, a, best] - products[m, a, worst])
    return met


@nb.njit(cache=True, nogil=True)
def _combine(m, first, T, change, vertices, moved, constants):
    """Sums of the slots of an example, by what each gained."""
    points, point_constants, _, _ = vertices
    for t in range(T):
        for k in range(moved.shape[1]):
            moved[t, k] = 0.0
    for e in range(constants.shape[0]):
        constants[e] = 0.0
    for a in range(change.shape[0]):
        if change[a] == 0.0:
            continue
        for t in range(T):
            for k in range(moved.shape[1]):
                moved[t, k] += change[a] * points[first + t, a, k]
        for e in range(constants.shape[0]):
            constants[e] += change[a] * point_constants[m, a, e]


@nb.njit(cache=True, nogil=True)
def _lengthen(
    m, T, scores, gram, at, share, lam, l1, shift, z, change, moved, constants, dual_weights,
    vertices,
):  # fmt: skip
    """Go on, or back, in the direction of all shifts together, to where the dual is highest."""
    losses, longest = vertices[2], np.inf
    rise = norm = 0.0
    for a in range(change.shape[0]):
        rise += change[a] * losses[m, a]
        if change[a] < 0.0:  # dual weights have changed already
            longest = min(longest, 1.0 - dual_weights[m, a] / change[a])
    for t in range(T):
        for k in range(moved.shape[1]):
            rise += scores[t, k] * moved[t, k]
            for s in range(T):
                norm += gram[at + t * T + s] * moved[t, k] * moved[s, k]
    if longest == np.inf:
        return
    step = best_step(
        longest, share * rise, share**2 * norm / lam, constants, z, shift, l1, share, lam
    )
    for a in range(change.shape[0]):
        dual_weights[m, a] = max(0.0, dual_weights[m, a] + (step - 1.0) * change[a])
    for t in range(T):
        for k in range(moved.shape[1]):
            moved[t, k] *= step
    for e in range(constants.shape[0]):
        constants[e] *= step


@nb.njit(cache=True, nogil=True)
def visit(
    order, clock, starts, rows, lists, gram, gram_starts, share, lam, l1, shift, bent, W, S, z, w,
    dual_weights, stamps, vertices, scores, moved, constants, values, change,
):  # fmt: skip
    """Exact steps between the known vertices of every example in `order`.

    `bent` is None where the dual is a square: no constants have a finite l1 > 0. Scores and all
    behind them are worked in. Returns the sum of the gaps that were met, each with the weights of
    its turn.
    """
    total = 0.0
    for m in order:
        first, last = starts[m], starts[m + 1]
        T, by = last - first, share[m] / lam
        example_scores(first, last, rows, lists, W, S, scores)
        _evaluate(m, first, T, scores, w, stamps, vertices, values)
        gap = _climb(m, clock, by, values, dual_weights, stamps, vertices[3], change)
        if gap <= 0.0:
            continue
        total += share[m] * gap
        _combine(m, first, T, change, vertices, moved, constants)
        if bent is not None:
            _lengthen(
                m, T, scores, gram, gram_starts[m], share[m], lam, l1, shift, z, change, moved,
                constants, dual_weights, vertices,
            )  # fmt: skip
        for e in range(w.shape[0]):
            if constants[e] != 0.0:
                z[e] -= share[m] * constants[e]
                w[e] = soft(z[e] + shift[e], l1[e]) / lam
        move(first, last, rows, lists, W, S, -by, moved)
    return total


@nb.njit(cache=True, nogil=True)
def _inner(scores, w, directions, constants):
    """<scores, direction> with that of the constants, and the size of its terms."""
    value, size = 0.0, 0.0
    for t in range(directions.shape[0]):
        for k in range(directions.shape[1]):
            term = scores[t, k] * directions[t, k]
            value += term
            size += abs(term)
    for e in range(w.shape[0]):
        value += w[e] * constants[e]
        size += abs(w[e] * constants[e])
    return value, size


@nb.njit(cache=True, nogil=True)
def _any(table):
    """Whether some entry is not zero."""
    for t in range(table.shape[0]):
        for k in range(table.shape[1]):
            if table[t, k] != 0.0:
                return True
    return False


@nb.njit(cache=True, nogil=True)
def _add(target, factor, change):
    """target += factor * change."""
    for t in range(change.shape[0]):
        for k in range(change.shape[1]):
            target[t, k] += factor * change[t, k]


@nb.njit(cache=True, nogil=True)
def fix_violations(
    order, starts, offset, directions, constants, rows, lists, W, S, A, w, moments,
    constant_moments, n_seen,
):  # fmt: skip
    """Add psi(y) - psi(z) wherever it has no positive score; returns the number of updates.

    ``directions`` (R, q) and ``constants`` (B, r) are these differences, with the rows of
    example number i from ``offset[i]`` on. W changes, or where inputs are kernel values
    the coefficients A (N, q) and the scores S (N, q) of all rows. Moments collect every change
    times the number of examples seen before it: after t of them, the mean of the weights so
    far is the weights minus the moments / t.
    """
    n_updates, longest = 0, 0
    for m in order:
        longest = max(longest, starts[m + 1] - starts[m])
    scores, none = np.empty((longest, directions.shape[1])), np.empty((0, 0))
    for i in range(order.shape[0]):
        first, last = starts[order[i]], starts[order[i] + 1]
        change = directions[offset[i] : offset[i + 1]]
        if _any(change) or _any(constants[i : i + 1]):
            example_scores(first, last, rows, lists, W, S, scores)
            value, size = _inner(scores, w, change, constants[i])
            if value <= DIFFERENCE_ROUNDING * size:
                n_updates += 1
                move(first, last, rows, lists, W, S, 1.0, change)
                if rows[0] == KERNEL:
                    _add(A[first:last], 1.0, change)
                    _add(moments[first:last], n_seen, change)
                else:
                    move(first, last, rows, lists, moments, none, n_seen, change)
                for e in range(w.shape[0]):
                    w[e] += constants[i, e]
                    constant_moments[e] += n_seen * constants[i, e]
        n_seen += 1.0
    return n_updates
