# SPDX-License-Identifier: BSD-3-Clause
"""Tests of whether a mean loss is within a level, and thresholds that pass in a fixed order.

A p-value here is small when the expected loss is likely to be at most the level: of the hypothesis
that it is above, P(p <= delta) <= delta.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import rel_entr
from scipy.stats import binom

from skstruct.tolerances import WHOLE_NUMBER


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
    entropy = rel_entr(below, level) + rel_entr(1.0 - below, 1.0 - level)
    tail = math.e * binom.cdf(np.ceil(n * means - WHOLE_NUMBER), n, level)
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
    tail = binom.cdf(np.round(counts), np.maximum(n, 1), level)
    return np.where(n > 0, tail, 1.0)


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
