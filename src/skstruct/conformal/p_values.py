# SPDX-License-Identifier: BSD-3-Clause
"""Tests of whether a mean loss is within a level, and thresholds that pass in a fixed order.

A p-value here is small when the expected loss is likely to be at most the level: of the hypothesis
that it is above, P(p <= delta) <= delta.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from skstruct.tolerances import WHOLE_NUMBER

PLAYERS = 8  # who bet shares from a hundredth of the largest one up
EVERY = 4  # one row of so many gives the order of tests, and is not tested itself
AT_ONCE = 16  # factors that are multiplied before a logarithm is taken, and stay within range
MOST_OF_CAPITAL = 0.9  # of what a single row could cost


def hoeffding_bentkus(means: ArrayLike, n: Any, level: float) -> np.ndarray:
    r"""P-values of means of losses from 0 to 1, whatever their distribution.

    .. math:: p = \min\bigl(e^{-n\,\mathrm{kl}(\min(r, a)\,\|\,a)},\;
              e\,P(\mathrm{Bin}(n, a) \le \lceil n r \rceil),\; 1\bigr),

    with r the mean of n losses and a the level [1]_. The same two inequalities as those of
    :func:`skstruct.bounds.held_out_bound`: p is at most delta where that bound is at most a.

    Parameters
    ----------
    means : array
    n : int or array
        Rows that each is the mean of.
    level : float from 0 to 1

    References
    ----------
    .. [1] A. N. Angelopoulos, S. Bates, E. J. Candès, M. I. Jordan and L. Lei, "Learn then test:
       calibrating predictive algorithms to achieve risk control", 2021, Proposition 1.

    Examples
    --------
    >>> hoeffding_bentkus([0.0, 0.05, 0.2], 50, 0.1).round(4).tolist()
    [0.0052, 0.4337, 1.0]
    """
    means, n = np.broadcast_arrays(np.asarray(means, dtype=np.float64), np.asarray(n))
    if level >= 1.0:  # no mean is above
        return np.zeros(means.shape)
    below = np.minimum(means, level)
    entropy = special.rel_entr(below, level) + special.rel_entr(1.0 - below, 1.0 - level)
    tail = math.e * special.bdtr(np.ceil(n * means - WHOLE_NUMBER), n, level)
    return np.where(n > 0, np.minimum(np.minimum(np.exp(-n * entropy), tail), 1.0), 1.0)


def binomial_p_values(counts: ArrayLike, n: ArrayLike, level: float) -> np.ndarray:
    r"""Exact p-values of losses that are all or nothing, :math:`P(\mathrm{Bin}(n, a) \le k)`.

    Parameters
    ----------
    counts : array
        How many of n losses were 1.
    n : int or array
    level : float from 0 to 1

    Examples
    --------
    >>> binomial_p_values([0, 3], 50, 0.1).round(4).tolist()
    [0.0052, 0.2503]
    """
    counts, n = np.broadcast_arrays(np.asarray(counts), np.asarray(n))
    if level >= 1.0:
        return np.zeros(counts.shape)
    tail = special.bdtr(np.round(counts), np.maximum(n, 1), level)
    return np.where(n > 0, tail, 1.0)


def betting_p_values(
    losses: ArrayLike, level: float, before: ArrayLike | None = None
) -> np.ndarray:
    r"""P-values of means of losses from 0 to 1, small where their variance is small.

    A player who bets a share :math:`\lambda` of her capital on every row has
    :math:`K_\lambda = \prod_i (1 + \lambda\,(a - L_i))` in the end, which is 1 at most in
    expectation if :math:`E\,L \ge a`; so has the mean of several such players, and by Markov's
    inequality its inverse is a p-value [1]_.

    Parameters
    ----------
    losses : array of shape (n, m)
        Of n rows; a test for each column.
    level : float from 0 to 1
        The a of the formula.
    before : array of shape (k, m), default=None
        Losses of other rows: players begin with what they would have won on these, as a share of
        what all would have.

    References
    ----------
    .. [1] I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by
       betting", 2024, section 4.

    Examples
    --------
    >>> betting_p_values([[0.0, 0.1, 0.2]] * 50, 0.1).round(4).tolist()
    [0.057, 1.0, 1.0]
    """
    losses = np.asarray(losses, dtype=np.float64)
    if level >= 1.0:
        return np.zeros(losses.shape[1])
    at_first = np.zeros((PLAYERS, losses.shape[1]))
    if before is not None:
        at_first = _log_capitals(np.asarray(before, dtype=np.float64), level)
    at_first = at_first - np.logaddexp.reduce(at_first, axis=0)
    won = np.logaddexp.reduce(at_first + _log_capitals(losses, level), axis=0)
    return np.exp(-np.maximum(won, 0.0))


def _log_capitals(losses: np.ndarray, level: float) -> np.ndarray:
    """What players have after all rows, who began with 1; logarithms, shape (players, m)."""
    if not len(losses):
        return np.zeros((PLAYERS, losses.shape[1]))
    gains = MOST_OF_CAPITAL / (1.0 - level) * (level - losses)
    blocks = np.arange(0, len(losses), AT_ONCE)
    products = [
        np.multiply.reduceat(1.0 + share * gains, blocks, axis=0)
        for share in np.logspace(-2.0, 0.0, PLAYERS)
    ]
    return np.log(products).sum(axis=1)


def fixed_sequence(p_values: ArrayLike, delta: float) -> int:
    """How many hypotheses are rejected one after the other until the first is not.

    No true one is among them with probability 1 - delta, as long as their order does not depend
    on the rows that are tested.

    Examples
    --------
    >>> fixed_sequence([0.01, 0.04, 0.2, 0.01], 0.05)
    2
    """
    failed = np.flatnonzero(np.asarray(p_values) > delta)
    return int(failed[0]) if len(failed) else int(np.size(p_values))


def laxest(
    grid: np.ndarray, likely: np.ndarray, p_values: np.ndarray, delta: float, nothing: float
) -> float:
    """The laxest threshold that passed, when those that are likely to pass are tested first.

    Parameters
    ----------
    grid : array of shape (m,)
        Thresholds from strict to lax.
    likely : array of shape (m,)
        P-values of other rows, which give the order.
    p_values : array of shape (m,)
    nothing : float
        The threshold where none passed.
    """
    order = np.argsort(likely, kind="stable")
    passed = order[: fixed_sequence(p_values[order], delta)]
    return float(grid[passed.max()]) if len(passed) else nothing


def split_rows(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows that are tested, and those that say what is tested and in which order."""
    scout = np.arange(len(numbers)) % EVERY == EVERY - 1
    return numbers[~scout], numbers[scout]


def bet_on_thresholds(
    losses: np.ndarray, grid: np.ndarray, level: float, delta: float, nothing: float
) -> float:
    """The laxest threshold that passes by betting.

    Parameters
    ----------
    losses : array of shape (n, m)
        Of all rows, for every threshold.
    grid : array of shape (m,)
        Thresholds from strict to lax, which do not depend on the rows that are tested.
    nothing : float
        The threshold where none passed.
    """
    rest, scout = split_rows(np.arange(len(losses)))
    likely = betting_p_values(losses[scout], level)
    p_values = betting_p_values(losses[rest], level, losses[scout])
    return laxest(grid, likely, p_values, delta, nothing)
