# SPDX-License-Identifier: BSD-3-Clause
"""Orders of items of least cost, by positions, by pairs (Kendall, feedback arc set) or both."""

from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.stopping import Limit
from skstruct.exceptions import UndecidableError
from skstruct.spaces.solvers.binary_programs import BinaryProgram
from skstruct.tolerances import INTEGRAL, ROUNDING_GAP, TIE

MOST_ITEMS = 20  # the table has 2**20 entries, 8 MB; a row takes about 0.1 s


def min_cost_orders(
    n: int,
    d: int,
    *,
    positions: np.ndarray | None = None,
    pairs: np.ndarray | None = None,
    before: np.ndarray | None = None,
    allowed: np.ndarray | None = None,
    stop: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """For every row the order of least total cost, exactly.

    Parameters
    ----------
    positions : array of shape (n or 1, d, d)
        ``positions[:, i, t]`` is the cost of item i at position t.
    pairs : array of shape (n or 1, d, d)
        ``pairs[:, i, q]`` is the cost of item i somewhere before item q.
    before : bool array of shape (n or 1, d, d)
        ``before[:, i, q]`` demands that i comes before q.
    allowed : bool array of shape (n or 1, d, d)
        ``allowed[:, t, i]``: whether item i may stand at position t.
    stop : int
        Only the first ``stop`` positions count; pairs behind them cost nothing, and the
        items there come in their own order.

    Returns
    -------
    orders : int array of shape (n, d), best item first
    values : array of shape (n,), infinite where no order meets the constraints

    Examples
    --------
    >>> pairs = np.array([[[0.0, 1.0, -1.0], [-1.0, 0.0, 2.0], [1.0, -2.0, 0.0]]])
    >>> orders, values = min_cost_orders(1, 3, pairs=pairs)
    >>> orders.tolist(), values.tolist()
    ([[0, 2, 1]], [-2.0])
    """
    from skstruct.spaces.solvers._numba_linear_ordering import order_rows

    zeros = np.zeros((1, d, d))
    positions = zeros if positions is None else np.ascontiguousarray(positions, dtype=np.float64)
    pairs = zeros if pairs is None else np.ascontiguousarray(pairs, dtype=np.float64)
    earlier, banned = _as_bits(before, allowed, d)
    orders, values = np.zeros((n, d), np.int64), np.empty(n)
    order_rows(positions, pairs, earlier, banned, d if stop is None else stop, orders, values)
    return orders, values


def count_orders(before: np.ndarray, allowed: np.ndarray, stop: int) -> np.ndarray:
    """Number of ways to go on from every set of items placed first; entry 0 counts them all.

    ``before`` and ``allowed`` are those of :func:`min_cost_orders` for one row, (d, d).
    """
    from skstruct.spaces.solvers._numba_linear_ordering import count_completions

    d = len(before)
    earlier, banned = _as_bits(before[None], allowed[None], d)
    count = np.empty(1 << d, np.int64)  # 20! is below 2**63
    count_completions(earlier[0], banned[0], stop, set_sizes(d), count)
    return count


def sample_orders(
    n: int, before: np.ndarray, allowed: np.ndarray, stop: int, rng: np.random.Generator
) -> np.ndarray:
    """``n`` orders drawn uniformly and independently among those counted; shape (n, d)."""
    from skstruct.spaces.solvers._numba_linear_ordering import draw_orders

    d = len(before)
    count = count_orders(before, allowed, stop)
    earlier, banned = _as_bits(before[None], allowed[None], d)
    orders = np.empty((n, d), np.int64)
    draw_orders(earlier[0], banned[0], stop, count, rng.random((n, stop)), orders)
    return orders


def set_sizes(d: int) -> np.ndarray:
    """Number of members of every set of d items, by its bits; int8 of shape (2**d,)."""
    size = np.zeros(1, np.int8)
    for _ in range(d):
        size = np.concatenate([size, size + np.int8(1)])
    return size


def close_transitively(before: np.ndarray) -> np.ndarray:
    """Add what follows from p before q before r (Warshall); bool arrays of shape (n, d, d)."""
    closed = before.copy()
    between = before.any(axis=(0, 1)) & before.any(axis=(0, 2))  # after one and before another
    for q in np.flatnonzero(between):
        closed |= closed[:, :, q, None] & closed[:, None, q, :]
    return closed


def _as_bits(
    before: np.ndarray | None, allowed: np.ndarray | None, d: int
) -> tuple[np.ndarray, np.ndarray]:
    """Sets as numbers: for every item those before it, for every position those banned."""
    bit = np.int64(1) << np.arange(d)
    none = np.zeros((1, d), np.int64)
    earlier = none if before is None else before.swapaxes(1, 2) @ bit
    banned = none if allowed is None else ~allowed @ bit
    return earlier, banned


MOST_CUTS = 2000  # added in one round, the most violated ones


def triangle_order(pair: np.ndarray, *, prove: bool = False) -> tuple[np.ndarray, float]:
    """A good order and a lower bound on the cost of every order, for one cost matrix.

    Items are given in an order that is good already: the answer is the better of it and
    of the rounded solution.

    Parameters
    ----------
    pair : array of shape (d, d)
        Antisymmetric; ``pair[p, q]`` is the cost of p before q.
    prove : bool
        Go on with branch and bound, until the two meet or the limits of the settings do.
    """
    limit = Limit()
    matrix, bound, cuts = solve_triangles(pair, limit=limit)
    orders = [np.arange(len(pair)), _rounded(pair, matrix)]
    best = min(orders, key=lambda order: _total(pair, order))
    if prove and _total(pair, best) > bound + ROUNDING_GAP * np.abs(pair).sum():
        try:
            matrix, lower, _ = solve_triangles(pair, cuts, branch=True, limit=limit)
        except UndecidableError:  # the limits are met: what there is, is the answer
            return best, min(bound, _total(pair, best))
        bound, proven = max(bound, lower), np.argsort(-matrix.sum(axis=1), kind="stable")
        best = min(best, proven, key=lambda order: _total(pair, order))
    return best, min(bound, _total(pair, best))


def solve_triangles(
    pair: np.ndarray, cuts: Any = (), *, branch: bool = False, limit: Limit | None = None
) -> tuple[np.ndarray, float, list[np.ndarray]]:
    """x[p, q] in [0, 1] says that p comes before q: the best x, its bound, and the cuts.

    Any three items obey 0 <= x[p, q] + x[q, r] - x[p, r] <= 1; with ``branch`` all x are
    whole, and the bound is the cost of the best order. Where the limit is met, three items may
    disobey still: the bound holds all the same.
    """
    d = len(pair)
    p, q = np.triu_indices(d, 1)
    number = np.zeros((d, d), np.int64)
    number[p, q] = np.arange(len(p))
    cuts, matrix, limit = list(cuts), np.zeros((d, d)), Limit() if limit is None else limit
    while True:
        program, cost = _program(cuts, len(p)), 2 * pair[p, q]
        x, bound = program.solve(cost, limit=limit) if branch else program.relax_costs(cost)
        matrix[p, q], matrix[q, p] = x, 1 - x
        violated = _violated(matrix, number)
        over = not limit.take() if branch else limit.seconds <= 0  # relaxations are no nodes
        if over or not len(violated):
            return matrix, bound - pair[p, q].sum(), cuts
        cuts.append(violated)


def _total(pair: np.ndarray, order: np.ndarray) -> float:
    return float(np.triu(pair[np.ix_(order, order)], 1).sum())


def _rounded(pair: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Items by how many they precede in the relaxation, then moved one by one."""
    from skstruct.spaces.solvers._numba_order_components import insert

    order, again = np.argsort(-matrix.sum(axis=1), kind="stable"), np.empty(len(pair), np.bool_)
    insert(np.ascontiguousarray(pair), order, 0, len(pair), again, 100)
    return order


def _violated(matrix: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Triples (p < q < r) with a sign: x[p, q] + x[q, r] - x[p, r] above 1 or below 0."""
    d = len(matrix)
    found = []
    for p in range(d - 2):
        value = matrix[p, p + 1 :, None] + matrix[p + 1 :, p + 1 :] - matrix[p, None, p + 1 :]
        value[np.tril_indices(len(value))] = 0.5
        excess = np.maximum(value - 1, -value)
        q, r = np.nonzero(excess > INTEGRAL)
        sign = np.where(value[q, r] > 1, 1, -1)
        q_, r_ = q + p + 1, r + p + 1
        triples = number[p, q_], number[q_, r_], number[p, r_], sign, excess[q, r]
        found.append(np.column_stack(triples))
    cuts = np.concatenate(found)
    return cuts[np.argsort(-cuts[:, 4], kind="stable")][:MOST_CUTS, :4].astype(np.int64)


def _program(rows: list[np.ndarray], n_pairs: int) -> BinaryProgram:
    """sign (x[p, q] + x[q, r] - x[p, r]) <= 1 or 0 for the triples found so far."""
    triples = np.concatenate(rows) if rows else np.zeros((0, 4), np.int64)
    m, sign = len(triples), triples[:, 3]
    data = np.concatenate([sign, sign, -sign]).astype(np.float64)
    at = np.tile(np.arange(m), 3), np.concatenate([triples[:, 0], triples[:, 1], triples[:, 2]])
    A_ub = sparse.csr_array((data, at), shape=(m, n_pairs))
    none = sparse.csr_array((0, n_pairs))
    return BinaryProgram(A_ub, np.where(sign > 0, 1.0, 0.0), none, np.zeros(0))


QUICKLY_EXACT = 12  # components that the compiled loop solves by dynamic programming
MOST_SWEEPS = 200  # of local search
FASTER_TABLE = 17  # up to so many items the table beats the linear program
MOST_LP_ITEMS = 60  # above it the triangle program takes many seconds


def pair_numbers(d: int) -> tuple[np.ndarray, np.ndarray]:
    """The pairs p < q in the order in which costs list them."""
    return np.triu_indices(d, 1)


def pair_blocks(n: int, d: int) -> list[slice]:
    """Slices of rows whose pairs are few enough to be held at once."""
    step = max(1, 10**7 // max(1, d * (d - 1) // 2))
    return [slice(start, start + step) for start in range(0, n, step)]


def pair_matrix(costs: np.ndarray, d: int) -> np.ndarray:
    """Antisymmetric matrices (n, d, d) from costs of pairs p < q (n, d (d - 1) / 2)."""
    p, q = pair_numbers(d)
    matrix = np.zeros((len(costs), d, d))
    matrix[:, p, q], matrix[:, q, p] = costs, -costs
    return matrix


def ranks_of(orders: np.ndarray) -> np.ndarray:
    """Position of each item, from 0; the inverse permutation of each row."""
    ranks = np.empty_like(orders)
    np.put_along_axis(ranks, orders, np.arange(orders.shape[1])[None], axis=1)
    return ranks


def pair_signs(ranks: np.ndarray) -> np.ndarray:
    """+1 where p comes before q, -1 where after, 0 where equal or NaN; pairs p < q."""
    p, q = pair_numbers(ranks.shape[1])
    return np.nan_to_num(np.sign(ranks[:, q] - ranks[:, p]))


def linear_orders(
    costs: np.ndarray, d: int, *, prove: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For every row an order of little cost, its cost, and a lower bound on the least cost.

    The cost of an order is sum over pairs p < q of ``+costs`` where p comes before q and
    ``-costs`` otherwise; weights may have any sign. Tournaments split at their strong
    components. Components of up to 20 items are solved exactly; above, insertion search
    from two starts meets a bound from packed cycles and, where that leaves a gap and up
    to 60 items, the linear program with triangle inequalities.

    Parameters
    ----------
    costs : array of shape (n, d (d - 1) / 2)
    prove : bool
        Close remaining gaps by branch and bound, whatever time it takes within the limits of the
        settings.

    Returns
    -------
    orders : int array of shape (n, d), best item first
    values, bounds : arrays of shape (n,)

    Examples
    --------
    >>> orders, values, bounds = linear_orders(np.array([[-1.0, 0.5, -2.0]]), 3)
    >>> orders.tolist(), values.tolist(), bounds.tolist()
    ([[0, 1, 2]], [-2.5], [-2.5])
    """
    costs = np.ascontiguousarray(costs, dtype=np.float64)
    orders, ends = components(costs, d)
    bounds = -np.abs(costs).sum(axis=1)
    values, unproven = bounds.copy(), np.full(len(costs), d + 1)
    _solve_components(costs, orders, ends, values, bounds, unproven)
    slack = TIE * np.abs(costs).sum(axis=1)
    for row in np.flatnonzero(unproven <= (d if prove else min(d, MOST_LP_ITEMS))):
        orders[row], values[row], bounds[row] = _close_gap(costs[row], orders[row], prove)
    closed = values - bounds <= slack
    return orders, values, np.where(closed, values, np.minimum(bounds, values))


def components(costs: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Orders (n, d) whose components are intervals, and where that of a position ends, (n, d)."""
    from skstruct.spaces.solvers._numba_order_components import component_rows

    orders, ends = np.empty((2, len(costs), d), np.int64)
    component_rows(costs, np.empty((d, d)), np.empty(d), *np.empty((3, d), np.int64), orders, ends)
    return orders, ends


def _solve_components(
    costs: np.ndarray,
    orders: np.ndarray,
    ends: np.ndarray,
    values: np.ndarray,
    bounds: np.ndarray,
    unproven: np.ndarray,
) -> None:
    """Order all components, in place, and add what they cost over all pairs at their least.

    The two ways have kernels of their own, so that only those are compiled that are needed.
    """
    from skstruct.spaces.solvers._numba_order_components import search_rows, solve_rows

    d, most = orders.shape[1], min(orders.shape[1], QUICKLY_EXACT)
    begins = np.pad(ends[:, :-1], ((0, 0), (1, 0))) == np.arange(d)
    sizes = np.where(begins, ends - np.arange(d), 0)
    pair, items = np.empty((d, d)), np.empty(d, np.int64)
    if ((sizes > 2) & (sizes <= most)).any():
        halves = np.empty((2, most, 1 << (most + 1) // 2))
        work = np.empty((most, most)), np.empty(most), *halves, np.zeros((most, most))
        tables = np.zeros(most, np.int64), set_sizes(most), np.empty(1 << most), items
        solve_rows(costs, most, pair, *work, *tables, orders, ends, values, bounds)
    if (sizes > most).any():
        work = np.empty((d, d)), np.empty(d), np.empty(d, np.bool_), items
        found = orders, ends, values, bounds, unproven
        search_rows(costs, most, MOST_SWEEPS, pair, *work, *found)


def improve_tops(costs: np.ndarray, orders: np.ndarray, top: int) -> np.ndarray:
    """Better first ``top`` items where the others are in no order, in place; lower bounds."""
    from skstruct.spaces.solvers._numba_linear_ordering import improve_top

    bounds = np.empty(len(costs))
    for row, order in enumerate(orders):
        pair = pair_matrix(costs[row : row + 1], len(order))[0]
        improve_top(pair, order, top, MOST_SWEEPS)
        # An item gains at most half of its largest pairs with others of the list.
        largest = -np.partition(-np.abs(pair), top - 1, axis=1)[:, : top - 1]
        least = pair.sum(axis=1) - largest.sum(axis=1) / 2
        bounds[row] = max(np.partition(least, top - 1)[:top].sum(), -np.abs(costs[row]).sum())
    return bounds


def packed_bound(costs: np.ndarray, order: np.ndarray) -> float:
    """What no order costs less than, for one row: cycles packed along a good order."""
    return float(_packed(pair_matrix(costs[None], len(order))[0], order) - np.abs(costs).sum())


def _packed(pair: np.ndarray, order: np.ndarray) -> float:
    from skstruct.spaces.solvers._numba_order_components import packed_cycles

    d = len(order)
    return float(packed_cycles(pair, order, 0, d, np.empty((len(pair), len(pair)))))


def _close_gap(
    costs: np.ndarray, order: np.ndarray, prove: bool
) -> tuple[np.ndarray, float, float]:
    """A better order, its value and a better bound for one row, component by component."""
    pair = pair_matrix(costs[None], len(order))[0]
    ends = components(costs[None], len(order))[1][0]
    order, bound, begin = order.copy(), -np.abs(costs).sum(), 0
    for end in np.unique(ends).tolist():
        part = order[begin:end]  # components are the same sets in every run
        if len(part) > 2:
            small = pair[np.ix_(part, part)]
            met = np.abs(small).sum() / 2  # what its pairs would gain at their least cost
            excess, packed = _total(pair, part) + met, _packed(pair, part)
            if packed >= excess * (1 - TIE):
                bound += excess
            else:
                positions, lower = _order_part(small, prove)
                part[:] = part[positions]
                bound += max(lower + met, packed)
        begin = end
    return order, _total(pair, order), bound


def _order_part(pair: np.ndarray, prove: bool) -> tuple[np.ndarray, float]:
    """Order and bound of one component whose order so far is that of its items."""
    d = len(pair)
    order, bound = np.arange(d), -np.inf
    if prove or FASTER_TABLE < d <= MOST_LP_ITEMS:
        order, bound = triangle_order(pair, prove=prove and d > MOST_ITEMS)
    value = np.triu(pair[np.ix_(order, order)], 1).sum()
    if d <= MOST_ITEMS and bound < value - ROUNDING_GAP * np.abs(pair).sum():
        orders, values = min_cost_orders(1, d, pairs=pair[None])
        return orders[0], values[0]
    return order, bound
