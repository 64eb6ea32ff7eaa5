# SPDX-License-Identifier: BSD-3-Clause
"""Spaces of 0/1 vectors whose distributions respect an order, written as such."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from skstruct._arrays.checks import is_count
from skstruct._arrays.progress import track
from skstruct.exceptions import SamplingError
from skstruct.sampling.chains import value_range, values_of
from skstruct.sampling.ordered_draws import OrderedDistributions, coupled
from skstruct.spaces import Hierarchy, LabelSets, PairwiseLabels, Samplable
from skstruct.spaces.common.listing import check_scores, check_width
from skstruct.spaces.constraints import check_feasible, check_n_rows, differs_by_row
from skstruct.spaces.solvers.proposals import new_streams

ORDERED = (LabelSets, Hierarchy, PairwiseLabels)


@dataclass(frozen=True, eq=False)
class Turned:
    """Distributions in an order in which some labels count as in when they are out."""

    distributions: OrderedDistributions
    turned: np.ndarray  # bool, shape (n_rows, d)
    wrong: np.ndarray  # int64, shape (n_rows,): a pair that fits no order; -1 for none


def why_unordered(space: Any) -> str:
    """Why draws of this space know no order that a heat bath respects; empty when they do."""
    name = type(space).__name__
    if not isinstance(space, ORDERED):
        return f"{name} is none of {', '.join(kind.__name__ for kind in ORDERED)}"
    constraints = space.constraints_
    if constraints.is_sized or constraints.groups or constraints.one_path:
        return f"constraints of {name} on sizes, groups or paths leave no order: {constraints!r}"
    return ""


def ordered_distributions(space: Any, scores: np.ndarray) -> Turned:
    r"""The distributions :math:`\exp \langle u, \psi \rangle` of a space that is not unordered.

    Pairs of labels are attractive where their score is at least zero. Where scores of pairs
    are negative, labels are put on two sides, if that can be, so that pairs of negative score
    are of different sides and pairs of positive score of the same; with
    :math:`x_i = 1 - y_i` on one side, :math:`w y_i y_j = w x_j - w x_i x_j`, all are attractive.
    That can always be on forests, and on bipartite graphs with no positive pair.
    """
    name, dag, constraints = type(space).__name__, space.dag_, space.constraints_
    edges = getattr(space, "edges_", np.empty((0, 2), np.int64))
    d, n = len(space.labels_), len(scores)
    check_n_rows(constraints, n, name)
    check_width(scores, d + len(edges), space)
    low, high = (np.broadcast_to(mask, (n, d)) for mask in space._close_masks(constraints))
    check_feasible(np.all(low <= high, axis=1), space)
    node, pair = scores[:, :d], scores[:, d:]
    turned, wrong = _turned(pair, edges, d)
    if turned.any():
        node, pair = _turn(node, pair, edges, turned)
        low, high = np.where(turned, ~high, low), np.where(turned, ~low, high)
    distributions = OrderedDistributions(
        node, pair, edges, low, high, dag.parents, dag.children, dag.order
    )
    return Turned(distributions, turned, wrong)


def _turned(pair: np.ndarray, edges: np.ndarray, d: int) -> Any:
    """Labels to turn, and a pair that fits no order, of every row."""
    if not (pair < 0).any():
        return np.zeros((len(pair), d), bool), np.full(len(pair), -1)
    from skstruct.spaces.solvers._numba_markov_chains import sides

    return sides(np.ascontiguousarray(pair), edges, d)


def _turn(
    node: np.ndarray, pair: np.ndarray, edges: np.ndarray, turned: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of labels and of pairs for x = 1 - y where labels are turned."""
    (i, j), d = edges.T, node.shape[1]
    sign = np.where(turned, -1.0, 1.0)
    at_i, at_j = (
        sparse.csr_array((np.ones(len(end)), (np.arange(len(end)), end)), shape=(len(end), d))
        for end in (i, j)
    )
    taken = (pair * turned[:, i]) @ at_j + (pair * turned[:, j]) @ at_i
    return sign * (node + taken), pair * sign[:, i] * sign[:, j]


# Coupling from the past on the meta chain, whose proposals are drawn uniformly.


AT_ONCE = 2**16  # proposals
IN_MEMORY = 2**24  # steps of unfinished draws that are remembered at a time


@dataclass(eq=False)
class _Past:
    """What is known of the steps 1, 2, ... back from now, of draws that are not finished."""

    slots: np.ndarray  # shape (a,): which draws
    values: np.ndarray  # shape (a, t): the score of every proposal
    reach: np.ndarray  # shape (a, t): it is accepted from all outputs of a lower score

    def part(self, chosen: Any) -> _Past:
        return _Past(self.slots[chosen], self.values[chosen], self.reach[chosen])

    def extended(self, values: np.ndarray, reach: np.ndarray) -> _Past:
        return _Past(
            self.slots, np.hstack([self.values, values]), np.hstack([self.reach, reach])
        )  # fmt: skip


