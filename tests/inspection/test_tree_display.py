# SPDX-License-Identifier: BSD-3-Clause
"""Label graphs are drawn whole, with boxes that do not cover each other."""

from itertools import combinations
from types import SimpleNamespace

import matplotlib
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot
from matplotlib.colors import same_color

from skstruct.datasets.generated_labels import random_tree_edges
from skstruct.inspection import TreeDisplay
from skstruct.inspection.layout import graph_layout
from skstruct.inspection.trees import ATTRACTING, REPELLING

matplotlib.use("Agg")


def weighted(edges, nodes=()):
    """A graph with weights 1, -2, 3, ... in the order of the edges."""
    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    for number, (a, b) in enumerate(edges, start=1):
        graph.add_edge(a, b, weight=float(number if number % 2 else -number))
    return graph


def boxes(display):
    """Extents in pixels of all boxes of labels, by their text."""
    display.figure_.canvas.draw()
    texts = [text for text in display.ax_.texts if text.get_zorder() == 3]
    return {text.get_text(): text.get_bbox_patch().get_window_extent() for text in texts}


def overlap(a, b) -> bool:
    return min(a.x1, b.x1) > max(a.x0, b.x0) and min(a.y1, b.y1) > max(a.y0, b.y0)


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 14))
    pairs = list(combinations(range(n), 2))
    if draw(st.booleans()):
        edges = random_tree_edges(n, draw(st.integers(0, 99))).tolist()
        kept = [tuple(edge) for edge in edges if draw(st.integers(0, 3))]
    else:
        kept = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return list(range(n)), kept


@given(graphs(), st.integers(0, 99))
def test_boxes_lie_apart_and_inside(graph, seed):
    nodes, edges = graph
    rng = np.random.default_rng(seed)
    width, height = dict(zip(nodes, rng.uniform(0.2, 1.5, len(nodes)))), 0.3
    layout = graph_layout(nodes, edges, width, height)
    assert set(layout.position) == set(nodes)
    for node, (x, y) in layout.position.items():
        assert width[node] / 2 - 1e-9 <= x <= layout.width - width[node] / 2 + 1e-9
        assert height / 2 - 1e-9 <= y <= layout.height - height / 2 + 1e-9
    for a, b in combinations(nodes, 2):
        (x, y), (u, v) = layout.position[a], layout.position[b]
        beside = abs(x - u) >= (width[a] + width[b]) / 2 - 1e-9
        assert beside or abs(y - v) >= height - 1e-9


