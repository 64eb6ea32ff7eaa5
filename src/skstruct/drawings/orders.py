# SPDX-License-Identifier: BSD-3-Clause
"""Rankings as ladders, beside the true one; levels of a scale side by side."""

from functools import partial
from typing import Any

import numpy as np

from skstruct.drawings.parts import DrawnPart, Scene, mark, pinned
from skstruct.drawings.rows import frame_of, listed
from skstruct.drawings.sheets import ROW, WIDTH, Sheet
from skstruct.drawings.svg import box, curve, fitting, text, width_of

MOST_ITEMS = 30
STEP, SPACED = ROW + 6.0, ROW + 18.0  # from rung to rung, with room for a number
LEFT, WIDE, RIGHT = 34.0, 158.0, 246.0  # columns of a ladder: where they begin, how broad


def draw_ranking(scene: Scene) -> Sheet:
    """The predicted ranking, best first; beside it the true one, joined item by item."""
    space = scene.space
    items, z = list(space.items_), np.asarray(scene.z, dtype=np.float64)
    truth = None if scene.truth is None else np.asarray(scene.truth, dtype=np.float64)
    pairs, positions = _marginals(scene, len(items))
    made = _parts(scene, items, z, truth, positions)
    sheet = Sheet([], 0.0, list(made.values()), words=scene.description.part_words)
    order = _order(z)
    shown = order[:MOST_ITEMS]
    sheet.hidden = len(order) - len(shown)
    line = {j: i for i, j in enumerate(shown)}
    top = 22.0 if truth is not None else 0.0
    step = STEP if pairs is None else SPACED
    if truth is not None:
        heads = ((LEFT, "predicted"), (RIGHT, "true"))
        sheet.body += [text(x, 12.0, said, "small") for x, said in heads]
        sheet.body += _slopes(z, truth, line, top, step)
    for j, i in line.items():
        sheet.body.append(_rung(scene, made[j, _rank(z[j])], items[j], LEFT, top + step * i, z[j]))
        if pairs is not None and i:
            sheet.body.append(_between(pairs[shown[i - 1], j], top + step * i))
    if truth is not None:
        for i, j in enumerate(_order(truth)[:MOST_ITEMS]):
            part = made[j, _rank(truth[j])]
            sheet.body.append(_true_rung(scene, part, items[j], top + step * i, truth[j]))
    unranked = [items[j] for j in np.flatnonzero(np.isnan(z)).tolist()]
    sheet.note = f"not ranked: {fitting(', '.join(map(str, unranked)), 330.0)}" if unranked else ""
    if pairs is not None and len(shown) > 1:
        sheet.note = "between two items: how probable this order of them is"
    n_true = 0 if truth is None else min(MOST_ITEMS, len(_order(truth)))
    sheet.height = top + step * max(len(shown), n_true, 1) - 4.0
    return sheet


def _order(ranks: np.ndarray) -> list[int]:
    """Items with a rank, best first."""
    found = np.argsort(np.where(np.isnan(ranks), np.inf, ranks), kind="stable")
    return [int(j) for j in found if not np.isnan(ranks[j])]


def _rank(rank: float) -> Any:
    """A whole rank as such: ties may be between."""
    return int(rank) if float(rank).is_integer() else float(rank)


