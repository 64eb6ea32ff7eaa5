# SPDX-License-Identifier: BSD-3-Clause
"""Ties that do not depend on the last bits of a matrix product."""

from __future__ import annotations

import numpy as np

BITS = 30  # costs keep 30 bits below the scale of their row: 1e-9 of it


def snap(costs: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Round every row to multiples of 2**-30 of its scale, in place.

    The same row in another batch, memory order or number of threads gives a matrix
    product that differs in its last bits, enough to turn a tie into a preference.
    On the grid, equal costs are equal again and zero is zero. Sums of up to 2**23
    such multiples are exact in double precision, so that no decoder's order of
    summation matters either, and the lowest index wins every tie.

    Parameters
    ----------
    costs : array of shape (n, d)
    scale : array of shape (n,)
        Size of the terms that the costs are differences of: where these cancel, the
        costs themselves are noise.
    """
    quantum = np.ldexp(1.0, np.frexp(scale)[1] - BITS)[:, None]
    quantum[~np.isfinite(quantum) | (quantum == 0)] = 1.0
    costs /= quantum
    np.rint(costs, out=costs)
    costs *= quantum
    return costs
