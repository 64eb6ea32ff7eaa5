# SPDX-License-Identifier: BSD-3-Clause
"""Sampling and partition functions: the theorems of Vembu (2010), chapter 6, measured.

"Learning to predict combinatorial structures". The thesis proves bounds and has no experiment in
this chapter; here its claims stand beside what is measured. p(y) ~ exp f(y), f = <u, psi(y)>; rows
of scores u are drawn from a normal law of the scale that is printed. B of the theorems is ||u|| and
R is max ||psi||, which is the best that can be said with these letters.

coalescence  Theorem 6.11: E T <= e^{2BR} steps until all chains of META have met, when coupled from
             the past. They meet at a step whose proposal a rejection sampler would accept, so that
             E T = |Y| e^{fmax} / Z. Draws are tested against the exact law by chi-square.
mixing       Theorems 6.12 and C.2 (papers/sampling_mixing.py).
partition    Theorem 6.5: the annealed estimate is within a factor 1 +- eps of Z with chance 3/4.
             It takes S = 65 l e^{2/p} / eps^2 draws at each of l = p ceil(R ||u||) levels;
             here S = 65 l sinh^2(1/p) / eps^2 and l = ceil(p h), h half the range of f. Draws are
             ends of Metropolis chains, of 5 sweeps at each level; that this is not enough where a
             law has two modes that are far apart is shown by the last lines. "no promise": as many
             chains, and levels that follow them.
quick        Section 6.4: ln Z from counts. "printed" is the thesis' |Y| + Psi'u + u'Cu, which lacks
             a half, "Taylor" has it, "cumulant" is |Y| exp(mean f + var f / 2) of the same numbers.
             The thesis asks for |f| <= 1, so rows are scaled to a largest |f|.

Usage: python papers/sampling.py [section ...] [--quick]
All sections when none is named. ``--quick``: fewer draws, repetitions and sizes.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sampling_mixing import mixing
from scipy.special import logsumexp
from scipy.stats import chisquare

from skstruct.sampling import coupling_from_the_past, log_partition
from skstruct.sampling.annealing import Schedule, repeats_for
from skstruct.sampling.quick import moments_of_scores
from skstruct.sampling.values import value_range
from skstruct.spaces import Hierarchy, LabelSets, PairwiseLabels, Rankings, SpanningTrees

LEVELS_PER_UNIT = 3.0  # p of the thesis, which asks for 3 at least
MOST_DRAWS = 10**6  # of an estimate with the thesis' S that is run, not only counted


# ------------------------------------------------------------------ what is measured on
@dataclass(frozen=True, eq=False)
class Case:
    """A space small enough to list, and a row of scores."""

    name: str
    space: Any
    scale: float
    scores: np.ndarray  # (1, d)

    @cached_property
    def outputs(self):
        return np.asarray(list(self.space.enumerate()))

    @cached_property
    def psi(self):
        psi = self.space.embed(self.outputs)
        return psi.toarray() if hasattr(psi, "toarray") else np.asarray(psi)

    @cached_property
    def f(self):
        return self.psi @ self.scores[0]

    @property
    def BR(self):
        return np.linalg.norm(self.scores) * np.linalg.norm(self.psi, axis=1).max()

    @property
    def expected_trials(self):
        """|Y| e^{fmax} / Z."""
        return len(self.f) * math.exp(self.f.max() - logsumexp(self.f))


def small_spaces():
    return {
        "8 labels": LabelSets(range(8)),
        "5 items ranked, pairs": Rankings(range(5), "pairs"),
        "12 labels in a tree": Hierarchy(random_tree(12), range(12)),
    }


def random_tree(n):
    """(parent, child) pairs, labels in an order in which parents come first."""
    rng = np.random.default_rng(7)
    return [(int(rng.integers(child)), child) for child in range(1, n)]


def cases(scales):
    for name, space in small_spaces().items():
        d = space.embed(space.sample(1, 0)).shape[1]
        direction = np.random.default_rng(1).standard_normal((1, d))
        for scale in scales:
            yield Case(name, space, scale, scale * direction)


# ------------------------------------------------------------------ coalescence
def coalescence(quick):
    """Theorem 6.11: a table."""
    n = 500 if quick else 20_000
    print(f"\nTheorem 6.11: steps back until all chains of META have met, {n:,} draws each")
    print(f"   {'space':22s} {'|Y|':>5s} {'scale':>5s} {'theorem':>9s} {'exact':>8s}"
          f" {'measured':>9s} {'+-':>6s}   chi-square p")  # fmt: skip
    for case in cases((0.25, 1.0) if quick else (0.25, 0.5, 1.0, 2.0, 4.0)):
        drawn, info = coupling_from_the_past(
            case.space, case.scores, n=n, rng=2, method="meta", return_info=True
        )
        times = info.times.ravel()
        error = times.std(ddof=1) / math.sqrt(n)
        print(f"   {case.name:22s} {len(case.f):5d} {case.scale:5.2g} {math.exp(2 * case.BR):9.3g}"
              f" {case.expected_trials:8.2f} {times.mean():9.2f} {error:6.2f}"
              f"   {goodness_of_fit(case, drawn[0]):.3f}", flush=True)  # fmt: skip


def goodness_of_fit(case, drawn):
    """p of the chi-square test; outputs that are expected less than five times go together."""
    n = len(drawn)
    number = {tuple(output): k for k, output in enumerate(case.outputs.tolist())}
    counts = np.bincount([number[tuple(one)] for one in drawn.tolist()], minlength=len(case.f))
    expected = n * np.exp(case.f - logsumexp(case.f))
    order = np.argsort(expected)
    group = np.minimum(np.cumsum(expected[order]) // 5, (n // 5) - 1).astype(int)
    _, group = np.unique(group, return_inverse=True)
    return chisquare(*(np.bincount(group, one[order]) for one in (counts, expected))).pvalue


# ------------------------------------------------------------------ partition functions
def partition(quick):
    """Theorem 6.5: how often annealed estimates keep their promise, and what they cost."""
    print("\nTheorem 6.5: annealed estimates, promised to be within eps with chance 0.75")
    print(f"   {'space':22s} {'eps':>4s} {'':13s} {'levels':>6s} {'S':>9s} {'draws':>11s}"
          f" {'runs':>4s} {'within eps':>10s} {'3/4 within':>10s} {'seconds':>8s}")  # fmt: skip
    for case in cases((0.5,)):
        for eps in (0.5, 0.2) if quick else (0.5, 0.2, 0.1, 0.05):
            partition_rows(case, eps, 10 if quick else 100)
    for eps in (0.5,) if quick else (0.5, 0.2):
        partition_rows(two_modes(), eps, 5 if quick else 20, n_sweeps=(5, 100))
    by_median(quick)


def two_modes(d=8, strength=1.0, tilt=0.5):
    """f = strength ((|y| - d/2)^2 - d^2/4) + tilt |y|, two modes: all labels, or none."""
    space = PairwiseLabels("full", range(d))
    label = strength * (1 - d) + tilt
    scores = np.r_[np.full(d, label), np.full(d * (d - 1) // 2, 2 * strength)]
    return Case("8 labels, two modes", space, strength, scores[None])


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


def estimates(case, seeds, **options):
    """|Zhat / Z - 1| of an estimate for each seed, and seconds of one."""
    exact = logsumexp(case.f)
    started = time.perf_counter()
    found = [
        log_partition(case.space, case.scores, method="annealed", rng=seed, **options)[0]
        for seed in seeds
    ]
    seconds = (time.perf_counter() - started) / len(seeds)
    return np.abs(np.expm1(np.array(found) - exact)), seconds


def by_median(quick):
    """Medians of estimates that are within some eps with chance 3/4, and no more than that."""
    n, case = 50 if quick else 1000, next(iter(cases((0.5,))))
    others, _ = estimates(case, range(n, 2 * n), eps=1.0)
    eps = np.quantile(others, 0.75)
    print(f"\nMedians of estimates of which 3/4 are within eps = {eps:.3f}, {n} each")
    print(f"   {'space':22s} {'delta':>5s} {'estimates':>9s} {'within eps':>10s}   {'promise':>7s}")
    for delta in (0.25, 0.05, 0.01):
        errors, _ = estimates(case, range(n), eps=1.0, delta=delta)
        print(f"   {case.name:22s} {delta:5.2f} {repeats_for(delta):9d}"
              f" {np.mean(errors <= eps):10.3f}   {1 - delta:7.2f}", flush=True)  # fmt: skip


# ------------------------------------------------------------------ quick estimates
def quick_estimates(quick):
    """Section 6.4: mean error over random rows."""
    n = 10 if quick else 100
    print(f"\nSection 6.4: mean |ln Zhat - ln Z| from counts, {n} rows each")
    print(f"   {'space':24s} {'max |f|':>7s} {'printed':>9s} {'Taylor':>9s} {'cumulant':>9s}"
          "   Taylor / cumulant")  # fmt: skip
    for name, space in quick_spaces(quick).items():
        d = space.embed(space.sample(1, 0)).shape[1]
        scores = np.random.default_rng(3).standard_normal((n, d))
        low, high = value_range(space, scores)
        scores /= np.maximum(-low, high)[:, None]
        for largest in (0.25, 0.5, 1.0, 2.0, 4.0, 8.0):
            u = largest * scores
            exact = log_partition(space, u, method="exact")
            _, mean, variance = moments_of_scores(space, u)
            found = {
                "printed": space.log_size() + np.log(1 + mean + variance + mean**2),
                "Taylor": log_partition(space, u, method="taylor"),
                "cumulant": log_partition(space, u, method="cumulant"),
            }
            errors = [np.abs(one - exact).mean() for one in found.values()]
            print(f"   {name:24s} {largest:7.2f}" + "".join(f" {one:9.2e}" for one in errors)
                  + f"   {errors[1] / errors[2]:10.1f}", flush=True)  # fmt: skip


def quick_spaces(quick):
    few = {
        **small_spaces(),
        "8 items ranked, positions": Rankings(range(8), "positions"),
        "trees on 8 nodes": SpanningTrees(8),
    }
    more = {
        "100 labels": LabelSets(range(100)),
        "60 labels in a tree": Hierarchy(random_tree(60), range(60)),
    }
    return few if quick else {**few, **more}


SECTIONS = {
    "coalescence": coalescence,
    "mixing": lambda quick: mixing(list(cases((0.25, 0.5, 1.0, 2.0))), quick),
    "partition": partition,
    "quick": quick_estimates,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", help=", ".join(SECTIONS))
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.sections) - set(SECTIONS))
    if unknown:
        parser.error(f"no section {unknown[0]!r}; known are {', '.join(SECTIONS)}")
    for name in arguments.sections or SECTIONS:
        started = time.perf_counter()
        SECTIONS[name](arguments.quick)
        print(f"   {name}: {time.perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
