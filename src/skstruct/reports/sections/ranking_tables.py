# SPDX-License-Identifier: BSD-3-Clause
"""Rankings: which pairs are in the wrong order, which items too high or too low."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from skstruct.inspection.drawing import LITERAL, axes_of
from skstruct.reports.kinds import label_text
from skstruct.reports.pages import Section, Share, Table, Text
from skstruct.reports.pictures import picture

MOST_ITEMS = 30  # of a picture


def section(subject) -> Section:
    """Mistakes by pair and by item."""
    Z, Y = np.asarray(subject.predicted, float), np.asarray(subject.truth, float)
    names = [label_text(item, 30) for item in subject.space.items_]
    decided, wrong = pair_mistakes(Z, Y)
    share = np.divide(wrong, decided, out=np.full(wrong.shape, np.nan), where=decided > 0)
    upper = np.triu_indices(len(names), 1)
    off = wrong[upper].sum() / max(decided[upper].sum(), 1)
    text = f"{off:.1%} of the pairs are in the wrong order. {_first(Z, Y)}"
    blocks: list = [Text(text)]
    if 2 <= len(names) <= MOST_ITEMS:
        blocks.append(
            picture(
                lambda: _drawn(share, names),
                "Pairs of items by the share in the wrong order",
                "share of rows in which a pair is in the wrong order",
            )
        )
    rows = [
        [names[p], names[q], decided[p, q], wrong[p, q], Share(share[p, q])]
        for p, q in combinations(range(len(names)), 2)
    ]
    rows.sort(key=lambda row: -np.nan_to_num(row[4]))
    header = ["item", "and", "rows that rank both", "wrong order", "share"]
    blocks.append(Table(header, rows, "pairs, those most often wrong first", narrow=True))
    blocks.append(_items(Z, Y, names))
    return Section("Rankings: where errors concentrate", "pairs", blocks)


def pair_mistakes(Z, Y) -> tuple[np.ndarray, np.ndarray]:
    """Rows that order p and q, and those in which the prediction does it otherwise; (d, d).

    Ties and items that are not ranked leave a pair undecided.
    """
    d = Z.shape[1]
    decided, wrong = np.zeros((d, d), int), np.zeros((d, d), int)
    for p in range(d):
        with np.errstate(invalid="ignore"):
            true, taken = np.sign(Y - Y[:, [p]]), np.sign(Z - Z[:, [p]])
        known = np.nan_to_num(true) != 0
        decided[p] = known.sum(axis=0)
        wrong[p] = (known & (taken != true)).sum(axis=0)
    return decided, wrong


def _first(Z, Y) -> str:
    known = ~np.isnan(Y).all(axis=1)
    if not known.any():
        return ""
    best = np.nanargmin(Y[known], axis=1)
    right = np.nanargmin(Z[known], axis=1) == best
    return f"In {right.mean():.1%} of the rows the best item is predicted to be the best."


def _items(Z, Y, names) -> Table:
    off = Z - Y
    rows = []
    for j, name in enumerate(names):
        known = ~np.isnan(off[:, j])
        if known.any():
            true, mine = Y[known, j].mean(), Z[known, j].mean()
            rows.append([name, int(known.sum()), true, mine, np.abs(off[known, j]).mean()])
    rows.sort(key=lambda row: -row[4])
    header = ["item", "rows", "mean true rank", "mean predicted rank", "mean distance"]
    return Table(header, rows, "items, those farthest off first", narrow=True)


def _drawn(share, names):
    d = len(names)
    size = min(2.2 + 0.4 * d, 9.0)
    ax = axes_of(None, "write_report", (size + 1.0, size))
    shown = share.copy()
    np.fill_diagonal(shown, np.nan)
    top = max(float(np.nanmax(shown, initial=0.0)), 0.05)
    image = ax.imshow(shown, cmap="Reds", vmin=0, vmax=top)
    if d <= 16:
        for i, j in zip(*np.nonzero(~np.isnan(shown))):
            colour = "white" if shown[i, j] > 0.6 * top else "black"
            text = f"{shown[i, j]:.2f}"
            ax.text(j, i, text, ha="center", va="center", fontsize=7, color=colour)
    ax.set_yticks(range(d), names, **LITERAL)
    ax.set_xticks(range(d), names, rotation=45, ha="right", **LITERAL)
    ax.spines[:].set_visible(False)
    ax.figure.colorbar(image, ax=ax, shrink=0.8)
    return ax.figure
