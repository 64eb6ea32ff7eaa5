# SPDX-License-Identifier: BSD-3-Clause
"""Tours, paths, trees, matchings and other graphs: nodes, and the edges that an output has."""

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from skstruct.drawings.parts import DrawnPart, Scene, label_text, mark, pinned
from skstruct.drawings.places import Places, in_columns, on_a_circle, placed
from skstruct.drawings.rows import chosen_rows, listed
from skstruct.drawings.sheets import MOST, Sheet
from skstruct.drawings.svg import element, figure, line

PROBABLE = 0.05  # other edges that are drawn
MOST_NODES = 400  # of a graph that is still drawn as one
MOST_LAID_OUT = 40  # nodes of a network in columns
MOST_NAMED = 36  # nodes whose names find room on a circle
BACKGROUND = 300  # edges that are drawn pale below all others


def draw_graph(scene: Scene) -> Sheet:
    """Edges of the prediction between all nodes; arrows where they have a direction."""
    graph = scene.description.drawn_graph()
    between = " → " if graph.directed else " – "
    ends = [(graph.nodes[a], graph.nodes[b]) for a, b in graph.edges.tolist()]
    parts = scene.parts(ends, scene.z, scene.truth, scene.marginals)
    for part in parts:
        part.called = partial(label_text, part.label, 120, between)
    if len(graph.nodes) > MOST_NODES or not len(graph.nodes):
        return listed(scene, parts)
    shown = shown_edges(parts)
    at = edge_places(scene, graph, parts)
    sheet = Sheet([], at.height, parts, words=("edge", "edges"))
    sheet.hidden = sum(part.matters for part in parts) - sum(parts[e].matters for e in shown)
    chosen = graph.edges[shown] if len(shown) else np.zeros((0, 2), int)
    if scene.description.output_kind == "parts" and len(graph.edges) <= BACKGROUND:
        sheet.body += [_line(at, a, b, "arc") for a, b in graph.edges.tolist()]
    for e, (a, b) in zip(shown, chosen.tolist()):
        sheet.body.append(_edge(scene, parts[e], at, a, b, graph.directed))
    touched = {v for e, ends in zip(shown, chosen.tolist()) if parts[e].matters for v in ends}
    sheet.body += at.dots(touched)
    return sheet


def shown_edges(parts: list[DrawnPart]) -> list[int]:
    """Numbers of the edges that are drawn: the less they matter, the earlier, and so below."""
    share = [part.probability or 0.0 for part in parts]
    order = sorted(range(len(parts)), key=lambda e: (not parts[e].matters, -share[e]))
    kept = [e for e in order[:MOST] if parts[e].matters or share[e] > PROBABLE]
    return kept[::-1]


def edge_places(scene: Scene, graph: Any, parts: list[DrawnPart]) -> Places:
    """Nodes where they were said to be, in columns along the arcs of a network without cycles, or
    on a circle, along the prediction.
    """
    taken = [e for e, part in enumerate(parts) if part.matters]
    given = placed(scene.coordinates, graph.nodes)
    if given is not None:
        return given.clear_of(graph.edges[taken].tolist())
    if graph.directed and scene.description.output_kind == "parts":
        network = SimpleNamespace(nodes=graph.nodes, tails=graph.edges[:, 0],
                                  heads=graph.edges[:, 1])  # fmt: skip
        if len(graph.nodes) <= MOST_LAID_OUT:
            return in_columns(network).clear_of(graph.edges.tolist())
    taken = [e for e, part in enumerate(parts) if part.predicted]
    return on_a_circle(graph.nodes, graph.edges[taken])


def _line(at: Places, a: int, b: int, kind: str, **more: Any) -> str:
    (x, y), (u, v) = at.xy[a], at.xy[b]
    return line(x, y, u, v, kind, **more)


def _edge(scene: Scene, part: DrawnPart, at: Places, a: int, b: int, directed: bool) -> str:
    """A line, its mark in the middle, and an arrow; the paler, the less probable."""
    (x, y), (u, v) = at.xy[a], at.xy[b]
    share = None if part.matters or part.probability is None else float(part.probability)
    # Marks of two arcs between the same nodes do not meet.
    t = 0.6 if directed else 0.5
    middle = (1 - t) * x + t * u, (1 - t) * y + t * v
    inside = [_line(at, a, b, "hit-line"), _line(at, a, b, "edge", stroke_opacity=share)]
    if directed and (part.matters or (share or 0.0) > 0.2):
        inside.append(arrow(x, y, u, v, 0.4 if part.verdict else 0.6))
    if part.verdict:
        inside.append(element("circle", cx=middle[0], cy=middle[1], r=8.0, class_="halo"))
        inside.append(mark(part, *middle, 5.5))
    inside.append(pinned(part, (2 * x + u) / 3, (2 * y + v) / 3))
    return scene.group(part, *inside)


def arrow(x: float, y: float, u: float, v: float, at: float) -> str:
    """The head of an arrow on the way from (x, y) to (u, v)."""
    along = np.array([u - x, v - y])
    length = float(np.hypot(*along)) or 1.0
    ahead, aside = 7.0 * along / length, 4.5 * np.array([-along[1], along[0]]) / length
    tip = np.array([x, y]) + at * along + ahead / 2
    corners = (tip, tip - ahead + aside, tip - ahead - aside)
    points = " ".join(f"{figure(a)},{figure(b)}" for a, b in corners)
    return element("polygon", points=points, class_="arrow")


# Graphs of which nodes are predicted.


def draw_node(scene: Scene) -> Sheet:
    """One node of a graph."""
    space = scene.space
    names = list(space.labels_)
    parts = scene.parts(names, *chosen_rows(scene, len(names)), scene.marginals)
    return _nodes(scene, parts)


def draw_nodes(scene: Scene) -> Sheet:
    """Some nodes of a graph, such as labels that attract or repel each other."""
    return _nodes(scene, scene.parts(scene.space.labels_, scene.z, scene.truth, scene.marginals))


def _nodes(scene: Scene, parts: list[DrawnPart]) -> Sheet:
    graph = scene.description.drawn_graph()
    n, edges = len(parts), graph.edges
    if not 0 < n <= MOST_NAMED:
        return listed(scene, parts)
    complete = len(edges) >= n * (n - 1) / 2 and n > 3
    at = placed(scene.coordinates, graph.nodes)
    at = on_a_circle(graph.nodes, edges[:0] if complete else edges) if at is None else at
    sheet = Sheet([], at.height, parts, words=scene.description.part_words)
    for a, b in edges.tolist():
        both = parts[a].predicted and parts[b].predicted
        if both or not complete:
            said = _line(at, a, b, "arc taken" if both else "arc")
            sheet.body.insert(len(sheet.body) if both else 0, said)
    for v, part in enumerate(parts):
        x, y = at.xy[v]
        shade = None if part.probability is None else float(0.15 + 0.75 * part.probability)
        inside = [element("circle", cx=x, cy=y, r=10.0, class_="box")]
        if part.probability is not None:
            inside.append(element("circle", cx=x, cy=y, r=10.0, class_="share", fill_opacity=shade))
        if part.verdict:
            inside.append(element("circle", cx=x, cy=y, r=7.5, class_="halo"))
            inside.append(mark(part, x, y, 5.5))
        inside += [at.name(v, 16.0), pinned(part, x + 9, y - 9)]
        sheet.body.append(scene.group(part, *inside))
    sheet.keys = ["share"] if any(part.probability is not None for part in parts) else []
    return sheet
