# SPDX-License-Identifier: BSD-3-Clause
"""Costs of an embedding's coordinates as costs of chains."""

from typing import Any

import numpy as np

from skstruct.spaces.sequence_sets.constraints import SequenceConstraints


def chains_of(
    costs: np.ndarray, T: int, q: int, bigrams: bool, constraints: SequenceConstraints
) -> dict[str, Any]:
    """Costs (n, d) of q symbols at T positions, and of bigrams, with the constraints in them."""
    n = len(costs)
    starts = T * np.arange(n + 1)
    unary = costs[:, : T * q].reshape(n * T, q)
    transitions, which = None, None
    if bigrams and T > 1:
        transitions = costs[:, T * q :].reshape(n * (T - 1), q, q)
        position = np.arange(n * T)
        # The step into position t of row i is matrix t - 1 of that row.
        which = np.maximum(position - position // T - 1, 0)
        row_of = np.repeat(np.arange(n), T - 1)
    else:
        row_of = np.repeat(np.arange(n), T)
    transitions, served = constraints.forbid_transitions(transitions, row_of)
    return {
        "unary": constraints.fix_known(unary, starts, np.full(n, T)),
        "starts": starts,
        "transitions": transitions,
        "which": which if served is None else served,
        "shortest": constraints.least_lengths(),
        "longest": constraints.longest,
        **constraints.ends(),
    }
