# SPDX-License-Identifier: BSD-3-Clause
"""Targets and coordinates: what follows from the core, refusals, places."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import skstruct.spaces
from skstruct.spaces import BaseSpace, Coordinates, Embeddings, Hierarchy, Targets


class Coin(BaseSpace):
    """One number, -1 or 1, and no answers beside the core."""

    embedding = "sides"

    def embed(self, Z):
        return np.asarray(Z, float)


def test_what_follows_from_the_core():
    targets, coordinates = Targets.of(Coin()), Coordinates.of(Coin())
    Z = np.array([[1], [-1]])
    assert_array_equal(targets.targets(Z), Z)
    assert targets.outputs_of(Z) is Z
    assert targets.n_deciding(1) is None
    assert targets.blocks() is None
    assert len(targets.own_costs()) == 0
    assert coordinates.lift(Z, "sides") is Z
    assert coordinates.project(Z, "sides") is Z
    assert coordinates.key() is None
    assert not coordinates.is_list


def test_what_is_refused():
    coordinates, Z = Coordinates.of(Coin()), np.zeros((1, 1))
    with pytest.raises(ValueError, match="Coin embeds its outputs by sides; got costs of ranks"):
        coordinates.lift(Z, "ranks")
    with pytest.raises(ValueError, match="by sides; means of ranks cannot be read off these"):
        coordinates.project(Z, "ranks")


@pytest.mark.parametrize("kind", [Targets, Coordinates])
def test_places_are_of_their_kind(kind):
    for name in skstruct.spaces.__all__:
        getattr(skstruct.spaces, name)  # brings the places of its structure
    for structure in list(kind._places):
        assert issubclass(kind._nearest(structure), kind), structure


def test_what_structures_say():
    tree = Hierarchy([("drink", "tea"), ("drink", "milk")])
    assert_array_equal(Targets.of(tree).blocks(), tree.dag_.depth)
    listed = Embeddings.of(tree).view("outputs", np.array([[1, 1, 0]]))
    assert Coordinates.of(listed).is_list
    assert Coordinates.of(listed).key() == listed.listed_.tobytes()
