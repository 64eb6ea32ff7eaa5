# SPDX-License-Identifier: BSD-3-Clause
"""Cycles as tours, places in order of travel, and as 0/1 rows over arcs or edges.

Tours are int64 (n, N), padded with -1. The canonical one starts at its smallest place; where
direction does not matter, the second place is smaller than the last.
"""

from __future__ import annotations

import numpy as np

from skstruct.exceptions import UndecidableError
from skstruct.spaces.graphs.cycle_counts import SHORTEST
from skstruct.spaces.graphs.edge_table import EdgeTable


def tours_to_rows(tours: np.ndarray, table: EdgeTable) -> np.ndarray:
    """0/1 rows over arcs or edges; int8 of shape (n, d)."""
    Z = np.zeros((len(tours), len(table.edges)), np.int8)
    row, step = np.nonzero(tours >= 0)
    following = np.where(step + 1 < (tours >= 0).sum(axis=1)[row], step + 1, 0)
    Z[row, table.column[tours[row, step], tours[row, following]]] = 1
    return Z


def rows_to_tours(Z: np.ndarray, table: EdgeTable) -> tuple[np.ndarray, np.ndarray]:
    """Canonical tours of 0/1 rows, and which rows are one cycle of at least three places."""
    n_places, directed = len(table.nodes), table.directed
    row, column = np.divmod(np.flatnonzero(Z != 0), Z.shape[1])  # ten times np.nonzero's speed
    tail, head = table.edges[column].T
    near, far, good = _neighbours(len(Z), n_places, row, tail, head, directed)
    visited = near >= 0
    tours = np.full((len(Z), n_places), -1)
    some = np.flatnonzero(good & visited.any(axis=1))
    near, far = near[some], far[some]
    start = visited[some].argmax(axis=1)
    here, before = start, far[np.arange(len(some)), start]
    walking = np.arange(len(some))
    for step in range(n_places):
        tours[some[walking], step] = here
        # Of two neighbours, the one that we do not come from.
        one, other = near[walking, here], far[walking, here]
        there = one if directed else one + other - before
        on = there != start[walking]
        here, before, walking = there[on], here[on], walking[on]
        if not len(walking):
            break
    length = (tours >= 0).sum(axis=1)
    return tours, good & (length >= SHORTEST) & (length == visited.sum(axis=1))


def _neighbours(n, n_places, row, tail, head, directed):
    """The next place of every place, or its two neighbours; -1 where it is not visited.

    Also which rows come in and go out of every place once, or touch it twice or not at all.
    """
    shape = (n, n_places)
    out = np.bincount(row * n_places + tail, minlength=n * n_places).reshape(shape)
    into = np.bincount(row * n_places + head, minlength=n * n_places).reshape(shape)
    if directed:
        near = np.full(shape, -1)
        near[row, tail] = head
        return near, near, ((out == into) & (out <= 1)).all(axis=1)
    near, far = np.full(shape, n_places), np.full(shape, -1)
    for here, there in ((tail, head), (head, tail)):
        np.minimum.at(near, (row, here), there)
        np.maximum.at(far, (row, here), there)
    degree = out + into
    near[degree == 0] = -1
    return near, far, ((degree == 0) | (degree == 2)).all(axis=1)


def sample_tours(n: int, rng, low, high, by_size: list[int]) -> np.ndarray:
    """``n`` cycles that visit all of ``low`` within ``high``, uniformly; not canonical.

    A size by its share of the cycles, then a subset of that size in random order: every
    cycle of i places is i such orders (2i where direction does not matter).

    Parameters
    ----------
    low, high : bool arrays of shape (N,)
    by_size : list of int
        Number of cycles of every size.
    """
    total, before, shares = sum(by_size), 0, []
    for count in by_size:
        before += count
        shares.append(before / total)  # a ratio of integers, however large
    size = np.searchsorted(shares, rng.random(n), side="right")
    free = np.flatnonzero(high & ~low)
    chosen = np.tile(low, (n, 1))
    picked = rng.permuted(np.tile(free, (n, 1)), axis=1)
    row, rank = np.nonzero(np.arange(len(free)) < (size - low.sum())[:, None])
    chosen[row, picked[row, rank]] = True
    order = rng.permuted(np.tile(np.arange(len(low)), (n, 1)), axis=1)
    left_out = ~np.take_along_axis(chosen, order, axis=1)
    first = np.argsort(left_out, axis=1, kind="stable")
    tours = np.take_along_axis(order, first, axis=1)
    return np.where(np.arange(len(low)) < size[:, None], tours, -1)


def list_tours(low, may, sizes, directed: bool, limit: int) -> np.ndarray:
    """All canonical tours, step by step; shape (number, N).

    Parameters
    ----------
    low : bool array of shape (N,)
        Places that must be visited.
    may : bool array of shape (N, N)
        Arcs that may be used; symmetric where direction does not matter.
    sizes : (smallest, largest)
    limit : int
        An error where there are more.
    """
    n_places = len(low)
    latest = np.flatnonzero(low)[0] if low.any() else n_places - SHORTEST
    paths = np.arange(min(latest, n_places - SHORTEST) + 1, dtype=np.int16)[:, None]
    found, n_found = [np.zeros((0, n_places), np.int64)], 0
    for length in range(1, sizes[1] + 1):
        if length >= max(SHORTEST, sizes[0]):
            closed = may[paths[:, -1], paths[:, 0]]
            if not directed:
                closed &= paths[:, 1] < paths[:, -1]
            closed &= low[paths].sum(axis=1) == low.sum()
            full = np.full((int(closed.sum()), n_places), -1)
            full[:, :length] = paths[closed]
            found.append(full)
            n_found += len(full)
        if length == sizes[1]:
            break
        paths = _longer(paths, may)
        if n_found > limit or len(paths) > 4 * limit:
            raise UndecidableError(
                f"There are more than {limit:,} cycles or beginnings of cycles; enumerate(limit) "
                "lists more, and narrower limits leave fewer."
            )
    return np.concatenate(found)


def _longer(paths, may):
    """Paths one step longer, by all places that come after their start."""
    used = np.zeros((len(paths), len(may)), bool)
    np.put_along_axis(used, paths, True, axis=1)
    later = np.arange(len(may)) > paths[:, :1]
    row, place = np.nonzero(may[paths[:, -1]] & ~used & later)
    return np.column_stack([paths[row], place.astype(np.int16)])
