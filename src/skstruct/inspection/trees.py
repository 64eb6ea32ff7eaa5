# SPDX-License-Identifier: BSD-3-Clause
"""The tree, or any other graph, that a model has learned over its labels."""

import textwrap
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from skstruct._arrays.imports import require
from skstruct.inspection.drawing import written
from skstruct.inspection.layout import graph_layout

ATTRACTING, REPELLING, NEUTRAL = "#2166ac", "#b2182b", "0.6"
FONT = 9.0  # points, where there is room
PAD = 0.35  # of a box around its text, in font sizes
MARGIN, LEGEND = 0.15, 0.35  # inches: around the drawing, and above it
LARGEST = (18.0, 12.0)  # inches of a figure
MOST_WEIGHTS = 30  # chords of rings whose weights can still be read


class TreeDisplay:
    """Labels in boxes, joined by edges as wide as their weights.

    Labels that attract each other are joined in blue, labels that repel in red, with the weight
    beside the edge. A forest is drawn as trees, each grown from its middle to both sides; any
    other graph on a circle. Labels without an edge stand aside, in grey.

    Parameters
    ----------
    graph : networkx.Graph
        Over label names, with the edge attribute ``"weight"``. Edges without it are grey.
    shares : mapping from label to number, or array in the order of the nodes, default=None
        Numbers between 0 and 1 to write in the boxes, which are the darker the larger: how
        often each label occurs in training, say.

    Attributes
    ----------
    ax_, figure_ : of the drawing

    Examples
    --------
    >>> import networkx as nx
    >>> graph = nx.Graph()
    >>> graph.add_edge("beach", "sea", weight=1.2)
    >>> graph.add_edge("beach", "city", weight=-0.7)
    >>> display = TreeDisplay(graph, shares={"beach": 0.2, "sea": 0.3, "city": 0.5}).plot()
    >>> sorted(text.get_text() for text in display.ax_.texts)
    ['+1.20', 'beach\\n0.20', 'city\\n0.50', 'sea\\n0.30', '−0.70']
    """

    def __init__(self, graph: Any, shares: Any = None) -> None:
        self.graph = graph
        self.shares = shares

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, shares: np.ndarray | None = None, ax: Any = None
    ) -> Self:
        """Draw the tree or the graph of a fitted learner.

        Parameters
        ----------
        estimator : learner with ``tree_`` or ``graph_``
        shares
            As of the class.
        ax : matplotlib axes, default=None
        """
        graph = getattr(estimator, "tree_", getattr(estimator, "graph_", None))
        if graph is None:
            raise ValueError(
                f"TreeDisplay draws the tree_ or graph_ of a fitted learner; "
                f"{type(estimator).__name__} has none."
            )
        return cls(graph, shares).plot(ax)

    # ------------------------------------------------------------- what to draw
    def _shares(self) -> dict[Any, Any]:
        nodes = list(self.graph.nodes)
        if self.shares is None:
            return {}
        if isinstance(self.shares, Mapping) or hasattr(self.shares, "keys"):
            missing = [node for node in nodes if node not in self.shares]
            if missing:
                raise ValueError(f"TreeDisplay: no share for the label {missing[0]!r}.")
            return {node: float(self.shares[node]) for node in nodes}
        if len(self.shares) != len(nodes):
            raise ValueError(
                f"TreeDisplay: {len(nodes)} labels need as many shares; got {len(self.shares)}."
            )
        return {node: float(share) for node, share in zip(nodes, self.shares)}

    def _texts(self, shares: dict[Any, Any]) -> dict[Any, Any]:
        """What is written in the boxes: long names in several lines."""
        lines = {node: textwrap.wrap(written(node, 120), 20) for node in self.graph.nodes}
        names = {node: "\n".join(line) for node, line in lines.items()}
        return {
            node: f"{name}\n{shares[node]:.2f}" if shares else name for node, name in names.items()
        }

    def _edges(self) -> list[Any]:
        """Pairs of labels with their weights, the strongest last: they are drawn on top."""
        edges = [(a, b, data.get("weight")) for a, b, data in self.graph.edges(data=True) if a != b]
        for a, b, weight in edges:
            if weight is not None and not np.isfinite(weight):
                raise ValueError(f"TreeDisplay: the edge {a!r} - {b!r} has the weight {weight}.")
        return sorted(edges, key=lambda edge: abs(edge[2] or 0.0))

    # ------------------------------------------------------------- drawing
    def plot(self, ax: Any = None) -> Self:
        """Draw into ``ax``, or into a figure of the size that the graph needs."""
        pyplot = require("matplotlib.pyplot", used_by="TreeDisplay", extra="plot")
        shares, edges = self._shares(), self._edges()
        texts = self._texts(shares)
        sizes = {node: _box_size(text) for node, text in texts.items()}
        widths = {node: size[0] for node, size in sizes.items()}
        tallest = max((size[1] for size in sizes.values()), default=0.0)
        layout = graph_layout(list(texts), [edge[:2] for edge in edges], widths, tallest)
        width, height = layout.width + 2 * MARGIN, layout.height + 2 * MARGIN + LEGEND
        if ax is None:
            fits = min(1.0, LARGEST[0] / width, LARGEST[1] / height)
            figure = pyplot.figure(figsize=(max(width * fits, 3.5), height * fits))
            ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        extent, dpi = ax.get_window_extent(), ax.figure.dpi
        scale = min(1.0, extent.width / dpi / width, extent.height / dpi / height)
        ax.set(xlim=(-MARGIN, width - MARGIN), ylim=(-MARGIN, height - MARGIN), aspect="equal")
        ax.set_axis_off()
        self._draw_edges(ax, layout, edges, widths, scale)
        self._draw_boxes(ax, layout, texts, shares, scale)
        self._draw_legend(ax, edges, scale)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_edges(
        self, ax: Any, layout: Any, edges: list[Any], widths: dict[Any, Any], scale: float
    ) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        top = max((abs(weight or 0.0) for *_, weight in edges), default=0.0) or 1.0
        n_chords = sum(a in layout.middle for a, *_ in edges)
        for a, b, weight in edges:
            a, b = sorted((a, b), key=lambda node: layout.depth.get(node, 0))
            start, end = (np.array(layout.position[node]) for node in (a, b))
            chord, strength = a in layout.middle, abs(weight or 0.0) / top
            crowded = chord and n_chords > MOST_WEIGHTS
            if chord:
                curve, at = _chord(start, end, np.array(layout.middle[a]))
            else:
                curve, at = _branch(start, end, widths[a] / 2, widths[b] / 2)
            colour = NEUTRAL if not weight else ATTRACTING if weight > 0 else REPELLING
            path = Path(curve, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
            line = {"linewidth": scale * (0.7 + 4 * strength), "edgecolor": colour}
            line["alpha"] = 0.08 + 0.92 * strength**2 if crowded else 1.0
            ax.add_patch(PathPatch(path, fill=False, capstyle="round", zorder=1, **line))
            if weight is not None and not crowded:
                ax.text(
                    *at, _written(weight, top), ha="center", va="center", color=colour, zorder=2,
                    fontsize=0.78 * FONT * scale,
                    bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "linewidth": 0},
                )  # fmt: skip

    def _draw_boxes(
        self, ax: Any, layout: Any, texts: dict[Any, Any], shares: dict[Any, Any], scale: float
    ) -> None:
        top = max(shares.values(), default=1.0) or 1.0
        for node, (x, y) in layout.position.items():
            alone = node not in layout.depth and node not in layout.middle
            grey = 1.0 - 0.4 * np.clip(shares.get(node, 0.0) / top, 0, 1)
            frame = {"edgecolor": "0.75" if alone else "0.3", "linestyle": "--" if alone else "-"}
            ax.text(
                x, y, texts[node], ha="center", va="center", fontsize=FONT * scale, zorder=3,
                color="0.45" if alone else "black", parse_math=False,
                bbox={"boxstyle": f"round,pad={PAD}", "facecolor": str(grey), "linewidth": scale,
                      **frame},
            )  # fmt: skip

    def _draw_legend(self, ax: Any, edges: list[Any], scale: float) -> None:
        signs = {np.sign(weight) for *_, weight in edges if weight}
        for sign, colour, name in ((1, ATTRACTING, "attracting"), (-1, REPELLING, "repelling")):
            if sign in signs:
                ax.plot([], [], color=colour, linewidth=3 * scale, label=name)
        if signs:
            ax.legend(
                loc="upper center", ncols=2, frameon=False, fontsize=FONT * scale, borderaxespad=0.2
            )


