# SPDX-License-Identifier: BSD-3-Clause
"""Exact draws from uniform ones, by rejection."""

from __future__ import annotations

import warnings

import numpy as np

from skstruct._arrays.checks import is_count
from skstruct.exceptions import SamplingError
from skstruct.sampling.chains import check_samplable
from skstruct.sampling.values import value_range, values_of
from skstruct.spaces.listed_laws import check_scores

BLOCK = 4096  # uniform draws at a time


def rejection_sample(space, scores, n: int = 1, rng=None, *, bound=None, max_trials=10**7):
    r"""Exact, independent draws of :math:`p(y) \propto \exp \langle u, \psi(y) \rangle`.

    A uniform draw z is accepted with chance :math:`e^{f(z) - f_{ub}}`, where
    :math:`f_{ub} \ge \max f` is the bound of the decoder. One draw takes
    :math:`|\mathcal Y| e^{f_{ub}} / Z` trials on average [1]_: few where the law is broad.

    Parameters
    ----------
    space : fitted space, samplable
    scores : array u of shape (n_rows, d), or (d,) for one law
    n : int, default=1
        Draws of every row.
    rng : int or Generator, default=None
    bound : float or array (n_rows,), default=None
        An upper bound of the scores of all outputs; the decoder's when None.
    max_trials : int, default=10**7
        Trials of a row before giving up with a :class:`~skstruct.exceptions.SamplingError`.

    Returns
    -------
    outputs : array of shape (n_rows, n, ...) or (n, ...), in canonical form
        Fewer draws, with a warning, where the user interrupts.

    References
    ----------
    .. [1] S. Vembu, "Learning to predict combinatorial structures", PhD thesis, Bonn, 2010,
       section 6.6.2; coupling from the past on the meta chain makes the same test.

    Examples
    --------
    >>> from skstruct.spaces import SpanningTrees
    >>> trees = rejection_sample(SpanningTrees(["a", "b", "c"]), [0.0, 1.0, 1.0], 2000, rng=0)
    >>> trees.mean(axis=0).round(1)  # edges a-b, a-c, b-c
    array([0.4, 0.8, 0.8])
    """
    single = np.ndim(scores) == 1
    scores = check_scores(scores, space)
    for name, value in (("n", n), ("max_trials", max_trials)):
        if not is_count(value):
            raise ValueError(f"{name} is a whole number from 1; {value!r} came.")
    if not len(scores):
        raise ValueError("scores have no rows.")
    check_samplable(space.rows([0]))
    rng = np.random.default_rng(rng)
    bound = value_range(space, scores)[1] if bound is None else bound
    bound = np.asarray(bound, dtype=np.float64)
    if bound.shape not in ((), (len(scores),)) or not np.isfinite(bound).all():
        raise ValueError(f"bound is finite, one number or one for every row; {bound} came.")
    bound = np.broadcast_to(bound, len(scores))
    rows = []
    for i in range(len(scores)):
        own = space.rows([i])  # limits may differ from row to row
        drawn, finished = _of_row(own, scores[i : i + 1], n, bound[i], rng, max_trials)
        if not finished and (i or len(scores) > 1 or not len(drawn)):
            raise KeyboardInterrupt
        rows.append(drawn)
    return rows[0] if single else np.stack(rows)


def _of_row(space, scores, n, bound, rng, max_trials):
    """Accepted draws of one row, and whether these are as many as were asked for."""
    kept, n_kept, trials = [], 0, 0
    try:
        while n_kept < n:
            if trials >= max_trials:
                raise SamplingError(
                    f"{type(space).__name__}: {n_kept} of {n} draws were accepted in "
                    f"{trials:,} trials; the law is too far from uniform for rejection. Use "
                    "coupling_from_the_past or Metropolis, or raise max_trials."
                )
            size = min(BLOCK, max_trials - trials)
            proposed = np.asarray(space.sample(size, rng))
            values = values_of(space, proposed, scores, np.zeros(size, np.int64))
            if values.max() > bound + 1e-9 * (1 + abs(bound)):
                raise ValueError(
                    f"bound = {bound:.6g} is below the score {values.max():.6g} of an output."
                )
            accepted = proposed[rng.random(size) < np.exp(values - bound)]
            kept.append(accepted)
            n_kept, trials = n_kept + len(accepted), trials + size
    except KeyboardInterrupt:
        drawn = np.concatenate(kept) if kept else np.zeros((0,))
        warnings.warn(f"Interrupted after {len(drawn)} of {n} draws.", stacklevel=3)
        return drawn[:n], False
    return np.concatenate(kept)[:n], True
