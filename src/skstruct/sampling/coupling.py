# SPDX-License-Identifier: BSD-3-Clause
"""Exact draws by coupling from the past."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from skstruct._arrays.checks import is_count
from skstruct._arrays.progress import track
from skstruct.exceptions import SamplingError
from skstruct.sampling.ordered import ordered_laws, why_unordered
from skstruct.spaces.base import Samplable
from skstruct.spaces.listed_laws import check_scores
from skstruct.walking.coupling import coupled
from skstruct.walking.streams import new_streams

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
    space, scores, n=1, rng=None, *, method="auto", max_doublings=20, return_info=False,
    n_jobs=None, verbose=0,
):  # fmt: skip
    r"""Exact and independent draws of :math:`p(y) \propto \exp \langle u, \psi(y) \rangle`.

    A chain that began infinitely long ago has its law now. Where it is now can be told once
    all chains that began at some time in the past, with the same random numbers, have met [1]_.

    - ``"monotone"``: labels are drawn anew given all others, which keeps the order of label
      sets: chains between the empty and the full set meet when these two do. For
      :class:`~skstruct.spaces.LabelSets`, :class:`~skstruct.spaces.Hierarchy` with any graph,
      and :class:`~skstruct.spaces.PairwiseLabels` with scores of pairs of at least zero, or
      such that turning some labels from in to out makes them so.
    - ``"meta"``: proposals are drawn uniformly [2]_. All chains meet at a step whose proposal z
      is accepted from the best output, which happens with chance
      :math:`e^{f(z) - f_{max}}` as in rejection sampling:
      :math:`E T = |\mathcal Y| e^{f_{max}} / Z` steps. For every space with a uniform sampler.

    Parameters
    ----------
    space : fitted space
        Limits may differ from row to row.
    scores : array u of shape (n_rows, d) or (d,)
    n : int, default=1
        Draws of every row.
    rng : int or Generator, default=None
    method : "auto", "monotone" or "meta", default="auto"
        "auto" is "monotone" in rows where that is possible.
    max_doublings : int, default=20
        No draw looks back farther than 2 to this power; a SamplingError says where that is not
        enough. Leaving out such draws would not leave draws of the law.
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
    >>> from skstruct.spaces import Hierarchy
    >>> space = Hierarchy([("animal", "cat"), ("animal", "dog")])
    >>> drawn = coupling_from_the_past(space, [0.5, 1.0, -1.0], n=20_000, rng=0)
    >>> drawn.mean(axis=0).round(1), space.law([0.5, 1.0, -1.0]).marginals().round(1)
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


def _check_arguments(n, method, max_doublings):
    if not is_count(n):
        raise ValueError(f"n is a whole number from 1; got {n!r}.")
    if method not in METHODS:
        raise ValueError(f"method is one of {', '.join(METHODS)}; got {method!r}.")
    if not (is_count(max_doublings) and max_doublings <= 60):
        raise ValueError(f"max_doublings is a whole number from 1 to 60; got {max_doublings!r}.")


def _ways(space, scores, method, max_doublings, n_jobs) -> list:
    """Rows and what draws for them: (rows, way) pairs."""
    why = "" if method == "meta" else why_unordered(space)
    if method == "monotone" and why:
        raise ValueError(f"method='monotone' needs an order: {why}. Use method='meta', which "
                         "needs a uniform sampler, or Metropolis.")  # fmt: skip
    every = np.arange(len(scores))
    if why or method == "meta":
        return [(every, _meta(space, scores, every, max_doublings))]
    ordered = ordered_laws(space, scores)
    bad = np.flatnonzero(ordered.wrong >= 0)
    if len(bad) and method == "monotone":
        _refuse(space, scores, int(bad[0]), int(ordered.wrong[bad[0]]))
    good = np.flatnonzero(ordered.wrong < 0)
    ways: list = [(good, _Monotone(ordered, good, max_doublings, n_jobs))] if len(good) else []
    return [*ways, (bad, _meta(space, scores, bad, max_doublings))] if len(bad) else ways


def _refuse(space, scores, row: int, edge: int):
    i, j = space.edges_[edge]
    score = scores[row, len(space.labels_) + edge]
    raise ValueError(
        f"method='monotone' needs attractive pairs: in row {row} the pair "
        f"{(space.labels_[i], space.labels_[j])!r} has the score {score:.6g}, below zero, and no "
        "turning of labels from in to out makes all pairs attractive. Use method='meta' or "
        "Metropolis."
    )


def _one_block(ways, n_rows, n, rng):
    """``n`` draws of every row and how far each looked back."""
    outputs, times = None, np.empty((n_rows, n), np.int64)
    for rows, way in ways:
        drawn, times[rows] = way.draw(n, rng)
        if outputs is None:
            outputs = np.empty((n_rows, *drawn.shape[1:]), drawn.dtype)
        outputs[rows] = drawn
    return outputs, times


class _Monotone:
    """Draws for rows of scores that respect an order."""

    def __init__(self, ordered, rows, max_doublings, n_jobs):
        self.ordered, self.rows = ordered, rows
        self.max_doublings, self.n_jobs = max_doublings, n_jobs

    def draw(self, n, rng):
        row = np.repeat(self.rows, n)
        seeds = new_streams(len(row), rng)
        states, sweeps = coupled(self.ordered.laws, row, seeds, self.max_doublings, self.n_jobs)
        if not sweeps.all():
            raise SamplingError(
                f"Coupling from the past: in row {row[sweeps.argmin()]} the top and the bottom "
                f"have not met {2**self.max_doublings} sweeps later, in {(sweeps == 0).sum()} of "
                f"{len(row)} draws. Give more max_doublings, or use space.law(scores).sample "
                "where the law is known, or ParallelTempering."
            )
        drawn = (states ^ self.ordered.turned[row]).astype(np.int8)
        return drawn.reshape(len(self.rows), n, -1), sweeps.reshape(-1, n)


def _meta(space, scores, rows, max_doublings):
    """Draws by the meta chain, for some rows."""
    from skstruct.sampling.meta_coupling import MetaCoupling

    if not isinstance(space, Samplable):
        raise ValueError(
            f"{type(space).__name__} is not Samplable: it has no sample(n, rng) that draws "
            "outputs uniformly, which the meta chain proposes. Where space.law(scores) is not "
            "None it draws exactly; Metropolis with local moves and a start draws roughly."
        )
    return MetaCoupling(space, scores, rows, 2**max_doublings)
