# SPDX-License-Identifier: BSD-3-Clause
"""A certificate from rows that a model was not fitted to: right for any model."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import betaincinv, rel_entr

from skstruct.bounds.certificate import LARGEST, Certificate, check_delta, check_positive
from skstruct.tolerances import BELOW_ONE, ROOT_ACCURACY, STATED_BOUND, WHOLE_NUMBER

ASSUMPTIONS = (
    "the rows given and new rows are independent draws from one distribution",
    "the rows given had no part in training, nor in any choice that was made on the way",
)


def held_out_bound(
    losses: ArrayLike, largest: float, *, delta: float = 0.05, binary: bool = False
) -> Certificate:
    r"""Bound the expected loss of a model by its losses on rows that it was not fitted to.

    With r the mean of n losses divided by the largest one, the bound is the largest R with
    :math:`P(\mathrm{Bin}(n, R) \le n r) > \delta` where losses are all or nothing [1]_, which is
    exact, and else the smaller one of

    .. math:: \mathrm{kl}(r \,\|\, R) \le \tfrac1n \ln\tfrac1\delta \quad\text{and}\quad
              e\, P(\mathrm{Bin}(n, R) \le \lceil n r \rceil) > \delta,

    the inequalities of Hoeffding [2]_ and Bentkus [3]_: both bound the same probability, so that
    taking the better one costs nothing. Nothing is assumed of the model or the distribution.

    Parameters
    ----------
    losses : array of shape (n,)
        From 0 to ``largest``.
    largest : float
        No loss exceeds it.
    delta : float, default=0.05
        Probability that the bound fails.
    binary : bool, default=False
        Whether a loss is either 0 or the largest one, whatever rows come.

    Returns
    -------
    Certificate

    References
    ----------
    .. [1] C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated
       in the case of the binomial", 1934.
    .. [2] W. Hoeffding, "Probability inequalities for sums of bounded random variables", 1963,
       Theorem 1.
    .. [3] V. Bentkus, "On Hoeffding's inequalities", 2004, Theorem 1.2.

    Examples
    --------
    >>> certificate = held_out_bound([0.0] * 290 + [1.0] * 10, 1.0, binary=True)
    >>> round(certificate.value, 4), certificate.kind
    (0.0559, 'held_out')
    """
    delta, largest = check_delta(delta), check_positive(largest, "largest", "held_out_bound")
    checked = _checked(losses, largest, binary)
    n, mean = len(checked), float(checked.mean()) / largest
    if binary:
        rate = _binomial_limit(round(n * mean), n, delta)
    else:
        tail = _binomial_limit(math.ceil(n * mean - WHOLE_NUMBER), n, delta / math.e)
        rate = min(_entropy_limit(mean, n, delta), tail)
    value = largest * rate
    terms = {"mean loss": largest * mean, "slack": value - largest * mean, "rows": float(n)}
    terms[LARGEST] = largest
    return Certificate(value, terms, value >= largest, delta, ASSUMPTIONS, "held_out")


def _checked(losses: Any, largest: float, binary: bool) -> Any:
    losses = np.asarray(losses, dtype=np.float64)
    if losses.ndim != 1 or not len(losses) or not np.isfinite(losses).all():
        raise ValueError(
            f"held_out_bound: losses are finite numbers, one per row; got shape {losses.shape}."
        )
    bad = np.flatnonzero((losses < 0) | (losses > largest * (1 + STATED_BOUND)))
    if len(bad):
        raise ValueError(
            f"held_out_bound: the loss of row {bad[0]} is {losses[bad[0]]:g}; losses are from 0 "
            f"to the largest, {largest:g}."
        )
    if binary and not np.isin(losses, (0.0, largest)).all():
        raise ValueError("held_out_bound: binary=True, but a loss is between 0 and the largest.")
    return losses.clip(max=largest)


def _binomial_limit(k: int, n: int, delta: float) -> float:
    """The largest R at which k or fewer of n have probability delta at least."""
    return 1.0 if k >= n else float(betaincinv(k + 1, n - k, 1.0 - delta))


def _entropy_limit(mean: float, n: int, delta: float) -> float:
    """The largest R with kl(mean || R) <= ln(1 / delta) / n."""
    most = math.log(1.0 / delta) / n
    if mean == 0.0:
        return -math.expm1(-most)

    def excess(rate: float) -> Any:
        return rel_entr(mean, rate) + rel_entr(1.0 - mean, 1.0 - rate) - most

    top = 1.0 - BELOW_ONE
    if mean >= top or excess(top) <= 0:
        return 1.0
    return float(brentq(excess, mean, top, xtol=ROOT_ACCURACY))
