# SPDX-License-Identifier: BSD-3-Clause
r"""Minimum-cost assignments of many matrices at once, on tensors, with the proof of each.

Rows bid for columns all at the same time [1]_, by the whole difference between their best column
and the second best, until few are left; these are matched along shortest paths, one path of every
problem at a time [2]_. Costs are multiples of one number in every problem, as
:func:`~.on_device.snap` makes them: sums and differences are exact, and duals
:math:`u_i + v_j \le c_{ij}` with :math:`\sum_i u_i + \sum_j v_j` equal to the cost of an
assignment prove that it is optimal.

References
----------
.. [1] D. P. Bertsekas, "The auction algorithm", 1988.
.. [2] R. Jonker, A. Volgenant, "A shortest augmenting path algorithm for dense and sparse linear
   assignment problems", 1987.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from skstruct.spaces.solvers.assignment import min_cost_assignments

BIDS = 200  # rounds in which rows bid; where bids are equal, they might go on for ever
FREE = -1  # a row without column, a column without row


class Assignments:
    """Columns and duals of n problems with d rows and columns.

    Parameters
    ----------
    costs : tensor of shape (n, d, d), float64

    Attributes
    ----------
    column_of, row_of : tensors of shape (n, d), int64
    v : tensor of shape (n, d)
        Duals of the columns; those of the rows are the least of c_ij - v_j.

    Examples
    --------
    >>> solved = Assignments(torch.tensor([[[1.0, 2.0], [0.0, 5.0]]], dtype=torch.float64))
    >>> solved.column_of, solved.proven()
    (tensor([[1, 0]]), tensor([True]))
    """

    def __init__(self, costs: Any) -> None:
        n, d, _ = costs.shape
        self.costs, self.d = costs, d
        self.v = costs.amin(1) if d else costs.new_zeros((n, 0))
        self.column_of = torch.full((n, d), FREE, dtype=torch.int64, device=costs.device)
        self.row_of = self.column_of.clone()
        for _ in range(BIDS):
            problem, row = (self.column_of == FREE).nonzero(as_tuple=True)
            if not len(problem):
                return
            self._bid(problem, row)
        while True:
            problem = (self.column_of == FREE).any(1).nonzero()[:, 0]
            if not len(problem):
                return
            self._augment(problem)

    # ------------------------------------------------------------------ bids
    def _bid(self, problem: Any, row: Any) -> None:
        """Every free row bids for its best column, whose dual falls to that of the second best."""
        reduced = self.costs[problem, row] - self.v[problem]  # (n_free, d)
        least, best = reduced.min(1)
        second = reduced.scatter_(1, best[:, None], torch.inf).amin(1)
        step = torch.where(second.isfinite(), second - least, 0.0)
        place = problem * self.d + best  # the column among those of all problems
        offer, number = self.v.view(-1)[place] - step, torch.arange(len(row), device=row.device)
        # The lowest dual wins, and the first of equal bids: a choice that no order changes.
        lowest = self.v.view(-1).scatter_reduce(0, place, offer, "amin")
        candidate = torch.where(offer == lowest[place], number, len(row))
        winner = torch.full_like(self.row_of.view(-1), len(row))
        winner = winner.scatter_reduce_(0, place, candidate, "amin")[place] == number
        problem, row, best = problem[winner], row[winner], best[winner]
        holder = self.row_of[problem, best]
        held = holder != FREE
        self.column_of[problem[held], holder[held]] = FREE
        self.v[problem, best] = offer[winner]
        self.column_of[problem, row], self.row_of[problem, best] = best, row

    # ------------------------------------------------------------------ paths
    def _augment(self, problem: Any) -> None:
        """Match the first free row of each of these problems along a shortest path."""
        v = self.v[problem]
        start = (self.column_of[problem] == FREE).to(torch.int8).argmax(1)
        row, column, slack = start, torch.zeros_like(start), v.new_zeros(len(start))
        distance, done = torch.full_like(v, torch.inf), torch.zeros_like(v, dtype=torch.bool)
        came_from = start[:, None].expand_as(v).clone()
        open_, length, ended = torch.ones_like(start, dtype=torch.bool), slack, []
        while len(problem):
            reached = self.costs[problem, row] - v - slack[:, None]
            better = (reached < distance) & ~done & open_[:, None]
            distance = torch.where(better, reached, distance)
            came_from = torch.where(better, row[:, None], came_from)
            nearest, at = torch.where(done, torch.inf, distance).min(1)
            column, length = torch.where(open_, at, column), torch.where(open_, nearest, length)
            following = self.row_of[problem, column]
            open_ = open_ & (following != FREE)
            if 2 * int(open_.sum()) <= len(open_):  # go on with those that have no end yet
                ends = ~open_
                self.v[problem[ends]] = torch.where(done, v + distance - length[:, None], v)[ends]
                ended.append([part[ends] for part in (problem, column, came_from, start)])
                state = (problem, v, start, row, column, slack, distance, done, came_from,
                         length, following, open_)  # fmt: skip
                (problem, v, start, row, column, slack, distance, done, came_from, length,
                 following, open_) = (part[open_] for part in state)  # fmt: skip
            done.scatter_(1, column[:, None], done.gather(1, column[:, None]) | open_[:, None])
            row = torch.where(open_, following, row)
            at_column = v.gather(1, column[:, None])[:, 0]
            slack = self.costs[problem, row, column] - at_column - length
        self._flip(*(torch.cat(parts) for parts in zip(*ended)))

    def _flip(self, problem: Any, column: Any, came_from: Any, start: Any) -> None:
        """Rows along each path take the column they came through."""
        while len(problem):
            row = came_from.gather(1, column[:, None])[:, 0]
            before = self.column_of[problem, row]
            self.column_of[problem, row], self.row_of[problem, column] = column, row
            left = row != start
            problem, column, came_from, start = (
                part[left] for part in (problem, before, came_from, start)
            )

    # ------------------------------------------------------------------ proofs
    def values(self) -> Any:
        """Costs of the assignments; shape (n,)."""
        return self._taken(self.costs).sum(1)

    def _taken(self, matrices: Any) -> Any:
        return matrices.gather(2, self.column_of[:, :, None])[:, :, 0]

    def proven(self) -> Any:
        """Whether the duals prove that no assignment costs less; shape (n,), bool."""
        u = (self.costs - self.v[:, None, :]).amin(2)  # as large as v allows
        return u.sum(1) + self.v.sum(1) == self.values()

    def unique(self) -> Any:
        """Whether every other assignment costs more; shape (n,), bool.

        Another one of the same cost takes entries without slack alone. Between rows, an arc leads
        from i to the row that has a column which i could take for nothing: every other optimum is
        a cycle of such arcs. Rows without a way on are removed until none is left, or a cycle.
        """
        slack = self.costs - self.v[:, None, :]
        tight = slack <= self._taken(slack)[:, :, None]
        arcs = tight.gather(2, self.column_of[:, None, :].expand_as(tight))
        arcs.diagonal(dim1=1, dim2=2).fill_(False)
        single = ~arcs.any(2).any(1)
        number = (~single).nonzero()[:, 0]
        arcs = arcs[number]
        alive = torch.ones(arcs.shape[:2], dtype=torch.bool, device=arcs.device)
        while len(number):
            left = (arcs & alive[:, None, :]).any(2) & alive
            single[number[~left.any(1)]] = True
            moving = (left != alive).any(1) & left.any(1)
            number, arcs, alive = number[moving], arcs[moving], left[moving]
        return single


def positions_argmin(d: int, backend: Any) -> Callable[..., Any]:
    """Rankings of d items by costs of items at positions; see ``Solving.tensor_argmin``.

    Problems that are not proven, or have several optima, are solved on the host, which has its own
    way to choose among equals.
    """

    def argmin(costs: Any) -> tuple[np.ndarray, Any]:
        matrices = costs.view(len(costs), d, d)
        solved = Assignments(matrices)
        values = solved.values()
        columns = backend.to_host(solved.column_of)
        rest = (~(solved.proven() & solved.unique())).nonzero()[:, 0]
        if len(rest):
            again, worth = min_cost_assignments(backend.to_host(matrices[rest]))
            columns[backend.to_host(rest)] = again
            values[rest] = backend.asarray(worth)
        return columns + 1.0, values

    return argmin
