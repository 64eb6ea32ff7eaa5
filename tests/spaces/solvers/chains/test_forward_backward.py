# SPDX-License-Identifier: BSD-3-Clause
"""Distributions of chains against sums over all chains."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Inference, Sequences, Solving, Strings
from skstruct.spaces.sequence_sets.chains.forward_backward import ChainDistribution
from skstruct.testing import check_distribution

FEW = settings(max_examples=40, deadline=None)
SIZES = (0.0, 1.0, 30.0, 1e3, 1e5)  # of scores: as products, mixed, as logarithms


@st.composite
def stacked_chains(draw):
    """Arguments of ChainDistribution for up to three rows of up to four positions."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    q, size = draw(st.integers(1, 3)), draw(st.sampled_from(SIZES))
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    N, n = starts[-1], len(lengths)
    shape = (N if draw(st.booleans()) and N > 1 else 1, q, q)
    given = {
        "unary": size * rng.standard_normal((N, q)),
        "starts": starts,
        "transitions": size * rng.standard_normal(shape),
    }
    for name in ("beginning", "ending"):
        if draw(st.booleans()):
            given[name] = size * rng.standard_normal((draw(st.sampled_from([1, n])), q))
    for name in ("unary", "transitions", "ending"):
        if name in given and draw(st.booleans()):
            given[name][rng.random(given[name].shape) < 0.2] = -np.inf
    if draw(st.booleans()):
        given["shortest"] = np.array([draw(st.integers(0, length)) for length in lengths])
    return given


def all_chains(given, i):
    """Scores and symbols of all chains of row i, straight from the definition."""
    first, last = given["starts"][i : i + 2]
    q = given["unary"].shape[1]
    shortest = given.get("shortest", np.diff(given["starts"]))[i]
    found = []
    for size in range(shortest, last - first + 1):
        for z in product(range(q), repeat=size):
            score = sum(given["unary"][first + t, y] for t, y in enumerate(z))
            for t in range(1, size):
                matrices = given["transitions"]
                score += matrices[(first + t) % len(matrices), z[t - 1], z[t]]
            for name, at in (("beginning", 0), ("ending", -1)):
                if name in given and size:
                    score += given[name][i % len(given[name]), z[at]]
            found.append((score, z))
    return np.array([score for score, _ in found]), [z for _, z in found]


def brute_marginals(probabilities, chains, length, q):
    symbols, steps = np.zeros((length, q)), np.zeros((length, q, q))
    for p, z in zip(probabilities, chains):
        for t, y in enumerate(z):
            symbols[t, y] += p
            if t:
                steps[t, z[t - 1], y] += p
    return symbols, steps


@pytest.mark.slow
@FEW
@given(stacked_chains())
def test_sums_are_those_over_all_chains(given):
    distribution = ChainDistribution(**given)
    symbols, counts = distribution.token_marginals(), distribution.transition_counts()
    q, starts = given["unary"].shape[1], given["starts"]
    expected = np.zeros_like(given["transitions"])
    for i in range(len(starts) - 1):
        scores, chains = all_chains(given, i)
        log_partition = logsumexp(scores) if len(scores) else -np.inf
        assert_allclose(distribution.log_partition[i], log_partition, rtol=1e-12, atol=1e-9)
        if log_partition == -np.inf:
            continue
        probabilities = np.exp(scores - log_partition)
        own, steps = brute_marginals(probabilities, chains, starts[i + 1] - starts[i], q)
        assert_allclose(symbols[starts[i] : starts[i + 1]], own, rtol=1e-9, atol=1e-9)
        assert_allclose(counts[i], steps.sum(axis=0), rtol=1e-9, atol=1e-9)
        if len(expected) == 1:
            expected[0] += (i + 1) * steps.sum(axis=0)
        else:
            expected[starts[i] : starts[i + 1]] += (i + 1) * steps
    weight = np.arange(1.0, len(starts))
    unary, transitions = distribution.gradient(weight)
    assert_allclose(transitions, expected, rtol=1e-9, atol=1e-9)
    row = np.repeat(np.arange(len(weight)), np.diff(starts))
    assert_allclose(unary, weight[row, None] * symbols, rtol=1e-12)


