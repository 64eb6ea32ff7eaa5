# SPDX-License-Identifier: BSD-3-Clause
"""Congestion of canonical paths among few outputs, and the factor of path coupling.

A family of paths is an array ``before`` of shape (n, n): what comes before v on the path from u, so
that the paths from u form a tree; or the shortest paths, all of them alike.
"""

from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from skstruct.tolerances import SOLVER_FEASIBILITY

NO_PATH = -1  # what stands where nothing comes before


def moves_between(moves: np.ndarray) -> np.ndarray:
    """The fewest moves between any two outputs, infinite where none lead there; shape (n, n)."""
    return shortest_path(csr_array(moves.astype(float)), unweighted=True)


def path_predecessors(
    outputs: np.ndarray, moves: np.ndarray, paths: str | np.ndarray
) -> np.ndarray:
    """``before[u, v]``: what comes before v on the path from u; -1 for u = v."""
    n = len(moves)
    if isinstance(paths, str) and paths != "in_order":
        raise ValueError(
            f'paths is "auto", "shortest", "probable", "in_order" or an array; got {paths!r}.'
        )
    before = _in_order(outputs) if isinstance(paths, str) else np.asarray(paths)
    diagonal = np.eye(n, dtype=bool)
    shaped = before.shape == (n, n) and before.dtype.kind in "iu"
    if not shaped or not ((before >= 0) & (before < n) | diagonal).all():
        raise ValueError(
            f"paths is an array of whole numbers from 0 to {n - 1} of shape {(n, n)}, the output "
            f"before v on the path from u; got shape {before.shape} and type {before.dtype}."
        )
    before = np.where(diagonal, NO_PATH, before).astype(np.int64)
    u, v = np.nonzero(~diagonal & ~moves[before, np.arange(n)])
    if len(u):
        raise ValueError(
            f"The path from output {u[0]} to output {v[0]} ends with a step from "
            f"{before[u[0], v[0]]}, which is no move of the chain."
        )
    return before


def _in_order(outputs: np.ndarray) -> np.ndarray:
    """Columns are changed from the first to the last; what is no output stands as n."""
    outputs = np.asarray(outputs)
    if outputs.ndim != 2:
        raise ValueError('paths="in_order" changes columns of outputs, which have none here.')
    number = {tuple(row): i for i, row in enumerate(outputs.tolist())}
    n = len(outputs)
    before = np.full((n, n), n, np.int64)
    for u, start in enumerate(outputs.tolist()):
        for v, row in enumerate(outputs.tolist()):
            changed = [j for j, (a, b) in enumerate(zip(start, row)) if a != b]
            if changed:
                row[changed[-1]] = start[changed[-1]]
                before[u, v] = number.get(tuple(row), n)
    if (before == n).sum() > n:
        raise ValueError(
            'paths="in_order": changing the columns of some output one after the other leads '
            'through what is no output; use paths="shortest".'
        )
    return before


def congestion(P: np.ndarray, p: np.ndarray, before: np.ndarray) -> float:
    """rho of the paths that ``before`` describes.

    What a move into v carries, on paths from u, are the paths to v and those that go on from v: the
    sums over the subtrees of the tree of all paths from u, from the longest to the shortest.
    """
    n = len(p)
    load = np.zeros((n, n))
    for u in range(n):
        length = _lengths(before[u], u)
        carried = p[u] * p * length
        for v in np.argsort(-length, kind="stable")[: n - 1]:
            w = before[u, v]
            load[w, v] += carried[v]
            carried[w] += carried[v]
    return _largest_share(load, P, p)


def spread_congestion(P: np.ndarray, p: np.ndarray, moves: np.ndarray, steps: np.ndarray) -> float:
    """rho where p(u) p(v) is spread evenly over all shortest paths from u to v.

    Of s(v) such paths from u, s(w) come to v by way of its neighbour w that is one move nearer.
    """
    n = len(p)
    load = np.zeros((n, n))
    for u in range(n):
        levels = [np.flatnonzero(steps[u] == k) for k in range(int(steps[u].max()) + 1)]
        ways = np.zeros(n)
        ways[u] = 1.0
        shares = []
        for near, far in pairwise(levels):
            came = ways[near, None] * moves[np.ix_(near, far)]
            ways[far] = came.sum(axis=0)
            shares.append(came / ways[far])
        carried = p[u] * p * steps[u]
        for near, far, share in zip(levels[-2::-1], levels[:0:-1], shares[::-1]):
            flow = share * carried[far]
            load[np.ix_(near, far)] += flow
            carried[near] += flow.sum(axis=1)
    return _largest_share(load, P, p)


def _largest_share(load: np.ndarray, P: np.ndarray, p: np.ndarray) -> float:
    Q = p[:, None] * P
    used = load > 0
    return float((load[used] / Q[used]).max(initial=0.0))


def _lengths(before: np.ndarray, u: int) -> np.ndarray:
    """Moves from u to every output along its paths; shape (n,)."""
    n = len(before)
    length = np.zeros(n)
    at = np.arange(n)
    for _ in range(n):
        going = at != u
        if not going.any():
            return length
        length[going] += 1
        at[going] = before[at[going]]
    raise ValueError(f"Some path from output {u} goes round in a circle and does not begin there.")


def coupling_factor(P: np.ndarray, steps: np.ndarray) -> float:
    """The largest mean distance of two chains that were one move apart, under the best coupling."""
    first, second = np.nonzero(np.triu(steps == 1))
    worst = 0.0
    for u, v in zip(first, second):
        worst = max(worst, _transport(P[u] - P[v], steps))
    return worst


def _transport(difference: np.ndarray, steps: np.ndarray) -> float:
    """The least moves that turn one distribution into another; their common part stays."""
    source, target = np.flatnonzero(difference > 0), np.flatnonzero(difference < 0)
    supply, demand = difference[source], -difference[target]
    cost = steps[np.ix_(source, target)]
    if not cost.size:
        return 0.0
    if cost.min() == cost.max():  # one distance: all ways are alike
        return float(cost[0, 0] * supply.sum())
    from scipy.optimize import linprog
    from scipy.sparse import kron, vstack

    a, b = cost.shape
    rows = kron(np.eye(a), np.ones((1, b)))
    columns = kron(np.ones((1, a)), np.eye(b))
    # Sums differ by rounding: what is to be brought is scaled to what there is.
    demand = demand * (supply.sum() / demand.sum())
    found = linprog(
        cost.ravel(), A_eq=vstack([rows, columns]).tocsr()[:-1],
        b_eq=np.concatenate([supply, demand])[:-1], method="highs",
        options={
            "primal_feasibility_tolerance": SOLVER_FEASIBILITY,
            "dual_feasibility_tolerance": SOLVER_FEASIBILITY,
        },
    )  # fmt: skip
    if not found.success:
        raise RuntimeError(f"The linear program of a coupling was not solved: {found.message}")
    return float(found.fun)
