# SPDX-License-Identifier: BSD-3-Clause
"""Minimum-cost members of an independence system that is known by a membership test alone."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from skstruct.tolerances import TIE

MOST_TESTS = 500  # of membership, spent on exchanging elements of one row
Oracle = Callable[[np.ndarray], bool]  # whether these element numbers are a member


def n_blocks(n: int) -> int:
    """ceil(n / log2 n): so many blocks of at most ceil(log2 n) elements hold n elements."""
    return 1 if n < 2 else math.ceil(n / math.log2(n))


def min_cost_members(
    costs: np.ndarray,
    holds: Oracle,
    *,
    low: Any = None,
    high: Any = None,
    most: int | None = None,
    starts: tuple[Any, ...] = (),
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""For every row a cheap set of elements that passes a test, and a lower bound.

    With a set all its subsets must pass. Elements of negative cost are split into
    :math:`b = \lceil n / \log_2 n \rceil` blocks, in each of which the best set is found by
    trying all. The best set of all elements leaves a member in each block, so that

    .. math:: \min_b v_b \le \min / b, \qquad \sum_b v_b \le \min:

    a ratio of 1/b between the worst (at least 0) and the best, and a bound. The answer is the
    better of the best block's set and the greedy one, completed and improved by exchanges.

    Parameters
    ----------
    costs : array of shape (n, d)
    holds : callable (array of element numbers) -> bool
    low, high : bool arrays of shape (1 or n, d), default=None
        Elements that must and that may be in. The ratio is then that of what may be added.
    most : int, default=None
        No member has more elements, where that is known: a better bound.
    starts : sequence of 0/1 arrays of shape (n, d)
        Members known to be good, which hold what must be in.

    Returns
    -------
    outputs : int8 array of shape (n, d)
    values : array of shape (n,)
        Infinite where what must be in does not pass.
    bounds : array of shape (n,)

    Examples
    --------
    >>> at_most_two = lambda members: len(members) <= 2
    >>> outputs, values, bounds = min_cost_members(np.array([[-1.0, -3.0, -2.0]]), at_most_two)
    >>> outputs.tolist(), values.tolist(), bounds.tolist()
    ([[0, 1, 1]], [-5.0], [-6.0])
    >>> min_cost_members(np.array([[-1.0, -3.0, -2.0]]), at_most_two, most=2)[2]
    array([-5.])

    References
    ----------
    Halldorsson (2000). Approximations of weighted independent set and hereditary subset
    problems. Journal of Graph Algorithms and Applications 4.
    """
    n, d = costs.shape
    low = np.broadcast_to(False if low is None else low, costs.shape)
    high = np.broadcast_to(True if high is None else high, costs.shape)
    outputs, values, bounds = np.zeros((n, d), np.int8), np.full(n, np.inf), np.full(n, np.inf)
    for i in range(n):
        forced = np.flatnonzero(low[i])
        if not high[i, forced].all() or not holds(forced):
            continue
        gains = np.flatnonzero((costs[i] < 0) & high[i] & ~low[i])
        gains = gains[np.argsort(costs[i, gains], kind="stable")]
        room = len(gains) if most is None else max(most - len(forced), 0)
        taken, bound = _min_cost_extension(
            costs[i], forced, gains, room, holds, [z[i] for z in starts]
        )
        outputs[i, taken] = 1
        values[i] = costs[i, taken].sum()
        bounds[i] = min(bound + costs[i, forced].sum(), values[i])
    return outputs, values, bounds


def _min_cost_extension(
    cost: np.ndarray,
    forced: np.ndarray,
    gains: np.ndarray,
    room: int,
    holds: Callable[..., Any],
    known: list[Any],
) -> tuple[np.ndarray, float]:
    """A cheap member that holds ``forced``, and a bound on what it gains over that."""

    def fits(added: Any) -> bool:
        return bool(holds(np.concatenate([forced, np.asarray(added, dtype=np.int64)])))

    gains = np.array([e for e in gains if fits([e])], dtype=np.int64)
    if fits(gains):
        return np.concatenate([forced, gains]), cost[gains].sum()
    best_in = [_best_of_block(cost, b, fits) for b in np.array_split(gains, n_blocks(len(gains)))]
    by_block = np.array([cost[members].sum() for members in best_in])
    starts = [best_in[int(by_block.argmin())], [], *(gains[z[gains] > 0].tolist() for z in known)]
    found = [_completed(start, gains, fits) for start in starts]
    best = min(found, key=lambda members: cost[members].sum())
    best = _exchanged(cost, best, gains, fits)
    bound = max(by_block.sum(), cost[gains[:room]].sum())
    return np.concatenate([forced, np.array(best, dtype=np.int64)]), bound


def _best_of_block(cost: np.ndarray, block: np.ndarray, fits: Callable[..., Any]) -> list[int]:
    """The minimum-cost member among all subsets of a few elements of negative cost.

    Depth first, elements in before out, so that a block which passes as a whole takes as many
    tests as it has elements; branches that cannot gain enough are left out.
    """
    left = np.append(np.cumsum(cost[block][::-1])[::-1], 0.0)  # what elements from k on may gain
    best: tuple[float, list[int]] = (0.0, [])

    def search(k: int, members: list[int], value: float) -> None:
        nonlocal best
        if value < best[0]:
            best = value, members
        if k == len(block) or value + left[k] >= best[0]:
            return
        if fits([*members, block[k]]):
            search(k + 1, [*members, int(block[k])], value + cost[block[k]])
        search(k + 1, members, value)

    search(0, [], 0.0)
    return best[1]


def _completed(start: list[int], gains: np.ndarray, fits: Callable[..., Any]) -> list[int]:
    """Take what still passes, the most gainful first."""
    members = list(start)
    for e in gains.tolist():
        if e not in members and fits([*members, e]):
            members.append(e)
    return members


def _exchanged(
    cost: np.ndarray, members: list[int], gains: np.ndarray, fits: Callable[..., Any]
) -> list[int]:
    """Drop a member and take what then passes, while that gains more; small gains go first."""
    value, tests, improved = cost[members].sum(), 0, True
    while improved:
        improved = False
        outside = [e for e in gains.tolist() if e not in members]
        for out in sorted(members, key=lambda e: -cost[e]):
            tests += len(outside)
            if tests > MOST_TESTS:
                return members
            others = _completed([e for e in members if e != out], np.array(outside), fits)
            if cost[others].sum() < value - TIE * abs(value):
                members, value, improved = others, cost[others].sum(), True
                break
    return members
