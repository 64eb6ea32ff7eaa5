# SPDX-License-Identifier: BSD-3-Clause
r"""Annealed estimates of ln Z, with the number of draws that a guarantee takes.

Between the uniform distribution and p lie the distributions :math:`\pi_\beta \propto \exp \beta
f`. Ratios of neighbouring partition functions are means of :math:`\exp((\beta_j - \beta_{j-1})
f)` under :math:`\pi_{\beta_{j-1}}`, and

.. math:: Z = |\mathcal Y| \prod_{j=1}^l \mathbf E_{\beta_{j-1}} e^{(\beta_j - \beta_{j-1}) f}.

f is centred so that :math:`|f| \le h`, half its range by the bounds of the decoder. With
:math:`\beta_j = j / l`, :math:`l = \lceil p h \rceil` levels and
:math:`S = \lceil 65\, l \sinh^2(1/p) / \epsilon^2 \rceil` independent draws at each,
:math:`\Pr[|\hat Z / Z - 1| \le \epsilon] \ge 3/4`; the median of k estimates makes the
probability :math:`1 - \delta`. This takes of the order of :math:`h^2 / \epsilon^2` draws. Where
nothing is promised, chains are annealed together (:mod:`~.populations`).
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp
from scipy.stats import binom

from skstruct._arrays.checks import is_count, is_number
from skstruct._arrays.progress import track
from skstruct.exceptions import SamplingError
from skstruct.sampling.chains import (
    check_samplable,
    mean_of,
    uniform_draws,
    value_range,
    values_of,
)
from skstruct.sampling.exact_levels import MOST_TRIALS, ExactLevels
from skstruct.sampling.populations import BATCHES, Population, draws_of_a_batch
from skstruct.spaces.solvers.proposals import Proposals

MOST_CHAINS = 200_000  # chains that run at a time
MOST_DRAWS = 10**9  # that a promise may take


@dataclass(frozen=True)
class Schedule:
    """How one row is annealed with a promise: levels, draws at each, repeats for the median."""

    n_levels: int
    n_draws: int
    n_repeats: int

    @classmethod
    def of(cls, half_range: float, eps: float, delta: float, p: float) -> "Schedule":
        n_levels = math.ceil(p * half_range)
        n_draws = max(math.ceil(65 * n_levels * math.sinh(1 / p) ** 2 / eps**2), 2 * BATCHES)
        schedule = cls(n_levels, n_draws, repeats_for(delta))
        if schedule.total > MOST_DRAWS:
            raise SamplingError(
                f"Scores range over {2 * half_range:.3g}: the promise for eps = {eps:g} and delta "
                f"= {delta:g} takes {schedule.total:.1g} draws. Give n_draws for an estimate with "
                "a standard error instead, or a larger eps."
            )
        return schedule

    @property
    def total(self) -> float:
        """All draws."""
        return float(self.n_levels) * self.n_draws * self.n_repeats


def repeats_for(delta: float) -> int:
    """The least odd k such that half of k estimates fail with probability delta at most.

    Each fails with probability 1/4 at most, independently: a binomial tail.

    >>> repeats_for(0.25), repeats_for(0.05), repeats_for(0.001)
    (1, 9, 33)
    """
    k = 1
    while binom.sf((k - 1) // 2, k, 0.25) > delta:
        k += 2
    return k


def check_accuracy(eps: float, delta: float) -> None:
    """Raise where there is no such promise."""
    if not (is_number(eps) and 0 < eps <= 1):
        raise ValueError(f"eps is above 0 and at most 1; got {eps!r}.")
    if not (is_number(delta) and 0 < delta < 1):
        raise ValueError(f"delta is above 0 and below 1; got {delta!r}.")


DRAWS = ("chains", "exact", "auto")


class Annealed(NamedTuple):
    """Estimates of ln Z, their standard errors, and what was drawn, row by row."""

    values: np.ndarray
    errors: np.ndarray
    draws: np.ndarray  # "chains", "exact", "mixed", or "none" where nothing was drawn


def annealed_estimate(
    space: Any,
    scores: np.ndarray,
    *,
    eps: float = 0.1,
    delta: float = 0.25,
    p: float = 3.0,
    n_draws: int | None = None,
    n_sweeps: int = 10,
    proposals: str | Proposals = "auto",
    draws: str = "chains",
    max_trials: int = MOST_TRIALS,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Annealed:
    """ln Z of every row, and the standard error of each by the spread of the draws.

    Parameters
    ----------
    space : fitted space, samplable and with ``log_size``
    scores : array (n, d)
    eps, delta : float
        The promise, which holds for independent draws: chains give these as far as they mix
        within ``n_sweeps`` sweeps of each level, ``draws="exact"`` without any such proviso.
    p : float
        Levels per unit of half the range of f.
    n_draws : int, default=None
        Chains that are annealed together, with no promise; None for the promise.
    n_sweeps : int
    proposals : see :class:`~.metropolis.Metropolis`
    draws : "chains", "exact" or "auto", default="chains"
        Draws of a level by chains; by rejection or coupling from the past, or a
        :class:`~skstruct.exceptions.SamplingError` where that takes too many trials; or exact
        ones up to that level and chains from there on. Only for the promise.
    max_trials : int
        Uniform draws of a row, for all levels together, that exact draws may take.
    """
    _check_options(eps, delta, p, n_draws, n_sweeps)
    _check_draws(draws, max_trials, n_draws)
    check_samplable(space)
    if not hasattr(space, "log_size"):
        raise ValueError(f"{type(space).__name__} is not Countable: it has no log_size().")
    values, errors = np.empty(len(scores)), np.zeros(len(scores))
    drawn = np.full(len(scores), "chains", dtype="<U6")
    shared: dict[str, Any] = {
        "proposals": proposals,
        "rng": np.random.default_rng(rng),
        "n_jobs": n_jobs,
    }
    if n_draws is not None:
        per = max(1, MOST_CHAINS // int(n_draws))
        for start in track(range(0, len(scores), per), "annealing", verbose):
            rows = slice(start, start + per)
            population = Population(space, scores[rows], int(n_draws), **shared)
            population.anneal(n_sweeps)
            values[rows], errors[rows] = population.log_ratio, population.errors
        return Annealed(values + space.log_size(), _known(errors, space, scores), drawn)
    low, high = value_range(space, scores)
    for i in track(range(len(scores)), "annealing", verbose):
        schedule = Schedule.of((high[i] - low[i]) / 2, eps, delta, p)
        values[i], errors[i], drawn[i] = _promised(
            space, scores[i : i + 1], schedule, n_sweeps, draws, max_trials, **shared
        )
    return Annealed(values + space.log_size(), errors, drawn)


def _known(errors: np.ndarray, space: Any, scores: np.ndarray) -> np.ndarray:
    """Errors, NaN where all chains have seen one score though there are others."""
    none = np.flatnonzero(errors == 0)
    if len(none):
        low, high = value_range(space, scores[none])
        errors[none[high > low]] = np.nan
    return errors


def _check_options(eps: float, delta: float, p: float, n_draws: int | None, n_sweeps: int) -> None:
    check_accuracy(eps, delta)
    if not (is_number(p) and p >= 1):
        raise ValueError(f"p is a number from 1; got {p!r}.")
    if not is_count(n_sweeps):
        raise ValueError(f"n_sweeps is a whole number from 1; got {n_sweeps!r}.")
    if n_draws is not None and not is_count(n_draws):
        raise ValueError(f"n_draws is a whole number from 1, or None; got {n_draws!r}.")


def _check_draws(draws: str, max_trials: int, n_draws: int | None) -> None:
    if draws not in DRAWS:
        raise ValueError(f"draws is one of {', '.join(DRAWS)}; got {draws!r}.")
    if draws != "chains" and n_draws is not None:
        raise ValueError(
            f"draws={draws!r} is for the promise of eps and delta; n_draws = {n_draws} chains that "
            "are annealed together promise nothing: leave one of the two out."
        )
    if not is_count(max_trials):
        raise ValueError(f"max_trials is a whole number from 1; got {max_trials!r}.")


def _promised(
    space: Any,
    scores: np.ndarray,
    schedule: Schedule,
    n_sweeps: int,
    draws: str,
    max_trials: int,
    **shared: Any,
) -> tuple[float, float, str]:
    """ln of mean exp f over all outputs, by the median of repeats; standard error; what was drawn.

    Chains that mix at every level are independent draws there, whether they were drawn anew by
    their weights or not; those that do not are so kept from lagging behind.
    """
    if schedule.n_levels == 0:  # all outputs have the same score
        return float(scores[0] @ _some_psi(space)), 0.0, "none"
    estimates, errors, kinds = [], [], set()
    exact = None
    if draws != "chains":
        exact = ExactLevels(space, scores, max_trials, shared["rng"])
    for _ in range(schedule.n_repeats):
        levels: list[np.ndarray] = []
        start = None
        if exact is not None:
            levels, start = _exact_levels(exact, schedule)
            if exact.refused and draws == "exact":
                raise SamplingError(
                    f"{type(space).__name__}: {exact.refused} Use draws='auto', where chains take "
                    "the levels from there on, a larger eps, or raise max_trials."
                )
        if len(levels) < schedule.n_levels:
            population = Population(space, scores, schedule.n_draws, start=start, **shared)
            population.anneal_evenly(schedule.n_levels, n_sweeps, len(levels))
            kinds.update(["exact", "chains"] if levels else ["chains"])
            levels += [level[0] for level in population.levels]
        else:
            kinds.add("exact")
        log_means = np.array(levels)  # (levels, batches)
        estimates.append((logsumexp(log_means, axis=1) - np.log(BATCHES)).sum())
        errors.append(log_means.sum(axis=0).std(ddof=1) / math.sqrt(BATCHES))
    # Of one estimate; the median of k is closer by about sqrt(pi / (2 k)).
    k = schedule.n_repeats
    closer = 1.0 if k == 1 else math.sqrt(math.pi / (2 * k))
    error = closer * math.sqrt(np.mean(np.square(errors)))
    return float(np.median(estimates)), error, kinds.pop() if len(kinds) == 1 else "mixed"


def _exact_levels(
    exact: ExactLevels, schedule: Schedule
) -> tuple[list[np.ndarray], np.ndarray | None]:
    """ln of the mean weights of batches, level by level, and the draws of the last of them.

    Fewer than all levels where exact draws are refused from one on; no level takes a draw of
    another, so that their means are independent.
    """
    each = draws_of_a_batch(schedule.n_draws)
    levels: list[np.ndarray] = []
    outputs, log_ratio = None, 0.0
    for level in range(schedule.n_levels):
        drawn = exact.draw(level / schedule.n_levels, BATCHES * each, log_ratio)
        if drawn is None:
            break
        outputs = drawn
        row = np.zeros(len(outputs), np.int64)
        f = values_of(exact.space, outputs, exact.scores, row) / schedule.n_levels
        levels.append(logsumexp(f.reshape(BATCHES, each), axis=1) - np.log(each))
        log_ratio += float(logsumexp(levels[-1]) - np.log(BATCHES))
    return levels, outputs


def _some_psi(space: Any) -> np.ndarray:
    """The embedding of some output; shape (d,)."""
    return mean_of(space.embed, uniform_draws(space, 1, np.random.default_rng(0)))
