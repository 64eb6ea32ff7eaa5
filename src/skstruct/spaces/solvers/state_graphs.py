# SPDX-License-Identifier: BSD-3-Clause
"""Sets as paths through a graph of states: best, k best, sums, marginals, draws, counts, lists."""

from dataclasses import dataclass
from functools import cached_property
from math import gcd, log
from typing import Any, Self

import numpy as np

from skstruct._arrays.memory import check_square_fits
from skstruct.spaces.solvers.distributions import Distribution

# Sums whose logarithms are smaller, in size, neither overflow nor vanish as numbers. Rows where
# that is not certain are summed as numbers with powers beside them, which takes twice as long.
PLAIN = 600.0
MODULUS = 2**62  # two numbers below it have a sum that a machine's whole numbers hold
FEW = 3  # moduli whose remainders are found no later than how many are needed


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

    @property
    def width(self) -> int:
        """Columns of an output."""
        return self.n_columns if self.shown is None else self.shown

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    @classmethod
    def of_choices(
        cls, order: np.ndarray, take: np.ndarray, skip: np.ndarray, change: np.ndarray,
        final: np.ndarray, longest: int, starts: Any = (0,), low: Any = None, high: Any = None,
        saturated: bool = False,
    ) -> Self:  # fmt: skip
        """Sets whose labels are taken or skipped in turn, at a level that taking changes.

        Parameters
        ----------
        order, take, skip : int arrays of shape (d,)
            The label at each position, and the positions where a path goes on; d is the end.
        change : int array of shape (d,)
            What taking the label at each position adds to the level. It may not be taken where
            that leaves the levels 0, 1, ..., m - 1.
        final : bool array of shape (m,)
            Levels at which a path may end.
        starts : int array, default=(0,)
            Levels at which paths begin; the first one is where the graph begins.
        low, high : bool arrays of shape (d,), default=None
            Labels that are taken in all sets, and in some.
        saturated : bool, default=False
            Whether level m - 1 means so much or more, and is kept by all that is taken there.

        Column j stands for taking label j, column d + j for skipping it.
        """
        from skstruct.spaces.solvers._numba_state_graphs import choice_steps

        d = len(order)
        low = np.zeros(d, bool) if low is None else np.ascontiguousarray(low)
        high = np.ones(d, bool) if high is None else np.ascontiguousarray(high)
        starts = np.asarray(starts if d else (0,), dtype=np.int64)
        labels = order, take, skip, change
        first, target, column = choice_steps(*labels, saturated, final, starts, low, high)
        return cls(first, target, column, 2 * d, longest, start=int(starts[0]), shown=d)

    # ------------------------------------------------------------- the best
    def best(
        self, costs: np.ndarray, k: int | None = None, start: Any = None, end: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The path, or the k paths, of least cost of every row: 0/1 columns, and values."""
        from skstruct.spaces.solvers._numba_state_graphs import k_min_paths, min_paths

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
        from skstruct.spaces.solvers._numba_state_graphs import sum_paths

        nothing, count, wide = np.zeros((1, self.n_columns)), np.zeros(1), np.ones(1, bool)
        sum_paths(nothing, wide, self.first, self.target, self.column, self.starts(None), count)
        return float(count[0])

    def log_count_bound(self, enough: float) -> float:
        """A number no less than ``log_count`` and zero: that of all sets if no more than enough."""
        sets = log(2.0) * self.width + log(self.copies)
        return sets if sets <= enough else max(self.log_count, 0.0)

    @cached_property
    def total(self) -> int:
        """How many outputs there are, as a whole number of any size.

        From its remainders by moduli without common divisors, as many as it takes.
        """
        from skstruct.spaces.solvers._numba_state_graphs import count_onward

        bound = self.log_count_bound(FEW * log(MODULUS)) + 1.0  # beyond what rounding hides
        table, modulus = np.empty(len(self.first) - 1, np.int64), MODULUS
        count, known = 0, 1  # the number of paths is count + some multiple of known
        while log(known) < bound:
            while gcd(modulus, known) > 1:
                modulus -= 1
            rest = int(count_onward(self.first, self.target, self.start, modulus, table))
            count += known * ((rest - count) * pow(known, -1, modulus) % modulus)
            known *= modulus
        return count // self.copies

    @cached_property
    def _alike(self) -> "PathDistribution":
        return PathDistribution(self, np.zeros((1, self.width)))

    def mean(self) -> np.ndarray:
        """Probability of every column; shape (d,)."""
        return self._alike.marginals()[0]

    def second_moment(self) -> np.ndarray:
        """Probability of every two columns; shape (d, d)."""
        from skstruct.spaces.solvers._numba_state_graphs import pair_probabilities

        d = self.width
        check_square_fits(d, "The second moment", "Use fewer columns.")
        single, both = np.zeros(d), np.zeros((d, d))
        pair_probabilities(*self._alike.problem, single, both)
        moment: np.ndarray = both + both.T
        np.fill_diagonal(moment, single)
        return moment

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` outputs drawn uniformly and independently; int8 (n, d)."""
        return self._alike.sample(n, rng)[0]

    def listed(self) -> np.ndarray:
        """All outputs, as often as there are paths of them; int8 (copies * total, d)."""
        from skstruct.spaces.solvers._numba_state_graphs import find_leading, list_paths

        outputs = np.zeros((self.total * self.copies, self.width), np.int8)
        leading = np.zeros(len(self.first) - 1, bool)
        find_leading(self.first, self.target, leading)
        if leading[self.start]:
            list_paths(self.first, self.target, self.column, self.start, leading, outputs)
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
        from skstruct.spaces.solvers._numba_state_graphs import sum_paths

        self.graph, scores = graph, np.ascontiguousarray(scores, dtype=np.float64)
        wide = may_overflow(graph, scores)
        if graph.shown is not None:
            scores = with_skipping(scores, low, high)
        starts = graph.starts(start)
        self.problem = scores, wide, graph.first, graph.target, graph.column, starts
        log_sums = np.empty(len(scores))
        sum_paths(*self.problem, log_sums)
        self.log_partition = log_sums - np.log(graph.copies)

    def marginals(self) -> np.ndarray:
        from skstruct.spaces.solvers._numba_state_graphs import column_probabilities

        probabilities = np.zeros((len(self.log_partition), self.graph.width))
        column_probabilities(*self.problem, probabilities)
        return probabilities

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        from skstruct.spaces.solvers._numba_state_graphs import draw_paths

        drawn = np.zeros((len(self.log_partition), n, self.graph.width), np.int8)
        draw_paths(*self.problem, drawn, rng)
        return drawn


def may_overflow(graph: StateGraph, scores: np.ndarray) -> np.ndarray:
    """Rows (n,) whose sums are perhaps too large or too small for plain numbers."""
    sizes: np.ndarray = np.abs(scores).max(axis=1, initial=0.0) * max(graph.longest, 1)
    largest = sizes.max(initial=0.0, where=sizes <= PLAIN)
    return sizes + graph.log_count_bound(PLAIN - float(largest)) > PLAIN


def with_skipping(scores: np.ndarray, low: Any, high: Any) -> np.ndarray:
    """Scores (n, 2 d) of taking and of skipping each label, where some must and some may not."""
    n, d = scores.shape
    both = np.zeros((n, 2, d))
    both[:, 0] = scores
    np.copyto(both[:, 0], -np.inf, where=False if high is None else ~high)
    np.copyto(both[:, 1], -np.inf, where=False if low is None else low)
    return both.reshape(n, 2 * d)
