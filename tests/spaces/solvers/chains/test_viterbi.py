# SPDX-License-Identifier: BSD-3-Clause
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstruct.spaces.sequence_sets.chains.counting import ChainCounts
from skstruct.spaces.sequence_sets.chains.viterbi import best_chains, k_best_chains


def listed(q, lengths):
    """All sequences of the given lengths."""
    return [z for size in lengths for z in product(range(q), repeat=size)]


def cost_of(z, i, problem):
    """The cost of one sequence in row i, straight from the definition."""
    if not z:
        return 0.0
    p, C = problem["starts"][i], problem["transitions"]
    begin, end = problem["beginning"], problem["ending"]
    total = sum(problem["unary"][p + t, a] for t, a in enumerate(z))
    for t in range(1, len(z) if C is not None else 0):
        total += C[p + t if len(C) > 1 else 0, z[t - 1], z[t]]
    total += 0 if begin is None else begin[i if len(begin) > 1 else 0, z[0]]
    return total + (0 if end is None else end[i if len(end) > 1 else 0, z[-1]])


@st.composite
def problems(draw):
    """Small problems of several rows: whole costs that tie, some of them infinite."""
    q, n = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    lengths = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    N, walls = sum(lengths), draw(st.sampled_from([0.0, 0.0, 0.2]))

    def costs(*shape):
        whole = rng.integers(-3, 4, shape).astype(float)
        return np.where(rng.random(shape) < walls, np.inf, whole)

    kind = draw(st.sampled_from(["none", "shared", "by position"]))
    by_row = draw(st.booleans())
    problem = {
        "unary": costs(N, q),
        "starts": np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        "transitions": {"none": None, "shared": costs(1, q, q), "by position": costs(N, q, q)}[
            kind
        ],
        "beginning": costs(n if by_row else 1, q) if draw(st.booleans()) else None,
        "ending": costs(n if by_row else 1, q) if draw(st.booleans()) else None,
    }
    if problem["transitions"] is not None and N == 1:
        problem["transitions"] = problem["transitions"][:1]
    if draw(st.booleans()):
        problem["shortest"] = np.array([draw(st.integers(0, size + 1)) for size in lengths])
    if draw(st.booleans()):
        problem["longest"] = np.array([draw(st.integers(0, size)) for size in lengths])
    return problem


def candidates(problem, i):
    size = problem["starts"][i + 1] - problem["starts"][i]
    high = problem["longest"][i] if "longest" in problem else size
    low = problem["shortest"][i] if "shortest" in problem else high
    return listed(problem["unary"].shape[1], range(low, high + 1))


@given(problems())
def test_best_chains_against_enumeration(problem):
    symbols, values = best_chains(**problem)
    for i, value in enumerate(values):
        outputs = candidates(problem, i)
        totals = [cost_of(z, i, problem) for z in outputs]
        assert value == min(totals, default=np.inf)
        found = symbols[problem["starts"][i] : problem["starts"][i + 1]]
        if np.isinf(value):
            assert (found == -1).all()
            continue
        size = int((found >= 0).sum())
        assert (found[size:] == -1).all()
        min_cost = [z for z, cost in zip(outputs, totals) if cost == value]
        # The shortest, and then the lowest symbols from the end.
        assert tuple(found[:size]) == min(min_cost, key=lambda z: (len(z), z[::-1]))


@given(problems(), st.integers(1, 9))
def test_k_best_chains_against_enumeration(problem, k):
    symbols, values = k_best_chains(**problem, k=k)
    best, least = best_chains(**problem)
    n_ranks = 0
    for i, row in enumerate(values):
        outputs = candidates(problem, i)
        totals = {z: cost_of(z, i, problem) for z in outputs}
        expected = sorted(cost for cost in totals.values() if np.isfinite(cost))[:k]
        n_ranks = max(n_ranks, len(expected))
        assert row[np.isfinite(row)].tolist() == expected
        found = symbols[problem["starts"][i] : problem["starts"][i + 1]].T
        chains = [tuple(z[z >= 0]) for z, cost in zip(found, row) if np.isfinite(cost)]
        assert len(set(chains)) == len(chains)
        assert [totals[z] for z in chains] == expected
        if np.isfinite(least[i]):
            np.testing.assert_array_equal(
                found[0], best[problem["starts"][i] : problem["starts"][i + 1]]
            )
    assert values.shape[1] == n_ranks


@pytest.mark.parametrize("q", [1, 3, 4, 7, 26])
def test_shared_and_repeated_transitions_agree(q):
    rng = np.random.default_rng(q)
    starts = np.concatenate([[0], np.cumsum(rng.integers(1, 9, 30))])
    unary, C = rng.standard_normal((starts[-1], q)), rng.standard_normal((1, q, q))
    shared, values = best_chains(unary, starts, C)
    repeated = best_chains(unary, starts, np.repeat(C, len(unary), axis=0))
    np.testing.assert_array_equal(shared, repeated[0])
    np.testing.assert_array_equal(values, repeated[1])
    zero = best_chains(unary, starts, np.zeros((1, q, q)))
    apart = best_chains(unary, starts)
    np.testing.assert_array_equal(zero[0], apart[0])
    np.testing.assert_allclose(zero[1], apart[1], atol=1e-12)


