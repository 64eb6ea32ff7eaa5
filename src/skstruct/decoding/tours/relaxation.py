# SPDX-License-Identifier: BSD-3-Clause
"""Rounds of the linear program, each with the subtour inequalities that the last one broke."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skstruct.decoding.binary_programs import ROUND
from skstruct.decoding.tours.cuts import violated_cuts
from skstruct.decoding.tours.programs import CycleProgram
from skstruct.decoding.tours.search import guided_start, improved_tour, split_cycles
from skstruct.exceptions import InfeasibleError, UnverifiedAnswerError

MOST_ROUNDS = 60
MOST_ANCHORS = 8  # places that cycles must visit or avoid, one after the other
LITTLE = 0.02  # of the gap
CLOSED = 1e-8  # of the largest cost, which is 1


class Rounds(NamedTuple):
    """What some rounds came to."""

    tour: np.ndarray  # a cycle no dearer than the one at the beginning
    bound: float  # on the cost of every cycle
    y: np.ndarray  # shape: (N,), how much the last point visits places
    complete: bool  # whether no inequality was broken in the end


def cut_rounds(program: CycleProgram, tour: np.ndarray, bound: float = -np.inf) -> Rounds:
    """Solve the program and add inequalities until none is broken, or little is gained.

    Bounds hold for cycles of the arcs still in the program; the others cost as much as the
    tour at hand, or more.
    """
    problem, patience = program.problem, program.patience
    value, y, cuts = _value(problem, tour), np.zeros(len(problem.costs)), None
    for _ in range(MOST_ROUNDS):
        try:
            point, lower, reduced = program.relax()
        except InfeasibleError:
            return Rounds(tour, bound if program.holds(tour) else value, y, True)
        except UnverifiedAnswerError:
            break
        patience -= lower - bound <= LITTLE * (value - lower)
        bound = max(bound, min(lower, value))
        for found in (integral_tour(program, point), guided_tour(program, point)):
            if _value(problem, found) < value:
                tour, value = found, problem.price(found)
        weight, y = program.weights(point)
        if bound >= value - CLOSED or not patience:
            break
        cuts = violated_cuts(problem, weight, y)
        if not cuts:
            break
        if len(tour):
            program.leave_out(program.too_dear(lower, reduced, tour))
        program.add(cuts)
    return Rounds(tour, min(bound, value), y, cuts == [])


def anchored_rounds(program: CycleProgram, rounds: Rounds) -> Rounds:
    """A better bound where no place must be visited and the rounds so far left a gap.

    Then the inequalities are weak: half of a cycle here and half of one there may do. Cycles
    that visit a certain place have strong ones; those that avoid it go on with another place.
    """
    problem = program.problem
    visiting = np.inf  # no cycle that visits a place tried so far costs less
    for _ in range(MOST_ANCHORS):
        place = int(rounds.y.argmax())
        settled = rounds.complete and rounds.y[place] > 1 - ROUND  # nothing to gain
        value = _value(problem, rounds.tour)
        if settled or rounds.bound >= min(visiting, value - CLOSED):
            break
        with_it = cut_rounds(program.visiting(place), rounds.tour, rounds.bound)
        visiting = min(visiting, with_it.bound)
        program = program.avoiding(place)
        rounds = cut_rounds(program, with_it.tour, rounds.bound)
    bound = min(visiting, rounds.bound, _value(problem, rounds.tour))
    return rounds._replace(bound=bound)


def _value(problem, tour):
    return problem.price(tour) if len(tour) else np.inf


def guided_tour(program: CycleProgram, point: np.ndarray) -> np.ndarray:
    """What local search makes of a point; empty if nothing that obeys all limits."""
    start = guided_start(program.problem, *program.weights(point))
    return improved_tour(program.problem, [start], np.zeros(1, bool))


def integral_tour(program: CycleProgram, point: np.ndarray) -> np.ndarray:
    """The cycle that a point stands for; empty if it is none that obeys all limits."""
    whole = np.abs(point - np.rint(point)).max() <= ROUND
    cycles = integral_cycles(program, point) if whole else []
    one = len(cycles) == 1 and program.problem.allows(cycles[0])
    return cycles[0] if one else np.empty(0, np.int64)


def integral_cycles(program: CycleProgram, point: np.ndarray) -> list[np.ndarray]:
    """The cycles of a point of whole numbers."""
    used = np.rint(point[: len(program.tails)]) > 0
    tails, heads = program.tails[used], program.heads[used]
    following = np.arange(len(program.problem.costs))
    if program.problem.directed:
        following[tails] = heads
        return split_cycles(following)
    return _undirected_cycles(tails, heads, len(following))


def _undirected_cycles(tails, heads, N):
    """Cycles of edges that meet every place twice or not at all."""
    near: list[list[int]] = [[] for _ in range(N)]
    for u, v in zip(tails.tolist(), heads.tolist()):
        near[u].append(v)
        near[v].append(u)
    cycles, seen = [], np.zeros(N, bool)
    for start in range(N):
        cycle, place = [], start
        while near[place] and not seen[place]:
            seen[place] = True
            cycle.append(place)
            ahead = [v for v in near[place] if not seen[v]]
            place = ahead[0] if ahead else place
        if cycle:
            cycles.append(np.array(cycle))
    return cycles