class MetaCoupling:
    r"""Exact draws from uniform proposals.

    A proposal z is accepted from the output y where :math:`f(y) < f(z) - \ln U =: r`. All
    chains are at z, wherever they were, when :math:`r \ge f_{ub} \ge \max f`: the test of
    rejection sampling. The first such step is looked for back from now, and the steps after it
    are taken again by the rule of Metropolis.

    Parameters
    ----------
    space : fitted space, samplable
    scores : array of shape (n_rows, d)
    rows : int array
        The rows to draw for.
    n_steps : int
        No draw looks back farther than this.
    """

    def __init__(self, space: Any, scores: np.ndarray, rows: np.ndarray, n_steps: int) -> None:
        self.space, self.rows = space.rows(rows), rows
        self.differ = differs_by_row(space)
        self.scores = np.ascontiguousarray(scores[rows])
        self.bound = value_range(self.space, self.scores)[1]
        self.n_steps = n_steps

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Outputs (rows, n, ...) and steps back to where all chains met, (rows, n)."""
        m = len(self.rows) * n
        ended, times = np.empty(m, np.int64), np.empty(m, np.int64)
        kept: list[tuple[np.ndarray, np.ndarray]] = []  # (keys, outputs)
        nothing = np.empty((m, 0))
        waiting = [_Past(np.arange(m), nothing, nothing)]
        while waiting:
            past = self._look_back(waiting.pop(), n, rng, kept)
            met = past.reach >= self.bound[past.slots // n, None]
            done = met.any(axis=1)
            self._finish(past.part(done), met[done].argmax(axis=1), ended, times)
            past = past.part(~done)
            half = len(past.slots) // 2
            if half and past.values.size > IN_MEMORY:
                waiting += [past.part(slice(half, None)), past.part(slice(half))]
            elif len(past.slots):
                waiting.append(past)
        keys, outputs = (np.concatenate(parts) for parts in zip(*kept))
        order = np.argsort(keys)
        found = order[np.searchsorted(keys[order], self._key(np.arange(m), ended))]
        return outputs[found].reshape(-1, n, *outputs.shape[1:]), times.reshape(-1, n)

    def _key(self, slots: np.ndarray, when: np.ndarray) -> Any:
        return slots * self.n_steps + when

    def _look_back(
        self,
        past: _Past,
        n: int,
        rng: np.random.Generator,
        kept: list[tuple[np.ndarray, np.ndarray]],
    ) -> _Past:
        """Twice as far as before, or less where many draws wait."""
        a, t = past.values.shape
        if t >= self.n_steps:
            raise SamplingError(
                f"Coupling from the past: in row {self.rows[past.slots[0] // n]} no proposal of "
                f"the last {t:,} steps was accepted from everywhere; the distribution is too far "
                "from uniform. Give more max_doublings, or use "
                "Inference.of(space).distribution(scores).sample where the distribution is known, "
                "Metropolis or ParallelTempering."
            )
        length = max(1, min(max(t, 1), AT_ONCE // a, self.n_steps - t))
        row = np.repeat(past.slots // n, length)
        proposed = self._proposals(row, rng)
        values = values_of(self.space, proposed, self.scores, row).reshape(a, length)
        reach = values + rng.standard_exponential((a, length))
        # A proposal that a later one is accepted from is not where the chain is now.
        latest = past.reach.max(axis=1, initial=-np.inf)
        later = np.maximum.accumulate(np.column_stack([latest, reach[:, :-1]]), axis=1)
        possible = values >= later
        slot, step = np.nonzero(possible)
        kept.append((self._key(past.slots[slot], t + step), proposed[possible.ravel()]))
        return past.extended(values, reach)

    def _proposals(self, row: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Outputs drawn uniformly, one for each entry of ``row``, which is sorted."""
        if not self.differ:
            return np.asarray(self.space.sample(len(row), rng))
        found, count = np.unique(row, return_counts=True)
        drawn = [self.space.rows([i]).sample(int(k), rng) for i, k in zip(found, count)]
        return np.concatenate([np.asarray(part) for part in drawn])

    def _finish(self, past: _Past, first: np.ndarray, ended: np.ndarray, times: np.ndarray) -> None:
        from skstruct.spaces.solvers._numba_markov_chains import replayed

        times[past.slots] = first + 1
        for a, slot in enumerate(past.slots):
            ended[slot] = replayed(past.values[a], past.reach[a], first[a])


