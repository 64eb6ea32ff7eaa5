# SPDX-License-Identifier: BSD-3-Clause
"""Distributions over matchings, exact by paths or a list, and proposals of Markov chains."""

from abc import abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from skstruct.solvers.distributions import Distribution
from skstruct.solvers.proposals import Proposals
from skstruct.solvers.state_graphs import PathDistribution, StateGraph
from skstruct.spaces.constraints import check_feasible
from skstruct.spaces.edge_sets.distribution import (
    FixedColumnsDistribution,
    OpenEdgeProposals,
)
from skstruct.spaces.edge_sets.space import WithinGraph
from skstruct.spaces.edge_sets.table import edge_numbers
from skstruct.spaces.matchings.counting import short_range_order

MOST_STEPS = 2_000_000


def matching_paths(edges: np.ndarray, position: np.ndarray, perfect: bool) -> StateGraph | None:
    """All matchings of a graph, a path each; None where that takes too many steps.

    Nodes are passed in a given order. A state is the set of later nodes that are matched with
    earlier ones, as bits of an integer: bit 0 is the node that is next. There are few where
    the graph is small, or long and narrow.

    Parameters
    ----------
    edges : int array of shape (m, 2)
    position : int array of shape (n_nodes,)
        When each node is passed.
    perfect : bool

    Examples
    --------
    >>> graph = matching_paths(np.array([[0, 1], [1, 2], [2, 3]]), np.arange(4), False)
    >>> graph.total, graph.mean()
    (5, array([0.4, 0.2, 0.4]))
    """
    n_nodes, m = len(position), len(edges)
    ends = np.sort(position[edges], axis=1)
    order = np.argsort(ends[:, 0], kind="stable")
    bounds = np.searchsorted(ends[order, 0], np.arange(n_nodes + 1)).tolist()
    wide = m and np.ptp(ends, axis=1).max() > 60  # then numbers of Python hold the bits
    states, n_states = np.zeros(1, object if wide else np.int64), 0
    steps, left = [np.zeros((3, 0), np.int64)], MOST_STEPS
    for k in range(n_nodes):
        later = order[bounds[k] : bounds[k + 1]]
        found = _next_states(states, later, (ends[later, 1] - k - 1).tolist(), m, perfect, left)
        if found is None:
            return None
        tail, after, column = found
        reached, number = np.unique(after, return_inverse=True)
        steps.append(np.stack([n_states + tail, n_states + len(states) + number, column]))
        states, n_states, left = reached, n_states + len(states), left - len(tail)
    tail, target, column = np.concatenate(steps, axis=1)
    first = np.searchsorted(tail, np.arange(n_states + 2))
    return StateGraph(first, target.astype(np.int32), column.astype(np.int32), m, n_nodes // 2)


def _next_states(
    states: np.ndarray, later: np.ndarray, bits: list[int], none: int, perfect: bool, most: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """What may become of the next node: the state it is in, that after it, and the edge.

    In the order of states; None where there are more than ``most`` of these.
    """
    taken, rest = (states & 1).astype(bool), states >> 1
    may = np.empty((len(states), 1 + len(bits)), bool)  # be left alone, or get each edge
    may[:, 0] = taken if perfect else True
    for j, bit in enumerate(bits):
        may[:, 1 + j] = ~taken & (rest >> bit & 1 == 0)
    if np.count_nonzero(may) > most:
        return None
    tail, what = np.nonzero(may)
    gained = np.array([0, *(1 << bit for bit in bits)], states.dtype)
    return tail, rest[tail] | gained[what], np.append(none, later)[what]


class MatchingProposals(OpenEdgeProposals):
    """Edges come in, go out, slide along a node, and two of them change partners.

    Among perfect matchings there is the last move only, which leads from each to each where
    all nodes, or all of two groups, are joined. A state is the edge at every node, -1 for none.
    No two open edges are the same, and known ones are at none of the nodes.
    """

    def __init__(
        self, n_nodes: int, ends: np.ndarray, columns: np.ndarray, known: np.ndarray, perfect: bool
    ) -> None:
        super().__init__(n_nodes, ends, columns, known)
        self.perfect, self.number = bool(perfect), edge_numbers(n_nodes, self.ends)

    def start(self, outputs: Any) -> np.ndarray:
        row, edge = np.nonzero(np.asarray(outputs)[:, self.columns])
        states = np.full((len(outputs), self.n_nodes), -1, np.int64)
        states[row[:, None], self.ends[edge]] = edge[:, None]
        return states

    def outputs(self, states: np.ndarray) -> np.ndarray:
        row, node = np.nonzero(states >= 0)
        return self._with_known(len(states), row, states[row, node])

    def walk(
        self,
        states: np.ndarray,
        scores: np.ndarray,
        row: np.ndarray,
        beta: np.ndarray,
        n_steps: int,
        streams: np.ndarray,
    ) -> np.ndarray:
        from skstruct.spaces.matchings._numba_proposals import walk_matchings

        accepted = np.zeros(len(states), np.int64)
        problem = self.ends, self.number, self.perfect, self.columns, scores, row, beta
        walk_matchings(states, *problem, n_steps, streams, accepted)
        return accepted


class LawfulMatchings(WithinGraph):
    """Matchings with scores: exact distributions of graphs not too entangled, Markov chains."""

    _from_constraints = ("_paths",)

    perfect: bool

    @property
    @abstractmethod
    def _shape(self) -> tuple[int, int] | None:
        """How many nodes are in each of two groups."""

    @abstractmethod
    def _open_graph(self) -> Any:
        """What constraints leave open: nodes, edges between them and the columns of these."""

    def distribution(self, scores: Any) -> Distribution | None:
        """Distributions of matchings, node by node where that is not too entangled; scores (n,
        d).
        """
        scores = self._checked_scores(scores, len(self.edges_))
        if self.constraints_.n_rows is not None:
            return super().distribution(scores)
        open_graph = self._open_graph()
        check_feasible(np.full(len(scores), open_graph is not None), self)
        if self._paths is None:
            return None
        distribution = PathDistribution(self._paths, scores[:, open_graph[2]])
        check_feasible(np.isfinite(distribution.log_partition), self)
        return FixedColumnsDistribution(
            distribution, open_graph[2], self.constraints_.low[0], scores
        )

    @cached_property
    def _paths(self) -> StateGraph | None:
        """Matchings of what constraints leave open as paths; None where these are too many."""
        nodes, ends, _ = self._open_graph()
        order = short_range_order(len(nodes), ends)
        return matching_paths(ends, np.argsort(order), self.perfect)

    def proposals(self) -> Proposals | None:
        """Edges come in, go out, slide along and change places.

        None for perfect matchings of graphs that are not complete: they need not be within
        reach of each other.
        """
        if self.constraints_.n_rows is not None:
            return None
        open_graph = self._open_graph()
        check_feasible(np.array([open_graph is not None]), self)
        nodes, ends, columns = open_graph
        if self.perfect and len(ends) < self._n_pairs(nodes):
            return None
        return MatchingProposals(len(nodes), ends, columns, self.constraints_.low[0], self.perfect)

    def _n_pairs(self, nodes: np.ndarray) -> int:
        """Edges between all of these nodes."""
        if self._shape is None:
            return len(nodes) * (len(nodes) - 1) // 2
        n_first = int((nodes < self._shape[0]).sum())
        return n_first * (len(nodes) - n_first)
