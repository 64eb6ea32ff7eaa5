# SPDX-License-Identifier: BSD-3-Clause
"""A predicted flow in its network, the true one beside it."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from skstruct.inspection.drawing import (
    GOOD,
    LITERAL,
    axes_of,
    literal_legend,
    one_input,
    one_output,
    written,
)
from skstruct.inspection.layout import network_layout
from skstruct.spaces import Description
from skstruct.tolerances import DRAWN_FLOW

TRUTH, ROOM = "#e8a33d", "0.9"  # colours of the true flow and of the capacity
BROAD = 9.0  # points: the largest flow or capacity
THIN = 0.6


class FlowDisplay:
    """Flows as lines along the arcs of a network, the broader the more they carry.

    The predicted flow runs on the left of each arc, the true one on its right, both on a
    pale band as broad as the capacity, where there is one. Numbers are the predicted flow and,
    after a bar, the true one.

    Parameters
    ----------
    network : Network
        ``network_`` of a fitted space of Flows.
    flow : array of shape (n_arcs,)
    truth : array of shape (n_arcs,), default=None
    coordinates : array of shape (n_nodes, 2) or {node: (x, y)}, default=None
        Where nodes are drawn; columns from left to right along the arcs when None.
    directed : bool, default=True
        Whether arrows show where flows go.

    Examples
    --------
    >>> from skstruct.spaces import Flows
    >>> space = Flows([("s", "a"), ("a", "t", 0.6), ("s", "t")], {"s": 1, "t": -1})
    >>> space = space.fit([[0.5, 0.5, 0.5]])
    >>> display = FlowDisplay.from_predictions(space, [0.2, 0.2, 0.8], truth=[0.5, 0.5, 0.5])
    >>> [text.get_text() for text in display.ax_.texts if text.get_text()]
    ['0.2 | 0.5', '0.2 | 0.5', '0.8 | 0.5', 's', 'a', 't']
    """

    def __init__(
        self,
        network: Any,
        flow: Any,
        truth: np.ndarray | None = None,
        coordinates: Any = None,
        directed: bool = True,
    ) -> None:
        self.network = network
        self.flow = flow
        self.truth = truth
        self.coordinates = coordinates
        self.directed = directed

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        x: Any,
        *,
        y: Any = None,
        loss: Any = None,
        restrict: dict[str, Any] | None = None,
        coordinates: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw the prediction of a fitted ConditionalRiskMinimizer for one row.

        Parameters
        ----------
        x : one row of inputs
        y : its true flow, default=None
        loss, restrict
            As in ``predict``.
        """
        X, space = one_input(estimator, x), estimator.space_
        _check_flows(space)
        flow = estimator.predict(X, loss=loss, restrict=restrict)
        flow = space._read(flow, space.labels_)[0][0]
        truth = None if y is None else one_output(space, y)
        return cls(space.network_, flow, truth, coordinates).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        space: Any,
        flow: Any,
        *,
        truth: Any = None,
        coordinates: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw one flow in any format that a fitted space of Flows takes.

        Parameters
        ----------
        space : Flows
        flow : one flow, such as ``predict(X)[0]``
        truth : one flow, default=None
        coordinates
            As of the class.
        """
        _check_flows(space)
        shown, true = (None if one is None else one_output(space, one) for one in (flow, truth))
        return cls(space.network_, shown, true, coordinates).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on ``ax``, or on a new figure; returns the display."""
        at = self._places()
        ax = axes_of(ax, "FlowDisplay", _size(at))
        ax.set(aspect="equal", xlim=_around(at[:, 0]), ylim=_around(at[:, 1]))
        ax.set_axis_off()
        network, flow = self.network, np.asarray(self.flow, dtype=float)
        truth = None if self.truth is None else np.asarray(self.truth, dtype=float)
        finite = np.where(np.isfinite(network.capacity), network.capacity, 0.0)
        top = max(flow.max(initial=0.0), finite.max(initial=0.0), DRAWN_FLOW)
        top = top if truth is None else max(top, truth.max(initial=0.0))
        for a, (tail, head) in enumerate(zip(network.tails, network.heads)):
            ends = at[tail], at[head]
            if finite[a] > 0:
                _line(ax, ends, 0.0, BROAD * finite[a] / top + 3, ROOM, "capacity", 1)
            _line(ax, ends, 0.0, THIN, "0.7", "arc", 1)  # what carries nothing is there, too
            aside = 0.0 if truth is None else 0.5
            _line(
                ax,
                ends,
                aside,
                BROAD / 2 * flow[a] / top,
                GOOD,
                "predicted",
                3,
                arrow=self.directed,
            )
            if truth is not None:
                _line(ax, ends, -aside, BROAD / 2 * truth[a] / top, TRUTH, "truth", 2)
            self._write_number(ax, ends, flow[a], None if truth is None else truth[a])
        for node, (x, y) in zip(network.nodes, at):
            ax.text(
                x, y, written(node, 14), ha="center", va="center", fontsize=8, zorder=5,
                bbox={"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": "0.4"},
                **LITERAL,
            )  # fmt: skip
        _draw_legend(ax, bool(finite.any()), truth is not None)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _write_number(
        self, ax: Any, ends: tuple[np.ndarray, np.ndarray], flow: float, truth: float | None
    ) -> None:
        if len(self.network.arcs) > 60:  # no room
            return
        x, y = 0.42 * ends[0] + 0.58 * ends[1]  # not the middle, where arcs may cross
        text = _amount(flow) if truth is None else f"{_amount(flow)} | {_amount(truth)}"
        ax.text(
            x, y, text, ha="center", va="center", fontsize=6.5, color="0.25", zorder=4,
            bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "linewidth": 0, "alpha": 0.8},
        )  # fmt: skip

    def _places(self) -> Any:
        nodes, given = self.network.nodes, self.coordinates
        if given is None:
            return network_layout(self.network)
        if isinstance(given, Mapping):
            missing = [node for node in nodes if node not in given]
            if missing:
                raise ValueError(f"FlowDisplay: there are no coordinates of {missing[0]!r}.")
            given = [given[node] for node in nodes]
        at = np.asarray(given, dtype=float)
        if at.shape != (len(nodes), 2) or not np.isfinite(at).all():
            raise ValueError(
                f"FlowDisplay needs two finite coordinates for each of {len(nodes)} nodes; got "
                f"shape {at.shape}."
            )
        spread = np.ptp(at, axis=0).max()
        return (at - at.min(axis=0)) * (np.sqrt(len(nodes)) / spread if spread > 0 else 1.0)


