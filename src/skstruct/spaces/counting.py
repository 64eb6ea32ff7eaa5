# SPDX-License-Identifier: BSD-3-Clause
"""Counting and listing the closed sets of a graph, exactly, in Python integers."""

from __future__ import annotations

import numpy as np

from skstruct.decoding.dag import Dag
from skstruct.exceptions import UndecidableError

LIMIT = 10**6  # outputs listed, or subproblems counted, before giving up


def count_forest(dag: Dag, low, high, groups, smallest: int, largest: int) -> int:
    """Number of closed sets of a forest with smallest..largest nodes.

    ways(v) lists, by size, the closed sets of the subtree of v, the empty one included:
    ways(v) = 1 + x * product over children of ways(child), where a group of exclusive
    siblings enters as one factor, 1 + sum of (ways(child) - 1).
    """
    if dag.n_nodes and (low & ~high).any():
        return 0
    sized = smallest > 0 or largest < dag.n_nodes
    top = largest if sized else 0
    group_of = np.full(dag.n_nodes, -1)
    for g, members in enumerate(groups):
        group_of[members] = g
    inside: dict[int, list] = {v: [1] for v in range(-1, dag.n_nodes)}  # -1: above all roots
    pooled: dict[int, dict[int, list]] = {}  # parent -> group -> its members and their ways
    for v in dag.order[::-1].tolist():
        for ways in _group_factors(pooled.pop(v, {}), low):
            inside[v] = _times(inside[v], ways, top)
        take = [0, *inside[v]][: top + 1] if sized else inside[v]
        ways = [0] if not high[v] else take
        if not low[v]:
            ways = _plus(ways, [1])
        parent = int(dag.parent_of[v])
        if group_of[v] >= 0:
            pooled.setdefault(parent, {}).setdefault(int(group_of[v]), []).append((v, ways))
        else:
            inside[parent] = _times(inside[parent], ways, top)
    for ways in _group_factors(pooled.pop(-1, {}), low):
        inside[-1] = _times(inside[-1], ways, top)
    return sum(inside[-1][smallest : largest + 1]) if sized else inside[-1][0]


def _group_factors(pools, low):
    """One factor per group of exclusive siblings: at most one of them is not empty."""
    for members in pools.values():
        must = [ways for v, ways in members if low[v]]
        if must:
            yield must[0] if len(must) == 1 else [0]
            continue
        total = [1]
        for _, ways in members:
            total = _plus(total, _plus(ways, [-1]))
        yield total


def _plus(a: list, b: list) -> list:
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    return [x + (shorter[k] if k < len(shorter) else 0) for k, x in enumerate(longer)]


def _times(a: list, b: list, top: int) -> list:
    """Product of two polynomials up to degree ``top``."""
    product = [0] * (min(len(a) + len(b) - 2, top) + 1)
    for i, x in enumerate(a):
        if x:
            for j, y in enumerate(b[: len(product) - i]):
                product[i + j] += x * y
    return product


def count_dag(dag: Dag, low, high, limit: int = LIMIT) -> int:
    """Number of closed sets of an acyclic graph, by branching with memory.

    Sets of nodes are bits of an integer. A set that holds v holds all above it, one that
    does not holds nothing below it, so a branch removes many nodes at once; unconnected
    parts multiply. Counting is hard in general: past ``limit`` subproblems it gives up.
    """
    above = [0] * dag.n_nodes
    for v in dag.order:
        above[v] |= 1 << int(v)
    for v in dag.order:
        for p in dag.parents_of[v]:
            above[v] |= above[p]
    below = [0] * dag.n_nodes
    for v in range(dag.n_nodes):
        for u in _bits(above[v]):
            below[u] |= 1 << v
    left = (1 << dag.n_nodes) - 1
    taken = gone = 0
    for v in np.flatnonzero(low):
        taken |= above[v]
    for v in np.flatnonzero(~high):
        gone |= below[v]
    if taken & gone:
        return 0
    return _count_left(left & ~taken & ~gone, above, below, {0: 1}, limit)


def _count_left(left, above, below, known, limit) -> int:
    if left in known:
        return known[left]
    if len(known) > limit:
        raise UndecidableError(
            f"Counting the closed sets of this graph takes more than {limit} steps. "
            "Trees are counted in no time; restrict the space, or sample by other means."
        )
    part = _component(left, above, below)
    if part != left:
        answer = _count_left(part, above, below, known, limit)
        answer *= _count_left(left & ~part, above, below, known, limit)
    else:
        v = max(_bits(left), key=lambda u: ((above[u] | below[u]) & left).bit_count())
        answer = _count_left(left & ~above[v], above, below, known, limit)
        answer += _count_left(left & ~below[v], above, below, known, limit)
    known[left] = answer
    return answer


def _component(left, above, below) -> int:
    """The nodes of ``left`` connected to its lowest bit."""
    part = front = left & -left
    while front:
        reach = 0
        for v in _bits(front):
            reach |= above[v] | below[v]
        front = reach & left & ~part
        part |= front
    return part


def _bits(number: int):
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def list_closed_sets(dag: Dag, low, high, largest: int, limit: int = LIMIT) -> np.ndarray:
    """All closed sets with at most ``largest`` nodes, low..high; shape (count, d) of int8."""
    rows = np.zeros((1, dag.n_nodes), np.int8)
    for v in dag.order:
        if not high[v]:
            rows = rows[:0] if low[v] else rows
            continue
        free = rows[:, dag.parents_of[v]].all(axis=1) & (rows.sum(axis=1) < largest)
        added = rows[free]
        added[:, v] = 1
        rows = added if low[v] else np.concatenate([rows, added])
        if len(rows) > limit:
            raise UndecidableError(f"The space has more than {limit} outputs; raise limit.")
    return rows
