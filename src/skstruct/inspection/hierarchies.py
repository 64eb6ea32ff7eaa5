# SPDX-License-Identifier: BSD-3-Clause
"""One prediction drawn into a hierarchy: shares of labels, or what is certain and possible."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from skstruct._arrays.imports import require
from skstruct.inspection.drawing import (
    GOOD,
    LITERAL,
    literal_legend,
    one_input,
    one_output,
    written,
)
from skstruct.spaces import Description
from skstruct.spaces.common.formats import read_label_sets

NAME = 24  # letters of a name that are shown
# Labels by whether they are certain, possible or neither.
STYLES: dict[str, dict[str, Any]] = {
    "certain": {"color": "white", "facecolor": GOOD, "edgecolor": "0.2", "linewidth": 1.5},
    "possible": {"color": "black", "facecolor": "white", "edgecolor": GOOD, "linewidth": 2.0},
    "out": {"color": "0.5", "facecolor": "0.97", "edgecolor": "0.88", "linewidth": 0.8},
}


class HierarchyDisplay:
    """Labels of a hierarchy, filled by their estimated share, framed where predicted.

    Or, where it is given what is certain and what is possible: filled where they are certain,
    framed where they are possible, and pale where they are neither.

    Parameters
    ----------
    dag : Dag
    labels : sequence of names
    shares : array of shape (d,), or None
        Estimates of E[y_j | x]; they may lie outside 0..1. Drawn is what is possible: from 0 to
        1, and no label more than those above it (``drawn_shares_``).
    predicted : array of shape (d,)
    truth : array of shape (d,), default=None
        Marked by a star when given.
    shown : array of label numbers, default=None
        Labels to draw; all when None.
    certain, possible : arrays of shape (d,), default=None
        Both or none; what is certain is possible.

    Examples
    --------
    >>> from skstruct.conformal import Nested
    >>> from skstruct.spaces import Hierarchy
    >>> space = Hierarchy([("animal", "cat"), ("animal", "dog"), ("cat", "tom")])
    >>> nested = Nested([{"animal"}], [{"animal", "cat", "tom"}])
    >>> display = HierarchyDisplay.from_nested(space, nested)
    >>> display.certain, display.possible
    (array([1, 0, 0, 0], dtype=int8), array([1, 1, 0, 1], dtype=int8))
    """

    def __init__(
        self,
        dag: Any,
        labels: tuple[Any, ...],
        shares: np.ndarray | None,
        predicted: np.ndarray,
        truth: np.ndarray | None = None,
        shown: np.ndarray | None = None,
        certain: np.ndarray | None = None,
        possible: np.ndarray | None = None,
    ) -> None:
        self.dag = dag
        self.labels = labels
        self.shares = shares
        self.predicted = predicted
        self.truth = truth
        self.shown = np.arange(dag.n_nodes) if shown is None else np.asarray(shown)
        self.certain = certain
        self.possible = possible

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
        shown = most_likely(space.dag_, np.maximum(shares, predicted), max_labels)
        return cls(space.dag_, space.labels_, shares, predicted, truth, shown).plot(ax)

    @classmethod
    def from_nested(
        cls,
        space: Any,
        nested: Any,
        row: int = 0,
        *,
        y: Any = None,
        shares: ArrayLike | None = None,
        max_labels: int = 40,
        ax: Any = None,
    ) -> Self:
        """Draw what is certain and what is possible of one row.

        Parameters
        ----------
        space : fitted Hierarchy, or another space of label sets
        nested : skstruct.conformal.Nested
            From ``RiskControl(learner, ...).calibrate(X, y).predict(X)``.
        row : int, default=0
            Which of its rows.
        y : the true output of that row, default=None
        shares : array of shape (d,), default=None
            Probabilities of the labels, to be written below their names: a row of
            ``predict_marginals``.
        max_labels : int, default=40
            Labels that are certain come first, then those that are possible; all above them are
            drawn, too.
        """
        dag = Description.of(space).output_dag()
        if dag is None:
            raise ValueError(f"HierarchyDisplay draws label sets, not {type(space).__name__}.")
        certain, possible = (
            read_label_sets(part, space.labels_, used_by="HierarchyDisplay")[0][row]
            for part in (nested.certain, nested.possible)
        )
        order = 2.0 * certain + possible
        if shares is not None:
            shares = np.asarray(shares, dtype=np.float64).reshape(-1)
            order = order + np.clip(shares, 0, 1) / 2
        truth = None if y is None else one_output(space, y)
        shown = most_likely(dag, order, max_labels)
        display = cls(dag, space.labels_, shares, certain, truth, shown, certain, possible)
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure; returns the display."""
        pyplot = require("matplotlib.pyplot", used_by="HierarchyDisplay", extra="plot")
        self._check()
        shares = None if self.shares is None else possible_shares(self.dag, self.shares)
        self.drawn_shares_ = shares
        names = [len(written(self.labels[j], NAME)) for j in range(self.dag.n_nodes)]
        position = hierarchy_layout(
            self.dag, self.shown, np.maximum(0.65, 0.2 + 0.085 * np.array(names))
        )
        if ax is None:
            width = 2 + 1.1 * (1 + max(x for x, _ in position.values()))
            depth = 1.2 + 1.1 * (1 - min(y for _, y in position.values()))
            _, ax = pyplot.subplots(figsize=(min(width, 18), min(depth, 12)), layout="constrained")
        self._draw_edges(ax, position)
        colours = pyplot.get_cmap("Blues")
        for j, (x, y) in position.items():
            box = self._by_share(j, colours) if self.certain is None else self._by_certainty(j)
            box = dict(box)
            ax.text(
                x, y, self._text(j), ha="center", va="center", fontsize=9, zorder=2,
                color=box.pop("color"), bbox={"boxstyle": "round,pad=0.35", **box}, **LITERAL,
            )  # fmt: skip
        ax.set_xlim(-0.7, 0.7 + max(x for x, _ in position.values()))
        ax.set_ylim(min(y for _, y in position.values()) - 0.6, 0.6)
        ax.set_axis_off()
        if self.certain is not None:
            self._explain(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _check(self) -> None:
        if (self.certain is None) != (self.possible is None):
            raise ValueError("certain and possible are given together, or neither of them.")
        if self.certain is None and self.shares is None:
            raise ValueError("HierarchyDisplay draws shares, or what is certain and possible.")
        if self.certain is not None and np.any(np.asarray(self.certain) > self.possible):
            j = int(np.argmax(np.asarray(self.certain) > self.possible))
            raise ValueError(f"{self.labels[j]!r} is certain and not possible.")

    def _text(self, j: int) -> str:
        star = " *" if self.truth is not None and self.truth[j] else ""
        share = "" if self.drawn_shares_ is None else f"\n{float(self.drawn_shares_[j]):.2f}"
        return f"{written(self.labels[j], NAME)}{star}{share}"

    def _draw_edges(self, ax: Any, position: dict[Any, Any]) -> None:
        drawn = self.predicted if self.possible is None else self.possible
        for parent, child in zip(self.dag.parents, self.dag.children):
            if parent in position and child in position:
                ends = zip(position[parent], position[child])
                taken = drawn[parent] and drawn[child]
                sure = taken and self.predicted[child]
                colour = ("0.2" if sure else GOOD) if taken else "0.8"
                ax.plot(*ends, color=colour, lw=2 if sure else 1, zorder=1)

    def _by_share(self, j: int, colours: Any) -> dict[str, Any]:
        """Colours of a label by its share."""
        assert self.drawn_shares_ is not None
        share = float(self.drawn_shares_[j])
        frame = {"edgecolor": "black", "linewidth": 2.5}
        if not self.predicted[j]:
            frame = {"edgecolor": "0.8", "linewidth": 0.8}
        return {
            "color": "white" if share > 0.6 else "black",
            "facecolor": colours(0.9 * share),
            **frame,
        }

    def _by_certainty(self, j: int) -> dict[str, Any]:
        """Colours of a label by whether it is certain, possible or neither."""
        assert self.certain is not None
        assert self.possible is not None
        if self.certain[j]:
            return STYLES["certain"]
        return STYLES["possible"] if self.possible[j] else STYLES["out"]

    def _explain(self, ax: Any) -> None:
        """A legend of the three kinds of labels below the picture."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        handles: list[Any] = []
        for name in ("certain", "possible", "out"):
            look = {key: value for key, value in STYLES[name].items() if key != "color"}
            handles.append(Patch(label="ruled out" if name == "out" else name, **look))
        if self.truth is not None:
            star: dict[str, Any] = {
                "marker": "$*$",
                "color": "black",
                "linestyle": "none",
                "markersize": 6,
            }
            handles.append(Line2D([], [], label="true", **star))
        literal_legend(
            ax, handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.04),
            ncols=len(handles), frameon=False, fontsize="small", handlelength=1.6,
        )  # fmt: skip


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


def most_likely(dag: Any, shares: np.ndarray, max_labels: int) -> np.ndarray:
    """The labels of largest share, with all above them, up to ``max_labels``."""
    kept: set[int] = set()
    ancestors = dag.ancestors
    for j in np.argsort(-shares, kind="stable"):
        above = set(ancestors.indices[ancestors.indptr[j] : ancestors.indptr[j + 1]].tolist())
        if len(kept | above) > max_labels and kept:
            break
        kept |= above
    return np.array(sorted(kept))


def hierarchy_layout(dag: Any, shown: np.ndarray, width: np.ndarray) -> dict[Any, Any]:
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
            middle = float(np.mean([position[child][0] for child in below[v]]))
            x = min(max(x, middle), next_x - width[v] / 2 - 0.5)  # not into what comes beside it
        position[v] = (x, -float(dag.depth[v]))

    for root in sorted(nodes - first):
        put(root)
    return position
