# SPDX-License-Identifier: BSD-3-Clause
"""Means are moved to the nearest ones that a distribution over the outputs has, all listed."""

from importlib import import_module

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import nnls

from skstruct import spaces
from skstruct._arrays.rows import dense
from skstruct.spaces import (
    BaseSpace,
    Classes,
    Cycles,
    Decoded,
    Embeddings,
    Hierarchy,
    LabelSets,
    Marginals,
    Matchings,
    Ordinal,
    PairwiseLabels,
    PartialOrders,
    Poset,
    Rankings,
    Sequences,
    SklearnTarget,
    SpanningTrees,
    Tournaments,
)

TREE = [("a", "b"), ("a", "c"), ("c", "d")]
DIAMOND = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("c", "e")]
FIXED = Sequences("ab", length=3)
OPEN = Sequences("ab", length=(1, 3))
SPACES = {
    "classes": Classes().fit(list("xyz")),
    "levels": Ordinal("abcd"),
    "levels, some": Ordinal("abcd").restrict(exclude=["b"]),
    "sets": LabelSets("abcd"),
    "sets of sizes": LabelSets("abcd", min_size=1, max_size=2),
    "sets, known": LabelSets("abcd").restrict(include=["a"], exclude=["c"], max_size=2),
    "sets, groups": LabelSets("abcd").restrict(exclusive=[["a", "b"], ["b", "c"]]),
    "tree": Hierarchy(TREE),
    "tree, known": Hierarchy(TREE).restrict(include=["c"], exclude=["b"]),
    "tree of sizes": Hierarchy(TREE).restrict(min_size=1, max_size=2),
    "tree, siblings": Hierarchy(TREE).restrict(exclusive="siblings"),
    "paths": Hierarchy(TREE).restrict(one_path=True),
    "graph": Hierarchy(DIAMOND),
    "graph, known": Hierarchy(DIAMOND).restrict(include=["b"], exclude=["e"]),
    "order": Poset(DIAMOND),
    "rankings by position": Rankings(4),
    "rankings, known": Rankings(4).restrict(positions={0: 2}),
    "words": FIXED,
    "words of any length": OPEN,
    "words, known": FIXED.restrict(known={1: "b"}, forbidden=[("b", "b")]),
    "words by bigrams": Embeddings.of(FIXED).view("bigrams"),
    "matchings": Matchings(list("abcd")),
    "trees": SpanningTrees(list("abcd")),
    "cycles": Cycles(list("abcd")),
    "tournaments": Tournaments(list("abc")),
    "partial orders": PartialOrders(list("abc")),
    "pairs of labels": PairwiseLabels([("a", "b"), ("b", "c")], labels=list("abc")),
}


def listed(space):
    return dense(space.embed(space.enumerate())).astype(float)


def nearest(psi, means):
    """The nearest point of the convex hull: non-negative weights, whose sum a large row fixes."""
    heavy = 1e4
    system = np.vstack([psi.T, np.full(len(psi), heavy)])
    found = [nnls(system, np.append(m, heavy))[0] for m in means]
    return np.array([w / w.sum() @ psi for w in found])


@pytest.mark.parametrize("name", SPACES)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**31 - 1), spread=st.sampled_from([0.1, 1.0]))
def test_the_nearest_coherent_means(name, seed, spread):
    space, rng = SPACES[name], np.random.default_rng(seed)
    psi = listed(space)
    weights = rng.dirichlet(np.ones(len(psi)) / 3, size=3)
    means = weights @ psi + spread * rng.normal(size=(3, psi.shape[1]))
    found = Marginals.of(space).coherent(means)
    expected = nearest(psi, means)
    distance, least = (np.linalg.norm(m - means, axis=1) for m in (found, expected))
    assert_allclose(found, expected, atol=1e-4)
    assert_allclose(distance, least, rtol=1e-5, atol=1e-6)
    # Within the hull: nothing is nearer to them than they are.
    assert_allclose(nearest(psi, found), found, atol=1e-4)
    assert_allclose(Marginals.of(space).coherent(found), found, atol=1e-6)


@pytest.mark.parametrize("name", SPACES)
def test_means_of_a_distribution_stay(name):
    psi = listed(SPACES[name])
    weights = np.random.default_rng(3).dirichlet(np.ones(len(psi)), size=4)
    means = weights @ psi
    assert_allclose(Marginals.of(SPACES[name]).coherent(means), means, atol=1e-5)


