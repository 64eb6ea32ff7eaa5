# SPDX-License-Identifier: BSD-3-Clause
"""Flows in their network: the broader an arc, the more it carries."""

from functools import partial
from typing import Any

import numpy as np

from skstruct.drawings.graphs import arrow
from skstruct.drawings.parts import DrawnPart, Scene, label_text, number
from skstruct.drawings.places import in_columns, placed
from skstruct.drawings.rows import listed
from skstruct.drawings.sheets import MOST, Sheet
from skstruct.drawings.svg import SMALL, box, element, line, star, text, width_of
from skstruct.tolerances import DRAWN_FLOW

BROAD = 16.0  # the largest amount
MOST_NODES = 60


def draw_flow(scene: Scene) -> Sheet:
    """Arcs as broad as what is predicted to flow along them, the true amount beside."""
    network = scene.space.network_
    flow = np.asarray(scene.z, dtype=np.float64)
    truth = None if scene.truth is None else np.asarray(scene.truth, dtype=np.float64)
    parts = _parts(scene, flow, truth)
    if len(network.nodes) > MOST_NODES:
        return listed(scene, [part for part in parts if part.value])
    at = placed(scene.coordinates, network.nodes)
    at = (at or in_columns(network)).clear_of(zip(network.tails.tolist(), network.heads.tolist()))
    capacity = np.where(np.isfinite(network.capacity), network.capacity, 0.0)
    amounts = [flow, capacity] + ([] if truth is None else [truth])
    top = max(float(np.max(amounts)), DRAWN_FLOW)
    size = flow if truth is None else np.maximum(flow, truth)
    shown = np.argsort(-size, kind="stable")[:MOST].tolist()
    sheet = Sheet([], at.height, parts, len(parts) - len(shown), scene.description.part_words)
    for a in reversed(shown):
        ends = at.xy[int(network.tails[a])], at.xy[int(network.heads[a])]
        room = BROAD * float(capacity[a]) / top
        sheet.body.append(_arc(scene, parts[a], ends, room, BROAD / top, len(shown) <= 24))
    sheet.body += at.dots(set(range(len(network.nodes))))
    sheet.keys = ["amount"] if truth is None else ["amount", "truth"]
    return sheet


def _parts(scene: Scene, flow: np.ndarray, truth: Any) -> list[DrawnPart]:
    made = []
    for a, label in enumerate(scene.space.labels_):
        true = None if truth is None else float(truth[a])
        said = partial(label_text, label, 120)
        amount = float(flow[a])
        made.append(
            DrawnPart(label, amount > DRAWN_FLOW, called=said, value=amount, true_value=true)
        )
    return scene.fixed(made)


def _arc(scene: Scene, part: DrawnPart, ends: Any, room: float, scale: float, numbers: bool) -> str:
    """A pale band for the capacity, what flows on it, and the true amount as a dashed line."""
    assert part.value is not None
    (x, y), (u, v) = ends
    along = np.array([u - x, v - y])
    length = float(np.hypot(*along)) or 1.0
    normal = np.array([-along[1], along[0]]) / length
    inside = [line(x, y, u, v, "hit-line")]
    if room > 0:
        inside.append(line(x, y, u, v, "capacity", stroke_width=float(room + 4.0)))
    inside.append(line(x, y, u, v, "arc"))
    if part.predicted:
        inside.append(line(x, y, u, v, "flow", stroke_width=float(max(scale * part.value, 1.5))))
        inside.append(arrow(x, y, u, v, 0.78))
    if part.true_value is not None and part.true_value > DRAWN_FLOW:
        dx, dy = normal * (scale * max(part.value, room / scale) / 2 + 4.0)
        ends_of = (x + dx, y + dy, u + dx, v + dy)
        wide = float(max(0.5 * scale * part.true_value, 1.5))
        inside.append(line(*ends_of, "true-flow", stroke_width=wide))
    if numbers:
        # Not in the middle, where arcs may cross.
        at = 0.55 * np.array([x, y]) + 0.45 * np.array([u, v])
        inside += _amounts(part, float(at[0]), float(at[1]))
    return scene.group(part, *inside, fixable=False)


def _amounts(part: DrawnPart, x: float, y: float) -> list[str]:
    """The amount, and after a star the true one."""
    assert part.value is not None
    said = number(round(part.value, 2))
    true = "" if part.true_value is None else number(round(part.true_value, 2))
    first, second = width_of(said, SMALL), width_of(true, SMALL)
    width = first + (second + 16.0 if true else 0.0) + 8.0
    left = x - width / 2 + 4.0
    drawn = [box(x - width / 2, y - 9, width, 18, "halo", rx=4.0),
             text(left, y + 4.5, said, "small ink number")]  # fmt: skip
    if true:
        drawn.append(star(left + first + 8, y, 4.5, "mark-true"))
        drawn.append(text(left + first + 15, y + 4.5, true, "small number"))
    return [element("g", *drawn)]
