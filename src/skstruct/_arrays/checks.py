# SPDX-License-Identifier: BSD-3-Clause
"""Checks that stand before every solver: solvers answer "optimal" on NaN."""

from __future__ import annotations

import numpy as np


def check_costs(costs, n_columns: int, *, used_by: str) -> np.ndarray:
    """A finite float array of shape (n, n_columns), or an error that names the entry."""
    costs = np.asarray(costs, dtype=np.float64)
    if costs.ndim != 2 or costs.shape[1] != n_columns:
        raise ValueError(
            f"{used_by} expects costs of shape (n_samples, {n_columns}); got shape {costs.shape}."
        )
    # One pass that allocates nothing of the size of costs: a sum is finite only if
    # all its terms are, and only when it is not does the search for the entry begin.
    if not np.isfinite(costs.sum()):
        bad = np.argwhere(~np.isfinite(costs))
        if len(bad):
            row, column = bad[0]
            raise ValueError(
                f"{used_by} needs finite costs; costs[{row}, {column}] is {costs[row, column]}."
            )
    return costs
