# SPDX-License-Identifier: BSD-3-Clause
"""Decisions beside ``argmin``: defaults, refusals, places, and what a child leaves behind."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import skstruct.spaces
from skstruct.exceptions import NoFacetError
from skstruct.spaces import BaseSpace, Decoded, LabelSets, Sequences, SolverSpace, Solving
from skstruct.spaces.indicator_sets.embeddings import SizedSets


class Coin(BaseSpace):
    """One number, -1 or 1, and no answers beside the core."""

    def validate(self, Y):
        return np.asarray(Y).reshape(-1, 1)

    def embed(self, Z):
        return np.asarray(Z, float)

    def argmin(self, costs):
        outputs, values = np.where(costs > 0, -1, 1), -np.abs(costs).sum(axis=1)
        return Decoded(outputs, values, values)


def test_what_follows_from_the_core():
    space = Coin()
    solving = Solving.of(space)
    assert solving.discrete
    assert solving.separable
    assert solving.program() is None
    assert solving.tensor_argmin(None) is None
    assert solving.quick() is space
    flags = solving.coordinates_apart, solving.decodes_chains, solving.decodes_relaxed
    assert not any((*flags, solving.decides_from_means))


@pytest.mark.parametrize(
    ("question", "given", "what"),
    [
        ("argmin_of_means", 4, "decisions from means"),
        ("argmin_chains", 2, "chains"),
        ("kbest_chains", 3, "chains"),
        ("distribution_of_chains", 2, "chains"),
        ("argmin_relaxed", 1, "relaxed decoder"),
        ("argmin_shared", 2, "costs of pairs"),
        ("argmin_relaxed_shared", 2, "costs of pairs"),
    ],
)
def test_what_is_refused(question, given, what):
    with pytest.raises(NoFacetError, match=f"^Coin has no {what}.$"):
        getattr(Solving.of(Coin()), question)(*[None] * given)


def test_places_are_of_their_kind():
    for name in skstruct.spaces.__all__:
        getattr(skstruct.spaces, name)  # brings the places of its structure
    assert len(Solving._places) > 15
    for structure in list(Solving._places):
        assert issubclass(Solving._nearest(structure), Solving), structure


def test_another_argmin_leaves_its_twins_behind():
    class Opposite(LabelSets):
        def argmin(self, costs):
            return super().argmin(-costs)

    class OppositeSizes(SizedSets):
        def argmin(self, costs):
            return super().argmin(-costs)

    class OnDevice(type(Solving.of(Opposite(list("ab"))))):
        def tensor_argmin(self, backend):
            return len

    sets = LabelSets(list("ab"))
    assert Solving.of(sets).answers("program", "tensor_argmin")
    assert Solving.of(Opposite(list("ab"))).tensor_argmin(None) is None
    assert Solving.of(Opposite(list("ab"))).program() is not None
    assert Solving.of(SizedSets(sets)).decides_from_means
    assert not Solving.of(OppositeSizes(sets)).decides_from_means

    class Again(Opposite):
        pass

    Solving.at(Opposite, OnDevice)
    assert Solving.of(Again(list("ab"))).tensor_argmin(None) is len
    assert Solving.of(sets).answers("tensor_argmin")


def test_what_a_solver_tells():
    for binary in (True, False):
        solving = Solving.of(SolverSpace(lambda costs: costs, binary=binary))
        assert solving.discrete is binary
        assert not solving.separable


def test_chains_of_other_lengths():
    unary = np.array([[0.0, 1.0], [2.0, 0.5], [0.3, 0.2]])
    found = Solving.of(Sequences("ab", (1, 2))).argmin_chains(unary, [0, 2, 3])
    assert_array_equal(found.outputs, [[0, 1], [1, -1]])
