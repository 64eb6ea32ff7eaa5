# SPDX-License-Identifier: BSD-3-Clause
"""Few penalties of a long grid, each tried by what those before it gave."""

from collections.abc import Iterator
from typing import Any

import numpy as np

COARSE = 3  # places of the grid that the first steps go at once: a power of ten
BRACKETED = 7  # penalties that are tried in the end, about
START = 3 / 7  # of the way down the grid: a thousandth of the trace


class Trials:
    """Penalties to try, all of them in turn."""

    def __init__(self, grid: Any) -> None:
        self.grid = np.asarray(grid, dtype=np.float64)
        self.errors: dict[int, float] = {}
        self._place = 0

    def __iter__(self) -> Iterator[float]:
        for place, value in enumerate(self.grid.tolist()):
            self._place = place
            yield value

    def record(self, error: float) -> bool:
        """The error of the penalty that came last; one that is not a number is the worst.

        Returns whether it is the best so far.
        """
        self.errors[self._place] = float(error) if np.isfinite(error) else np.inf
        return self._place == self._best_place

    @property
    def _best_place(self) -> int:
        """Of equal errors, the largest penalty."""
        return min(self.errors, key=lambda place: (self.errors[place], place))

    @property
    def best(self) -> float:
        """The penalty of least error."""
        return float(self.grid[self._best_place])


class Bracketing(Trials):
    """Penalties to try of a grid, until no neighbour of the best one is better.

    Steps down the errors, first by three places of the grid and then by one. Where the error
    falls to one penalty and rises after it, that one is found, and most of the others are never
    tried. What is iterated over waits for :meth:`record` after every penalty.

    Parameters
    ----------
    grid : array of shape (n_penalties,)
        Largest first.

    Examples
    --------
    >>> search = Bracketing(np.logspace(0, -7, 22))
    >>> for alpha in search:
    ...     _ = search.record((np.log10(alpha) + 5) ** 2)
    >>> round(float(np.log10(search.best)), 9), len(search.errors)
    (-5.0, 6)
    """

    def __init__(self, grid: Any) -> None:
        super().__init__(grid)
        self._step, self._place = COARSE, int(START * len(self.grid))

    def __iter__(self) -> Iterator[float]:
        place: int | None = self._place
        while place is not None:
            self._place = place
            yield float(self.grid[place])
            place = self._next()

    def _next(self) -> int | None:
        """The neighbour of the best penalty that was not tried, weaker ones first."""
        while self._step:
            best = self._best_place
            for place in (best + self._step, best - self._step):
                if 0 <= place < len(self.grid) and place not in self.errors:
                    return place
            self._step = 1 if self._step > 1 else 0
        return None
