# SPDX-License-Identifier: BSD-3-Clause
"""Sets within capacities as a program."""

import numpy as np
from scipy import sparse

from skstruct.spaces.constraints import of_one_row
from skstruct.spaces.indicator_sets.decoding import with_limits, with_masks
from skstruct.spaces.solvers.binary_programs import BinaryProgram
from skstruct.spaces.solving import Solving


class SolvingOfKnapsacks(Solving):
    """A row of the program for each capacity that is finite."""

    __slots__ = ()

    def program(self) -> BinaryProgram:
        """The space as linear constraints on 0/1 points, those of ``restrict`` included."""
        space = self.space
        known, d = of_one_row(space.constraints_), len(space.labels_)
        finite = np.isfinite(known.capacity[0])
        A_ub, b_ub = sparse.csr_array(space.weights_[finite]), known.capacity[0, finite]
        none = sparse.csr_array((0, d)), np.zeros(0)
        program = with_limits(BinaryProgram(A_ub, b_ub, *none), space.dag_, known)
        return with_masks(program, known.low[0], known.high[0])
