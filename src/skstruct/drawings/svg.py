# SPDX-License-Identifier: BSD-3-Clause
"""Elements of SVG as text: shapes, marks and names, which are data and never code."""

import html
import unicodedata
from typing import Any

from skstruct.inspection.drawing import UNSEEN, written

NAME, SMALL = 14.0, 12.5  # sizes of letters, as in drawings.css
_NARROW = frozenset("iljtfrI.,:;'|!()[]{} `-")
_BROAD = frozenset("mwMW@%&ABCDEGHKNOPQRSUVXYZ—…")
_STAR = (
    "0,-1 0.235,-0.324 0.951,-0.309 0.38,0.124 0.588,0.809 0,0.4 -0.588,0.809 -0.38,0.124 "
    "-0.951,-0.309 -0.235,-0.324"
)
STAR = [tuple(map(float, point.split(","))) for point in _STAR.split()]


def escaped(text: Any) -> str:
    """Text for an element or a quoted attribute; what XML cannot hold is replaced.

    >>> escaped('<b onload="x">')
    '&lt;b onload=&quot;x&quot;&gt;'
    """
    safe = str(text)
    if not (safe.isascii() and safe.isprintable()):
        safe = "".join(UNSEEN if _odd(letter) else letter for letter in safe)
    return html.escape(safe)


def _odd(letter: str) -> bool:
    return unicodedata.category(letter) in ("Cc", "Cs", "Cn")


def figure(value: float) -> str:
    """A coordinate: two decimals at most.

    >>> figure(3.0), figure(2.345), figure(-0.001)
    ('3', '2.35', '0')
    """
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def element(tag: str, *inside: str, **attributes: Any) -> str:
    """An element; attributes that are None are left out, ``class_`` is class, ``_`` a hyphen.

    >>> element("rect", x=1.0, class_="box", fill_opacity=None)
    '<rect x="1" class="box"/>'
    """
    said = []
    for name, value in attributes.items():
        if value is None:
            continue
        shown = figure(value) if isinstance(value, float) else escaped(value)
        said.append(f' {name.rstrip("_").replace("_", "-")}="{shown}"')
    opening = f"<{tag}{''.join(said)}"
    return f"{opening}>{''.join(inside)}</{tag}>" if inside else f"{opening}/>"


def text(x: float, y: float, said: Any, kind: str = "name", anchor: str | None = None) -> str:
    """One line of letters; ``kind`` is its class, ``y`` its baseline."""
    return element("text", escaped(said), x=float(x), y=float(y), class_=kind, text_anchor=anchor)


def box(x: float, y: float, width: float, height: float, kind: str, **more: Any) -> str:
    """A rectangle with round corners."""
    size = {"x": float(x), "y": float(y), "width": float(max(width, 0.0)), "height": float(height)}
    return element("rect", **size, **{"rx": 6.0, "class_": kind, **more})


def line(x: float, y: float, u: float, v: float, kind: str, **more: Any) -> str:
    """A straight line from (x, y) to (u, v)."""
    ends = {"x1": float(x), "y1": float(y), "x2": float(u), "y2": float(v)}
    return element("line", **ends, class_=kind, **more)


def curve(points: list[tuple[float, float]], kind: str, **more: Any) -> str:
    """A cubic curve through four points: two ends and what it bends to."""
    (x, y), *rest = [(figure(a), figure(b)) for a, b in points]
    bends = " ".join(f"{a},{b}" for a, b in rest)
    return element("path", d=f"M{x},{y} C{bends}", class_=kind, **more)


def star(x: float, y: float, size: float, kind: str) -> str:
    """A star around a point."""
    corners = " ".join(f"{figure(x + size * a)},{figure(y + size * b)}" for a, b in STAR)
    return element("polygon", points=corners, class_=kind)


def cross(x: float, y: float, size: float, kind: str) -> str:
    """Two crossed lines around a point."""
    a, b, c, d = (figure(at) for at in (x - size, y - size, x + size, y + size))
    return element("path", d=f"M{a},{b} L{c},{d} M{c},{b} L{a},{d}", class_=kind)


def badge(x: float, y: float, state: str) -> str:
    """What the user has fixed: a plus or a minus in a disc."""
    down = "" if state == "out" else f" M{figure(x)},{figure(y - 3.5)} v7"
    sign = element("path", d=f"M{figure(x - 3.5)},{figure(y)} h7{down}", class_="sign")
    disc = element("circle", cx=float(x), cy=float(y), r=7.0, class_="disc")
    return element("g", disc, sign, class_=f"badge badge-{state}")


# How broad letters are, and how much of a name there is room for.


def width_of(said: str, size: float = NAME) -> float:
    """About how broad some letters are; no font is known here."""
    return size * sum(_broad(letter) for letter in said)


def _broad(letter: str) -> float:
    if letter in _NARROW:
        return 0.36
    if letter in _BROAD:
        return 0.92 if letter in "mwMW@%" else 0.75
    if letter.isascii():
        return 0.6
    if unicodedata.combining(letter) or unicodedata.category(letter) == "Cf":
        return 0.0
    return 1.12 if unicodedata.east_asian_width(letter) in "WF" else 0.64


def fitting(name: Any, room: float, size: float = NAME) -> str:
    """A name in one line, cut where it is broader than ``room``.

    >>> fitting("a name that goes on", 60.0)
    'a nam…'
    """
    said = written(name, 200)
    if width_of(said, size) <= room:
        return said
    used, kept = width_of("…", size), 0
    for letter in said:
        used += width_of(letter, size)
        if used > room:
            break
        kept += 1
    return said[: max(kept, 1)].rstrip() + "…"
