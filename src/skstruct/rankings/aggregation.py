# SPDX-License-Identifier: BSD-3-Clause
"""Orders by pivots: each item goes to the side of the pivot that it prefers."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import clone

from skstruct.losses import ZeroOne, pair, resolve_loss
from skstruct.spaces import Rankings, Targets
from skstruct.spaces.rankings.partial import expected_ranks, is_total, tied_behind
from skstruct.spaces.solvers.linear_ordering import packed_bound, pair_matrix, solve_triangles


def kwik_sort(costs: np.ndarray, d: int, n_runs: int, rng: np.random.Generator) -> np.ndarray:
    """KwikSort of Ailon, Charikar and Newman: ``n_runs`` orders from random pivots.

    Parameters
    ----------
    costs : array of shape (d (d - 1) / 2,)
        Cost of p before q, minus that of q before p, for pairs p < q.

    Returns
    -------
    int array of shape (n_runs, d), best item first
    """
    first = (pair_matrix(costs[None], d)[0] < 0).astype(np.float64)
    return _pivot_orders(first, n_runs, rng)


def linear_program_order(
    costs: np.ndarray, d: int, n_runs: int, rng: np.random.Generator
) -> np.ndarray:
    """The same by the triangle program: sides are drawn with the probabilities that it gives."""
    if d < 3:
        return kwik_sort(costs, d, n_runs, rng)
    matrix, _, _ = solve_triangles(pair_matrix(costs[None], d)[0])
    return _pivot_orders(matrix, n_runs, rng)


def _pivot_orders(probability: np.ndarray, n_runs: int, rng: np.random.Generator) -> np.ndarray:
    """``probability[p, q]`` is that of p coming before the pivot q."""
    return np.array([_pivot_order(probability, rng) for _ in range(max(1, n_runs))], dtype=np.int64)


def _pivot_order(probability: np.ndarray, rng: np.random.Generator) -> list[int]:
    order, parts = [], [np.arange(len(probability))]
    while parts:
        part = parts.pop()
        if len(part) <= 1:
            order.extend(part.tolist())
            continue
        pivot = part[rng.integers(len(part))]
        others = part[part != pivot]
        before = rng.random(len(others)) < probability[others, pivot]
        # A stack: what comes first is pushed last.
        parts += [others[~before], np.array([pivot]), others[before]]
    return order


# One ranking for many: optimal under a loss, or by a quick rule, with its certificate.


# Rankings that are tried one by one: a callable is called for all pairs of them.
MOST_LISTED = {True: 10**4, False: 150}
METHODS = ("optimal", "borda", "kwiksort", "lp", "pick")


@dataclass(frozen=True)
class Aggregate:
    """A consensus ranking with its certificate: no ranking costs less than ``bound``."""

    ranking: Any  # in the format in which the rankings were given
    value: float  # sum of the weighted losses
    bound: float
    method: str

    @property
    def gap(self) -> float:
        """How far the ranking may be from the best one; zero is a proof."""
        return self.value - self.bound


def aggregate(
    rankings: Any,
    weights: ArrayLike | None = None,
    loss: Any = "kendall",
    *,
    method: str = "optimal",
    space: Rankings | None = None,
    unlisted: str | None = None,
    restrict: dict[str, Any] | None = None,
    n_runs: int = 20,
    random_state: Any = None,
) -> Aggregate:
    r"""The ranking of least total loss to many.

    .. math:: \hat z \approx \arg\min_z \sum_i w_i\, \ell(z, y_i)

    Parameters
    ----------
    rankings : rank vectors (1 is best), frame or ordered lists of names
        Total or partial: ties, top-k lists and missing items are allowed.
    weights : array of shape (n,), default=None
        Of any sign; ones when None.
    loss : str or loss, default="kendall"
        ``"kendall"`` (Kemeny's rule), ``"footrule"`` (optimal matching), ``"spearman"``
        (Borda's rule), ``"rank"``, or any other loss of rankings. A callable and
        ``"zero_one"`` are tried on all rankings of up to 5 and 7 items; with more, on the
        given ones and without a bound.
    method : str, default="optimal"
        ``"optimal"`` minimizes the loss, exactly or with a gap; ``"borda"`` sorts by mean
        ranks; ``"kwiksort"`` splits at random pivots and ``"lp"`` rounds the triangle
        program at pivots, the best of ``n_runs``; ``"pick"`` takes the best of the
        rankings themselves. For weights of one sign the quick rules are within known
        factors of the best [1]_; with signed weights no factor holds, but the gap does.
    space : Rankings, default=None
        How the rankings are to be read (``scores=True``), or that gaps shall be closed
        (``prove=True``).
    unlisted : "last" or "unknown", default=None
        What lists say of items that they do not name, as of :class:`~skstruct.spaces.Rankings`;
        None for what the space says, ``"last"`` without one.
    restrict : dict, default=None
        Arguments of :meth:`Rankings.restrict`; for the optimal method.
    n_runs : int, default=20
    random_state : int or Generator, default=None

    Returns
    -------
    Aggregate

    References
    ----------
    .. [1] N. Ailon, M. Charikar, A. Newman, "Aggregating inconsistent information:
       ranking and clustering", J. ACM 55(5), 2008.

    Examples
    --------
    >>> votes = [["tea", "milk", "rum"], ["tea", "rum", "milk"], ["rum", "tea", "milk"]]
    >>> answer = aggregate(votes)
    >>> answer.ranking, answer.value, answer.gap
    (['tea', 'rum', 'milk'], 2.0, 0.0)
    >>> aggregate([[1, 2, 3], [3, 1, 2], [2, 3, 1]], weights=[2.0, 1.0, 0.5]).ranking
    array([1, 2, 3])
    """
    if method not in METHODS:
        raise ValueError(f"method is one of {', '.join(METHODS)}; got {method!r}.")
    space = Rankings() if space is None else clone(space)
    if unlisted is not None:
        space.unlisted = unlisted
    space = space.fit(rankings)
    outputs = space.validate(rankings)
    counted = _check_weights(weights, len(outputs))
    space = space.restrict(**restrict) if restrict else space
    if method != "optimal" and not space.constraints_.is_free:
        raise ValueError('Only method="optimal" obeys restrictions.')
    loss = resolve_loss(loss)
    listed = loss.embedding_on(space) == "outputs"
    every = listed and space.size() <= MOST_LISTED[isinstance(loss, ZeroOne)]
    view, loss = pair(loss, space, np.vstack([space.enumerate(), outputs]) if every else outputs)
    costs, offset = _costs(view, loss, counted, outputs)
    if method == "optimal":
        best = view.argmin(costs)
        Z, value, bound = best.outputs, best.values[0] + offset, best.bounds[0] + offset
    else:
        rng = np.random.default_rng(random_state)
        found = _candidates(method, space, outputs, counted, n_runs, rng)
        psi = view.embed(found)
        values = np.asarray(psi @ costs[0]).ravel() + offset
        Z, value = found[[values.argmin()]], values.min()
        bound = min(_lower_bound(view, costs, Z) + offset, value)
    bound = -np.inf if listed and not every else bound  # others may cost less
    restored = space.restore(Z)
    ranking = restored.iloc[0] if hasattr(restored, "iloc") else restored[0]
    return Aggregate(ranking, float(value), float(bound), method)


def _check_weights(weights: ArrayLike | None, n: int) -> np.ndarray:
    counted = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    if counted.shape != (n,) or not np.isfinite(counted).all():
        raise ValueError(f"weights are {n} finite numbers; got shape {counted.shape}.")
    return counted


def _costs(
    view: Rankings, loss: Any, weights: np.ndarray, outputs: np.ndarray
) -> tuple[np.ndarray, float]:
    targets = Targets.of(view).targets(outputs)
    g = weights[None] @ targets
    g = g.toarray() if sparse.issparse(g) else np.asarray(g)
    total = np.array([[weights.sum()]])
    return loss.cost(g, total), float(loss.offset(g, total)[0])


def _candidates(
    method: str,
    space: Rankings,
    outputs: np.ndarray,
    weights: np.ndarray,
    n_runs: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Rankings that a quick rule proposes; shape (m, d)."""
    if method == "borda":
        score = weights @ expected_ranks(outputs)
        return tied_behind(np.argsort(score, kind="stable")[None], None)
    if method == "pick":
        total = outputs[is_total(outputs)]
        if not len(total):
            raise ValueError('method="pick" needs a ranking without ties or gaps.')
        return np.unique(total, axis=0)
    # The cost of p before q: weight of the rankings that put q first.
    view, loss = pair(resolve_loss("kendall"), space, outputs)
    costs, _ = _costs(view, loss, weights, outputs)
    rule = kwik_sort if method == "kwiksort" else linear_program_order
    return tied_behind(rule(costs[0], outputs.shape[1], n_runs, rng), None)


def _lower_bound(view: Rankings, costs: np.ndarray, Z: np.ndarray) -> float:
    """What no ranking goes below: of pairs by packed cycles, else the optimum itself."""
    if view.embedding not in ("pairs", "pair shares", "rating differences", "rating shares"):
        return float(view.argmin(costs).bounds[0])
    return packed_bound(costs[0, : math.comb(Z.shape[1], 2)], np.argsort(Z[0]))