def test_no_rows_at_all():
    for transitions in (None, np.zeros((1, 2, 2))):
        symbols, values = best_chains(np.zeros((0, 2)), [0], transitions)
        assert symbols.shape == values.shape == (0,)


# ------------------------------------------------------------------ counting
@st.composite
def countable(draw):
    q, T = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    allowed = rng.random((T, q)) < 0.8
    proposals = rng.random((q, q)) < 0.6 if draw(st.booleans()) else None
    ends = rng.random(q) < 0.7
    return ChainCounts(allowed, proposals, ends=ends, shortest=draw(st.integers(0, T)))


def obeys(z, counts):
    inside = all(counts.allowed[t, a] for t, a in enumerate(z))
    meets = counts.proposals is None or all(counts.proposals[a, b] for a, b in pairwise(z))
    return inside and meets and (not z or counts.ends[z[-1]])


@given(countable())
def test_counts_and_lists_against_enumeration(counts):
    every = listed(counts.n_symbols, range(counts.shortest, counts.length + 1))
    expected = {z for z in every if obeys(z, counts)}
    assert counts.total == len(expected)
    found = [tuple(z[z >= 0]) for z in counts.listed()]
    assert len(found) == len(expected)
    assert set(found) == expected


def test_every_number_is_a_chain():
    """Unranking is one to one: the numbers below the total give all chains, each once."""
    proposals = np.array([[True, False, True], [True, True, False], [False, True, True]])
    counts = ChainCounts(np.ones((4, 3), bool), proposals, ends=[True, True, False], shortest=0)

    class Counter:
        def integers(self, total, size):
            return np.arange(total)

    chains = counts.sample(counts.total, Counter())
    assert len(np.unique(chains, axis=0)) == counts.total
    assert all(obeys(tuple(z[z >= 0]), counts) for z in chains)


@pytest.mark.parametrize("T", [12, 90])
def test_uniform_samples(T):
    """Frequencies of first and last symbols, in 63 bits and beyond; five standard errors."""
    proposals = np.array([[False, True, True], [True, False, False], [False, True, True]])
    counts = ChainCounts(np.ones((T, 3), bool), proposals)
    assert (counts.total >= 2**63) == (T == 90)
    n = 5000
    chains = counts.sample(n, np.random.default_rng(0))
    assert proposals[chains[:, :-1], chains[:, 1:]].all()
    first, steps = counts.as_markov_chain()
    probability = first
    for step in steps:
        np.testing.assert_allclose(probability.sum(), 1.0, atol=1e-12)
        probability = probability @ step
    for position, expected in ((0, first), (-1, probability)):
        share = np.bincount(chains[:, position], minlength=3) / n
        error = 5 * np.sqrt(expected * (1 - expected) / n) + 1e-12
        assert (np.abs(share - expected) <= error).all()


def test_counts_beyond_floats():
    counts = ChainCounts(np.ones((300, 26), bool))
    assert counts.total == 26**300
    drawn = counts.sample(3, np.random.default_rng(0))
    assert drawn.shape == (3, 300)
    assert (drawn >= 0).all()
    assert len(np.unique(drawn, axis=0)) == 3
    np.testing.assert_allclose(counts.as_markov_chain()[1], 1 / 26)


def test_long_chains_without_constraints_are_uniform_symbol_by_symbol():
    """Shares of allowed symbols within five standard errors each."""
    allowed = np.ones((80, 4), bool)
    allowed[3, 1:3] = False
    counts = ChainCounts(allowed)
    assert counts.total >= 2**63
    drawn = counts.sample(4000, np.random.default_rng(0))
    shares = np.array([np.bincount(column, minlength=4) for column in drawn.T]) / 4000
    expected = allowed / allowed.sum(axis=1, keepdims=True)
    assert (np.abs(shares - expected) <= 5 * np.sqrt(expected * (1 - expected) / 4000)).all()
    both = np.bincount(drawn[:, 0] * 4 + drawn[:, 1], minlength=16) / 4000
    assert (np.abs(both - 1 / 16) <= 5 * np.sqrt(15) / 16 / np.sqrt(4000)).all()


def test_ways_that_no_chain_goes_do_not_count():
    """Only a after a: one chain, though there are 2^90 ways to go on after b."""
    proposals = np.array([[True, False, False], [True, True, True], [True, True, True]])
    allowed = np.ones((100, 3), bool)
    allowed[0, 1:] = False
    counts = ChainCounts(allowed, proposals)
    assert counts.total == 1
    assert (counts.sample(5, np.random.default_rng(0)) == 0).all()
