# SPDX-License-Identifier: BSD-3-Clause
"""Annealed partition functions: Theorem 6.5 of Vembu (2010), its promise and its cost.

Part of papers/sampling.py. The estimate is within a factor 1 +- eps of Z with probability 3/4. The
thesis takes S = 65 l e^{2/p} / eps^2 draws at each of l = p ceil(R ||u||) levels; "here" are
S = 65 l sinh^2(1/p) / eps^2 draws, and l = ceil(p h) levels with h half the range of f. "no
promise" are as many chains, and levels that follow them.

Draws are ends of Metropolis chains, of 5 sweeps at each level, drawn anew by their weights before
they walk; the promise is for independent ones. Whether short chains do is shown too, above all for
a distribution of two modes that are far apart.
"""

from __future__ import annotations

import math
import time

import numpy as np
from sampling_cases import cases, two_modes
from scipy.special import logsumexp

from skstruct.sampling import log_partition
from skstruct.sampling.annealed_estimates import Schedule, repeats_for
from skstruct.sampling.chains import value_range

LEVELS_PER_UNIT = 3.0  # p of the thesis, which asks for 3 at least
MOST_DRAWS = 10**6  # of an estimate with the thesis' S that is run, not only counted


def partition(quick):
    """Theorem 6.5: how often annealed estimates keep their promise, and what they cost."""
    print("\nTheorem 6.5: annealed estimates, promised to be within eps with probability 0.75")
    print(f"   {'space':22s} {'eps':>4s} {'':13s} {'levels':>6s} {'S':>9s} {'draws':>11s}"
          f" {'runs':>4s} {'within eps':>10s} {'3/4 within':>10s} {'seconds':>8s}")  # fmt: skip
    for case in cases((0.5,)):
        for eps in (0.5, 0.2) if quick else (0.5, 0.2, 0.1, 0.05):
            partition_rows(case, eps, 10 if quick else 100)
    for eps in (0.5,) if quick else (0.5, 0.2):
        partition_rows(two_modes(), eps, 5 if quick else 20, n_sweeps=(5, 100))
    by_sweeps(quick)
    by_median(quick)


def plan_of(case, eps):
    low, high = value_range(case.space, case.scores)
    return Schedule.of((high[0] - low[0]) / 2, eps, 0.25, LEVELS_PER_UNIT)


def partition_rows(case, eps, n, n_sweeps=(5,)):
    """With this library's promise, by levels that follow the draws, and as the thesis has it."""
    plan, p = plan_of(case, eps), LEVELS_PER_UNIT
    sizes = plan.n_levels, plan.n_draws
    for sweeps in n_sweeps:
        runs, note = (n, "") if sweeps == n_sweeps[0] else (n // 5, f", {sweeps}")
        shared = {"n": runs, "n_sweeps": sweeps}
        partition_row(case, eps, "here" + note, *sizes, **shared)
        partition_row(case, eps, "no promise" + note, None, plan.n_draws, **shared)
    # With this factor, S of this library is that of the thesis.
    stricter = eps * math.sinh(1 / p) / math.exp(1 / p)
    affordable = plan_of(case, stricter).total <= MOST_DRAWS
    sizes = plan.n_levels, old_draws(plan.n_levels, eps)
    partition_row(case, eps, "thesis' S", *sizes, n=n // 10 * affordable, asked=stricter)
    levels = int(p) * math.ceil(case.BR)
    partition_row(case, eps, "thesis", levels, old_draws(levels, eps))


def old_draws(levels, eps):
    return math.ceil(65 * levels * math.exp(2 / LEVELS_PER_UNIT) / eps**2)


def partition_row(case, eps, title, levels, S, n=0, asked=None, **options):
    """``asked`` is eps of the estimates, where they are judged by another."""
    total = "" if levels is None else f"{levels * S:,d}"
    line = f"   {case.name:22s} {eps:4.2f} {title:15s} {levels or '':>4} {S:9,d} {total:>11s}"
    if n:
        promised = {"eps": asked or eps} if levels is not None else {"n_draws": S}
        errors, seconds = estimates(case, range(n), **promised, **options)
        line += (f" {n:4d} {np.mean(errors <= eps):10.2f} {np.quantile(errors, 0.75):10.4f}"
                 f" {seconds:8.3f}")  # fmt: skip
    print(line, flush=True)


def estimates(case, seeds, signed=False, **options):
    """|Zhat / Z - 1| of an estimate for each seed, and seconds of one."""
    exact = logsumexp(case.f)
    started = time.perf_counter()
    found = [
        log_partition(case.space, case.scores, method="annealed", rng=seed, **options)[0]
        for seed in seeds
    ]
    seconds = (time.perf_counter() - started) / len(seeds)
    errors = np.expm1(np.array(found) - exact)
    return (errors if signed else np.abs(errors)), seconds


def by_sweeps(quick):
    """What is left of a level's distribution in the draws of the next, where chains are short."""
    n, eps = (5, 0.5) if quick else (20, 0.1)
    print(f"\nMean of Zhat / Z - 1 by sweeps of the chains at each level, eps {eps}, {n} each")
    for case in cases((0.5,)):
        line = f"   {case.name:22s}"
        for sweeps in (1, 2, 5, 20):
            found, _ = estimates(case, range(n), eps=eps, n_sweeps=sweeps, signed=True)
            error = found.std(ddof=1) / math.sqrt(n)
            line += f"   {sweeps:2d}: {found.mean():+.4f} +- {error:.4f}"
        print(line, flush=True)


def by_median(quick):
    """Medians of estimates that are within some eps with probability 3/4, and no more than that."""
    n, case = 50 if quick else 1000, next(iter(cases((0.5,))))
    others, _ = estimates(case, range(n, 2 * n), eps=1.0)
    eps = np.quantile(others, 0.75)
    print(f"\nMedians of estimates of which 3/4 are within eps = {eps:.3f}, {n} each")
    print(f"   {'space':22s} {'delta':>5s} {'estimates':>9s} {'within eps':>10s}   {'promise':>7s}")
    for delta in (0.25, 0.05, 0.01):
        errors, _ = estimates(case, range(n), eps=1.0, delta=delta)
        print(f"   {case.name:22s} {delta:5.2f} {repeats_for(delta):9d}"
              f" {np.mean(errors <= eps):10.3f}   {1 - delta:7.2f}", flush=True)  # fmt: skip
