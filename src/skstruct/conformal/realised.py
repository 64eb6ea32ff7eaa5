# SPDX-License-Identifier: BSD-3-Clause
"""What a promise came to on further rows."""

from dataclasses import dataclass

import numpy as np

from skstruct.conformal.risks import Risk
from skstruct.conformal.structures import Claims


@dataclass(frozen=True)
class Realised:
    """The risk on rows with known outputs, and what it was bought with.

    Attributes
    ----------
    risk : float
        Mean over rows of what was promised to be small.
    error : float
        Its standard error.
    asserted : float
        Share of the parts that something is asserted of: of true parts, how many are possible,
        where missed ones are counted.
    n_rows : int
    """

    risk: float
    error: float
    asserted: float
    n_rows: int


def realised(claims: Claims, thresholds: np.ndarray, risk: Risk) -> Realised:
    """Of rows with claims at thresholds (n,)."""
    above = claims.scores > thresholds[:, None]
    costs = (claims.costs * above).sum(axis=1)
    losses = (claims.losses * above).sum(axis=1)
    n = len(losses)
    if risk.on_grid is None:
        mean, spread = losses.mean(), losses.std()
    elif risk.bets:  # a ratio of expectations
        mean = losses.sum() / max(costs.sum(), np.finfo(np.float64).tiny)
        spread = (losses - mean * costs).std() / max(costs.mean(), np.finfo(np.float64).tiny)
    else:
        each = np.array(
            [risk.on_grid(claims.rows(np.array([i])), thresholds[[i]], 0.0)[0, 0] for i in range(n)]
        )
        mean, spread = each.mean(), each.std()
    asserted = 1.0 - losses.mean() if risk.moves == "possible" else costs.mean()
    return Realised(float(mean), float(spread / np.sqrt(n)), float(asserted), n)
