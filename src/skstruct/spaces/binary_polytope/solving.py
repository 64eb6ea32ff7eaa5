# SPDX-License-Identifier: BSD-3-Clause
"""The 0/1 points of a polytope as a program."""

from skstruct.spaces.constraints import of_one_row
from skstruct.spaces.indicator_sets.decoding import with_masks
from skstruct.spaces.solvers.binary_programs import BinaryProgram
from skstruct.spaces.solving import Solving


class SolvingOfBinaryPolytopes(Solving):
    """The constraints that were given."""

    __slots__ = ()

    def program(self) -> BinaryProgram:
        """The space as linear constraints on 0/1 points, those of ``restrict`` included."""
        known = of_one_row(self.space.constraints_)
        return with_masks(self.space.program_, known.low[0], known.high[0])
