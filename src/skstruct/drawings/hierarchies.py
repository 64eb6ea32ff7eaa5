# SPDX-License-Identifier: BSD-3-Clause
"""Label sets in their hierarchy: from the top down where it is small, indented where it is not."""

from typing import Any

import numpy as np

from skstruct.drawings.parts import DrawnPart, Scene, mark, pinned
from skstruct.drawings.rows import frame_of
from skstruct.drawings.sheets import MOST, ROW, WIDTH, Sheet
from skstruct.drawings.svg import SMALL, box, curve, element, figure, fitting, text, width_of
from skstruct.inspection.hierarchies import hierarchy_layout, most_likely

SMALL_TREE = 16  # labels that are drawn from the top down, where there is room
LEVEL, HIGH = 72.0, 42.0  # from one level to the next, and of a box
LEAST = 0.02  # labels that are less probable are left out of a large hierarchy
NUMBER = 44.0


def draw_hierarchy(scene: Scene) -> Sheet:
    """The labels around what is predicted, true or probable, each below those above it."""
    space = scene.space
    parts = scene.parts(space.labels_, scene.z, scene.truth, scene.marginals)
    dag = scene.description.output_dag()
    shown = _shown(dag, parts)
    sheet = Sheet([], 0.0, parts, len(parts) - len(shown), scene.description.part_words)
    sheet.keys = ["share"] if any(part.probability is not None for part in parts) else []
    if not (len(shown) <= SMALL_TREE and _top_down(scene, sheet, dag, shown)):
        _indented(scene, sheet, dag, shown)
    return sheet


def _shown(dag: Any, parts: list[DrawnPart]) -> np.ndarray:
    """Numbers of the labels to draw: all of a small hierarchy, else what matters and what is
    probable, with all above, then what hangs just below.
    """
    if len(parts) <= MOST // 2:
        return np.arange(len(parts))
    share = np.array([part.probability or 0.0 for part in parts])
    matters = np.array([part.matters for part in parts])
    score = 2.0 * matters + share
    n_probable = int(((score > LEAST) | matters).sum())
    kept = most_likely(dag, score, min(MOST, max(n_probable, 1)))
    inside = set(kept.tolist())
    for parent, child in zip(dag.parents.tolist(), dag.children.tolist()):
        if len(inside) >= MOST // 2:
            break
        if parent in inside and parts[parent].matters:
            inside.add(child)
    return np.array(sorted(inside))


# From the top down.


def _top_down(scene: Scene, sheet: Sheet, dag: Any, shown: np.ndarray) -> bool:
    """Boxes joined by curves; False, and nothing drawn, where they are too broad."""
    parts = sheet.parts
    names = {j: fitting(parts[j].name, 150.0) for j in shown.tolist()}
    width = np.zeros(dag.n_nodes)
    for j, name in names.items():
        width[j] = max(44.0, width_of(name) + 22.0) + (18.0 if parts[j].verdict else 0.0)
    across = hierarchy_layout(dag, shown, (width + 10.0) / 100.0)
    high = HIGH if sheet.keys else HIGH - 14.0
    step = LEVEL if sheet.keys else LEVEL - 14.0
    at = {j: (100.0 * (x + 0.5), high / 2 + 6.0 - step * y) for j, (x, y) in across.items()}
    right = max(at[j][0] + width[j] / 2 for j in at)
    if right > WIDTH - 4.0:
        return False
    left = (WIDTH - right) / 2
    at = {j: (x + left, y) for j, (x, y) in at.items()}
    sheet.body += _arcs(dag, parts, at, high)
    for j, (x, y) in at.items():
        sheet.body.append(_box(scene, parts[j], names[j], (x, y), float(width[j]), high))
    sheet.height = max(y for _, y in at.values()) + high / 2 + 4.0
    return True


def _arcs(dag: Any, parts: list[DrawnPart], at: dict[int, Any], high: float) -> list[str]:
    drawn = []
    for parent, child in zip(dag.parents.tolist(), dag.children.tolist()):
        if parent in at and child in at:
            (x, y), (u, v) = at[parent], at[child]
            y, v = y + high / 2, v - high / 2
            both = parts[parent].predicted and parts[child].predicted
            bends = [(x, y), (x, (y + v) / 2), (u, (y + v) / 2), (u, v)]
            drawn.append(curve(bends, "arc taken" if both else "arc"))
    return drawn


