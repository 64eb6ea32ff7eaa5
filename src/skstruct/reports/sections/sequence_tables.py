# SPDX-License-Identifier: BSD-3-Clause
"""Sequences: which symbols go wrong, and where."""

from __future__ import annotations

import numpy as np

from skstruct.reports.counts import HEADER, Counts, confusion
from skstruct.reports.kinds import label_text
from skstruct.reports.pages import Section, Share, Table, Text
from skstruct.reports.sections.class_tables import confusions

NOTHING = "(no symbol)"


def section(subject) -> Section:
    """Shares by symbol, confusions, and mistakes by position."""
    Z, Y = np.asarray(subject.predicted), np.asarray(subject.truth)
    names = [label_text(symbol, 30) for symbol in subject.space.symbols_]
    inside = (Z >= 0) | (Y >= 0)
    lengths = np.array_equal(Z >= 0, Y >= 0)
    q = len(names)
    true, taken = (np.where(part < 0, q, part)[inside] for part in (Y, Z))
    table = confusion(true, taken, q + 1)
    counts = Counts.of_table(table).take(np.arange(q))
    right = (Z == Y) | ~inside
    text = (
        f"{right.all(axis=1).mean():.1%} of the sequences and "
        f"{(Z == Y)[inside].mean():.1%} of the positions are right."
    )
    if not lengths:
        same = ((Z >= 0).sum(axis=1) == (Y >= 0).sum(axis=1)).mean()
        text += f" {same:.1%} have the right length; positions are compared from the left."
    order = np.argsort(-counts.errors, kind="stable")
    rows = counts.rows(names, order)
    by_symbol = Table(["symbol", *HEADER], rows, f"{q} symbols, those with most mistakes first")
    known = table if not lengths else table[:q, :q]
    shown = confusions(known, names if lengths else [*names, NOTHING])
    blocks = [Text(text), by_symbol, shown, _positions(right, inside)]
    return Section("Symbols: where errors concentrate", "symbols", blocks)


def _positions(right, inside) -> Table:
    counts = inside.sum(axis=0)
    wrong = (~right & inside).sum(axis=0)
    rows = [
        [f"position {t + 1}", counts[t], wrong[t], Share(wrong[t] / counts[t])]
        for t in np.flatnonzero(counts)
    ]
    return Table(["", "sequences", "wrong", "share"], rows, "by position", 12, narrow=True)
