# SPDX-License-Identifier: BSD-3-Clause
"""Upper confidence limits of the mean of numbers from 0 to 1, drawn independently."""

import math
from typing import Any

import numpy as np
from scipy import special

from skstruct.tolerances import BELOW_ONE, ROOT_ACCURACY, WHOLE_NUMBER

LARGEST_STAKE = 0.75  # of the fortune that one number may take; 1/2 or 3/4 in the paper
ORDER = 0  # seed of the order in which numbers are bet on: the same for all data of one length


def binomial_limit(k: int, n: int, delta: float) -> float:
    """The largest R at which k or fewer of n have probability delta at least.

    >>> round(binomial_limit(0, 59, 0.05), 4)
    0.0495
    """
    return 1.0 if k >= n else float(special.betaincinv(k + 1, n - k, 1.0 - delta))


def entropy_limit(mean: float, n: int, delta: float) -> float:
    """The largest R with kl(mean || R) <= ln(1 / delta) / n.

    >>> round(entropy_limit(0.0, 59, 0.05), 4)
    0.0495
    """
    most = math.log(1.0 / delta) / n
    if mean == 0.0:
        return -math.expm1(-most)

    def excess(rate: float) -> Any:
        return special.rel_entr(mean, rate) + special.rel_entr(1.0 - mean, 1.0 - rate) - most

    top = 1.0 - BELOW_ONE
    if mean >= top or excess(top) <= 0:
        return 1.0
    from scipy.optimize import brentq

    return float(brentq(excess, mean, top, xtol=ROOT_ACCURACY))


def hoeffding_bentkus_limit(x: np.ndarray, delta: float) -> float:
    """The smaller one of the limits of Hoeffding and of Bentkus; x has shape (n,).

    >>> round(hoeffding_bentkus_limit(np.full(100, 0.5), 0.05), 3)
    0.608
    """
    n, mean = len(x), float(x.mean())
    tail = binomial_limit(math.ceil(n * mean - WHOLE_NUMBER), n, delta / math.e)
    return min(entropy_limit(mean, n, delta), tail)


def empirical_bernstein_limit(x: np.ndarray, delta: float) -> float:
    """Mean plus a slack that falls with the sample variance; may exceed 1; x has shape (n,).

    >>> round(empirical_bernstein_limit(np.full(100, 0.5), 0.05), 3)
    0.587
    """
    n, log = len(x), math.log(2.0 / delta)
    if n < 2:
        raise ValueError("The empirical Bernstein inequality needs two rows at least; got one.")
    spread = math.sqrt(2.0 * float(x.var(ddof=1)) * log / n)
    return float(x.mean()) + spread + 7.0 * log / (3.0 * (n - 1))


def betting_limit(x: np.ndarray, delta: float) -> float:
    r"""The largest mean m against which betting has not won :math:`1/\delta`; x has shape (n,).

    The fortune is :math:`K_t(m) = \prod_{i \le t} (1 - \lambda_i(m) (x_i - m))` with stakes
    :math:`\lambda_i(m) = \min(\lambda_i, c / (1 - m))`. Each factor is positive, as
    :math:`x_i - m \le 1 - m`, and rises with m: while :math:`\lambda_i` is the smaller one that is
    plain, and else the factor is :math:`1 - c (x_i - m) / (1 - m)`. So the means that are not
    refuted are an interval, and its upper end is a root. At the true mean the fortune is a
    martingale, which reaches :math:`1/\delta` at any time with probability :math:`\delta` at
    most (Ville). Where an early fortune refutes even the mean of the numbers, that is returned.

    >>> round(betting_limit(np.full(100, 0.5), 0.05), 3)
    0.52
    """
    x = x[np.random.default_rng(ORDER).permutation(len(x))]
    stakes, goal = predictable_stakes(x, delta), math.log(1.0 / delta)
    gains = np.empty_like(x)

    def excess(mean: float) -> float:
        return _largest_fortune(x, stakes, mean, gains) - goal

    if excess(1.0) <= 0:
        return 1.0
    least = float(x.min())  # a mean against which nothing can be won
    from scipy.optimize import brentq

    root = float(brentq(excess, least, 1.0, xtol=ROOT_ACCURACY))
    return max(min(root + 2 * ROOT_ACCURACY, 1.0), float(x.mean()))


def predictable_stakes(x: np.ndarray, delta: float) -> np.ndarray:
    r"""Stakes :math:`\sqrt{2 \ln(1/\delta) / (n \hat\sigma^2_{t-1})}` from earlier numbers only.

    The estimates are those of the paper, which begin with mean 1/2 and variance 1/4.

    >>> predictable_stakes(np.array([0.0, 0.0, 1.0]), 0.05).round(2)
    array([2.83, 3.58, 4.2 ])
    """
    n = len(x)
    seen = np.arange(2, n + 2)  # numbers so far, and one in front
    means = (0.5 + np.cumsum(x)) / seen
    variances = (0.25 + np.cumsum((x - means) ** 2)) / seen
    earlier = np.concatenate([[0.25], variances[:-1]])
    return np.sqrt(2.0 * math.log(1.0 / delta) / (n * earlier))


def _largest_fortune(x: np.ndarray, stakes: np.ndarray, mean: float, gains: np.ndarray) -> float:
    """Logarithm of the most that betting against a mean ever had; ``gains`` is overwritten."""
    cap = LARGEST_STAKE / (1.0 - mean) if mean < 1.0 else np.inf
    np.minimum(stakes, cap, out=gains)
    gains *= mean - x
    np.log1p(gains, out=gains)
    np.cumsum(gains, out=gains)
    return float(gains.max(initial=0.0))
