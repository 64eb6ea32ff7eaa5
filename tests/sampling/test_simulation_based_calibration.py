# SPDX-License-Identifier: BSD-3-Clause
"""Simulation-based calibration: truths are spread evenly among draws of their posterior.

An output is drawn from a prior distribution; noise turns it into an observation; the posterior is
again a distribution of the same family, with other scores. Whatever statistic is looked at, the
rank of the truth's among those of posterior draws is then uniform. 1,000 replications, chi-square
at level 1e-6.
"""

import numpy as np
import pytest

from distribution_cases import dense
from sampling.sbc_cases import rank_among, ranks_are_uniform
from skstruct.sampling import coupling_from_the_past
from skstruct.sampling.partition import chain_draws
from skstruct.spaces import Hierarchy, Inference, LabelSets, PairwiseLabels, Rankings, SpanningTrees

N, DRAWS = 1000, 31
SPACES = {
    "sets": LabelSets(range(5), min_size=1, max_size=3),
    "hierarchy": Hierarchy([(0, 1), (0, 2), (2, 3), (2, 4)]),
    "pairs": PairwiseLabels([(0, 1), (1, 2), (2, 0), (2, 3)], range(4)),
    "rankings": Rankings(range(5), "pairs"),
    "trees": SpanningTrees(range(5)),
}


def posterior_draws(space, sampler, rng):
    """Truths of a prior, and draws from the posterior of each given a noisy look at psi."""
    prior = rng.normal(size=(1, dense(space.embed(space.sample(1, 0))).shape[1]))
    truths = Inference.of(space).distribution(prior).sample(N, rng)[0]
    psi = dense(space.embed(truths))
    # Normal noise of variance 1: -|x - psi|²/2 is <x, psi> - |psi|²/2, and psi² is psi or 1.
    seen = psi + rng.normal(size=psi.shape)
    square = 0.0 if psi.min() < 0 else 0.5
    return truths, sampler(space, prior + seen - square, rng)


def by_distribution(space, scores, rng):
    return Inference.of(space).distribution(scores).sample(DRAWS, rng)


def by_chains(space, scores, rng):
    return chain_draws(space, scores, DRAWS, n_warmup=30, rng=rng)


def by_coupling(space, scores, rng):
    return coupling_from_the_past(space, scores, DRAWS, rng)


CASES = [(name, sampler) for name in SPACES for sampler in (by_distribution, by_chains)]
CASES += [("hierarchy", by_coupling)]


@pytest.mark.parametrize(("name", "sampler"), CASES)
def test_truths_are_spread_evenly_among_draws(name, sampler):
    space, rng = SPACES[name], np.random.default_rng(11)
    truths, draws = posterior_draws(space, sampler, rng)
    look = rng.normal(size=dense(space.embed(truths[:1])).shape[1])
    statistic = (dense(space.embed(truths)) @ look).round(9)
    flat = draws.reshape(-1, *draws.shape[2:])
    of_draws = (dense(space.embed(flat)) @ look).round(9).reshape(N, DRAWS)
    ranks = np.array([rank_among(*both, rng) for both in zip(statistic, of_draws)])
    assert ranks_are_uniform(ranks, n_bins=16, level=1e-6, n_ranks=DRAWS + 1)


def test_a_distribution_that_is_too_narrow_is_caught():
    space, rng = SPACES["sets"], np.random.default_rng(11)
    sure = lambda space, scores, rng: by_distribution(space, 2.0 * scores, rng)  # noqa: E731
    truths, draws = posterior_draws(space, sure, rng)
    look = rng.normal(size=5)
    of_draws = draws @ look
    ranks = np.array([rank_among(*both, rng) for both in zip(truths @ look, of_draws)])
    assert not ranks_are_uniform(ranks, n_bins=16, level=1e-6, n_ranks=DRAWS + 1)
