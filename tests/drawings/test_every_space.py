# SPDX-License-Identifier: BSD-3-Clause
"""Every public space is drawn: the parts of its outputs, with what is true and probable of them."""

import json
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from skstruct.drawings import draw, stylesheet
from skstruct.spaces import Description
from space_cases import SMALL

SVG = "{http://www.w3.org/2000/svg}"
TAGS = {"svg", "title", "desc", "g", "rect", "text", "line", "path", "circle", "polygon"}
ATTRIBUTES = {
    "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "width", "height", "d", "points",
    "class", "viewBox", "role", "aria-label", "aria-pressed", "tabindex", "data-part",
    "text-anchor", "direction", "fill-opacity", "stroke-opacity", "stroke-width",
}  # fmt: skip


def parsed(drawing):
    """The tree of a drawing, which is harmless and of one size with its view."""
    root = ET.fromstring(drawing.svg)
    for node in root.iter():
        assert node.tag.removeprefix(SVG) in TAGS
        assert set(node.attrib) <= ATTRIBUTES, set(node.attrib) - ATTRIBUTES
        assert "url(" not in json.dumps(node.attrib) + (node.text or "")
    assert root.get("width") == "100%"
    assert root.get("role") == "group"
    assert root.get("viewBox").startswith("0 0 440 ")
    assert [child.tag for child in root[:2]] == [f"{SVG}title", f"{SVG}desc"]
    assert root[1].text == drawing.text
    return root


def drawn_parts(drawing):
    return {node.get("data-part"): node for node in parsed(drawing).iter() if node.get("data-part")}


def case(name):
    space, outputs = SMALL[name]
    space = space.fit(outputs)
    Z = space.validate(outputs)
    return space, Z[0], Z[-1]


def keys(space, z):
    """What parts are called, from what the space itself says of an output."""
    description = Description.of(space)
    said = description.parts_of(z).parts
    if description.output_kind in ("quantities", "flow"):
        return {json.dumps(label, separators=(",", ":")) for label in space.labels_}
    if description.drawn_as == "sequence":
        names = [(part.key[0], part.name) for part in said]
    elif description.drawn_as == "ranking":
        names = [(part.name, int(part.key[1])) for part in said]
    elif description.output_kind == "tour":
        stops = [part.name for part in said]
        names = list(zip(stops, stops[1:] + stops[:1]))
    elif description.drawn_as == "states":
        names = [(label, space.states_[s]) for label, s in zip(space.labels_, z)]
    elif description.drawn_as == "wins":
        names = [pair[::sign] for pair, sign in zip(space.labels_, z) if sign]
    else:
        names = [part.name for part in said]
    plain = [name.item() if isinstance(name, np.generic) else name for name in names]
    return {json.dumps(name, separators=(",", ":")) for name in plain}


@pytest.mark.parametrize("name", SMALL)
def test_parts_are_those_that_are_predicted(name):
    space, z, truth = case(name)
    drawing = draw(space, z, truth=truth)
    shown = drawn_parts(drawing)
    predicted = {key for key, node in shown.items() if "predicted" in node.get("class").split()}
    assert predicted <= keys(space, z)
    if Description.of(space).output_kind != "flow":  # arcs without flow are drawn, too
        assert predicted == keys(space, z)
    records = {part["key"]: part for part in drawing.parts}
    assert len(records) == len(drawing.parts)
    assert {key for key, part in records.items() if part["predicted"]} == predicted
    assert set(shown) <= set(records)
    for key, node in shown.items():
        assert node.get("aria-label").startswith(records[key]["name"])


@pytest.mark.parametrize("name", SMALL)
def test_truths_are_marked(name):
    space, z, truth = case(name)
    plain, drawing = draw(space, z), draw(space, z, truth=truth)
    assert all(part["true"] is None for part in plain.parts)
    if Description.of(space).output_kind in ("quantities", "flow"):
        values = [part["true_value"] for part in drawing.parts]
        np.testing.assert_allclose(values, np.ravel(truth))
        assert "mark-true" in drawing.svg
        assert "mark-true" not in plain.svg
        return
    both = keys(space, z), keys(space, truth)
    for key, node in drawn_parts(drawing).items():
        here, there = (key in some for some in both)
        verdict = {(True, True): "right", (True, False): "wrong", (False, True): "missed"}
        classes = set(node.get("class").split()) & {"right", "wrong", "missed"}
        assert classes == ({verdict[here, there]} if here or there else set())
        marks = {child.get("class") for child in node if "mark" in (child.get("class") or "")}
        assert marks == {f"mark-{kind}" for kind in classes}
        said = node.get("aria-label").rsplit(": ", 1)[1].split(", ")
        assert ("true" in said) == there
        assert ("predicted" in said) == here


