# SPDX-License-Identifier: BSD-3-Clause
"""Assignments under the uniform distribution, and how many there are within constraints."""

from math import perm

import numpy as np

from skstruct.exceptions import UndecidableError
from skstruct.spaces.common.counting import check_few
from skstruct.spaces.common.covariances import Covariance, GridScheme
from skstruct.spaces.indicator_sets.uniform import UniformOfSets
from skstruct.spaces.uniform import LIMIT

MOST_SETS = 2**17  # sets of columns in use that are told apart


class FreeAssignments:
    """All assignments of ``a`` agents and ``t`` tasks, uniformly.

    With L of the larger side a pair has probability 1 / L, and two without a common end
    1 / (L (L - 1)).

    >>> FreeAssignments(2, 3).mean()
    array([0.33333333, 0.33333333, 0.33333333, 0.33333333, 0.33333333, 0.33333333])
    """

    def __init__(self, a: int, t: int) -> None:
        self.shape, large = (a, t), max(a, t)
        self.one, self.two = 1.0 / large, 1.0 / max(large * (large - 1), 1)

    def mean(self) -> np.ndarray:
        """Probability of each pair; shape (d,)."""
        return np.full(self.shape[0] * self.shape[1], self.one)

    def second_moment(self) -> np.ndarray:
        """Probability of each two pairs together; shape (d, d)."""
        a, t = self.shape
        apart = np.kron(1.0 - np.eye(a), 1.0 - np.eye(t))
        return self.two * apart + self.one * np.eye(a * t)

    def covariance(self) -> Covariance:
        """By its eigenspaces, as for pairs of matchings."""
        a, t, one, two = *self.shape, self.one, self.two
        ones = one + two * (a - 1) * (t - 1) - one**2 * a * t
        return GridScheme(a, t, (ones, one - two * (t - 1), one - two * (a - 1), one + two))

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """``n`` assignments drawn uniformly and independently; int8 of shape (n, d)."""
        small, large = sorted(self.shape)
        order = rng.permuted(np.tile(np.arange(large), (n, 1)), axis=1)[:, :small]
        tables = np.zeros((n, small, large), np.int8)
        tables[np.arange(n)[:, None], np.arange(small), order] = 1
        tables = tables if self.shape[0] <= self.shape[1] else tables.swapaxes(1, 2)
        return np.ascontiguousarray(tables).reshape(n, -1)


def count_injections(allowed: np.ndarray) -> int:
    """Ways to give each row another of its columns; by the sets of columns in use.

    >>> count_injections(np.array([[True, True, True], [True, False, False]]))
    2
    """
    ways = {0: 1}
    for row in allowed:
        columns, then = [1 << int(j) for j in np.flatnonzero(row)], dict[int, int]()
        for used, number in ways.items():
            for bit in columns:
                if not used & bit:
                    then[used | bit] = then.get(used | bit, 0) + number
        if len(then) > MOST_SETS:
            raise UndecidableError(
                f"Assignments: to count them takes more than {MOST_SETS:,} sets of partners (it is "
                "#P-hard within constraints)."
            )
        ways = then
    return sum(ways.values())


class UniformOfAssignments(UniformOfSets):
    """Injections of the smaller side into the larger one; permanents where pairs are known."""

    __slots__ = ()

    @property
    def _shape(self) -> tuple[int, int]:
        return len(self.space.agents_), len(self.space.tasks_)

    def _count_within(self, low: np.ndarray, high: np.ndarray) -> int:
        left = self.space._allowed(self._one_row().within(low, high))
        small, large = sorted(self._shape)
        return perm(large, small) if left is None else count_injections(left[0])

    def _closed_form(self) -> FreeAssignments | None:
        return None if self._one_row().is_masked else FreeAssignments(*self._shape)

    def _closed_covariance(self) -> Covariance | None:
        closed = self._closed_form()
        return None if closed is None else closed.covariance()

    def enumerate(self, limit: int = LIMIT) -> np.ndarray:
        """All assignments in canonical form; shape (size, a * t)."""
        left, (small, large) = self.space._allowed(self._one_row()), sorted(self._shape)
        if left is None:
            check_few(perm(large, small), limit, self.space, "assignments")
        allowed = np.ones((small, large), bool) if left is None else left[0]
        chosen, free = np.zeros((1, 0), np.int64), np.ones((1, large), bool)
        for i in range(small):
            row, column = np.nonzero(free & allowed[i])
            chosen, free = np.column_stack([chosen[row], column]), free[row]
            free[np.arange(len(row)), column] = False
            if len(row) > limit:
                raise UndecidableError(
                    f"Assignments: there are more than {limit} beginnings of assignments; raise "
                    "limit."
                )
        return self.space._flat(chosen)
