# SPDX-License-Identifier: BSD-3-Clause
"""Distributions over rankings: exact for few items, and proposals of Markov chains."""

import math
from typing import Any

import numpy as np

from skstruct.spaces.constraints import check_feasible, check_n_rows
from skstruct.spaces.rankings.counting import UniformRankings
from skstruct.spaces.rankings.partial import tied_behind
from skstruct.spaces.solvers.distributions import Distribution
from skstruct.spaces.solvers.linear_ordering import MOST_ITEMS, pair_matrix, pair_numbers, ranks_of
from skstruct.spaces.solvers.proposals import Proposals, n_columns_changed

LARGEST_EXPONENT = 300.0  # products of weights up to exp(300), times 20!, are ordinary numbers
BLOCK = 10**6  # random numbers held at once


class OrderSums:
    r"""Distributions of orders, by scores of items at positions and of items before others.

    .. math:: p \propto \exp\Bigl(\sum_i s_{i, t(i)} + \sum_{t(i) < t(q)} w_{iq}\Bigr)

    Every set of items placed first is visited once, :math:`2^d d` steps for a row. Rows whose
    scores are moderate are summed as they are, all others as logarithms: no score is too large.

    Parameters
    ----------
    n, d : int
        Rows and items.
    positions : array s of shape (n or 1, d, d), default=None
        ``positions[:, i, t]`` is the score of item i at position t.
    pairs : array w of shape (n or 1, d, d), default=None
        ``pairs[:, i, q]`` is the score of item i somewhere before item q.
    before : bool array of shape (n or 1, d, d), default=None
        ``before[:, i, q]`` demands that i comes before q.
    allowed : bool array of shape (n or 1, d, d), default=None
        ``allowed[:, t, i]``: whether item i may stand at position t.
    stop : int, default=None
        Only the first ``stop`` positions count; orders that differ behind them are the same.

    Attributes
    ----------
    log_partition : array of shape (n,)
        Minus infinity where no order meets the constraints.
    placed : array of shape (n, d, d)
        Probability of item i at position t; 0 from ``stop`` on.
    ahead : array of shape (n, d, d)
        Probability that item i is among the first ``stop``, and q not before it; of no rows where
        ``pairs`` is None.

    Examples
    --------
    The partition function of scores of positions is a permanent.

    >>> sums = OrderSums(1, 2, positions=np.log([[[1.0, 2.0], [3.0, 4.0]]]))
    >>> np.exp(sums.log_partition).round(12), sums.placed[0].round(12)
    (array([10.]), array([[0.4, 0.6], [0.6, 0.4]]))
    >>> sums.draw(3, np.random.default_rng(0)).shape
    (1, 3, 2)

    References
    ----------
    M. Held and R. Karp (1962). A dynamic programming approach to sequencing problems.
    """

    def __init__(
        self,
        n: int,
        d: int,
        *,
        positions: np.ndarray | None = None,
        pairs: np.ndarray | None = None,
        before: np.ndarray | None = None,
        allowed: np.ndarray | None = None,
        stop: int | None = None,
    ) -> None:
        from skstruct.spaces.rankings._numba import sum_rows

        zeros, bit = np.zeros((1, d, d)), np.int64(1) << np.arange(d)
        none = np.zeros((1, d), np.int64)
        self.n, self.d, self.stop = n, d, d if stop is None else stop
        self.positions = (
            zeros if positions is None else np.ascontiguousarray(positions, dtype=np.float64)
        )
        self.pairs = zeros if pairs is None else np.ascontiguousarray(pairs, dtype=np.float64)
        # Sets as numbers: for every item those before it, for every position those banned.
        self.earlier = none if before is None else before.swapaxes(1, 2) @ bit
        self.banned = none if allowed is None else ~allowed @ bit
        self.logs = self._are_large()
        self.log_partition = np.empty(n)
        self.placed = np.zeros((n, d, d))
        self.ahead = np.zeros((0 if pairs is None else n, d, d))
        given: Any = *self._rows(slice(None)), self.log_partition, self.placed, self.ahead
        sum_rows(*given)

    def _are_large(self) -> np.ndarray:
        """Which rows are summed as logarithms; bool (n,)."""
        by_position = np.abs(self.positions).max(axis=1).sum(axis=1)
        sizes = np.abs(self.pairs)
        by_pair = np.maximum(sizes, sizes.swapaxes(1, 2)).sum(axis=(1, 2)) / 2
        return np.broadcast_to(by_position + by_pair > LARGEST_EXPONENT, self.n).copy()

    def _rows(self, rows: slice) -> tuple[Any, ...]:
        """What the compiled functions take, for some rows."""
        shared = (self.positions, self.pairs, self.earlier, self.banned)
        own = [part if len(part) == 1 else part[rows] for part in shared]
        return *own, self.stop, self.logs[rows]

    def draw(self, n_draws: int, rng: np.random.Generator) -> np.ndarray:
        """Independent orders of every row, best item first; int64 (n, n_draws, d).

        The items from ``stop`` on come in their own order.
        """
        from skstruct.spaces.rankings._numba import draw_rows

        orders = np.empty((self.n, n_draws, self.d), np.int64)
        step = max(1, BLOCK // max(1, n_draws * self.stop))
        for start in range(0, self.n, step):
            rows = slice(start, start + step)
            uniform = rng.random((len(orders[rows]), n_draws, self.stop))
            arrays = (*self._rows(rows), uniform, orders[rows])
            draw_rows(*arrays)
        return orders


LARGEST_WORK = 2**29  # steps n 2**d d that are taken: some seconds


def supports_inference(n_rows: int, d: int) -> bool:
    """Whether sums over all orders are taken for so many rows and items.

    Up to 10,000 rows of 12 items, 500 of 16, and 25 of 20.

    >>> supports_inference(2000, 12), supports_inference(2000, 16), supports_inference(1, 21)
    (True, False, False)
    """
    return d <= MOST_ITEMS and n_rows * 2**d * d <= LARGEST_WORK


def ranking_distribution(space: Any, scores: np.ndarray) -> Distribution:
    """The distribution of rankings within the constraints of their space, which may differ from
    row to row.
    """
    d, constraints = len(space.items_), space.constraints_
    check_n_rows(constraints, len(scores), "Rankings")
    by = PairDistribution if space._scheme.family == "pairs" else PositionDistribution
    distribution = by(space._scheme, scores, d, constraints)
    check_feasible(distribution.log_partition > -math.inf, space)
    return distribution


class RankingDistribution(Distribution):
    """Distributions of orders, all items beyond the top tied behind it."""

    def __init__(self, scheme: Any, d: int, constraints: Any, **scores: Any) -> None:
        self.scheme, self.d, self.constraints, self.scores = scheme, d, constraints, scores
        self.top = constraints.top
        self.sums = self._sums(**scores)
        self.log_partition = self.sums.log_partition

    def _sums(self, **scores: Any) -> OrderSums:
        (n,) = {len(part) for part in self.scores.values()}
        return OrderSums(n, self.d, **scores, **bounds(self.constraints))

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        orders = self.sums.draw(n, rng)
        d = orders.shape[2]
        return tied_behind(orders.reshape(-1, d), self.top).reshape(orders.shape)

    def marginals(self) -> np.ndarray:
        return self._means(self.scheme)

    def means_in(self, view: Any) -> np.ndarray | None:
        """Known of pairs, positions and ranks, whichever of them is scored."""
        return self._means(view._scheme) if view.embedding in FAMILIES else None

    def _means(self, scheme: Any) -> np.ndarray:
        means: np.ndarray
        if scheme.family != "pairs":
            means = scheme.from_positions(self._placed())
            return means
        ahead = self._ahead()
        p, q = pair_numbers(self.d)
        means = np.zeros((len(ahead), scheme.width(self.d)))  # pairs behind the top have no sign
        means[:, : len(p)] = ahead[:, p, q] - ahead[:, q, p]  # weighted: a last column of zeros
        return means

    def _placed(self) -> np.ndarray:
        """Probability of each item at each position; those behind the top are shared."""
        placed = self.sums.placed.copy()  # what is returned may be written to
        if self.top is not None:
            n_behind = placed.shape[1] - self.top
            behind = 1.0 - placed[:, :, : self.top].sum(axis=2, keepdims=True)
            placed[:, :, self.top :] = behind.clip(min=0.0) / n_behind  # rounding
        return placed

    def _ahead(self) -> np.ndarray:
        """Probability of each item before each other one."""
        if "pairs" in self.scores:
            return self.sums.ahead
        return self._sums(**self.scores, pairs=np.zeros((1, self.d, self.d))).ahead


class PositionDistribution(RankingDistribution):
    r"""Of rankings by positions or ranks: Z is the permanent of :math:`e^{s_{it}}`.

    Items beyond the top share the positions there: each scores their mean.
    """

    def __init__(self, scheme: Any, scores: np.ndarray, d: int, constraints: Any) -> None:
        positions, rest = scheme.positions(scores, d, constraints.top), 0.0
        if constraints.top is not None:  # what an item gains over being left behind
            rest = positions[:, :, -1]
            positions, rest = positions - rest[:, :, None], rest.sum(axis=1)
        super().__init__(scheme, d, constraints, positions=positions)
        self.log_partition = self.log_partition + rest


class PairDistribution(RankingDistribution):
    """Of rankings by pairs: sums over all linear orders."""

    def __init__(self, scheme: Any, scores: np.ndarray, d: int, constraints: Any) -> None:
        pairs = pair_matrix(scores[:, : math.comb(d, 2)], d)
        super().__init__(scheme, d, constraints, pairs=pairs)


def bounds(constraints: Any) -> dict[Any, Any]:
    """Constraints as :class:`OrderSums` takes them."""
    return {
        "before": constraints.before if constraints.has_before else None,
        "allowed": constraints.allowed().swapaxes(1, 2) if constraints.has_fixed else None,
        "stop": constraints.top,
    }


FAMILIES = {"positions": 0, "ranks": 1, "pairs": 2}


class RankingProposals(Proposals):
    r"""Chains of orders of d items.

    Without precedences any two items that are free to move change places: a score of positions
    or ranks then changes in constant time, one of pairs in time of their distance. Within
    precedences neighbors change places (Karzanov and Khachiyan), which leads from every linear
    extension to every other one: under the uniform distribution in :math:`O(d^3 \ln d)` steps.
    Where only a top is ranked, one of the two is in it; within precedences its last item is
    exchanged for one that is behind.

    Parameters
    ----------
    family : "positions", "ranks" or "pairs"
        What scores are of: item j at position k is entry ``j * d + k``; ranks start at 1;
        pairs p < q have signs. Further columns of scores are not read.
    fixed : int array of shape (d,)
        Known ranks, 0 where free.
    before : bool array of shape (d, d), default=None
        Known precedences, transitive; not together with known ranks.
    top : int, default=None
        Items at later positions are tied.

    Examples
    --------
    >>> from skstruct.spaces.solvers.proposals import new_streams
    >>> proposals = RankingProposals("ranks", np.zeros(3, int))
    >>> states = proposals.start(np.array([[2.0, 1.0, 3.0]]))
    >>> states
    array([[1, 0, 2]])
    >>> scores, row, beta = np.array([[-1e3, 0.0, 1e3]]), np.zeros(1, int), np.ones(1)
    >>> n_accepted = proposals.walk(states, scores, row, beta, 50, new_streams(1, 0))
    >>> proposals.outputs(states)
    array([[1., 2., 3.]])

    References
    ----------
    A. Karzanov and L. Khachiyan (1991). On the conductance of order Markov chains. Order 8.
    """

    def __init__(
        self,
        family: str,
        fixed: np.ndarray,
        *,
        before: np.ndarray | None = None,
        top: int | None = None,
    ) -> None:
        d = len(fixed)
        self.family, self.d, self.top = FAMILIES[family], d, d if top is None else top
        self.before = np.zeros((0, 0), bool) if before is None else np.ascontiguousarray(before)
        self.free = np.setdiff1d(np.arange(d), fixed - 1)
        self.n_first = int((self.free < self.top).sum())
        self.value = self._tied(np.arange(d)[None])[0]
        self.sweep = max(1, min(len(self.free), self.top))

    def _tied(self, positions: np.ndarray) -> np.ndarray:
        """Ranks from 1, those behind the top at their mean."""
        return np.where(positions < self.top, positions + 1.0, (self.top + 1 + self.d) / 2)

    def start(self, outputs: Any) -> np.ndarray:
        return np.ascontiguousarray(np.argsort(outputs, axis=1, kind="stable"), dtype=np.int64)

    def outputs(self, states: np.ndarray) -> np.ndarray:
        return self._tied(ranks_of(states))

    def walk(
        self,
        states: np.ndarray,
        scores: np.ndarray,
        row: np.ndarray,
        beta: np.ndarray,
        n_steps: int,
        streams: np.ndarray,
    ) -> np.ndarray:
        from skstruct.spaces.rankings._numba import walk_orders

        accepted = np.zeros(len(states), np.int64)
        if len(self.free) < 2 or self.n_first == 0:  # there is one ranking
            return accepted
        if self.family == FAMILIES["positions"] and self.top < self.d:
            scores = self._shared(scores)
        walk_orders(self.family, states, scores, row, beta, n_steps, streams, self.value,
                    self.free, self.n_first, self.before, self.top, accepted)  # fmt: skip
        return accepted

    def proposal_probabilities(self, outputs: np.ndarray) -> np.ndarray | None:
        if len(self.before) or self.top < self.d:  # not told
            return None
        pair = 2.0 / max(len(self.free), 1) ** 2
        return np.where(n_columns_changed(outputs) == 2, pair, 0.0)

    def _shared(self, scores: np.ndarray) -> np.ndarray:
        """Scores of positions, those behind the top replaced by their mean."""
        cube = scores.reshape(len(scores), self.d, self.d).copy()
        cube[:, :, self.top :] = cube[:, :, self.top :].mean(axis=2, keepdims=True)
        return cube.reshape(len(scores), -1)


class RandomRankings(UniformRankings):
    """Rankings within constraints: their exact distributions, and chains among them."""
