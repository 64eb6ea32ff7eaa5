# SPDX-License-Identifier: BSD-3-Clause
"""Going on with an optimiser that cannot be saved: it is led again along the way it came."""

from __future__ import annotations

import numpy as np


class Replayed:
    """A function that remembers its values and gradients, and answers from memory at first.

    An optimiser without chance asks for the same points again when it gets the same answers.
    After a crash it is started anew; what it asks for has been computed before, up to where it
    was stopped, so that it gets there in no time and with the same bits.

    Parameters
    ----------
    function : callable theta -> (float, array)
    level : Level
        Where answers are saved.
    room : int
        Bytes of gradients that are remembered. Those after that are computed again.
    """

    def __init__(self, function, level, room: int):
        self.function, self.level, self.room = function, level, room
        self.values: list[float] = list(level.found.get("values", ()))
        self.gradients: list[np.ndarray] = list(level.found.get("gradients", ()))
        self.n_asked = 0

    def __call__(self, theta) -> tuple[float, np.ndarray]:
        self.n_asked += 1
        if self.n_asked <= len(self.values):
            return self.values[self.n_asked - 1], self.gradients[self.n_asked - 1].copy()
        value, gradient = self.function(theta)
        if self.n_asked * gradient.nbytes <= self.room:
            self.values.append(float(value))
            self.gradients.append(gradient.copy())
            self.level.reached(values=self.values, gradients=self.gradients)
        return value, gradient
