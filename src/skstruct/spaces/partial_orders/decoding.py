# SPDX-License-Identifier: BSD-3-Clause
"""Partial orders of least cost, with lower bounds; relations as matrices and as columns."""

from functools import cache, lru_cache
from itertools import combinations, product

import numpy as np

from skstruct._arrays.stopping import MOST_NODES, Limit, check_cancelled, is_cancellable
from skstruct.spaces.solvers.linear_ordering import close_transitively
from skstruct.tolerances import ROUNDING_GAP, TIE

MOST_PROVEN = 10  # items: up to so many the search goes on until the order is proven best
ROUNDS = (200, 12)  # of ascent, at first and in every node of the search
MOST_WORK = 2**18  # nodes of the search times triples, where it may end before
LEVEL_BYTES = 2**28  # what the levels of the search may take


def as_matrices(Z: np.ndarray, n_items: int) -> np.ndarray:
    """Relations (n, N, N) from columns of ordered pairs, row by row; (n, N (N - 1))."""
    matrices = np.zeros((len(Z), n_items, n_items), np.asarray(Z).dtype)
    matrices[:, ~np.eye(n_items, dtype=bool)] = Z
    return matrices


def as_columns(matrices: np.ndarray) -> np.ndarray:
    """The other way round: (n, N (N - 1)) from (n, N, N), without the diagonal."""
    return matrices[:, ~np.eye(matrices.shape[1], dtype=bool)]


def swapped_columns(n_items: int) -> np.ndarray:
    """The column of b before a at that of a before b; shape (N (N - 1),)."""
    numbers = as_matrices(np.arange(n_items * (n_items - 1))[None], n_items)
    return as_columns(numbers.swapaxes(1, 2))[0]


def closed(Z: np.ndarray, n_items: int) -> np.ndarray:
    """All that follows from the relations of each row; cycles come both ways round."""
    return as_columns(close_transitively(as_matrices(Z, n_items).astype(bool))).astype(np.int8)


def are_orders(Z: np.ndarray, n_items: int) -> np.ndarray:
    """Which rows of 0 and 1 are transitive, and never relate two items both ways; shape (n,)."""
    matrices = as_matrices(np.asarray(Z), n_items).astype(bool)
    both = (matrices & matrices.swapaxes(1, 2)).any(axis=(1, 2))
    return ~both & (close_transitively(matrices) == matrices).all(axis=(1, 2))


def covers(Z: np.ndarray, n_items: int) -> np.ndarray:
    """Relations with no item between, the arcs of a Hasse diagram; the shape of Z."""
    matrices = as_matrices(np.asarray(Z), n_items).astype(np.int64)
    return as_columns((matrices > 0) & (matrices @ matrices == 0)).astype(np.int8)


@cache
def triple_states() -> np.ndarray:
    """The 19 partial orders of a < b < c: states of (a, b), (b, c) and (a, c); see ``_numba``."""
    found = []
    for ab, bc, ac in product(range(3), repeat=3):
        before = np.zeros((1, 3, 3), bool)
        for (u, v), state in zip(((0, 1), (1, 2), (0, 2)), (ab, bc, ac)):
            before[0, u, v], before[0, v, u] = state == 1, state == 2
        if (close_transitively(before) == before).all():
            found.append((ab, bc, ac))
    return np.array(found, dtype=np.int64)


@lru_cache(maxsize=32)
def pairs_and_triples(n_items: int) -> tuple[np.ndarray, np.ndarray]:
    """The pairs a < b, (P, 2), and of every a < b < c the numbers of its three pairs, (T, 3)."""
    ends = np.column_stack(np.triu_indices(n_items, 1)).astype(np.int64)
    number = np.zeros((n_items, n_items), np.int64)
    number[tuple(ends.T)] = np.arange(len(ends))
    items = np.array(list(combinations(range(n_items), 3)), dtype=np.int64).reshape(-1, 3)
    a, b, c = items.T
    return ends, np.column_stack([number[a, b], number[b, c], number[a, c]])


def n_nodes(n_items: int, n_triples: int, prove: bool) -> int:
    """How many nodes the search may have."""
    most = MOST_NODES if prove or n_items <= MOST_PROVEN else MOST_WORK // n_triples
    return Limit().nodes(most, MOST_WORK / max(n_triples, 1))


