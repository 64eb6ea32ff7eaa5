# SPDX-License-Identifier: BSD-3-Clause
"""Axes to draw on, and names as they are: never formulas, never longer than there is room."""

from __future__ import annotations

import unicodedata

from skstruct._arrays.optional import require

LITERAL = {"parse_math": False}  # "$x$" is a name here, not a formula
GOOD, MISSED, FALSE = "#3b6fb6", "#d1495b", "#e8a33d"  # right, false negative, false positive
UNSEEN = "\N{REPLACEMENT CHARACTER}"
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def written(name, most: int = 40) -> str:
    """A name in one line of letters that can be seen and drawn, in at most ``most`` of them.

    Control characters, halves of surrogate pairs and what turns the direction of reading are
    shown as a replacement character: such a name neither spoils a file nor hides what it says.

    >>> written("up\\x00set", 10), written("a  very\\nlong name", 8), written("")
    ('up�set', 'a very …', "''")
    """
    line = " ".join(str(name).split())
    line = "".join(_visible(letter) for letter in line) or repr(str(name))
    return line if len(line) <= most else line[: most - 1] + "…"


def _visible(letter: str) -> str:
    odd = letter in _TURNING or unicodedata.category(letter) in ("Cc", "Cs", "Cn")
    return UNSEEN if odd else letter


def axes_of(ax, used_by: str, figsize):
    """The axes to draw on: those given, or those of a new figure."""
    pyplot = require("matplotlib.pyplot", used_by=used_by, extra="plot")
    return pyplot.subplots(figsize=figsize, layout="constrained")[1] if ax is None else ax


def literal_legend(ax, **options):
    """A legend whose names are no formulas."""
    legend = ax.legend(**options)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return legend
