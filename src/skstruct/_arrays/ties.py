# SPDX-License-Identifier: BSD-3-Clause
"""Ties that do not depend on the last bits of a matrix product."""

from __future__ import annotations

import numpy as np

BITS = 34  # costs keep 34 bits below the largest of their row: 6e-11 of it


def snap(costs: np.ndarray) -> np.ndarray:
    """Round every row to multiples of 2**-34 of its scale, in place.

    The same row in another batch, memory order or number of threads gives a matrix
    product that differs in its last bits, enough to turn a tie into a preference.
    On the grid, equal costs are equal again and zero is zero. Sums of up to 2**19
    such multiples are exact in double precision, so that no decoder's order of
    summation matters either, and the lowest index wins every tie.
    """
    if costs.size == 0:
        return costs
    largest = np.maximum(costs.max(axis=1), -costs.min(axis=1))
    quantum = np.ldexp(1.0, np.frexp(largest)[1] - BITS)[:, None]
    quantum[~np.isfinite(quantum) | (quantum == 0)] = 1.0
    costs /= quantum
    np.rint(costs, out=costs)
    costs *= quantum
    return costs
