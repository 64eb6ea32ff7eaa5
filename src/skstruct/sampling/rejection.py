# SPDX-License-Identifier: BSD-3-Clause
"""Exact draws from uniform ones, by rejection."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skstruct._arrays.checks import is_count
from skstruct.exceptions import SamplingError
from skstruct.sampling.chains import check_samplable, value_range, values_of
from skstruct.sampling.metropolis import warn_interrupted
from skstruct.spaces import Uniform
from skstruct.spaces.common.listing import check_scores
from skstruct.tolerances import STATED_BOUND

BLOCK = 4096  # uniform draws at a time


def rejection_sample(
    space: Any,
    scores: ArrayLike,
    n: int = 1,
    rng: int | np.random.Generator | None = None,
    *,
    bound: ArrayLike | None = None,
    max_trials: int = 10**7,
) -> np.ndarray:
    r"""Exact, independent draws of :math:`p(y) \propto \exp \langle u, \psi(y) \rangle`.

    A uniform draw z is accepted with probability :math:`e^{f(z) - f_{ub}}`, where
    :math:`f_{ub} \ge \max f` is the bound of the decoder. One draw takes
    :math:`|\mathcal Y| e^{f_{ub}} / Z` trials on average [1]_: few where the distribution is broad.

    Parameters
    ----------
    space : fitted space, samplable
    scores : array u of shape (n_rows, d), or (d,) for one distribution
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
        Interrupted from the keyboard, those that all rows have, with a warning.

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
            raise ValueError(f"{name} is a whole number from 1; got {value!r}.")
    if not len(scores):
        raise ValueError("scores have no rows.")
    check_samplable(space.rows([0]))
    rng = np.random.default_rng(rng)
    bound = value_range(space, scores)[1] if bound is None else bound
    bound = np.asarray(bound, dtype=np.float64)
    if bound.shape not in ((), (len(scores),)) or not np.isfinite(bound).all():
        raise ValueError(f"bound is finite, one number or one for every row; got {bound}.")
    bound = np.broadcast_to(bound, len(scores))
    kept = [Accepted(space.rows([i]), scores[i : i + 1], bound[i]) for i in range(len(scores))]
    try:
        while any(
            row.n_kept < n for row in kept
        ):  # in turn, so that an interrupt keeps some of all
            for row in kept:
                if row.n_kept < n:
                    row.draw(rng, n, max_trials)
    except KeyboardInterrupt:
        done = min(row.n_kept for row in kept)
        if not done:
            raise
        warn_interrupted(done, n)
        n = done
    drawn = np.stack([np.concatenate(row.outputs)[:n] for row in kept])
    return drawn[0] if single else drawn


class Accepted:
    """Uniform draws of one row that passed the test, and how many were tried."""

    def __init__(self, space: Any, scores: np.ndarray, bound: float) -> None:
        self.space, self.scores, self.bound = space, scores, bound
        self.outputs: list[np.ndarray] = []
        self.n_kept = self.n_trials = 0

    def draw(self, rng: np.random.Generator, n: int, max_trials: int) -> None:
        """Try a block of uniform draws."""
        if self.n_trials >= max_trials:
            raise SamplingError(
                f"{type(self.space).__name__}: {self.n_kept} of {n} draws were accepted in "
                f"{self.n_trials:,} trials; the distribution is too far from uniform for "
                "rejection. Use coupling_from_the_past or Metropolis, or raise max_trials."
            )
        size = min(BLOCK, max_trials - self.n_trials)
        proposed = np.asarray(Uniform.of(self.space).sample(size, rng))
        values = values_of(self.space, proposed, self.scores, np.zeros(size, np.int64))
        if values.max() > self.bound + STATED_BOUND * (1 + abs(self.bound)):
            raise ValueError(
                f"bound = {self.bound:.6g} is below the score {values.max():.6g} of an output."
            )
        self.outputs.append(proposed[rng.random(size) < np.exp(values - self.bound)])
        self.n_kept += len(self.outputs[-1])
        self.n_trials += size