def _amount(flow: float) -> str:
    """Two digits, and no more than two decimals: the drawing is no table."""
    return f"{flow:.0f}" if abs(flow) >= 100 else f"{round(float(flow), 2) + 0.0:.2g}"


def _check_flows(space: Any) -> None:
    if Description.of(space).output_kind != "flow":
        raise ValueError(f"FlowDisplay draws Flows, not {type(space).__name__}.")


def _size(at: np.ndarray) -> tuple[float, float]:
    width, height = np.ptp(at, axis=0)
    return min(2.0 + 1.7 * width, 14.0), min(1.6 + 1.5 * height, 12.0)


def _around(values: np.ndarray) -> tuple[float, float]:
    return values.min() - 0.4, values.max() + 0.4


def _line(
    ax: Any,
    ends: tuple[np.ndarray, np.ndarray],
    aside: float,
    width: float,
    colour: str,
    name: str,
    zorder: int,
    arrow: bool = False,
) -> None:
    """A line from node to node, moved aside by ``aside`` times its width, in points."""
    if width < DRAWN_FLOW:
        return
    from matplotlib.transforms import ScaledTranslation

    along = ends[1] - ends[0]
    length = np.hypot(*along)
    normal = np.array([-along[1], along[0]]) / (length if length > 0 else 1.0)
    right, up = normal * aside * (width + 1.0) / 72  # inches
    move = ax.transData + ScaledTranslation(right, up, ax.figure.dpi_scale_trans)
    (x0, y0), (x1, y1) = ends
    ax.plot(
        [x0, x1], [y0, y1], color=colour, linewidth=width, solid_capstyle="butt", zorder=zorder,
        transform=move, gid=name,
    )  # fmt: skip
    if arrow:  # says the direction where the line is thin or thick alike
        here, there = ends[0] + 0.70 * along, ends[0] + 0.78 * along
        ax.annotate(
            "", xy=there, xytext=here, xycoords=move, textcoords=move, zorder=zorder,
            arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 0.1,
                        "mutation_scale": 8 + 1.5 * width},
        )  # fmt: skip


def _draw_legend(ax: Any, has_capacity: bool, has_truth: bool) -> None:
    for wanted, colour, name in (
        (True, GOOD, "predicted"), (has_truth, TRUTH, "truth"), (has_capacity, ROOM, "capacity"),
    ):  # fmt: skip
        if wanted:
            ax.plot([], [], color=colour, linewidth=5, label=name)
    literal_legend(
        ax, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False, fontsize="small"
    )
