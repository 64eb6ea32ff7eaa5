# SPDX-License-Identifier: BSD-3-Clause
"""Where errors concentrate among classes, label sets and sequences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skstruct.drawings.parts import label_text
from skstruct.inspection import HierarchyErrorsDisplay
from skstruct.inspection.drawing import written
from skstruct.inspection.hierarchy_errors import outline, worst_labels
from skstruct.reports.outputs import class_numbers
from skstruct.reports.pages import Branch, Outline, Section, Shaded, Share, Table, Text, number
from skstruct.reports.pictures import picture
from skstruct.spaces import Description


@dataclass(frozen=True)
class Counts:
    """Rows in which each label was found, missed or false; shape (d,) each."""

    found: np.ndarray
    missed: np.ndarray
    false: np.ndarray
    n: Any  # rows in all, or those in which each label is known, shape (d,)

    @classmethod
    def of_sets(
        cls, predicted: np.ndarray, truth: np.ndarray, known: np.ndarray | None = None
    ) -> Counts:
        """From indicators (n, d), of which those count that are known.

        >>> counts = Counts.of_sets(np.array([[1, 1, 0]]), np.array([[1, 0, 1]]))
        >>> counts.found, counts.missed, counts.false
        (array([1, 0, 0]), array([0, 0, 1]), array([0, 1, 0]))
        """
        Z, Y = np.asarray(predicted) != 0, np.asarray(truth) != 0
        if known is not None:
            Z, Y = Z & known, Y & known
        counts = (Z & Y).sum(axis=0), (~Z & Y).sum(axis=0), (Z & ~Y).sum(axis=0)
        return cls(*counts, len(Z) if known is None else known.sum(axis=0))

    @classmethod
    def of_table(cls, table: np.ndarray) -> Counts:
        """From a confusion table: truths in rows, predictions in columns."""
        right = np.diag(table)
        missed, false = table.sum(axis=1) - right, table.sum(axis=0) - right
        return cls(right, missed, false, int(table.sum()))

    def take(self, labels: np.ndarray) -> Counts:
        n = self.n[labels] if np.ndim(self.n) else self.n
        return Counts(self.found[labels], self.missed[labels], self.false[labels], n)

    def total(self) -> Counts:
        """All labels as one."""
        found, missed, false = (
            np.atleast_1d(part.sum()) for part in (self.found, self.missed, self.false)
        )
        n = self.n.sum() if np.ndim(self.n) else self.n * len(self.found)
        return Counts(found, missed, false, n)

    @property
    def support(self) -> np.ndarray:
        return self.found + self.missed

    @property
    def errors(self) -> np.ndarray:
        return self.missed + self.false

    @property
    def precision(self) -> np.ndarray:
        return _share(self.found, self.found + self.false)

    @property
    def recall(self) -> np.ndarray:
        return _share(self.found, self.found + self.missed)

    @property
    def f1(self) -> np.ndarray:
        return _share(2 * self.found, 2 * self.found + self.missed + self.false)

    @property
    def hamming(self) -> np.ndarray:
        """Share of the rows in which a label is wrong."""
        return _share(self.errors, np.broadcast_to(self.n, self.errors.shape))

    def rows(self, names: list[str], order: np.ndarray | None = None) -> list[list[Any]]:
        """Cells of a table: name, support, found, missed, false, and the shares."""
        order = np.arange(len(self.found)) if order is None else order
        counts = (self.support, self.found, self.missed, self.false)
        shares = (self.precision, self.recall, self.f1, self.hamming)
        return [
            [names[j], *(part[j] for part in counts), *(Share(part[j]) for part in shares)]
            for j in order
        ]


COUNTS_HEADER = ["support", "found", "missed", "false", "precision", "recall", "F1", "Hamming"]


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """NaN where nothing was there to share."""
    whole = np.asarray(whole, dtype=float)
    shares = np.full(whole.shape, np.nan)
    np.divide(part, whole, out=shares, where=whole > 0)
    return shares


def confusion(truth: np.ndarray, predicted: np.ndarray, k: int) -> np.ndarray:
    """How often class i was taken for class j; shape (k, k).

    >>> confusion(np.array([0, 0, 1]), np.array([0, 1, 1]), 2)
    array([[1, 1],
           [0, 1]])
    """
    flat = np.bincount(np.asarray(truth) * k + np.asarray(predicted), minlength=k * k)
    return flat.reshape(k, k)


# Classes and levels: what is taken for what.


MOST_CLASSES = 16  # of a confusion table that fits the page


def class_section(subject: Any) -> Section:
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
    by_class = Table(
        [what, *COUNTS_HEADER], counts.rows(names, order), f"{len(names)} of them, {caption}"
    )
    return Section(
        f"What it gets wrong: {'levels' if ordinal else 'classes'} taken for others",
        "classes",
        [Text(text), by_class, confusions(table, names)],
    )


def confusions(table: np.ndarray, names: list[str]) -> Table:
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


def _square(table: np.ndarray, names: list[str]) -> Table:
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


# Label sets: which labels, and which levels of a hierarchy, go wrong.


MOST_DRAWN = 30  # labels of a picture
MOST_LEVELS = 40  # of an outline that is still one
LABELS_ANCHOR = "labels"


def label_section(subject: Any) -> Section:
    """Tables by label and by level, and the hierarchy with its mistakes."""
    space, Z, Y, known = subject.space, subject.predicted, subject.truth, subject.known
    counts = Counts.of_sets(Z, Y, known)
    if known is not None:
        Z, Y = np.where(known, Z, 0), np.where(known, Y, 0)
    names = [label_text(label) for label in space.labels_]
    total = counts.total()
    sizes = (np.asarray(Y) != 0).sum(axis=1).mean(), (np.asarray(Z) != 0).sum(axis=1).mean()
    blocks: list[Any] = [
        Text(
            f"{sizes[0]:.2f} labels per row, {sizes[1]:.2f} predicted; all labels together: "
            f"precision {number(Share(total.precision[0]))}, recall "
            f"{number(Share(total.recall[0]))}, F1 {number(Share(total.f1[0]))}, "
            f"Hamming {total.hamming[0]:.4f}. "
            f"{np.all(np.asarray(Z) == np.asarray(Y), axis=1).mean():.1%} of the rows are right "
            f"in all labels{' that are known' if known is not None else ''}."
        )
    ]
    dag = Description.of(space).output_dag()
    hierarchical = dag is not None and subject.kind == "hierarchy"
    if hierarchical:
        blocks.append(_levels(dag, counts))
    if dag is not None:
        blocks.append(_drawn(space, dag, counts, names))
    order = np.argsort(-counts.errors, kind="stable")
    caption = f"{len(names)} labels, those with most mistakes first"
    blocks.append(Table(["label", *COUNTS_HEADER], counts.rows(names, order), caption))
    if dag is not None and hierarchical and dag.depth.max() < MOST_LEVELS:
        blocks.append(_outline(dag, counts, names))
    return Section("What it gets wrong: labels", LABELS_ANCHOR, blocks)


def _levels(dag: Any, counts: Counts) -> Table:
    rows = []
    for level in range(int(dag.depth.max()) + 1):
        inside = np.flatnonzero(dag.depth == level)
        (row,) = counts.take(inside).total().rows([f"level {level + 1}"])
        rows.append([row[0], len(inside), *row[1:]])
    return Table(["", "labels", *COUNTS_HEADER], rows, "by level of the hierarchy, the top first")


def _drawn(space: Any, dag: Any, counts: Counts, names: list[str]) -> Any:
    shown = worst_labels(dag, counts.errors, MOST_DRAWN)
    display = HierarchyErrorsDisplay(dag, names, counts.found, counts.missed, counts.false, shown)
    left = len(names) - len(shown)
    caption = f"{left} labels with fewer mistakes are not drawn" if left else ""
    return picture(display.plot, "Labels with bars of rows found, missed and false", caption)


def _outline(dag: Any, counts: Counts, names: list[str]) -> Outline:
    """All labels, folded; the way to the worst ones is open."""
    worst = set(worst_labels(dag, counts.errors, 12).tolist())
    branches: dict[int, Branch] = {}
    roots: list[Branch] = []
    for node, _, above in outline(dag, range(dag.n_nodes)):
        found, missed, false = (
            int(part[node]) for part in (counts.found, counts.missed, counts.false)
        )
        branches[node] = Branch(names[node], found, missed, false)
        (branches[above].below if above >= 0 else roots).append(branches[node])
        if above >= 0 and node in worst and dag.n_nodes <= 60:
            branches[above].open = True
    most = int((counts.support + counts.false).max(initial=1))
    return Outline(roots, max(most, 1), "the whole hierarchy, to unfold")


# Sequences: which symbols go wrong, and where.


NOTHING = "(no symbol)"


def sequence_section(subject: Any) -> Section:
    """Shares by symbol, confusions, and mistakes by position."""
    Z, Y = np.asarray(subject.predicted), np.asarray(subject.truth)
    names = [label_text(symbol, 30) for symbol in subject.space.symbols_]
    inside = (Z >= 0) | (Y >= 0)
    if subject.known is not None:
        inside &= subject.known | (Y < 0)
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
    by_symbol = Table(
        ["symbol", *COUNTS_HEADER], rows, f"{q} symbols, those with most mistakes first"
    )
    known = table if not lengths else table[:q, :q]
    shown = confusions(known, names if lengths else [*names, NOTHING])
    blocks = [Text(text), by_symbol, shown, _positions(right, inside)]
    return Section("What it gets wrong: symbols", "symbols", blocks)


def _positions(right: np.ndarray, inside: np.ndarray) -> Table:
    counts = inside.sum(axis=0)
    wrong = (~right & inside).sum(axis=0)
    rows = [
        [f"position {t + 1}", counts[t], wrong[t], Share(wrong[t] / counts[t])]
        for t in np.flatnonzero(counts)
    ]
    return Table(["", "sequences", "wrong", "share"], rows, "by position", 12, narrow=True)
