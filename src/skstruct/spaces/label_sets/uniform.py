# SPDX-License-Identifier: BSD-3-Clause
"""Subsets of labels, uniformly: by how many there are of each size."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from skstruct.spaces.common.covariances import Covariance, Exchangeable, Scalar
from skstruct.spaces.constraints import Constraints
from skstruct.spaces.indicator_sets.counting import forest_paths
from skstruct.spaces.indicator_sets.uniform import UniformOfSets


class FreeSubsets:
    """Subsets of smallest..largest labels, of which some are known to be in or out.

    All others may change places: everything follows from how many subsets there are of each
    size, as whole numbers.

    Parameters
    ----------
    low, high : bool arrays of shape (d,)
        Labels that must and that may be in.
    smallest, largest : int

    Examples
    --------
    >>> two_of_four = FreeSubsets(np.zeros(4, bool), np.ones(4, bool), 2, 2)
    >>> two_of_four.total, two_of_four.mean()
    (6, array([0.5, 0.5, 0.5, 0.5]))
    """

    def __init__(self, low: np.ndarray, high: np.ndarray, smallest: int, largest: int) -> None:
        self.low, self.high, self.open = low, high, np.flatnonzero(high & ~low)
        self.sizes = smallest, largest
        self.possible = not (low & ~high).any()

    @cached_property
    def ways(self) -> list[int]:
        """Number of subsets with s free labels, for every s."""
        (smallest, largest), free, forced = self.sizes, len(self.open), int(self.low.sum())
        binomial, ways = int(self.possible), []
        for s in range(free + 1):
            ways.append(binomial if smallest <= s + forced <= largest else 0)
            binomial = binomial * (free - s) // (s + 1)
        return ways

    @cached_property
    def total(self) -> int:
        """Number of subsets."""
        smallest, largest = self.sizes
        forced, free = int(self.low.sum()), len(self.open)
        if self.possible and smallest <= forced and forced + free <= largest:
            return int(2**free)
        return sum(self.ways)

    def _sum(self, function: Callable[..., Any]) -> int:
        """Sum of a function of the number of free labels over all subsets."""
        return sum(function(s) * ways for s, ways in enumerate(self.ways))

    def mean(self) -> np.ndarray:
        """Probability of each label; shape (d,)."""
        probability = self._sum(lambda s: s) / (max(len(self.open), 1) * self.total)
        return np.where(self.low, 1.0, np.where(self.high, probability, 0.0))

    def second_moment(self) -> np.ndarray:
        """Probability of each two labels together; shape (d, d)."""
        n, mean = len(self.open), self.mean()
        moment = np.outer(mean, mean)  # right wherever one of the two is known
        both = self._sum(lambda s: s * (s - 1)) / (max(n * (n - 1), 1) * self.total)
        moment[np.ix_(self.open, self.open)] = both
        np.fill_diagonal(moment, mean)
        return moment

    def covariance(self) -> Covariance | None:
        """By its eigenspaces, where nothing is known; else None.

        With s the size of a subset, Var(s) / d on ones and E[s (d - s)] / (d (d - 1)) on what
        is orthogonal to them.
        """
        d = len(self.low)
        if len(self.open) < d:
            return None
        if self.total == 2**d:
            return Scalar(0.25, d)
        one, square = self._sum(lambda s: s), self._sum(lambda s: s * s)
        on_ones = (square * self.total - one * one) / (d * self.total**2)
        on_rest = (d * one - square) / (max(d * (d - 1), 1) * self.total)
        return Exchangeable(on_ones, on_rest, d)

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` subsets drawn uniformly and independently; int8 of shape (n, d)."""
        outputs = np.repeat(self.low[None].astype(np.int8), n, axis=0)
        free = len(self.open)
        if self.total == 2**free:
            outputs[:, self.open] = rng.integers(2, size=(n, free), dtype=np.int8)
            return outputs
        share = np.array([ways / self.total for ways in self.ways])
        size = rng.choice(free + 1, size=n, p=share / share.sum())
        rank = rng.random((n, free)).argsort(axis=1).argsort(axis=1)
        outputs[:, self.open] = rank < size[:, None]
        return outputs


def _free_subsets(constraints: Constraints) -> FreeSubsets:
    return FreeSubsets(
        constraints.low[0], constraints.high[0], constraints.smallest, constraints.largest
    )


class UniformOfLabelSets(UniformOfSets):
    """All labels that are free may change places, unless groups of them exclude each other."""

    __slots__ = ()

    def _closed_form(self) -> Any:
        constraints = self._one_row()
        if constraints.groups:
            return forest_paths(self.space.dag_, constraints)
        return _free_subsets(constraints)

    def _count_within(self, low: np.ndarray, high: np.ndarray) -> int:
        constraints = self._one_row().within(low, high)
        if constraints.groups:
            return super()._count_within(low, high)
        return _free_subsets(constraints).total

    def uniform_means(self, n: int) -> np.ndarray:
        """Labels that are neither in nor out are in half of the sets, if sizes are free."""
        limits = self.space.constraints_
        if limits.is_sized or limits.groups:
            return super().uniform_means(n)
        return np.array(
            np.broadcast_to((limits.low + 0.0 + limits.high) / 2.0, (n, limits.low.shape[1]))
        )

    def _closed_covariance(self) -> Covariance | None:
        """Two eigenvalues at most where labels are alike."""
        self.check_not_empty()
        constraints = self._one_row()
        return None if constraints.groups else _free_subsets(constraints).covariance()

    def sibling(self, Z: np.ndarray) -> np.ndarray:
        """The complement of each set: together they are all labels."""
        limits = self.space.constraints_
        if limits.is_masked or limits.is_sized or limits.groups:
            raise ValueError("LabelSets: complements may leave a space with constraints.")
        return 1 - np.asarray(Z)
