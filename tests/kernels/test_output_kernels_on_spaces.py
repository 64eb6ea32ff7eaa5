# SPDX-License-Identifier: BSD-3-Clause
"""Distances in feature space as linear costs, compared with the kernel output by output."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from skstruct.kernels import Dirac, HammingKernel, PathKernel, SpectrumKernel, resolve_output_kernel
from skstruct.spaces import (
    Box,
    Candidates,
    Classes,
    Embeddings,
    Hierarchy,
    LabelSets,
    Rankings,
    Sequences,
    Simplex,
    Solving,
    Strings,
)
from strategies import closed_sets, dags, subsets

SEEDS = st.integers(0, 2**31)


def weights(rng, n_outputs, n_rows=4):
    """Rows b of any signs and totals; one of them zero."""
    return (
        rng.standard_normal((n_rows, n_outputs)) * np.array([[1.0], [0.0], [3.0], [0.2]])[:n_rows]
    )


def check_costs(kernel, psi, K, rng):
    """k(z, z) - 2 sum_i b_i k(z, y_i) = <cost, psi(z)> + offset for all z; K and psi of all."""
    psi = psi.toarray() if sparse.issparse(psi) else psi
    b = weights(rng, len(K))
    g, total = b @ psi, b.sum(axis=1, keepdims=True)
    expected = K.diagonal() - 2.0 * b @ K  # shape: (rows of b, outputs z)
    found = kernel.cost(g, total) @ psi.T + kernel.offset(g, total)[:, None]
    assert_allclose(found, expected, atol=1e-8 * max(1.0, np.abs(expected).max()))
    return g, total, expected


def check_on(kernel, space, outputs, rng, embedding):
    """The same on a fitted space, with all its outputs in the user's format."""
    assert kernel.embedding_on(space) == embedding
    view = Embeddings.of(space).view(embedding)
    bound = kernel.bind(view).fit(outputs)
    psi = view.embed(view.validate(outputs))
    g, total, expected = check_costs(bound, psi, bound(outputs), rng)
    decoded = bound.nearest(view, g, total)
    assert_allclose(decoded.values, expected.min(axis=1), atol=1e-8)
    assert (decoded.bounds <= expected.min(axis=1) + 1e-8).all()


# ------------------------------------------------------------- sequences


@dataclass
class Positions:
    """What the kernel asks of a space of sequences; psi straight from its definition."""

    alphabet: str
    length_: int
    embedding: str = "positions"

    def strings(self, shortest=0):
        lengths = range(shortest, self.length_ + 1)
        return ["".join(y) for n in lengths for y in product(self.alphabet, repeat=n)]

    def embed(self, strings):
        psi = np.zeros((len(strings), self.length_, len(self.alphabet)))
        for i, string in enumerate(strings):
            for t, symbol in enumerate(string):
                psi[i, t, self.alphabet.index(symbol)] = 1.0
        return psi.reshape(len(strings), -1)


class SolvingOfPositions(Solving):
    def argmin_chains(self, unary, starts, transitions=None):
        """The mark of a space of sequences."""


Solving.at(Positions, SolvingOfPositions)


@given(st.integers(1, 3), st.integers(1, 4), st.sampled_from([None, 0, 3]), SEEDS)
def test_hamming_costs(q, length, beyond, seed):
    space, rng = Positions("abc"[:q], length), np.random.default_rng(seed)
    kernel = HammingKernel() if beyond is None else HammingKernel(length=length + beyond)
    assert kernel.embedding_on(space) == "positions"
    kernel, strings = kernel.bind(space), space.strings()
    assert kernel.largest_loss() == length + (beyond or 0)
    check_costs(kernel, space.embed(strings), kernel(strings), rng)
    twice = 2.5 * kernel + HammingKernel(length=9).bind(space)
    check_costs(twice, space.embed(strings), twice(strings), rng)


def test_hamming_on_longer_and_shorter_spaces():
    seen_before, seen_after = HammingKernel().fit(["abcd"]), HammingKernel()
    for kernel in (seen_before.bind(Positions("ab", 2)), seen_after.bind(Positions("ab", 4))):
        assert kernel.fit(["ab"]).largest_loss() == (4.0 if kernel.n_positions_ == 4 else 2.0)
    assert seen_before.bind(Positions("ab", 2)).largest_loss() == 4.0
    assert seen_before.bind(Positions("ab", 6)).largest_loss() == 6.0
    assert not hasattr(seen_after, "n_positions_")
    with pytest.raises(ValueError, match="up to 2 symbols; got one of 3"):
        HammingKernel(length=2).bind(Positions("ab", 3))
    assert HammingKernel().embedding_on(Rankings()) is None
    assert HammingKernel().embedding_on(LabelSets()) is None


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2), st.integers(1, 3), SEEDS)
def test_kernels_on_sequences(shortest, longest, seed):
    shortest = min(shortest, longest)
    outputs = Positions("ab", longest).strings(shortest)
    space = Sequences("ab", (shortest, longest)).fit(outputs)
    rng = np.random.default_rng(seed)
    check_on(HammingKernel(), space, outputs, rng, "positions")
    check_on(HammingKernel(length=5) + 0.5 * HammingKernel(), space, outputs, rng, "positions")
    check_on(resolve_output_kernel("linear"), space, outputs, rng, "positions")
    bigrams = Embeddings.of(space).view("bigrams")
    check_on(resolve_output_kernel("linear"), bigrams, outputs, rng, "bigrams")


