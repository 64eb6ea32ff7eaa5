# SPDX-License-Identifier: BSD-3-Clause
r"""Simple paths of least cost where cycles are in the way: integer programs with cuts.

With :math:`x_a = 1` for the arcs of a path from s to t,

.. math:: x(\delta^+(v)) - x(\delta^-(v)) = 1[v = s] - 1[v = t], \qquad x(\delta^+(v)) \le 1,

which leaves cycles beside the path. For a set S of nodes without t, a path that visits k in S
leaves it: :math:`x(\delta^+(S)) \ge x(\delta^+(k))`. Such inequalities are added as cycles appear.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from skstruct._arrays.stopping import Limit
from skstruct.spaces.paths.arcs import ArcTable
from skstruct.spaces.solvers.linear_programs import INFEASIBLE
from skstruct.tolerances import SOLVER_GAP

SECONDS = 60.0  # for one row; what is proven by then is the bound
STRETCH = 1e3  # of costs up to 1: the solver stops at a gap of 1e-6, which cannot be set


@dataclass(frozen=True, eq=False)
class HardPath:
    """One row: costs of columns, infinite where closed, and what the path must obey."""

    table: ArcTable
    cost: np.ndarray  # float64 (d,)
    source: int
    target: int
    low: np.ndarray  # bool (d,): arcs that must be used
    visited: np.ndarray  # bool (N,): nodes that must be visited
    longest: int

    def steps(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Tails, heads and columns of steps that a path may take."""
        tails, heads, columns = self.table.ends
        kept = np.isfinite(self.cost[columns]) & (tails != self.target) & (heads != self.source)
        return tails[kept], heads[kept], columns[kept]


def min_simple_path(
    problem: HardPath, known: np.ndarray | None, seconds: float = SECONDS
) -> tuple[np.ndarray | None, float, float]:
    """Arcs (d,) of the best path, its cost and a lower bound; inf where there is none.

    Parameters
    ----------
    known : int8 array of shape (d,), default=None
        Some path, which is returned where time is up before a better one was found.

    Returns
    -------
    output : int8 array of shape (d,) or None
        None where no path was found.
    """
    program, limit = _Program(problem), Limit(seconds)
    cost = np.where(np.isfinite(problem.cost), problem.cost, 0.0)
    scale = max(np.abs(cost).max(initial=0.0), np.finfo(float).tiny)
    best, value = known, np.inf if known is None else float(cost @ known)
    if not len(program.columns):
        return best, value, value
    bound = _least_out(program, cost)
    while not limit.is_over:
        answer = program.solve(STRETCH * (cost[program.columns] / scale), limit)
        if answer.status == INFEASIBLE:
            return (best, value, value) if best is not None else (None, np.inf, np.inf)
        limit.take(int(answer.mip_node_count or 1))
        if answer.mip_dual_bound is not None:
            bound = max(bound, float(answer.mip_dual_bound) / STRETCH * scale)
        if answer.x is None:
            break
        output, cycles = program.parts(np.rint(answer.x).astype(bool))
        if not cycles:
            if cost @ output < value:
                best, value = output, float(cost @ output)
            break
        program.cut(cycles)
    closed = best is not None and value - bound <= SOLVER_GAP * max(scale, abs(value))
    return best, value, value if closed else min(bound, value)


def _least_out(program: "_Program", cost: np.ndarray) -> float:
    """A bound before anything is solved: every node is left by its best arc, or not at all."""
    least = np.zeros(len(program.problem.table.nodes))
    np.minimum.at(least, program.tails, cost[program.columns])
    return float(least.sum())


class _Program:
    """Flow conservation, degrees, what must be used, and the cuts so far."""

    def __init__(self, problem: HardPath) -> None:
        self.problem = problem
        self.tails, self.heads, self.columns = problem.steps()
        n_nodes, m = len(problem.table.nodes), len(self.tails)
        ones, at = np.ones(m), np.arange(m)
        self.leaving = sparse.csr_array((ones, (self.tails, at)), shape=(n_nodes, m))
        entering = sparse.csr_array((ones, (self.heads, at)), shape=(n_nodes, m))
        supply = np.zeros(n_nodes)
        supply[problem.source] += 1.0
        supply[problem.target] -= 1.0
        least = problem.visited.astype(float)
        least[problem.target] = 0.0  # it is entered, and never left
        used = np.flatnonzero(problem.low)
        either = sparse.csr_array((ones, (self.columns, at)), shape=(len(problem.cost), m))[
            used
        ]  # a column without direction is used in one of two ways
        all_steps = sparse.csr_array(np.ones((1, m)))
        self.blocks: list[Any] = [
            (self.leaving - entering, supply, supply),
            (self.leaving, least, np.ones(n_nodes)),
            (either, np.ones(len(used)), np.ones(len(used))),
            (all_steps, np.zeros(1), np.array([float(problem.longest)])),
        ]

    def solve(self, cost: np.ndarray, limit: Limit) -> Any:
        from scipy.optimize import Bounds, LinearConstraint, milp

        matrix = sparse.vstack([block for block, _, _ in self.blocks], format="csr")
        low = np.concatenate([low for _, low, _ in self.blocks])
        high = np.concatenate([high for _, _, high in self.blocks])
        return milp(
            cost,
            integrality=np.ones(len(cost)),
            bounds=Bounds(0.0, 1.0),
            constraints=LinearConstraint(matrix, low, high),
            options=limit.of_program(),
        )

    def parts(self, taken: np.ndarray) -> tuple[np.ndarray, list[list[int]]]:
        """Columns of the path in a solution, and the cycles beside it as lists of nodes."""
        after = dict(zip(self.tails[taken].tolist(), np.flatnonzero(taken).tolist()))
        output, v = np.zeros(len(self.problem.cost), np.int8), self.problem.source
        while v != self.problem.target:
            step = after.pop(v)
            output[self.columns[step]] = 1
            v = int(self.heads[step])
        cycles = []
        while after:
            v, cycle = next(iter(after)), []
            while v in after:
                cycle.append(v)
                v = int(self.heads[after.pop(v)])
            cycles.append(cycle)
        return output, cycles

    def cut(self, cycles: list[list[int]]) -> None:
        """A path that visits a node of a cycle leaves the nodes of the cycle."""
        for cycle in cycles:
            inside = np.zeros(len(self.problem.table.nodes), bool)
            inside[cycle] = True
            out = (inside[self.tails] & ~inside[self.heads]).astype(float)
            rows = sparse.csr_array(np.tile(out, (len(cycle), 1))) - self.leaving[cycle]
            nothing = np.zeros(len(cycle))
            self.blocks.append((rows, nothing, np.full(len(cycle), np.inf)))
