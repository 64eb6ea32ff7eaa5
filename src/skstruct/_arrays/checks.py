# SPDX-License-Identifier: BSD-3-Clause
"""Checks that stand before every solver, and ties among costs."""

from numbers import Integral, Real
from typing import Any

import numpy as np

# What costs of one row may sum to: a decoder adds some more of them, and must not overflow.
LARGEST_SUM = np.finfo(np.float64).max / 4


def check_costs(costs: np.ndarray, n_columns: int, *, used_by: str) -> np.ndarray:
    """A finite float array of shape (n, n_columns), or an error that names the entry."""
    costs = np.asarray(costs, dtype=np.float64)
    if costs.ndim != 2 or costs.shape[1] != n_columns:
        raise ValueError(
            f"{used_by} expects costs of shape (n_samples, {n_columns}); got shape {costs.shape}."
        )
    # Nothing of the size of costs is allocated: NaN and infinity show in the largest number,
    # and only when that is wrong does the search for the entry begin.
    largest = np.maximum(costs.max(initial=0.0), -costs.min(initial=0.0))
    limit = LARGEST_SUM / max(n_columns, 1)
    if not largest <= limit:
        unbounded = np.argwhere(~np.isfinite(costs))
        what = "finite costs" if len(unbounded) else f"costs of at most {limit:.3g}, for their sums"
        row, column = unbounded[0] if len(unbounded) else np.argwhere(np.abs(costs) > limit)[0]
        raise ValueError(f"{used_by} needs {what}; costs[{row}, {column}] is {costs[row, column]}.")
    return costs


def is_number(value: Any) -> bool:
    """Whether this is a real number; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_count(value: Any) -> bool:
    """Whether this is a whole number from 1."""
    return isinstance(value, Integral) and is_number(value) and int(value) >= 1


# Ties that do not depend on the last bits of a matrix product.


TIE_BITS = 30  # costs keep 30 bits below the scale of their row: 1e-9 of it


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
    quantum = np.ldexp(1.0, np.frexp(scale)[1] - TIE_BITS)[:, None]
    quantum[~np.isfinite(quantum) | (quantum == 0)] = 1.0
    costs /= quantum
    np.rint(costs, out=costs)
    costs *= quantum
    return costs


def repeatable(random_state: Any) -> Any:
    """What to draw by: as asked, and where nobody asks the same in every run.

    >>> repeatable(None), repeatable(7)
    (0, 7)
    """
    return 0 if random_state is None else random_state