@FEW
@given(st.integers(0, 2**32), st.sampled_from([0.1, 5.0]))
def test_the_gradient_is_that_of_finite_differences(seed, size):
    rng = np.random.default_rng(seed)
    starts, q, step = np.array([0, 4, 4, 11]), 5, 1e-5
    unary, transitions = size * rng.standard_normal((11, q)), size * rng.standard_normal((1, q, q))
    found = ChainDistribution(unary, starts, transitions).gradient()
    aside = rng.standard_normal((11, q)), rng.standard_normal((1, q, q))

    def total(by):
        distribution = ChainDistribution(unary + by * aside[0], starts, transitions + by * aside[1])
        return distribution.log_partition.sum()

    slope = (total(step) - total(-step)) / (2 * step)
    assert_allclose(sum((g * a).sum() for g, a in zip(found, aside)), slope, rtol=1e-6, atol=1e-7)


def test_products_and_logarithms_agree():
    rng = np.random.default_rng(0)
    starts, q = np.array([0, 30, 55, 56]), 7
    unary, transitions = 3 * rng.standard_normal((56, q)), 3 * rng.standard_normal((1, q, q))
    transitions[0, 2, 3] = transitions[0, 0, 0] = -np.inf
    plain = ChainDistribution(unary, starts, transitions)
    assert plain.plain_row.all()
    far = np.zeros((1, q))
    far[0, 0] = -1e4  # nothing ends there, and no product is trusted any more
    logs = ChainDistribution(unary, starts, transitions, ending=far)
    assert not logs.plain_row.any()
    without = ChainDistribution(unary, starts, transitions, ending=np.where(far < 0, -np.inf, 0.0))
    assert without.plain_row.all()
    assert_allclose(logs.log_partition, without.log_partition, rtol=1e-13)
    for a, b in zip(logs.gradient(), without.gradient()):
        assert_allclose(a, b, rtol=1e-10, atol=1e-15)


def test_a_way_that_seems_lost_and_is_the_only_one():
    """Symbol 1 is a million below symbol 0 everywhere, but only it may end the chain."""
    unary = np.tile([0.0, -1e6], (50, 1))
    apart = np.array([[[0.0, -np.inf], [-np.inf, 0.0]]])
    distribution = ChainDistribution(unary, [0, 50], apart, ending=np.array([-np.inf, 0.0]))
    assert_allclose(distribution.log_partition, -50e6)
    assert_allclose(distribution.token_marginals(), np.tile([0.0, 1.0], (50, 1)))
    distribution = ChainDistribution(1e-4 * unary, [0, 50], apart, ending=np.array([-np.inf, 0.0]))
    assert_allclose(distribution.log_partition, -50e2)
    assert (distribution.sample(3, np.random.default_rng(0)) == 1).all()


@st.composite
def sequence_spaces(draw):
    """Sequences of up to three symbols with open or fixed lengths and constraints."""
    q, longest = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    shortest = draw(st.integers(0, longest))
    kind = draw(st.sampled_from(["positions", "bigrams"]))
    space = Sequences("abc"[:q], (shortest, longest), kind)
    if draw(st.booleans()):
        symbols = st.sampled_from("abc"[:q])
        known = draw(st.dictionaries(st.integers(0, longest - 1), symbols, max_size=2))
        space = space.restrict(known=known)
    if draw(st.booleans()):
        symbols = st.sampled_from([*"abc"[:q], None])
        pairs = st.tuples(symbols, symbols).filter(lambda pair: pair != (None, None))
        space = space.restrict(forbidden=draw(st.lists(pairs, max_size=3)))
    return space


@FEW
@given(sequence_spaces(), st.integers(0, 2**32), st.sampled_from(SIZES))
def test_distributions_of_sequences(space, seed, size):
    scores = size * np.random.default_rng(seed).standard_normal((2, space._width()))
    if space.size():
        check_distribution(space, scores, n_draws=400 if size < 100 else 20, rng=seed)
    else:
        with pytest.raises(InfeasibleError):
            Inference.of(space).distribution(scores)


