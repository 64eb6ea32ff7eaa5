# SPDX-License-Identifier: BSD-3-Clause
r"""How fast a chain of few outputs mixes, exactly and by two arguments that bound it.

Canonical paths: a family with a path :math:`\gamma_{uv}` of moves from every output u to every v
has the congestion

.. math:: \rho = \max_e \frac{1}{Q(e)} \sum_{\gamma_{uv} \ni e} p(u)\, p(v)\, |\gamma_{uv}|, \qquad
          Q(u, v) = p(u) P(u, v),

over moves e in either direction, and the second eigenvalue of a chain that stays with probability
1/2 or more is at most :math:`1 - 1 / \rho`. The same holds where what goes from u to v is spread
over several paths. Path coupling: where two chains at neighbours can be moved together so that
their distance is at most :math:`\beta < 1` on average, :math:`\ln(D / \epsilon) / (1 - \beta)`
steps are enough, D being the largest distance.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from skstruct._arrays.checks import is_number
from skstruct.sampling.small_chains import (
    MOST_OUTPUTS,
    SmallChain,
    lazy,
    mixing_time,
    second_eigenvalue,
)
from skstruct.solvers.proposals import Proposals
from skstruct.tolerances import CANCELED, SOLVER_FEASIBILITY

NO_PATH = -1  # what stands where nothing comes before


@dataclass(frozen=True)
class MixingBounds:
    """What :func:`mixing_bounds` found, in single steps of the chain.

    Attributes
    ----------
    n_outputs : int
    eps : float
        Total variation at which a chain counts as mixed.
    lazy : bool
        Whether numbers are of the chain that stays with probability 1/2 before every step.
    mixing_time : int
        The first step at which the distance is at most eps, from the worst start; exact.
    second_eigenvalue : float
        Exact; ``1 - second_eigenvalue`` is the spectral gap.
    congestion : float
        Of the family of paths.
    diameter : int
        Moves between the two outputs that are farthest apart.
    contraction : float
        The factor of path coupling under the best coupling; NaN where it was not asked for.
    by_eigenvalue, by_paths, by_coupling : float
        Steps that are enough by the eigenvalue, by the congestion and by path coupling, never fewer
        than ``mixing_time``; infinite where an argument says nothing.
    """

    n_outputs: int
    eps: float
    lazy: bool
    mixing_time: int
    second_eigenvalue: float
    congestion: float
    diameter: int
    contraction: float
    by_eigenvalue: float
    by_paths: float
    by_coupling: float

    def __str__(self) -> str:
        bounds = {
            "second eigenvalue": (f"{self.second_eigenvalue:.4f}", self.by_eigenvalue),
            "canonical paths": (f"congestion {self.congestion:.4g}", self.by_paths),
            "path coupling": (f"factor {self.contraction:.4f}", self.by_coupling),
        }
        stays = ", lazy" if self.lazy else ""
        lines = [
            f"{self.n_outputs} outputs{stays}: within {self.eps:g} after {self.mixing_time:,} steps"
        ]
        lines += [
            f"  by {name}: {math.ceil(steps):,} ({value})"
            if math.isfinite(steps)
            else f"  by {name}: nothing ({value})"
            for name, (value, steps) in bounds.items()
            if name != "path coupling" or not math.isnan(self.contraction)  # not asked for
        ]
        return "\n".join(lines)


def mixing_bounds(
    space: Any,
    scores: Any,
    *,
    proposals: str | Proposals | np.ndarray = "auto",
    beta: float = 1.0,
    eps: float = 0.01,
    paths: str | np.ndarray = "auto",
    coupling: bool = True,
    lazy: bool | None = None,
    max_outputs: int = MOST_OUTPUTS,
) -> MixingBounds:
    r"""The mixing time of a small chain, exactly, by canonical paths and by path coupling.

    A diagnostic for small cases of a model: which argument would have told how long chains of
    :class:`~.metropolis.Metropolis` must run, and by how much it is too careful.

    Parameters
    ----------
    space : fitted space whose outputs can be listed
    scores : array u of shape (d,) or (1, d)
    proposals : "auto", "local", "meta", Proposals, or symmetric array (n, n), default="auto"
        As in :class:`~.metropolis.Metropolis`; or the probabilities with which steps propose the
        outputs that ``space.enumerate()`` lists.
    beta : float, default=1.0
        Scores are multiplied by it.
    eps : float, default=0.01
    paths : "auto", "shortest", "probable", "in_order" or int array (n, n), default="auto"
        Canonical paths: those of the fewest moves, evenly over all of them; those whose moves have
        the least sum of 1 / Q, through probable outputs; by changing the columns of outputs one
        after the other from the first to the last (bit fixing), where these are moves; or
        ``paths[u, v]``, the output that comes before v on the path from u, -1 for u = v. ``"auto"``
        is the less congested of the first two.
    coupling : bool, default=True
        Whether to find the factor of path coupling, by a small linear program for every move.
    lazy : bool, default=None
        Whether the chain stays with probability 1/2 before every step. The bound by paths is for
        chains that stay with at least that probability [1]_: None makes the chain lazy if it does
        not.
    max_outputs : int, default=2000

    Returns
    -------
    MixingBounds

    References
    ----------
    .. [1] A. Sinclair, "Improved bounds for mixing rates of Markov chains and multicommodity flow",
       Combinatorics, Probability and Computing 1, 1992; Theorem 6.7 of S. Vembu, "Learning to
       predict combinatorial structures", PhD thesis, Bonn, 2010. Path coupling: R. Bubley and M.
       Dyer, "Path coupling: a technique for proving rapid mixing in Markov chains", 1997; Lemma 6.9
       of the thesis.

    Examples
    --------
    >>> from skstruct.spaces import LabelSets
    >>> print(mixing_bounds(LabelSets(range(4)), [0.5, 0.5, 0.5, 0.5]))
    16 outputs, lazy: within 0.01 after 27 steps
      by second eigenvalue: 53 (0.8393)
      by canonical paths: 152 (congestion 17.85)
      by path coupling: 38 (factor 0.8393)
    """
    if not (is_number(eps) and 0 < eps < 1):
        raise ValueError(f"eps is above 0 and below 1; got {eps!r}.")
    chain = SmallChain.of(space, scores, proposals, beta, max_outputs)
    P, p = chain.P, chain.p
    stays = bool((P.diagonal() >= 0.5).all())
    idle = not stays if lazy is None else bool(lazy)
    P = _lazy(P) if idle else P
    moves = (P > 0) & ~np.eye(len(P), dtype=bool)
    steps = moves_between(moves)
    if not np.isfinite(steps).all():
        raise ValueError(
            f"{type(space).__name__}: these moves do not lead from every output to every other."
        )
    rho = _congestion_of(chain.outputs, P, p, moves, steps, paths)
    rarest = -math.log(eps) - (math.log(p.min()) if p.min() > 0 else -math.inf)
    eigenvalue = second_eigenvalue(P)
    factor = coupling_factor(P, steps) if coupling else math.nan
    diameter = int(steps.max(initial=0))
    return MixingBounds(
        n_outputs=len(p), eps=float(eps), lazy=idle, mixing_time=mixing_time(P, p, eps),
        second_eigenvalue=eigenvalue, congestion=rho, diameter=diameter, contraction=factor,
        by_eigenvalue=rarest / (1 - eigenvalue) if eigenvalue < 1 else math.inf,
        by_paths=rho * rarest if stays or idle else math.inf,
        by_coupling=math.log(max(diameter, 1) / eps) / (1 - factor)
        if factor < 1 - CANCELED else math.inf,
    )  # fmt: skip


_lazy = lazy  # the parameter of the same name hides it


def _congestion_of(
    outputs: np.ndarray, P: np.ndarray, p: np.ndarray, moves: np.ndarray, steps: np.ndarray,
    paths: str | np.ndarray,
) -> float:  # fmt: skip
    if (moves & (p[:, None] * P < np.finfo(np.float64).tiny)).any():  # below all numbers
        return math.inf
    found = []
    if isinstance(paths, str) and paths in ("auto", "shortest"):
        found.append(spread_congestion(P, p, moves, steps))
    if isinstance(paths, str) and paths in ("auto", "probable"):
        Q = np.where(moves, p[:, None] * P, np.inf)
        _, before = shortest_path(csr_array(1.0 / Q), return_predecessors=True)
        found.append(congestion(P, p, before))
    if not found:
        found.append(congestion(P, p, path_predecessors(outputs, moves, paths)))
    return min(found)


def moves_between(moves: np.ndarray) -> np.ndarray:
    """The fewest moves between any two outputs, infinite where none lead there; shape (n, n)."""
    found: np.ndarray = shortest_path(csr_array(moves.astype(float)), unweighted=True)
    return found


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
