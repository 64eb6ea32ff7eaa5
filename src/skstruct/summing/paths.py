# SPDX-License-Identifier: BSD-3-Clause
"""Laws over outputs that are built step by step: paths through a graph of states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skstruct.summing.base import Law

# Sums whose logarithms are smaller, in size, neither overflow nor vanish as numbers. Rows where
# that is not certain are summed as logarithms, which takes some times longer.
PLAIN = 600.0


@dataclass(frozen=True, eq=False)
class PathGraph:
    """States 0, 1, ..., the last of which is the end, and steps from each to later ones.

    Every output is the set of columns on some paths, on the same number of them each.
    """

    first: np.ndarray  # int64 (n_states + 1,): steps of state s are first[s]..first[s + 1]
    target: np.ndarray  # int32 (n_steps,)
    column: np.ndarray  # int32 (n_steps,): what a step takes; n_columns where it takes nothing
    n_columns: int
    longest: int  # columns on a path, at most
    copies: int = 1  # paths of every output

    def __deepcopy__(self, memo):
        return self

    @cached_property
    def log_count(self) -> float:
        """Logarithm of the number of paths."""
        from skstruct.summing._compiled_paths import sum_paths

        nothing, count = np.zeros((1, self.n_columns)), np.zeros(1)
        sum_paths(nothing, np.array([True]), self.first, self.target, self.column, count)
        return max(float(count[0]), 0.0)


class PathLaw(Law):
    """0/1 outputs with chances in proportion to the exponential of the scores of their columns.

    Parameters
    ----------
    graph : PathGraph
    scores : array of shape (n, n_columns)

    Examples
    --------
    Two columns, of which a path takes exactly one:

    >>> graph = PathGraph(np.array([0, 2, 2]), np.array([1, 1]), np.array([0, 1]), 2, 1)
    >>> law = PathLaw(graph, np.log([[3.0, 1.0]]))
    >>> np.exp(law.log_partition).round(12), law.marginals()
    (array([4.]), array([[0.75, 0.25]]))
    """

    def __init__(self, graph: PathGraph, scores):
        from skstruct.summing._compiled_paths import sum_paths

        self.graph, self.scores = graph, np.ascontiguousarray(scores, dtype=np.float64)
        largest = np.abs(self.scores).max(axis=1, initial=0.0)
        self.logs = largest * graph.longest + graph.log_count > PLAIN
        self._problem = self.scores, self.logs, graph.first, graph.target, graph.column
        log_sums = np.empty(len(scores))
        sum_paths(*self._problem, log_sums)
        self.log_partition = log_sums - np.log(graph.copies)

    def marginals(self):
        from skstruct.summing._compiled_paths import column_chances

        chances = np.zeros(self.scores.shape)
        column_chances(*self._problem, chances)
        return chances

    def sample(self, n, rng):
        from skstruct.summing._compiled_paths import draw_paths

        drawn = np.zeros((len(self.scores), n, self.graph.n_columns), np.int8)
        draw_paths(*self._problem, drawn, rng)
        return drawn