def _written(weight: float, top: float) -> str:
    """A weight with as many decimals as the largest one needs for two digits or more."""
    power = int(np.floor(np.log10(top)))
    decimals = max(0, 2 - power) if power >= 0 else 1 - power
    return f"{weight:+.{decimals}f}".replace("-", "\N{MINUS SIGN}")


def _box_size(text: str) -> tuple[float, float]:
    """Width and height of a box around some lines, in inches at the full font size."""
    from matplotlib.textpath import TextPath

    lines = text.split("\n")
    plain = [line.replace("$", "S") for line in lines]  # not the beginning of a formula
    wide = max(TextPath((0, 0), line or " ", size=FONT).get_extents().width for line in plain)
    pad = 2 * PAD * FONT
    return (wide + pad) / 72, (1.2 * FONT * len(lines) + pad) / 72


def _branch(
    a: np.ndarray, b: np.ndarray, half_a: float, half_b: float
) -> tuple[np.ndarray, np.ndarray]:
    """A curve from the side of a box to that of a box farther out, and the position of its weight.

    The weight stands near the outer box, where the curves of its siblings have parted.
    """
    sign = np.sign(b[0] - a[0])
    (x, y), (u, v) = (a[0] + sign * half_a, a[1]), (b[0] - sign * half_b, b[1])
    curve = np.array([(x, y), ((x + u) / 2, y), ((x + u) / 2, v), (u, v)])
    return curve, _on_curve(curve, 0.5 if y == v else 0.68)


def _chord(a: np.ndarray, b: np.ndarray, middle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A curve bent towards the middle of a ring, and the position of its weight.

    All long chords meet near the middle, so that the weight stands nearer to one end.
    """
    curve = np.array([a, a + 0.35 * (middle - a), b + 0.35 * (middle - b), b])
    return curve, _on_curve(curve, 0.36)


def _on_curve(curve: np.ndarray, t: float) -> Any:
    """The point of a cubic Bézier curve at t in 0..1."""
    return np.array([(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3]) @ curve
