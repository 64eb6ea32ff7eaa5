# SPDX-License-Identifier: BSD-3-Clause
r"""Annealed estimates of ln Z, with the number of draws that a guarantee takes.

Between the uniform law and p lie the laws :math:`\pi_\beta \propto \exp \beta f`. With
:math:`\beta_j = j / l` the ratios of neighbouring partition functions are means of
:math:`\exp(f / l)` under :math:`\pi_{\beta_{j-1}}`, and

.. math:: Z = |\mathcal Y| \prod_{j=1}^l \mathbf E_{\beta_{j-1}} e^{f / l}.

f is centred so that :math:`|f| \le h`, half its range by the bounds of the decoder. With
:math:`l = \lceil p h \rceil` levels and :math:`S = \lceil 65\, l \sinh^2(1/p) / \epsilon^2 \rceil`
independent draws at each, :math:`\Pr[|\hat Z / Z - 1| \le \epsilon] \ge 3/4`; the median of k
estimates makes the chance :math:`1 - \delta`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from skstruct._arrays.checks import is_count, is_number
from skstruct._arrays.progress import track
from skstruct.sampling.chains import Chains, check_samplable
from skstruct.sampling.values import value_range

MOST_CHAINS = 200_000  # chains that run at a time


@dataclass(frozen=True)
class Schedule:
    """How one row is annealed: levels, draws at each, and repetitions for the median."""

    n_levels: int
    n_draws: int
    n_repeats: int

    @classmethod
    def of(cls, half_range: float, eps: float, delta: float, p: float, n_draws=None):
        n_levels = math.ceil(p * half_range)
        if n_draws is None:
            n_draws = math.ceil(65 * n_levels * math.sinh(1 / p) ** 2 / eps**2)
        return cls(n_levels, max(int(n_draws), 1), repeats_for(delta))


def repeats_for(delta: float) -> int:
    """The least odd k such that half of k estimates fail with chance delta at most.

    Each fails with chance 1/4 at most, independently: a binomial tail.

    >>> repeats_for(0.25), repeats_for(0.05), repeats_for(0.001)
    (1, 9, 33)
    """
    k = 1
    while binom.sf((k - 1) // 2, k, 0.25) > delta:
        k += 2
    return k


def check_accuracy(eps, delta) -> None:
    """Raise where there is no such promise."""
    if not (is_number(eps) and 0 < eps <= 1):
        raise ValueError(f"eps is above 0 and at most 1; {eps!r} came.")
    if not (is_number(delta) and 0 < delta < 1):
        raise ValueError(f"delta is above 0 and below 1; {delta!r} came.")


def annealed_estimate(
    space, scores, *, eps=0.1, delta=0.25, p=3.0, n_draws=None, n_sweeps=5, moves="auto",
    rng=None, n_jobs=None, verbose=0,
):  # fmt: skip
    """ln Z of every row, and the standard error of each by the spread of the draws.

    Parameters
    ----------
    space : fitted space, samplable and with ``log_size``
    scores : array (n, d)
    eps, delta : float
        The promise, which holds for independent draws: chains give these as far as they mix
        within ``n_sweeps`` sweeps of each level.
    p : float
        Levels per unit of half the range of f.
    n_draws : int, default=None
        Draws at each level; as many as the promise takes when None.
    n_sweeps : int
    moves : see :class:`~.metropolis.Metropolis`
    """
    check_accuracy(eps, delta)
    if not (is_number(p) and p >= 1):
        raise ValueError(f"p is a number from 1; {p!r} came.")
    for name, value in (("n_draws", n_draws), ("n_sweeps", n_sweeps)):
        if not is_count(value) and not (name == "n_draws" and value is None):
            raise ValueError(f"{name} is a whole number from 1; {value!r} came.")
    check_samplable(space)
    rng = np.random.default_rng(rng)
    low, high = value_range(space, scores)
    values, errors = np.empty(len(scores)), np.zeros(len(scores))
    log_size = space.log_size()
    for i in track(range(len(scores)), "annealing", verbose):
        schedule = Schedule.of((high[i] - low[i]) / 2, eps, delta, p, n_draws)
        shared = {"n_sweeps": n_sweeps, "moves": moves, "n_jobs": n_jobs}
        middle = (high[i] + low[i]) / 2
        ratio, errors[i] = _annealed(space, scores[i : i + 1], middle, schedule, rng, **shared)
        values[i] = log_size + middle + ratio
    return values, errors


def _annealed(space, scores, middle, schedule: Schedule, rng, *, n_sweeps, moves, n_jobs):
    """ln of mean exp(f - middle) over all outputs, by the median of repeats; standard error."""
    L, S, k = schedule.n_levels, schedule.n_draws, schedule.n_repeats
    if L == 0:  # all outputs have the same score
        return 0.0, 0.0
    sums, squares = np.zeros((k, L)), np.zeros((k, L))
    for first in range(0, k * S, MOST_CHAINS):
        repeat = np.arange(first, min(first + MOST_CHAINS, k * S)) // S
        chains = Chains(
            space, scores, np.zeros(len(repeat), np.int64), beta=0.0, moves=moves, rng=rng,
            n_jobs=n_jobs,
        )  # fmt: skip
        for j in range(L):
            if j:
                chains.beta[:] = j / L
                chains.advance(n_sweeps)
            g = np.exp((chains.values() - middle) / L)
            sums[:, j] += np.bincount(repeat, g, minlength=k)
            squares[:, j] += np.bincount(repeat, g**2, minlength=k)
    means = sums / S
    logs = np.log(means).sum(axis=1)
    spread = (squares / S - means**2).clip(min=0) / (S * means**2)
    # Of one estimate; the median of k is closer by about sqrt(pi / (2 k)).
    error = math.sqrt(spread.sum(axis=1).mean())
    return float(np.median(logs)), error * (1.0 if k == 1 else math.sqrt(math.pi / (2 * k)))
