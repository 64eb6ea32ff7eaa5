# SPDX-License-Identifier: BSD-3-Clause
"""Assignments in two columns, who wins against whom in a table, states of labels in rows."""

from functools import partial
from typing import Any

import numpy as np

from skstruct.drawings.graphs import shown_edges
from skstruct.drawings.parts import DrawnPart, Scene, label_text, mark, pinned
from skstruct.drawings.rows import frame_of, listed
from skstruct.drawings.sheets import ROW, WIDTH, Sheet
from skstruct.drawings.svg import box, curve, element, fitting, text, width_of

COLUMN = 130.0  # of names on both sides
MOST_ROWS = 30
MOST_ITEMS = 12  # of a table
MOST_STATES = 4


def draw_assignment(scene: Scene) -> Sheet:
    """Those who are given something on the left, what they are given on the right."""
    space, graph = scene.space, scene.description.drawn_graph()
    parts = scene.parts(space.labels_, scene.z, scene.truth, scene.marginals)
    for part in parts:
        part.called = partial(label_text, part.label, 120)
    n_left = int(graph.edges[:, 1].min()) if len(parts) else 0
    n_right = len(graph.nodes) - n_left
    if max(n_left, n_right) > MOST_ROWS or not parts:
        return listed(scene, parts)
    step = ROW + 6.0
    height = step * max(n_left, n_right)
    rows = [*range(n_left), *range(n_right)]
    first = [(height - step * n) / 2 for n in (n_left, n_right)]
    y = [first[v >= n_left] + step * row + step / 2 for v, row in enumerate(rows)]
    sheet = Sheet([], height, parts, words=("pair", "pairs"))
    shown = shown_edges(parts)
    for e in shown:
        a, b = graph.edges[e].tolist()
        sheet.body.append(_pair(scene, parts[e], y[a], y[b]))
    for v, node in enumerate(graph.nodes):
        said = fitting(label_text(node), COLUMN - 14.0)
        left = v < n_left
        x = COLUMN - 10.0 if left else WIDTH - COLUMN + 10.0
        name = text(x, y[v] + 5.0, said, anchor="end" if left else "start")
        at = COLUMN if left else WIDTH - COLUMN
        dot = element("circle", cx=at, cy=float(y[v]), r=4.0, class_="node on")
        sheet.body.append(element("g", name, dot, class_="place"))
    return sheet


def _pair(scene: Scene, part: DrawnPart, y: float, v: float) -> str:
    x, u = COLUMN, WIDTH - COLUMN
    bends = [(x, y), (x + 60, y), (u - 60, v), (u, v)]
    share = None if part.matters or part.probability is None else float(part.probability)
    # Marks near the right, where curves have parted.
    middle = _on_curve(bends, 0.72)
    inside = [curve(bends, "hit-line"), curve(bends, "edge", stroke_opacity=share)]
    if part.verdict:
        inside.append(element("circle", cx=middle[0], cy=middle[1], r=8.0, class_="halo"))
        inside.append(mark(part, *middle, 5.5))
    inside.append(pinned(part, *_on_curve(bends, 0.3)))
    return scene.group(part, *inside)


def _on_curve(points: list[Any], t: float) -> tuple[float, float]:
    weights = np.array([(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3])
    x, y = weights @ np.array(points)
    return float(x), float(y)


# Tournaments: a table, those who win most first.


def draw_wins(scene: Scene) -> Sheet:
    """Who is in a row beats who is in a column."""
    space = scene.space
    items = list(space.items_)
    number = {item: i for i, item in enumerate(items)}
    ends = np.array([(number[a], number[b]) for a, b in space.labels_]).reshape(-1, 2)
    parts = _wins(scene, ends, items)
    won = np.zeros(len(items))
    for (a, _), part in parts.items():
        won[a] += part.predicted
    order = np.argsort(-won, kind="stable")[:MOST_ITEMS].tolist()
    sheet = Sheet([], 0.0, list(parts.values()), words=scene.description.part_words)
    sheet.hidden = len(ends) - len(order) * (len(order) - 1) // 2
    left = 150.0
    cell = min(34.0, (WIDTH - left - 4.0) / max(1, len(order)))
    for row, a in enumerate(order):
        y = 24.0 + cell * row
        said = f"{row + 1}  {fitting(items[a], left - 40.0)}"
        sheet.body.append(text(0.0, y + cell / 2 + 5, said))
        number_of = text(left + cell * (row + 0.5), 16.0, row + 1, "small number", "middle")
        sheet.body.append(number_of)
        for column, b in enumerate(order):
            if a != b and (a, b) in parts:
                part, x = parts[a, b], left + cell * (column + 0.5)
                inside = [frame_of(part, x, y + cell / 2, cell - 5, cell - 5),
                          mark(part, x, y + cell / 2, min(6.5, cell / 4)),
                          pinned(part, x + cell / 2 - 6, y + 6)]  # fmt: skip
                sheet.body.append(scene.group(part, *inside))
    sheet.height = 24.0 + cell * len(order) + 2.0
    sheet.note = "row wins against column"
    return sheet


def _wins(scene: Scene, ends: np.ndarray, items: list[Any]) -> dict[Any, DrawnPart]:
    """Both wins of every pair."""
    z = np.asarray(scene.z)
    truth = None if scene.truth is None else np.asarray(scene.truth)
    found = {}
    for e, (a, b) in enumerate(ends.tolist()):
        for winner, loser, sign in ((a, b, 1), (b, a, -1)):
            true = None if truth is None else bool(truth[e] == sign)
            label = (items[winner], items[loser])
            said = partial(label_text, label, 120)
            found[winner, loser] = DrawnPart(label, bool(z[e] == sign), true, called=said)
    scene.fixed([*found.values()])
    return found


# Labels that each have a state.


def draw_states(scene: Scene) -> Sheet:
    """A row for each label: its state, and the true one where it is another."""
    space = scene.space
    labels, states = list(space.labels_), list(space.states_)
    z = [int(s) for s in scene.z]
    truth = None if scene.truth is None else [int(s) for s in scene.truth]
    sheet = Sheet([], 0.0, [], words=("label", "labels"))
    for j, label in enumerate(labels):
        row = []
        for s, state in enumerate(states):
            true = None if truth is None or truth[j] < 0 else truth[j] == s
            said = partial("{}: {}".format, label, state)
            row.append(DrawnPart((label, state), z[j] == s, true, called=said))
        sheet.parts += scene.fixed(row)
        if j < MOST_ROWS:
            sheet.body += _states(scene, label, row, states, j)
    sheet.hidden = max(0, len(labels) - MOST_ROWS)
    sheet.height = ROW * min(len(labels), MOST_ROWS)
    return sheet


def _states(scene: Scene, label: Any, row: list[DrawnPart], states: list[Any], j: int) -> list[str]:
    y, x = ROW * j + ROW / 2, 142.0
    drawn = [text(130.0, y + 5, fitting(label, 126.0), "plain", "end")]
    few = len(states) <= MOST_STATES
    for part, state in zip(row, states):
        if not (few or part.matters):
            continue
        before = 18.0 if part.verdict else 0.0
        said = fitting(state, 110.0)
        width = width_of(said) + 20.0 + before
        if x + width > WIDTH:
            break
        inside = [
            box(x, y - ROW / 2 + 3, width, ROW - 6, "box"),
            mark(part, x + 14, y),
            text(x + 10 + before, y + 5, said),
            pinned(part, x + width - 2, y - 8),
        ]
        drawn.append(scene.group(part, *inside))
        x += width + 8.0
    return drawn
