# SPDX-License-Identifier: BSD-3-Clause
"""Distributions over cycles: uniform, exact for few nodes, and proposals of Markov chains."""

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from skstruct.spaces.constraints import check_feasible
from skstruct.spaces.cycles.tours import (
    arc_columns,
    rows_to_tours,
    tours_to_rows,
)
from skstruct.spaces.edge_sets.space import EdgeSetSpace
from skstruct.spaces.inference import Inference, OwnInference, listed_distribution
from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.solvers.proposals import Proposals
from skstruct.spaces.solvers.state_graphs import PathDistribution, StateGraph
from skstruct.spaces.uniform import Uniform

MOST_NODES = 15  # 1.5 million steps


def cycle_paths(
    column: np.ndarray, may: np.ndarray, must: np.ndarray, sizes: tuple[int, int], directed: bool
) -> StateGraph | None:
    r"""All cycles within constraints; None where there are too many nodes.

    A cycle begins at the first of its nodes, and a state is the set of nodes that were
    visited since with the last of them (Held and Karp): :math:`N^2 2^N` steps. Without
    direction every cycle is two paths.

    Parameters
    ----------
    column : int array of shape (N, N)
        Column of the arc from the first node to the second; symmetric without direction.
    may : bool array of shape (N, N)
        Arcs that may be used, within nodes that may be visited.
    must : bool array of shape (N,)
        Nodes that must be visited.
    sizes : smallest and largest number of nodes, at least 3
    """
    from skstruct.spaces.cycles._numba_distribution import list_steps
    from skstruct.spaces.solvers.linear_ordering import set_sizes

    nodes = np.flatnonzero(may.any(axis=1) | must)
    nodes = nodes[np.argsort(~must[nodes], kind="stable")]
    n_nodes, n_columns = len(nodes), int(column.max()) + 1
    sizes = max(sizes[0], 3), min(sizes[1], n_nodes)
    if n_nodes > MOST_NODES or sizes[0] > sizes[1]:
        return None if n_nodes > MOST_NODES else _no_path(n_columns)
    within = np.ix_(nodes, nodes)
    n_must = int(must.sum())
    n_blocks = 1 if n_must else n_nodes - 2
    behind = n_nodes - 1 - np.arange(n_blocks)
    first = np.zeros(2 + int((behind << behind).sum()) + 1, np.int64)
    problem = (
        np.ascontiguousarray(column[within]), np.ascontiguousarray(may[within]), n_must, n_blocks,
        sizes, set_sizes(n_nodes - 1), first,
    )  # fmt: skip
    nothing = np.zeros(0, np.int32)
    n_steps = list_steps(*problem, nothing, nothing, False)
    target, taken = np.empty(n_steps, np.int32), np.empty(n_steps, np.int32)
    list_steps(*problem, target, taken, True)
    return StateGraph(first, target, taken, n_columns, sizes[1], 1 if directed else 2)


def _no_path(n_columns: int) -> StateGraph:
    none = np.zeros(0, np.int32)
    return StateGraph(np.zeros(3, np.int64), none, none, n_columns, 0)


class SignedDistribution(Distribution):
    r"""A distribution of arcs, seen by pairs: :math:`\psi` is 1 for an arc there and -1 for one
    back.

    Parameters
    ----------
    distribution : Distribution
        Of arcs, where the score of an arc back is minus that of the arc there.
    there, back : int arrays of shape (d,)
        Columns of the two arcs of every pair.
    """

    def __init__(self, distribution: PathDistribution, there: np.ndarray, back: np.ndarray) -> None:
        self.distribution, self.there, self.back = distribution, there, back
        self.log_partition = distribution.log_partition

    def marginals(self) -> np.ndarray:
        probabilities = self.distribution.marginals()
        return probabilities[:, self.there] - probabilities[:, self.back]

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return self.distribution.sample(n, rng)


REORDERINGS, REPLACE, RESIZE = [0, 1], [2], [3]


