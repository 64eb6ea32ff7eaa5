# SPDX-License-Identifier: BSD-3-Clause
"""What a way to draw hands back, and the key below a drawing that explains its marks."""

from dataclasses import dataclass, field
from typing import Any

from skstruct.drawings.parts import DrawnPart
from skstruct.drawings.svg import SMALL, badge, box, cross, element, star, text, width_of

WIDTH = 440.0  # of a drawing: on a phone its letters are still ten dots high
MOST = 60  # parts that are drawn
ROW = 28.0


@dataclass
class Sheet:
    """A drawing before its key: elements, how high they are, and all parts."""

    body: list[str]
    height: float
    parts: list[DrawnPart]
    hidden: int = 0  # parts that are not drawn
    words: tuple[str, str] = ("label", "labels")  # for a part, and for several
    width: float = WIDTH
    keys: list[str] = field(default_factory=list)  # kinds of the key that only the drawing knows
    note: str = ""


def key_below(sheet: Sheet, top: float) -> tuple[list[str], float]:
    """Marks that occur, each with its meaning, and how much is not drawn; with their height."""
    entries = [(kind, said) for kind, said in _KEY if kind in _kinds(sheet)]
    drawn, x, y = [], 8.0, top + 14.0
    for kind, said in entries:
        width = 26.0 + width_of(said, SMALL)
        if x > 8.0 and x + width > sheet.width:
            x, y = 8.0, y + 20.0
        drawn.append(_SIGNS[kind](x + 7.0, y - 4.0))
        drawn.append(text(x + 19.0, y, said, "small"))
        x += width + 10.0
    if entries:
        top = y + 8.0
    for said in filter(None, (_more(sheet), sheet.note)):
        drawn.append(text(8.0, top + 14.0, said, "small more"))
        top += 20.0
    return ([element("g", *drawn, class_="key")] if drawn else []), top


def _more(sheet: Sheet) -> str:
    if not sheet.hidden:
        return ""
    return f"… {sheet.hidden:,} more {sheet.words[sheet.hidden != 1]}"


def _kinds(sheet: Sheet) -> set[str]:
    kinds = {part.verdict for part in sheet.parts} | set(sheet.keys)
    if any(part.predicted for part in sheet.parts) and not kinds & {"right", "wrong", "amount"}:
        kinds.add("predicted")
    return kinds | {part.state for part in sheet.parts if part.state is not None}


def _swatch(kind: str) -> Any:
    def drawn(x: float, y: float) -> str:
        return element("g", box(x - 7, y - 5, 14, 10, "box", rx=3.0), class_=f"part {kind}")

    return drawn


_KEY = (
    ("predicted", "predicted"),
    ("right", "predicted and true"),
    ("wrong", "predicted, not true"),
    ("missed", "true, not predicted"),
    ("amount", "predicted"),
    ("truth", "true"),
    ("share", "probability"),
    ("in", "fixed in"),
    ("out", "fixed out"),
)
_SIGNS = {
    "predicted": _swatch("predicted"),
    "right": lambda x, y: star(x, y, 6.5, "mark-right"),
    "wrong": lambda x, y: cross(x, y, 4.0, "mark-wrong"),
    "missed": lambda x, y: star(x, y, 6.5, "mark-missed"),
    "truth": lambda x, y: star(x, y, 6.5, "mark-true"),
    "share": lambda x, y: box(x - 7, y - 5, 14, 10, "share", rx=2.0, fill_opacity=0.6),
    "amount": lambda x, y: box(x - 7, y - 5, 14, 10, "amount", rx=2.0),
    "in": lambda x, y: badge(x, y, "in"),
    "out": lambda x, y: badge(x, y, "out"),
}
