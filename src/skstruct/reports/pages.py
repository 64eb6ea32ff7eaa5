# SPDX-License-Identifier: BSD-3-Clause
"""What a report consists of: sections of tables, pictures, outlines and examples.

Everything here is text and numbers. Nothing is markup but drawings: the template writes it, and
escapes all that it is given.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np


class Share(float):
    """A number between 0 and 1, written with three decimals."""


class Brief(float):
    """A number written with three digits, where many stand side by side."""


@dataclass(frozen=True)
class Shaded:
    """A number on a background that is the darker the larger its share."""

    value: Any
    share: float  # from 0 to 1
    colour: str = "61, 111, 182"  # red, green, blue


@dataclass(frozen=True)
class Bars:
    """Parts of a bar, as shares of its full length."""

    parts: tuple[Any, ...]  # of (share, class of the part)
    kind: str = "bars"


@dataclass(frozen=True)
class Piece:
    """Some text of an output, and whether it is right: "right", "missed", "false" or ""."""

    text: str
    mark: str = ""


@dataclass(frozen=True)
class Pieces:
    """An output in words."""

    pieces: tuple[Any, ...]
    between: str = ", "
    kind: str = "pieces"


@dataclass(frozen=True)
class Table:
    """Rows of text and numbers, the first of them shown, the others folded away."""

    header: list[Any]
    rows: list[Any]
    caption: str = ""
    first: int = 20
    narrow: bool = False
    kind: str = "table"


@dataclass(frozen=True)
class Facts:
    """Names with their values."""

    rows: list[Any]  # of (name, value)
    kind: str = "facts"
    folded: str = ""  # what the facts are called where they are folded away


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str
    kind: str = "text"


@dataclass(frozen=True)
class Picture:
    """An image within the page, as the address that holds it."""

    address: str
    about: str  # for those who do not see it
    caption: str = ""
    width: int = 0  # in pixels
    kind: str = "picture"


@dataclass(frozen=True)
class Drawn:
    """One prediction drawn by :mod:`skstruct.drawings`, which has escaped all names in it."""

    svg: str
    kind: str = "drawing"


@dataclass(frozen=True)
class Beside:
    """Blocks side by side, where the page is wide enough."""

    blocks: list[Any]
    kind: str = "beside"


@dataclass
class Branch:
    """One label of an outline, with what hangs below it."""

    name: str
    found: int
    missed: int
    false: int
    below: list[Any] = field(default_factory=list)
    open: bool = False


@dataclass(frozen=True)
class Outline:
    """Labels of a hierarchy that fold away."""

    roots: list[Any]
    most: int  # the longest bar
    caption: str = ""
    kind: str = "outline"


@dataclass(frozen=True)
class Example:
    """One row, what was predicted for it and why."""

    title: str
    facts: list[Any]
    tables: list[Any]
    pictures: list[Any]
    kind: str = "example"


@dataclass(frozen=True)
class Section:
    """A part of the page; without blocks, one line says why it is not there."""

    title: str
    anchor: str
    blocks: list[Any]
    left_out: str = ""


def left_out(title: str, anchor: str, why: str) -> Section:
    """A section that cannot be filled."""
    return Section(title, anchor, [], " ".join(str(why).split()))


def number(value: Any) -> str:
    """A number as people read it: four digits, thousands apart; a dash where there is none."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        return f"{int(value):,}".replace(",", "\N{THIN SPACE}")
    value = value if isinstance(value, (Share, Brief)) else float(value)
    if not np.isfinite(value):
        return "–"
    if isinstance(value, Share):
        return f"{value:.3f}"
    if value == 0:
        return "0"
    digits = 3 if isinstance(value, Brief) else 4
    text = f"{value:,.0f}" if 1e4 <= abs(value) < 1e12 else f"{value:.{digits}g}"
    return text.replace(",", "\N{THIN SPACE}").replace("-", "\N{MINUS SIGN}")


def is_number(value: Any) -> bool:
    """Whether a cell is aligned to the right."""
    return isinstance(value, (int, float, np.integer, np.floating, Shaded))
