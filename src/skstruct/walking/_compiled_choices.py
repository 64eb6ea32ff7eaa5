# SPDX-License-Identifier: BSD-3-Clause
"""Compiled chains among choices that have values of their own."""

from __future__ import annotations

import numba as nb
import numpy as np

from skstruct.walking._compiled_random import below, fraction


@nb.njit(cache=True, nogil=True)
def walk_choices(states, values, row, beta, n_steps, streams):
    """Propose any of the choices, all alike; values of shape (r, m)."""
    accepted = np.zeros(len(states), np.int64)
    m = values.shape[1]
    for c in range(len(states)):
        value, here = values[row[c]], states[c]
        for _ in range(n_steps):
            there = below(streams, c, m)
            change = beta[c] * (value[there] - value[here])
            if change >= 0.0 or fraction(streams, c) < np.exp(change):
                here = there
                accepted[c] += 1
        states[c] = here
    return accepted
