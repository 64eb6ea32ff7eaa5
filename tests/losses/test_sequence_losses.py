# SPDX-License-Identifier: BSD-3-Clause
"""Losses of sequences from their definitions, and as bilinear forms over all sequences."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skstruct.losses import Hamming, SequenceHamming, pair, resolve_loss
from skstruct.spaces import Classes, Sequences
from skstruct.testing import check_loss

TEXTS = ["".join(z) for k in range(4) for z in product("ab", repeat=k)]


def by_hand(z, y, weight):
    """The definition, position by position."""
    longest = max(len(z), len(y))
    z_, y_ = z.ljust(longest, "-"), y.ljust(longest, "-")
    wrong = sum(a != b for a, b in zip(z_, y_))
    grams = [{(t, x[t : t + 2]) for t in range(len(x) - 1)} for x in (z, y)]
    return wrong + weight * (sum(map(len, grams)) / 2 - len(grams[0] & grams[1]))


@pytest.mark.parametrize("weight", [0.0, 0.5, 2.0])
def test_the_definition(weight):
    space = Sequences("ab", length=(0, 3)).fit(TEXTS)
    Z = space.validate(TEXTS)
    expected = [[by_hand(z, y, weight) for y in TEXTS] for z in TEXTS]
    assert_allclose(SequenceHamming(weight).pairwise(Z, Z), expected)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 1.0]), st.booleans())
def test_bilinear_in_the_embedding(seed, weight, fixed):
    """sum_i w_i loss(z, y_i) = <cost, psi(z)> + offset for all sequences and any weights."""
    rng = np.random.default_rng(seed)
    texts = [z for z in TEXTS if len(z) == 3] if fixed else TEXTS
    space = Sequences("ab", length=3 if fixed else (0, 3)).fit(texts)
    Z = space.validate(texts)
    view, loss = pair(SequenceHamming(weight), space, Z)
    w = rng.standard_normal((4, len(Z)))
    psi = view.embed(Z).toarray()
    g, total = w @ psi, w.sum(axis=1, keepdims=True)
    risks = loss.cost(g, total) @ psi.T + loss.offset(g, total)[:, None]
    assert_allclose(risks, w @ loss.pairwise(Z, Z).T, atol=1e-10)


def test_the_common_check():
    space = Sequences("ab", length=(1, 3)).fit(["a", "aba"])
    Z = space.validate([z for z in TEXTS if z])
    for loss in (SequenceHamming(), SequenceHamming(bigrams=0.7), Hamming()):
        view, bound = pair(loss, space, Z)
        check_loss(bound, view, Z)


def test_hamming_on_sequences_counts_positions():
    space = Sequences().fit(["abc", "abd"])
    loss = pair(resolve_loss("hamming"), space, space.validate(["abc"]))[1]
    assert isinstance(loss, SequenceHamming)
    assert_array_equal(loss([[0, 1, 2]], [[0, 1, -1]]), [1.0])


def test_sequences_of_different_widths_are_compared():
    assert_array_equal(SequenceHamming()([[1, 2]], [[1, -1, -1, -1]]), [1.0])
    assert_array_equal(SequenceHamming(1.0)([[1, 2, 0]], [[1, 2]]), [1.5])


@pytest.mark.parametrize("bigrams", [-1.0, float("nan")])
def test_bad_weights(bigrams):
    space = Sequences().fit(["ab"])
    with pytest.raises(ValueError, match="bigrams is a number of at least 0"):
        pair(SequenceHamming(bigrams), space, space.validate(["ab"]))


def test_other_spaces_have_no_symbols():
    with pytest.raises(ValueError, match="sequences of symbols; Classes has none"):
        pair(SequenceHamming(), Classes(["a"]).fit(["a"]), np.zeros(1, int))
    space = Sequences().fit(["ab"])
    with pytest.raises(ValueError, match="every position counts one"):
        pair(Hamming(weights=[1.0, 2.0]), space, space.validate(["ab"]))