@settings(max_examples=10)
@given(st.integers(2, 60), st.integers(0, 99))
def test_neighbours_in_a_tree_are_one_column_apart(n, seed):
    edges = random_tree_edges(n, seed).tolist()
    layout = graph_layout(list(range(n)), edges, dict.fromkeys(range(n), 1.0), 0.3)
    assert all(abs(layout.depth[a] - layout.depth[b]) == 1 for a, b in edges)
    assert 2 * max(layout.depth.values()) <= n  # grown from the middle


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "full"), [(6, False), (14, False), (45, False), (6, True), (14, True), (30, True)]
)
def test_rendered_boxes_lie_apart(n, full):
    names = [f"label {j}" if j % 4 else f"a rather long label, {j}" for j in range(n)]
    pairs = combinations(names, 2) if full else random_tree_edges(n, 0)
    edges = pairs if full else [(names[a], names[b]) for a, b in pairs]
    display = TreeDisplay(weighted(edges), shares=np.linspace(0, 1, n)).plot()
    drawn = boxes(display)
    assert len(drawn) == n
    assert len(display.ax_.patches) == (n * (n - 1) // 2 if full else n - 1)
    assert not any(overlap(a, b) for a, b in combinations(drawn.values(), 2))
    whole = display.figure_.bbox
    assert all(whole.x0 <= box.x0 and box.x1 <= whole.x1 for box in drawn.values())
    assert all(whole.y0 <= box.y0 and box.y1 <= whole.y1 for box in drawn.values())
    pyplot.close(display.figure_)


def test_weights_are_written_and_coloured_by_their_sign():
    display = TreeDisplay(weighted([("a", "b"), ("b", "c")])).plot()
    weights = {t.get_text(): t.get_color() for t in display.ax_.texts if t.get_zorder() == 2}
    assert weights == {"+1.00": ATTRACTING, "−2.00": REPELLING}
    thin, wide = display.ax_.patches
    assert thin.get_linewidth() < wide.get_linewidth()
    assert same_color(wide.get_edgecolor(), REPELLING)
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["attracting", "repelling"]


@pytest.mark.parametrize(
    ("weight", "written"), [(0.034, "+0.034"), (0.5, "+0.50"), (12.34, "+12.3"), (567.8, "+568")]
)
def test_weights_have_the_decimals_they_need(weight, written):
    display = TreeDisplay(nx.Graph([("a", "b", {"weight": weight})])).plot()
    assert written in {text.get_text() for text in display.ax_.texts}


def test_large_graphs_write_no_weights():
    display = TreeDisplay(weighted(combinations("abcdefghij", 2))).plot()
    assert len(display.ax_.texts) == 10
    alphas = [patch.get_alpha() for patch in display.ax_.patches]
    assert alphas == sorted(alphas)  # the strongest on top


def test_labels_without_an_edge_stand_below():
    display = TreeDisplay(weighted([("a", "b"), ("b", "c")], nodes=["x", "a", "y"])).plot()
    drawn = boxes(display)
    lowest = min(drawn[name].y0 for name in "abc")
    assert all(drawn[name].y1 < lowest for name in "xy")
    only = TreeDisplay(weighted([], nodes="xy")).plot()
    assert set(boxes(only)) == {"x", "y"}
    assert only.ax_.get_legend() is None


def test_shares_by_label_or_in_order():
    graph = weighted([("a", "b")])
    by_name = TreeDisplay(graph, shares={"b": 0.25, "a": 1.0}).plot()
    assert set(boxes(by_name)) == {"a\n1.00", "b\n0.25"}
    assert set(boxes(TreeDisplay(graph, shares=[1.0, 0.25]).plot())) == set(boxes(by_name))
    fills = {text.get_text()[0]: text.get_bbox_patch().get_facecolor()[0]
             for text in by_name.ax_.texts if text.get_zorder() == 3}  # fmt: skip
    assert fills["a"] < fills["b"] < 1.0  # the darker the more frequent
    with pytest.raises(ValueError, match="no share for the label 'b'"):
        TreeDisplay(graph, shares={"a": 1.0}).plot()
    with pytest.raises(ValueError, match="2 labels need as many shares; got 3"):
        TreeDisplay(graph, shares=[1, 2, 3]).plot()


def test_graphs_without_weights_names_with_dollars_and_given_axes():
    _, axes = pyplot.subplots(1, 2, figsize=(6, 2))
    display = TreeDisplay(nx.path_graph(["$a$ b", "c", 7])).plot(axes[1])
    assert display.ax_ is axes[1]
    assert set(boxes(display)) == {"$a$ b", "c", "7"}
    assert len(display.ax_.texts) == 3
    inside = axes[1].get_window_extent()
    assert all(inside.x0 <= b.x0 and b.x1 <= inside.x1 for b in boxes(display).values())


def test_the_tree_of_a_learner_is_drawn_before_its_graph():
    tree, graph = weighted([("a", "b")]), weighted([("c", "d")])
    shown = TreeDisplay.from_estimator(SimpleNamespace(tree_=tree, graph_=graph))
    assert set(boxes(shown)) == {"a", "b"}
    assert set(boxes(TreeDisplay.from_estimator(SimpleNamespace(graph_=graph)))) == {"c", "d"}
    with pytest.raises(ValueError, match="SimpleNamespace has none"):
        TreeDisplay.from_estimator(SimpleNamespace())
