# SPDX-License-Identifier: BSD-3-Clause
"""Counts, moments, partition functions, marginals and draws of spaces against lists of all outputs.

    python reliability/distributions.py [--cases 100000] [--minutes M] [--seed 0] [--first CASE]

Spaces and constraints are those of certificates.py. A row of scores counts as a case: its partition
function, its marginals, its entropy and the products with its covariance are compared with sums
over all outputs. So do the number of outputs, their mean and their second moment, the list, and
every chi-square test of draws, which a right sampler fails with probability 1e-6 each: among
100,000 cases there are a few thousand, so that one false alarm in some hundred runs is expected.
"""

import copy
import sys
from itertools import count
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))


import oracle_distributions as oracle
from certificates import FAMILIES
from certified_spaces import Wrong, dense, places
from summary import Tries, arguments, finish

from skstruct.sampling import coupling_from_the_past, rejection_sample
from skstruct.spaces import Inference

ROUNDING = 1e-9  # of logarithms, of probabilities, of the terms of moments
N_ROWS, N_DRAWS = 100, 1500


def scores_of(rng, n, d):
    """From next to nothing to scores at which one output has nearly all."""
    scale = 10 ** rng.uniform(-4, 1.7, (n, 1))
    scores = rng.standard_normal((n, d)) * scale
    scores[: n // 10] = rng.integers(-1, 2, (n // 10, d))
    scores[0] = 0.0
    return scores


def check_counts(drawn, space, Z, allowed):
    """Size, moments and the list; how many of these the space knows."""
    psi, done = drawn.psi[allowed], 0
    if hasattr(space, "size"):
        done += 1
        if space.size() != len(psi) or not np.isclose(space.log_size(), np.log(len(psi))):
            raise Wrong(f"size() is {space.size()}, there are {len(psi)}")
    size = 1 + np.abs(psi).max(initial=0) ** 2
    if hasattr(space, "mean_embedding"):
        done += 2
        mean, second = dense(space.mean_embedding()), dense(space.second_moment())
        if not np.allclose(mean, psi.mean(axis=0), atol=ROUNDING * size, rtol=0):
            raise Wrong("mean_embedding() is not the mean over all outputs")
        if not np.allclose(second, psi.T @ psi / len(psi), atol=ROUNDING * size, rtol=0):
            raise Wrong("second_moment() is not the mean over all outputs")
    if hasattr(space, "enumerate"):
        done += 1
        at = places(space.enumerate(), Z)
        if sorted(at.tolist()) != np.flatnonzero(allowed).tolist():
            raise Wrong("enumerate() is not the list of all outputs")
    return done


def check_uniform(space, Z, allowed, rng):
    if not hasattr(space, "sample"):
        return 0
    at = places(space.sample(N_DRAWS, rng), Z)
    if not oracle.is_drawn_from(at, allowed / allowed.sum()):
        raise Wrong("sample() is not uniform")
    return 1


def check_family(drawn, space, Z, allowed, scores, rng):
    """Partition functions, marginals, entropies, covariances and draws of all rows of scores."""
    found = Inference.of(space).distribution(scores)
    if found is None:
        return 0
    psi = drawn.psi
    log_partition, p = oracle.family(scores, psi, allowed)
    slack = ROUNDING * (1 + (np.abs(scores) @ np.abs(psi).T).max(axis=1))
    off = ~(np.abs(found.log_partition - log_partition) <= slack)
    if off.any():
        raise Wrong(f"row {off.argmax()}: the partition function is not the sum")
    means, expected = dense(found.marginals()), p @ psi
    size = 1 + np.abs(psi).max(initial=0)
    off = ~(np.abs(means - expected) <= ROUNDING * size).all(axis=1)
    if off.any():
        worst = np.abs(means - expected).max()
        raise Wrong(f"row {off.argmax()}: marginals are off, by {worst:.3g} at most")
    if (psi >= 0).all() and (means < 0).any():
        raise Wrong("a marginal is negative")
    entropy = found.log_partition - (scores * means).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        own = -np.where(p > 0, p * np.log(p), 0.0).sum(axis=1)
    if not (np.abs(entropy - own) <= 10 * slack).all():
        raise Wrong("the entropy is not that of the definition")
    directions = rng.standard_normal(scores.shape)
    products = found.covariance_product(directions)
    if products is not None:
        right = oracle.covariance_products(p, psi, directions)
        if not np.allclose(products, right, atol=100 * ROUNDING * size**2, rtol=0):
            raise Wrong("a product with the covariance is not that of the definition")
    row = int(rng.integers(len(scores)))
    one = Inference.of(space).distribution(scores[row : row + 1])
    at = places(np.asarray(one.sample(N_DRAWS, rng))[0], Z)
    if not oracle.is_drawn_from(at, p[row]):
        raise Wrong(f"row {row}: draws have other probabilities")
    return len(scores) + 1


def check_samplers(drawn, space, Z, allowed, rng):
    """Perfect samplers, and steps of a chain, which leave draws of the distribution as they are."""
    if not hasattr(space, "sample"):
        return 0
    scores = 0.5 * rng.standard_normal((1, drawn.psi.shape[1]))
    p, done = oracle.family(scores, drawn.psi, allowed)[1][0], 2
    for draw in (coupling_from_the_past, rejection_sample):
        at = places(draw(space, scores[0], N_DRAWS, rng), Z)
        if not oracle.is_drawn_from(at, p):
            raise Wrong(f"{draw.__name__}: draws have other probabilities")
    moves = Inference.of(space).proposals()
    if moves is not None and moves.sweep:
        states = moves.start(Z[rng.choice(len(Z), N_DRAWS, p=p)])
        streams = rng.integers(1, 2**64, (N_DRAWS, 4), dtype=np.uint64)
        row, beta = np.zeros(N_DRAWS, np.int64), np.ones(N_DRAWS)
        moves.walk(states, scores, row, beta, int(rng.integers(1, 2 * moves.sweep + 1)), streams)
        if not oracle.is_drawn_from(places(moves.outputs(states), Z), p):
            raise Wrong("a chain does not keep its distribution")
        done += 1
    return done


def one_case(seed, number):
    rng = np.random.default_rng([seed, number])
    drawn = FAMILIES[rng.integers(len(FAMILIES))](rng)
    try:
        return checked(rng, drawn), drawn.name
    except Wrong as wrong:
        raise Wrong(f"{drawn.name}: {wrong}") from None


def checked(rng, drawn):
    """The whole space, or what constraints leave of it."""
    space, Z, allowed = drawn.space, drawn.canonical(), np.ones(len(drawn.outputs), bool)
    if drawn.narrow is not None and rng.random() < 0.6:
        limits, mask = drawn.narrow(rng, N_ROWS)
        mask = np.broadcast_to(mask, (len(mask), len(Z)))
        if limits and mask.any(axis=1).all():
            space = space.restrict(**limits)
            if len(mask) > 1:  # constraints of every row: its own family in each
                return check_rowwise(drawn, space, mask, scores_of(rng, N_ROWS, drawn.psi.shape[1]))
            allowed = mask[0]
    done = check_counts(drawn, space, Z, allowed)
    done += check_uniform(space, Z, allowed, rng)
    if rng.random() < 0.1:
        done += check_samplers(drawn, space, Z, allowed, rng)
    scores = scores_of(rng, N_ROWS, drawn.psi.shape[1])
    return done + check_family(drawn, space, Z, allowed, scores, rng)


def check_rowwise(drawn, space, mask, scores):
    found = Inference.of(space).distribution(scores)
    if found is None:
        return 0
    log_partition, p = oracle.family(scores, drawn.psi, mask)
    slack = ROUNDING * (1 + (np.abs(scores) @ np.abs(drawn.psi).T).max(axis=1))
    if not (np.abs(found.log_partition - log_partition) <= slack).all():
        raise Wrong("constraints by row: a partition function is not the sum")
    size = 1 + np.abs(drawn.psi).max(initial=0)
    if not np.allclose(dense(found.marginals()), p @ drawn.psi, atol=ROUNDING * size, rtol=0):
        raise Wrong("constraints by row: marginals are off")
    return len(scores)


def planted(rng):
    """Label sets whose first marginal is off by a millionth, and that are never drawn empty."""
    from drawn_sets import label_sets

    drawn = label_sets(rng)
    right = Inference.of(drawn.space).distribution

    class Off:
        def __init__(self, found):
            self.found, self.log_partition = found, found.log_partition

        def marginals(self):
            means = np.array(self.found.marginals())
            means[:, 0] += 1e-6
            return means

        def sample(self, n, rng):
            return self.found.sample(n, rng)

        def covariance_product(self, directions):
            return None

    class Planted(Inference):
        def distribution(self, scores):
            return Off(right(scores))

    space = copy.copy(drawn.space)
    space.__class__ = type("Planted", (type(space),), {})  # of which others know nothing
    Inference.at(type(space), Planted)
    Z, allowed = drawn.canonical(), np.ones(len(drawn.outputs), bool)
    try:
        check_family(drawn, space, Z, allowed, scores_of(rng, 20, drawn.psi.shape[1]), rng)
    except Wrong:
        biased = np.where(np.arange(N_DRAWS) % 8 == 0, 1, 0)
        return not oracle.is_drawn_from(biased, np.array([0.8, 0.2]))
    return False


def main():
    given = arguments(__doc__, 100_000, ("--first", {"type": int, "default": 0}))
    caught, tries, families = planted(np.random.default_rng(given.seed)), Tries(given), {}
    for number in count(given.first):
        if tries.tried >= given.cases or tries.over:
            break
        try:
            done, name = one_case(given.seed, number)
            families[name] = families.get(name, 0) + done
            tries.tried += done
        except Exception as error:
            tries.tried += 1
            why = f"{type(error).__name__}: {error}"
            tries.fail(number, why, f"--seed {given.seed} --first {number} --cases 1")
    counts = tries.counts(planted_caught=caught, families=families)
    counts["cases_per_second"] = round(tries.tried / tries.seconds)
    return finish("distributions", counts)


if __name__ == "__main__":
    sys.exit(main())
