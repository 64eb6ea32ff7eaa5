# SPDX-License-Identifier: BSD-3-Clause
"""Paths counted, listed, drawn and weighted: what a space of paths says of all of them."""

from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from skstruct.exceptions import InfeasibleError
from skstruct.spaces.base import BaseSpace
from skstruct.spaces.inference import Inference, OwnDistribution, listed_distribution
from skstruct.spaces.paths.arcs import NAME, ArcTable, read_graph
from skstruct.spaces.paths.constraints import OPEN_END, PathConstraints, with_ends
from skstruct.spaces.paths.counting import (
    state_graph,
)
from skstruct.spaces.paths.decoding import ends_open
from skstruct.spaces.solvers.distributions import Distribution, StackedDistributions
from skstruct.spaces.solvers.state_graphs import PathDistribution, StateGraph


class CountedPaths(BaseSpace):
    """Paths of ``graph`` from ``source`` to ``target``, within constraints.

    A child brings these parameters.
    """

    graph: Any
    source: Any
    target: Any
    _from_parameters: ClassVar[tuple[str, ...]] = ("_table",)
    _from_constraints: ClassVar[tuple[str, ...]] = ("_limits",)

    # ------------------------------------------------------------- the graph
    @cached_property
    def _table(self) -> ArcTable:
        return read_graph(self.graph)

    @property
    def constraints_(self) -> PathConstraints:
        """What predicted paths must obey, their ends included."""
        return self._limits

    @cached_property
    def _limits(self) -> PathConstraints:
        n_nodes, d = len(self.nodes_), len(self.labels_)
        none = PathConstraints.none(n_nodes, d)
        given = none if self.constraints is None else self.constraints
        if given.low.shape[1] != d or given.open.shape[1] != n_nodes:
            raise ValueError(
                f"{NAME} was restricted for {given.low.shape[1]} arcs between "
                f"{given.open.shape[1]} nodes; there are {d} between {n_nodes}."
            )
        own = replace(none, source=self._own("source"), target=self._own("target"))
        return own.narrow(given)

    def _own(self, end: str) -> np.ndarray:
        """Number of the node that a parameter names."""
        name = getattr(self, end)
        return np.array([OPEN_END if name is None else self._table.node(name, end)])

    @property
    def nodes_(self) -> tuple[Any, ...]:
        """Names of the nodes."""
        return self._table.nodes

    @property
    def labels_(self) -> tuple[Any, ...]:
        """Names of the coordinates: arcs as pairs of nodes."""
        return self._table.labels

    @property
    def is_acyclic(self) -> bool:
        """Whether the graph is directed and has no cycle: then all is exact for any costs."""
        return self._table.order is not None

    # ------------------------------------------------------------- ends
    def _named(self, node: int) -> str:
        return "a node" if node == OPEN_END else repr(self.nodes_[node])

    def _known_ends(self) -> PathConstraints:
        return with_ends(self._limits)

    def _raise_infeasible(self, i: int) -> None:
        limits = self._limits
        source, target = (
            self._named(end[min(i, len(end) - 1)]) for end in (limits.source, limits.target)
        )
        raise InfeasibleError(
            f"{NAME}: no path from {source} to {target} meets the constraints in row {i}.", i
        )

    # ------------------------------------------------------------- all paths
    def _states(self) -> StateGraph | None:
        """Ways through a graph without cycles; None where constraints leave none."""
        self._one_row()
        limits = self._known_ends()
        if not (ends_open(limits, 1)[0] and limits.spans(self._table)[0]):
            return None
        usable = limits.usable_onward(self._table)[0]
        ends = int(limits.source[0]), int(limits.target[0])
        return state_graph(self._table, usable, *ends, int(limits.longest[0]))

    def distribution(self, scores: Any) -> Distribution | None:
        r"""The distributions :math:`p(z) \propto \exp \langle u, z \rangle` of paths; u (n, d).

        By sums over the states of a graph without cycles; else by a list of all paths, or None
        where there are too many.
        """
        scores = self._checked_scores(scores, len(self.labels_))
        if not self.is_acyclic:
            return listed_distribution(self, scores)
        if self._limits.n_rows is not None:
            each = [self.rows([i]) for i in range(len(scores))]
            found = [space.distribution(scores[i : i + 1]) for i, space in enumerate(each)]
            return StackedDistributions(found) if found else None
        states = self._states()
        if states is None:
            self._raise_infeasible(0)
        return None if states is None else PathDistribution(states, scores)


Inference.at(CountedPaths, OwnDistribution)
