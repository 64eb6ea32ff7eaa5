# SPDX-License-Identifier: BSD-3-Clause
"""Predictions in a hierarchy: one drawn into it, and where in it predictions go wrong."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skstruct._arrays.imports import require
from skstruct.inspection.drawing import (
    FALSE,
    GOOD,
    LITERAL,
    MISSED,
    axes_of,
    one_input,
    one_output,
    written,
)
from skstruct.inspection.risks import canonical

NAME = 24  # letters of a name that are shown


class HierarchyDisplay:
    """Labels of a hierarchy, filled by their estimated share, framed where predicted.

    Parameters
    ----------
    dag : Dag
    labels : sequence of names
    shares : array of shape (d,)
        Estimates of E[y_j | x]; they may lie outside 0..1. Drawn is what is possible: from 0 to
        1, and no label more than those above it (``drawn_shares_``).
    predicted : array of shape (d,)
    truth : array of shape (d,), default=None
        Marked by a star when given.
    shown : array of label numbers, default=None
        Labels to draw; all when None.
    """

    def __init__(
        self,
        dag: Any,
        labels: tuple[Any, ...],
        shares: np.ndarray,
        predicted: np.ndarray,
        truth: np.ndarray | None = None,
        shown: np.ndarray | None = None,
    ) -> None:
        self.dag = dag
        self.labels = labels
        self.shares = shares
        self.predicted = predicted
        self.truth = truth
        self.shown = np.arange(dag.n_nodes) if shown is None else np.asarray(shown)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        x: Any,
        *,
        y: Any = None,
        loss: Any = None,
        restrict: dict[str, Any] | None = None,
        max_labels: int = 40,
        ax: Any = None,
    ) -> Self:
        """Draw the prediction of a fitted ConditionalRiskMinimizer for one row.

        Parameters
        ----------
        x : one row of inputs
        y : its true output, default=None
        loss, restrict
            As in ``predict``.
        max_labels : int
            Of a large hierarchy, only the labels of largest share (and all above them).
        """
        X, space = one_input(estimator, x), estimator.space_
        problem, smoother = estimator._prepared("hamming", None)
        shares = problem.mean_embedding(problem.smooth(smoother, estimator._checked(X)[0]))[0][0]
        predicted = estimator.predict(X, loss=loss, restrict=restrict)
        predicted = space.validate(predicted)[0]
        truth = None if y is None else one_output(space, y)
        shown = _most_likely(space.dag_, np.maximum(shares, predicted), max_labels)
        return cls(space.dag_, space.labels_, shares, predicted, truth, shown).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure; returns the display."""
        pyplot = require("matplotlib.pyplot", used_by="HierarchyDisplay", extra="plot")
        self.drawn_shares_ = possible_shares(self.dag, self.shares)
        names = [len(written(self.labels[j], NAME)) for j in range(self.dag.n_nodes)]
        position = _layout(self.dag, self.shown, np.maximum(0.65, 0.2 + 0.085 * np.array(names)))
        if ax is None:
            width = 2 + 1.1 * (1 + max(x for x, _ in position.values()))
            depth = 1.2 + 1.1 * (1 - min(y for _, y in position.values()))
            _, ax = pyplot.subplots(figsize=(min(width, 18), min(depth, 12)), layout="constrained")
        for parent, child in zip(self.dag.parents, self.dag.children):
            if parent in position and child in position:
                (x0, y0), (x1, y1) = position[parent], position[child]
                taken = self.predicted[parent] and self.predicted[child]
                ax.plot(
                    [x0, x1],
                    [y0, y1],
                    color="0.2" if taken else "0.8",
                    lw=2 if taken else 1,
                    zorder=1,
                )
        colours = pyplot.get_cmap("Blues")
        for j, (x, y) in position.items():
            share = float(self.drawn_shares_[j])
            frame = {"edgecolor": "black" if self.predicted[j] else "0.8",
                     "linewidth": 2.5 if self.predicted[j] else 0.8}  # fmt: skip
            star = " *" if self.truth is not None and self.truth[j] else ""
            name = f"{written(self.labels[j], NAME)}{star}\n{share:.2f}"
            ax.text(
                x, y, name, ha="center", va="center",
                fontsize=9, zorder=2, color="white" if share > 0.6 else "black",
                bbox={"boxstyle": "round,pad=0.35", "facecolor": colours(0.9 * share), **frame},
                **LITERAL,
            )  # fmt: skip
        ax.set_xlim(-0.7, 0.7 + max(x for x, _ in position.values()))
        ax.set_ylim(min(y for _, y in position.values()) - 0.6, 0.6)
        ax.set_axis_off()
        self.ax_, self.figure_ = ax, ax.figure
        return self


def possible_shares(dag: Any, shares: ArrayLike) -> np.ndarray:
    """Shares between 0 and 1 of which none is larger than one above it; shape (d,).

    >>> from skstruct.spaces import Hierarchy
    >>> dag = Hierarchy([("animal", "cat"), ("animal", "dog")]).dag_
    >>> possible_shares(dag, [0.67, 0.68, -0.1])
    array([0.67, 0.67, 0.  ])
    """
    given = np.asarray(shares, dtype=np.float64)
    possible: np.ndarray = np.clip(given, 0.0, 1.0) + 0.0  # no minus zero
    order = np.argsort(dag.depth[dag.parents], kind="stable")  # from the roots down
    for parent, child in zip(dag.parents[order], dag.children[order]):
        possible[child] = min(possible[child], possible[parent])
    return possible


def _most_likely(dag: Any, shares: np.ndarray, max_labels: int) -> np.ndarray:
    """The labels of largest share, with all above them, up to ``max_labels``."""
    kept: set[int] = set()
    ancestors = dag.ancestors
    for j in np.argsort(-shares, kind="stable"):
        above = set(ancestors.indices[ancestors.indptr[j] : ancestors.indptr[j + 1]].tolist())
        if len(kept | above) > max_labels and kept:
            break
        kept |= above
    return np.array(sorted(kept))


def _layout(dag: Any, shown: np.ndarray, width: np.ndarray) -> dict[Any, Any]:
    """Leaves side by side, parents above the middle of their children; {node: (x, y)}.

    A leaf takes its width, and a parent at least its own.
    """
    nodes = set(map(int, shown))
    below: dict[int, list[int]] = {v: [] for v in nodes}
    first: set[int] = set()  # each label hangs below its first shown parent
    for parent, child in zip(dag.parents.tolist(), dag.children.tolist()):
        if parent in nodes and child in nodes and child not in first:
            first.add(child)
            below[parent].append(child)
    position: dict[int, tuple[float, float]] = {}
    next_x = 0.0

    def put(v: int) -> None:
        nonlocal next_x
        start = next_x
        for child in below[v]:
            put(child)
        next_x = max(next_x, start + width[v])
        x = start + width[v] / 2 - 0.5
        if below[v]:
            x = max(x, float(np.mean([position[child][0] for child in below[v]])))
        position[v] = (x, -float(dag.depth[v]))

    for root in sorted(nodes - first):
        put(root)
    return position


# Where in a hierarchy, or among labels without one, predictions go wrong.


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
        predicted, space = estimator.predict(X), _space_of(estimator)
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
        if space.output_dag() is None:
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


def _space_of(estimator: Any) -> Any:
    return (estimator[-1] if hasattr(estimator, "steps") else estimator).space_


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
