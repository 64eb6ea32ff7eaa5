# SPDX-License-Identifier: BSD-3-Clause
"""Assignments under the uniform distribution, and how many there are within constraints."""

import numpy as np

from skstruct.exceptions import UndecidableError
from skstruct.spaces.common.covariances import Covariance, GridScheme

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
