# SPDX-License-Identifier: BSD-3-Clause
"""The best cycle by integer programs, with subtour inequalities added until there is one cycle."""

from __future__ import annotations

import time

import numpy as np

from skstruct.decoding.polytopes.linear_programs import INFEASIBLE
from skstruct.decoding.tours.cuts import violated_cuts
from skstruct.decoding.tours.programs import CycleProgram
from skstruct.decoding.tours.relaxation import CLOSED, integral_cycles

MOST_PROGRAMS = 200
STRETCH = 1e3  # of costs up to 1: the solver stops at a gap of 1e-6, which cannot be set
SECONDS = 120.0  # for one problem; what is proven by then is the bound


def prove_tour(program: CycleProgram, tour: np.ndarray, bound: float):
    """The best cycle and its cost; or a cycle and a bound where a limit was met.

    Every solution of an integer program is a set of disjoint cycles. Where it is one cycle,
    that is the best one; else each of them gives an inequality that it breaks.
    """
    problem, deadline = program.problem, time.monotonic() + SECONDS
    value = problem.price(tour) if len(tour) else np.inf
    for _ in range(MOST_PROGRAMS):
        left = deadline - time.monotonic()
        if left <= 0 or bound >= value - CLOSED:
            break
        answer = _integer_answer(program, left)
        if answer.status == INFEASIBLE:
            return tour, (bound if len(tour) else np.inf)
        if answer.mip_dual_bound is not None:
            bound = max(bound, min(float(answer.mip_dual_bound) / STRETCH, value))
        if answer.x is None:
            break
        for cycle in integral_cycles(program, answer.x):
            if problem.allows(cycle) and problem.price(cycle) < value:
                tour, value = cycle, problem.price(cycle)
        cuts = violated_cuts(problem, *program.weights(np.rint(answer.x)))
        if not cuts:
            break
        program.add(cuts)
    return tour, min(bound, value)


def _integer_answer(program, seconds):
    from scipy.optimize import Bounds, LinearConstraint, milp

    cost = program.cost
    A_eq, b_eq, A_ub, b_ub, low, high = program.system()
    return milp(
        STRETCH * cost,
        integrality=np.ones(len(cost)),
        bounds=Bounds(low, high),
        constraints=[
            LinearConstraint(A_eq, b_eq, b_eq),
            LinearConstraint(A_ub, np.full(len(b_ub), -np.inf), b_ub),
        ],
        options={"mip_rel_gap": 0.0, "time_limit": seconds},  # the default gap is 1e-4
    )
