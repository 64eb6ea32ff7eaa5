# SPDX-License-Identifier: BSD-3-Clause
"""One cheapest cycle through many places: search, relaxations, integer programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skstruct.decoding.tours.problems import Problem
from skstruct.decoding.tours.programs import CycleProgram
from skstruct.decoding.tours.proofs import prove_tour
from skstruct.decoding.tours.relaxation import CLOSED, anchored_rounds, cut_rounds
from skstruct.decoding.tours.search import disjoint_cycles, patched, search_tour, shaken_tour


def solve_problem(problem: Problem, prove: bool = False) -> tuple[np.ndarray, float]:
    """A cheap cycle (empty where none was found) and a lower bound on the cost of every one.

    Costs are divided by the largest, so that the tolerances of the solvers mean the same
    for all.
    """
    sizes = np.abs(problem.costs[np.isfinite(problem.costs)])
    scale = max(sizes.max(initial=0.0), np.finfo(float).tiny)
    tour, bound = _solve(replace(problem, costs=problem.costs / scale), prove)
    return tour, bound * scale


def _solve(problem, prove):
    cycles, bound = [], -np.inf
    if problem.directed:
        disjoint, bound = disjoint_cycles(problem)
        if np.isinf(bound):
            return np.empty(0, np.int64), bound
        if len(disjoint) == 1 and problem.allows(disjoint[0]):
            return disjoint[0], bound
        cycles = [cycle for cycle in patched(problem.costs, disjoint) if len(cycle) > 2]
    tour = search_tour(problem, cycles)
    if len(tour) and bound >= problem.price(tour) - CLOSED:
        return tour, bound
    program = CycleProgram(problem)
    rounds = cut_rounds(program, tour, bound)
    if len(rounds.tour) and not problem.low.any():
        rounds = anchored_rounds(program, rounds)
    tour, bound = rounds.tour, rounds.bound
    if len(tour) and bound < problem.price(tour) - CLOSED:
        tour = shaken_tour(problem, tour)
    value = problem.price(tour) if len(tour) else np.inf
    # Without a cycle at hand, whether there is one is a question that has to be answered.
    if (prove or not len(tour)) and bound < value - CLOSED:
        tour, bound = prove_tour(program, tour, bound)
    return tour, bound
