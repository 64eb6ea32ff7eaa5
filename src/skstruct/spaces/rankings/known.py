# SPDX-License-Identifier: BSD-3-Clause
"""Rankings of which only some is known: a partial one stands for the orders that agree with it."""

from typing import Any

import numpy as np

from skstruct._arrays.imports import is_pandas
from skstruct.spaces.common.narrowing import within
from skstruct.spaces.common.reading_choices import has_choices, read_choices
from skstruct.spaces.known import Known
from skstruct.spaces.partial import PartialOutputs, are_choices, known_cells
from skstruct.spaces.rankings.constraints import RankConstraints
from skstruct.spaces.rankings.partial import average_ranks, is_total
from skstruct.spaces.solvers.linear_ordering import close_transitively


class KnownOfRankings(Known):
    """Rankings that leave something open; each stands for all total orders that agree with it."""

    __slots__ = ()

    def read(self, Y: Any, known: Any = None) -> PartialOutputs:
        """What is known of rankings; the space learns its items.

        Ties, items that are not ranked and ``{"before": [...]}`` leave open who comes first; of
        ratings, only their order counts.
        """
        space = self.space
        if has_choices(Y) or any(row is None for row in _rows(Y)):
            return read_choices(space, Y, self.read, known)
        if known is not None:
            Y = unranked(space, Y, known)
        Z = average_ranks(space.fit_validate(Y))
        free = RankConstraints.none(Z.shape[1])
        before = close_transitively(precedences(Z))
        limits = free.narrow(np.zeros((1, Z.shape[1]), np.int64), before, None)
        total = np.repeat(is_total(Z)[:, None], Z.shape[1], axis=1)
        return PartialOutputs(Z, total, total, within(space, limits), bool(total.all()))

    def has_gaps(self, Y: Any) -> bool:
        """Candidates do; a ranking of some of the items is an output of its own."""
        return are_choices(Y)

    def masked(self, Y: Any, known: Any) -> Any:
        """Items that are not known are not ranked."""
        return unranked(self.space, Y, known)

    def are_complete(self, Z: np.ndarray) -> np.ndarray:
        """Those without ties and items left out."""
        return is_total(Z)


def unranked(space: Any, Y: Any, known: Any) -> Any:
    """Ranks without those that are not known, in the format of Y."""
    name = type(space).__name__
    if is_pandas(Y, "DataFrame"):
        return Y.where(known_cells(known, Y.shape, name, lambda _: Y.columns))
    values, items = np.asarray(Y, dtype=np.float64), space._given_items()
    names = range if items is None else lambda _: items
    return np.where(known_cells(known, values.shape, name, names), values, np.nan)


def _rows(Y: Any) -> Any:
    """Rows that may be None; a table has none such."""
    one_by_one = isinstance(Y, (list, tuple)) or is_pandas(Y, "Series")
    return Y if one_by_one or (isinstance(Y, np.ndarray) and Y.dtype == object) else ()


def precedences(Z: np.ndarray) -> np.ndarray:
    """Which item comes before which, bool (n, d, d), as far as ranks (n, d) tell.

    >>> precedences(np.array([[1.0, np.nan, 2.0]]))[0].astype(int)
    array([[0, 0, 1],
           [0, 0, 0],
           [0, 0, 0]])
    """
    with np.errstate(invalid="ignore"):
        first: np.ndarray = Z[:, :, None] < Z[:, None, :]
    return first
