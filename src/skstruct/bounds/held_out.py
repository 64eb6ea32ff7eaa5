# SPDX-License-Identifier: BSD-3-Clause
"""A certificate from rows that a model was not fitted to: right for any model."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skstruct.bounds.certificate import LARGEST, Certificate, check_delta, check_positive
from skstruct.bounds.means import (
    betting_limit,
    binomial_limit,
    empirical_bernstein_limit,
    hoeffding_bentkus_limit,
)
from skstruct.tolerances import STATED_BOUND

ASSUMPTIONS = (
    "the rows given and new rows are independent draws from one distribution",
    "the rows given had no part in training, nor in any choice that was made on the way",
)
EXACT = "the exact limit of the binomial distribution (Clopper and Pearson)"
METHODS: dict[str, tuple[Callable[[np.ndarray, float], float], str]] = {
    "hoeffding_bentkus": (
        hoeffding_bentkus_limit,
        "the better one of the inequalities of Hoeffding and Bentkus",
    ),
    "betting": (betting_limit, "betting against large means (Waudby-Smith and Ramdas)"),
    "empirical_bernstein": (
        empirical_bernstein_limit,
        "the empirical Bernstein inequality (Maurer and Pontil)",
    ),
}


def held_out_bound(
    losses: ArrayLike,
    largest: float,
    *,
    delta: float = 0.05,
    binary: bool = False,
    method: str = "auto",
) -> Certificate:
    r"""Bound the expected loss of a model by its losses on rows that it was not fitted to.

    With x the n losses divided by the largest one and r their mean, the bound R is, times the
    largest loss,

    - where losses are all or nothing, the largest R with
      :math:`P(\mathrm{Bin}(n, R) \le n r) > \delta`, which is exact [1]_;
    - by betting [2]_, the largest R at which a fortune that starts at 1 and grows by
      :math:`1 - \lambda_t(R)(x_t - R)` from loss to loss never reaches :math:`1/\delta`. The
      stakes :math:`\lambda_t` depend on earlier losses only; if R is the expected loss, the
      game is fair, and no stakes make more of it but with probability :math:`\delta`. Losses
      that vary little make large stakes safe, and the bound close;
    - by Hoeffding [3]_ and Bentkus [4]_, the smaller one of the largest R with
      :math:`\mathrm{kl}(r \,\|\, R) \le \frac1n \ln\frac1\delta` and that with
      :math:`e\, P(\mathrm{Bin}(n, R) \le \lceil n r \rceil) > \delta`: both bound the same
      probability, so that taking the better one costs nothing;
    - by the empirical Bernstein inequality [5]_,
      :math:`r + \sqrt{2 V \ln(2/\delta) / n} + \frac{7 \ln(2/\delta)}{3 (n - 1)}`
      with the sample variance V.

    Nothing is assumed of the model or the distribution. The method is chosen before looking at
    the losses: the best one of several would fail more often than :math:`\delta`.

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
    method : "auto", "betting", "hoeffding_bentkus" or "empirical_bernstein", default="auto"
        "auto" is the exact bound where ``binary``, and betting elsewhere. Betting takes the
        losses one by one, in an order that is drawn once and for all and depends on n alone, so
        that rows that were sorted do no harm. Had the rows come in another order, its slack would
        be another one, by a fifth or so; other methods do not depend on the order.

    Returns
    -------
    Certificate

    References
    ----------
    .. [1] C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated
       in the case of the binomial", 1934.
    .. [2] I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by
       betting", 2023.
    .. [3] W. Hoeffding, "Probability inequalities for sums of bounded random variables", 1963,
       Theorem 1.
    .. [4] V. Bentkus, "On Hoeffding's inequalities", 2004, Theorem 1.2.
    .. [5] A. Maurer and M. Pontil, "Empirical Bernstein bounds and sample variance
       penalization", 2009, Theorem 4.

    Examples
    --------
    >>> certificate = held_out_bound([0.0] * 290 + [1.0] * 10, 1.0, binary=True)
    >>> round(certificate.value, 4), certificate.kind
    (0.0559, 'held_out')
    >>> for method in ("betting", "hoeffding_bentkus", "empirical_bernstein"):
    ...     print(method, round(held_out_bound([0.2, 0.3] * 150, 1.0, method=method).value, 3))
    betting 0.261
    hoeffding_bentkus 0.306
    empirical_bernstein 0.287
    """
    delta, largest = check_delta(delta), check_positive(largest, "largest", "held_out_bound")
    if method != "auto" and method not in METHODS:
        raise ValueError(
            f"held_out_bound: method is one of auto, {', '.join(METHODS)}; got {method!r}."
        )
    checked = _checked(losses, largest, binary)
    n, mean = len(checked), float(checked.mean())
    if method == "auto" and binary:
        rate, reason = binomial_limit(round(n * mean / largest), n, delta), EXACT
    else:
        limit, reason = METHODS["betting" if method == "auto" else method]
        rate = limit(checked / largest, delta)
    value = largest * rate
    terms = {"mean loss": mean, "slack": value - mean, "rows": float(n), LARGEST: largest}
    return Certificate(value, terms, value >= largest, delta, ASSUMPTIONS, "held_out", reason)


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
