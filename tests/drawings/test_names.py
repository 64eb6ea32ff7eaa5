# SPDX-License-Identifier: BSD-3-Clause
"""Names are data, whatever they say; large outputs are drawn in part; files and notebooks."""

import itertools
import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skstruct.drawings import draw, stylesheet
from skstruct.drawings.svg import fitting, width_of
from skstruct.spaces import Cycles, Hierarchy, LabelSets, Rankings, Sequences, Tournaments

HARMFUL = [
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "' onload='alert(1)",
    "&lt;b&gt;", "]]>", "<!--", "\x00\x1b", "\ufffe", "{{ 7 * 7 }}", "שלום", "😀" * 30,
    "\u202egnp.exe", "a" * 5000, "", " ", "javascript:alert(1)", "url(x)",
]  # fmt: skip
NAMES = st.lists(st.text(max_size=30), min_size=2, max_size=6, unique=True)


def nodes_of(drawing):
    root = ET.fromstring(drawing.svg)
    return [node for node in root.iter() if node.get("data-part") is not None]


@pytest.mark.parametrize("structure", [
    lambda names: (LabelSets(names), np.ones(len(names), int)),
    lambda names: (Hierarchy([], names), np.ones(len(names), int)),
    lambda names: (Hierarchy(list(itertools.pairwise(names))), np.ones(len(names), int)),
    lambda names: (Rankings(names), np.arange(1.0, len(names) + 1)),
    lambda names: (Sequences(names, length=len(names)), np.arange(len(names))),
    lambda names: (Tournaments(names), np.ones(len(names) * (len(names) - 1) // 2, int)),
])  # fmt: skip
def test_harmful_names_stay_names(structure):
    space, z = structure(HARMFUL)
    drawing = draw(space, z, truth=z, title=HARMFUL[0])
    root = ET.fromstring(drawing.svg)
    tags = {node.tag.rpartition("}")[2] for node in root.iter()}
    assert tags <= {
        "svg",
        "title",
        "desc",
        "g",
        "rect",
        "text",
        "line",
        "path",
        "circle",
        "polygon",
    }
    assert not [key for node in root.iter() for key in node.attrib if key.startswith("on")]
    drawing.svg.encode("utf-8")
    json.dumps(drawing.parts).encode("utf-8")
    known = {part["key"] for part in drawing.parts}
    assert {node.get("data-part") for node in nodes_of(drawing)} <= known
    for part in drawing.parts:
        json.loads(part["key"])


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(NAMES, st.data())
def test_any_names_and_any_hierarchy(names, data):
    """Keys are the names; what is cut is whole in the title."""
    above = [data.draw(st.integers(-1, j - 1)) for j in range(1, len(names))]
    edges = [(names[a], names[j]) for j, a in enumerate(above, 1) if a >= 0]
    space = Hierarchy(edges, names)
    z, truth = (data.draw(st.sampled_from(space.enumerate().tolist())) for _ in range(2))
    drawing = draw(space, z, truth=truth, marginals=np.linspace(1, 0, len(names)))
    found = {json.loads(node.get("data-part")): node for node in nodes_of(drawing)}
    assert set(found) == set(names)
    for j, label in enumerate(space.labels_):
        classes = found[label].get("class").split()
        assert ("predicted" in classes) == bool(z[j])
        assert ("missed" in classes) == bool(truth[j] and not z[j])
        assert ("wrong" in classes) == bool(z[j] and not truth[j])
        assert found[label][0].text == found[label].get("aria-label")


@given(st.text(max_size=80), st.floats(30, 300))
def test_names_are_cut_to_their_room(name, room):
    assert width_of(fitting(name, room)) <= max(room, 32.0)


def test_parts_of_an_unknown_truth_are_neither_right_nor_wrong():
    drawing = draw(LabelSets(["a", "b", "c"]), [1, 1, 0], truth=[1, -1, -1])
    assert [part["true"] for part in drawing.parts] == [True, None, None]
    assert drawing.text == "Predicted: a, b. All of it is true."


def test_large_outputs_are_drawn_in_part():
    space = Hierarchy([(f"n{(j - 1) // 3}", f"n{j}") for j in range(1, 1000)])
    rng = np.random.default_rng(0)
    z = (space.dag_.ancestors[[400, 777, 998]].sum(axis=0) > 0).astype(int)
    drawing = draw(space, z, marginals=rng.random(1000))
    n = len(nodes_of(drawing))
    assert n <= 60
    assert f"… {1000 - n} more labels" in drawing.svg
    assert len(drawing.parts) == 1000
    assert len(drawing.svg) < 60_000
    labels = draw(LabelSets(range(500)), np.ones(500, int))
    assert len(nodes_of(labels)) == 60
    assert "… 440 more labels" in labels.svg


def test_a_large_hierarchy_shows_what_matters_with_all_above_it():
    space = Hierarchy([(f"n{(j - 1) // 3}", f"n{j}") for j in range(1, 1000)])
    z = space.validate([["n0", "n1", "n4", "n13"]])[0]
    truth = space.validate([["n0", "n2", "n7", "n23"]])[0]
    shown = {json.loads(node.get("data-part")) for node in nodes_of(draw(space, z, truth=truth))}
    assert {"n0", "n1", "n4", "n13", "n2", "n7", "n23"} <= shown


def test_long_sequences_and_rankings():
    space = Sequences("ab", length=(1, 200))
    drawing = draw(space, np.zeros(200, int), words=["word"] * 200)
    assert "… 140 more positions" in drawing.svg
    drawing = draw(Rankings(range(100)), np.arange(1.0, 101.0))
    assert "… 70 more items" in drawing.svg


def test_coordinates_are_checked():
    space = Cycles(list("abc"))
    z = space.validate([list("abc")])[0]
    with pytest.raises(ValueError, match="no coordinates of 'c'"):
        draw(space, z, coordinates={"a": (0, 0), "b": (1, 1)})
    with pytest.raises(ValueError, match="3 nodes need two finite coordinates"):
        draw(space, z, coordinates=[[0, 0], [1, np.nan], [2, 2]])
    assert len(nodes_of(draw(space, z, coordinates=[[0, 0], [0, 0], [0, 0]]))) == 3


def test_constraints_are_checked():
    with pytest.raises(ValueError, match='fixed "in" or "out"'):
        draw(LabelSets("ab"), [1, 0], constraints={'"a"': "yes"})


def test_files_and_notebooks_hold_their_style(tmp_path):
    drawing = draw(LabelSets("ab"), [1, 0], truth=[0, 1], title="Two labels")
    path = drawing.save(tmp_path / "two.svg")
    root = ET.parse(path).getroot()
    assert root[0].tag.endswith("style")
    assert root[0].text == stylesheet()
    assert "<style" not in drawing.svg
    assert drawing._repr_svg_() == drawing._repr_html_() == path.read_text().rstrip("\n")
    assert drawing.text == "Predicted: a. Wrong: a. Missed: b."
