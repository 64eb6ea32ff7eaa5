# SPDX-License-Identifier: BSD-3-Clause
"""The k best paths: k entries of every state without cycles, Yen's algorithm with them."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np

from skstruct.exceptions import UndecidableError
from skstruct.spaces.paths.arcs import NAME, ArcTable
from skstruct.spaces.paths.constraints import PathConstraints
from skstruct.spaces.paths.decoding import decode, k_onward
from skstruct.spaces.paths.formats import trace_paths
from skstruct.spaces.solvers.k_best import k_best_pieces


def k_min_cost_paths(
    table: ArcTable, costs: np.ndarray, limits: PathConstraints, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` best of every row: (n, k, d) and values (n, k), infinite beyond the last path.

    Ranks that no row has are left off.

    References
    ----------
    J. Y. Yen (1971), "Finding the k shortest loopless paths in a network"; E. L. Lawler (1972) for
    the parts that are not searched again.
    """
    if table.order is not None:
        outputs, values = k_onward(table, costs, limits, k)
        known = np.isfinite(values).any(axis=0)
        return outputs[:, known], values[:, known]
    (n, d), n_nodes = costs.shape, len(table.nodes)
    begun = np.zeros((n, d), bool)  # arcs of a path up to its spur node
    closed, passed = np.zeros((n, d), bool), np.zeros((n, n_nodes), bool)
    spur = np.array(np.broadcast_to(limits.source, (n,)))

    def best_within(rows: np.ndarray, *part: np.ndarray) -> Any:
        begun, spur, closed, passed = part
        beyond = _beyond(limits.rows(rows), begun, spur, closed, passed)
        outputs, values, bounds = decode(table, costs[rows], beyond)
        if (bounds < values).any():
            raise UndecidableError(
                f"{NAME}: the k best need proven paths; costs with cycles below zero left a gap "
                f"in row {rows[np.argmax(bounds < values)]}."
            )
        return outputs | begun, values + np.where(begun, costs[rows], 0.0).sum(axis=1)

    def split(z: np.ndarray, *part: np.ndarray) -> Any:
        begun, spur, closed, passed = part
        rest = (z.astype(bool) & ~begun)[None].astype(np.int8)
        row = trace_paths(table, rest, np.array([spur]), np.array([-1]))[0][0]
        return _pieces(table, row[row >= 0], begun, closed, passed)

    part = begun, spur, closed, passed
    return k_best_pieces(best_within, split, part, np.zeros((n, k, d), np.int8))


def _beyond(
    limits: PathConstraints, begun: np.ndarray, spur: np.ndarray, closed: np.ndarray, passed: Any
) -> PathConstraints:
    """What is asked of the rest of a path, from its spur node on."""
    return replace(
        limits,
        low=limits.low & ~begun,
        high=limits.high & ~closed,
        visited=limits.visited & ~passed,
        open=limits.open & ~passed,
        source=spur,
        target=np.broadcast_to(limits.target, spur.shape),
        longest=limits.longest - begun.sum(axis=1),
    )


def _pieces(
    table: ArcTable, nodes: np.ndarray, begun: np.ndarray, closed: np.ndarray, passed: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Paths that share the first i arcs, and take another one then, for every i."""
    m = len(nodes) - 1
    names = [table.nodes[v] for v in nodes]
    arcs = np.array([table.column_of[pair] for pair in itertools.pairwise(names)], np.int64)
    begun, closed, passed = (np.tile(mask, (m, 1)) for mask in (begun, closed, passed))
    piece, before = np.nonzero(np.tri(m, m, -1, dtype=bool))
    begun[piece, arcs[before]] = True
    passed[piece, nodes[before]] = True
    closed[np.arange(m), arcs] = True
    return begun, nodes[:-1], closed, passed
