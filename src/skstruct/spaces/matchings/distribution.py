# SPDX-License-Identifier: BSD-3-Clause
"""Distributions over matchings, exact by paths or a list, and proposals of Markov chains."""

from abc import abstractmethod
from array import array
from functools import cached_property
from typing import Any

import numpy as np

from skstruct.spaces.constraints import check_feasible, of_one_row
from skstruct.spaces.edge_sets.distribution import (
    FixedColumnsDistribution,
    OpenEdgeProposals,
)
from skstruct.spaces.edge_sets.space import WithinGraph
from skstruct.spaces.edge_sets.table import edge_numbers
from skstruct.spaces.inference import Inference, OwnInference, listed_distribution
from skstruct.spaces.matchings.counting import short_range_order
from skstruct.spaces.matchings.decoding import hold_edges
from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.solvers.proposals import Proposals
from skstruct.spaces.solvers.state_graphs import PathDistribution, StateGraph

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
    later: list[list[tuple[int, int]]] = [[] for _ in position]  # (edge, bit of the other end)
    for edge, (u, v) in enumerate(np.sort(position[edges], axis=1).tolist()):
        later[u].append((edge, 1 << (v - u - 1)))
    first, target, column = [0], array("i"), array("i")
    states, n_states = [0], 0  # whole numbers of Python: nodes may be far from each other
    for options in later:
        n_states += len(states)
        number: dict[int, int] = {}
        for state in states:
            rest = state >> 1
            if state & 1:
                ways = [(m, rest)]
            else:
                ways = [(edge, rest | bit) for edge, bit in options if not rest & bit]
                ways = ways if perfect else [(m, rest), *ways]
            for edge, after in ways:
                if after not in number:
                    number[after] = len(number)
                target.append(n_states + number[after])
                column.append(edge)
            first.append(len(target))
            if len(target) > MOST_STEPS:
                return None
        states = list(number)
    steps = np.array(target, np.int32), np.array(column, np.int32)
    return StateGraph(np.array([*first, len(target)]), *steps, m, n_nodes // 2)


def open_graph(space: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """What constraints leave open: nodes, edges between them and the columns of these.

    None where constraints contradict.
    """
    limits, n_nodes = of_one_row(space.constraints_), len(space.nodes_)
    fixed, free, possible = hold_edges(space.edges_, n_nodes, limits.low, limits.high)
    if not possible[0]:
        return None
    nodes = np.setdiff1d(np.arange(n_nodes), space.edges_[fixed[0]])
    columns = np.flatnonzero(free[0])
    return nodes, np.searchsorted(nodes, space.edges_[columns]), columns


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

    def distribution(self, scores: Any) -> Distribution | None:
        """Distributions of matchings, node by node where that is not too entangled; scores (n,
        d).
        """
        scores = self._checked_scores(scores, len(self.edges_))
        if self.constraints_.n_rows is not None:
            return listed_distribution(self, scores)
        left = open_graph(self)
        check_feasible(np.full(len(scores), left is not None), self)
        if left is None or self._paths is None:
            return None
        distribution = PathDistribution(self._paths, scores[:, left[2]])
        check_feasible(np.isfinite(distribution.log_partition), self)
        return FixedColumnsDistribution(distribution, left[2], self.constraints_.low[0], scores)

    @cached_property
    def _paths(self) -> StateGraph | None:
        """Matchings of what constraints leave open as paths; None where these are too many."""
        left = open_graph(self)
        if left is None:
            return None
        nodes, ends, _ = left
        order = short_range_order(len(nodes), ends)
        return matching_paths(ends, np.argsort(order), self.perfect)

    def proposals(self) -> Proposals | None:
        """Edges come in, go out, slide along and change places.

        None for perfect matchings of graphs that are not complete: they need not be within
        reach of each other.
        """
        if self.constraints_.n_rows is not None:
            return None
        left = open_graph(self)
        check_feasible(np.array([left is not None]), self)
        assert left is not None
        nodes, ends, columns = left
        if self.perfect and len(ends) < self._n_pairs(nodes):
            return None
        return MatchingProposals(len(nodes), ends, columns, self.constraints_.low[0], self.perfect)

    def _n_pairs(self, nodes: np.ndarray) -> int:
        """Edges between all of these nodes."""
        if self._shape is None:
            return len(nodes) * (len(nodes) - 1) // 2
        n_first = int((nodes < self._shape[0]).sum())
        return n_first * (len(nodes) - n_first)


Inference.at(LawfulMatchings, OwnInference)
