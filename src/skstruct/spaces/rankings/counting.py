# SPDX-License-Identifier: BSD-3-Clause
"""Rankings under the uniform distribution: counts, lists, samples, linear extensions."""

import math
from abc import abstractmethod
from collections.abc import Iterator
from itertools import islice, permutations
from typing import Any

import numpy as np

from skstruct._arrays.memory import check_square_fits
from skstruct.exceptions import InfeasibleError
from skstruct.spaces.base import CountedSpace
from skstruct.spaces.common.counting import LIMIT, check_few
from skstruct.spaces.common.covariances import Covariance
from skstruct.spaces.common.uniform_means import mean_of_outputs
from skstruct.spaces.rankings.constraints import RankConstraints
from skstruct.spaces.rankings.partial import tied_behind
from skstruct.spaces.solvers.linear_ordering import (
    MOST_ITEMS,
    close_transitively,
    count_orders,
    sample_orders,
)
from skstruct.spaces.solvers.proposals import new_streams


def sample_linear_extensions(n: int, before: np.ndarray, rng: Any) -> np.ndarray:
    r"""Total orders that agree with a partial one, drawn exactly uniformly and independently.

    Coupling from the past of the chain of neighbors that change places, with a chain that bounds
    all its paths: :math:`O(d^3 \ln d)` steps are expected for a draw.

    Parameters
    ----------
    n : int
        Number of draws.
    before : bool array of shape (d, d)
        ``before[p, q]`` demands that p comes before q.
    rng : int or Generator

    Returns
    -------
    orders : int64 array of shape (n, d), first item first

    Examples
    --------
    >>> before = np.zeros((3, 3), bool)
    >>> before[0, 1] = True
    >>> orders = sample_linear_extensions(600, before, 0)
    >>> np.unique(orders, axis=0, return_counts=True)
    (array([[0, 1, 2], [0, 2, 1], [2, 0, 1]]), array([...]))

    References
    ----------
    M. Huber (2006). Fast perfect sampling from linear extensions. Discrete Mathematics 306.
    """
    from skstruct.spaces.rankings._numba import draw_extensions, words_until_closed

    before = close_transitively(np.asarray(before, dtype=bool)[None])[0]
    d = len(before)
    if before.diagonal().any():
        raise InfeasibleError("The precedences go round in a circle.")
    if d < 2:
        return np.zeros((n, d), np.int64)
    n_after = before.sum(axis=1)
    entering = np.argsort(-n_after, kind="stable")  # whoever comes before others has more after
    latest = d - 1 - n_after[entering]
    rng = np.random.default_rng(rng)
    known = np.pad(before, (0, 1)), entering, latest
    # How long it takes is tried with other random numbers: a length must not depend on the draw.
    tried = [words_until_closed(*known, new_streams(3, rng)) for _ in range(3)]
    streams = new_streams(3 * n, rng).reshape(n, 3, 4)
    orders = np.empty((n, d), np.int64)
    draw_extensions(*known, 1 + int(np.mean(tried) * 1.2), streams, orders)
    return orders