def test_spectrum_on_strings():
    outputs = Positions("ab", 4).strings(1)
    space = Strings("ab", (1, 4), n=2).fit(outputs)
    kernel = resolve_output_kernel(SpectrumKernel(2, normalize=False))
    assert kernel.embedding_on(space) == "ngrams"
    for other in (SpectrumKernel(2), SpectrumKernel(3, normalize=False)):
        assert resolve_output_kernel(other).embedding_on(space) is None
    psi, K, b = (
        space.embed(space.validate(outputs)),
        kernel(outputs),
        np.array([[0.7] * 5 + [-0.2] * 25]),
    )
    assert_allclose((psi @ psi.T).toarray() if sparse.issparse(psi) else psi @ psi.T, K)
    expected = K.diagonal() - 2 * b @ K
    decoded = kernel.bind(space).nearest(space, b @ psi, b.sum(axis=1, keepdims=True))
    assert_allclose(decoded.values, expected.min(axis=1))
    with pytest.raises(ValueError, match="use nearest"):
        kernel.cost(b @ psi, 0.0)


# ------------------------------------------------------------- other spaces


@given(SEEDS)
def test_dirac_costs(seed):
    rng, names = np.random.default_rng(seed), ["cat", "cow", "dog"]
    check_on(Dirac(), Classes().fit(names), names, rng, "outputs")
    check_on(Dirac() + 2.0 * Dirac(), Classes().fit(names), names, rng, "outputs")
    check_on(resolve_output_kernel("linear"), Classes().fit(names), names, rng, "outputs")
    lists = [[1], [1, 2], [2]]
    check_on(Dirac(), Candidates(lists).fit(lists), lists, rng, "outputs")
    rows = subsets(3)
    listed = Embeddings.of(LabelSets().fit(rows)).view("outputs", rows)
    check_on(Dirac(), listed, rows, rng, "outputs")


def test_dirac_costs_with_training_outputs_that_are_no_candidates():
    space, b = Candidates(["a", "b"]).fit(["a", "z"]), np.array([[0.5, -1.0, 0.9]])
    psi = space.embed(space.validate(["a", "b", "z"]))
    decoded = Dirac().bind(space).nearest(space, b @ psi, b.sum(axis=1, keepdims=True))
    assert space.restore(decoded.outputs).tolist() == ["a"]
    assert_allclose(decoded.values, [1 - 2 * 0.5])


@settings(max_examples=30, deadline=None)
@given(dags(max_nodes=5), SEEDS)
def test_path_costs(hierarchy, seed):
    rng, rows = np.random.default_rng(seed), closed_sets(hierarchy)
    space = hierarchy.fit(rows)
    check_on(PathKernel(), space, rows, rng, "indicators")
    check_on(resolve_output_kernel("linear") + PathKernel(), space, rows, rng, "indicators")
    assert PathKernel().bind(space).largest_loss() == rows.shape[1] / 2


def test_paths_of_a_tree_are_label_sets():
    space = Hierarchy(["a/b/c", "a/b/d", "a/e"]).restrict(one_path=True)
    paths = [["a", "a/b", "a/b/c"], ["a", "a/b", "a/b/d"], ["a", "a/e"]]
    space.fit(paths)
    assert_allclose(PathKernel().bind(space)(paths), PathKernel()(paths))
    check_on(PathKernel(), space, paths, np.random.default_rng(0), "indicators")


def test_label_sets_by_name():
    sets = [set(), {"u"}, {"v"}, {"u", "v"}]
    space, rng = LabelSets().fit(sets), np.random.default_rng(0)
    check_on(PathKernel(), space, sets, rng, "indicators")
    check_on(resolve_output_kernel("linear"), space, sets, rng, "indicators")
    gaussian = resolve_output_kernel("rbf").bind(space).fit(sets)
    assert_allclose(gaussian(sets)[0], np.exp([0.0, -2.0, -2.0, -4.0]))  # spread 1/2
    assert gaussian.embedding_on(space) is None
    assert (PathKernel() + Dirac()).embedding_on(space) is None


def test_rankings_by_position():
    orders = np.array([[1.0, 2, 3], [1, 3, 2], [2, 1, 3], [3, 1, 2], [2, 3, 1], [3, 2, 1]])
    rng = np.random.default_rng(0)
    check_on(resolve_output_kernel("linear"), Rankings().fit(orders), orders, rng, "positions")
    assert resolve_output_kernel("linear").embedding_on(Rankings(embedding="pairs")) is None


@given(SEEDS)
def test_linear_costs_of_quantities(seed):
    rng = np.random.default_rng(seed)
    Y = rng.normal([10.0, 0.0, -5.0], size=(8, 3))
    for space, outputs in ((Box(), Y), (Simplex(), np.abs(Y) / np.abs(Y).sum(1, keepdims=True))):
        kernel, space = resolve_output_kernel("linear"), space.fit(outputs)
        assert kernel.embedding_on(space) == "squares"
        view = Embeddings.of(space).view("squares")
        bound = kernel.bind(view)
        psi = view.embed(view.validate(outputs))
        assert_allclose(bound(outputs), outputs @ outputs.T)
        g, total, expected = check_costs(bound, psi, bound(outputs), rng)
        decoded = bound.nearest(view, g, total)
        assert (decoded.values <= expected.min(axis=1) + 1e-8).all()
