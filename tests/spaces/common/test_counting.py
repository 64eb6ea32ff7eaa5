# SPDX-License-Identifier: BSD-3-Clause
"""Counts and moments of large spaces: exact, finite and quick."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skstruct.spaces import (
    BaseSpace,
    Candidates,
    Classes,
    Embeddings,
    GraphNodes,
    Hierarchy,
    LabelSets,
    PairwiseLabels,
    PairwiseStates,
    Rankings,
    Sequences,
    Strings,
)
from skstruct.spaces.common.covariances import DenseCovariance, Exchangeable, Scalar
from skstruct.spaces.ordinal.space import Ordinal
from skstruct.spaces.poset.space import Poset
from work import n_calls


def check_covariance(space):
    """By its eigenspaces and from the definition."""
    psi = space.embed(space.enumerate())
    psi = psi.toarray() if hasattr(psi, "toarray") else psi
    centred = psi - psi.mean(axis=0)
    S = centred.T @ centred / len(psi)
    covariance = space.covariance()
    scale = max(np.abs(S).max(), 1.0)
    assert covariance.d == psi.shape[1]
    assert_allclose(covariance.dense(), S, atol=1e-12 * scale)
    assert_allclose(BaseSpace.covariance(space).dense(), S, atol=1e-12 * scale)
    V = np.random.default_rng(0).standard_normal((3, psi.shape[1]))
    assert_allclose(covariance.apply(V), V @ S, atol=1e-10 * scale)
    return covariance


@given(d=st.integers(1, 6), data=st.data())
def test_label_sets(d, data):
    low = data.draw(st.integers(0, d))
    high = data.draw(st.integers(low, d))
    covariance = check_covariance(LabelSets(range(d), low, high))
    assert isinstance(covariance, Scalar if (low, high) == (0, d) else Exchangeable)
    if low == high:
        assert covariance.eigenvalues[0] == 0.0
    if low == 0:
        masked = LabelSets(range(d), low, high).restrict(exclude=[0])
        assert isinstance(check_covariance(masked), DenseCovariance)


@given(d=st.integers(1, 5), embedding=st.sampled_from(["pairs", "positions", "ranks"]))
def test_rankings(d, embedding):
    if (d, embedding) == (1, "pairs"):
        return  # no pair at all
    space = Rankings(range(d), embedding)
    assert not isinstance(check_covariance(space), DenseCovariance)
    if d > 2:
        assert isinstance(check_covariance(space.restrict(top=1)), DenseCovariance)


@pytest.mark.parametrize(
    "name", ["pair shares", "rating differences", "complete rating shares", "rating shares"]
)
def test_rankings_with_one_number_more(name):
    space = Embeddings.of(Rankings(range(4))).view(name)
    check_covariance(space)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_classes(k):
    names = list("abcde")[:k]
    check_covariance(Classes().fit(names))
    check_covariance(Candidates(names).fit(names))
    check_covariance(Candidates(names).fit([*names, "other"]))
    check_covariance(GraphNodes(np.ones((k, k)), labels=names).fit(names))
    check_covariance(Ordinal(names))
    check_covariance(Poset([("a", name) for name in names]))


LABELS = list(range(1000))
CHAIN = [(i, i + 1) for i in range(299)]
LARGE = {
    "label sets": (lambda: LabelSets(LABELS), 2**1000),
    "half of them": (lambda: LabelSets(LABELS, 500, 500), math.comb(1000, 500)),
    "classes": (lambda: Classes().fit(LABELS), 1000),
    "candidates": (lambda: Candidates(LABELS).fit(LABELS), 1000),
    "nodes": (lambda: GraphNodes(np.ones((1000, 1000))).fit([0]), 1000),
    "levels": (lambda: Ordinal(LABELS), 1000),
    "a chain": (lambda: Hierarchy([(j - 1, j) for j in LABELS[1:]]), 1001),
    "a star": (lambda: Hierarchy([(0, j) for j in LABELS[1:]]), 2**999 + 1),
    "pairs": (lambda: Rankings(range(60), "pairs"), math.factorial(60)),
    "positions": (lambda: Rankings(range(40), "positions"), math.factorial(40)),
    "ranks": (lambda: Rankings(range(1000), "ranks"), math.factorial(1000)),
    "sequences": (lambda: Sequences("abcd", length=500), 4**500),
    "bigrams": (lambda: Sequences("abc", length=100, embedding="bigrams"), 3**100),
    "symbols": (lambda: Strings("abcd", length=1000, n=1), 4**1000),
    "trigrams": (lambda: Strings("abcd", length=500, n=3), 4**500),
    "pairwise labels": (lambda: PairwiseLabels([(i - 1, i) for i in LABELS[1:]], LABELS),
                        2**1000),
    "pairwise states": (lambda: PairwiseStates(CHAIN, states="abc", labels=range(300)), 3**300),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_large_spaces_are_counted_by_few_steps(name):
    make, size = LARGE[name]
    space = make()
    found = []

    def count():
        found[:] = space.mean_embedding(), space.second_moment(), space.sample(200, 0)
        assert space.size() == size
        assert_allclose(space.log_size(), math.log(size))

    assert n_calls(count) < 500_000  # mostly some thousands
    mean, moment, drawn = found
    assert space.contains(drawn).all()
    assert np.isfinite(mean).all()
    assert np.isfinite(moment).all()
    # Every coordinate of these has a moment of its own that draws must meet, within six
    # standard errors and a few draws: broken with probability below 1e-6.
    psi = space.embed(drawn)
    psi = psi.toarray() if hasattr(psi, "toarray") else psi
    deviation = np.sqrt(np.maximum(np.diag(moment) - mean**2, 0.0))
    assert (np.abs(psi.mean(axis=0) - mean) <= 6 * deviation / np.sqrt(200) + 0.05).all()
    pair = np.random.default_rng(1).integers(len(mean), size=(2, 20))
    product = psi[:, pair[0]] * psi[:, pair[1]]
    error = np.abs(product.mean(axis=0) - moment[pair[0], pair[1]])
    assert (error <= 7 * product.std(axis=0) / np.sqrt(200) + 0.05).all()


@pytest.mark.slow
@pytest.mark.parametrize("embedding", ["pairs", "positions", "ranks"])
def test_two_hundred_items_without_a_matrix(embedding):
    space = Rankings(range(200), embedding)
    covariance, mean = space.covariance(), space.mean_embedding()
    psi = space.embed(space.sample(2000, 0))
    v = np.random.default_rng(1).standard_normal((1, covariance.d))
    scores = np.asarray(psi @ v[0])
    expected = float((covariance.apply(v) @ v.T)[0, 0])
    # The variance of a sum of 2,000 draws, and its mean, within six standard errors.
    assert abs(scores.var() / expected - 1) < 6 * math.sqrt(2 / 2000)
    assert abs(scores.mean() - v[0] @ mean) < 6 * math.sqrt(expected / 2000)


def test_a_matrix_that_does_not_fit_says_so(monkeypatch):
    monkeypatch.setattr("skstruct._arrays.memory.available_memory", lambda: 10**6)
    for space in (Rankings(range(200)), Rankings(range(200), "pairs"), LabelSets(LABELS)):
        with pytest.raises(MemoryError, match="covariance"):
            space.second_moment()
    with pytest.raises(MemoryError, match="GB"):
        Sequences("abcd", length=500).second_moment()


@pytest.mark.slow
@given(length=st.integers(1, 4), shortest=st.integers(0, 4), n=st.integers(1, 3))
def test_strings_from_the_definition(length, shortest, n):
    space = Strings("ab", length, n).restrict(length=(min(shortest, length), length))
    psi = space.embed(space.enumerate())
    psi = psi.toarray() if hasattr(psi, "toarray") else psi
    assert_allclose(space.mean_embedding(), psi.mean(axis=0), atol=1e-12)
    assert_allclose(space.second_moment(), psi.T @ psi / len(psi), atol=1e-12)
