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
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from skstruct._arrays.checks import is_number
from skstruct.sampling.canonical_paths import (
    congestion,
    coupling_factor,
    moves_between,
    path_predecessors,
    spread_congestion,
)
from skstruct.sampling.small_chains import (
    MOST_OUTPUTS,
    SmallChain,
    mixing_time,
    second_eigenvalue,
)
from skstruct.sampling.small_chains import lazy as made_lazy
from skstruct.spaces.solvers.proposals import Proposals
from skstruct.tolerances import CANCELED


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
    P = made_lazy(P) if idle else P
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
        by_eigenvalue=_whole(rarest / (1 - eigenvalue) if eigenvalue < 1 else math.inf),
        by_paths=_whole(rho * rarest if stays or idle else math.inf),
        by_coupling=_whole(math.log(max(diameter, 1) / eps) / (1 - factor)
                           if factor < 1 - CANCELED else math.inf),
    )  # fmt: skip


def _whole(steps: float) -> float:
    """Steps are counted; infinitely many stay so."""
    return float(math.ceil(steps)) if math.isfinite(steps) else steps


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
