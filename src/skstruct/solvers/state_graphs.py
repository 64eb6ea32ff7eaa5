# SPDX-License-Identifier: BSD-3-Clause
"""Sets as paths through a graph of states: best, k best, sums, marginals, draws, counts, lists."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from skstruct._arrays.memory import check_square_fits
from skstruct.solvers.distributions import Distribution

# Sums whose logarithms are smaller, in size, neither overflow nor vanish as numbers. Rows where
# that is not certain are summed as logarithms, which takes some times longer.
PLAIN = 600.0
MACHINE = 43.0  # logarithm of a number of paths that a machine's whole numbers hold


@dataclass(frozen=True, eq=False)
class StateGraph:
    """States 0, 1, ..., the last of which is the end, and steps from each to later ones.

    Every output is the set of columns on some paths, on the same number of them each. A structure
    says here what may follow; all else is derived from it.

    Examples
    --------
    Two columns, of which a path takes exactly one:

    >>> one = np.array([1, 1], np.int32), np.array([0, 1], np.int32)
    >>> graph = StateGraph(np.array([0, 2, 2]), *one, 2, 1)
    >>> distribution = PathDistribution(graph, np.log([[3.0, 1.0]]))
    >>> np.exp(distribution.log_partition).round(12), distribution.marginals()
    (array([4.]), array([[0.75, 0.25]]))
    >>> graph.total, graph.mean(), graph.best(np.array([[3.0, 1.0]]))[1]
    (2, array([0.5, 0.5]), array([1.]))
    """

    first: np.ndarray  # int64 (n_states + 1,): steps of state s are first[s]..first[s + 1]
    target: np.ndarray  # int32 (n_steps,)
    column: np.ndarray  # int32 (n_steps,): what a step takes; n_columns where it takes nothing
    n_columns: int
    longest: int  # columns with a score on a path, at most
    copies: int = 1  # paths of every output
    start: int = 0
    shown: int | None = None  # the first so many columns are those of outputs; None for all

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    @classmethod
    def of_choices(
        cls, order: np.ndarray, take: np.ndarray, skip: np.ndarray, after: np.ndarray,
        final: np.ndarray, longest: int, start: int = 0, low: Any = None, high: Any = None,
    ) -> Self:  # fmt: skip
        """Sets whose labels are taken or skipped in turn, at a level that taking changes.

        Parameters
        ----------
        order, take, skip : int arrays of shape (d,)
            The label at each position, and the positions where a path goes on; d is the end.
        after : int array of shape (d, m)
            The level once the label is taken, by position and level; -1 where it may not be.
        final : bool array of shape (m,)
            Levels at which a path may end.
        low, high : bool arrays of shape (d,), default=None
            Labels that are taken in all sets, and in some.

        Column j stands for taking label j, column d + j for skipping it.
        """
        d, m = after.shape
        at, level = np.divmod(np.arange(d * m), m)
        onward = np.column_stack([skip[at], take[at]])
        levels = np.column_stack([level, after.ravel()])
        ends = onward == d
        heads = np.where(ends, d * m, onward * m + levels)
        kept = (levels >= 0) & (~ends | final[levels])
        kept[:, 0] &= True if low is None else ~low[order[at]]
        kept[:, 1] &= True if high is None else high[order[at]]
        first = np.concatenate([[0], np.cumsum(kept.sum(axis=1)), [kept.sum()]])
        columns = np.column_stack([d + order[at], order[at]])
        made = heads[kept].astype(np.int32), columns[kept].astype(np.int32)
        return cls(first[: d * m + 2], *made, 2 * d, longest, start=start, shown=d)

    # ------------------------------------------------------------- the best
    def best(
        self, costs: np.ndarray, k: int | None = None, start: Any = None, end: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The path, or the k paths, of least cost of every row: 0/1 columns, and values."""
        from skstruct.solvers._numba_state_graphs import k_min_paths, min_paths

        n, d = costs.shape
        many = () if k is None else (k,)
        outputs, values = np.zeros((n, *many, d), np.int8), np.empty((n, *many))
        decoder = min_paths if k is None else k_min_paths
        ends = self.starts(start), np.array([len(self.first) - 2]) if end is None else end
        steps = self.target.view(np.uint32), self.column.view(np.uint32)
        decoder(costs, self.first, *steps, *ends, outputs, values)
        return outputs, values

    def starts(self, start: Any) -> np.ndarray:
        """Where paths begin: of each row, or all where the graph begins."""
        return np.array([self.start]) if start is None else start

    # ------------------------------------------------------------- all alike
    @cached_property
    def log_count(self) -> float:
        """Logarithm of the number of paths, minus infinity where there is none."""
        from skstruct.solvers._numba_state_graphs import sum_paths

        nothing, count = np.zeros((1, self.n_columns)), np.zeros(1)
        steps = self.first, self.target, self.column, self.starts(None)
        sum_paths(nothing, np.array([True]), *steps, count)
        return float(count[0])

    @cached_property
    def total(self) -> int:
        """How many outputs there are, as a whole number of any size."""
        from skstruct.solvers._numba_state_graphs import count_onward

        if self.log_count < MACHINE:
            table = np.zeros(len(self.first) - 1, np.int64)
            return int(count_onward(self.first, self.target, self.start, table)) // self.copies
        first, target = self.first.tolist(), self.target.tolist()
        ways = [0] * (len(first) - 2) + [1]
        for s in range(len(ways) - 2, self.start - 1, -1):
            ways[s] = sum([ways[w] for w in target[first[s] : first[s + 1]]])
        return ways[self.start] // self.copies

    @cached_property
    def _alike(self) -> "PathDistribution":
        return PathDistribution(self, np.zeros((1, self.shown or self.n_columns)))

    def mean(self) -> np.ndarray:
        """Probability of every column; shape (d,)."""
        return self._alike.marginals()[0]

    def second_moment(self) -> np.ndarray:
        """Probability of every two columns; shape (d, d)."""
        from skstruct.solvers._numba_state_graphs import pair_probabilities

        d = self.shown or self.n_columns
        check_square_fits(d, "The second moment", "Use fewer columns.")
        scores, logs, *steps = self._alike.problem
        single, both = np.zeros(self.n_columns), np.zeros((self.n_columns, self.n_columns))
        pair_probabilities(scores[0], logs[0], *steps[:3], self.start, single, both)
        moment: np.ndarray = (both + both.T)[:d, :d] / self.copies
        np.fill_diagonal(moment, single[:d] / self.copies)
        return moment

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` outputs drawn uniformly and independently; int8 (n, d)."""
        return self._alike.sample(n, rng)[0]

    def listed(self) -> np.ndarray:
        """All paths; int8 (total, d)."""
        from skstruct.solvers._numba_state_graphs import list_paths, sum_onward

        outputs = np.zeros((self.total * self.copies, self.shown or self.n_columns), np.int8)
        if len(outputs):
            table, nothing = np.empty(len(self.first) - 1), np.zeros(self.n_columns)
            weight, steps = np.empty(self.n_columns + 1), (self.first, self.target, self.column)
            sum_onward(nothing, *steps, self.start, True, weight, table)
            list_paths(*steps, self.start, table, outputs)
        return outputs


class PathDistribution(Distribution):
    """0/1 outputs with probabilities in proportion to the exponential of their columns' scores.

    Parameters
    ----------
    graph : StateGraph
    scores : array of shape (n, d)
        Of the columns that are shown.
    low, high : bool arrays of shape (1 or n, d), default=None
        Of ``StateGraph.of_choices``: labels that must and that may be taken.
    start : int array of shape (1 or n,), default=None
        Where paths begin; at the start of the graph when None.
    """

    def __init__(
        self, graph: StateGraph, scores: np.ndarray, low: Any = None, high: Any = None,
        start: Any = None,
    ) -> None:  # fmt: skip
        from skstruct.solvers._numba_state_graphs import sum_paths

        self.graph, scores = graph, np.ascontiguousarray(scores, dtype=np.float64)
        largest = np.abs(scores).max(axis=1, initial=0.0)
        self.logs = largest * graph.longest + max(graph.log_count, 0.0) > PLAIN
        if graph.shown is not None:
            skipped = np.zeros(scores.shape) if low is None else np.where(low, -np.inf, 0.0)
            skipped = np.broadcast_to(skipped, scores.shape)
            scores = np.hstack(
                [scores if high is None else np.where(high, scores, -np.inf), skipped]
            )
        starts = graph.starts(start)
        self.problem = scores, self.logs, graph.first, graph.target, graph.column, starts
        log_sums = np.empty(len(scores))
        sum_paths(*self.problem, log_sums)
        self.log_partition = log_sums - np.log(graph.copies)

    def marginals(self) -> np.ndarray:
        from skstruct.solvers._numba_state_graphs import column_probabilities

        probabilities = np.zeros(self.problem[0].shape)
        column_probabilities(*self.problem, probabilities)
        return probabilities[:, : self.graph.shown]

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        from skstruct.solvers._numba_state_graphs import draw_paths

        drawn = np.zeros((len(self.problem[0]), n, self.graph.n_columns), np.int8)
        draw_paths(*self.problem, drawn, rng)
        return drawn[..., : self.graph.shown]
