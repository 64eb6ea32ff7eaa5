# SPDX-License-Identifier: BSD-3-Clause
"""Strings under n-gram counts against all strings listed."""

from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from skstruct.exceptions import InfeasibleError
from skstruct.spaces import Embeddings, Strings
from skstruct.spaces.contracts import Countable
from skstruct.testing import check_space


def listed(q, shortest, longest, allowed=lambda z: True):
    """Canonical strings, straight from the definition."""
    strings = [
        z
        for length in range(shortest, longest + 1)
        for z in product(range(q), repeat=length)
        if allowed(z)
    ]
    return np.array([[*z, *[-1] * (longest - len(z))] for z in strings]).reshape(-1, longest)


@pytest.mark.parametrize(
    ("q", "n", "shortest", "longest"),
    [
        (1, 2, 0, 4), (2, 1, 4, 4), (3, 1, 1, 3), (2, 2, 5, 5),
        (3, 2, 1, 4), (2, 3, 0, 5), (2, 4, 2, 4), (3, 3, 3, 4),
    ],
)  # fmt: skip
def test_strings(q, n, shortest, longest):
    space = Strings("abc"[:q], (shortest, longest), n)
    assert isinstance(space, Countable)
    check_space(space, listed(q, shortest, longest))


@pytest.mark.parametrize("n", [2, 3])
def test_restricted_strings(n):
    space = Strings("abc", (1, 5), n).restrict(
        length=(1, 4), known={1: "b"}, forbidden=[("b", "b"), ("a", "c"), (None, "c"), ("b", None)]
    )

    def allowed(z):
        ends = z[0] != 2 and z[-1] != 1
        proposals = all(pair not in ((1, 1), (0, 2)) for pair in pairwise(z))
        return len(z) > 1 and z[1] == 1 and ends and proposals

    outputs = listed(3, 2, 4, allowed)
    outputs = np.hstack([outputs, np.full((len(outputs), 1), -1)])
    check_space(space, outputs)
    check_nearest(space, outputs, np.random.default_rng(0).normal(0, 1, (20, 3**n)))


def check_nearest(space, outputs, g):
    """The nearest of all listed outputs, by the definition."""
    psi = space.embed(outputs).toarray()
    totals = (psi**2).sum(axis=1) - 2 * g @ psi.T
    decoded = space.nearest(g)
    found = space.embed(decoded.outputs).toarray()
    assert space.contains(decoded.outputs).all()
    value = (found**2).sum(axis=1) - 2 * (g * found).sum(axis=1)
    np.testing.assert_allclose(decoded.values, value, atol=1e-9)
    np.testing.assert_allclose(decoded.values, totals.min(axis=1), atol=1e-9)
    np.testing.assert_array_equal(decoded.bounds, decoded.values)


@given(st.integers(1, 3), st.integers(0, 6), st.integers(0, 6), st.integers(0, 1000))
def test_nearest_strings(n, one, other, seed):
    shortest, longest = min(one, other), max(one, other, 1)
    rng, outputs = np.random.default_rng(seed), listed(2, shortest, longest)
    space = Strings([7, 8], (shortest, longest), n)
    votes = rng.normal(0.2, 0.5, (6, len(outputs))) @ space.embed(outputs)
    check_nearest(space, outputs, np.vstack([votes, rng.integers(-2, 3, (6, 2**n)) / 2]))


def test_a_counted_string_is_its_own_preimage():
    rng = np.random.default_rng(0)
    space = Strings("ACGT", (1, 40), 3)
    Z = space.sample(30, rng)
    psi = space.embed(Z).toarray()
    decoded = space.nearest(psi)
    np.testing.assert_allclose(space.embed(decoded.outputs).toarray(), psi)
    np.testing.assert_allclose(decoded.values, -(psi**2).sum(axis=1))


def test_little_work_gives_a_bound_and_more_work_a_better_one():
    rng = np.random.default_rng(1)
    g = rng.normal(0, 1, (6, 64))
    few, some, many = (
        Strings("ACGT", 30, 3, max_nodes=work).nearest(g) for work in (1, 2_000, 100_000)
    )
    assert (few.bounds < few.values).all()
    for less, more in ((few, some), (some, many)):
        assert (more.values <= less.values).all()
        assert (more.bounds >= less.bounds).all()
    gap = [np.mean(each.values - each.bounds) for each in (few, some, many)]
    assert gap[0] > gap[1] > gap[2]


def test_lengths_row_by_row():
    g = np.random.default_rng(2).normal(0, 1, (3, 4))
    space = Strings("ab", (0, 6), 2)
    by_row = space.restrict(length=[2, 5, 0], known=[{0: "b"}, {}, {}])
    decoded = by_row.nearest(g)
    assert ((decoded.outputs >= 0).sum(axis=1) == [2, 5, 0]).all()
    assert decoded.outputs[0, 0] == 1
    for row in range(3):
        alone = by_row.rows([row]).nearest(g[[row]])
        np.testing.assert_array_equal(alone.outputs, decoded.outputs[[row]])
    with pytest.raises(ValueError, match="for 3 rows; got 2"):
        by_row.argmin(g[:2])


def test_strings_come_back_as_they_came():
    words = pd.Series(["abba", "baab", "ab"], index=[3, 5, 9], name="word")
    space = Strings(n=2).fit(words)
    back = space.restore(space.validate(words), index=words.index)
    pd.testing.assert_series_equal(back, words)
    tokens = [["to", "be"], ["be", "to", "be"]]
    space = clone(Strings(n=3)).fit(tokens)
    assert space.restore(space.validate(tokens)).tolist() == tokens


def test_counts_by_hand():
    space = Strings("ab", (1, 9), 2).fit(["ab"])
    Z = space.validate(["aabab", "b", "bbbb"])
    assert space.embed(Z).toarray().tolist() == [[1, 2, 1, 0], [0, 0, 0, 0], [0, 0, 0, 3]]


def test_losses_of_positions_get_them():
    space = Strings("ab", (1, 3), 2).fit(["ab"])
    view = Embeddings.of(space).view("positions")
    assert view.embedding == "positions"
    assert view.embed(space.validate(["ab"])).toarray().tolist() == [[1, 0, 0, 1, 0, 0]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Strings("abcdefghijklmnopqrstuvwxyz", 8, 6).argmin([[0.0]]), "smaller n"),
        (lambda: Strings("ab", 3, 0).fit(["aba"]), "at least 1; got 0"),
        (lambda: Strings("ab", 3, 1).restrict(forbidden=[("a", "b")]), "need n of at least 2"),
        (lambda: Strings("ab", 3).nearest(np.zeros((1, 3))), r"shape \(n_samples, 4\)"),
        (lambda: Strings("ab", 3).nearest([[0.0, np.nan, 0, 0]]), r"costs\[0, 1\] is nan"),
        (lambda: Strings("abcdefgh", 9, 5).second_moment(), "up to 4,096"),
    ],
)
def test_clear_errors(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_no_string_at_all():
    space = Strings("ab", 3).restrict(forbidden=[("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")])
    for decode in (space.argmin, space.nearest):
        with pytest.raises(InfeasibleError, match="row 0"):
            decode(np.zeros((1, 4)))
