# SPDX-License-Identifier: BSD-3-Clause
"""Cycles as paths through states, and Markov chains among cycles, compiled.

The state of block s, set S and last node u has the number base[s] + S m + u, with m nodes
behind s: longer sets have larger numbers. State 0 is before the first node is chosen.
"""

import numpy as np

from skstruct._arrays import compiling as nb
from skstruct.spaces.solvers._numba_markov_chains import below, fraction


@nb.njit(cache=True, nogil=True)
def list_steps(column, may, must, n_blocks, sizes, size_of, first, target, taken, write):
    """The number of steps of all cycles; with ``write`` they are written, too.

    Parameters
    ----------
    column, may : arrays of shape (N, N)
        Of the arcs between nodes: those that must be visited come first.
    must : int
        How many nodes must be visited.
    n_blocks : int
        Nodes that may be the first one; the others come behind it.
    sizes : smallest and largest number of nodes
    size_of : number of members of every set
    """
    n_nodes = len(column)
    n_states = len(first) - 1
    count, state = 0, 1
    base = 1
    for s in range(n_blocks):  # steps of state 0: the first two nodes
        m = n_nodes - 1 - s
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
        m = n_nodes - 1 - s
        needed = (1 << max(must - 1, 0)) - 1  # of the nodes behind s
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


# Chains among simple cycles.
#
# A state is [k, nodes...]: the first k nodes are the cycle in order of travel, the others are
# not visited. Every proposal looks the same from each node of the cycle, so that it does not
# matter at which one, and without direction in which sense, the cycle is written down.


TURN, SHIFT, REPLACE, RESIZE = 0, 1, 2, 3
BUSY = 8  # proposals of each kind for one pause, without which three nodes never settle


@nb.njit(cache=True, nogil=True, inline="always")
def arc(score, column, sign, u, v):
    """Score of going from u to v."""
    return sign[u, v] * score[column[u, v]]


@nb.njit(cache=True, nogil=True, inline="always")
def wrap(p, k):
    """A position from -1 to 2 k - 1 as one from 0 to k - 1; quicker than a division."""
    return p + k if p < 0 else (p - k if p >= k else p)


@nb.njit(cache=True, nogil=True, inline="always")
def turn_part(tour, k, score, column, sign, both_ways, beta, streams, c):
    """Turn 2 to k - 1 nodes in a row round; the same again leads back."""
    p, length = below(streams, c, k), 2 + below(streams, c, k - 2)
    a, first = tour[wrap(p - 1, k)], tour[p]
    last, b = tour[wrap(p + length - 1, k)], tour[wrap(p + length, k)]
    gain = arc(score, column, sign, a, last) + arc(score, column, sign, first, b)
    gain -= arc(score, column, sign, a, first) + arc(score, column, sign, last, b)
    if not both_ways:
        for q in range(p, p + length - 1):
            u, v = tour[wrap(q, k)], tour[wrap(q + 1, k)]
            gain += arc(score, column, sign, v, u) - arc(score, column, sign, u, v)
    if np.log(fraction(streams, c)) >= beta * gain:
        return 0
    for q in range(length // 2):
        i, j = wrap(p + q, k), wrap(p + length - 1 - q, k)
        tour[i], tour[j] = tour[j], tour[i]
    return 1


@nb.njit(cache=True, nogil=True, inline="always")
def shift_node(tour, k, score, column, sign, beta, streams, c):
    """Move a node to between two others, the k - 2 ways of which are alike; as likely back."""
    p, steps = below(streams, c, k), 1 + below(streams, c, k - 2)
    a, x, b = tour[wrap(p - 1, k)], tour[p], tour[wrap(p + 1, k)]
    u, v = tour[wrap(p + steps, k)], tour[wrap(p + steps + 1, k)]
    gain = arc(score, column, sign, a, b) - arc(score, column, sign, a, x)
    gain += arc(score, column, sign, u, x) + arc(score, column, sign, x, v)
    gain -= arc(score, column, sign, x, b) + arc(score, column, sign, u, v)
    if np.log(fraction(streams, c)) >= beta * gain:
        return 0
    for q in range(p, p + steps):
        tour[wrap(q, k)] = tour[wrap(q + 1, k)]
    tour[wrap(p + steps, k)] = x
    return 1


@nb.njit(cache=True, nogil=True, inline="always")
def replace_node(tour, k, must, score, column, sign, beta, streams, c):
    """A node that is not visited takes the stead of one that is."""
    if k == len(tour):
        return 0
    p, q = below(streams, c, k), k + below(streams, c, len(tour) - k)
    a, x, b, y = tour[wrap(p - 1, k)], tour[p], tour[wrap(p + 1, k)], tour[q]
    if must[x]:
        return 0
    gain = arc(score, column, sign, a, y) + arc(score, column, sign, y, b)
    gain -= arc(score, column, sign, a, x) + arc(score, column, sign, x, b)
    if np.log(fraction(streams, c)) >= beta * gain:
        return 0
    tour[p], tour[q] = y, x
    return 1


@nb.njit(cache=True, nogil=True, inline="always")
def resize(tour, k, sizes, must, score, column, sign, beta, streams, c):
    """Any node goes out, or comes in at any of k gaps; the size after it.

    In at a gap has probability 1 / (m k), and out again 1 / m: the ratio k balances them.
    """
    q = below(streams, c, len(tour))
    x = tour[q]
    if q < k:
        if k == sizes[0] or must[x]:
            return k
        a, b = tour[wrap(q - 1, k)], tour[wrap(q + 1, k)]
        gain = arc(score, column, sign, a, b)
        gain -= arc(score, column, sign, a, x) + arc(score, column, sign, x, b)
        if np.log(fraction(streams, c)) >= beta * gain - np.log(k - 1.0):
            return k
        for p in range(q, k - 1):
            tour[p] = tour[p + 1]
        tour[k - 1] = x
        return k - 1
    if k == sizes[1]:
        return k
    gap = below(streams, c, k)
    a, b = tour[gap], tour[wrap(gap + 1, k)]
    gain = arc(score, column, sign, a, x) + arc(score, column, sign, x, b)
    gain -= arc(score, column, sign, a, b)
    if np.log(fraction(streams, c)) >= beta * gain + np.log(k * 1.0):
        return k
    tour[q] = tour[k]
    for p in range(k, gap + 1, -1):
        tour[p] = tour[p - 1]
    tour[gap + 1] = x
    return k + 1


@nb.njit(cache=True, nogil=True)
def walk_cycles(
    states, kinds, sizes, must, both_ways, column, sign, scores, row, beta, n_steps, streams,
    accepted,
):  # fmt: skip
    """Each proposal is of one of ``kinds``, all alike, or a pause."""
    for c in range(len(states)):
        tour, score, beta_c = states[c, 1:], scores[row[c]], beta[c]
        k = states[c, 0]
        for _ in range(n_steps):
            number = below(streams, c, BUSY * len(kinds) + 1)
            if number == BUSY * len(kinds):
                continue
            kind = kinds[number % len(kinds)]
            if kind == TURN:
                done = turn_part(tour, k, score, column, sign, both_ways, beta_c, streams, c)
            elif kind == SHIFT:
                done = shift_node(tour, k, score, column, sign, beta_c, streams, c)
            elif kind == REPLACE:
                done = replace_node(tour, k, must, score, column, sign, beta_c, streams, c)
            else:
                size = resize(tour, k, sizes, must, score, column, sign, beta_c, streams, c)
                done = abs(size - k)
                k = size
            accepted[c] += done
        states[c, 0] = k