@pytest.mark.parametrize("name", SMALL)
def test_parts_that_are_fixed_say_so(name):
    space, z, truth = case(name)
    first = draw(space, z, truth=truth).parts[0]["key"]
    for state in ("in", "out"):
        drawing = draw(space, z, truth=truth, constraints={first: state})
        node = drawn_parts(drawing)[first]
        assert f"fixed-{state}" in node.get("class").split()
        assert f"fixed {state}" in node.get("aria-label")
        assert [part["state"] for part in drawing.parts if part["key"] == first] == [state]
        assert drawing.svg.count(f'class="badge badge-{state}"') >= 1


@pytest.mark.parametrize("name", SMALL)
def test_what_cannot_be_clicked_is_no_button(name):
    space, z, truth = case(name)
    static = parsed(draw(space, z, truth=truth, clickable=False))
    assert not [
        node for node in static.iter() if node.get("tabindex") or node.get("role") == "button"
    ]
    nodes = drawn_parts(draw(space, z)).values()
    fixable = Description.of(space).output_kind not in ("quantities", "flow")
    assert {node.get("role") for node in nodes} == {"button" if fixable else "img"}


MARGINALS = {  # of three parts, as predict_marginals has them
    "Classes": [0.2, 0.5, 0.3], "LabelSets": [0.9, 0.4, 0.1], "Hierarchy": [0.9, 0.4, 0.1],
    "PairwiseLabels": [0.9, 0.4, 0.1], "SpanningTrees": [0.9, 0.4, 0.6],
    "Matchings": [0.9, 0.4, 0.6], "Graphs": [0.9, 0.4, 0.6], "Cliques": [0.9, 0.4, 0.1],
    "Ordinal": [0.2, 0.5, 0.3], "Poset": [1.0, 0.4, 0.1], "Knapsacks": [0.9, 0.4, 0.1],
    "BinaryPolytope": [0.9, 0.1, 0.5], "Assignments": [0.7, 0.3, 0.3, 0.7],
    "Candidates": [0.3, 0.7], "GraphNodes": [0.1, 0.2, 0.3, 0.4],
    "ShortestPaths": [0.7, 0.3, 0.7, 0.3],
}  # fmt: skip


@pytest.mark.parametrize("name", MARGINALS)
def test_probabilities_are_shown(name):
    space, z, _ = case(name)
    given = MARGINALS[name]
    drawing = draw(space, z, marginals=given)
    found = sorted(part["probability"] for part in drawing.parts)
    np.testing.assert_allclose(found, sorted(given))
    for part in drawing.parts:
        said = f"probability {part['probability']:.2f}"
        node = drawn_parts(drawing).get(part["key"])
        assert node is None or said in node.get("aria-label")
    assert draw(space, z, marginals=np.array(given) + 5.0).parts[0]["probability"] == 1.0


def test_probabilities_of_symbols_and_positions():
    space, z, truth = case("Sequences")
    shares = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    parts = {part["key"]: part for part in draw(space, z, truth=truth, marginals=shares).parts}
    assert parts['[0,"a"]']["probability"] == pytest.approx(0.8)
    assert parts['[0,"b"]']["probability"] == pytest.approx(0.1)
    flat = draw(space, z, truth=truth, marginals=shares.ravel())
    assert {part["key"]: part for part in flat.parts} == parts
    space, z, truth = case("Rankings")
    parts = {part["key"]: part for part in draw(space, z, truth=truth, marginals=shares).parts}
    assert parts['["a",1]']["probability"] == pytest.approx(0.8)
    pairs = draw(space, z, marginals=np.full((3, 3), 0.5))
    assert [part["probability"] for part in pairs.parts] == [None] * 3
    assert ">0.50</text>" in pairs.svg


def test_letters_stay_large_enough_on_a_phone():
    """Drawings are 440 units wide, and a phone shows about 354 dots of them."""
    assert "font-size: 14px" in stylesheet()
    sizes = {part.split("px")[0] for part in stylesheet().split("font-size: ")[1:]}
    assert min(map(float, sizes)) * 354 / 440 > 10
