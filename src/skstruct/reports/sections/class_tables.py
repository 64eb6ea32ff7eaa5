# SPDX-License-Identifier: BSD-3-Clause
"""Classes and levels: what is taken for what."""

from __future__ import annotations

import numpy as np

from skstruct.inspection.drawing import written
from skstruct.reports.counts import HEADER, Counts, confusion
from skstruct.reports.kinds import class_numbers, label_text
from skstruct.reports.pages import Section, Shaded, Share, Table, Text

MOST_CLASSES = 16  # of a confusion table that fits the page


def section(subject) -> Section:
    """Shares by class, and the confusion table or its largest entries."""
    names = [label_text(label, 40) for label in subject.space.labels_]
    Z, Y = (class_numbers(subject.kind, part) for part in (subject.predicted, subject.truth))
    table = confusion(Y, Z, len(names))
    counts = Counts.of_table(table)
    ordinal = subject.kind == "ordinal"
    text = f"{(Z == Y).mean():.1%} of the rows are right."
    if ordinal:
        off = Z - Y
        text += (
            f" Predictions are {np.abs(off).mean():.2f} levels off on average, "
            f"{(off > 0).mean():.1%} too high and {(off < 0).mean():.1%} too low."
        )
    order = None if ordinal else np.argsort(-counts.errors, kind="stable")
    caption = "in their order" if ordinal else "those with most mistakes first"
    what = "level" if ordinal else "class"
    by_class = Table([what, *HEADER], counts.rows(names, order), f"{len(names)} of them, {caption}")
    return Section(
        f"{'Levels' if ordinal else 'Classes'}: what is taken for what",
        "classes",
        [Text(text), by_class, confusions(table, names)],
    )


def confusions(table, names) -> Table:
    """A confusion table, or what is most often taken for what where there are too many."""
    used = np.flatnonzero(table.sum(axis=0) + table.sum(axis=1))
    if len(used) <= MOST_CLASSES:
        return _square(table[np.ix_(used, used)], [names[j] for j in used])
    wrong = table - np.diag(np.diag(table))
    order = np.argsort(-wrong, axis=None, kind="stable")
    pairs = [divmod(int(place), len(names)) for place in order[:100]]
    support = table.sum(axis=1)
    rows = [
        [names[i], names[j], wrong[i, j], Share(wrong[i, j] / support[i])]
        for i, j in pairs
        if wrong[i, j] > 0
    ]
    header = ["true", "taken for", "times", "share of the true ones"]
    return Table(header, rows, "most frequent confusions", narrow=True)


def _square(table, names) -> Table:
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    right, wrong = "61, 111, 182", "209, 73, 91"
    rows = [
        [name, *(
            Shaded(int(table[i, j]), float(shares[i, j]), right if i == j else wrong)
            for j in range(len(names))
        )]
        for i, name in enumerate(names)
    ]  # fmt: skip
    caption = "truth in rows, prediction in columns; shaded by the share of the row"
    return Table(
        ["", *(written(name, 16) for name in names)], rows, caption, first=len(rows), narrow=True
    )
