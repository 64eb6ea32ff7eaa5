# SPDX-License-Identifier: BSD-3-Clause
"""Numbers as bars on a scale, the true ones as marks on it."""

from functools import partial
from typing import Any

import numpy as np

from skstruct.drawings.parts import DrawnPart, Scene, label_text, number, pinned
from skstruct.drawings.sheets import MOST, WIDTH, Sheet
from skstruct.drawings.svg import SMALL, box, fitting, line, star, text, width_of
from skstruct.spaces import Description

STEP = 40.0
LEFT, RIGHT = 128.0, 342.0  # of the scale
APART = 30.0  # how many times larger one target may be than another on the same scale


def draw_quantities(scene: Scene) -> Sheet:
    """A row for each target: a bar to what is predicted, a star at what is true."""
    z = np.ravel(np.asarray(scene.z, dtype=np.float64))
    truth = None if scene.truth is None else np.ravel(np.asarray(scene.truth, dtype=np.float64))
    parts = _parts(scene, z, truth)
    low, high, own = scales(scene.description, z, truth)
    sheet = Sheet([], 0.0, parts, max(0, len(parts) - MOST), scene.description.part_words)
    for i, part in enumerate(parts[:MOST]):
        ends = (float(low[i]), float(high[i]))
        sheet.body.append(_row(scene, part, STEP * i + STEP / 2, *ends))
    sheet.height = STEP * min(len(parts), MOST)
    if parts and not (own and len(parts) > 1):
        sheet.body += _ends(float(low[0]), float(high[0]), sheet.height + 8.0)
        sheet.height += 14.0
    elif own:
        sheet.note = "each number on a scale of its own"
    sheet.keys = ["amount"] if truth is None else ["amount", "truth"]
    return sheet


def _parts(scene: Scene, z: np.ndarray, truth: Any) -> list[DrawnPart]:
    labels = list(scene.space.labels_)
    alone = labels == [0]
    made = []
    for j, label in enumerate(labels):
        true = None if truth is None or np.isnan(truth[j]) else float(truth[j])
        said = partial(label_text, "output" if alone else label)
        made.append(DrawnPart(label, True, called=said, value=float(z[j]), true_value=true))
    return scene.fixed(made)


def scales(
    description: Description, z: np.ndarray, truth: Any
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Least and largest number of each row's scale, and whether rows have their own.

    One scale for all where numbers are of about the same size: within given limits, and with zero
    where there are none.
    """
    d = len(z)
    seen = np.vstack([z, z if truth is None else np.where(np.isnan(truth), z, truth)])
    given = [description.given_range(j) for j in range(d)]
    limits = np.array(given, dtype=np.float64).reshape(d, 2)
    low = np.where(np.isfinite(limits[:, 0]), limits[:, 0], np.minimum(seen.min(axis=0), 0.0))
    high = np.where(np.isfinite(limits[:, 1]), limits[:, 1], np.maximum(seen.max(axis=0), 0.0))
    # Beyond its limits, a number still is on its scale.
    low, high = np.minimum(low, seen.min(axis=0)), np.maximum(high, seen.max(axis=0))
    size = np.maximum(np.abs(low), np.abs(high))
    some = size[size > 0]
    own = bool(len(some) and some.max() > APART * some.min())
    if not own and d:
        low, high = np.full(d, low.min()), np.full(d, high.max())
    same = high <= low
    return np.where(same, low - 0.5, low), np.where(same, high + 0.5, high), own


def _row(scene: Scene, part: DrawnPart, y: float, low: float, high: float) -> str:
    assert part.value is not None

    def across(value: float) -> float:
        return LEFT + (RIGHT - LEFT) * (value - low) / (high - low)

    zero = across(min(max(0.0, low), high))
    end = across(part.value)
    inside = [
        box(0, y - STEP / 2, WIDTH, STEP, "hit", rx=0.0),
        text(LEFT - 10, y + 5, fitting(part.name, LEFT - 16.0), anchor="end"),
        box(LEFT, y - 7, RIGHT - LEFT, 14, "track", rx=3.0),
        box(min(zero, end), y - 7, max(abs(end - zero), 2.0), 14, "amount", rx=2.0),
        text(
            WIDTH - 4,
            y + (5 if part.true_value is None else -1),
            number(part.value),
            "name number",
            "end",
        ),
        pinned(part, RIGHT + 12, y),
    ]
    if low < 0.0 < high:
        inside.append(line(zero, y - 11, zero, y + 11, "arc"))
    if part.true_value is not None:
        at = across(part.true_value)
        inside += [line(at, y - 11, at, y + 11, "true-line"), star(at, y - 12, 5.0, "mark-true")]
        said = number(part.true_value)
        inside.append(star(WIDTH - 14 - width_of(said, SMALL), y + 9.5, 4.5, "mark-true"))
        inside.append(text(WIDTH - 4, y + 14, said, "small number", "end"))
    return scene.group(part, *inside, fixable=False)


def _ends(low: float, high: float, y: float) -> list[str]:
    """The ends of a scale in small numbers."""
    return [text(LEFT, y, number(low), "small tiny number"),
            text(RIGHT, y, number(high), "small tiny number", "end")]  # fmt: skip
