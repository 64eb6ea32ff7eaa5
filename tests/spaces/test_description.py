# SPDX-License-Identifier: BSD-3-Clause
"""Descriptions: what follows from the core of a space, and where structures have their own."""

import importlib

import numpy as np
import pytest

from skstruct import spaces as S
from skstruct.drawings import draw
from skstruct.exceptions import NoFacetError
from skstruct.spaces import Description, Embeddings


class Runs:
    """Ones that follow one another, ``(first, last)``: the names that a description needs."""

    def restore(self, Z):
        return [(int(np.flatnonzero(z)[0]), int(np.flatnonzero(z)[-1])) for z in Z]


def test_an_output_of_a_space_without_a_description_is_one_part():
    description = Description.of(Runs())
    (part,) = description.parts_of([0, 1, 1]).parts
    assert part.name == "(1, 2)"
    assert part.key == description.parts_of([0, 1, 1]).parts[0].key
    assert description.output_kind == description.drawn_as == "other"
    assert description.part_words == ("label", "labels")
    assert description.part_names() is None
    assert description.output_dag() is None
    assert description.examples(np.eye(2, dtype=int)) == [(0, 0), (1, 1)]
    assert description.coordinate_range(0) == description.given_range(0) == (-np.inf, np.inf)
    assert not description.answers("parts_of")
    assert not description.answers("part_names")


def test_it_is_drawn_as_a_list():
    assert draw(Runs(), [0, 1, 1], truth=[1, 1, 1]).text.startswith("Predicted: (1, 2).")


def test_no_part_of_it_is_fixed():
    description = Description.of(Runs())
    assert description.fixable == ()
    assert description.fixing([], []) == {}
    with pytest.raises(ValueError, match=r"Runs: a label cannot be fixed in\."):
        description.fixing(["a"], [])


def test_what_has_no_graph_says_so():
    with pytest.raises(NoFacetError, match=r"^Runs has no graph that its outputs are drawn in\.$"):
        Description.of(Runs()).drawn_graph()


def test_a_view_has_the_parts_of_its_space():
    space = S.LabelSets(["a", "b", "c"]).fit([["a"]])
    view = Embeddings.of(space).view("outputs", np.eye(3, dtype=np.int8))
    assert [part.name for part in Description.of(view).parts_of([0, 1, 1]).parts] == ["b", "c"]


def test_every_place_is_a_description():
    for name in S.__all__:
        getattr(S, name)
    importlib.import_module("skstruct.spaces.cost_vectors")
    importlib.import_module("skstruct.spaces.observed_rows")
    assert len(Description._places) >= 25
    for structure in Description._places:
        assert issubclass(Description._nearest(structure), Description), structure


@pytest.mark.parametrize(("space", "kind", "drawn"), [
    (S.Classes(["a", "b"]), "classes", "classes"),
    (S.Candidates(["a", "b"]), "other", "classes"),
    (S.Hierarchy([("a", "b")]), "hierarchy", "hierarchy"),
    (S.Ordinal(["low", "high"]), "ordinal", "ordinal"),
    (S.LabelSets(["a"]), "labels", "labels"),
    (S.Cycles(4), "tour", "graph"),
    (S.Matchings(4), "labels", "graph"),
    (S.Assignments(2), "labels", "assignment"),
    (S.ShortestPaths.grid(2, 2), "parts", "graph"),
    (S.Rankings(["a", "b"]), "ranking", "ranking"),
    (S.Sequences(["A"], 2), "sequence", "sequence"),
    (S.Tournaments(["a", "b"]), "other", "wins"),
    (S.Interval(0.0, 1.0), "quantities", "quantities"),
    (S.Flows([("s", "t")], {"s": 1.0, "t": -1.0}), "flow", "flow"),
])  # fmt: skip
def test_kinds(space, kind, drawn):
    description = Description.of(space)
    assert (description.output_kind, description.drawn_as) == (kind, drawn)
