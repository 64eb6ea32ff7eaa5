# SPDX-License-Identifier: BSD-3-Clause
"""Quantities as programs, and searched without proofs."""

import copy
from typing import Any

import numpy as np
from scipy import sparse

from skstruct.spaces.constraints import of_one_row
from skstruct.spaces.contracts import Decoded
from skstruct.spaces.solvers.mixed_programs import LinearSet, MixedProgram, simplex_program
from skstruct.spaces.solving import SolvingOfQuantities


class SolvingWithoutCurves(SolvingOfQuantities):
    """Numbers over which no sums over coordinates but linear or quadratic ones are minimized."""

    __slots__ = ()

    @property
    def separable(self) -> bool:
        return False


class SolvingOfBoxes(SolvingOfQuantities):
    """Numbers within limits, each by itself."""

    __slots__ = ()

    @property
    def coordinates_apart(self) -> bool:
        return True

    def program(self) -> LinearSet | None:
        """The limits alone; None under an embedding other than the coordinates."""
        d = len(self.space.labels_)  # first: it opens a space that was given whole
        limits, none = of_one_row(self.space.constraints_), (sparse.csr_array((0, d)), np.zeros(0))
        if self.space.embedding != "coordinates":
            return None
        ends = limits.low[0], limits.high[0]
        return MixedProgram(*none, *none, *ends, np.zeros(d, bool))


class SolvingOfConstrained(SolvingOfQuantities):
    """Numbers that meet linear constraints; branch and bound closes gaps of curves."""

    __slots__ = ()

    def search(self, curves: Any) -> Decoded:
        """Without branch and bound."""
        hurried = copy.copy(self.space)
        hurried.prove, hurried.max_boxes = False, 0
        found: Decoded = hurried.minimize(curves)
        return found

    def program(self) -> LinearSet | None:
        """The constraints as they are; None under an embedding other than the coordinates."""
        d = len(self.space.labels_)  # first: it opens a space that was given whole
        system = of_one_row(self.space.constraints_)
        if self.space.embedding != "coordinates":
            return None
        row, ends = system.constraints.row(0), (system.range.low[0], system.range.high[0])
        return MixedProgram(row.A_ub, row.b_ub, row.A_eq, row.b_eq, *ends, np.zeros(d, bool))


class SolvingOfSimplices(SolvingOfQuantities):
    """Amounts that add up; branch and bound closes gaps of curves."""

    __slots__ = ()

    def search(self, curves: Any) -> Decoded:
        """Without branch and bound."""
        hurried = copy.copy(self.space)
        hurried.max_boxes = 0
        found: Decoded = hurried.minimize(curves)
        return found

    def program(self) -> LinearSet | None:
        """Amounts of at least 0 that add up to the total."""
        d = len(self.space.labels_)
        if self.space.embedding != "coordinates":
            return None
        return simplex_program(d, float(self.space.total))