@pytest.mark.parametrize("embedding", ["positions", "bigrams"])
def test_constraints_row_by_row(embedding):
    space = Sequences("abc", (1, 3), embedding)
    known = [{0: "b"}, {}, {2: "a"}]
    forbidden = [[], [("a", "b"), ("c", None)], [(None, "a")]]
    scores = np.random.default_rng(0).standard_normal((3, space._width()))
    together = space.restrict(known=known, forbidden=forbidden)
    distribution = Inference.of(together).distribution(scores)
    for i in range(3):
        alone = Inference.of(space.restrict(known=known[i], forbidden=forbidden[i])).distribution(
            scores[[i]]
        )
        assert_allclose(distribution.log_partition[[i]], alone.log_partition)
        assert_allclose(distribution.marginals()[[i]], alone.marginals(), atol=1e-12)
    assert together.contains(distribution.sample(1, np.random.default_rng(0))[:, 0]).all()
    lengths = Inference.of(space.restrict(length=np.array([1, 3, 2]))).distribution(scores)
    assert ((lengths.sample(2, np.random.default_rng(0)) >= 0).sum(axis=2).T == [1, 3, 2]).all()


@FEW
@given(sequence_spaces(), st.integers(1, 3), st.integers(0, 2**32), st.sampled_from(SIZES))
def test_distributions_of_strings(sequences, n, seed, size):
    constraints = sequences.constraints if n > 1 else None  # single symbols know no transitions
    space = Strings(sequences.alphabet, sequences.length, n, constraints=constraints)
    scores = size * np.random.default_rng(seed).standard_normal((2, space._width()))
    if space.size():
        check_distribution(space, scores, n_draws=400 if size < 100 else 20, rng=seed)
    else:
        with pytest.raises(InfeasibleError):
            Inference.of(space).distribution(scores)


def test_long_strings_have_distributions_by_bigrams():
    space = Strings("ab", 200, n=2).restrict(forbidden=[("b", "b")])
    distribution = Inference.of(space).distribution(np.zeros((1, 4)))
    assert_allclose(distribution.log_partition, space.log_size())
    assert_allclose(distribution.marginals()[0], space.mean_embedding(), rtol=1e-9)
    assert Inference.of(Strings("ab", 200, n=3)).distribution(np.zeros((1, 8))) is None


def test_distributions_of_stacked_chains_obey_constraints():
    space = Sequences("ab").fit(["ab", "aba"])
    unary, starts = np.zeros((5, 2)), np.array([0, 2, 5])
    turn = space.restrict(forbidden=[("a", "a"), ("b", "b")])
    assert_allclose(
        Solving.of(turn).distribution_of_chains(unary, starts).log_partition, np.log([2, 2])
    )
    told = turn.restrict(known=[{}, {1: "b"}])
    distribution = Solving.of(told).distribution_of_chains(
        unary, starts, np.array([[0.0, 1.0], [2.0, 0.0]])
    )
    assert_allclose(distribution.log_partition, [np.logaddexp(1.0, 2.0), 3.0])
    assert told.contains(distribution.sample(1, np.random.default_rng(0))[:, 0]).all()
    with pytest.raises(InfeasibleError, match="row 1"):
        Solving.of(space.restrict(known=[{}, {3: "a"}])).distribution_of_chains(unary, starts)


def test_draws_of_stacked_chains_have_the_marginals():
    rng = np.random.default_rng(1)
    starts = np.array([0, 3, 3, 8])
    distribution = ChainDistribution(
        rng.standard_normal((8, 4)), starts, rng.standard_normal((1, 4, 4))
    )
    drawn = distribution.sample(20_000, rng)
    assert drawn.shape == (3, 20_000, 5)
    assert (drawn[1] == -1).all()
    flat = np.concatenate([drawn[0, :, :3], drawn[2]], axis=1)
    share = (flat[:, :, None] == np.arange(4)).mean(axis=0)
    # 32 shares, each within 5 standard errors but for a probability of 6e-7.
    assert (np.abs(share - distribution.token_marginals()) <= 5 * np.sqrt(0.25 / 20_000)).all()