def _box(
    scene: Scene, part: DrawnPart, name: str, at: tuple[float, float], width: float, high: float
) -> str:
    """A label in its frame, its probability below its name."""
    x, y = at
    before = 18.0 if part.verdict else 0.0
    known = part.probability is not None
    inside = [
        frame_of(part, x, y, width, high),
        mark(part, x - width / 2 + 14.0, y - (8.0 if known else 0.0)),
        text(x + before / 2, y + (-3.0 if known else 5.0), name, anchor="middle"),
        pinned(part, x + width / 2 - 3, y - high / 2 + 2),
    ]
    if known:
        said = f"{part.probability:.2f}"
        inside.append(text(x, y + 14, said, "small ink number", "middle"))
    return scene.group(part, *inside)


# Indented: one line for each label.


def _indented(scene: Scene, sheet: Sheet, dag: Any, shown: np.ndarray) -> None:
    """Lines from the top down, a label below the first of those above it."""
    order, parent = _lines(dag, shown)
    level: dict[int, int] = {}
    for j in order:
        level[j] = 0 if parent[j] is None else level[parent[j]] + 1
    step = min(22.0, 150.0 / max(1, *level.values()))
    line = {j: i for i, j in enumerate(order)}
    place = {j: (6.0 + step * level[j], ROW * line[j] + ROW / 2) for j in order}
    more = _below(dag, shown)
    for j in order:
        above = parent[j]
        if above is not None:
            (x, y), (u, v) = place[above], place[j]
            both = sheet.parts[above].predicted and sheet.parts[j].predicted
            elbow = f"M{figure(x + 8)},{figure(y + 12)} V{figure(v)} H{figure(u)}"
            kind = "arc taken" if both else "arc"
            # What is taken lies above what is not.
            sheet.body.insert(len(sheet.body) if both else 0, element("path", d=elbow, class_=kind))
    for j in order:
        others = [p for p in _parents(dag, j) if p != parent[j]]
        names = [sheet.parts[p].name for p in others]
        sheet.body.append(_line(scene, sheet.parts[j], place[j], more.get(j, 0), names))
    sheet.height = ROW * len(order)


def _lines(dag: Any, shown: np.ndarray) -> tuple[list[int], dict[int, Any]]:
    """The labels in the order of their lines, and the one that each hangs below."""
    inside = set(shown.tolist())
    parent: dict[int, Any] = dict.fromkeys(shown.tolist())
    below: dict[int, list[int]] = {j: [] for j in inside}
    for above, child in zip(dag.parents.tolist(), dag.children.tolist()):
        if above in inside and child in inside and parent[child] is None:
            parent[child] = above
            below[above].append(child)
    order, waiting = [], [j for j in reversed(shown.tolist()) if parent[j] is None]
    while waiting:
        j = waiting.pop()
        order.append(j)
        waiting += reversed(below[j])
    return order, parent


def _parents(dag: Any, j: int) -> list[int]:
    return dag.parents[dag.children == j].tolist()


def _below(dag: Any, shown: np.ndarray) -> dict[int, int]:
    """How many labels just below each are not drawn."""
    inside = set(shown.tolist())
    count: dict[int, int] = {}
    for above, child in zip(dag.parents.tolist(), dag.children.tolist()):
        if above in inside and child not in inside:
            count[above] = count.get(above, 0) + 1
    return count


def _line(
    scene: Scene, part: DrawnPart, at: tuple[float, float], more: int, others: list[str]
) -> str:
    """One line: frame, mark, name, what else it is below, and its probability at the end."""
    x, y = at
    before = 18.0 if part.verdict else 0.0
    room = WIDTH - NUMBER - x - 44.0
    name = fitting(part.name, room - before)
    width = width_of(name) + 20.0 + before
    inside = [
        box(0, y - ROW / 2, WIDTH, ROW, "hit", rx=0.0),
        frame_of(part, x + width / 2, y, width, ROW - 6),
        mark(part, x + 14, y),
        text(x + 10 + before, y + 5, name),
        pinned(part, x + width + 11, y),
    ]
    after = x + width + (26.0 if part.state else 8.0)
    said = ", ".join(filter(None, [f"+{more}" if more else "", _also(others)]))
    if said and WIDTH - NUMBER - after > 40.0:
        shown = fitting(said, WIDTH - NUMBER - after, SMALL)
        inside.append(text(after, y + 4.5, shown, "small soft"))
    if part.probability is not None:
        inside.append(text(WIDTH - 2, y + 4.5, f"{part.probability:.2f}", "small number", "end"))
    return scene.group(part, *inside)


def _also(others: list[str]) -> str:
    return f"also below {', '.join(others)}" if others else ""