class UniformRankings(CountedSpace):
    """Rankings within constraints: how many there are, their moments, samples and the list."""

    @property
    @abstractmethod
    def items_(self) -> tuple[Any, ...]:
        """Names of the items, one per column."""

    @property
    @abstractmethod
    def constraints_(self) -> RankConstraints:
        """What rankings must obey."""

    @property
    @abstractmethod
    def _scheme(self) -> Any:
        """The embedding, which knows its moments over all rankings."""

    def size(self) -> int:
        """Exact number of rankings."""
        return count_rankings(self._one_row())

    def mean_embedding(self) -> np.ndarray:
        """Mean of psi over all rankings: closed forms, or the list where there are constraints."""
        if self._one_row().is_free:
            return self._scheme.mean(len(self.items_))
        return np.asarray(self.embed(self._listed()).mean(axis=0)).ravel()

    def uniform_means(self, n: int) -> np.ndarray:
        """From a sample, where many orders agree with what a row is known to obey."""
        if self.constraints_.is_free:
            return np.repeat(self.mean_embedding()[None], n, axis=0)
        return np.array([mean_of_outputs(self.rows([i]), counted=False) for i in range(n)])

    def second_moment(self) -> np.ndarray:
        """Mean of psi psi' over all rankings."""
        d = len(self.items_)
        width = self._scheme.width(d)
        check_square_fits(width, "The second moment", "covariance() needs no matrix.")
        if self._one_row().is_free:
            return self._scheme.second(d)
        psi = self.embed(self._listed())
        moment = psi.T @ psi / psi.shape[0]
        return np.asarray(moment.toarray() if hasattr(moment, "toarray") else moment)

    def covariance(self) -> Covariance:
        """Covariance of psi: by its eigenspaces where there are no constraints."""
        free = self._one_row().is_free
        by_parts = self._scheme.covariance(len(self.items_)) if free else None
        return super().covariance() if by_parts is None else by_parts

    def sibling(self, Z: np.ndarray) -> np.ndarray:
        """The reverse of each order: signs of pairs turn, and ranks add up to d + 1."""
        if not self._one_row().is_free or not self._scheme.reversible:
            raise ValueError(
                "Rankings: orders and their reverses add up to the same under pairs and ranks, "
                "without constraints."
            )
        Z = np.asarray(Z, dtype=np.float64)
        return Z.shape[1] + 1 - Z

    def stream(self, block: int = 1024) -> Iterator[np.ndarray]:
        """All rankings bit by bit, at most ``block`` at a time: arrays of shape (m, d)."""
        constraints = self._one_row()
        if not constraints.is_free:
            yield from np.array_split(self.enumerate(), max(1, self.size() // block))
            return
        orders = permutations(range(1, len(self.items_) + 1))
        while some := list(islice(orders, block)):
            yield np.array(some, dtype=np.float64)

    def _listed(self) -> np.ndarray:
        listed = self.enumerate()
        if not len(listed):
            raise InfeasibleError("Rankings: no ranking meets the constraints.")
        return listed

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All rankings in canonical form; shape (size, d)."""
        return list_rankings(self._one_row(), limit)

    def sample(self, n: int, rng: np.random.Generator | int | None) -> np.ndarray:
        """``n`` rankings drawn uniformly and independently; shape (n, d).

        Rankings with known precedences are drawn by a table for up to 20 items. For more items,
        where there are neither known positions nor a top, by coupling from the past: some 20 ms
        for a ranking of 50 items.
        """
        constraints, rng = self._one_row(), np.random.default_rng(rng)
        if _is_long(constraints) and not constraints.has_fixed and constraints.top is None:
            return tied_behind(sample_linear_extensions(n, constraints.before[0], rng), None)
        if count_rankings(constraints) == 0:
            raise InfeasibleError("Rankings: no ranking meets the constraints.")
        return sample_rankings(constraints, n, rng)


def count_rankings(constraints: RankConstraints) -> int:
    """Exact number of rankings: factorials, or a table when there are precedences."""
    d, stop = constraints.fixed.shape[1], _stop(constraints)
    if constraints.has_before:
        before, allowed = _table_constraints(constraints)
        return int(count_orders(before, allowed, stop)[0])
    n_free = d - int((constraints.fixed > 0).sum())
    return math.perm(n_free, n_free - (d - stop))


def sample_rankings(constraints: RankConstraints, n: int, rng: np.random.Generator) -> np.ndarray:
    """``n`` rankings drawn uniformly and independently; shape (n, d)."""
    d = constraints.fixed.shape[1]
    if constraints.has_before:
        before, allowed = _table_constraints(constraints)
        orders = sample_orders(n, before, allowed, _stop(constraints), rng)
        return tied_behind(orders, constraints.top)
    items = np.flatnonzero(constraints.fixed[0])
    free = np.flatnonzero(constraints.fixed[0] == 0)
    orders = np.empty((n, d), np.int64)
    slots = np.setdiff1d(np.arange(d), constraints.fixed[0, items] - 1)
    orders[:, constraints.fixed[0, items] - 1] = items
    orders[:, slots] = rng.permuted(np.tile(free, (n, 1)), axis=1)
    return tied_behind(orders, constraints.top)


def list_rankings(constraints: RankConstraints, limit: int) -> np.ndarray:
    """All rankings, position by position; shape (size, d)."""
    size, d = count_rankings(constraints), constraints.fixed.shape[1]
    check_few(size, limit, "Rankings", "rankings")
    allowed = constraints.allowed()[0]
    prefixes = np.zeros((1, 0), np.int64)
    for t in range(_stop(constraints)):
        n = len(prefixes)
        used = np.zeros((n, d), bool)
        np.put_along_axis(used, prefixes, True, axis=1)
        waits = (constraints.before[0].T[None] & ~used[:, None, :]).any(axis=2)
        row, item = np.nonzero(~used & ~waits & allowed[:, t])
        prefixes = np.column_stack([prefixes[row], item])
    rest = np.ones((len(prefixes), d), bool)
    np.put_along_axis(rest, prefixes, False, axis=1)
    others = np.nonzero(rest)[1].reshape(len(prefixes), d - _stop(constraints))
    return tied_behind(np.hstack([prefixes, others]), constraints.top)


def _stop(constraints: RankConstraints) -> int:
    return constraints.fixed.shape[1] if constraints.top is None else constraints.top


def _is_long(constraints: RankConstraints) -> bool:
    """Whether there are known precedences, and too many items for a table."""
    return constraints.has_before and constraints.fixed.shape[1] > MOST_ITEMS


def _table_constraints(constraints: RankConstraints) -> tuple[np.ndarray, np.ndarray]:
    if _is_long(constraints):
        raise ValueError(
            f"Rankings with known precedences are counted for up to {MOST_ITEMS} items; there "
            f"are {constraints.fixed.shape[1]}. sample() draws from more, where there are neither "
            "known positions nor a top."
        )
    return constraints.before[0], constraints.allowed()[0].T
