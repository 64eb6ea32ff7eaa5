# SPDX-License-Identifier: BSD-3-Clause
"""What kind of outputs a space has, and how one of them reads."""

from __future__ import annotations

import numpy as np

from skstruct.inspection.drawing import written
from skstruct.reports.pages import Piece, Pieces, number

MOST_PIECES = 40  # of one output that are written out
SMALL = 0.01  # of the largest flow: less is not written out


def kind_of(space) -> str:
    """What tables and pictures suit: by what the space knows of its outputs."""
    from skstruct.spaces import Candidates, Classes, Ordinal, PairwiseLabels
    from skstruct.spaces.label_sets import IndicatorSpace
    from skstruct.spaces.poset import Poset
    from skstruct.spaces.quantities.base import QuantitySpace

    if hasattr(space, "items_"):
        return "ranking"
    if hasattr(space, "symbols_"):
        return "sequence"
    if hasattr(space, "network_"):
        return "flow"
    if hasattr(space, "tours"):
        return "tour"
    if isinstance(space, Ordinal):
        return "ordinal"
    if isinstance(space, Candidates):
        return "other"
    if isinstance(space, Classes):
        return "classes"
    if isinstance(space, QuantitySpace):
        return "quantities"
    if isinstance(space, (IndicatorSpace, PairwiseLabels, Poset)):
        dag = getattr(space, "dag_", None)
        return "hierarchy" if dag is not None and len(dag.parents) else "labels"
    return "other"


def label_text(label, most: int = 60, between: str = " → ") -> str:
    """A label, class, item or arc in words."""
    if isinstance(label, tuple) and 2 <= len(label) <= 3:
        ends = between.join(written(end, most // 2) for end in label[:2])
        return ends if len(label) == 2 else f"{ends} ({written(label[2], 10)})"
    return written(label, most)


def class_numbers(kind: str, outputs) -> np.ndarray:
    """Numbers of classes or levels from canonical outputs."""
    outputs = np.asarray(outputs)
    return outputs.sum(axis=1).astype(int) - 1 if kind == "ordinal" else outputs.astype(int)


def in_words(
    kind: str, space, z, other=None, mark: str = "false", most: int = MOST_PIECES
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
    said = WRITERS.get(kind, _whole)(space, z, other, mark)
    if len(said.pieces) <= most:
        return said
    more = Piece(f" … and {len(said.pieces) - most} more")
    return Pieces((*said.pieces[:most], more), said.between)


def _marked(text, same, other, mark) -> Piece:
    return Piece(text, "" if other is None else "right" if same else mark)


def _said(pieces, between=", ") -> Pieces:
    return Pieces(tuple(pieces) or (Piece("(none)"),), between)


def _class(space, z, other, mark):
    same = other is not None and int(z) == int(other)
    return Pieces((_marked(label_text(space.labels_[int(z)]), same, other, mark),))


def _level(space, z, other, mark):
    level = int(np.sum(z)) - 1
    same = other is not None and level == int(np.sum(other)) - 1
    return Pieces((_marked(label_text(space.labels_[level]), same, other, mark),))


def _labels(space, z, other, mark):
    names = np.flatnonzero(z)
    pieces = [
        _marked(label_text(space.labels_[j]), other is not None and other[j] != 0, other, mark)
        for j in names
    ]
    return _said(pieces)


def _ranking(space, z, other, mark):
    order = np.argsort(np.where(np.isnan(z), np.inf, z), kind="stable")
    ranked = [j for j in order if not np.isnan(z[j])]
    pieces = []
    for place, j in enumerate(ranked):
        tied = place > 0 and z[ranked[place - 1]] == z[j]
        sign = "" if place == 0 else "= " if tied else "> "
        same = other is not None and other[j] == z[j]
        pieces.append(_marked(sign + label_text(space.items_[j], 30), same, other, mark))
    return _said(pieces, " ")


def _sequence(space, z, other, mark):
    inside = [t for t, symbol in enumerate(z) if symbol >= 0]
    pieces = []
    for t in inside:
        same = other is not None and t < len(other) and other[t] == z[t]
        pieces.append(_marked(label_text(space.symbols_[int(z[t])], 30), same, other, mark))
    short = all(len(piece.text) == 1 for piece in pieces)
    return _said(pieces, "" if short else " ")


def _quantities(space, z, other, mark):
    names = list(space.labels_)
    plain = len(names) == 1
    pieces = [
        Piece(number(value) if plain else f"{label_text(name, 30)}: {number(value)}")
        for name, value in zip(names, np.ravel(z))
    ]
    return _said(pieces)


def _flow(space, z, other, mark):
    least = SMALL * np.max(z, initial=0.0)
    used = [a for a in np.argsort(-np.asarray(z), kind="stable") if z[a] > least]
    return _said([Piece(f"{label_text(space.labels_[a], 30)}: {z[a]:.3g}") for a in used])


def _tour(space, z, other, mark):
    stops = space.tours(np.asarray(z)[None])[0]
    stops = stops[stops >= 0]
    own = set() if other is None else set(space.tours(np.asarray(other)[None])[0].tolist())
    pieces = [
        _marked(label_text(space.nodes_[stop], 30), stop in own, other, mark) for stop in stops
    ]
    return _said(pieces, " → ")


def _whole(space, z, other, mark):
    output = space.restore(np.asarray(z)[None])
    text = written(output[0] if hasattr(output, "__getitem__") else output, 300)
    same = other is not None and np.array_equal(z, other)
    return Pieces((_marked(text, same, other, mark),))


WRITERS = {
    "classes": _class,
    "ordinal": _level,
    "labels": _labels,
    "hierarchy": _labels,
    "ranking": _ranking,
    "sequence": _sequence,
    "quantities": _quantities,
    "flow": _flow,
    "tour": _tour,
}
