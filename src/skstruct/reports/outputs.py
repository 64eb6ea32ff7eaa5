# SPDX-License-Identifier: BSD-3-Clause
"""How outputs and their parts read."""

from typing import Any

import numpy as np

from skstruct.drawings.parts import label_text
from skstruct.reports.pages import Piece, Pieces, number
from skstruct.spaces import Description

MOST_PIECES = 40  # of one output that are written out


def class_numbers(kind: str, outputs: np.ndarray) -> np.ndarray:
    """Numbers of classes or levels from canonical outputs."""
    outputs = np.asarray(outputs)
    return outputs.sum(axis=1).astype(int) - 1 if kind == "ordinal" else outputs.astype(int)


def in_words(
    space: Any, z: Any, other: Any = None, mark: str = "false", most: int = MOST_PIECES
) -> Pieces:
    """One canonical output in words; with another one to compare, marked where they differ.

    Parameters
    ----------
    z, other : canonical outputs
    mark : str
        What a part of z is that is not in ``other``: "false" of predictions, "missed" of truths.
    most : int
        Parts that are written out.
    """
    parts_of = Description.of(space).parts_of
    said = parts_of(z)
    known = None if other is None else {part.key for part in parts_of(other).parts}
    pieces = [
        Piece(part_text(part, said.longest), _mark(part.key, known, mark)) for part in said.parts
    ]
    if len(pieces) > most:
        pieces[most:] = [Piece(f" … and {len(pieces) - most} more")]
    return Pieces(tuple(pieces) or (Piece("(none)"),), said.between)


def part_text(part: Any, longest: int = 60) -> str:
    """A part of an output as it reads."""
    if part.value is None:
        return part.before + label_text(part.name, longest) + part.after
    shown = number(part.value)
    return shown if part.name is None else f"{label_text(part.name, longest)}: {shown}"


def _mark(key: Any, known: set[Any] | None, mark: str) -> str:
    if known is None or key is None:
        return ""
    return "right" if key in known else mark