def _marginals(scene: Scene, d: int) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Probabilities of pairs, or of positions: an item and itself are at one half of pairs."""
    if scene.marginals is None:
        return None, None
    row = np.asarray(scene.marginals, dtype=np.float64)
    if row.size != d * d:
        return None, None
    table = np.clip(row.reshape(d, d), 0.0, 1.0)
    return (table, None) if np.allclose(table.diagonal(), 0.5) else (None, table)


def _parts(
    scene: Scene, items: list[Any], z: np.ndarray, truth: Any, positions: Any
) -> dict[Any, DrawnPart]:
    """Items with their ranks: predicted ones, then true ones that are others, then fixed ones."""
    made: dict[Any, DrawnPart] = {}
    for ranks in (z, truth):
        for j in [] if ranks is None else _order(ranks):
            rank = _rank(ranks[j])
            if (j, rank) in made:
                continue
            true = None if truth is None or np.isnan(truth[j]) else bool(truth[j] == rank)
            share = None
            if positions is not None and isinstance(rank, int) and 1 <= rank <= len(items):
                share = float(positions[j, rank - 1])
            said = partial("{} at rank {}".format, items[j], rank)
            made[j, rank] = DrawnPart(
                (items[j], rank), bool(z[j] == rank), true, share, called=said
            )
    scene.fixed([*made.values()])
    return made


def _rung(scene: Scene, part: DrawnPart, item: Any, x: float, y: float, rank: float) -> str:
    before = 18.0 if part.verdict else 0.0
    said = fitting(item, WIDE - 24.0 - before - (36.0 if part.probability is not None else 0.0))
    middle = y + ROW / 2
    inside = [
        text(x - 8, middle + 5, f"{rank:g}", "small number", "end"),
        frame_of(part, x + WIDE / 2, middle, WIDE, ROW - 4),
        mark(part, x + 14, middle),
        text(x + 10 + before, middle + 5, said),
        pinned(part, x + WIDE - 2, middle - 9),
    ]
    if part.probability is not None:
        share = f"{part.probability:.2f}"
        inside.append(text(x + WIDE - 8, middle + 4.5, share, "small ink number", "end"))
    return scene.group(part, *inside)


def _true_rung(scene: Scene, part: DrawnPart, item: Any, y: float, rank: float) -> str:
    """The same on the right: a part that was missed, or once more the name of one that is right."""
    middle = y + ROW / 2
    if part.predicted:
        said = fitting(item, WIDE - 24.0)
        return text(RIGHT + 10, middle + 5, said, "plain")
    return _rung(scene, part, item, RIGHT, y, rank)


def _slopes(
    z: np.ndarray, truth: np.ndarray, line: dict[int, int], top: float, step: float
) -> list[str]:
    drawn = []
    for i, j in enumerate(_order(truth)[:MOST_ITEMS]):
        if j in line:
            y, v = (top + step * at + ROW / 2 for at in (line[j], i))
            x, u = LEFT + WIDE, RIGHT - (4.0 if z[j] == truth[j] else 24.0)
            middle = (x + u) / 2
            kind = "arc" if z[j] == truth[j] else "arc moved"
            drawn.append(curve([(x, y), (middle, y), (middle, v), (u, v)], kind))
    return drawn


def _between(share: float, y: float) -> str:
    return text(LEFT + WIDE / 2, y - 5.0, f"{share:.2f}", "small number", "middle")


# Levels of a scale.


def draw_levels(scene: Scene) -> Sheet:
    """Levels from the least to the largest, as columns where there are few."""
    space = scene.space
    names = list(space.labels_)
    rows = np.zeros((2, len(names)), dtype=int)
    rows[0, int(np.sum(scene.z)) - 1] = 1
    if scene.truth is not None:
        rows[1, int(np.sum(scene.truth)) - 1] = 1
    truth = None if scene.truth is None else rows[1]
    parts = scene.parts(names, rows[0], truth, scene.marginals)
    wide = (WIDTH - 4.0) / max(1, len(names))
    widest = max(width_of(part.name) for part in parts)
    if wide < 34.0 or widest > wide - 12.0:
        return listed(scene, parts)
    sheet = Sheet([], 0.0, parts, words=scene.description.part_words)
    known = any(part.probability is not None for part in parts)
    high = 90.0 / max(max(part.probability or 0.0 for part in parts), 0.01) if known else 0.0
    for j, part in enumerate(parts):
        sheet.body.append(_column(scene, part, 2.0 + wide * (j + 0.5), min(wide, 90.0), high))
    sheet.keys = ["share"] if known else []
    below = 26.0 if any(part.verdict for part in parts) else 4.0
    sheet.height = (110.0 if known else 2.0) + ROW + below
    return sheet


def _column(scene: Scene, part: DrawnPart, x: float, wide: float, high: float) -> str:
    """A bar of its probability, the level in its frame below, and its mark below that."""
    inside, base = [], 108.0 if high else 0.0
    if part.probability is not None:
        tall = high * part.probability
        inside = [
            box(x - wide / 2, 0, wide, base, "hit", rx=0.0),
            box(x - 13, base - tall - 2, 26, tall, "share", rx=2.0),
            text(x, base - tall - 7, f"{part.probability:.2f}", "small number", "middle"),
        ]
    inside += [
        box(x - wide / 2 + 3, base + 2, wide - 6, ROW - 2, "box"),
        text(x, base + 20, part.name, anchor="middle"),
        mark(part, x, base + 42),
        pinned(part, x + wide / 2 - 6, base + 3),
    ]
    return scene.group(part, *inside)
