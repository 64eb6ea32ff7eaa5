# SPDX-License-Identifier: BSD-3-Clause
"""From ordered lists of names to rank vectors, and back."""

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from skstruct._arrays.by_name import by_position
from skstruct._arrays.foreign import in_memory
from skstruct._arrays.imports import is_pandas
from skstruct.spaces.common.formats import check_distinct
from skstruct.spaces.rankings.formats import read_orders, read_rankings


def ranks_from_orders(
    orders: Iterable[Iterable[Any]],
    items: Iterable[Any] | None = None,
    *,
    unlisted: Literal["last", "unknown"] = "last",
) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Rank vectors of ordered lists, best first; ties are sets within a list.

    Parameters
    ----------
    orders : list of lists of names
    items : sequence, default=None
        Names of the columns; the sorted names that occur when None.
    unlisted : "last" or "unknown"
        Items that a list does not name come after those it names, or are NaN.

    Returns
    -------
    ranks : float array of shape (n, d); 1 is best, ties share their mean rank
    items : tuple

    Examples
    --------
    >>> ranks_from_orders([["b", "a", "c"], ["c", {"a", "b"}]])
    (array([[2. , 1. , 3. ],
           [2.5, 2.5, 1. ]]), ('a', 'b', 'c'))
    """
    names = None if items is None else check_distinct(items, "ranks_from_orders")
    return read_orders(list(orders), names, "names", unlisted, "ranks_from_orders")[:2]


def orders_from_ranks(ranks: ArrayLike, items: Iterable[Any] | None = None) -> list[list[Any]]:
    """Ordered lists, best first, of rank vectors; tied items are a set, NaN is left out.

    >>> orders_from_ranks([[2, 1, 3]], ["a", "b", "c"])
    [['b', 'a', 'c']]
    >>> orders_from_ranks([[1, 2, 2]]) == [[0, {1, 2}]]
    True
    """
    table: Any = in_memory(ranks)
    if is_pandas(table, "DataFrame"):
        items = list(table.columns) if items is None else list(items)
        table = by_position(table, items, what="ranks", used_by="orders_from_ranks")
    ranks = np.atleast_2d(np.asarray(table, dtype=np.float64))
    given = tuple(range(ranks.shape[1])) if items is None else tuple(items)
    Z, names, _ = read_rankings(ranks, given, used_by="orders_from_ranks")
    return [[_group(z, rank, names) for rank in np.unique(z[~np.isnan(z)])] for z in Z]


def _group(ranks: np.ndarray, rank: float, items: tuple[Any, ...]) -> Any:
    """The item of a rank, or a set of those tied at it."""
    names = [items[j] for j in np.flatnonzero(ranks == rank)]
    return names[0] if len(names) == 1 else set(names)
