# SPDX-License-Identifier: BSD-3-Clause
"""Sampling and partition functions: the theorems of Vembu (2010), chapter 6, measured.

"Learning to predict combinatorial structures". The thesis proves bounds and has no experiment in
this chapter; here its claims stand beside what is measured. p(y) ~ exp f(y), f = <u, psi(y)>; rows
of scores u are drawn from a normal distribution of the scale that is printed. B of the theorems is
||u|| and R is max ||psi||, which is the best that can be said with these letters.

coalescence  Theorem 6.11: E T <= e^{2BR} steps until all chains of META have met, when coupled from
             the past. They meet at a step whose proposal a rejection sampler would accept, so that
             E T = |Y| e^{fmax} / Z. Draws are tested against the exact distribution by chi-square.
mixing       Theorems 6.12 and C.2 (papers/sampling_mixing.py).
partition    Theorem 6.5 (papers/sampling_partition.py).
quick        Section 6.4: ln Z from counts. "printed" is the thesis' |Y| + Psi'u + u'Cu, which lacks
             a half, "Taylor" has it, "cumulant" is |Y| exp(mean f + var f / 2) of the same numbers.
             The thesis asks for |f| <= 1, so rows are scaled to a largest |f|.

Usage: python papers/sampling.py [--jobs N] [--only SECTION] [--kept FOLDER] [--anew] [--quick]
``--quick``: fewer draws, repetitions and sizes.
"""

from __future__ import annotations

import math

import numpy as np
from keeping import arguments, printed, results
from sampling_cases import cases, random_tree, small_spaces
from sampling_mixing import mixing
from sampling_partition import partition
from scipy.special import logsumexp
from scipy.stats import chisquare

from skstruct.sampling import coupling_from_the_past, log_partition
from skstruct.sampling.chains import value_range
from skstruct.sampling.partition import moments_of_scores
from skstruct.spaces import Hierarchy, LabelSets, Rankings, SpanningTrees, Uniform


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


# ------------------------------------------------------------------ quick estimates
def quick_estimates(quick):
    """Section 6.4: mean error over random rows."""
    n = 10 if quick else 100
    print(f"\nSection 6.4: mean |ln Zhat - ln Z| from counts, {n} rows each")
    print(f"   {'space':26s} {'max |f|':>7s} {'printed':>9s} {'Taylor':>9s} {'cumulant':>9s}"
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
                "printed": Uniform.of(space).log_size() + np.log(1 + mean + variance + mean**2),
                "Taylor": log_partition(space, u, method="taylor"),
                "cumulant": log_partition(space, u, method="cumulant"),
            }
            errors = [np.abs(one - exact).mean() for one in found.values()]
            print(f"   {name:26s} {largest:7.2f}" + "".join(f" {one:9.2e}" for one in errors)
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


def mixing_of_cases(quick):
    mixing(list(cases((0.25, 0.5, 1.0, 2.0))), quick)


SECTIONS = {
    "coalescence": coalescence,
    "mixing": mixing_of_cases,
    "partition": partition,
    "quick": quick_estimates,
}


def main():
    given = arguments(__doc__, ("--quick", {"action": "store_true"}))
    name = "sampling_quick" if given.quick else "sampling"
    tasks = {key: (printed, section, given.quick) for key, section in SECTIONS.items()}
    for text in results(name, tasks, given).values():
        print(text, end="")


if __name__ == "__main__":
    main()
