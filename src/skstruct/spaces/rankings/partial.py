# SPDX-License-Identifier: BSD-3-Clause
"""What partial rankings say of positions: a partial ranking stands for all orders it allows.

Rankings are arrays (n, d) of numbers, one column per item, smaller is better: equal
numbers are ties, NaN is an item that was not ranked. Under the uniform distribution over
all total orders that agree with a row, positions have closed forms.
"""

from typing import Any

import numpy as np
from scipy.special import gammaln

from skstruct.spaces.solvers.linear_ordering import ranks_of


def average_ranks(Y: np.ndarray) -> np.ndarray:
    """Ranks from 1 among the ranked items of each row, ties at their mean; NaN stays NaN.

    >>> average_ranks(np.array([[0.3, np.nan, 0.1, 0.3]]))
    array([[2.5, nan, 1. , 2.5]])
    """
    Y = np.asarray(Y, dtype=np.float64)
    n, d = Y.shape
    order = np.argsort(Y, axis=1, kind="stable")
    ordered = np.take_along_axis(Y, order, axis=1)
    fresh = np.ones((n, d + 1), bool)  # where a group of equal numbers begins
    fresh[:, 1:-1] = ordered[:, 1:] != ordered[:, :-1]
    position = np.arange(d)
    first = np.maximum.accumulate(np.where(fresh[:, :-1], position, 0), axis=1)
    last = np.where(fresh[:, 1:], position, d)[:, ::-1]
    last = np.minimum.accumulate(last, axis=1)[:, ::-1]
    ranks = np.empty((n, d))
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=1)
    ranks[np.isnan(Y)] = np.nan
    return ranks


def is_total(Y: np.ndarray) -> np.ndarray:
    """Which rows are total orders written as 1..d; shape (n,)."""
    Y = np.asarray(Y, dtype=np.float64)
    return (np.sort(Y, axis=1) == np.arange(1, Y.shape[1] + 1)).all(axis=1)


def tied_behind(orders: np.ndarray, top: int | None) -> np.ndarray:
    """Ranks from 1 of orders (best item first), all items beyond ``top`` at their mean."""
    ranks = ranks_of(orders) + 1.0
    d = ranks.shape[1]
    return ranks if top is None else np.where(ranks > top, (top + 1 + d) / 2, ranks)


def expected_ranks(Y: np.ndarray) -> np.ndarray:
    """Mean position of every item over all total orders that agree with a row; (n, d)."""
    ranks = average_ranks(Y)
    d = ranks.shape[1]
    n_ranked = (~np.isnan(ranks)).sum(axis=1, keepdims=True)
    # The r-th of m ranked items has r (d - m) / (m + 1) unranked ones before it on average.
    return np.where(np.isnan(ranks), (d + 1) / 2, ranks * (d + 1) / (n_ranked + 1))


def position_shares(Y: np.ndarray) -> np.ndarray:
    """Share of the orders that agree with a row in which item j is at k; shape (n, d, d)."""
    ranks = average_ranks(Y)
    n, d = ranks.shape
    missing = np.isnan(ranks)
    n_ranked = (~missing).sum(axis=1)
    ties = (ranks[:, :, None] == ranks[:, None, :]).sum(axis=2)
    first = np.where(missing, 0, ranks - (ties - 1) / 2 - 1).astype(np.int64)
    last = np.where(missing, 0, ranks + (ties - 1) / 2).astype(np.int64)
    shares = np.full((n, d, d), 1.0 / d)
    for m in np.unique(n_ranked[n_ranked > 0]):
        rows = n_ranked == m
        up_to = np.vstack([np.zeros(d), np.cumsum(_insertions(int(m), d), axis=0)])
        inside = (up_to[last[rows]] - up_to[first[rows]]) / np.maximum(ties[rows], 1)[:, :, None]
        shares[rows] = np.where(missing[rows][:, :, None], 1.0 / d, inside)
    return shares


def _insertions(m: int, d: int) -> np.ndarray:
    """Probability that the r-th of m items is k-th among d when the others fall in anywhere.

    C(k - 1, r - 1) C(d - k, m - r) / C(d, m); shape (m, d).
    """
    if m == d:
        return np.eye(d)
    r, k = np.arange(1, m + 1)[:, None], np.arange(1, d + 1)
    possible = (k >= r) & (d - k >= m - r)
    log_share = _log_choose(k - 1, r - 1) + _log_choose(d - k, m - r) - _log_choose(d, m)
    return np.where(possible, np.exp(np.where(possible, log_share, 0.0)), 0.0)


def _log_choose(n: Any, k: Any) -> Any:
    with np.errstate(invalid="ignore", divide="ignore"):
        return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
