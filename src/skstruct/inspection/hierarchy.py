# SPDX-License-Identifier: BSD-3-Clause
"""One prediction drawn into its hierarchy."""

from __future__ import annotations

import numpy as np

from skstruct._arrays.optional import require
from skstruct.inspection.drawing import LITERAL, written
from skstruct.inspection.rows import one_input, one_output

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

    def __init__(self, dag, labels, shares, predicted, truth=None, shown=None):
        self.dag = dag
        self.labels = labels
        self.shares = shares
        self.predicted = predicted
        self.truth = truth
        self.shown = np.arange(dag.n_nodes) if shown is None else np.asarray(shown)

    @classmethod
    def from_estimator(
        cls, estimator, x, *, y=None, loss=None, restrict=None, max_labels=40, ax=None
    ):
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

    def plot(self, ax=None):
        """Draw on ``ax``, or on a new figure; returns the display."""
        pyplot = require("matplotlib.pyplot", used_by="HierarchyDisplay", extra="plot")
        self.drawn_shares_ = possible_shares(self.dag, self.shares)
        names = [len(written(self.labels[j], NAME)) for j in range(self.dag.n_nodes)]
        place = _layout(self.dag, self.shown, np.maximum(0.65, 0.2 + 0.085 * np.array(names)))
        if ax is None:
            width = 2 + 1.1 * (1 + max(x for x, _ in place.values()))
            depth = 1.2 + 1.1 * (1 - min(y for _, y in place.values()))
            _, ax = pyplot.subplots(figsize=(min(width, 18), min(depth, 12)), layout="constrained")
        for parent, child in zip(self.dag.parents, self.dag.children):
            if parent in place and child in place:
                (x0, y0), (x1, y1) = place[parent], place[child]
                taken = self.predicted[parent] and self.predicted[child]
                ax.plot(
                    [x0, x1],
                    [y0, y1],
                    color="0.2" if taken else "0.8",
                    lw=2 if taken else 1,
                    zorder=1,
                )
        colours = pyplot.get_cmap("Blues")
        for j, (x, y) in place.items():
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
        ax.set_xlim(-0.7, 0.7 + max(x for x, _ in place.values()))
        ax.set_ylim(min(y for _, y in place.values()) - 0.6, 0.6)
        ax.set_axis_off()
        self.ax_, self.figure_ = ax, ax.figure
        return self


def possible_shares(dag, shares) -> np.ndarray:
    """Shares between 0 and 1 of which none is larger than one above it; shape (d,).

    >>> from skstruct.spaces import Hierarchy
    >>> dag = Hierarchy([("animal", "cat"), ("animal", "dog")]).dag_
    >>> possible_shares(dag, [0.67, 0.68, -0.1])
    array([0.67, 0.67, 0.  ])
    """
    shares = np.clip(np.asarray(shares, dtype=np.float64), 0.0, 1.0) + 0.0  # no minus zero
    order = np.argsort(dag.depth[dag.parents], kind="stable")  # from the roots down
    for parent, child in zip(dag.parents[order], dag.children[order]):
        shares[child] = min(shares[child], shares[parent])
    return shares


def _most_likely(dag, shares, max_labels):
    """The labels of largest share, with all above them, up to ``max_labels``."""
    kept: set[int] = set()
    ancestors = dag.ancestors
    for j in np.argsort(-shares, kind="stable"):
        above = set(ancestors.indices[ancestors.indptr[j] : ancestors.indptr[j + 1]].tolist())
        if len(kept | above) > max_labels and kept:
            break
        kept |= above
    return np.array(sorted(kept))


def _layout(dag, shown, width):
    """Leaves side by side, parents above the middle of their children; {node: (x, y)}.

    A leaf takes its width, and a parent at least its own.
    """
    shown = set(map(int, shown))
    below: dict[int, list[int]] = {v: [] for v in shown}
    first: set[int] = set()  # each label hangs below its first shown parent
    for parent, child in zip(dag.parents.tolist(), dag.children.tolist()):
        if parent in shown and child in shown and child not in first:
            first.add(child)
            below[parent].append(child)
    place: dict[int, tuple[float, float]] = {}
    next_x = 0.0

    def put(v):
        nonlocal next_x
        start = next_x
        for child in below[v]:
            put(child)
        next_x = max(next_x, start + width[v])
        x = start + width[v] / 2 - 0.5
        if below[v]:
            x = max(x, float(np.mean([place[child][0] for child in below[v]])))
        place[v] = (x, -float(dag.depth[v]))

    for root in sorted(shown - first):
        put(root)
    return place
