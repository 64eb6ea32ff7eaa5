# SPDX-License-Identifier: BSD-3-Clause
"""How fast Markov chains reach their distribution: section 6.6.2 and appendix C.3 of Vembu (2010).

Part of papers/sampling.py. Everything here is exact, on spaces of a few hundred outputs: the whole
matrix of transitions, its second eigenvalue, and the first step t at which the distance to the
distribution, max over starts of 1/2 sum_v |P^t(u, v) - p(v)|, is at most eps, by powers of the
matrix.

* META proposes outputs drawn uniformly. Theorem 6.12 says ln(1/eps) / ln(1 / (1 - e^{-2BR})) steps.
  The chain's second eigenvalue is 1 - Z / (|Y| e^{fmax}), which gives ln(eps) over its logarithm.
* MC_cube sets a random label to a random bit. Theorem C.2 says d ln(d / eps) steps for any
  distribution. Its proof stands for the uniform distribution; for log-linear ones
  2d / (1 + e^{-max |w|}) ln(d / eps) can be shown, and for others ln(d / eps) / (1 - factor),
  where path coupling contracts by a factor < 1.
  The distribution f(u) = c (|u| - d/2)^2 has two modes that are far apart, and mixes in no such
  time.
"""

from __future__ import annotations

import math

import numpy as np

from skstruct.sampling.small_chains import (
    cube_contraction,
    cube_matrix,
    meta_matrix,
    mixing_time,
    probabilities,
    second_eigenvalue,
)

EPS = 0.01


# ------------------------------------------------------------------ tables
def mixing(cases, quick):
    meta_table(cases)
    cube_table(5 if quick else 8)


def meta_table(cases):
    print(f"\nTheorem 6.12: steps of META until the distance is at most {EPS}")
    print(f"   {'space':22s} {'scale':>5s}  {'2nd eigenvalue':>14s} {'formula':>8s}"
          f" {'steps':>7s} {'by formula':>10s} {'theorem':>9s}")  # fmt: skip
    for case in cases:
        P, p = meta_matrix(case.f), probabilities(case.f)
        share = 1 / case.expected_trials
        by_eigenvalue = math.ceil(math.log(EPS) / math.log1p(-share))
        theorem = math.log(1 / EPS) / -math.log1p(-math.exp(-2 * case.BR))
        print(f"   {case.name:22s} {case.scale:5.2g}  {second_eigenvalue(P):14.6f}"
              f" {1 - share:8.6f} {mixing_time(P, p, EPS):7,d} {by_eigenvalue:10,d}"
              f" {theorem:9.3g}", flush=True)  # fmt: skip


def cube_distributions(d):
    """Name, scores of all label sets, and the corrected bound on steps until ``EPS``."""
    sets = (np.arange(2**d)[:, None] >> np.arange(d)) & 1
    yield "uniform", np.zeros(2**d), d * math.log(d / EPS)
    direction = np.random.default_rng(0).standard_normal(d)
    for scale in (0.5, 1.0, 2.0, 4.0):
        w = scale * direction
        bound = 2 * d / (1 + math.exp(-np.abs(w).max())) * math.log(d / EPS)
        yield f"log-linear, scale {scale:g}", sets @ w, bound
    for strength in (0.02, 0.1, 0.25, 0.5, 1.0):
        f = strength * (sets.sum(axis=1) - d / 2) ** 2
        yield f"two modes, strength {strength:g}", f, None


def cube_table(largest):
    print(f"\nTheorem C.2: steps of MC_cube until the distance is at most {EPS}")
    print("   (* more than the theorem says; relaxation time 1 / (1 - second eigenvalue))")
    print(f"   {'d':>2s} {'distribution':26s} {'relaxation':>11s} {'steps':>11s} {'theorem':>8s}"
          f" {'corrected':>9s} {'path coupling':>14s}")  # fmt: skip
    for d in sorted({3, 5, largest}):
        for name, f, corrected in cube_distributions(d):
            P, factor = cube_matrix(f), cube_contraction(f)
            relaxation = 1 / (1 - second_eigenvalue(P))
            steps, theorem = mixing_time(P, probabilities(f), EPS), d * math.log(d / EPS)
            coupled = math.log(d / EPS) / (1 - factor) if factor < 1 - 1e-12 else math.inf
            print(f"   {d:2d} {name:26s} {relaxation:11,.1f} {steps:11,d}"
                  f"{'*' if steps > theorem else ' '}{theorem:8.1f}"
                  f" {'none' if corrected is None else f'{corrected:.1f}':>9s}"
                  f" {'none' if math.isinf(coupled) else f'{coupled:.1f}':>14s}",
                  flush=True)  # fmt: skip