# Exact draws by coupling from the past.


METHODS = ("auto", "monotone", "meta")
TOGETHER = 2048  # draws of all rows that are finished before the next are begun


@dataclass(frozen=True, eq=False)
class Coalescence:
    """How far draws had to look into the past.

    Attributes
    ----------
    times : int64 array of shape (n_rows, n), or (n,) for a single row of scores
        Sweeps over all labels where ``monotone``, a power of two; else steps of the meta chain.
    monotone : bool array of shape (n_rows,), or a bool
    """

    times: np.ndarray
    monotone: np.ndarray


def coupling_from_the_past(
    space: Any,
    scores: ArrayLike,
    n: int = 1,
    rng: int | np.random.Generator | None = None,
    *,
    method: Literal["auto", "monotone", "meta"] = "auto",
    max_doublings: int = 20,
    return_info: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Any:
    r"""Exact and independent draws of :math:`p(y) \propto \exp \langle u, \psi(y) \rangle`.

    A chain that began infinitely long ago has its distribution now. Where it is now is known once
    all chains that began at some time in the past, with the same random numbers, have met [1]_.

    - ``"monotone"``: labels are drawn anew given all others, which keeps the order of label
      sets: chains between the empty and the full set meet when these two do. For
      :class:`~skstruct.spaces.LabelSets`, :class:`~skstruct.spaces.Hierarchy` with any graph,
      and :class:`~skstruct.spaces.PairwiseLabels` with scores of pairs of at least zero, or
      such that turning some labels from in to out makes them so.
    - ``"meta"``: proposals are drawn uniformly [2]_. All chains meet at a step whose proposal z
      is accepted from the best output, which happens with probability
      :math:`e^{f(z) - f_{max}}` as in rejection sampling:
      :math:`E T = |\mathcal Y| e^{f_{max}} / Z` steps. For every space with a uniform sampler.

    Parameters
    ----------
    space : fitted space
        Constraints may differ from row to row.
    scores : array u of shape (n_rows, d) or (d,)
    n : int, default=1
        Draws of every row.
    rng : int or Generator, default=None
    method : "auto", "monotone" or "meta", default="auto"
        "auto" is "monotone" in rows where that is possible.
    max_doublings : int, default=20
        No draw looks back farther than 2 to this power; a SamplingError says where that is not
        enough. Leaving out such draws would not leave draws of the distribution.
    return_info : bool, default=False
        Whether to return also how far draws had to look back.
    n_jobs : int, default=None
        Threads of "monotone"; draws do not depend on them.
    verbose : int, default=0
        Progress on stderr.

    Returns
    -------
    outputs : array of shape (n_rows, n, ...), or (n, ...) for scores of shape (d,)
        In canonical form. Interrupted from the keyboard, the first draws of all rows, so many
        as are finished, with a warning.
    info : :class:`Coalescence`, if ``return_info``

    References
    ----------
    .. [1] J. Propp and D. Wilson, "Exact sampling with coupled Markov chains and applications
       to statistical mechanics", Random Structures & Algorithms 9, 1996.
    .. [2] S. Vembu, "Learning to predict combinatorial structures", PhD thesis, Bonn, 2010,
       section 6.6; the expected time is smaller than printed there.

    Examples
    --------
    >>> from skstruct.spaces import Hierarchy, Inference
    >>> space = Hierarchy([("animal", "cat"), ("animal", "dog")])
    >>> drawn = coupling_from_the_past(space, [0.5, 1.0, -1.0], n=20_000, rng=0)
    >>> exact = Inference.of(space).distribution([0.5, 1.0, -1.0])
    >>> drawn.mean(axis=0).round(1), exact.marginals().round(1)
    (array([0.9, 0.7, 0.2]), array([[0.9, 0.7, 0.2]]))
    """
    single = np.ndim(scores) == 1
    scores = check_scores(scores, space)
    _check_arguments(n, method, max_doublings)
    if not len(scores):
        raise ValueError("scores have no rows.")
    rng = np.random.default_rng(rng)
    ways = _ways(space, scores, method, int(max_doublings), n_jobs)
    monotone = np.zeros(len(scores), bool)
    monotone[[i for rows, way in ways if isinstance(way, _Monotone) for i in rows]] = True
    per = max(1, TOGETHER // max(len(scores), 1))
    blocks = [min(per, n - start) for start in range(0, n, per)]
    drawn, times = [], []
    try:
        for size in track(blocks, "draws", verbose):
            one, time = _one_block(ways, len(scores), size, rng)
            drawn.append(one)
            times.append(time)
    except KeyboardInterrupt:
        drawn = drawn[: len(times)]
        if not drawn:
            raise
        kept = sum(time.shape[1] for time in times)
        warnings.warn(f"Interrupted after {kept} of {n} draws; these are returned.", stacklevel=2)
    outputs, when = np.concatenate(drawn, axis=1), np.concatenate(times, axis=1)
    info = Coalescence(when[0], monotone[0]) if single else Coalescence(when, monotone)
    outputs = outputs[0] if single else outputs
    return (outputs, info) if return_info else outputs


def _check_arguments(n: int, method: str, max_doublings: int) -> None:
    if not is_count(n):
        raise ValueError(f"n is a whole number from 1; got {n!r}.")
    if method not in METHODS:
        raise ValueError(f"method is one of {', '.join(METHODS)}; got {method!r}.")
    if not (is_count(max_doublings) and max_doublings <= 60):
        raise ValueError(f"max_doublings is a whole number from 1 to 60; got {max_doublings!r}.")


def _ways(
    space: Any, scores: np.ndarray, method: str, max_doublings: int, n_jobs: int | None
) -> list[Any]:
    """Rows and what draws for them: (rows, way) pairs."""
    why = "" if method == "meta" else why_unordered(space)
    if method == "monotone" and why:
        raise ValueError(f"method='monotone' needs an order: {why}. Use method='meta', which "
                         "needs a uniform sampler, or Metropolis.")  # fmt: skip
    every = np.arange(len(scores))
    if why or method == "meta":
        return [(every, _meta(space, scores, every, max_doublings))]
    ordered = ordered_distributions(space, scores)
    bad = np.flatnonzero(ordered.wrong >= 0)
    if len(bad) and method == "monotone":
        _refuse(space, scores, int(bad[0]), int(ordered.wrong[bad[0]]))
    good = np.flatnonzero(ordered.wrong < 0)
    ways: list[Any] = [(good, _Monotone(ordered, good, max_doublings, n_jobs))] if len(good) else []
    return [*ways, (bad, _meta(space, scores, bad, max_doublings))] if len(bad) else ways


def _refuse(space: PairwiseLabels, scores: np.ndarray, row: int, edge: int) -> NoReturn:
    i, j = space.edges_[edge]
    score = scores[row, len(space.labels_) + edge]
    raise ValueError(
        f"method='monotone' needs attractive pairs: in row {row} the pair "
        f"{(space.labels_[i], space.labels_[j])!r} has the score {score:.6g}, below zero, and no "
        "turning of labels from in to out makes all pairs attractive. Use method='meta' or "
        "Metropolis."
    )


def _one_block(
    ways: list[Any], n_rows: int, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """``n`` draws of every row and how far each looked back."""
    outputs: Any = None
    times = np.empty((n_rows, n), np.int64)
    for rows, way in ways:
        drawn, times[rows] = way.draw(n, rng)
        if outputs is None:
            outputs = np.empty((n_rows, *drawn.shape[1:]), drawn.dtype)
        outputs[rows] = drawn
    return outputs, times


class _Monotone:
    """Draws for rows of scores that respect an order."""

    def __init__(
        self, ordered: Turned, rows: np.ndarray, max_doublings: int, n_jobs: int | None
    ) -> None:
        self.ordered, self.rows = ordered, rows
        self.max_doublings, self.n_jobs = max_doublings, n_jobs

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        row = np.repeat(self.rows, n)
        seeds = new_streams(len(row), rng)
        states, sweeps = coupled(
            self.ordered.distributions, row, seeds, self.max_doublings, self.n_jobs
        )
        if not sweeps.all():
            raise SamplingError(
                f"Coupling from the past: in row {row[sweeps.argmin()]} the top and the bottom "
                f"have not met {2**self.max_doublings} sweeps later, in {(sweeps == 0).sum()} of "
                f"{len(row)} draws. Give more max_doublings, or use "
                "Inference.of(space).distribution(scores).sample where the distribution is known, "
                "or ParallelTempering."
            )
        drawn = (states ^ self.ordered.turned[row]).astype(np.int8)
        return drawn.reshape(len(self.rows), n, -1), sweeps.reshape(-1, n)


def _meta(space: Any, scores: np.ndarray, rows: np.ndarray, max_doublings: int) -> MetaCoupling:
    """Draws by the meta chain, for some rows."""
    if not isinstance(space, Samplable):
        raise ValueError(
            f"{type(space).__name__} is not Samplable: it has no sample(n, rng) that draws "
            "outputs uniformly, which the meta chain proposes. Where "
            "Inference.of(space).distribution(scores) is not None it draws exactly; Metropolis "
            "with local moves and a start draws roughly."
        )
    return MetaCoupling(space, scores, rows, 2**max_doublings)
