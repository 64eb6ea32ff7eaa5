# SPDX-License-Identifier: BSD-3-Clause
"""Sequences in lines like text: words, below each its symbol, the darker the more probable."""

from functools import partial
from typing import Any

import numpy as np

from skstruct.drawings.parts import DrawnPart, Scene, mark, pinned
from skstruct.drawings.rows import frame_of
from skstruct.drawings.sheets import MOST, WIDTH, Sheet
from skstruct.drawings.svg import fitting, text, width_of
from skstruct.inspection.drawing import written

LINE, HIGH = 24.0, 24.0  # between what stands below a word, and of a frame
LEAST = 0.01  # symbols that are less probable are not among the parts
BROADEST = 150.0


def draw_sequence(scene: Scene) -> Sheet:
    """Positions from left to right, in as many lines as it takes."""
    space = scene.space
    symbols = list(space.symbols_)
    z = [int(s) for s in np.ravel(scene.z) if s >= 0]
    truth = None if scene.truth is None else [int(s) for s in np.ravel(scene.truth) if s >= 0]
    shares = _shares(scene.marginals, len(symbols))
    words = None if scene.words is None else list(scene.words)
    sheet = Sheet([], 0.0, [], words=("position", "positions"))
    columns = []
    for t in range(max(len(z), len(truth or ()))):
        column = _column(scene, t, symbols, z, truth, shares)
        sheet.parts += [*column]
        columns.append((t, [part for part in column if part.matters]))
    sheet.hidden = max(0, len(columns) - MOST)
    _set(scene, sheet, columns[:MOST], words)
    sheet.keys = ["share"] if shares is not None else []
    return sheet


def _shares(marginals: Any, q: int) -> np.ndarray | None:
    """Probabilities (T, q), however they were given."""
    if marginals is None or not q:
        return None
    row = np.asarray(marginals, dtype=np.float64)
    return np.clip(row.reshape(-1, q), 0.0, 1.0) if row.size % q == 0 else None


def _column(
    scene: Scene, t: int, symbols: list[Any], z: list[int], truth: Any, shares: Any
) -> list[DrawnPart]:
    """Symbols at a position that matter or are probable, the predicted one first."""
    row = None if shares is None or t >= len(shares) else shares[t].tolist()
    chosen = z[t] if t < len(z) else -1
    right = truth[t] if truth is not None and t < len(truth) else -1
    fixed = scene.constraints
    made = []
    for s, symbol in enumerate(symbols):
        share = None if row is None else row[s]
        if not (s in (chosen, right) or fixed or (share or 0.0) >= LEAST):
            continue
        true = None if truth is None else s == right
        said = partial("{} at {}".format, symbol, t + 1)
        made.append(DrawnPart((t, symbol), s == chosen, true, share, called=said))
    scene.fixed(made)
    return sorted(made, key=lambda part: (not part.predicted, not part.true))


def _set(scene: Scene, sheet: Sheet, columns: list[Any], words: list[Any] | None) -> None:
    """Columns side by side; a new line where there is no more room."""
    x, top, tallest = 2.0, 0.0, 0
    above = 22.0 if words is not None else 14.0
    for t, column in columns:
        word = "" if words is None or t >= len(words) else fitting(words[t], BROADEST)
        said = [fitting(written(part.label[1]), BROADEST - 30.0) for part in column]
        marked = 18.0 if any(part.verdict for part in column) else 0.0
        frame = max([26.0, *(width_of(name) + 14.0 + marked for name in said)])
        width = max(frame, width_of(word) + 4.0)
        if x > 2.0 and x + width > WIDTH - 2.0:
            x, top, tallest = 2.0, top + above + LINE * max(tallest, 1) + 12.0, 0
        middle = x + width / 2
        if words is not None:
            sheet.body.append(text(middle, top + 15.0, word, "plain", "middle"))
        else:
            sheet.body.append(text(middle, top + 10.0, t + 1, "small tiny number", "middle"))
        for i, (part, name) in enumerate(zip(column, said)):
            y = top + above + LINE * i + HIGH / 2
            sheet.body.append(_symbol(scene, part, name, middle, y, frame))
        tallest = max(tallest, len(column))
        x += width + 6.0
    sheet.height = top + above + LINE * max(tallest, 1) + 2.0


def _symbol(scene: Scene, part: DrawnPart, name: str, x: float, y: float, width: float) -> str:
    before = 18.0 if part.verdict else 0.0
    inside = [
        frame_of(part, x, y, width, HIGH - 3),
        mark(part, x - width / 2 + 12, y, 5.5),
        text(x + before / 2, y + 5, name, anchor="middle"),
        pinned(part, x + width / 2 - 1, y - 8),
    ]
    return scene.group(part, *inside)
