# SPDX-License-Identifier: BSD-3-Clause
"""Moves among choices that are few enough to be priced one by one."""

from __future__ import annotations

import numpy as np

from skstruct.walking.base import Moves


class ChoiceMoves(Moves):
    """Every proposal is any of the choices, all alike.

    Parameters
    ----------
    numbers : int array of shape (m,)
        Choices that are allowed.
    values_of : callable
        Scores (r, d) to the values of all choices (r, M), allowed or not.
    numbers_of, outputs_of : callables, default=None
        Outputs in canonical form to numbers of choices, and back; None where these are the same.

    Examples
    --------
    >>> moves = ChoiceMoves([1, 4], np.asarray)
    >>> moves.outputs(moves.start([4, 1]))
    array([4, 1])
    """

    def __init__(self, numbers, values_of, numbers_of=None, outputs_of=None):
        self.numbers, self.values_of = np.asarray(numbers, dtype=np.int64), values_of
        self.numbers_of, self.outputs_of = numbers_of, outputs_of
        self.sweep = len(self.numbers)

    def start(self, outputs):
        outputs = np.asarray(outputs)
        chosen = outputs if self.numbers_of is None else self.numbers_of(outputs)
        return np.searchsorted(self.numbers, chosen).astype(np.int64)

    def outputs(self, states):
        chosen = self.numbers[states]
        return chosen if self.outputs_of is None else self.outputs_of(chosen)

    def walk(self, states, scores, row, beta, n_steps, streams):
        from skstruct.walking._compiled_choices import walk_choices

        values = np.ascontiguousarray(self.values_of(scores)[:, self.numbers])
        return walk_choices(states, values, row, beta, n_steps, streams)
