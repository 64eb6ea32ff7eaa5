# SPDX-License-Identifier: BSD-3-Clause
"""Rankings within limits under the uniform distribution: counts, samples, lists."""

from __future__ import annotations

import math

import numpy as np

from skstruct.decoding.orders import MOST_ITEMS, count_orders, sample_orders
from skstruct.spaces.partial_ranks import tied_behind
from skstruct.spaces.ranking_limits import RankLimits

LIMIT = 10**6  # rankings that are listed at most, unless asked otherwise


def count_rankings(limits: RankLimits) -> int:
    """Exact number of rankings: factorials, or a table when there are precedences."""
    d, stop = limits.fixed.shape[1], _stop(limits)
    if limits.has_before:
        before, allowed = _table_limits(limits)
        return int(count_orders(before, allowed, stop)[0])
    n_free = d - int((limits.fixed > 0).sum())
    return math.perm(n_free, n_free - (d - stop))


def sample_rankings(limits: RankLimits, n: int, rng) -> np.ndarray:
    """``n`` rankings drawn uniformly and independently; shape (n, d)."""
    d = limits.fixed.shape[1]
    if limits.has_before:
        before, allowed = _table_limits(limits)
        orders = sample_orders(n, before, allowed, _stop(limits), rng)
        return tied_behind(orders, limits.top)
    held = np.flatnonzero(limits.fixed[0])
    free = np.flatnonzero(limits.fixed[0] == 0)
    orders = np.empty((n, d), np.int64)
    slots = np.setdiff1d(np.arange(d), limits.fixed[0, held] - 1)
    orders[:, limits.fixed[0, held] - 1] = held
    orders[:, slots] = rng.permuted(np.tile(free, (n, 1)), axis=1)
    return tied_behind(orders, limits.top)


def list_rankings(limits: RankLimits, limit: int) -> np.ndarray:
    """All rankings, position by position; shape (size, d)."""
    size, d = count_rankings(limits), limits.fixed.shape[1]
    if size > limit:
        raise ValueError(f"There are {size:,} rankings; enumerate() lists up to {limit:,}.")
    allowed = limits.allowed()[0]
    prefixes = np.zeros((1, 0), np.int64)
    for t in range(_stop(limits)):
        n = len(prefixes)
        used = np.zeros((n, d), bool)
        np.put_along_axis(used, prefixes, True, axis=1)
        waits = (limits.before[0].T[None] & ~used[:, None, :]).any(axis=2)
        row, item = np.nonzero(~used & ~waits & allowed[:, t])
        prefixes = np.column_stack([prefixes[row], item])
    rest = np.ones((len(prefixes), d), bool)
    np.put_along_axis(rest, prefixes, False, axis=1)
    others = np.nonzero(rest)[1].reshape(len(prefixes), -1)
    return tied_behind(np.hstack([prefixes, others]), limits.top)


def _stop(limits) -> int:
    return limits.fixed.shape[1] if limits.top is None else limits.top


def _table_limits(limits):
    d = limits.fixed.shape[1]
    if d > MOST_ITEMS:
        raise ValueError(
            f"Rankings with known precedences are counted for up to {MOST_ITEMS} items; "
            f"there are {d}."
        )
    return limits.before[0], limits.allowed()[0].T
