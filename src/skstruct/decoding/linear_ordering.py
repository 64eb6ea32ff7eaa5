# SPDX-License-Identifier: BSD-3-Clause
"""Orders of least pair cost (Kendall, feedback arc set): exact when small, certified always."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.orders import MOST_ITEMS, cheapest_orders

QUICKLY_EXACT = 12  # components that the compiled loop solves by dynamic programming
MOST_SWEEPS = 200  # of local search
FASTER_TABLE = 17  # up to so many items the table beats the linear program
MOST_LP_ITEMS = 60  # above it the triangle program takes many seconds


def pair_numbers(d: int) -> tuple[np.ndarray, np.ndarray]:
    """The pairs p < q in the order in which costs list them."""
    return np.triu_indices(d, 1)


def pair_blocks(n: int, d: int):
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


def linear_orders(costs: np.ndarray, d: int, *, prove: bool = False):
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
        Close remaining gaps by branch and bound, whatever time it takes.

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
    from skstruct.decoding._compiled_tournaments import linear_order_rows

    costs = np.ascontiguousarray(costs, dtype=np.float64)
    n = len(costs)
    orders, unproven = np.empty((n, d), np.int64), np.empty(n, np.int64)
    values, bounds = np.empty(n), np.empty(n)
    linear_order_rows(costs, d, QUICKLY_EXACT, MOST_SWEEPS, orders, values, bounds, unproven)
    slack = 1e-12 * np.abs(costs).sum(axis=1)
    for row in np.flatnonzero(unproven <= (d if prove else min(d, MOST_LP_ITEMS))):
        orders[row], values[row], bounds[row] = _close_gap(costs[row], orders[row], prove)
    closed = values - bounds <= slack
    return orders, values, np.where(closed, values, np.minimum(bounds, values))


def improve_tops(costs: np.ndarray, orders: np.ndarray, top: int) -> np.ndarray:
    """Better first ``top`` items where the others are in no order, in place; lower bounds."""
    from skstruct.decoding._compiled_insertion import improve_top

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
    from skstruct.decoding._compiled_tournaments import packed_cycles

    pair = pair_matrix(costs[None], len(order))[0]
    return float(packed_cycles(pair, order) - np.abs(costs).sum())


def _close_gap(costs, order, prove):
    """A better order, its value and a better bound for one row, component by component."""
    from skstruct.decoding._compiled_insertion import total
    from skstruct.decoding._compiled_tournaments import met, packed_cycles, split

    pair = pair_matrix(costs[None], len(order))[0]
    ends = split(pair, np.empty(len(order), np.int64))
    order, bound, begin = order.copy(), -np.abs(costs).sum(), 0
    for end in ends.tolist():
        part = order[begin:end]  # components are the same sets in every run
        if len(part) > 2:
            small = pair[np.ix_(part, part)]
            excess = total(pair, part) + met(pair, part)
            packed = packed_cycles(pair, part)
            if packed >= excess * (1 - 1e-12):
                bound += excess
            else:
                places, lower = _order_part(small, prove)
                part[:] = part[places]
                bound += max(lower + met(pair, part), packed)
        begin = end
    return order, total(pair, order), bound


def _order_part(pair, prove):
    """Order and bound of one component whose order so far is that of its items."""
    from skstruct.decoding.triangles import triangle_order

    d = len(pair)
    order, bound = np.arange(d), -np.inf
    if prove or FASTER_TABLE < d <= MOST_LP_ITEMS:
        order, bound = triangle_order(pair, prove=prove and d > MOST_ITEMS)
    value = np.triu(pair[np.ix_(order, order)], 1).sum()
    if d <= MOST_ITEMS and bound < value - 1e-9 * np.abs(pair).sum():
        orders, values = cheapest_orders(1, d, pairs=pair[None])
        return orders[0], values[0]
    return order, bound
