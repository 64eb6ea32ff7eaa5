# SPDX-License-Identifier: BSD-3-Clause
"""Cheapest cycles through some of the places: exact when small, certified always."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.tours.problems import Problem, canonical, price_tours

MOST_PLACES = 16  # for the table: 2**15 x 15 entries, 4 MB


def is_exact(N: int) -> bool:
    """Whether ``cheapest_cycles`` finds the best cycle without being asked to."""
    return N <= MOST_PLACES


def cheapest_cycles(costs, *, directed, low=None, high=None, smallest=3, largest=None, prove=False):
    r"""For every row a cycle of little cost, its cost, and a lower bound on the least cost.

    A cycle visits three or more of the N places, each once, and costs the sum of its arcs,

    .. math:: c(v_1, v_2) + c(v_2, v_3) + \dots + c(v_k, v_1),

    of any sign. Up to 16 places that may be visited the answer is the best, by dynamic
    programming over sets of places. Above, a local search meets a bound: from an assignment
    with free self-loops (directed), then from a linear program with subtour inequalities.
    Where ``costs`` are antisymmetric and neither places nor sizes are limited, the value is
    at most 0 and at most the bound divided by floor(N / 3).

    Parameters
    ----------
    costs : array of shape (n, N, N)
        Costs of arcs from the first place to the second, symmetric unless ``directed``;
        ``np.inf`` where there is no arc. The diagonal is not read.
    directed : bool
        Whether a cycle and its reverse are two.
    low, high : bool arrays of shape (1 or n, N), default=None
        Places that must, and that may, be visited; None for none and for all.
    smallest, largest : int or int array of shape (n,)
        Number of places of a cycle; never less than 3.
    prove : bool, default=False
        Close gaps by integer programs with subtour inequalities, within limits.

    Returns
    -------
    tours : int array of shape (n, N)
        Places in order of travel from the smallest number on, the second one smaller than
        the last unless ``directed``; padded with -1.
    values : array of shape (n,)
        Infinite where there is no cycle.
    bounds : array of shape (n,)
        No cycle costs less; equal to ``values`` where these are proven to be the least.

    References
    ----------
    Held and Karp (1962), "A dynamic programming approach to sequencing problems"; Fischetti,
    Salazar and Toth (1997), "A branch-and-cut algorithm for the symmetric generalized
    traveling salesman problem", for the subtour inequalities.

    Examples
    --------
    >>> costs = np.ones((1, 4, 4))
    >>> costs[0, [0, 2, 1], [2, 1, 0]] = -1.0
    >>> tours, values, bounds = cheapest_cycles(costs, directed=True)
    >>> tours.tolist(), values.tolist(), bounds.tolist()
    ([[0, 2, 1, -1]], [-3.0], [-3.0])
    """
    return _cheapest(costs, directed, low, high, smallest, largest, prove, MOST_PLACES)


def _cheapest(costs, directed, low, high, smallest, largest, prove, most_places):
    """As above, where rows of more than ``most_places`` places do without the table."""
    from skstruct.decoding.tours._compiled_table import table_rows
    from skstruct.decoding.tours.solve import solve_problem

    costs = _checked_costs(costs, directed)
    n, N, _ = costs.shape
    low, high = _checked_mask(low, "low", False, n, N), _checked_mask(high, "high", True, n, N)
    smallest = np.maximum(_checked_sizes(smallest, "smallest", 3, n), 3)
    largest = np.minimum(_checked_sizes(largest, "largest", N, n), N)
    n_places = high.sum(axis=1)
    possible = np.maximum(smallest, low.sum(axis=1)) <= np.minimum(largest, n_places)
    possible &= ~(low & ~high).any(axis=1)
    tours, bounds = np.full((n, N), -1, np.int64), np.full(n, np.inf)
    few = np.flatnonzero(possible & (n_places <= most_places))
    if len(few):
        found = np.full((len(few), N), -1, np.int64)
        limits = low[few], high[few], smallest[few], largest[few]
        table_rows(costs[few], *limits, most_places, found)
        tours[few] = found
    many = np.flatnonzero(possible & (n_places > most_places))
    for row in many:
        places = np.flatnonzero(high[row])
        limits = low[row, places], int(smallest[row]), min(int(largest[row]), len(places))
        problem = Problem(costs[row][np.ix_(places, places)], directed, *limits)
        tour, bounds[row] = solve_problem(problem, prove)
        tours[row, : len(tour)] = places[tour]
    tours = canonical(tours, directed)
    values = price_tours(costs, tours)
    bounds[few] = values[few]
    return tours, values, _closed(bounds, values, costs)


def _closed(bounds, values, costs):
    """The bounds, or the values themselves where the two differ by rounding alone."""
    finite = np.where(np.isfinite(costs), np.abs(costs), 0.0).max(axis=(1, 2), initial=0.0)
    with np.errstate(invalid="ignore"):
        close = np.abs(values - bounds) <= 1e-7 * np.maximum(finite, np.abs(values))
    return np.where(close, values, np.minimum(bounds, values))


def _checked_costs(costs, directed):
    """A copy with an infinite diagonal."""
    costs = np.array(costs, dtype=np.float64, order="C")
    if costs.ndim != 3 or costs.shape[1] != costs.shape[2]:
        raise ValueError(f"Costs of arcs have shape (n, N, N); got shape {costs.shape}.")
    if costs.shape[1] < 3:
        raise ValueError(f"A cycle needs three places or more; got {costs.shape[1]}.")
    N = costs.shape[1]
    costs[:, np.arange(N), np.arange(N)] = np.inf
    bad = np.argwhere(np.isnan(costs) | (costs == -np.inf))
    if len(bad):
        row, u, v = bad[0]
        raise ValueError(
            f"Costs of arcs are numbers or +inf; in row {row} the arc from {u} to {v} "
            f"costs {costs[row, u, v]}."
        )
    if not directed and not np.array_equal(costs, costs.swapaxes(1, 2)):
        row, u, v = np.argwhere(costs != costs.swapaxes(1, 2))[0]
        raise ValueError(
            f"Costs without directions are symmetric; in row {row} they are "
            f"{costs[row, u, v]} from {u} to {v} and {costs[row, v, u]} from {v} to {u}. "
            "Use directed=True for costs that differ."
        )
    return costs


def _checked_mask(mask, name, default, n, N):
    mask = np.full((1, N), default) if mask is None else np.asarray(mask, dtype=bool)
    if mask.ndim != 2 or mask.shape[1] != N or mask.shape[0] not in (1, n):
        raise ValueError(f"{name} has shape (1, {N}) or ({n}, {N}); got shape {mask.shape}.")
    return np.ascontiguousarray(np.broadcast_to(mask, (n, N)))


def _checked_sizes(size, name, default, n):
    size = np.asarray(default if size is None else size)
    if size.shape not in ((), (1,), (n,)) or not np.issubdtype(size.dtype, np.integer):
        raise ValueError(
            f"{name} is a whole number or an array of {n}; got {size.dtype} of shape {size.shape}."
        )
    return np.ascontiguousarray(np.broadcast_to(size, (n,)).astype(np.int64))
