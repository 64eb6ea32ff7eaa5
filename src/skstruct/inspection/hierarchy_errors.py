# SPDX-License-Identifier: BSD-3-Clause
"""Where in a hierarchy, or among labels without one, predictions go wrong."""

from typing import Any, Self

import numpy as np

from skstruct.fitted import Fitted
from skstruct.inspection.drawing import FALSE, GOOD, LITERAL, MISSED, axes_of, written
from skstruct.inspection.risks import canonical
from skstruct.spaces import Description


class HierarchyErrorsDisplay:
    """The labels of a hierarchy, one to a line, with what was found, missed and made up.

    A label is indented below the (first) label above it. Bars count rows: those that have the
    label and were given it, those that have it and were not (missed), and those that were
    given it and have it not (false). Of a large hierarchy the labels with most mistakes are
    shown, and all above them.

    Parameters
    ----------
    dag : Dag
    labels : sequence of names
    found, missed, false : int arrays of shape (d,)
        Rows of each kind.
    shown : array of label numbers, default=None
        Labels to draw; all when None.

    Examples
    --------
    >>> from skstruct.spaces import Hierarchy
    >>> space = Hierarchy([("animal", "cat"), ("animal", "dog")])
    >>> display = HierarchyErrorsDisplay.from_predictions(
    ...     space, predicted=[[1, 1, 0], [1, 1, 0]], truth=[[1, 1, 0], [1, 0, 1]]
    ... )
    >>> display.missed, display.false
    (array([0, 0, 1]), array([0, 1, 0]))
    """

    def __init__(
        self,
        dag: Any,
        labels: Any,
        found: np.ndarray,
        missed: np.ndarray,
        false: np.ndarray,
        shown: np.ndarray | None = None,
    ) -> None:
        self.dag = dag
        self.labels = labels
        self.found = found
        self.missed = missed
        self.false = false
        self.shown = shown

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, max_labels: int = 40, ax: Any = None
    ) -> Self:
        """Draw where predictions of a fitted learner differ from true outputs y."""
        predicted, space = estimator.predict(X), Fitted.of(estimator).space
        return cls.from_predictions(space, predicted, y, max_labels=max_labels, ax=ax)

    @classmethod
    def from_predictions(
        cls, space: Any, predicted: Any, truth: Any, *, max_labels: int = 40, ax: Any = None
    ) -> Self:
        """Draw where predictions differ from true outputs.

        Parameters
        ----------
        space : Hierarchy, LabelSets or another fitted space of label sets
        predicted, truth : outputs in any format that the space takes
        max_labels : int, default=40
        """
        if Description.of(space).output_dag() is None:
            raise ValueError(
                f"HierarchyErrorsDisplay draws label sets, not {type(space).__name__}."
            )
        Z, Y = (np.asarray(part) != 0 for part in canonical(space, predicted, truth))
        found, missed, false = (part.sum(axis=0) for part in (Z & Y, ~Z & Y, Z & ~Y))
        shown = worst_labels(space.dag_, missed + false, max_labels)
        return cls(space.dag_, space.labels_, found, missed, false, shown).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure of the size that the labels need."""
        shown = np.arange(self.dag.n_nodes) if self.shown is None else self.shown
        lines = outline(self.dag, shown)
        ax = axes_of(ax, "HierarchyErrorsDisplay", (7.5, 0.9 + 0.24 * len(lines)))
        order = np.array([node for node, _, _ in lines], dtype=int)
        counts = [np.asarray(part)[order] for part in (self.found, self.missed, self.false)]
        left, rows = np.zeros(len(lines)), np.arange(len(lines))
        for part, name, colour in zip(counts, ("found", "missed", "false"), (GOOD, MISSED, FALSE)):
            ax.barh(rows, part, left=left, height=0.7, color=colour, label=name)
            left = left + part
        for row, (found, missed, false) in enumerate(zip(*counts)):
            ax.text(
                left[row], row, f" {found} / {missed} / {false}", va="center", fontsize=7,
                color="0.3",
            )  # fmt: skip
        names = [_indented(written(self.labels[node], 34), depth) for node, depth, _ in lines]
        ax.set_yticks(rows, names, fontsize=8, ha="left", **LITERAL)
        ax.tick_params(axis="y", length=0, pad=7.5 * max(map(len, names), default=1) * 0.62 + 4)
        ax.set(ylim=(len(lines) - 0.5, -0.5), xlabel="rows: found / missed / false")
        ax.set_xlim(0, 1.18 * max(left.max(initial=0.0), 1.0))
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.legend(
            loc="lower right", bbox_to_anchor=(1, 1), ncols=3, frameon=False, fontsize="small"
        )
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _indented(name: str, depth: int) -> str:
    return "\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}" * depth + name


def worst_labels(dag: Any, errors: np.ndarray, max_labels: int) -> np.ndarray:
    """The labels of most errors, with all above them, up to ``max_labels``."""
    kept: set[int] = set()
    above = dag.ancestors
    for j in np.argsort(-np.asarray(errors), kind="stable"):
        more = kept | set(above.indices[above.indptr[j] : above.indptr[j + 1]].tolist())
        if len(more) > max_labels and kept:
            break
        kept = more
    return np.array(sorted(kept))


def outline(dag: Any, shown: Any) -> list[tuple[int, int, int]]:
    """Labels in the order of an outline: (label, how far indented, label above or -1).

    A label with several labels above hangs below the first of them that is shown.
    """
    inside = set(map(int, shown))
    above: dict[int, int] = {}
    below: dict[int, list[int]] = {node: [] for node in inside}
    for parent, child in zip(dag.parents.tolist(), dag.children.tolist()):
        if parent in inside and child in inside and child not in above:
            above[child] = parent
            below[parent].append(child)
    lines = []
    waiting = [(node, 0) for node in sorted(inside - set(above), reverse=True)]
    while waiting:
        node, depth = waiting.pop()
        lines.append((node, depth, above.get(node, -1)))
        waiting += [(child, depth + 1) for child in sorted(below[node], reverse=True)]
    return lines
