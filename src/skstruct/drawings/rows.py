# SPDX-License-Identifier: BSD-3-Clause
"""Labels and classes one below the other with bars of their probabilities, or as chips."""

from functools import partial
from typing import Any

import numpy as np

from skstruct.drawings.parts import DrawnPart, Scene, chosen_parts, mark, pinned
from skstruct.drawings.sheets import MOST, ROW, WIDTH, Sheet
from skstruct.drawings.svg import box, fitting, text, width_of
from skstruct.spaces import Description

OTHERS = 12  # parts that are neither predicted nor true, the most probable
CHIPS = 30
BAR, NUMBER = 130.0, 40.0  # widths of the columns on the right


def draw_labels(scene: Scene) -> Sheet:
    """Marked labels: bars where probabilities are known, chips where they are not."""
    space = scene.space
    parts = scene.parts(space.labels_, scene.z, scene.truth, scene.marginals)
    return listed(scene, parts)


def draw_classes(scene: Scene) -> Sheet:
    """The classes, the most probable first; one of them is predicted."""
    space = scene.space
    names = list(space.labels_)
    parts = scene.parts(names, *chosen_rows(scene, len(names)), scene.marginals)
    if scene.marginals is not None:
        parts.sort(key=lambda part: -(part.probability or 0.0))
    return listed(scene, parts, one=True)


def chosen_rows(scene: Scene, n: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Prediction and truth by number as 0/1 rows."""
    rows = np.zeros((2, n), dtype=int)
    rows[0, int(scene.z)] = 1
    if scene.truth is None or not int(scene.truth) >= 0:
        return rows[0], None
    if int(scene.truth) < n:  # a truth that no candidate is
        rows[1, int(scene.truth)] = 1
    return rows[0], rows[1]


def draw_list(scene: Scene) -> Sheet:
    """Any output: the parts that the space names, those of the prediction and of the truth."""
    predicted = _named(scene.description, scene.z)
    true = None if scene.truth is None else _named(scene.description, scene.truth)
    parts = []
    for key in dict.fromkeys([*predicted, *(true or ())]):
        found = (predicted if key in predicted else true or {})[key]
        true_too = None if true is None else key in true
        parts.append(DrawnPart(found[0], key in predicted, true_too, called=partial(str, found[1])))
    scene.fixed(parts)
    return listed(scene, parts)


def _named(description: Description, z: Any) -> dict[Any, tuple[Any, str]]:
    """Parts of an output by what makes them the same: their names, and these in words."""
    said = {}
    for place, part in enumerate(description.parts_of(z).parts):
        label = part.name if part.value is None else (part.name, float(part.value))
        words = str(label) if part.value is None else f"{part.name}: {part.value:.4g}"
        key = part.key if part.key is not None else (place, str(label))
        said[key] = (label, f"{part.before}{words}{part.after}")
    return said


def listed(scene: Scene, parts: list[DrawnPart], one: bool = False) -> Sheet:
    """Rows with bars, or chips where no probability is known."""
    known = any(part.probability is not None for part in parts)
    shown = chosen_parts(parts, MOST, OTHERS if known else CHIPS)
    sheet = Sheet([], 0.0, parts, len(parts) - len(shown), scene.description.part_words)
    if known:
        sheet.body = [_row(scene, part, i, one) for i, part in enumerate(shown)]
        sheet.height = ROW * len(shown)
        sheet.keys = ["share"]
    else:
        sheet.body, sheet.height = _chips(scene, shown, one)
    if not shown:
        sheet.body, sheet.height = (
            [text(8.0, 18.0, f"no {scene.description.part_words[1]}", "soft")],
            ROW,
        )
    return sheet


def _row(scene: Scene, part: DrawnPart, i: int, one: bool) -> str:
    """A mark, a framed name, a bar and a number."""
    top, middle = ROW * i, ROW * i + ROW / 2
    left = 24.0
    room = WIDTH - left - BAR - NUMBER - 36.0
    said = fitting(part.name, room - 20.0)
    width = min(width_of(said) + 20.0, room)
    inside = [
        box(0, top, WIDTH, ROW, "hit", rx=0.0),
        mark(part, 10.0, middle),
        box(left, top + 3, width, ROW - 6, "box", rx=11.0 if one else 5.0),
        text(left + 10, middle + 5, said),
        pinned(part, left + width + 12, middle),
    ]
    if part.probability is not None:
        x = WIDTH - BAR - NUMBER
        inside += [
            box(x, middle - 5, BAR, 10, "track", rx=2.0),
            box(x, middle - 5, BAR * part.probability, 10, "share", rx=2.0),
            text(WIDTH - 2, middle + 4.5, f"{part.probability:.2f}", "small number", "end"),
        ]
    return scene.group(part, *inside)


def _chips(scene: Scene, parts: list[DrawnPart], one: bool) -> tuple[list[str], float]:
    """Names in frames side by side, in as many lines as they take."""
    drawn, x, top = [], 2.0, 0.0
    for part in parts:
        said = fitting(part.name, WIDTH - 70.0)
        before = 20.0 if part.verdict else 0.0
        width = width_of(said) + 20.0 + before + (18.0 if part.state else 0.0)
        if x > 2.0 and x + width > WIDTH - 2.0:
            x, top = 2.0, top + ROW + 4.0
        middle = top + ROW / 2
        inside = [
            box(x, top + 2, width, ROW - 4, "box", rx=12.0 if one else 5.0),
            mark(part, x + 15, middle),
            text(x + 10 + before, middle + 5, said),
            pinned(part, x + width - 12, middle),
        ]
        drawn.append(scene.group(part, *inside))
        x += width + 8.0
    return drawn, top + ROW


def frame_of(part: DrawnPart, x: float, y: float, width: float, height: float) -> str:
    """The frame of a part around (x, y), shaded by its probability."""
    shade = ""
    if part.probability is not None:
        share = 0.55 * part.probability
        shade = box(x - width / 2, y - height / 2, width, height, "share", fill_opacity=share)
    return box(x - width / 2, y - height / 2, width, height, "box") + shade
