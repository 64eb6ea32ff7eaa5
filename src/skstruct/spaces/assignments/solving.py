# SPDX-License-Identifier: BSD-3-Clause
"""Assignments as a program."""

import numpy as np
from scipy import sparse

from skstruct.spaces.constraints import of_one_row
from skstruct.spaces.indicator_sets.decoding import with_masks
from skstruct.spaces.solvers.binary_programs import BinaryProgram
from skstruct.spaces.solving import Solving


class SolvingOfAssignments(Solving):
    """A row of the program for each agent and each task."""

    __slots__ = ()

    def program(self) -> BinaryProgram:
        """The space as linear constraints on 0/1 points, those of ``restrict`` included."""
        space = self.space
        a, t, known = len(space.agents_), len(space.tasks_), of_one_row(space.constraints_)
        sides = {
            "agents": sparse.kron(sparse.eye_array(a), np.ones((1, t)), format="csr"),
            "tasks": sparse.kron(np.ones((1, a)), sparse.eye_array(t), format="csr"),
        }
        once = [sides[name] for name, full in (("agents", a <= t), ("tasks", t <= a)) if full]
        most = [sides[name] for name, full in (("agents", a <= t), ("tasks", t <= a)) if not full]
        most = [*most, sparse.csr_array((0, a * t))]
        A_ub, A_eq = (sparse.csr_array(sparse.vstack(part)) for part in (most, once))
        program = BinaryProgram(A_ub, np.ones(A_ub.shape[0]), A_eq, np.ones(A_eq.shape[0]))
        return with_masks(program, known.low[0], known.high[0])
