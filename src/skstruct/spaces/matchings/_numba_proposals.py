# SPDX-License-Identifier: BSD-3-Clause
"""Markov chains among matchings, compiled; a state is the edge at every node, -1 for none."""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct.spaces.solvers._numba_markov_chains import below, fraction


@nb.njit(cache=True, nogil=True)
def put(at, ends, edge, value):
    """Both nodes of an edge get a value."""
    at[ends[edge, 0]] = at[ends[edge, 1]] = value


@nb.njit(cache=True, nogil=True)
def walk_matchings(
    at, ends, number, perfect, columns, scores, row, beta, n_steps, streams, accepted
):
    """Any edge f is picked, or none, and what follows is as likely there as back.

    f goes out where it is in, and comes in where it may; it takes the stead of the one edge in
    its way; of two edges in its way, (a, c) and (b, d), it takes the stead with (c, d). Without
    pauses, edges that share no node would come and go in turns where all is accepted.
    """
    m = len(ends)
    if m == 0:
        return
    for c in range(len(at)):
        mine, score = at[c], scores[row[c]]
        for _ in range(n_steps):
            f = below(streams, c, m + 1)
            if f == m:
                continue
            a, b = ends[f, 0], ends[f, 1]
            e, g = mine[a], mine[b]  # what is in the way of f
            gain, other = score[columns[f]], -1
            if e == f:
                gain = -gain
            else:
                if e >= 0:
                    gain -= score[columns[e]]
                if g >= 0:
                    gain -= score[columns[g]]
            if e >= 0 and g >= 0 and e != f:
                other = number[ends[e, 0] + ends[e, 1] - a, ends[g, 0] + ends[g, 1] - b]
                if other < 0:
                    continue
                gain += score[columns[other]]
            elif perfect:
                continue
            if np.log(fraction(streams, c)) >= beta[c] * gain:
                continue
            accepted[c] += 1
            if e >= 0:
                put(mine, ends, e, -1)
            if g >= 0:
                put(mine, ends, g, -1)
            if e != f:
                put(mine, ends, f, f)
            if other >= 0:
                put(mine, ends, other, other)
