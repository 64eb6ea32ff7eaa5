# SPDX-License-Identifier: BSD-3-Clause
"""Label sets: which labels, and which levels of a hierarchy, go wrong."""

from __future__ import annotations

import numpy as np

from skstruct.inspection import HierarchyErrorsDisplay
from skstruct.inspection.hierarchy_errors import outline, worst_labels
from skstruct.reports.counts import HEADER, Counts
from skstruct.reports.kinds import label_text
from skstruct.reports.pages import Branch, Outline, Section, Share, Table, Text, number
from skstruct.reports.pictures import picture

MOST_DRAWN = 30  # labels of a picture
MOST_LEVELS = 40  # of an outline that is still one
ANCHOR = "labels"


def section(subject) -> Section:
    """Tables by label and by level, and the hierarchy with its mistakes."""
    space, Z, Y = subject.space, subject.predicted, subject.truth
    counts = Counts.of_sets(Z, Y)
    names = [label_text(label) for label in space.labels_]
    total = counts.total()
    sizes = (np.asarray(Y) != 0).sum(axis=1).mean(), (np.asarray(Z) != 0).sum(axis=1).mean()
    blocks: list = [
        Text(
            f"{sizes[0]:.2f} labels per row, {sizes[1]:.2f} predicted; all labels together: "
            f"precision {number(Share(total.precision[0]))}, recall "
            f"{number(Share(total.recall[0]))}, F1 {number(Share(total.f1[0]))}, "
            f"Hamming {total.hamming[0]:.4f}. "
            f"{np.all(np.asarray(Z) == np.asarray(Y), axis=1).mean():.1%} of the rows are right "
            "in all labels."
        )
    ]
    dag = getattr(space, "dag_", None)
    hierarchical = dag is not None and subject.kind == "hierarchy"
    if hierarchical:
        blocks.append(_levels(dag, counts))
    if dag is not None:
        blocks.append(_drawn(space, dag, counts, names))
    order = np.argsort(-counts.errors, kind="stable")
    caption = f"{len(names)} labels, those with most mistakes first"
    blocks.append(Table(["label", *HEADER], counts.rows(names, order), caption))
    if dag is not None and hierarchical and dag.depth.max() < MOST_LEVELS:
        blocks.append(_outline(dag, counts, names))
    return Section("Labels: where errors concentrate", ANCHOR, blocks)


def _levels(dag, counts) -> Table:
    rows = []
    for level in range(int(dag.depth.max()) + 1):
        inside = np.flatnonzero(dag.depth == level)
        (row,) = counts.take(inside).total().rows([f"level {level + 1}"])
        rows.append([row[0], len(inside), *row[1:]])
    return Table(["", "labels", *HEADER], rows, "by level of the hierarchy, the top first")


def _drawn(space, dag, counts, names):
    shown = worst_labels(dag, counts.errors, MOST_DRAWN)
    display = HierarchyErrorsDisplay(dag, names, counts.found, counts.missed, counts.false, shown)
    left = len(names) - len(shown)
    caption = f"{left} labels with fewer mistakes are not drawn" if left else ""
    return picture(display.plot, "Labels with bars of rows found, missed and false", caption)


def _outline(dag, counts, names) -> Outline:
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
