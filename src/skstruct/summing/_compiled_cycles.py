# SPDX-License-Identifier: BSD-3-Clause
"""Cycles as paths through states: a first place, the set of those visited since, and the last.

The state of block s, set S and last place u has the number base[s] + S m + u, with m places
behind s: longer sets have larger numbers. State 0 is before the first place is chosen.
"""

from __future__ import annotations

import numba as nb
import numpy as np


@nb.njit(cache=True, nogil=True)
def list_steps(column, may, must, n_blocks, sizes, size_of, first, target, taken, write):
    """The number of steps of all cycles; with ``write`` they are written, too.

    Parameters
    ----------
    column, may : arrays of shape (N, N)
        Of the arcs between places: those that must be visited come first.
    must : int
        How many places must be visited.
    n_blocks : int
        Places that may be the first one; the others come behind it.
    sizes : smallest and largest number of places
    size_of : number of members of every set
    """
    n_places = len(column)
    n_states = len(first) - 1
    count, state = 0, 1
    base = 1
    for s in range(n_blocks):  # steps of state 0: the first two places
        m = n_places - 1 - s
        for u in range(m):
            if may[s, s + 1 + u]:
                if write:
                    target[count] = base + (1 << u) * m + u
                    taken[count] = column[s, s + 1 + u]
                count += 1
        base += m << m
    first[1] = count
    base = 1
    for s in range(n_blocks):
        m = n_places - 1 - s
        needed = (1 << max(must - 1, 0)) - 1  # of the places behind s
        for S in range(1 << m):
            full = size_of[S] + 1
            for u in range(m):
                state = base + S * m + u
                here = s + 1 + u
                if (S >> u) & 1:
                    closes = sizes[0] <= full <= sizes[1] and (S & needed) == needed
                    if closes and may[here, s]:
                        if write:
                            target[count], taken[count] = n_states - 1, column[here, s]
                        count += 1
                    if full < sizes[1]:
                        for w in range(m):
                            if not (S >> w) & 1 and may[here, s + 1 + w]:
                                if write:
                                    target[count] = base + (S | (1 << w)) * m + w
                                    taken[count] = column[here, s + 1 + w]
                                count += 1
                first[state + 1] = count
        base += m << m
    first[n_states] = count  # the end has no steps
    return count


@nb.njit(cache=True, nogil=True)
def members(m):
    """Number of members of every set of m places."""
    size = np.zeros(1 << m, np.int64)
    for S in range(1, 1 << m):
        size[S] = size[S >> 1] + (S & 1)
    return size