def test_pairs_of_a_ranking_sum_to_one():
    space = Embeddings.of(Rankings(4)).view("pairs")
    found = Marginals.of(space).marginals(np.random.default_rng(0).normal(size=(6, 6)), "pairs")
    assert found.shape == (6, 4, 4)
    assert_allclose(found + found.swapaxes(1, 2), 1.0)
    assert found.min() >= 0


CONDITIONS = [
    (LabelSets("abcd"), {"max_size": 2}),
    (LabelSets("abcd"), {"include": ["a"], "min_size": 2}),
    (LabelSets("abcd"), {"exclusive": [["a", "b"]]}),
    (Hierarchy(TREE), {"include": ["c"]}),
    (Hierarchy(TREE), {"exclude": ["b"], "max_size": 2}),
    (Hierarchy(TREE), {"one_path": True}),
    (Ordinal("abcd"), {"min_level": "b"}),
    (Poset(DIAMOND), {"exclude": ["e"]}),
    (FIXED, {"known": {0: "a"}, "forbidden": [("a", "a")]}),
]


@pytest.mark.parametrize(("space", "known"), CONDITIONS)
def test_conditions_are_those_of_the_distribution(space, known):
    """Of a distribution of largest entropy given its means, which each of these is."""
    rng = np.random.default_rng(1)
    psi, within = listed(space), space.restrict(**known)
    scores = rng.normal(size=(5, psi.shape[1]))
    p = np.exp(scores @ psi.T)
    p /= p.sum(axis=1, keepdims=True)
    allowed = within.contains(space.enumerate())
    given_that = p[:, allowed] / p[:, allowed].sum(axis=1, keepdims=True)
    found = Marginals.of(space).marginals(p @ psi, within=within)
    assert_allclose(found, Marginals.of(space).read(given_that @ psi[allowed]), atol=1e-6)


@pytest.mark.parametrize("name", ["sets", "tree", "levels", "classes", "words"])
def test_readable_and_back(name):
    space = SPACES[name]
    psi = listed(space)
    means = np.random.default_rng(0).dirichlet(np.ones(len(psi)), size=3) @ psi
    facet = Marginals.of(space)
    assert_allclose(facet.means_of(facet.read(means)), means, atol=1e-12)


def test_a_parent_known_raises_its_children():
    space = Hierarchy([("animal", "cat"), ("animal", "dog")])
    means = np.array([[0.3, 0.29, 0.0]])
    known = Marginals.of(space).marginals(means, within=space.restrict(include=["animal"]))
    assert_allclose(known, [[1.0, 0.29 / 0.3, 0.0]], atol=1e-9)


class Runs(BaseSpace):
    """Runs of consecutive positions out of four: the core of a space, and nothing else."""

    ends = np.array([(first, last) for first in range(4) for last in range(first, 4)])

    def embed(self, Z):
        position, Z = np.arange(4), np.asarray(Z)
        return ((position >= Z[:, :1]) & (position <= Z[:, 1:])).astype(float)

    def argmin(self, costs):
        values = costs @ self.embed(self.ends).T
        best = values.argmin(axis=1)
        least = values[np.arange(len(costs)), best]
        return Decoded(self.ends[best], least, least)

    def rows(self, index):
        return self


def test_a_space_without_answers_of_its_own():
    space = Runs()
    facet, psi = Marginals.of(space), space.embed(Runs.ends)
    assert not facet.answers("coherent")
    assert (facet.losses, facet.parts(), facet.axes(4)) == ({}, (), [range(4)])
    assert facet.view() is space
    assert not facet.recalibrates
    assert not facet.suffice
    means = np.array([[1.0, 0.0, 1.0, 0.0], [0.2, 2.0, 0.3, -1.0]])
    expected = nearest(psi, means)
    assert_allclose(facet.marginals(means), expected, atol=1e-4)
    assert_allclose(facet.marginals(means, within=space), expected, atol=1e-4)
    assert_allclose(facet.marginals(means, raw=True), means)
    seen = SklearnTarget.of(space)
    assert (seen.estimator_type, seen.multi_output, seen.classes()) == (None, True, None)
    assert seen.decision_scores(means) is means


@pytest.mark.parametrize("kind", [Marginals, SklearnTarget])
def test_every_place_has_a_facet_of_its_kind(kind):
    for name in spaces.__all__:  # importing what registers itself
        getattr(spaces, name)
    places = [(at, place) for at, place in kind._places.items() if isinstance(place, str)]
    assert len(places) >= 6
    for structure, place in places:  # classes stand for those of examples
        module, name = place.split(":")
        found = getattr(import_module(module), name)
        assert issubclass(found, kind), structure
        assert found.__slots__ == ()
