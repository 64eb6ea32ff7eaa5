# SPDX-License-Identifier: BSD-3-Clause
"""Outputs known in part: answers that follow from the core, and where structures have their own."""

from importlib import import_module

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skstruct import spaces
from skstruct.exceptions import NoFacetError
from skstruct.spaces import (
    Candidates,
    Classes,
    Embeddings,
    Hierarchy,
    Known,
    LabelSets,
    OneOf,
    Rankings,
)
from skstruct.spaces.base import BaseSpace, ListedOutputs
from skstruct.spaces.common.narrowing import naming_all, with_learned_names
from skstruct.spaces.contracts import Decoded
from space_cases import SMALL

READING = {
    "Box", "Candidates", "Classes", "Cliques", "BinaryPolytope", "Flows", "GraphNodes",
    "Hierarchy", "Interval", "Knapsacks", "LabelSets", "PairwiseLabels", "Polytope", "Portfolios",
    "Rankings", "Sequences", "Simplex", "SolverSpace", "Sphere", "Strings",
}  # fmt: skip
BY_COLUMN = READING - {"Rankings", "Strings"}  # some embedding of theirs has columns known alone
BY_COLUMN |= {
    "Assignments", "Cycles", "Graphs", "Matchings", "PartialOrders", "SpanningTrees",
}  # fmt: skip


class Bits(BaseSpace):
    """Two bits, by the core of a space alone."""

    constraints = None

    def validate(self, Y):
        return np.asarray(Y, dtype=np.int8)

    def restore(self, Z):
        return Z

    def embed(self, Z):
        return np.asarray(Z, dtype=np.float64)

    def contains(self, Z):
        return np.isin(Z, (0, 1)).all(axis=1)

    def argmin(self, costs):
        outputs = (costs < 0).astype(np.int8)
        values = np.minimum(costs, 0).sum(axis=1)
        return Decoded(outputs, values, values)

    def part_names(self):
        return None


def test_a_space_of_its_own_reads_whole_rows_and_candidates():
    known = Known.of(Bits())
    assert not known.answers("read")
    assert not known.has_gaps([[0, 1], [0, np.nan]])
    assert known.read_gaps([[0, 1]]) is None
    Y = [[0, 1], OneOf([[0, 0], [1, 1]])]
    assert known.has_gaps(Y)
    partial = known.read(Y)
    assert partial.complete.tolist() == [True, False]
    assert partial.allowed.argmin(np.array([[1.0, 1.0], [-1.0, 0.5]])).outputs.tolist() == [
        [0, 1],
        [1, 1],
    ]
    with pytest.raises(ValueError, match="Bits does not read outputs of which parts are missing"):
        known.read([[0, 1]], [[True, False]])


def test_what_follows_from_the_core():
    space, Z = Bits(), np.array([[0, 1], [1, 1]])
    known, seen = Known.of(space), np.array([[True, True], [True, False]])
    assert known.targets(seen) is None
    assert_array_equal(known.columns(seen, 3), [[True] * 3, [False] * 3])
    assert_array_equal(known.where_known([[1.0, 2.0], [3.0, 4.0]], seen), [[1, 2], [np.nan] * 2])
    assert known.filled(Z, None) is None
    assert known.masked(Z, seen) is None
    assert not known.estimates_targets
    assert known.are_complete(Z).all()
    assert known.within_range(Z) is space
    ((rows, part),) = known.in_parts(2)
    assert rows.tolist() == [0, 1]
    assert part is space


def test_limits_of_what_is_not_known_are_those_of_numbers():
    with pytest.raises(NoFacetError, match=r"^Bits has no limits of numbers that are not known\.$"):
        Known.of(Bits()).limits(None)


def test_every_place_is_of_its_kind():
    for name in spaces.__all__:
        getattr(spaces, name)
    import_module("skstruct.spaces.cost_vectors")
    import_module("skstruct.spaces.observed_rows")
    for structure, place in Known._places.items():
        found = place
        if isinstance(place, str):
            module, _, name = place.partition(":")
            found = getattr(import_module(module), name)
        assert issubclass(found, Known), structure
        assert found.__dict__["__slots__"] == ()
        assert found.__doc__


@pytest.mark.parametrize("name", SMALL)
def test_which_structures_read_parts(name):
    known = Known.of(SMALL[name][0])
    assert known.answers("read") == (name in READING)
    assert known.answers("targets") == (name in BY_COLUMN)


def test_views_read_as_the_whole_space_does():
    space = LabelSets(["a", "b"])
    view = ListedOutputs(space, np.array([[0, 1], [1, 0]]))
    Y = np.array([[1, np.nan], [0, 1]])
    assert_array_equal(Known.of(view).read(Y).known, Known.of(space).read(Y).known)
    assert Known.of(view).targets(np.ones((2, 2), bool)) is None


def test_rows_of_lists_and_of_narrowed_spaces_are_decoded_by_part():
    space = LabelSets(["a", "b", "c"])
    allowed = Known.of(space).read([["a"], OneOf([["a"], ["b"]]), {"max_size": 1}]).allowed
    found = dict(enumerate(Known.of(allowed).in_parts(3)))
    assert sorted(np.concatenate([rows for rows, _ in found.values()])) == [0, 1, 2]
    lists = next(part for rows, part in found.values() if rows.tolist() == [1])
    view = Embeddings.of(space).view("outputs", np.array([[1, 0, 0], [0, 1, 0]]))
    assert Known.of(lists).seen_by(view).space is view
    assert Known.of(lists).within_range(lists.listed) is lists


@pytest.mark.parametrize(
    ("space", "Y"),
    [
        (Classes(), ["x", "y"]),
        (LabelSets(), [{"a"}, {"b"}]),
        (Rankings(), [["a", "b"], ["b", "a"]]),
        (spaces.Box(), [[0.0, 1.0]]),
        (spaces.Ordinal(), [1, 2, 3]),
    ],
)
def test_learned_names_are_given_to_a_copy(space, Y):
    Z = space.fit(Y).validate(Y)
    named = naming_all(space)
    assert named is not space
    assert_array_equal(named.fit(Y[:1]).validate(Y), Z)
    fresh = with_learned_names(space)
    assert "format_" not in vars(fresh)
    assert_array_equal(fresh.fit(Y[:1]).validate(Y), Z)


def test_what_a_hierarchy_leaves_open_is_a_gap():
    edges = [("a", "b"), ("a", "c")]
    assert not Known.of(Hierarchy(edges)).has_gaps([{"a"}])
    assert Known.of(Hierarchy(edges, open_below=True)).has_gaps([{"a"}])


def test_candidates_are_known_as_a_whole_or_from_a_list():
    partial = Known.of(Candidates(["x", "y", "z"])).read(["x", OneOf(["y", "z"]), None])
    assert partial.complete.tolist() == [True, False, False]