def min_cost_orders(
    costs: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    n_items: int,
    *,
    prove: bool = False,
    most_nodes: int | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For every row a partial order of little cost, its cost, and a lower bound on the least cost.

    Pairs are decided each for itself first; where the result is no order, items are moved one by
    one, a dual bound over all triples of items is raised, and branch and bound closes the gap: up
    to 10 items always, else for as many nodes as take about a second.

    Parameters
    ----------
    costs : array of shape (n, N (N - 1))
        Of a before b, for all ordered pairs row by row; an open pair costs nothing.
    low, high : bool arrays of shape (1 or n, N (N - 1))
        Relations that must be, and that may be.
    prove : bool
        Go on until the gap is closed, whatever time it takes within the limits of the settings.
    most_nodes : int, default=None
        Nodes of the search, in place of those that the number of items calls for.

    Returns
    -------
    outputs : int8 array of shape (n, N (N - 1))
    values, bounds : arrays of shape (n,), infinite where constraints contradict each other

    Examples
    --------
    a before b is worth 2, b before c is worth 1, and a before c, which follows, costs 3:

    >>> costs = np.array([[-2.0, 3.0, 0.0, -1.0, 0.0, 0.0]])
    >>> none = np.zeros((1, 6), bool)
    >>> outputs, values, bounds = min_cost_orders(costs, none, ~none, 3)
    >>> outputs, values, bounds
    (array([[1, 0, 0, 0, 0, 0]], dtype=int8), array([-2.]), array([-2.]))
    """
    from skstruct.spaces.partial_orders._numba import solve_rows

    ends, triples = pairs_and_triples(n_items)
    most = n_nodes(n_items, len(triples), prove) if most_nodes is None else most_nodes
    if is_cancellable() and most * len(triples) > MOST_WORK:
        return _in_parts(costs, low, high, n_items, most)
    # A power of two: nothing is rounded, and sums of the largest numbers do not overflow.
    scale = np.ldexp(1.0, np.frexp(np.abs(costs).max(axis=1, initial=0.0))[1])
    matrices = as_matrices(costs / scale[:, None], n_items)
    known, barred = (as_matrices(mask, n_items).astype(bool) for mask in (low, ~high))
    shape = _n_levels(len(ends), len(triples), most), len(ends)
    theta, allowed = np.empty((*shape, 3)), np.empty(shape, np.int64)
    levels = theta, allowed, np.empty((shape[0], len(triples), 3, 3))
    orders = np.zeros(matrices.shape, bool)
    values, bounds = np.empty((2, len(matrices)))
    solve_rows(
        matrices, known, barred, ends, triples, triple_states(), ROUNDS, most, TIE, levels, orders,
        values, bounds,
    )  # fmt: skip
    outputs = as_columns(orders).astype(np.int8)
    feasible = np.isfinite(values)
    values[feasible] = (costs[feasible] * outputs[feasible]).sum(axis=1)
    return outputs, values, _safe(values, bounds * scale, np.abs(costs).sum(axis=1))


def _in_parts(
    costs: np.ndarray, low: np.ndarray, high: np.ndarray, n_items: int, most: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same row by row, with ever more nodes: compiled loops cannot be asked to end."""
    outputs, (values, bounds) = np.zeros(costs.shape, np.int8), np.empty((2, len(costs)))
    first = max(1, MOST_WORK // max(1, len(pairs_and_triples(n_items)[1])))
    for i in range(len(costs)):
        one, nodes = slice(i, i + 1), min(first, most)
        lows, highs = (mask[one] if len(mask) > 1 else mask for mask in (low, high))
        while True:
            check_cancelled()
            found = min_cost_orders(costs[one], lows, highs, n_items, most_nodes=nodes)
            outputs[one], values[one], bounds[one] = found
            if nodes >= most or not bounds[i] < values[i]:
                break
            nodes = min(2 * nodes, most)
    return outputs, values, bounds


def _n_levels(n_pairs: int, n_triples: int, most: int) -> int:
    """How deep the search may go: one level where there is none."""
    if most == 0:
        return 1
    return int(min(n_pairs + 2, 1 + LEVEL_BYTES // (32 * n_pairs + 72 * n_triples)))


def _safe(values: np.ndarray, bounds: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Bounds without rounding: the value itself, or lower by what the ascent may have lost."""
    slack = ROUNDING_GAP * size
    with np.errstate(invalid="ignore"):
        closed_gap = values - bounds <= slack
    return np.where(closed_gap | ~np.isfinite(values), values, bounds - slack)
