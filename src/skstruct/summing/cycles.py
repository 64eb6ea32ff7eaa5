# SPDX-License-Identifier: BSD-3-Clause
"""Simple cycles through few places as paths, and their laws."""

from __future__ import annotations

import numpy as np

from skstruct.summing.base import Law
from skstruct.summing.paths import PathGraph

MOST_PLACES = 15  # 1.5 million steps


def cycle_paths(column, may, must, sizes, directed: bool) -> PathGraph | None:
    r"""All cycles within limits; None where there are too many places.

    A cycle begins at the first of its places, and a state is the set of places that were
    visited since with the last of them (Held and Karp): :math:`N^2 2^N` steps. Without
    direction every cycle is two paths.

    Parameters
    ----------
    column : int array of shape (N, N)
        Column of the arc from the first place to the second; symmetric without direction.
    may : bool array of shape (N, N)
        Arcs that may be used, within places that may be visited.
    must : bool array of shape (N,)
        Places that must be visited.
    sizes : smallest and largest number of places, at least 3
    """
    from skstruct.summing._compiled_cycles import list_steps, members

    places = np.flatnonzero(may.any(axis=1) | must)
    places = places[np.argsort(~must[places], kind="stable")]
    n_places, n_columns = len(places), int(column.max()) + 1
    sizes = max(sizes[0], 3), min(sizes[1], n_places)
    if n_places > MOST_PLACES or sizes[0] > sizes[1]:
        return None if n_places > MOST_PLACES else _no_path(n_columns)
    within = np.ix_(places, places)
    n_must = int(must.sum())
    n_blocks = 1 if n_must else n_places - 2
    behind = n_places - 1 - np.arange(n_blocks)
    first = np.zeros(2 + int((behind << behind).sum()) + 1, np.int64)
    problem = (
        np.ascontiguousarray(column[within]), np.ascontiguousarray(may[within]), n_must, n_blocks,
        sizes, members(n_places - 1), first,
    )  # fmt: skip
    nothing = np.zeros(0, np.int32)
    n_steps = list_steps(*problem, nothing, nothing, False)
    target, taken = np.empty(n_steps, np.int32), np.empty(n_steps, np.int32)
    list_steps(*problem, target, taken, True)
    return PathGraph(first, target, taken, n_columns, sizes[1], 1 if directed else 2)


def _no_path(n_columns: int) -> PathGraph:
    none = np.zeros(0, np.int32)
    return PathGraph(np.zeros(3, np.int64), none, none, n_columns, 0)


class SignedLaw(Law):
    r"""A law of arcs, seen by pairs: :math:`\psi` is 1 for an arc there and -1 for one back.

    Parameters
    ----------
    law : Law
        Of arcs, where the score of an arc back is minus that of the arc there.
    there, back : int arrays of shape (d,)
        Columns of the two arcs of every pair.
    """

    def __init__(self, law, there, back):
        self.law, self.there, self.back = law, there, back
        self.log_partition = law.log_partition

    def marginals(self):
        chances = self.law.marginals()
        return chances[:, self.there] - chances[:, self.back]

    def sample(self, n, rng):
        return self.law.sample(n, rng)