class TourProposals(Proposals):
    """Parts are turned round, nodes move along the cycle, come in, go out, or are replaced.

    A state is the number k of nodes on the cycle and then all nodes that may be visited,
    those of the cycle first and in order of travel. Kinds of moves that constraints rule out are
    not tried.

    Parameters
    ----------
    nodes : int array
        Those that may be visited, at least three.
    must : bool array of shape (N,)
        Those that must be.
    sizes : smallest and largest number of nodes
    column : int array of shape (N, N)
        Which score an arc has.
    sign : array of shape (N, N)
        What that score is multiplied by.
    both_ways : bool
        Whether all arcs have the score of their reverse.
    tours_of, rows_of : callables
        Canonical outputs to tours (n, N), padded with -1, and back.
    """

    def __init__(
        self,
        nodes: np.ndarray,
        must: np.ndarray,
        sizes: tuple[int, int],
        column: np.ndarray,
        sign: np.ndarray,
        both_ways: bool,
        tours_of: Callable[..., Any],
        rows_of: Callable[..., Any],
    ) -> None:
        self.nodes, self.must = np.asarray(nodes, dtype=np.int64), must
        self.column, self.sign = np.ascontiguousarray(column), np.ascontiguousarray(sign)
        self.both_ways, self.tours_of, self.rows_of = bool(both_ways), tours_of, rows_of
        m = len(nodes)
        self.sizes = max(int(sizes[0]), int(must.sum()), 3), min(int(sizes[1]), m)
        kinds = list(REORDERINGS)
        if self.sizes[0] < m and must.sum() < self.sizes[1]:
            kinds += REPLACE
        if self.sizes[0] < self.sizes[1]:
            kinds += RESIZE
        self.kinds = np.array(kinds, np.int64)
        self.sweep = m * (m - 1)

    def start(self, outputs: Any) -> np.ndarray:
        tours = self.tours_of(np.asarray(outputs))
        n, n_nodes = tours.shape
        # Nodes are sorted by when they are visited, the others behind.
        when = np.tile(np.arange(n_nodes, 2 * n_nodes), (n, 1))
        row, step = np.nonzero(tours >= 0)
        when[row, tours[row, step]] = step
        order = np.argsort(when[:, self.nodes], axis=1)
        size = (tours >= 0).sum(axis=1)
        return np.ascontiguousarray(np.column_stack([size, self.nodes[order]]))

    def outputs(self, states: np.ndarray) -> np.ndarray:
        tours = np.full((len(states), len(self.must)), -1, np.int64)
        m = len(self.nodes)
        tours[:, :m] = np.where(np.arange(m) < states[:, :1], states[:, 1:], -1)
        return self.rows_of(tours)

    def walk(
        self,
        states: np.ndarray,
        scores: np.ndarray,
        row: np.ndarray,
        beta: np.ndarray,
        n_steps: int,
        streams: np.ndarray,
    ) -> np.ndarray:
        from skstruct.spaces.cycles._numba_distribution import walk_cycles

        accepted = np.zeros(len(states), np.int64)
        problem = self.kinds, self.sizes, self.must, self.both_ways, self.column, self.sign
        walk_cycles(states, *problem, scores, row, beta, n_steps, streams, accepted)
        return accepted


class LawfulCycles(EdgeSetSpace):
    """Cycles with scores: exact distributions for up to 15 nodes, Markov chains for any number."""

    _from_constraints = ("_paths",)

    @property
    @abstractmethod
    def _signed(self) -> bool:
        """Whether psi are signed pairs; an error where that name is not known."""

    @cached_property
    def _paths(self) -> StateGraph | None:
        """All cycles as paths; None where there are too many nodes."""
        constraints, must, may = self._one_row().arcs(self._table)
        if not self.directed and must.any():
            return None  # which of its two ways a known edge is used is in no state
        sizes = int(constraints.smallest[0]), int(constraints.largest[0])
        return cycle_paths(self._table.column, may[0], constraints.visited[0], sizes, self.directed)

    def distribution(self, scores: Any) -> Distribution | None:
        """Distributions of cycles by sums over sets of nodes; scores of shape (n, d)."""
        d = len(self.edges_)
        scores = self._checked_scores(scores, d // 2 if self._signed else d)
        if self.constraints_.n_rows is not None or self._paths is None:
            return listed_distribution(self, scores)
        distribution: PathDistribution | SignedDistribution
        if self._signed:
            there, back = arc_columns(len(self.nodes_))
            arcs = np.empty((len(scores), d))
            arcs[:, there], arcs[:, back] = scores, -scores
            distribution = SignedDistribution(PathDistribution(self._paths, arcs), there, back)
        else:
            distribution = PathDistribution(self._paths, scores)
        check_feasible(np.isfinite(distribution.log_partition), self)
        return distribution

    def proposals(self) -> Proposals | None:
        """Parts are turned round or moved, and nodes come in and go out.

        None where edges are known: such cycles need not be within reach of each other.
        """
        constraints: Any = self.constraints_
        if constraints.n_rows is not None or constraints.has_edges:
            return None
        Uniform.of(self).check_not_empty()
        n_nodes, table = len(self.nodes_), self._table
        column, sign = table.column, np.ones((n_nodes, n_nodes))
        if self._signed:
            u, v = np.triu_indices(n_nodes, 1)
            column = np.full_like(column, -1)
            column[u, v] = column[v, u] = np.arange(len(u))
            sign[v, u] = -1.0
        return TourProposals(
            np.flatnonzero(constraints.open[0]), constraints.visited[0],
            (constraints.smallest[0], constraints.largest[0]), column, sign, not self.directed,
            tours_of=lambda Z: rows_to_tours(Z, table)[0],
            rows_of=lambda tours: tours_to_rows(tours, table),
        )  # fmt: skip


Inference.at(LawfulCycles, OwnInference)
